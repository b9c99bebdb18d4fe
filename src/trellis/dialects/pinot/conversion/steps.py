"""The conversion of each source kind to each column type (`PinotDataType.convert`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, Final

from trellis.dialects.pinot.conversion import scalars
from trellis.dialects.pinot.conversion.numbers import (
    DOUBLE,
    FLOAT,
    INT,
    LONG,
    bytes_of_decimal,
    decimal_of_bytes,
    decimal_of_decimal,
    decimal_of_text,
    float_of_double,
)
from trellis.dialects.pinot.conversion.settings import LossReporter
from trellis.dialects.pinot.document.types import PinotType, Value
from trellis.dialects.pinot.value.numbers import BLANKS, double_text, float_text
from trellis.dialects.pinot.value.source_kinds import SourceKind

Step = Callable[[Any, LossReporter], Value]
Steps = Mapping[SourceKind, Step]

_K = SourceKind


def _plain(convert: Callable[[Any], Value]) -> Step:
    """A conversion that loses nothing."""
    return lambda value, _: convert(value)


def _of(step: Step, *kinds: SourceKind) -> dict[SourceKind, Step]:
    return dict.fromkeys(kinds, step)


def _then(step: Step, convert: Callable[[Any], Value]) -> Step:
    return lambda value, reporter: convert(step(value, reporter))


_INT: Final = _plain(int)
_FLOAT: Final = _plain(float)
_NOT_ZERO: Final = _plain(lambda value: int(value != 0))
_JSON_KINDS: Final = (_K.BOOLEAN, _K.INT, _K.LONG, _K.FLOAT, _K.DOUBLE, _K.TIMESTAMP, _K.BYTES, _K.UUID)

MATRIX: Final[Mapping[PinotType, Steps]] = {
    PinotType.INT: {
        **_of(_INT, _K.BOOLEAN, _K.INT),
        _K.LONG: INT.of_whole,
        **_of(INT.of_float, _K.FLOAT, _K.DOUBLE),
        _K.BIG_DECIMAL: INT.of_decimal,
        _K.STRING: INT.of_text,
    },
    PinotType.LONG: {
        **_of(_INT, _K.BOOLEAN, _K.INT, _K.LONG),
        **_of(LONG.of_float, _K.FLOAT, _K.DOUBLE),
        _K.BIG_DECIMAL: LONG.of_decimal,
        _K.TIMESTAMP: scalars.millis_of_timestamp,
        _K.STRING: LONG.of_text,
    },
    PinotType.FLOAT: {
        **_of(_FLOAT, _K.BOOLEAN, _K.FLOAT),
        **_of(FLOAT.of_exact, _K.INT, _K.LONG, _K.BIG_DECIMAL),
        _K.DOUBLE: float_of_double,
        _K.STRING: FLOAT.of_text,
    },
    PinotType.DOUBLE: {
        **_of(_FLOAT, _K.BOOLEAN, _K.INT, _K.FLOAT, _K.DOUBLE),
        **_of(DOUBLE.of_exact, _K.LONG, _K.BIG_DECIMAL),
        _K.TIMESTAMP: _then(scalars.millis_of_timestamp, float),
        _K.STRING: DOUBLE.of_text,
    },
    PinotType.BIG_DECIMAL: {
        **_of(_plain(Decimal), _K.BOOLEAN, _K.INT, _K.LONG),
        _K.FLOAT: _plain(lambda value: decimal_of_text(float_text(value), value)),
        _K.DOUBLE: _plain(lambda value: decimal_of_text(double_text(value), value)),
        _K.BIG_DECIMAL: decimal_of_decimal,
        _K.TIMESTAMP: _then(scalars.millis_of_timestamp, Decimal),
        _K.STRING: _plain(lambda text: decimal_of_text(text.strip(BLANKS), text)),
        _K.BYTES: _plain(decimal_of_bytes),
    },
    PinotType.BOOLEAN: {
        _K.BOOLEAN: _INT,
        **_of(_NOT_ZERO, _K.INT, _K.LONG, _K.FLOAT, _K.DOUBLE),
        _K.BIG_DECIMAL: _plain(scalars.boolean_of_decimal),
        _K.STRING: scalars.boolean_of_text,
    },
    PinotType.TIMESTAMP: {
        _K.LONG: scalars.as_instant(_INT),
        _K.DOUBLE: scalars.as_instant(LONG.of_float),
        _K.BIG_DECIMAL: scalars.as_instant(LONG.of_decimal),
        _K.TIMESTAMP: scalars.as_instant(scalars.millis_of_timestamp),
        _K.STRING: scalars.as_instant(scalars.millis_of_text),
    },
    PinotType.STRING: {
        _K.BOOLEAN: _plain(lambda value: "true" if value else "false"),
        **_of(_plain(scalars.text_of_whole), _K.INT, _K.LONG),
        _K.FLOAT: _plain(float_text),
        _K.DOUBLE: _plain(double_text),
        _K.BIG_DECIMAL: _plain(scalars.text_of_decimal),
        _K.TIMESTAMP: scalars.text_of_timestamp,
        _K.DATE: _plain(lambda value: value.isoformat()),
        _K.STRING: scalars.text_of_text,
        _K.BYTES: _plain(lambda value: bytes(value).hex()),
        _K.UUID: _plain(str),
    },
    PinotType.JSON: {
        **_of(scalars.json_of_value, *_JSON_KINDS, _K.MAP, _K.LIST),
        _K.BIG_DECIMAL: _plain(scalars.json_of_decimal),
        _K.STRING: scalars.json_of_text,
    },
    PinotType.BYTES: {
        _K.BIG_DECIMAL: bytes_of_decimal,
        _K.STRING: _plain(scalars.bytes_of_text),
        _K.BYTES: _plain(bytes),
    },
}
"""The steps to a type by kind; a kind that is missing cannot be converted."""
