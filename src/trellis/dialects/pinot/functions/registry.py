"""The declaration of a function: names, parameters with their conversion, result, handling of null."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from functools import partial
from typing import Any, Final

from trellis.dialects.pinot.conversion.messages import conversion_error
from trellis.dialects.pinot.conversion.settings import PINOT_DEFAULTS, LossReporter
from trellis.dialects.pinot.conversion.steps import MATRIX, Steps
from trellis.dialects.pinot.date_time.units import wrap
from trellis.dialects.pinot.document.types import PinotType
from trellis.dialects.pinot.value.source_kinds import CannotConvert, Int64, kind_of

EPOCH: Final = datetime(1970, 1, 1, tzinfo=timezone.utc)
_NO_REPORT: Final = LossReporter("", PINOT_DEFAULTS, None)


class FunctionError(ValueError):
    """A value that a function refuses; the text is one sentence."""


def as_object(value: Any) -> Any:
    """The value unchanged."""
    return value


def _convert(target: PinotType, steps: Steps, value: Any) -> Any:
    value = _single(value)
    if type(value) is date and target is not PinotType.STRING:
        value = datetime(value.year, value.month, value.day)
    try:
        step = steps.get(kind_of(value))
        if step is None:
            raise conversion_error(value, target)
        return step(value, _NO_REPORT)
    except CannotConvert as error:
        raise FunctionError(str(error)) from None


def _converter(target: PinotType) -> Callable[[Any], Any]:
    return partial(_convert, target, MATRIX[target])


as_text: Final[Callable[[Any], str]] = _converter(PinotType.STRING)
"""Text, as Java writes it."""
as_int: Final[Callable[[Any], int]] = _converter(PinotType.INT)
"""A whole number of 32 bits: longer ones lose their high bits, fractions are cut."""
as_long: Final[Callable[[Any], int]] = _converter(PinotType.LONG)
"""A whole number of 64 bits; a timestamp is its milliseconds."""
as_double: Final[Callable[[Any], float]] = _converter(PinotType.DOUBLE)
"""A float of 64 bits."""
as_decimal: Final[Callable[[Any], Decimal]] = _converter(PinotType.BIG_DECIMAL)
"""An exact number."""
as_bytes: Final[Callable[[Any], bytes]] = _converter(PinotType.BYTES)
"""Bytes; text is read as hexadecimal digits."""
as_instant: Final[Callable[[Any], int]] = _converter(PinotType.TIMESTAMP)
"""The milliseconds of a timestamp, of its text or of a long; Pinot takes no number of 32 bits."""


def as_timestamp(value: Any) -> datetime:
    """A timestamp: of milliseconds, or of the text of one."""
    return timestamp_of(as_instant(value))


def as_list(value: Any) -> list[Any]:
    """Several values; one value is a list of one."""
    elements = list(value) if isinstance(value, list | tuple) else [value]
    if None in elements:
        raise FunctionError("a list without nulls is expected")
    return elements


def _single(value: Any) -> Any:
    while isinstance(value, list | tuple):
        if not value or value[0] is None:
            kind = "a list that starts with null" if value else "an empty list"
            raise FunctionError(f"one value is expected, not {kind}")
        value = value[0]
    return value


def timestamp_of(millis: int) -> datetime:
    """The time that so many milliseconds are after 1970-01-01 UTC. Raises FunctionError after 9999."""
    try:
        return EPOCH + timedelta(milliseconds=millis)
    except OverflowError:
        raise FunctionError(
            f"a timestamp between the years 1 and 9999 is expected, not {millis} ms"
        ) from None


def long_result(value: int) -> Int64:
    """The result of a function that returns a long: the low 64 bits."""
    return Int64(wrap(value))


def int_result(value: int) -> int:
    """The result of a function that returns an int: the low 32 bits."""
    return wrap(value, 32)


Converter = Callable[[Any], Any]
"""Converts a value to the kind that a parameter or a result has."""


class Function:
    """One function of Pinot. Blanks separate its names, the usual one first.

    The last `optional` of the parameters may be left out; `variadic` converts any further argument. Unless it
    is `nullable`, a null argument makes the result null without a call. `package` is an optional package that
    it needs.
    """

    def __init__(
        self,
        names: str,
        call: Callable[..., Any],
        *parameters: Converter,
        optional: int = 0,
        variadic: Converter | None = None,
        result: Converter = as_object,
        nullable: bool = False,
        package: str = "",
    ) -> None:
        self.names = tuple(names.split())
        self.call, self.parameters, self.variadic, self.result = call, parameters, variadic, result
        self.nullable, self.package = nullable, package
        self.min_arguments = len(parameters) - optional
        self.max_arguments = None if variadic else len(parameters)

    def accepts(self, count: int) -> bool:
        """Whether it takes so many arguments."""
        return self.min_arguments <= count and (self.max_arguments is None or count <= self.max_arguments)
