"""Steps of an expression over whole columns: counts of time units, and times in texts of common patterns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from trellis.evolution.columnar_transform import Divide, ReadTime, Step, Times, WriteTime

_YEARS: Final = (-30_610_224_000_000, 253_402_300_799_999)
"""The milliseconds of the years 1000 to 9999: four digits each."""


def chained(array: pa.Array, steps: Sequence[Step]) -> pa.Array | None:
    """What the steps make of a column; None where values need more than they say."""
    needs_int64 = pa.types.is_integer(array.type) and array.type != pa.int64()
    column: pa.Array | None = array.cast(pa.int64()) if needs_int64 else array
    for step in steps:
        column = None if column is None else _STEPS[type(step)](column, step)
    return column


def times_of(array: pa.Array, pattern: str) -> pa.Array | None:
    """The milliseconds that texts mean in UTC; None where one may mean something else, or nothing."""
    shape_and_layout = common_layout(pattern)
    if shape_and_layout is None or not pa.types.is_string(array.type):
        return None
    encoded = array.dictionary_encode()
    if len(encoded.dictionary) > len(array) // 2:
        return _parse_times(array, *shape_and_layout)
    times = _parse_times(encoded.dictionary, *shape_and_layout)
    return None if times is None else times.take(encoded.indices)


def _parse_times(array: pa.Array, shape: str, layout: str) -> pa.Array | None:
    if pc.all(pc.match_substring_regex(array, shape)).as_py() is False:
        return None
    try:
        seconds = pc.strptime(array, layout, "s")
    except pa.ArrowException:
        return None
    formatted = pc.strftime(seconds, layout, locale="C")  # Arrow reads February 30 as March 2
    reads_back = pc.all(pc.equal(formatted, array)).as_py() is not False
    return seconds.cast(pa.timestamp("ms")).cast(pa.int64()) if reads_back else None


def _read_times(array: pa.Array, step: ReadTime) -> pa.Array | None:
    return times_of(array, step.pattern)


def _write_times(array: pa.Array, step: WriteTime) -> pa.Array | None:
    shape_and_layout = common_layout(step.pattern)
    if shape_and_layout is None or not pa.types.is_integer(array.type):
        return None
    bounds = pc.min_max(array).as_py()
    if bounds["min"] is not None and (bounds["min"] < _YEARS[0] or bounds["max"] > _YEARS[1]):
        return None
    seconds = pc.floor_temporal(array.cast(pa.timestamp("ms")), unit="second").cast(pa.timestamp("s"))
    return pc.strftime(seconds, shape_and_layout[1], locale="C")


def _multiply(array: pa.Array, step: Times) -> pa.Array | None:
    if not pa.types.is_integer(array.type):
        return None
    try:
        return pc.multiply_checked(array, pa.scalar(step.by, pa.int64()))
    except pa.ArrowInvalid:
        return None


def _divide(array: pa.Array, step: Divide) -> pa.Array | None:
    if not pa.types.is_integer(array.type):
        return None
    return pc.divide(array, pa.scalar(step.by, pa.int64()))


_STEPS: Final[Mapping[type, Callable[[pa.Array, Any], pa.Array | None]]] = {
    ReadTime: _read_times,
    WriteTime: _write_times,
    Times: _multiply,
    Divide: _divide,
}


_FIELDS: Final[Mapping[str, tuple[str, str]]] = {
    "yyyy": (r"[1-9]\d{3}", "%Y"),
    "MM": (r"\d\d", "%m"),
    "dd": (r"\d\d", "%d"),
    "HH": (r"(?:[01]\d|2[0-3])", "%H"),
    "mm": (r"[0-5]\d", "%M"),
    "ss": (r"[0-5]\d", "%S"),
}
_BETWEEN: Final[Mapping[str, str]] = {
    "-": "-",
    "/": "/",
    ":": ":",
    " ": " ",
    ".": r"\.",
    "'T'": "T",
    "'Z'": "Z",
}


@lru_cache(maxsize=64)
def common_layout(pattern: str) -> tuple[str, str] | None:
    """A pattern of two-digit fields after a year of four: the shape of its texts, and how they are read.

    >>> common_layout("yyyy-MM-dd")
    ('^[1-9]\\\\d{3}-\\\\d\\\\d-\\\\d\\\\d$', '%Y-%m-%d')
    >>> common_layout("MM-dd") is common_layout("yyyy-M-d") is None
    True
    """
    shape, layout, remaining, seen = "", "", pattern, set[str]()
    while remaining:
        for known in _FIELDS:
            if remaining.startswith(known) and known not in seen:
                seen.add(known)
                shape, layout = shape + _FIELDS[known][0], layout + _FIELDS[known][1]
                remaining = remaining[len(known) :]
                break
        else:
            separator = next((separator for separator in _BETWEEN if remaining.startswith(separator)), None)
            if separator is None:
                return None
            shape, layout = shape + _BETWEEN[separator], layout + separator.strip("'")
            remaining = remaining[len(separator) :]
    return (f"^{shape}$", layout) if {"yyyy", "MM", "dd"} <= seen else None
