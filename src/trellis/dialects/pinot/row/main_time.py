"""The main time column: which values it may hold, and what stands for null (spec pinot.md, 5.2)."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from trellis.dialects.pinot.document.defaults import default_of
from trellis.dialects.pinot.document.fields import FieldSpec
from trellis.dialects.pinot.document.types import PinotType, Value
from trellis.dialects.pinot.moment.format import FormatError, parse_format
from trellis.dialects.pinot.value.kinds import INT_MAX, INT_MIN, LONG_MAX, LONG_MIN
from trellis.errors import SchemaError

FIRST: Final = 31_536_000_000
LAST: Final = 3_187_296_000_000
"""1971-01-01 and 2071-01-01 UTC, in milliseconds; both are allowed."""


class MainTime:
    """The main time column of a table. `now` stands for values that are missing: it is that of the load."""

    def __init__(self, spec: FieldSpec, now: datetime, session_zone: str = "UTC") -> None:
        if spec.format is None:
            raise SchemaError(f"column {spec.name}: Must provide format")
        self.spec = spec
        self.format = parse_format(spec.format)
        self.zone = session_zone
        self.default = self._default(int(now.timestamp() * 1000))

    def problem(self, value: Any) -> str | None:
        """Why a value cannot be the time of a row; None where it can."""
        try:
            millis = self.format.to_millis(value, self.zone)
        except FormatError as bad:
            return str(bad)
        if FIRST <= millis <= LAST:
            return None
        return (
            f"{str(value)[:80]!r} is not between 1971-01-01 and 2071-01-01 UTC "
            f"(it reads as {millis} milliseconds in format {self.spec.format})"
        )

    def _default(self, now: int) -> Value:
        declared = default_of(self.spec)
        if self.problem(declared) is None:
            return declared
        text = self.format.from_millis(now, self.zone)
        return text if self.spec.data_type is PinotType.STRING else self._number(now, text)

    def _number(self, now: int, text: str) -> int:
        if self.spec.data_type is PinotType.TIMESTAMP:
            return now
        least, most = (INT_MIN, INT_MAX) if self.spec.data_type is PinotType.INT else (LONG_MIN, LONG_MAX)
        if not text.lstrip("-").isdigit() or not least <= int(text) <= most:
            raise SchemaError(
                f"column {self.spec.name}: the time of now, {text}, in format {self.spec.format} is no "
                f"{self.spec.data_type.value}, so nothing can stand for null; choose a type that holds it, "
                "or give a defaultNullValue between 1971 and 2071"
            )
        return int(text)
