"""Lines of JSON objects -> one Arrow table, and the lines that only the exact path can convert.

Arrow's JSON reader, given an explicit schema, is strict: a key given twice, a value of another kind, an
integer beyond 64 bits or a malformed line is an error, and keys that the schema lacks become columns that
show which lines have them. So what it reads is proven to fit the schema. What it accepts too freely (several
objects on a line, an object over several lines, bytes that are not UTF-8) is checked here.

One line that does not fit fails all lines that are read with it. So lines known not to fit are set aside
first, by byte patterns (`misfits.py`). A pattern that is wrong costs time, never a value: a line that
it misses is an error of the reader, which mostly names the row, and the key or the number, so that lines like
it can be set aside with it; otherwise the lines are halved.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as pj

from trellis.engine.columnar.misfits import misfit_pattern, quoted, value_starts
from trellis.engine.columnar.null_fields import rows_with_values, without_null_fields

MIN_SPLIT: Final = 64
MAX_MISSES: Final = 12
MAX_MATCH_SHARE: Final = 0.5
"""A pattern that matches a larger share of the lines is ignored."""

UnknownKeys = Literal["ignore", "infer"]
"""What becomes of keys that the schema lacks: nothing, or columns of types that Arrow guesses."""
Indexes = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

_NEWLINE, _RETURN, _OPEN, _CLOSE = b"\n\r{}"
_ROW = re.compile(r"in row (\d+)$")
_CHANGE = re.compile(r"Column\(/(.+)\) changed from \w+ to (boolean|number|string|array|object) in row")
_KIND_STARTS: Final = dict(
    zip(
        ("boolean", "number", "string", "array", "object"),
        value_starts((bool, int, str, list, dict)),
        strict=True,
    )
)
_FRACTION, _LONG_INTEGER = r"-?[0-9]+[.eE]", r"-?[0-9]{19}"
_TO_NULL: Final = "Failed to convert JSON to null from"
_NUMBER = re.compile(r"couldn't parse:\s*(-?[0-9][-+.0-9eE]*)$")


class FastPathMiss(Exception):
    """Something that only the exact path can convert: its row, and a pattern of such lines, if known.

    Or, under a key that the reader does not name, the text of a number that is too large or has a fraction,
    or a value where none `is_expected`.
    """

    def __init__(
        self,
        row: int | None = None,
        pattern: str | None = None,
        number: str | None = None,
        is_expected: bool = True,
    ) -> None:
        super().__init__(row, pattern, number, is_expected)
        self.row = row
        self.pattern = pattern
        self.number = number
        self.is_expected = is_expected


class SpecialRows(FastPathMiss):
    """`rows` hold a special value in some column; other rows may hold one in another column."""

    def __init__(self, rows: Sequence[int]) -> None:
        super().__init__()
        self.rows = rows


NO_INDEXES: Final[Indexes] = np.empty(0, np.int64)


class StrictRead(NamedTuple):
    """The records that were read and the indexes of lines: read, not fitting, and not read.

    Lines are left unread after too many failures. The `telling` lines are those that made a read fail.
    """

    records: pa.Table
    lines: Indexes
    misfits: Indexes
    unread: Indexes
    telling: Indexes = NO_INDEXES


class StrictReader:
    """Reads lines under one schema. `misfits` are patterns (RE2, over bytes) of lines that do not fit it.

    At most `min_split` lines are not halved any more; after more than `max_misses` failed reads the other
    lines are left unread. The more the exact path costs for a line, the higher both may be. Lines with keys
    that the schema lacks do not fit it, unless it `ignores_unknown_keys`; but keys at the top that are
    `is_free` may have any value, and become further columns that tell in which records it is not null.
    """

    def __init__(
        self,
        schema: pa.Schema,
        misfits: Sequence[str] = (),
        min_split: int = MIN_SPLIT,
        max_misses: int = MAX_MISSES,
        ignores_unknown_keys: bool = False,
        is_free: Callable[[str], bool] = lambda key: False,
    ) -> None:
        self.schema = schema
        self.unknown_keys: UnknownKeys = "ignore" if ignores_unknown_keys else "infer"
        self.is_free = is_free
        self.min_split = min_split
        self.max_misses = max_misses
        self.misfits = tuple(dict.fromkeys(misfits))
        self.integer_keys = _integer_keys(schema)

    def read(self, lines: pa.BinaryArray, chosen: Indexes) -> StrictRead:
        """The records of the chosen lines that fit; each line ends with a newline."""
        takes_all = len(chosen) == len(lines)
        candidates = lines if takes_all else lines.take(pa.array(chosen))
        fits = _are_objects(candidates) & are_utf8(candidates)
        if self.misfits:
            fits &= ~self._suspects(candidates)
        tables: list[pa.Table] = []
        pieces: list[Indexes] = []
        misfits, unread, telling = [chosen[~fits]], list[Indexes](), list[Indexes]()
        pending, misses = [chosen[fits]], 0
        while pending:
            indexes = pending.pop()
            if misses > self.max_misses:
                unread.append(indexes)
                continue
            if not len(indexes):
                continue
            part = lines if len(indexes) == len(lines) else lines.take(pa.array(indexes))
            try:
                records = read_table(joined_bytes(part), self.schema, len(part), self.unknown_keys)
                _check_empty_lists(records)
            except FastPathMiss as miss:
                misses += 1
                row = miss.row if miss.row is not None and miss.row < len(indexes) else None
                suspects = self._suspects_by(miss, part)
                if row is not None:
                    suspects[row] = True
                if suspects.any():
                    misfits.append(indexes[suspects])
                    telling.append(indexes[suspects][:1] if row is None else indexes[row : row + 1])
                    middle = row or 0
                    pending += [indexes[middle:][~suspects[middle:]], indexes[:middle][~suspects[:middle]]]
                elif len(indexes) <= self.min_split:
                    misfits.append(indexes)
                else:
                    middle = len(indexes) // 2
                    pending += [indexes[middle:], indexes[:middle]]
                continue
            if records.schema.equals(self.schema):
                tables.append(records)
                pieces.append(indexes)
                continue
            records, are_unknown = without_unknown_keys(records, self.schema, part, self.is_free)
            tables.append(records)
            pieces.append(indexes[~are_unknown])
            unknown = indexes[are_unknown]
            telling.append(unknown[:1])
            misfits.append(unknown[: self.min_split])
            unread.append(unknown[self.min_split :])
        records = pa.concat_tables(tables, promote_options="default") if tables else self.schema.empty_table()
        return StrictRead(
            records, _joined(pieces), np.sort(_joined(misfits)), np.sort(_joined(unread)), _joined(telling)
        )

    def _suspects_by(self, miss: FastPathMiss, lines: pa.BinaryArray) -> Mask:
        """Which lines are like the one that was missed, as far as that is known."""
        if not miss.is_expected:
            return self._with_unexpected_values(lines)
        if miss.number is not None:
            return self._with_number(lines, miss.number)
        return self._like(lines, miss.pattern)

    def _with_unexpected_values(self, lines: pa.BinaryArray) -> Mask:
        """Which lines have values where the schema has none."""
        try:
            records = read_table(
                joined_bytes(lines), without_null_fields(self.schema), len(lines), self.unknown_keys
            )
        except FastPathMiss:
            return np.zeros(len(lines), np.bool_)
        columns = map(single_chunk, records.columns)
        return rows_with_values(
            dict(zip(records.column_names, columns, strict=True)), self.schema, len(lines)
        )

    def _like(self, lines: pa.BinaryArray, pattern: str | None) -> Mask:
        """Which lines match a pattern, unless too many do."""
        if pattern is None:
            return np.zeros(len(lines), np.bool_)
        matches = matching_lines(lines, pattern)
        return matches if matches.mean() <= MAX_MATCH_SHARE else np.zeros(len(lines), np.bool_)

    def _with_number(self, lines: pa.BinaryArray, number: str) -> Mask:
        """Which lines hold a number, or another one under its key that does not fit for the same reason."""
        matches = self._like(lines, rf"[:\[,]\s*{re.escape(number)}\s*[,\]}}]")
        for line in lines.filter(pa.array(matches)).slice(0, 1).to_pylist():
            key = re.search(rb'("(?:[^"\\]|\\.)*")\s*:\s*' + re.escape(number).encode() + rb"\s*[,}]", line)
            if key and key[1] in self.integer_keys:
                value_start = _FRACTION if re.search("[.eE]", number) else _LONG_INTEGER
                matches |= self._like(lines, misfit_pattern(orjson.loads(key[1]), None, value_start))
        return matches

    def _suspects(self, lines: pa.BinaryArray) -> Mask:
        """Which lines match the pattern of a value that does not fit."""
        matches = matching_lines(lines, "|".join(self.misfits))
        if matches.mean() <= MAX_MATCH_SHARE:
            return matches
        matches[:] = False
        for pattern in self.misfits:
            matches |= self._like(lines, pattern)
        return matches


def matching_lines(lines: pa.BinaryArray, pattern: str) -> Mask:
    """Which lines match a pattern (RE2, over bytes)."""
    matches = pc.match_substring_regex(lines, pattern).to_numpy(zero_copy_only=False)
    return np.array(matches, np.bool_)


def _joined(parts: Sequence[Indexes]) -> Indexes:
    return np.concatenate(parts) if parts else NO_INDEXES


def joined_bytes(texts: pa.BinaryArray | pa.StringArray) -> pa.Buffer:
    """The bytes of the texts, one after the other."""
    if texts.null_count == len(texts):
        return pa.py_buffer(b"")
    bounds, content = bounds_of(texts)
    return content.slice(int(bounds[0]), int(bounds[-1] - bounds[0]))


def bounds_of(texts: pa.BinaryArray | pa.StringArray) -> tuple[npt.NDArray[np.int32], pa.Buffer]:
    """Where the texts begin in their bytes, and where the last one ends; and the bytes."""
    _, offsets, content = texts.buffers()
    return np.frombuffer(offsets, np.int32)[texts.offset : texts.offset + len(texts) + 1], content


def _are_objects(lines: pa.BinaryArray) -> Mask:
    """Which lines begin and end like an object."""
    if not len(lines):
        return np.zeros(0, np.bool_)
    bounds, content = bounds_of(lines)
    raw = np.frombuffer(content, np.uint8)
    ends = bounds[1:] - 2
    last = raw[np.maximum(ends, 0)]
    returns = last == _RETURN
    if returns.any():
        last = np.where(returns, raw[np.maximum(ends - 1, 0)], last)
    are_objects: Mask = (raw[bounds[:-1]] == _OPEN) & (last == _CLOSE) & (np.diff(bounds) > 2)
    return are_objects


def are_utf8(lines: pa.BinaryArray) -> Mask:
    """Which lines are UTF-8."""
    try:
        lines.cast(pa.string())
    except pa.ArrowInvalid:
        return np.array([is_utf8(line) for line in lines.to_pylist()], np.bool_)
    return np.ones(len(lines), np.bool_)


def is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def read_table(data: pa.Buffer, schema: pa.Schema, lines: int, unknown_keys: UnknownKeys) -> pa.Table:
    """As many `lines` of objects, in UTF-8, as a table under a schema. Raises FastPathMiss."""
    try:
        records = pj.read_json(
            pa.BufferReader(data),
            pj.ReadOptions(use_threads=False, block_size=data.size + 1),
            pj.ParseOptions(explicit_schema=schema, unexpected_field_behavior=unknown_keys),
        )
    except (pa.ArrowException, UnicodeDecodeError) as error:
        raise _miss(str(error)) from None
    if records.num_rows != lines:
        raise FastPathMiss
    return records


def _check_empty_lists(records: pa.Table) -> None:
    """Raises FastPathMiss where a list without a type of elements has some: its array is broken then."""
    try:
        records.validate()
    except pa.ArrowInvalid:
        raise FastPathMiss(is_expected=False) from None


def _miss(error: str) -> FastPathMiss:
    """What an error of Arrow's reader tells of the lines that do not fit."""
    row = _ROW.search(error)
    if change := _CHANGE.search(error):
        *outer, key = change[1].split("/")
        pattern = misfit_pattern(key, outer[-1] if outer else None, _KIND_STARTS[change[2]])
    elif number := _NUMBER.search(error):
        return FastPathMiss(number=number[1])
    elif error.startswith(_TO_NULL):
        return FastPathMiss(is_expected=False)
    else:
        pattern = None
    return FastPathMiss(int(row[1]) if row else None, pattern)


def _integer_keys(schema: pa.Schema) -> frozenset[bytes]:
    """The keys, in quotes, that are integers wherever a schema has them."""
    types: dict[str, set[pa.DataType]] = {}
    pending = list(schema)
    while pending:
        field = pending.pop()
        type_ = field.type
        while pa.types.is_list(type_):
            type_ = type_.value_type
        types.setdefault(field.name, set()).add(type_)
        if pa.types.is_struct(type_):
            pending.extend(type_)
    return frozenset(orjson.dumps(key) for key, of_key in types.items() if of_key == {pa.int64()})


def without_unknown_keys(
    records: pa.Table, schema: pa.Schema, lines: pa.BinaryArray, is_free: Callable[[str], bool]
) -> tuple[pa.Table, Mask]:
    """The records without those that have keys which the schema lacks, and which of them have some.

    A null under such a key leaves no trace in a column, so lines that may hold one are taken to have it.
    Free keys become columns that tell where they have a value.
    """
    rows, unknown = np.arange(records.num_rows), _UnknownKeys(records.num_rows)
    columns = {
        field.name: unknown.removed_from(single_chunk(column), field.type, rows)
        for column, field in zip(records.columns[: len(schema)], schema, strict=True)
    }
    for name, column in zip(records.column_names[len(schema) :], records.columns[len(schema) :], strict=True):
        if is_free(name):
            columns[name] = pc.is_valid(single_chunk(column))
        else:
            unknown.add(name, single_chunk(column), rows)
    are_unknown = unknown.rows
    if unknown.keys:
        keys = "|".join(quoted(key) for key in sorted(unknown.keys))
        are_unknown = are_unknown | matching_lines(lines, rf'(?:{keys}|\\.[^"]*")\s*:\s*null')
    return pa.table(columns).filter(pa.array(~are_unknown)), are_unknown


class _UnknownKeys:
    """The keys that a schema lacks, and the rows of the records that hold values under them."""

    def __init__(self, rows: int) -> None:
        self.rows: Mask = np.zeros(rows, np.bool_)
        self.keys: set[str] = set()

    def add(self, key: str, values: pa.Array, origins: Indexes) -> None:
        """`origins` are the rows of the records by value."""
        self.keys.add(key)
        self.rows[origins[pc.is_valid(values).to_numpy(zero_copy_only=False)]] = True

    def removed_from(self, array: pa.Array, type_: pa.DataType, origins: Indexes) -> pa.Array:
        """An array as its type in the schema says."""
        if array.type == type_:
            return array
        if pa.types.is_list(type_):
            values = self.removed_from(
                pc.list_flatten(array),
                type_.value_type,
                origins[pc.list_parent_indices(array).to_numpy(zero_copy_only=False)],
            )
            return pa.ListArray.from_arrays(_offsets(array), values, type_, mask=array.is_null())
        members = array.flatten()
        for at in range(type_.num_fields, len(members)):
            self.add(array.type.field(at).name, members[at], origins)
        known = [
            self.removed_from(member, type_.field(at).type, origins)
            for at, member in enumerate(members[: type_.num_fields])
        ]
        return pa.StructArray.from_arrays(known, fields=list(type_), mask=array.is_null())


def _offsets(lists: pa.ListArray) -> pa.Array:
    """The offsets of lists in their flattened values."""
    lengths = pc.fill_null(pc.list_value_length(lists), 0).to_numpy(zero_copy_only=False)
    return pa.array(np.concatenate([[0], np.cumsum(lengths)]), pa.int32())


def single_chunk(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
