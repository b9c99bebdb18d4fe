"""The rules that a schema keeps as a whole. All faults are listed, each with its column."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from trellis.dialects.ytsaurus.computed.expression import compile_expression, kind_of_type
from trellis.dialects.ytsaurus.computed.nodes import ValueKind
from trellis.dialects.ytsaurus.errors import ErrorCode, YtError
from trellis.dialects.ytsaurus.schema.aggregates import aggregate_fault, nested_tables
from trellis.dialects.ytsaurus.schema.model import Column, TableSchema
from trellis.dialects.ytsaurus.switches import Switches
from trellis.dialects.ytsaurus.types.document import name_fault
from trellis.dialects.ytsaurus.types.model import Optional, Primitive, complexity_of, is_comparable

MAX_COLUMNS: Final = 32_000
MAX_COMPLEXITY: Final = 32_768
MAX_KEYS: Final = 256
MAX_LOCKS: Final = 32
MANY_COLUMNS: Final = 9_999
_COMPUTED: Final[frozenset[ValueKind]] = frozenset({"int64", "uint64", "double", "boolean", "string", "any"})


@dataclass(frozen=True)
class Fault:
    """What is wrong with a schema."""

    column: str
    """Its name, or its number as #3; empty for the schema as a whole."""
    message: str
    code: ErrorCode = ErrorCode.INVALID_SCHEMA

    def __str__(self) -> str:
        return f"column {self.column}: {self.message}" if self.column else self.message


def schema_error(faults: Iterable[Fault], code: ErrorCode | None = None) -> YtError:
    """All faults as one error."""
    errors = [
        YtError(str(fault), fault.code, attributes={"column": fault.column} if fault.column else None)
        for fault in faults
    ]
    codes = {error.code for error in errors}
    common = codes.pop() if len(codes) == 1 else ErrorCode.INVALID_SCHEMA
    return YtError("the schema is not valid", code or common, inner_errors=errors)


def schema_faults(schema: TableSchema, switches: Switches) -> list[Fault]:
    """Everything that is wrong with a schema whose columns could be read."""
    faults = [
        Fault(column.name, message)
        for column in schema.columns
        for message in _column_faults(column, schema, switches)
    ]
    return [*faults, *_name_faults(schema), *_key_faults(schema), *_size_faults(schema)]


def schema_warnings(schema: TableSchema) -> list[Fault]:
    if len(schema.columns) <= MANY_COLUMNS:
        return []
    count = len(schema.columns)
    return [Fault("", f"{count} columns; tables of more than {MANY_COLUMNS} are slow in every operation")]


def _column_faults(column: Column, schema: TableSchema, switches: Switches) -> Iterator[str]:
    if fault := column_name_fault(column.name):
        yield fault
    if column.stable_name:
        if fault := name_fault(column.stable_name, "the stable name"):
            yield fault
        if not schema.strict and column.stable_name != column.name:
            yield "only columns of strict tables have a stable name"
    if column.sort_order == "descending" and not switches.enable_descending:
        yield "sort_order is descending; expected ascending (the switch enable_descending allows both)"
    if column.is_key and not is_comparable(column.type):
        yield f"the type {column.type} has no order, so the column cannot be key"
    if column.expression is not None:
        yield from _expression_faults(column, schema, switches)
    if column.materialized is not None and column.expression is None:
        yield "materialized is for computed columns"
    if column.aggregate is not None and (fault := aggregate_fault(column)):
        yield fault
    if column.lock is not None:
        if column.is_key:
            yield "a key column cannot have a lock"
        if fault := name_fault(column.lock, "the lock"):
            yield fault
    if column.group is not None and (fault := name_fault(column.group, "the group")):
        yield fault
    if column.max_inline_hunk_size is not None:
        yield from _hunk_faults(column)


def column_name_fault(name: str) -> str | None:
    if name[:1] in ("@", "$"):
        return f"the name begins with {name[0]}, which is for system columns"
    return name_fault(name, "the name")


def _expression_faults(column: Column, schema: TableSchema, switches: Switches) -> Iterator[str]:
    if not column.is_key and not switches.allow_nonkey_computed:
        yield "only key columns may be computed (the switch allow_nonkey_computed allows others)"
    if column.required:
        yield "a computed column cannot be required"
    sources = {
        source.name: kind_of_type(source.type)
        for source in schema.columns
        if source.is_key and source.expression is None
    }
    expected = kind_of_type(column.type)
    try:
        expression = compile_expression(column.expression or "", sources, (expected,))
    except YtError as error:
        yield _reference_fault(column, schema) or error.message
        return
    item = column.type.item if isinstance(column.type, Optional) else column.type
    exact = expected in _COMPUTED and item == Primitive(
        {"boolean": "bool", "any": "yson"}.get(expected, expected)
    )
    if expression.kind != expected or not exact:
        yield (
            f"the expression is {expression.kind}, so the type must be {expression.kind}, not "
            f"{column.simple.name}"
        )


def _reference_fault(column: Column, schema: TableSchema) -> str | None:
    """Why an expression may not read a column that is there."""
    kinds = {source.name: kind_of_type(source.type) for source in schema.columns}
    try:
        references = compile_expression(column.expression or "", kinds).references
    except YtError:
        return None
    for name in references:
        source = schema.by_name[name]
        if name == column.name:
            return "the expression reads the column itself"
        if source.expression is not None:
            return f"the expression reads {name}, which is computed itself"
        if not source.is_key:
            return f"the expression reads {name}, which is not a key column"
    return None


def _hunk_faults(column: Column) -> Iterator[str]:
    if (column.max_inline_hunk_size or 0) <= 0:
        yield "max_inline_hunk_size must be positive"
    if column.is_key or column.aggregate is not None:
        yield "max_inline_hunk_size is for columns that are neither key nor aggregated"
    if column.simple.name not in ("string", "utf8", "json", "any"):
        yield f"max_inline_hunk_size is for strings and any, not {column.simple.name}"


def _name_faults(schema: TableSchema) -> Iterator[Fault]:
    for name, count in Counter(schema.names).items():
        if count > 1:
            yield Fault(name, f"{count} columns have this name")
    identities = Counter(column.identity for column in schema.columns)
    for name, count in identities.items():
        if count > 1 and schema.names.count(name) < count:
            yield Fault(name, f"{count} columns have this stable name")
    for name in schema.deleted_columns:
        if name in identities:
            yield Fault(name, "the stable name is that of a deleted column")


def _key_faults(schema: TableSchema) -> Iterator[Fault]:
    keys = schema.key_columns
    for column, place in zip(keys, schema.columns, strict=False):
        if column is not place:
            yield Fault(column.name, f"a key column after {place.name}, which is not key; keys come first")
            break
    if len(keys) > MAX_KEYS:
        yield Fault(
            "", f"{len(keys)} key columns; at most {MAX_KEYS} are allowed", ErrorCode.TOO_MANY_KEY_COLUMNS
        )
    if schema.unique_keys and not keys:
        yield Fault("", "unique_keys=%true needs a key column")


def _size_faults(schema: TableSchema) -> Iterator[Fault]:
    if len(schema.columns) > MAX_COLUMNS:
        yield Fault("", f"{len(schema.columns)} columns; at most {MAX_COLUMNS} are allowed")
    complexity = sum(complexity_of(column.type) for column in schema.columns)
    if complexity >= MAX_COMPLEXITY:
        yield Fault("", f"the types have {complexity} parts; fewer than {MAX_COMPLEXITY} are allowed")
    locks = {column.lock for column in schema.columns if column.lock}
    if len(locks) >= MAX_LOCKS:
        yield Fault("", f"{len(locks)} locks; at most {MAX_LOCKS - 1} beside the primary one are allowed")
    keyed, valued = nested_tables(schema.columns)
    for name in sorted(valued - keyed):
        yield Fault("", f"the nested table {name} has values and no nested_key({name})")
