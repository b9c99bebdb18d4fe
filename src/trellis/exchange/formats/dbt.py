"""dbt: the tables as a source, in a `schema.yml`."""

from __future__ import annotations

from typing import Any, Final

from trellis.exchange.links import Link, links_of
from trellis.exchange.type_names import sized_name
from trellis.schema.documents.schema_format import SchemaFormat
from trellis.schema.documents.yaml_text import write
from trellis.schema.model import DATA_TYPES, Column, Schema, Table


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
    tests: list[Any] = ["not_null"] if column.required else []
    if column.hint("unique"):
        tests.append("unique")
    if link is not None:
        to = f"source('{source}', '{link.referenced_table}')"
        tests.append({"relationships": {"to": to, "field": link.referenced_columns[0]}})
    return {**node, "data_tests": tests} if tests else node


DBT: Final = SchemaFormat(
    "dbt",
    "dbt",
    ".yml",
    write_dbt,
    keeps=frozenset({"required", "unique", "description", "parent", "references"}),
    sizes=frozenset(DATA_TYPES),
)
