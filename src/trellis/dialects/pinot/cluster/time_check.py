"""Main times in the rows of a delivery for which Pinot refuses a segment."""

from __future__ import annotations

from datetime import datetime, timezone
from decimal import Decimal
from functools import lru_cache
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from trellis.dialects.pinot.date_time.units import FormatError
from trellis.dialects.pinot.document.fields import PinotSchema
from trellis.dialects.pinot.document.types import PinotType
from trellis.dialects.pinot.row.time_validation import MainTime
from trellis.dialects.pinot.table.config import TableConfig
from trellis.errors import SchemaError

_CACHE_SIZE = 1 << 16


class TimeCheck:
    """Checks the main times while they are written; Pinot replaces nulls by a valid time.

    Pinot checks the first and the last time of a segment; this checks those of each batch, and the whole
    batch where one is invalid.

    `rows`: how many have an invalid time. `example`: the problem of the first. `unreadable`: one of them does
    not follow the format, which `segmentTimeValueCheck` false does not allow either. Nothing is checked where
    Pinot accepts all times.
    """

    def __init__(self, schema: PinotSchema, table: TableConfig, zone: str) -> None:
        self.rows = 0
        self.example: str | None = None
        self.unreadable = False
        self._range_checked = table.segment_time_check
        self._problem = lru_cache(_CACHE_SIZE)(self._find_problem)
        self._main: MainTime | None = None
        self._refusal: str | None = None
        spec = next((spec for spec in schema.date_times if spec.name == table.time_column), None)
        if spec is not None and not table.continue_on_error:
            try:
                self._main = MainTime(spec, datetime.now(timezone.utc), zone)
            except SchemaError as error:
                self._refusal = f"Pinot will refuse the segments: {error}"

    def check_batch(self, batch: pa.RecordBatch) -> None:
        """Count the invalid times in a batch of a data file."""
        if self._main is None:
            return
        times = batch.column(self._main.spec.name)
        if times.null_count == len(times) or self._ends_are_valid(times):
            return
        for entry in pc.value_counts(times.drop_null()).to_pylist():
            problem = self._problem(entry["values"])
            if problem is not None:
                self.rows += entry["counts"]
                self.example = self.example or problem

    @property
    def warning(self) -> str | None:
        """The consequence and the remedy; None without an invalid time."""
        if self._main is None or self.example is None:
            return self._refusal
        having = "1 row has" if self.rows == 1 else f"{self.rows:,} rows have"
        name = self._main.spec.name
        ending = "" if self.unreadable else ", one with segmentTimeValueCheck false lets them in"
        return (
            f"{having} a main time in {name} for which Pinot will refuse the segment, "
            f"such as: {self.example}. Correct the values and load into a new dataset; a table config with "
            f"timeColumnName {name}, rowTimeValueCheck and continueOnError makes null of them instead{ending}"
        )

    def _ends_are_valid(self, times: pa.Array) -> bool:
        """Whether the least and the greatest, by value or by text, are valid: Pinot checks no others."""
        if pa.types.is_floating(times.type):
            return False
        ends = pc.min_max(times)
        return all(self._problem(ends[end].as_py()) is None for end in ("min", "max"))

    def _find_problem(self, value: Any) -> str | None:
        assert self._main is not None
        if self._main.spec.data_type is PinotType.BIG_DECIMAL:
            value = Decimal(value)
        problem = self._main.problem(value)
        if problem is None:
            return None
        try:
            self._main.format.to_millis(value, self._main.zone)
        except (FormatError, TypeError, ValueError, OverflowError):
            self.unreadable = True
            return problem
        return problem if self._range_checked else None
