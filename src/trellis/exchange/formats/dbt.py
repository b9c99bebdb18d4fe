"""dbt: the tables as a source, in a `schema.yml`."""

from __future__ import annotations

from typing import Any, Final

from trellis.exchange.links import Link, links_of
from trellis.exchange.type_names import sized_name
from trellis.schema.documents.schema_format import SchemaFormat
from trellis.schema.documents.yaml_text import write
from trellis.schema.model import DATA_TYPES, Column, Schema, Table
from trellis.schema.personal_data import PII
from trellis.schema.value_rules import ValueRules, rules_of


def write_dbt(schema: Schema) -> str:
    links = links_of(schema)
    source: dict[str, Any] = {"name": schema.name}
    if schema.description:
        source["description"] = schema.description
    source["tables"] = [_table(schema.name, table, links) for table in schema.tables.values()]
    return write({"version": 2, "sources": [source]})


def _table(source: str, table: Table, links: tuple[Link, ...]) -> dict[str, Any]:
    described = {"description": table.description} if table.description else {}
    own_links = {
        link.columns[0]: link for link in links if link.table == table.name and len(link.columns) == 1
    }
    columns = [_column(source, column, own_links.get(column.name)) for column in table.complete_columns]
    return {"name": table.name, **described, "columns": columns}


def _column(source: str, column: Column, link: Link | None) -> dict[str, Any]:
    node: dict[str, Any] = {"name": column.name, "data_type": sized_name(column)}
    if column.description:
        node["description"] = column.description
    if column.hint(PII):
        node["meta"] = {"pii": column.hint(PII)}
    rules = rules_of(column)
    tests: list[Any] = ["not_null"] if column.required or rules.not_null else []
    if column.hint("unique"):
        tests.append("unique")
    tests += _rule_tests(rules)
    if link is not None:
        to = f"source('{source}', '{link.referenced_table}')"
        tests.append({"relationships": {"to": to, "field": link.referenced_columns[0]}})
    return {**node, "data_tests": tests} if tests else node


def _rule_tests(rules: ValueRules) -> list[Any]:
    """The tests of dbt, and of its packages dbt_utils and dbt_expectations where dbt itself has none."""
    tests: list[Any] = []
    if rules.accepted_values:
        accepted = [*rules.accepted_values]
        is_text = all(isinstance(value, str) for value in accepted)
        tests.append({"accepted_values": {"values": accepted, **({} if is_text else {"quote": False})}})
    limits = {"min_value": rules.minimum, "max_value": rules.maximum}
    if limits := {name: _sql_literal(limit) for name, limit in limits.items() if limit is not None}:
        tests.append({"dbt_utils.accepted_range": limits})
    if rules.pattern is not None:
        expectation = "dbt_expectations.expect_column_values_to_match_regex"
        tests.append({expectation: {"regex": rules.pattern}})
    return tests


def _sql_literal(limit: Any) -> Any:
    """A limit as it is put into SQL: a time needs its quotes."""
    return f"'{limit}'" if isinstance(limit, str) else limit


DBT: Final = SchemaFormat(
    "dbt",
    "dbt",
    ".yml",
    write_dbt,
    keeps=frozenset({"required", "unique", "description", "parent", "references", "value rules"}),
    sizes=frozenset(DATA_TYPES),
)
