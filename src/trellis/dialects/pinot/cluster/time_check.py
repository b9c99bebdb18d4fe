"""Main times in the rows of a delivery for which Pinot refuses a segment."""

from __future__ import annotations

from datetime import datetime, timezone
from decimal import Decimal
from functools import lru_cache
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from trellis.dialects.pinot.date_time.format import FormatError
from trellis.dialects.pinot.document.fields import PinotSchema
from trellis.dialects.pinot.document.types import PinotType
from trellis.dialects.pinot.row.time_validation import MainTime
from trellis.dialects.pinot.table.config import TableConfig
from trellis.errors import SchemaError

_KNOWN = 1 << 16


class TimeCheck:
    """Looks at the main times as they are written; nulls become a time that fits when Pinot reads them.

    Like Pinot, which tries the first and the last time of a segment, it tries those of each batch; where one
    is bad, all of the batch.

    `rows`: how many have one that Pinot does not take. `example`: why, of the first. `unreadable`: one of
    them is no time at all in the format, which `segmentTimeValueCheck` false does not allow either.
    """

    def __init__(self, main: MainTime, range_checked: bool = True) -> None:
        self.main = main
        self.rows = 0
        self.example: str | None = None
        self.unreadable = False
        self._range_checked = range_checked
        self._problem = lru_cache(_KNOWN)(self._look)

    @staticmethod
    def of(schema: PinotSchema, table: TableConfig, zone: str) -> TimeCheck | str | None:
        """The check of a table; None where Pinot builds the segment whatever the times are; a sentence
        where no time of now fits the column.
        """
        spec = next((each for each in schema.date_times if each.name == table.time_column), None)
        if spec is None or table.continue_on_error:
            return None
        try:
            return TimeCheck(MainTime(spec, datetime.now(timezone.utc), zone), table.segment_time_check)
        except SchemaError as error:
            return f"Pinot will refuse the segments: {error}"

    def look(self, batch: pa.RecordBatch) -> None:
        """Count what is wrong in a batch of a data file."""
        times = batch.column(self.main.spec.name)
        if times.null_count == len(times) or self._between_good(times):
            return
        for each in pc.value_counts(times.drop_null()).to_pylist():
            problem = self._problem(each["values"])
            if problem is not None:
                self.rows += each["counts"]
                self.example = self.example or problem

    @property
    def warning(self) -> str | None:
        """What Pinot will do and what helps; None where all is well."""
        if self.example is None:
            return None
        having = "1 row has" if self.rows == 1 else f"{self.rows:,} rows have"
        name = self.main.spec.name
        ending = "" if self.unreadable else ", one with segmentTimeValueCheck false lets them in"
        return (
            f"{having} a main time in {name} for which Pinot will refuse the segment, "
            f"such as: {self.example}. Correct the values and load into a new dataset; a table config with "
            f"timeColumnName {name}, rowTimeValueCheck and continueOnError makes null of them instead{ending}"
        )

    def _between_good(self, times: pa.Array) -> bool:
        """Whether the least and the greatest, by value or by text, are good: Pinot looks at no others."""
        if pa.types.is_floating(times.type):
            return False
        ends = pc.min_max(times)
        return all(self._problem(ends[end].as_py()) is None for end in ("min", "max"))

    def _look(self, value: Any) -> str | None:
        if self.main.spec.data_type is PinotType.BIG_DECIMAL:
            value = Decimal(value)
        problem = self.main.problem(value)
        if problem is None:
            return None
        unreadable = not self._readable(value)
        self.unreadable |= unreadable
        return problem if unreadable or self._range_checked else None

    def _readable(self, value: Any) -> bool:
        try:
            self.main.format.to_millis(value, self.main.zone)
        except (FormatError, TypeError, ValueError, OverflowError):
            return False
        return True
