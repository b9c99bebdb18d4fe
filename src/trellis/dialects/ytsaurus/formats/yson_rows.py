"""Rows as YSON: a list fragment of maps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from trellis.dialects.ytsaurus.formats.row import Row
from trellis.dialects.ytsaurus.yson.parser import YsonParser
from trellis.dialects.ytsaurus.yson.writer import dumps


def read_yson(data: bytes) -> Iterator[Row]:
    """Raises YsonError, also where a row has a column twice."""
    parser = YsonParser(data, raw=True)
    while parser.peek():
        if not parser.skip(b"{"):
            parser.fail("expected a row, which is a map such as {k=1}")
        yield parser.parse_pairs(b"}", unique=True)
        parser.expect(b"}")
        if not parser.skip(b";") and parser.peek():
            parser.fail("expected ';' between rows")


def write_yson(rows: Iterable[Row], form: Any) -> Iterator[bytes]:
    for row in rows:
        yield dumps([row], yson_format=form, yson_type="list_fragment")
