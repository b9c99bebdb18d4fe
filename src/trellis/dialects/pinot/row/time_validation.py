"""The main time column: valid values, and the value stored for null (`TimeValidationTransformer`)."""

from __future__ import annotations

from datetime import datetime

from trellis.dialects.pinot.date_time.format import parse_format
from trellis.dialects.pinot.date_time.units import VALID_MAX_MILLIS, VALID_MIN_MILLIS, FormatError
from trellis.dialects.pinot.document.defaults import default_of, parse_default
from trellis.dialects.pinot.document.fields import FieldSpec
from trellis.dialects.pinot.document.types import PinotType, Value
from trellis.dialects.pinot.value.numbers import decimal_text, double_text, float_text
from trellis.dialects.pinot.value.source_kinds import CannotConvert, millis_of
from trellis.errors import SchemaError


class MainTime:
    """The main time column of a table. `now`, the time of the load, is stored for missing values."""

    def __init__(self, spec: FieldSpec, now: datetime, session_zone: str = "UTC") -> None:
        if spec.format is None:
            raise SchemaError(f"column {spec.name}: Must provide format")
        self.spec = spec
        self.format = parse_format(spec.format)
        self.zone = session_zone
        self.default = self._default(millis_of(now))

    def problem(self, value: Value) -> str | None:
        """Why a stored value cannot be the time of a row; None where it can."""
        try:
            millis = self.format.to_millis(_java_text(value, self.spec.data_type), self.zone)
        except FormatError as error:
            return str(error)
        if VALID_MIN_MILLIS <= millis <= VALID_MAX_MILLIS:
            return None
        return (
            f"{str(value)[:80]!r} is not between 1971-01-01 and 2071-01-01 UTC "
            f"(it reads as {millis} milliseconds in format {self.spec.format})"
        )

    def _default(self, now: int) -> Value:
        declared = default_of(self.spec)
        if self.problem(declared) is None:
            return declared
        if self.spec.data_type is PinotType.TIMESTAMP:
            return now
        text = self.format.from_millis(now, self.zone)
        try:
            return parse_default(self.spec.data_type, text)
        except CannotConvert:
            raise SchemaError(
                f"column {self.spec.name}: the current time, {text}, in format {self.spec.format} does not "
                f"fit {self.spec.data_type.value}, so there is no value to store for null; choose a wider "
                "type, or set a defaultNullValue between 1971 and 2071"
            ) from None


def _java_text(value: Value, data_type: PinotType) -> str | int:
    """A value as Java writes it, which is what its format reads."""
    if isinstance(value, float):
        return float_text(value) if data_type is PinotType.FLOAT else double_text(value)
    if isinstance(value, bytes):
        return value.hex()
    return value if isinstance(value, (str, int)) else decimal_text(value)
