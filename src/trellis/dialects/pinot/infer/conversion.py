"""A schema that Trellis learned, in any schema language -> a Pinot schema for each root table."""

from __future__ import annotations

from trellis.dialects.pinot.document.fields import PinotSchema
from trellis.dialects.pinot.document.types import FieldType
from trellis.dialects.pinot.infer.fields import field_of
from trellis.dialects.pinot.infer.proposal import Proposal, ProposalBuilder, ProposedColumn, table_document
from trellis.dialects.pinot.stored_schema import authored_of
from trellis.dialects.pinot.table.config import TableConfig
from trellis.errors import UsageError, nearest
from trellis.schema.model import Column, Schema, Table
from trellis.schema.system import is_system


def convert(schema: Schema, table: str | None = None, system: str = "_dlt") -> list[Proposal]:
    """A proposal for every root table of a schema, or for one.

    `system` is the prefix of bookkeeping tables and columns. A column without `nullable: false` may be null.
    Raises UsageError for a table that does not exist or is nested.

    >>> rides = Table("rides", {"fare": Column("fare", "double")})
    >>> [column.why for column in convert(Schema("s", {"rides": rides}))[0].columns]
    ['double; named like an amount']
    """
    authored = authored_of(schema)
    if authored.schema is not None and table in (None, authored.schema.name):
        return [_as_declared(authored.schema, authored.table)]
    roots = {
        name: root
        for name, root in schema.tables.items()
        if not root.nested and root.complete_columns and not is_system(name, system)
    }
    if table is None:
        return [_proposal(schema, root, system) for root in roots.values()]
    if table not in roots:
        below = table in schema.tables and schema.tables[table].parent
        problem = f"it is nested in {below}" if below else "no such root table" + nearest(table, roots)
        raise UsageError(f"--table {table}: {problem}")
    return [_proposal(schema, roots[table], system)]


def _as_declared(schema: PinotSchema, table: TableConfig) -> Proposal:
    columns = tuple(ProposedColumn(spec, "as declared") for spec in schema.specs())
    document = table.document or table_document(schema.name or "", table.time_column, {})
    return Proposal(schema, document, columns)


def _proposal(schema: Schema, table: Table, system: str) -> Proposal:
    """The main time is the first date-time column that is never null, else the first."""
    builder = ProposalBuilder()
    for column in table.complete_columns:
        _add(builder, column, is_system(column.name, system))
    for child in schema.chain(table.name):
        if child.name != table.name:
            builder.note(child.name, "a nested table: Pinot has none, so its rows are left out")
    times = [
        (not column.spec.not_null, path)
        for column, path in zip(builder.columns, builder.names, strict=True)
        if column.spec.field_type is FieldType.DATE_TIME and not is_system(path, system)
    ]
    may_be_null, main = min(times, key=lambda time: time[0], default=(False, None))
    if may_be_null and main is not None:
        builder.note(main, "the main time may be null: the time of the load is stored then")
    key = tuple(builder.names[name] for name in table.columns_with("primary_key") if name in builder.names)
    return builder.build(PinotSchema(table.name, primary_key=key, description=table.description), main)


def _add(builder: ProposalBuilder, column: Column, is_bookkeeping: bool) -> None:
    spec, role = field_of(column), None
    if spec is None:
        builder.note(column.name, f"no column: Pinot has no type for {column.data_type}")
        return
    if is_bookkeeping:
        role = FieldType.DIMENSION, "bookkeeping of Trellis"
    elif spec.data_type.numeric and (column.hint("primary_key") or column.hint("unique")):
        role = FieldType.DIMENSION, "a key"
    builder.add(spec, column.data_type or "", role)
    if column.is_variant:
        builder.note(column.name, "holds values that did not fit into another column")
    if column.data_type == "time":
        builder.note(column.name, "Pinot has no times of day: stored as text")
