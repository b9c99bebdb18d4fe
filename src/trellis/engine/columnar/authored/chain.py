"""Steps of an expression over whole columns: counts of time units, and times in texts of common patterns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from trellis.evolution.vector import Divide, ReadTime, Step, Times, WriteTime

_YEARS: Final = (-30_610_224_000_000, 253_402_300_799_999)
"""The milliseconds of the years 1000 to 9999: four digits each."""


def chained(array: pa.Array, steps: Sequence[Step]) -> pa.Array | None:
    """What the steps make of a column; None where values need more than they say."""
    whole = pa.types.is_integer(array.type) and array.type != pa.int64()
    found: pa.Array | None = array.cast(pa.int64()) if whole else array
    for step in steps:
        found = None if found is None else _STEPS[type(step)](found, step)
    return found


def times_of(array: pa.Array, pattern: str) -> pa.Array | None:
    """The milliseconds that texts mean in UTC; None where one may mean something else, or nothing."""
    found = common(pattern)
    if found is None or not pa.types.is_string(array.type):
        return None
    encoded = array.dictionary_encode()
    if len(encoded.dictionary) > len(array) // 2:
        return _each_read(array, *found)
    read = _each_read(encoded.dictionary, *found)
    return None if read is None else read.take(encoded.indices)


def _each_read(array: pa.Array, shape: str, layout: str) -> pa.Array | None:
    if pc.all(pc.match_substring_regex(array, shape)).as_py() is False:
        return None
    try:
        seconds = pc.strptime(array, layout, "s")
    except pa.ArrowException:
        return None
    written = pc.strftime(seconds, layout, locale="C")  # Arrow reads February 30 as March 2
    same = pc.all(pc.equal(written, array)).as_py() is not False
    return seconds.cast(pa.timestamp("ms")).cast(pa.int64()) if same else None


def _read(array: pa.Array, step: ReadTime) -> pa.Array | None:
    return times_of(array, step.pattern)


def _write(array: pa.Array, step: WriteTime) -> pa.Array | None:
    found = common(step.pattern)
    if found is None or not pa.types.is_integer(array.type):
        return None
    bounds = pc.min_max(array).as_py()
    if bounds["min"] is not None and (bounds["min"] < _YEARS[0] or bounds["max"] > _YEARS[1]):
        return None
    seconds = pc.floor_temporal(array.cast(pa.timestamp("ms")), unit="second").cast(pa.timestamp("s"))
    return pc.strftime(seconds, found[1], locale="C")


def _times(array: pa.Array, step: Times) -> pa.Array | None:
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
    ReadTime: _read,
    WriteTime: _write,
    Times: _times,
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
def common(pattern: str) -> tuple[str, str] | None:
    """A pattern of two-digit fields after a year of four: the shape of its texts, and how they are read.

    >>> common("yyyy-MM-dd")
    ('^[1-9]\\\\d{3}-\\\\d\\\\d-\\\\d\\\\d$', '%Y-%m-%d')
    >>> common("MM-dd") is common("yyyy-M-d") is None
    True
    """
    shape, layout, rest, seen = "", "", pattern, set[str]()
    while rest:
        for known in _FIELDS:
            if rest.startswith(known) and known not in seen:
                seen.add(known)
                shape, layout = shape + _FIELDS[known][0], layout + _FIELDS[known][1]
                rest = rest[len(known) :]
                break
        else:
            part = next((each for each in _BETWEEN if rest.startswith(each)), None)
            if part is None:
                return None
            shape, layout = shape + _BETWEEN[part], layout + part.strip("'")
            rest = rest[len(part) :]
    return (f"^{shape}$", layout) if {"yyyy", "MM", "dd"} <= seen else None
