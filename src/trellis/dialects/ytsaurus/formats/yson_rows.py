"""Rows as YSON: a list fragment of maps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO, Final

from trellis.dialects.ytsaurus.formats.row import Row
from trellis.dialects.ytsaurus.yson.parser import YsonParser
from trellis.dialects.ytsaurus.yson.values import YsonError
from trellis.dialects.ytsaurus.yson.writer import dumps

BLOCK_SIZE: Final = 2**20
MAX_ROW_BYTES: Final = 2**28


def read_yson(stream: BinaryIO) -> Iterator[Row]:
    """Raises YtError with the number of the row, also where it has a column twice."""
    data, offset, is_last, after_row, number = b"", 0, False, False, 0
    while not is_last:
        block = stream.read(max(BLOCK_SIZE, len(data)))  # a row longer than a block is parsed a few times
        data, is_last = data + block, not block
        parser = YsonParser(data, offset=offset, raw=True)
        end = 0
        while parser.peek():
            try:
                row = _parse_item(parser, after_row)
            except YsonError as error:
                if is_last or len(data) - end > MAX_ROW_BYTES:
                    raise (error.in_column(parser.key) if parser.key else error).at(row=number) from None
                break
            after_row, end = row is not None, parser.position
            if row is not None:
                number += 1
                yield row
        data, offset = data[end:], offset + end


def write_yson(rows: Iterable[Row], form: Any) -> Iterator[bytes]:
    for row in rows:
        yield dumps([row], yson_format=form, yson_type="list_fragment")


def _parse_item(parser: YsonParser, after_row: bool) -> Row | None:
    """A row, or None for what separates rows."""
    if after_row:
        if not parser.skip(b";"):
            parser.fail("expected ';' between rows")
        return None
    if not parser.skip(b"{"):
        parser.fail("expected a row, which is a map such as {k=1}")
    row = parser.parse_pairs(b"}", unique=True)
    parser.key = ""
    parser.expect(b"}")
    return row
