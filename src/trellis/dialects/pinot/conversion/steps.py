"""The conversion of each source kind to each column type (`PinotDataType.convert`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from trellis.dialects.pinot.conversion import numbers, scalars, texts
from trellis.dialects.pinot.conversion.losses import LossReporter
from trellis.dialects.pinot.document.types import PinotType, Value
from trellis.dialects.pinot.value.source_kinds import SourceKind

Step = Callable[[Any, LossReporter], Value]
Steps = Mapping[SourceKind, Step]

_K = SourceKind


def _int(value: Value, reporter: LossReporter) -> int:
    return int(value)


def _float(value: Value, reporter: LossReporter) -> float:
    return float(value)


MATRIX: Final[Mapping[PinotType, Steps]] = {
    PinotType.INT: {
        _K.BOOLEAN: _int,
        _K.INT: _int,
        _K.LONG: numbers.int_of_whole,
        _K.FLOAT: numbers.int_of_float,
        _K.DOUBLE: numbers.int_of_float,
        _K.BIG_DECIMAL: numbers.int_of_decimal,
        _K.STRING: numbers.int_of_text,
    },
    PinotType.LONG: {
        _K.BOOLEAN: _int,
        _K.INT: _int,
        _K.LONG: _int,
        _K.FLOAT: numbers.long_of_float,
        _K.DOUBLE: numbers.long_of_float,
        _K.BIG_DECIMAL: numbers.long_of_decimal,
        _K.TIMESTAMP: scalars.millis_of_timestamp,
        _K.STRING: numbers.long_of_text,
    },
    PinotType.FLOAT: {
        _K.BOOLEAN: _float,
        _K.INT: numbers.float_of_whole,
        _K.LONG: numbers.float_of_whole,
        _K.FLOAT: _float,
        _K.DOUBLE: numbers.float_of_float,
        _K.BIG_DECIMAL: numbers.float_of_decimal,
        _K.STRING: numbers.float_of_text,
    },
    PinotType.DOUBLE: {
        _K.BOOLEAN: _float,
        _K.INT: _float,
        _K.LONG: numbers.double_of_whole,
        _K.FLOAT: _float,
        _K.DOUBLE: _float,
        _K.BIG_DECIMAL: numbers.double_of_decimal,
        _K.TIMESTAMP: scalars.double_of_timestamp,
        _K.STRING: numbers.double_of_text,
    },
    PinotType.BIG_DECIMAL: {
        _K.BOOLEAN: numbers.decimal_of_whole,
        _K.INT: numbers.decimal_of_whole,
        _K.LONG: numbers.decimal_of_whole,
        _K.FLOAT: numbers.decimal_of_float,
        _K.DOUBLE: numbers.decimal_of_double,
        _K.BIG_DECIMAL: numbers.decimal_of_decimal,
        _K.TIMESTAMP: scalars.decimal_of_timestamp,
        _K.STRING: numbers.decimal_of_text,
        _K.BYTES: numbers.decimal_of_bytes,
    },
    PinotType.BOOLEAN: {
        _K.BOOLEAN: _int,
        _K.INT: scalars.boolean_of_number,
        _K.LONG: scalars.boolean_of_number,
        _K.FLOAT: scalars.boolean_of_number,
        _K.DOUBLE: scalars.boolean_of_number,
        _K.BIG_DECIMAL: scalars.boolean_of_decimal,
        _K.STRING: scalars.boolean_of_text,
    },
    PinotType.TIMESTAMP: {
        _K.LONG: scalars.instant_of_long,
        _K.DOUBLE: scalars.instant_of_double,
        _K.BIG_DECIMAL: scalars.instant_of_decimal,
        _K.TIMESTAMP: scalars.instant_of_timestamp,
        _K.STRING: scalars.instant_of_text,
    },
    PinotType.STRING: {
        _K.BOOLEAN: texts.text_of_boolean,
        _K.INT: texts.text_of_whole,
        _K.LONG: texts.text_of_whole,
        _K.FLOAT: texts.text_of_float,
        _K.DOUBLE: texts.text_of_double,
        _K.BIG_DECIMAL: texts.text_of_decimal,
        _K.TIMESTAMP: texts.text_of_timestamp,
        _K.DATE: texts.text_of_date,
        _K.STRING: texts.text_of_text,
        _K.BYTES: texts.text_of_bytes,
        _K.UUID: texts.text_of_uuid,
    },
    PinotType.JSON: {
        _K.BOOLEAN: texts.json_of_value,
        _K.INT: texts.json_of_value,
        _K.LONG: texts.json_of_value,
        _K.FLOAT: texts.json_of_value,
        _K.DOUBLE: texts.json_of_value,
        _K.BIG_DECIMAL: texts.json_of_decimal,
        _K.TIMESTAMP: texts.json_of_timestamp,
        _K.STRING: texts.json_of_text,
        _K.BYTES: texts.json_of_bytes,
        _K.UUID: texts.json_of_value,
        _K.MAP: texts.json_of_value,
        _K.LIST: texts.json_of_value,
    },
    PinotType.BYTES: {
        _K.BIG_DECIMAL: numbers.bytes_of_decimal,
        _K.STRING: scalars.bytes_of_text,
        _K.BYTES: scalars.bytes_of_bytes,
    },
}

EXTENDED_MATRIX: Final[Mapping[PinotType, Steps]] = {
    PinotType.INT: {_K.DATE: scalars.days_of_date},
    PinotType.LONG: {_K.DATE: scalars.days_of_date},
    PinotType.FLOAT: {_K.DATE: scalars.day_number},
    PinotType.DOUBLE: {_K.DATE: scalars.day_number},
    PinotType.BIG_DECIMAL: {_K.DATE: scalars.day_decimal},
    PinotType.TIMESTAMP: {_K.DATE: scalars.instant_of_date},
    PinotType.JSON: {_K.DATE: texts.json_of_date},
    PinotType.UUID: {
        _K.STRING: scalars.uuid_of_text,
        _K.BYTES: scalars.uuid_of_bytes,
        _K.UUID: scalars.bytes_of_uuid,
    },
}
"""What the profile `extended` adds: dates are counted in days, and there are UUIDs."""


def steps_of(target: PinotType, extended: bool) -> Steps:
    """The steps to a type by kind; a kind that is missing cannot be converted."""
    added = EXTENDED_MATRIX.get(target, {}) if extended else {}
    return {**MATRIX.get(target, {}), **added}
