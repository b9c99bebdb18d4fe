"""The rows of records column by column, for records without special values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from trellis.dialects.ytsaurus.computed.expression import Expression
from trellis.dialects.ytsaurus.errors import YtError
from trellis.dialects.ytsaurus.loads.target import UNDECLARED, TargetTable, value_stager
from trellis.dialects.ytsaurus.schema.model import Column
from trellis.dialects.ytsaurus.types.model import Decimal, iter_types
from trellis.dialects.ytsaurus.types.simple import plain_name
from trellis.dialects.ytsaurus.values.primitives import RANGES, check_primitive
from trellis.dialects.ytsaurus.values.rows import MAX_KEY_WEIGHT, MAX_ROW_WEIGHT, MAX_VALUES, RowValidator
from trellis.dialects.ytsaurus.yson.writer import dumps
from trellis.evolution.columnar_transform import (
    Cell,
    ColumnarTransform,
    Derived,
    Remainder,
    Special,
    Target,
)

_WEIGHT: Final = 4
"""What a staged byte or character counts for, at most: a number of 8 bytes takes 3 in YSON."""
_TARGETS: Final[dict[str, Target]] = {
    **dict.fromkeys(RANGES, "same_int"),
    **dict.fromkeys(("float", "double"), "same_float"),
    "bool": "same_bool",
    **dict.fromkeys(("string", "utf8"), "same_text"),
}
"""The columnar type of each type whose values need no look at their content."""


def columnar_transform_of(target: TargetTable, validator: RowValidator) -> ColumnarTransform:
    """Records that a strict schema does not declare all keys of are special."""
    schema = target.schema
    row_limit = (MAX_ROW_WEIGHT - 1) // (len(schema.columns) + 1)
    key_limit = min(row_limit, MAX_KEY_WEIGHT // max(len(schema.keys), 1))
    cells = tuple(
        _cell(column, validator, key_limit if column.is_key else row_limit) for column in schema.columns
    )
    remainder = None if schema.strict else _remainder(len(cells), row_limit)
    names = frozenset(schema.names)
    return ColumnarTransform(cells, names, str, Counter, closed=schema.strict, remainder=remainder)


def _remainder(declared: int, limit: int) -> Remainder:
    """What the schema does not declare; beyond the limit it might be too much for a row."""

    def convert(values: Mapping[str, Any]) -> bytes:
        try:
            staged = dumps(values, yson_format="binary")
        except YtError:
            raise Special from None
        if len(staged) > limit // _WEIGHT or declared + len(values) > MAX_VALUES:
            raise Special
        return staged

    return Remainder(UNDECLARED, convert)


def _cell(column: Column, validator: RowValidator, limit: int) -> Cell:
    """Values that weigh more than `limit` are special: together they might be too much for a row."""
    name = plain_name(column.type)
    is_decimal = any(isinstance(part, Decimal) for part in iter_types(column.type))
    expression, stage = validator.expressions.get(column.name), value_stager(column)
    longest = limit // _WEIGHT

    def convert(value: Any) -> Any:
        try:
            staged = stage(validator.validate_column(column.name, value))
        except YtError:
            raise Special from None
        if staged.__class__ in (bytes, str) and len(staged) > longest:
            raise Special
        return staged

    return Cell(
        column.name,
        (column.name,) if expression is None else _derived(expression, validator),
        "other" if name is None or is_decimal else _TARGETS.get(name, "other"),
        False,
        convert,
        longest=longest,
        within=RANGES.get(name or ""),
        check=_is_float if name == "float" else None,
        required=column.required,
    )


def _derived(expression: Expression, validator: RowValidator) -> Derived:
    """What a record has for a computed column itself does not count."""
    names = expression.references

    def compute(*values: Any) -> Any:
        try:
            row = {
                name: validator.validate_column(name, value)
                for name, value in zip(names, values, strict=True)
            }
            return expression.evaluate(row)
        except YtError:
            raise Special from None

    return Derived((), tuple((name,) for name in names), compute)


def _is_float(value: float) -> bool:
    try:
        check_primitive("float", value)
    except YtError:
        return False
    return True
