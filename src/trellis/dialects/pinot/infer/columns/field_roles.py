"""Metric or dimension, and why."""

from __future__ import annotations

from typing import Final

from trellis.dialects.pinot.document.types import FieldType, PinotType
from trellis.dialects.pinot.infer.columns.value_types import ValueType
from trellis.dialects.pinot.infer.evidence.name_words import (
    names_amount,
    names_identity,
    names_sequence,
    names_time,
)
from trellis.errors import UsageError

FEW_VALUES: Final = 20
"""Whole numbers with at most so many different values are labels."""

ColumnRole = tuple[PinotType, FieldType, str]


def role_of_column(path: str, key: str, value_type: ValueType, chosen: FieldType | None = None) -> ColumnRole:
    """The type, role and reason of a column that is neither a time nor a MAP.

    `key` is the last part of the path. Raises UsageError where it cannot be the chosen metric.
    """
    assert value_type.data_type is not None
    if chosen is FieldType.METRIC:
        return _metric_type(path, value_type), FieldType.METRIC, f"{value_type.why}; a metric as chosen"
    if chosen is FieldType.DIMENSION:
        return value_type.data_type, chosen, f"{value_type.why}; a dimension as chosen"
    if not value_type.single or not value_type.data_type.numeric:
        return value_type.data_type, FieldType.DIMENSION, value_type.why
    role, why = _role(key, value_type)
    if role is FieldType.DIMENSION and value_type.data_type is PinotType.BIG_DECIMAL:
        return PinotType.STRING, role, f"{value_type.why}, as text; {why}"
    if role is FieldType.DIMENSION and value_type.data_type is PinotType.INT and names_sequence(key):
        return PinotType.LONG, role, f"{value_type.why}; an identifier, room to grow"
    return value_type.data_type, role, f"{value_type.why}; {why}"


def _role(key: str, value_type: ValueType) -> tuple[FieldType, str]:
    if value_type.data_type is PinotType.DOUBLE and names_time(key):
        return FieldType.DIMENSION, "named like a time"
    if names_identity(key):
        return FieldType.DIMENSION, "named like a label"
    if names_amount(key):
        return FieldType.METRIC, "named like an amount"
    if value_type.data_type is PinotType.BIG_DECIMAL and value_type.values.kinds["integer beyond 64 bits"]:
        return FieldType.DIMENSION, "too long for an amount"
    if value_type.data_type in (PinotType.FLOAT, PinotType.DOUBLE, PinotType.BIG_DECIMAL):
        return FieldType.METRIC, "a measure"
    different = value_type.values.distinct
    if different is None:
        return FieldType.METRIC, "very many different numbers"
    if len(different) == 1:
        return FieldType.DIMENSION, "the same in every row"
    if len(different) <= FEW_VALUES:
        return FieldType.DIMENSION, f"only {len(different)} different values"
    if len(different) == value_type.values.kinds["int"]:
        return FieldType.DIMENSION, "all different"
    return FieldType.METRIC, f"{len(different):,} different numbers"


def _metric_type(path: str, value_type: ValueType) -> PinotType:
    if not value_type.single:
        raise UsageError(
            f"--metric {path}: a metric has one value a row, and this column holds {value_type.why}"
        )
    if value_type.data_type is not None and (
        value_type.data_type.numeric or value_type.data_type is PinotType.BYTES
    ):
        return value_type.data_type
    texts = value_type.values.texts
    if (
        value_type.data_type is PinotType.STRING
        and texts is not None
        and value_type.values.kinds.keys() <= {"string", "null"}
    ):
        if texts.whole:
            return PinotType.LONG
        if texts.numbers:
            return PinotType.BIG_DECIMAL
    raise UsageError(f"--metric {path}: a metric is a number, and this column holds {value_type.why}")
