"""The statements that create and alter tables in a warehouse. Text only; nothing is run.

`table` is a qualified name with its quotes, as `Warehouse.quote` gives it; names of columns come without.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from trellis.errors import SchemaError
from trellis.schema.model import NOTHING, Column, Table
from trellis.warehouses.types import UNLIMITED
from trellis.warehouses.warehouse import Cost, Warehouse

Layout = Mapping[str, Sequence[str]]
"""The layout of a table: the expressions of its clauses, by part."""

PROPERTIES_HINT: Final = "x-table-properties"
"""The hint of a table with properties of its format, by name."""
_IF_MISSING: Final = "IF NOT EXISTS "
_COSTS: Sequence[Cost] = ("metadata", "rewrite", "impossible")


@dataclass(frozen=True)
class ColumnDefinition:
    """A column as a statement declares it."""

    name: str
    type: str
    required: bool = False
    constraint: str = ""


def create_schema(warehouse: Warehouse, name: str) -> list[str]:
    """The statement that creates a schema unless it exists; none for files, which have no schemas.

    >>> from trellis.warehouses.catalog.databases import CLICKHOUSE
    >>> create_schema(CLICKHOUSE, "shop")
    ['CREATE DATABASE IF NOT EXISTS `shop`']
    """
    schema = warehouse.quote(name)
    fields = {
        "schema": schema,
        "literal": unicode_literal(name),
        "statement": unicode_literal(f"CREATE SCHEMA {schema}"),
    }
    form = warehouse.syntax.create_schema
    return [form.format(**fields)] if form else []


def create_table(
    warehouse: Warehouse,
    table: str,
    columns: Sequence[ColumnDefinition],
    layout: Layout = NOTHING,
    *,
    if_missing: bool = False,
) -> str:
    """
    >>> from trellis.warehouses.catalog.databases import REDSHIFT
    >>> create_table(REDSHIFT, '"t"', [ColumnDefinition("id", "bigint", True)], {"sort": ['"id"']})
    'CREATE TABLE "t" ("id" bigint NOT NULL) SORTKEY ("id")'
    """
    guard = warehouse.syntax.guard.format(literal=unicode_literal(table)) if if_missing else ""
    listed = ", ".join(_definition(warehouse, column) for column in columns)
    fields = {"table": table, "columns": listed, "if_missing": _IF_MISSING if if_missing else ""}
    statement = guard + warehouse.syntax.create_table.format(**fields)
    return " ".join((statement, *_clauses(warehouse, layout)))


def _clauses(warehouse: Warehouse, layout: Layout) -> Iterator[str]:
    """The clauses behind the columns of a new table."""
    for clause in warehouse.syntax.clauses:
        if expressions := layout.get(clause.part):
            yield clause.text.format(", ".join(expressions))
        elif clause.default:
            yield clause.default


def table_properties(table: Table) -> Mapping[str, str]:
    """The properties that a table is to have. Raises SchemaError where the hint holds something else.

    >>> table_properties(Table("t").with_hints(**{PROPERTIES_HINT: {"delta.appendOnly": True}}))
    {'delta.appendOnly': 'true'}
    """
    properties = table.hints.get(PROPERTIES_HINT) or {}
    if not isinstance(properties, Mapping):
        raise SchemaError(
            f"table {table.name}: {PROPERTIES_HINT} is {properties!r}, not names with values; write for "
            "example {'delta.logRetentionDuration': 'interval 7 days'}",
            table=table.name,
        )
    return {
        str(name): str(value).lower() if isinstance(value, bool) else str(value)
        for name, value in properties.items()
    }


def add_columns(
    warehouse: Warehouse,
    table: str,
    columns: Sequence[ColumnDefinition],
    *,
    if_missing: bool = False,
    at_once: int = UNLIMITED,
) -> list[str]:
    """As few statements as the warehouse allows, of at most `at_once` columns.

    >>> from trellis.warehouses.catalog.databases import DUCKDB
    >>> add_columns(DUCKDB, '"t"', [ColumnDefinition("id", "BIGINT", True)])
    ['ALTER TABLE "t" ADD COLUMN "id" BIGINT', 'ALTER TABLE "t" ALTER COLUMN "id" SET NOT NULL']
    """
    syntax = warehouse.syntax
    exists = _IF_MISSING if if_missing else ""
    size = min(at_once, max(len(columns), 1)) if syntax.adds_several else 1
    statements = []
    for start in range(0, len(columns), size):
        chunk = columns[start : start + size]
        required = [column.name for column in chunk if column.required and not syntax.adds_required]
        declared = [replace(column, required=False) if required else column for column in chunk]
        definitions = (_definition(warehouse, column) for column in declared)
        listed = ", ".join(syntax.added.format(column=text, if_missing=exists) for text in definitions)
        statements.append(syntax.add.format(table=table, columns=listed))
        statements += [set_not_null(warehouse, table, name) for name in required]
    return statements


def set_not_null(warehouse: Warehouse, table: str, column: str) -> str:
    return warehouse.syntax.set_not_null.format(table=table, column=warehouse.quote(column))


def drop_not_null(warehouse: Warehouse, table: str, column: str) -> str:
    return warehouse.syntax.drop_not_null.format(table=table, column=warehouse.quote(column))


def comment_on(warehouse: Warehouse, table: str, column: str, text: str | None) -> list[str]:
    """The statement that describes a column, or the table where `column` is empty; none for some warehouses.

    >>> from trellis.warehouses.catalog.databases import DUCKDB
    >>> print(*comment_on(DUCKDB, '"t"', "id", "who"), *comment_on(DUCKDB, '"t"', "", None))
    COMMENT ON COLUMN "t"."id" IS 'who' COMMENT ON TABLE "t" IS NULL
    """
    syntax = warehouse.syntax
    form = syntax.comment_on_column if column else syntax.comment_on_table
    literal = syntax.no_comment if text is None else string_literal(warehouse, text)
    return [form.format(table=table, column=warehouse.quote(column), text=literal)] if form else []


def drop_default(warehouse: Warehouse, table: str, column: str) -> str:
    return f"ALTER TABLE {table} ALTER COLUMN {warehouse.quote(column)} DROP DEFAULT"


def set_type(warehouse: Warehouse, table: str, column: str, type_: str) -> str:
    """
    >>> from trellis.warehouses.catalog.lakes import ATHENA
    >>> set_type(ATHENA, "`t`", "a", "varchar(65535)")
    'ALTER TABLE `t` CHANGE COLUMN `a` `a` varchar(65535)'
    """
    form = warehouse.syntax.set_type
    return f"ALTER TABLE {table} {form.format(column=warehouse.quote(column), type=type_)}"


def cost_of(warehouse: Warehouse, before: Column | None, after: Column) -> Cost:
    """The cost of a change of a column of a table with rows; `before` is None for a new column.

    >>> from trellis.warehouses.catalog.databases import BIGQUERY, POSTGRES
    >>> [cost_of(to, Column("a", "bigint"), Column("a", "double")) for to in (BIGQUERY, POSTGRES)]
    ['metadata', 'rewrite']
    """
    if before is None:
        return "impossible" if after.required and warehouse.not_null != "always" else "metadata"
    costs: list[Cost] = ["metadata"]
    if warehouse.type_of(before) != warehouse.type_of(after):
        pair = (before.data_type, after.data_type)
        in_place = pair in warehouse.alterations.in_place and not _loses_digits(before, after)
        costs.append("metadata" if in_place else warehouse.alterations.change_type)
    if before.required and not after.required:
        costs.append(warehouse.alterations.drop_not_null)
    return max(costs, key=_COSTS.index)


def _loses_digits(before: Column, after: Column) -> bool:
    """Whether the same type holds less than before, or counts its digits from another point."""
    if before.data_type != after.data_type or after.precision is None:
        return False
    return before.precision is None or before.precision > after.precision or before.scale != after.scale


def _definition(warehouse: Warehouse, column: ColumnDefinition) -> str:
    form = warehouse.syntax.required if column.required else warehouse.syntax.optional
    constraint = f" {column.constraint}" if column.constraint else ""
    return f"{warehouse.quote(column.name)} {form.format(type=column.type)}{constraint}"


def string_literal(warehouse: Warehouse, text: str) -> str:
    """
    >>> from trellis.warehouses.catalog.databases import BIGQUERY, DUCKDB
    >>> string_literal(DUCKDB, "it's"), string_literal(BIGQUERY, "it's")
    ("'it''s'", "'it\\\\'s'")
    """
    if warehouse.syntax.escaped_literals:
        return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
    return "'" + text.replace("'", "''") + "'"


def unicode_literal(text: str) -> str:
    """A string of SQL Server."""
    return "N'" + text.replace("'", "''") + "'"
