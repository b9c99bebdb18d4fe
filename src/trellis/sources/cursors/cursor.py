"""Incremental cursors: only what is new since the last load goes on.

What is kept between loads stands in the state of the resource under `incremental.<cursor path>`:
`initial_value`, `last_value`, `start_value`, and `unique_hashes` of the rows that have the last value.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from trellis.errors import UsageError, nearest
from trellis.sources.cursors.json_path import is_one_name
from trellis.sources.cursors.late_rows import lagged
from trellis.sources.cursors.progress import Progress

CHOICES = {
    "row_order": (None, "asc", "desc"),
    "on_cursor_value_missing": ("raise", "include", "exclude"),
    "range_start": ("closed", "open"),
    "range_end": ("open", "closed"),
}
FUNCTIONS: dict[str, Callable[..., Any]] = {"max": max, "min": min}
DEFAULTS: dict[str, Any] = {
    "cursor_path": None,
    "initial_value": None,
    "last_value_func": max,
    "primary_key": None,
    "end_value": None,
    "row_order": None,
    "on_cursor_value_missing": "raise",
    "lag": None,
    "range_start": "closed",
    "range_end": "open",
}


CursorValue = TypeVar("CursorValue")


class Incremental(Generic[CursorValue]):
    """A cursor: the default of an argument of a resource function, or `incremental=` of a resource.

    Rows before the last value of earlier loads are left out, and of those that have just that value the ones
    that were loaded, told by `primary_key`, else that of the resource, else their content; `()` tells none.
    `last_value_func` is `max`, `min` or a function of a tuple of values. With `end_value` nothing is kept,
    so a range can be loaded again. `row_order` says that the source is ordered, and reading stops where the
    range ends. `lag` reads the last stretch again (section 18): days of dates, seconds of times.
    """

    def __init__(
        self,
        cursor_path: str | None = None,
        initial_value: Any = None,
        last_value_func: Callable[..., Any] | str = max,
        primary_key: Any = None,
        end_value: Any = None,
        row_order: str | None = None,
        on_cursor_value_missing: str = "raise",
        lag: float | None = None,
        range_start: str = "closed",
        range_end: str = "open",
    ) -> None:
        self.cursor_path = cursor_path
        self.initial_value = initial_value
        self.last_value_func = _function(last_value_func)
        self.primary_key = primary_key
        self.end_value = end_value
        self.row_order = row_order
        self.on_cursor_value_missing = on_cursor_value_missing
        self.lag = lag
        self.range_start = range_start
        self.range_end = range_end
        self.resource_name: str | None = None
        self.progress: Progress | None = None
        self._start: Any = None
        for name, choices in CHOICES.items():
            if (value := getattr(self, name)) not in choices:
                raise UsageError(
                    f"incremental {cursor_path}: {name}= is {value!r}{nearest(str(value), map(str, choices))}"
                )

    def __repr__(self) -> str:
        arguments = [f"{name}={getattr(self, name)!r}" for name in DEFAULTS if name != "cursor_path"]
        return f"incremental({self.cursor_path!r}, {', '.join(arguments)})"

    @property
    def column(self) -> str | None:
        """The column that the cursor is, if it is one."""
        return self.cursor_path if self.cursor_path and is_one_name(self.cursor_path) else None

    @property
    def last_value(self) -> Any:
        """The greatest value so far, moved back by `lag` as long as no row has come.

        It moves with every page, so requests for pages of one range take `start_value`.
        """
        if self.progress is None:
            return self.initial_value
        if not self.progress.moved:
            return self._start
        self.progress.read_after_move |= self.progress.last != self._start
        return self.progress.last

    @property
    def start_value(self) -> Any:
        """Where this load begins."""
        return self.initial_value if self.progress is None else self._start

    @property
    def start_out_of_range(self) -> bool:
        """Whether the last row that came is before the range."""
        return self.progress is not None and self.progress.before_start

    @property
    def end_out_of_range(self) -> bool:
        """Whether the last row that came is beyond the range."""
        return self.progress is not None and self.progress.beyond_end

    def can_close(self) -> bool:
        """Whether the source is ordered and has nothing more for this load."""
        return self.progress is not None and self.progress.closed

    def merged(self, other: Incremental[Any]) -> Incremental[Any]:
        """This cursor with what the other one says besides the defaults."""
        arguments = {name: getattr(self, name) for name in DEFAULTS}
        for name, default in DEFAULTS.items():
            if (value := getattr(other, name)) is not default and value != default:
                arguments[name] = value
        return Incremental(**arguments)

    def starting(self, initial_value: Any) -> Incremental[Any]:
        """This cursor with another initial value."""
        cursor = copy.copy(self)
        cursor.initial_value = initial_value
        return cursor

    def bound(self, resource: str, state: dict[str, Any], resource_key: Any) -> Incremental[Any]:
        """The cursor for one run over a resource; `state` is that of the source and is written to."""
        self._check(resource)
        cursor = copy.copy(self)
        cursor.resource_name = resource
        kept: dict[str, Any] = {}
        if self.end_value is None:
            of_resource = state.setdefault("resources", {}).setdefault(resource, {})
            kept = of_resource.setdefault("incremental", {}).setdefault(self.cursor_path, {})
        if not kept:
            kept.update(
                initial_value=self.initial_value,
                last_value=self.initial_value,
                unique_hashes=[],
                start_value=self.initial_value,
            )
        cursor._start = self._lagged(kept["last_value"])
        key = self.primary_key if self.primary_key is not None else resource_key
        cursor.progress = Progress(cursor, kept, cursor._start, key)
        return cursor

    def _lagged(self, value: Any) -> Any:
        if not self.lag or value is None or self.end_value is not None:
            return value
        if self.last_value_func not in (max, min):
            return value
        return lagged(self.lag, value, self.initial_value, self.last_value_func)

    def _check(self, resource: str) -> None:
        where = f"resource {resource}: incremental"
        if not self.cursor_path:
            raise UsageError(f"{where} names no cursor; give the key of the records that grows")
        if self.end_value is None:
            return
        if self.initial_value is None:
            raise UsageError(f"{where} {self.cursor_path}: end_value= needs initial_value= as well")
        try:
            last = self.last_value_func((self.end_value, self.initial_value))
        except TypeError as why:
            raise UsageError(
                f"{where} {self.cursor_path}: initial_value {self.initial_value!r} and end_value"
                f" {self.end_value!r} cannot be compared ({why})"
            ) from why
        if last != self.end_value:
            raise UsageError(
                f"{where} {self.cursor_path}: end_value {self.end_value!r} comes before initial_value"
                f" {self.initial_value!r}; exchange them"
            )


def _function(function: Callable[..., Any] | str) -> Callable[..., Any]:
    if not isinstance(function, str):
        return function
    if function not in FUNCTIONS:
        raise UsageError(f"last_value_func= is {function!r}{nearest(function, FUNCTIONS)}")
    return FUNCTIONS[function]
