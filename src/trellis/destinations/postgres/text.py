"""Arrow batches as the CSV that COPY reads: every value is stored as it is.

What PostgreSQL cannot hold at all, the character NUL and halves of surrogate pairs in JSON, becomes U+FFFD.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as csv

BLOCK_BYTES = 4 << 20
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
_OPTIONS = csv.WriteOptions(include_header=False, quoting_style="needed", batch_size=64 << 10)
_HEX = np.array([f"{byte:02x}".encode() for byte in range(256)])
_HEX_PREFIX, _NOTHING = (pa.scalar(text, pa.large_string()) for text in ("\\x", ""))
_FIRST_DAY, _LAST_DAY = -719162, 2932896
"""0001-01-01 and 9999-12-31, between which Arrow writes dates as PostgreSQL reads them."""
_ESCAPE = re.compile(r"\\(?:u(d[89ab]..)\\u(d[c-f]..)|u(....)|.)", re.IGNORECASE | re.DOTALL)
_UNITS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def blocks(batch: pa.RecordBatch, json_columns: Collection[str]) -> Iterator[bytes]:
    """The rows as CSV: NULL is an empty field, text is quoted. Times have no zone, they are UTC."""
    parts = max(1, -(-batch.nbytes // BLOCK_BYTES))
    rows = max(1, -(-batch.num_rows // parts))
    for start in range(0, batch.num_rows, rows):
        part = batch.slice(start, rows)
        arrays = [_written(array, field.name in json_columns) for array, field in _columns(part)]
        table = pa.Table.from_arrays(arrays, names=[str(number) for number in range(len(arrays))])
        sink = pa.BufferOutputStream()
        csv.write_csv(table, sink, _OPTIONS)
        text = sink.getvalue().to_pybytes()
        yield text.replace(b"\0", _REPLACEMENT.encode()) if b"\0" in text else text


def storable_json(text: str) -> str:
    r"""The JSON text without escapes of characters that PostgreSQL cannot store.

    >>> storable_json(r'["a\u0000b", "\ud83d\ude00", "\ud83d", "\\u0000"]') == (
    ...     r'["a%sb", "\ud83d\ude00", "%s", "\\u0000"]' % ("\ufffd", "\ufffd"))
    True
    """
    return _ESCAPE.sub(_storable, text)


def _storable(escape: re.Match[str]) -> str:
    code = escape[3]
    return _REPLACEMENT if code and (code == "0000" or code[:2].lower() in _HALVES) else escape[0]


_HALVES = frozenset(f"d{digit}" for digit in "89abcdef")


def _columns(batch: pa.RecordBatch) -> Iterator[tuple[pa.Array, pa.Field]]:
    return zip(batch.columns, batch.schema, strict=True)


def _written(array: pa.Array, is_json: bool) -> pa.Array:
    """The array, or the texts of its values where Arrow writes them otherwise than PostgreSQL reads them."""
    type_ = array.type
    if is_json:
        return _storable_json(array)
    if pa.types.is_binary(type_) or pa.types.is_large_binary(type_):
        return pc.binary_join_element_wise(_HEX_PREFIX, _hexadecimal(array), _NOTHING)
    if pa.types.is_date32(type_):
        days = array.cast(pa.int32())
        return array if _is_ordinary(days, 1) else _map(days, _date)
    if pa.types.is_timestamp(type_):
        ticks, per_second = array.cast(pa.int64()), _UNITS[type_.unit]
        if _is_ordinary(ticks, 86400 * per_second):
            return array.cast(pa.timestamp(type_.unit))
        return _map(ticks, lambda tick: _timestamp(tick, per_second))
    return array


def _storable_json(array: pa.Array) -> pa.Array:
    suspect = pc.any(pc.match_substring(array, "\\u")).as_py()
    return _map(array, storable_json) if suspect else array


def _map(array: pa.Array, write: object) -> pa.Array:
    assert callable(write)
    return pa.array([None if value is None else write(value) for value in array.to_pylist()], pa.string())


def _hexadecimal(array: pa.Array) -> pa.Array:
    array = array.cast(pa.large_binary())
    _, ends, content = array.buffers()
    offsets = np.frombuffer(ends, np.int64)[array.offset : array.offset + len(array) + 1]
    data = np.frombuffer(content, np.uint8) if content is not None else np.empty(0, np.uint8)
    digits = _HEX[data[offsets[0] : offsets[-1]]]
    moved = pa.py_buffer((offsets - offsets[0]) * 2)
    texts = pa.LargeStringArray.from_buffers(len(array), moved, pa.py_buffer(digits.tobytes()))
    return pc.if_else(array.is_valid(), texts, None)


def _is_ordinary(values: pa.Array, per_day: int) -> bool:
    ends = pc.min_max(values).as_py()
    low, high = ends["min"], ends["max"]
    return low is None or (_FIRST_DAY * per_day <= low and high < (_LAST_DAY + 1) * per_day)


def _timestamp(tick: int, per_second: int) -> str:
    seconds, rest = divmod(tick, per_second)
    days, second = divmod(seconds, 86400)
    date, _, era = _date(days).partition(" ")
    clock = f"{second // 3600:02d}:{second // 60 % 60:02d}:{second % 60:02d}"
    digits = len(str(per_second)) - 1
    fraction = f".{rest:0{digits}d}" if digits else ""
    return f"{date} {clock}{fraction} {era}".rstrip()


def _date(days: int) -> str:
    """A day of the proleptic Gregorian calendar, however far from 1970.

    >>> _date(0), _date(-719163), _date(2932897)
    ('1970-01-01', '0001-12-31 BC', '10000-01-01')
    """
    era, day = divmod(days + 719468, 146097)
    year = (day - day // 1460 + day // 36524 - day // 146096) // 365
    day -= 365 * year + year // 4 - year // 100
    month = (5 * day + 2) // 153
    number = day - (153 * month + 2) // 5 + 1
    month += 3 if month < 10 else -9
    year += era * 400 + (month <= 2)
    return (
        f"{year:04d}-{month:02d}-{number:02d}" if year > 0 else f"{1 - year:04d}-{month:02d}-{number:02d} BC"
    )
