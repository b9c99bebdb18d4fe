"""One run of a cursor over the items of a resource: what goes on, and what is kept for the next load."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, MutableMapping
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any, Literal

from trellis.errors import UsageError
from trellis.sources.cursors.json_path import MISSING, value_at
from trellis.sources.cursors.row_hash import digest

if TYPE_CHECKING:
    from trellis.sources.cursors.cursor import Incremental

Reason = Literal["start", "loaded", "end", "missing"]


class Progress:
    """What a cursor has seen. `before_start` and `beyond_end` tell whether the last row is outside the range,
    `closed` whether an ordered source has nothing more for this load.

    `hashes` are those of the rows that have the value `last`, `known` those of the load before. `left_out`
    counts the rows that do not go on: before the start, loaded before, beyond the end, without a value.
    `read_after_move` tells that the function of the resource asked for the last value between its pages.
    """

    def __init__(
        self, cursor: Incremental[Any], kept: MutableMapping[str, Any], start: Any, key: Any
    ) -> None:
        self.cursor = cursor
        self.kept = kept
        self.start = start
        self.end = cursor.end_value
        self.last = start
        self.key = key
        self.known = frozenset(kept.get("unique_hashes") or ())
        self.hashes = set(self.known)
        self.moved = False
        self.read_after_move = False
        self.before_start = False
        self.beyond_end = False
        self.closed = False
        self.left_out: Counter[Reason] = Counter()
        self._before = kept.get("last_value")
        self._edge: list[Any] = []
        self._adapted = False

    @property
    def function(self) -> Callable[..., Any]:
        return self.cursor.last_value_func

    @property
    def tells_apart(self) -> bool:
        """Whether rows at the start may have been loaded and are told by their hashes."""
        lags = bool(self.cursor.lag) and self.function in (max, min)
        none = isinstance(self.key, (list, tuple)) and not self.key
        return self.cursor.range_start == "closed" and self.end is None and not lags and not none

    def rows(self, rows: list[Any]) -> list[Any]:
        """The rows of the range that were not loaded before."""
        new_rows = [row for row in rows if self._takes(row)]
        self.finish_page(bool(new_rows))
        return new_rows

    def finish_page(self, any_left: bool) -> None:
        """Keep the last value and the hashes of a page that was read."""
        if self.cursor.lag and self._before is not None and self.last is not None:
            self.last = self.function((self.last, self._before))
        self.moved = True
        self.hashes.update(self.hash_of(row) for row in self._edge)
        self._edge = []
        self.kept["last_value"] = self.last
        self.kept["unique_hashes"] = sorted(self.hashes) if self.tells_apart else []
        if any_left:
            self.kept["start_value"] = self._before

    def locate_row(self, *, before_start: bool = False, beyond_end: bool = False) -> None:
        """Take note of where the last row, or any row of the last table, is."""
        self.before_start, self.beyond_end = before_start, beyond_end
        order = self.cursor.row_order
        self.closed = self.closed or (order == "asc" and beyond_end) or (order == "desc" and before_start)

    def hash_of(self, row: Any) -> str:
        key = self.key(row) if callable(self.key) else self.key
        if not key:
            return digest(row)
        try:
            return digest(row[key] if isinstance(key, str) else [row[column] for column in key])
        except (KeyError, TypeError):
            raise UsageError(
                f"{self.where}: a row lacks the key {key!r}, by which rows at the edge of the cursor are told"
                f" apart: {str(row)[:80]}; correct primary_key="
            ) from None

    @property
    def notes(self) -> tuple[str, ...]:
        """How many rows were left out, and why; whether requests for pages may have left out more."""
        cursor = f"cursor {self.cursor.cursor_path} of {self.cursor.resource_name}"
        notes = [f"{cursor} left out {text}"] if (text := self._left_out_text()) else []
        if self.read_after_move:
            notes.append(
                f"{cursor}: last_value was read after it had moved; if it is part of a request for further "
                "pages of the same range, rows are missing: use start_value there"
            )
        return tuple(notes)

    def _left_out_text(self) -> str:
        if not (count := self.left_out.total()):
            return ""
        closed = (self.cursor.range_start == "closed", self.cursor.range_end == "closed")
        reasons: dict[Reason, str] = {
            "start": f"before its start {self.start}" if closed[0] else f"up to its start {self.start}",
            "loaded": "loaded before",
            "end": f"after its end {self.end}" if closed[1] else f"from its end {self.end} on",
            "missing": "without a value",
        }
        why = [f"{number:,} {text}" for reason, text in reasons.items() if (number := self.left_out[reason])]
        records = "record" if count == 1 else "records"
        return f"{count:,} {records}: {', '.join(why)}"

    def beyond(self, value: Any) -> None:
        """Take a value as the last one; only rows that have it are told apart from now on."""
        self.last = value
        self.hashes = set()

    @property
    def where(self) -> str:
        return f"resource {self.cursor.resource_name}: incremental {self.cursor.cursor_path}"

    def adapt(self, value: Any) -> None:
        """Compare with or without a time zone as the data does; without one a time is in UTC."""
        if not self._adapted and isinstance(value, datetime):
            aware = value.tzinfo is not None
            self.start, self.end, self.last = (
                _as_aware(moment, aware) for moment in (self.start, self.end, self.last)
            )
        self._adapted = True

    def _takes(self, row: Any) -> bool:
        self.locate_row()
        value = self._value(row)
        if value is None:
            included = self.cursor.on_cursor_value_missing == "include"
            self.left_out["missing"] += not included
            return included
        self.adapt(value)
        try:
            return self._in_range(value, row)
        except TypeError as why:
            raise UsageError(
                f"{self.where}: the value {value!r} of a row cannot be compared with {self.last!r}"
                f" ({why}); give initial_value= and end_value= of the type that the rows have"
            ) from why

    def _in_range(self, value: Any, row: Any) -> bool:
        mark = self.function((value,))
        if self.end is not None:
            beyond = self.function((value, self.end)) != self.end
            if beyond or (self.cursor.range_end == "open" and mark == self.end):
                self.locate_row(beyond_end=True)
                self.left_out["end"] += 1
                return False
        newest = mark if self.last is None else self.function((value, self.last))
        if newest != self.last:
            self.beyond(newest)
            self._edge = [row] if self.tells_apart else []
            return True
        if self.start is not None and self.function((value, self.start)) == self.start:
            at_start = mark == self.start
            loaded = self.tells_apart and at_start and self.hash_of(row) in self.known
            if not at_start or self.cursor.range_start == "open" or loaded:
                self.locate_row(before_start=True)
                self.left_out["loaded" if loaded else "start"] += 1
                return False
        if mark == self.last and self.tells_apart:
            self._edge.append(row)
        return True

    def _value(self, row: Any) -> Any:
        path = self.cursor.cursor_path or ""
        value = value_at(row, path)
        if value is MISSING or value is None:
            if self.cursor.on_cursor_value_missing == "raise":
                what = "has no" if value is MISSING else "has None as"
                raise UsageError(
                    f"{self.where}: a row {what} {path}: {str(row)[:80]}; say on_cursor_value_missing="
                    "'include' or 'exclude'"
                )
            return None
        return value


def _as_aware(value: Any, aware: bool) -> Any:
    if not isinstance(value, datetime) or (value.tzinfo is not None) == aware:
        return value
    if aware:
        return value.replace(tzinfo=timezone.utc)
    return value.astimezone(timezone.utc).replace(tzinfo=None)
