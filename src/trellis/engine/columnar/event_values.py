"""The values of records that were read together, path by path, as they are stored.

Arrow reads the records under a schema made of the types that several event types have for their paths; it is
strict, so they hold nothing that none of these allows. What it does not check is checked here: text that is a
time, or white space alone, and values that another event type allows, but not the one of their record.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from trellis.engine.columnar.events import CompiledProjection
from trellis.engine.columnar.paths import nested_schema, nodes
from trellis.engine.columnar.strict import FastPathMiss, Indexes, Mask, SpecialRows, bounds_of, single_chunk
from trellis.evolution.projection import Path, ValueRules

ValuesOf = Callable[[Path, Indexes], Sequence[Any]]
"""The values at a path of some of the records, by row."""
_ZONE: Final = r"(?:Z|\d[+-]\d\d:?\d\d)$"
_STAMP: Final = pa.timestamp("us", "UTC")
_DASH_POSITION: Final = 4
"""The index of the first dash in a text that is a time."""
_MAY_START_SPACE: Final = np.array(
    [byte <= ord(" ") or chr(byte) in "\x7f\xc2\xe1\xe2\xe3\xef" for byte in range(256)]
)
"""By the first byte of a text in UTF-8, whether it may be white space."""


class JointProjection:
    """The projections of event types whose records are read together: no path has two types in them."""

    def __init__(self, first: CompiledProjection) -> None:
        self.rules = first.projection.rules
        self.members: list[CompiledProjection] = []
        self.types: dict[Path, pa.DataType] = {}
        self.times: set[Path] = set()
        self._objects: set[Path] = set()
        self.add(first)

    def add(self, member: CompiledProjection) -> bool:
        """Add the projection of an event type, unless it is at odds with one that is here."""
        if member.projection.rules != self.rules or not self._admits(member):
            return False
        self.members.append(member)
        self.types.update(member.types)
        self.times |= member.times
        self._objects.update(path[:depth] for path in member.types for depth in range(1, len(path)))
        return True

    def _admits(self, member: CompiledProjection) -> bool:
        for path, type_ in member.types.items():
            known = self.types.get(path)
            if known is None:
                if path in self._objects or any(path[:depth] in self.types for depth in range(1, len(path))):
                    return False
            elif known != type_ or (path in self.times) != (path in member.times):
                return False
        return True

    @property
    def schema(self) -> pa.Schema:
        schema = nested_schema(self.types)
        assert schema is not None
        return schema

    @property
    def misfits(self) -> Sequence[str]:
        return tuple(dict.fromkeys(misfit for member in self.members for misfit in member.misfits))

    def stored_values(self, records: pa.Table, members: Indexes, values_of: ValuesOf) -> dict[Path, pa.Array]:
        """The values of records by path; `members` are the numbers of their event types among the members.

        Raises FastPathMiss, or SpecialRows where rows are known that only the exact path can convert.
        """
        special: Mask = np.zeros(records.num_rows, np.bool_)
        values: dict[Path, pa.Array] = {}
        for path, array in nodes((), records.schema, [single_chunk(column) for column in records.columns]):
            value = array
            if not pa.types.is_struct(array.type):
                value = values[path] = self._stored(path, array, values_of, special)
            may_have_value = np.array([path in member.filled_paths for member in self.members])
            if not may_have_value.all() and value.null_count < len(value):
                rows = np.flatnonzero(value.is_valid().to_numpy(zero_copy_only=False))
                special[rows[~may_have_value[members[rows]]]] = True
        if special.any():
            raise SpecialRows(np.flatnonzero(special).tolist())
        return values

    def _stored(self, path: Path, array: pa.Array, values_of: ValuesOf, special: Mask) -> pa.Array:
        """The values at a path as they are stored; marks rows that need the exact path as special."""
        rules = self.rules
        if pa.types.is_list(array.type):
            return _lists(path, array, values_of, rules.list_text)
        if not pa.types.is_string(array.type):
            if not pa.types.is_floating(array.type):
                return array
            if pc.all(pc.is_finite(array)).as_py() is False:
                _mark(special, pc.invert(pc.is_finite(array)))
            return pc.add(array, 0.0)  # one by one, whole numbers are integers: there is no -0.0
        bounds, content = bounds_of(array)
        if np.count_nonzero(bounds[1:] == bounds[:-1]) > array.null_count:
            array = pc.if_else(pc.equal(array, ""), pa.scalar(None, pa.string()), array)
            bounds, content = bounds_of(array)
        if array.null_count == len(array):
            return pa.nulls(len(array), _STAMP) if path in self.times else array
        if path in self.times:
            return _moments(array, rules, special)
        if rules.longest is not None:
            special |= np.diff(bounds) > rules.longest
        places = _special_places(bounds, content)
        if len(places):
            texts = array.take(pa.array(places)).to_pylist()
            special[places[[text is not None and not rules.is_plain(text) for text in texts]]] = True
        return array


def _mark(special: Mask, rows: pa.Array) -> None:
    """Mark the rows for which an array is true."""
    special |= pc.fill_null(rows, False).to_numpy(zero_copy_only=False)


def _moments(array: pa.Array, rules: ValueRules, special: Mask) -> pa.Array:
    """Texts as times: those of ISO 8601 together, others one by one; marks texts that are no times."""
    is_uncommon = pc.fill_null(pc.invert(pc.match_substring_regex(array, rules.iso_time)), False)
    uncommon: list[datetime | None] = []
    if pc.any(is_uncommon).as_py():
        uncommon = [rules.time_of(text) for text in array.filter(is_uncommon).to_pylist()]
        special[
            np.flatnonzero(is_uncommon.to_numpy(zero_copy_only=False))[[time is None for time in uncommon]]
        ] = True
        array = pc.if_else(is_uncommon, pa.scalar(None, pa.string()), array)
    try:
        times = pc.floor_temporal(_iso_times(array), unit="millisecond")
    except pa.ArrowException:
        raise FastPathMiss from None
    return pc.replace_with_mask(times, is_uncommon, pa.array(uncommon, _STAMP)) if uncommon else times


def _iso_times(array: pa.Array) -> pa.Array:
    """Times of ISO 8601; those without a zone are in UTC. Raises ArrowInvalid for the 30th of February."""
    has_zone = pc.match_substring_regex(array, _ZONE)
    if pc.all(has_zone).as_py() is not False:
        return array.cast(_STAMP)
    null = pa.scalar(None, pa.string())
    with_zone, without = pc.if_else(has_zone, array, null), pc.if_else(has_zone, null, array)
    return pc.coalesce(with_zone.cast(_STAMP), without.cast(pa.timestamp("us")).cast(_STAMP))


def _lists(
    path: Path, array: pa.Array, values_of: ValuesOf, list_text: Callable[[list[Any]], str | None]
) -> pa.Array:
    """Lists as text. Where a key of an object may be absent or null, its line is parsed again to tell."""
    rows = np.flatnonzero(array.is_valid().to_numpy(zero_copy_only=False))
    lists = array.take(pa.array(rows))
    if _has_gaps(pc.list_flatten(lists)):
        values = values_of(path, rows)
    else:
        values = lists.to_pylist()
    texts = np.full(len(array), None, np.object_)
    texts[rows] = [list_text(value) for value in values]
    return pa.array(texts, pa.string())


def _has_gaps(values: pa.Array) -> bool:
    if pa.types.is_list(values.type):
        return _has_gaps(pc.list_flatten(values))
    if not pa.types.is_struct(values.type):
        return False
    if values.null_count:
        return True
    inner = values.flatten()
    return any(member.null_count or _has_gaps(member) for member in inner)


def _special_places(bounds: npt.NDArray[np.int32], content: pa.Buffer) -> Indexes:
    """The indexes of texts that may be a time, or white space alone."""
    starts, lengths = bounds[:-1], np.diff(bounds)
    raw = np.frombuffer(content, np.uint8)
    special = lengths > 0
    special[special] = _MAY_START_SPACE[raw[starts[special]]]
    has_dash_position = lengths > _DASH_POSITION
    special[has_dash_position] |= raw[starts[has_dash_position] + _DASH_POSITION] == ord("-")
    return np.flatnonzero(special)
