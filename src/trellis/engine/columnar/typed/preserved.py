"""Typed rows that keep their types: no child tables, no variant columns.

A value that does not fit its column is an error, unless the contract allows to discard it.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pyarrow as pa

from trellis.engine.arrow.cast import Fitted, fitted, json_of, plain, shortened
from trellis.engine.arrow.nested_types import nested_type
from trellis.engine.arrow.nested_values import Misfit, nested_cast, nested_of_texts
from trellis.engine.arrow.number_text import is_number_text
from trellis.engine.arrow.types import arrow_type, is_json_text
from trellis.engine.columnar.typed.fields import Field
from trellis.engine.exact.slots import TableBuilder
from trellis.engine.input.parquet import rows_of
from trellis.engine.plan import Plan
from trellis.engine.staging.batches import array_of
from trellis.errors import UsageError
from trellis.evolution.scalars.values import MISFIT
from trellis.schema.model import Column, DataType


def fitted_whole(
    plan: Plan, root: TableBuilder, field: Field, array: pa.Array, column: Column
) -> Fitted | None:
    """The values as the column stores them, nested ones as such or as JSON; None where one does not fit."""
    nested, texts = nested_type(column), field.type is not None and field.type.data_type == "text"
    if nested is not None:
        return _nested(array, nested, texts or is_json_text(field.arrow))
    if is_json_text(field.arrow):
        return Fitted(plain(array)) if column.data_type in ("json", "text") else None
    if field.nested:
        return Fitted(json_of(array)) if column.data_type in ("json", "text") else None
    values = plain(array)
    if texts and column.data_type != "text" and not is_number_text(column):
        return _parse_texts(values.cast(pa.string()), column)
    stored = fitted(values, column)
    return _convert_values(plan, root, field, values, column) if stored is None else stored


def _convert_values(
    plan: Plan, root: TableBuilder, field: Field, array: pa.Array, column: Column
) -> Fitted | None:
    """Values of a type that can be written in the one of the column, as single values are."""
    if root.table is None or field.type is None or (field.type.data_type, column.data_type) not in _WRITTEN:
        return None
    into, shortened_times = plan.dialect.types.coercer(plan.schema, column), shortened(array)
    rows = rows_of(pa.RecordBatch.from_arrays([shortened_times.array], names=[field.key]))
    source_values = [row[field.key] for row in rows]
    values = [None if source_value is None else into(source_value) for source_value in source_values]
    if any(_differs(value, source_value) for value, source_value in zip(values, source_values, strict=True)):
        return None
    return Fitted(array_of(root.table, column, values), shortened_times.cut)


def _differs(value: Any, source_value: Any) -> bool:
    """Whether it did not fit, or is another number than it was: a decimal is rounded to its scale."""
    if isinstance(value, Decimal):
        return bool(float(value) != source_value)
    return value is MISFIT or (isinstance(value, float) and Decimal(str(value)) != source_value)


def _nested(array: pa.Array, arrow: pa.DataType, texts: bool) -> Fitted | None:
    """Nested values, or JSON texts of such, as a nested type."""
    try:
        if texts:
            return Fitted(nested_of_texts(plain(array).to_pylist(), arrow))
        return Fitted(nested_cast(array, arrow))
    except Misfit:
        return None


def _parse_texts(texts: pa.Array, column: Column) -> Fitted | None:
    """Texts as what they say, read by Arrow; a time without a zone is UTC."""
    arrow = arrow_type(column)
    try:
        if not pa.types.is_timestamp(arrow):
            return Fitted(texts.cast(arrow))
        try:
            return Fitted(texts.cast(pa.timestamp(arrow.unit, "UTC")).cast(arrow))
        except pa.ArrowInvalid:
            return Fitted(texts.cast(pa.timestamp(arrow.unit)).cast(arrow))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None


def refuse_shared(fields: tuple[Field, ...], root: TableBuilder, file: str) -> None:
    """Raises UsageError where two fields have one column."""
    twins = [field.key for field in fields if field.shared]
    if twins:
        raise UsageError(
            f"{file}: {', '.join(twins)} would share a column of table {root.name}; rename all but one"
        )


_TEXTS: tuple[DataType, ...] = ("double", "decimal", "bool", "date", "timestamp", "time")
_WRITTEN = {("double", "decimal"), ("decimal", "double"), *((text_type, "text") for text_type in _TEXTS)}
