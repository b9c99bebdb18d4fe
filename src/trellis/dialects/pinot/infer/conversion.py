"""What Trellis has learned of a source, in any schema language -> a Pinot schema for each root table."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from trellis.dialects.pinot.document.fields import FieldSpec, PinotSchema
from trellis.dialects.pinot.document.types import MAX_LENGTH, FieldType, PinotType
from trellis.dialects.pinot.infer.columns.naming import Names, quoted, table_name
from trellis.dialects.pinot.infer.evidence.name_words import main_rank, says_amount, says_identity
from trellis.dialects.pinot.infer.proposal import Lint, Proposal, Proposed, table_document, transforms
from trellis.dialects.pinot.infer.roles import schema_of
from trellis.dialects.pinot.stored_schema import authored_of
from trellis.dialects.pinot.table.config import TableConfig
from trellis.errors import UsageError, nearest
from trellis.schema.model import NESTED_TYPE, Column, DataType, Schema, Table, is_single
from trellis.schema.system import is_system


def convert(schema: Schema, table: str | None = None, system: str = "_dlt") -> list[Proposal]:
    """A proposal for every root table of a schema, or for one.

    `system` is what the schema's own tables and columns begin with. Only what the schema says is known: of
    a column without `nullable: false` Pinot is told that it may be null. Raises UsageError for a table that
    is not there or hangs below another.

    >>> rides = Table("rides", {"fare": Column("fare", "double")})
    >>> [column.why for column in convert(Schema("s", {"rides": rides}))[0].columns]
    ['double; named like an amount']
    """
    authored = authored_of(schema)
    if authored.schema is not None and table in (None, authored.schema.name):
        return [_authored(authored.schema, authored.table)]
    roots = {
        name: each
        for name, each in schema.tables.items()
        if not each.nested and each.complete_columns and not is_system(name, system)
    }
    if table is None:
        return [_proposal(schema, each, system) for each in roots.values()]
    if table not in roots:
        below = table in schema.tables and schema.tables[table].parent
        said = f"it hangs below {below}" if below else "there is no such root table" + nearest(table, roots)
        raise UsageError(f"--table {table}: {said}")
    return [_proposal(schema, roots[table], system)]


def _authored(schema: PinotSchema, table: TableConfig) -> Proposal:
    """What the user brought, as it is."""
    columns = tuple(Proposed(each, "as it was given") for each in schema.specs())
    document = table.document or table_document(schema.name or "", table.time_column, {})
    return Proposal(schema, document, columns, (), 0)


def _proposal(schema: Schema, table: Table, system: str) -> Proposal:
    made = _Columns(system)
    for column in table.complete_columns:
        made.add(column)
    for child in schema.chain(table.name):
        if child.name != table.name:
            made.lints.append(
                Lint(
                    child.name, "a table of its own: Pinot has none below others, so these rows are not here"
                )
            )
    main = made.main_time()
    name = table_name(table.name)
    said = transforms(made.columns)
    specs = [each.spec for each in made.columns]
    nulls = any(not each.not_null for each in specs)
    key = tuple(made.names_of[each] for each in table.columns_with("primary_key") if each in made.names_of)
    found = schema_of(name, specs if nulls else [replace(each, not_null=False) for each in specs], nulls)
    return Proposal(
        replace(found, primary_key=key, description=table.description),
        table_document(name, main, {"transformConfigs": said} if said else {}),
        tuple(made.columns),
        tuple(made.lints),
        0,
    )


@dataclass
class _Columns:
    system: str
    columns: list[Proposed] = field(default_factory=list)
    lints: list[Lint] = field(default_factory=list)
    names: Names = field(default_factory=Names)
    names_of: dict[str, str] = field(default_factory=dict)

    def add(self, column: Column) -> None:
        name = self.names.take(column.name)
        self.names_of[column.name] = name
        made = _proposed(column, name, is_system(column.name, self.system))
        if made is None:
            self.lints.append(Lint(column.name, f"no column: nothing in Pinot holds {column.data_type}"))
            return
        if name != column.name:
            self.lints.append(Lint(column.name, f"the column is called {name}: Pinot refuses its name"))
            made = replace(made, reads=quoted(column.name))
        self.columns.append(made)
        self.lints += [Lint(column.name, said) for said in _lints(column, made.spec)]

    def main_time(self) -> str | None:
        ranked = [
            (not each.spec.not_null, rank, at)
            for at, each in enumerate(self.columns)
            if each.spec.field_type is FieldType.DATE_TIME
            and (rank := main_rank(each.spec.name)) is not None
            and not is_system(each.spec.name, self.system)
        ]
        if not ranked:
            return None
        at = min(ranked)[2]
        best = self.columns[at]
        self.columns[at] = replace(best, why=f"{best.why}; main time by its name")
        if not best.spec.not_null:
            said = "the main time may be null: the time of the load stands for it"
            self.lints.append(Lint(best.spec.name, said))
        return best.spec.name


def _proposed(column: Column, name: str, ours: bool) -> Proposed | None:
    said = column.data_type or ""
    if nested := _nested(column):
        single = len(nested) == 2
        if single:
            children = {"key": FieldSpec("key", PinotType.STRING), "value": FieldSpec("value", nested[1])}
            children["value"] = replace(
                children["value"],
                field_type=FieldType.METRIC if nested[1].numeric else FieldType.DIMENSION,
            )
            return Proposed(FieldSpec(name, PinotType.MAP, FieldType.COMPLEX, children=children), "a map")
        spec = FieldSpec(name, nested[0], single_value=False, not_null=column.required)
        return Proposed(spec, "a list of values of one type")
    if said in _TIMES:
        data_type, form, granularity = _TIMES[said]
        spec = FieldSpec(
            name,
            data_type,
            FieldType.DATE_TIME,
            not_null=column.required,
            format=form,
            granularity=granularity,
        )
        return Proposed(spec, said)
    found = _type(column)
    if found is None:
        return None
    role, why = (FieldType.DIMENSION, "bookkeeping of Trellis") if ours else _role(column, found)
    if role is FieldType.DIMENSION and found is PinotType.BIG_DECIMAL:
        found, why = PinotType.STRING, f"{why}, as text"
    spec = FieldSpec(
        name,
        found,
        role,
        not_null=column.required,
        description=column.description,
        max_length=_length(column) if found is PinotType.STRING else None,
    )
    return Proposed(spec, f"{said}; {why}" if why else said)


def _role(column: Column, found: PinotType) -> tuple[FieldType, str]:
    if not found.numeric:
        return FieldType.DIMENSION, ""
    if column.hint("primary_key") or column.hint("unique"):
        return FieldType.DIMENSION, "a key"
    if says_identity(column.name):
        return FieldType.DIMENSION, "named like a label"
    if says_amount(column.name):
        return FieldType.METRIC, "named like an amount"
    if found in (PinotType.INT, PinotType.LONG):
        return FieldType.DIMENSION, "not named like an amount"
    return FieldType.METRIC, "a measure"


def _type(column: Column) -> PinotType | None:
    if column.data_type == "double" and is_single(column):
        return PinotType.FLOAT
    if column.data_type == "bigint" and column.precision is not None and column.precision <= _INT_BITS:
        return PinotType.INT
    return _TYPES.get(column.data_type or "text")


def _nested(column: Column) -> tuple[PinotType, ...]:
    """The type of a list's values, or those of a map's keys and values; nothing for other columns."""
    said = str(column.hint(NESTED_TYPE) or "").removeprefix("arrow:")
    listed = re.fullmatch(r"(?:large_)?list<(?:\w+: )?(\w+)>", said)
    if listed is not None and (found := _ARROW.get(listed[1])) is not None:
        return (found,)
    mapped = re.fullmatch(r"map<string, (\w+)>", said)
    if mapped is not None and (found := _ARROW.get(mapped[1])) is not None:
        return PinotType.STRING, found
    return ()


def _length(column: Column) -> int | None:
    return column.precision if column.precision is not None and column.precision > MAX_LENGTH else None


def _lints(column: Column, spec: FieldSpec) -> Iterator[str]:
    if column.is_variant:
        yield "holds what did not fit into another column"
    if column.data_type == "time":
        yield "Pinot has no times of day: text"


_INT_BITS: Final = 32
_TIMES: Final[Mapping[str, tuple[PinotType, str, str]]] = {
    "timestamp": (PinotType.TIMESTAMP, "TIMESTAMP", "1:MILLISECONDS"),
    "date": (PinotType.STRING, "SIMPLE_DATE_FORMAT|yyyy-MM-dd", "1:DAYS"),
}
_TYPES: Final[Mapping[DataType, PinotType]] = {
    "text": PinotType.STRING,
    "double": PinotType.DOUBLE,
    "bool": PinotType.BOOLEAN,
    "time": PinotType.STRING,
    "bigint": PinotType.LONG,
    "binary": PinotType.BYTES,
    "json": PinotType.JSON,
    "decimal": PinotType.BIG_DECIMAL,
    "wei": PinotType.BIG_DECIMAL,
}
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
