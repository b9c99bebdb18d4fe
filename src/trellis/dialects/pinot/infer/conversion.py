"""A schema that Trellis learned, in any schema language -> a Pinot schema for each root table."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from trellis.dialects.pinot.document.fields import FieldSpec, PinotSchema
from trellis.dialects.pinot.document.types import MAX_LENGTH, FieldType, PinotType
from trellis.dialects.pinot.infer.proposal import (
    ColumnNames,
    Lint,
    Proposal,
    ProposedColumn,
    map_column,
    quoted,
    schema_of,
    table_document,
    table_name,
    transforms,
)
from trellis.dialects.pinot.infer.roles import main_rank, names_amount, names_identity
from trellis.dialects.pinot.stored_schema import TIME_FORMATS, authored_of, type_for
from trellis.dialects.pinot.table.config import TableConfig
from trellis.errors import UsageError, nearest
from trellis.schema.model import NESTED_TYPE, Column, Schema, Table
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
        return [_authored(authored.schema, authored.table)]
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


def _authored(schema: PinotSchema, table: TableConfig) -> Proposal:
    """The documents of the user, unchanged."""
    columns = tuple(ProposedColumn(spec, "as declared") for spec in schema.specs())
    document = table.document or table_document(schema.name or "", table.time_column, {})
    return Proposal(schema, document, columns, (), 0)


def _proposal(schema: Schema, table: Table, system: str) -> Proposal:
    columns = _Columns(system)
    for column in table.complete_columns:
        columns.add(column)
    for child in schema.chain(table.name):
        if child.name != table.name:
            columns.lints.append(Lint(child.name, "a nested table: Pinot has none, so its rows are left out"))
    main = columns.main_time()
    name = table_name(table.name)
    transform_configs = transforms(columns.columns)
    specs = [proposed.spec for proposed in columns.columns]
    nulls = any(not spec.not_null for spec in specs)
    key = tuple(
        columns.names_of[key_name]
        for key_name in table.columns_with("primary_key")
        if key_name in columns.names_of
    )
    pinot_schema = schema_of(
        name, specs if nulls else [replace(spec, not_null=False) for spec in specs], nulls
    )
    return Proposal(
        replace(pinot_schema, primary_key=key, description=table.description),
        table_document(name, main, {"transformConfigs": transform_configs} if transform_configs else {}),
        tuple(columns.columns),
        tuple(columns.lints),
        0,
    )


@dataclass
class _Columns:
    system: str
    columns: list[ProposedColumn] = field(default_factory=list)
    lints: list[Lint] = field(default_factory=list)
    names: ColumnNames = field(default_factory=ColumnNames)
    names_of: dict[str, str] = field(default_factory=dict)

    def add(self, column: Column) -> None:
        name = self.names.claim(column.name)
        self.names_of[column.name] = name
        proposed = _proposed(column, name, is_system(column.name, self.system))
        if proposed is None:
            self.lints.append(Lint(column.name, f"no column: Pinot has no type for {column.data_type}"))
            return
        if name != column.name:
            self.lints.append(Lint(column.name, f"the column is named {name}: Pinot refuses its name"))
            proposed = replace(proposed, reads=quoted(column.name))
        self.columns.append(proposed)
        self.lints += [Lint(column.name, message) for message in _lints(column, proposed.spec)]

    def main_time(self) -> str | None:
        ranked = [
            (not proposed.spec.not_null, rank, index)
            for index, proposed in enumerate(self.columns)
            if proposed.spec.field_type is FieldType.DATE_TIME
            and (rank := main_rank(proposed.spec.name)) is not None
            and not is_system(proposed.spec.name, self.system)
        ]
        if not ranked:
            return None
        index = min(ranked)[2]
        best = self.columns[index]
        self.columns[index] = replace(best, why=f"{best.why}; main time by its name")
        if not best.spec.not_null:
            message = "the main time may be null: the time of the load is stored then"
            self.lints.append(Lint(best.spec.name, message))
        return best.spec.name


def _proposed(column: Column, name: str, ours: bool) -> ProposedColumn | None:
    type_name, column_type = column.data_type or "", type_for(column)
    if nested := _nested(column):
        if len(nested) == 2:
            return map_column(name, nested[1], "a map")
        spec = FieldSpec(name, nested[0], single_value=False, not_null=column.required)
        return ProposedColumn(spec, "a list of values of one type")
    if column_type is None or column.data_type is None:
        return None
    if column.data_type in TIME_FORMATS:
        form, granularity = TIME_FORMATS[column.data_type]
        spec = FieldSpec(
            name,
            column_type,
            FieldType.DATE_TIME,
            not_null=column.required,
            format=form,
            granularity=granularity,
        )
        return ProposedColumn(spec, type_name)
    role, why = (FieldType.DIMENSION, "bookkeeping of Trellis") if ours else _role(column, column_type)
    if role is FieldType.DIMENSION and column_type is PinotType.BIG_DECIMAL:
        column_type, why = PinotType.STRING, f"{why}, as text"
    spec = FieldSpec(
        name,
        column_type,
        role,
        not_null=column.required,
        description=column.description,
        max_length=_length(column) if column_type is PinotType.STRING else None,
    )
    return ProposedColumn(spec, f"{type_name}; {why}" if why else type_name)


def _role(column: Column, data_type: PinotType) -> tuple[FieldType, str]:
    if not data_type.numeric:
        return FieldType.DIMENSION, ""
    if column.hint("primary_key") or column.hint("unique"):
        return FieldType.DIMENSION, "a key"
    if names_identity(column.name):
        return FieldType.DIMENSION, "named like a label"
    if names_amount(column.name):
        return FieldType.METRIC, "named like an amount"
    if data_type in (PinotType.INT, PinotType.LONG):
        return FieldType.DIMENSION, "not named like an amount"
    return FieldType.METRIC, "a measure"


def _nested(column: Column) -> tuple[PinotType, ...]:
    """The type of a list's values, or those of a map's keys and values; empty for other columns."""
    nested_type = str(column.hint(NESTED_TYPE) or "").removeprefix("arrow:")
    listed = re.fullmatch(r"(?:large_)?list<(?:\w+: )?(\w+)>", nested_type)
    if listed is not None and (element_type := _ARROW.get(listed[1])) is not None:
        return (element_type,)
    mapped = re.fullmatch(r"map<string, (\w+)>", nested_type)
    if mapped is not None and (element_type := _ARROW.get(mapped[1])) is not None:
        return PinotType.STRING, element_type
    return ()


def _length(column: Column) -> int | None:
    return column.precision if column.precision is not None and column.precision > MAX_LENGTH else None


def _lints(column: Column, spec: FieldSpec) -> Iterator[str]:
    if column.is_variant:
        yield "holds values that did not fit into another column"
    if column.data_type == "time":
        yield "Pinot has no times of day: stored as text"


_ARROW: Final[Mapping[str, PinotType]] = {
    "int8": PinotType.INT,
    "int16": PinotType.INT,
    "int32": PinotType.INT,
    "int64": PinotType.LONG,
    "float": PinotType.FLOAT,
    "double": PinotType.DOUBLE,
    "string": PinotType.STRING,
    "large_string": PinotType.STRING,
    "bool": PinotType.BOOLEAN,
    "binary": PinotType.BYTES,
}
