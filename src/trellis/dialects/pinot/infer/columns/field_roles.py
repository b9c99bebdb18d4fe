"""Metric or dimension, and why."""

from __future__ import annotations

from typing import Final

from trellis.dialects.pinot.document.types import FieldType, PinotType
from trellis.dialects.pinot.infer.columns.value_types import Held
from trellis.dialects.pinot.infer.evidence.name_words import (
    says_amount,
    says_identity,
    says_sequence,
    says_time,
)
from trellis.errors import UsageError

FEW: Final = 20
"""Whole numbers with at most so many different values are names for something."""

Part = tuple[PinotType, FieldType, str]


def part_of(path: str, key: str, found: Held, asked: FieldType | None = None) -> Part:
    """The type, role and reason of a column that is neither a time nor a MAP.

    `key` is its own part of the path. Raises UsageError where it cannot be the metric that is asked for.
    """
    assert found.data_type is not None
    if asked is FieldType.METRIC:
        return _metric_type(path, found), FieldType.METRIC, f"{found.why}; a metric as asked"
    if asked is FieldType.DIMENSION:
        return found.data_type, asked, f"{found.why}; a dimension as asked"
    if not found.single or not found.data_type.numeric:
        return found.data_type, FieldType.DIMENSION, found.why
    role, why = _role(key, found)
    if role is FieldType.DIMENSION and found.data_type is PinotType.BIG_DECIMAL:
        return PinotType.STRING, role, f"{found.why}, as text; {why}"
    if role is FieldType.DIMENSION and found.data_type is PinotType.INT and says_sequence(key):
        return PinotType.LONG, role, f"{found.why}; an identifier, room to grow"
    return found.data_type, role, f"{found.why}; {why}"


def _role(key: str, found: Held) -> tuple[FieldType, str]:
    if found.data_type is PinotType.DOUBLE and says_time(key):
        return FieldType.DIMENSION, "named like a time"
    if says_identity(key):
        return FieldType.DIMENSION, "named like a label"
    if says_amount(key):
        return FieldType.METRIC, "named like an amount"
    if found.data_type is PinotType.BIG_DECIMAL and found.values.kinds["integer beyond 64 bits"]:
        return FieldType.DIMENSION, "too long for an amount"
    if found.data_type in (PinotType.FLOAT, PinotType.DOUBLE, PinotType.BIG_DECIMAL):
        return FieldType.METRIC, "a measure"
    different = found.values.distinct
    if different is None:
        return FieldType.METRIC, "very many different numbers"
    if len(different) == 1:
        return FieldType.DIMENSION, "the same in every row"
    if len(different) <= FEW:
        return FieldType.DIMENSION, f"only {len(different)} different ones"
    if len(different) == found.values.kinds["int"]:
        return FieldType.DIMENSION, "every one is different"
    return FieldType.METRIC, f"{len(different):,} different numbers"


def _metric_type(path: str, found: Held) -> PinotType:
    if not found.single:
        raise UsageError(f"--metric {path}: a metric has one value a row, and this column holds {found.why}")
    if found.data_type is not None and (found.data_type.numeric or found.data_type is PinotType.BYTES):
        return found.data_type
    texts = found.values.texts
    if (
        found.data_type is PinotType.STRING
        and texts is not None
        and found.values.kinds.keys() <= {"string", "null"}
    ):
        if texts.whole:
            return PinotType.LONG
        if texts.numbers:
            return PinotType.BIG_DECIMAL
    raise UsageError(f"--metric {path}: a metric is a number, and this column holds {found.why}")
