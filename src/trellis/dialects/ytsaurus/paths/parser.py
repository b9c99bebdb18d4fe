"""The text of a rich path: `<attributes>cluster://path{columns}[ranges]`."""

from __future__ import annotations

import re
from typing import Any, Final

from trellis.dialects.ytsaurus.errors import YtError
from trellis.dialects.ytsaurus.yson.parser import YsonParser
from trellis.dialects.ytsaurus.yson.values import YsonError, split_attributes, to_key

_CLUSTER: Final = re.compile(rb"([A-Za-z0-9_-]+):(?= *[/#])")
_PLAIN: Final = re.compile(rb"(?:[^\\{\[]|\\(?:[\\/@&*\[{]|x[0-9a-fA-F]{2}))*")


def split_path(path: Any) -> tuple[str, dict[str, Any]]:
    """The path and the attributes that its text says. Raises YtError with the position.

    >>> split_path("<append=%true>//t{a}[b:(c,1)]")
    ('//t', {'append': True, 'columns': ['a'], 'ranges': [{'lower_limit': {'key': ['b']},
    'upper_limit': {'key': ['c', 1]}}]})
    """
    if not isinstance(path, str | bytes):
        raise YtError(f"{path!r} is not a path; expected a string such as //home/t")
    parser = YsonParser(path if isinstance(path, bytes) else path.encode("utf-8", "surrogateescape"))
    try:
        return _parse(parser)
    except YsonError as error:
        raise YtError(f"the path {to_key(path)} is not valid: {error.message}") from None


def plain_path(path: Any) -> str:
    """The path without attributes, columns and ranges. Raises YtError."""
    text, _ = split_attributes(path)
    name, _ = split_path(text)
    return name


def _parse(parser: YsonParser) -> tuple[str, dict[str, Any]]:
    attributes = parser.parse_attributes()
    if attributes:
        parser.peek()
    cluster = _CLUSTER.match(parser.data, parser.position)
    if cluster is not None and parser.data.find(b"/", cluster.end()) >= 0:
        attributes["cluster"] = cluster[1].decode()
        parser.position = cluster.end()
    start = parser.position
    plain = _PLAIN.match(parser.data, start)
    parser.position = start if plain is None else plain.end()
    name = parser.data[start : parser.position]
    if parser.data[parser.position : parser.position + 1] == b"\\":
        parser.fail(r"expected \\, \/, \@, \&, \*, \[, \{ or \x and two digits after a backslash")
    if not name.strip():
        parser.fail("expected a path such as //home/t")
    if parser.peek() == b"{":
        attributes["columns"] = _parse_columns(parser)
    if parser.peek() == b"[":
        attributes["ranges"] = _parse_ranges(parser)
    if parser.peek() == b"{":
        parser.fail("expected the end; columns come before ranges: //t{a}[#0:#2]")
    parser.expect_end()
    return to_key(name), attributes


def _parse_columns(parser: YsonParser) -> list[str]:
    parser.expect(b"{")
    columns = []
    while parser.peek() != b"}":
        name = parser.parse_string()
        if name is None:
            parser.fail("expected the name of a column")
        columns.append(to_key(name))
        if not parser.skip(b",") and parser.peek() != b"}":
            parser.fail("expected ',' or '}' after a column")
    parser.expect(b"}")
    return columns


def _parse_ranges(parser: YsonParser) -> list[dict[str, Any]]:
    parser.expect(b"[")
    ranges = []
    while True:
        lower = _parse_limit(parser)
        if parser.skip(b":"):
            limits = {"lower_limit": lower, "upper_limit": _parse_limit(parser)}
        else:
            limits = {"exact": lower}
        ranges.append({name: limit for name, limit in limits.items() if limit})
        if parser.skip(b"]"):
            return ranges
        if not parser.skip(b","):
            parser.fail("expected ',', ':' or ']' after a limit")


def _parse_limit(parser: YsonParser) -> dict[str, Any]:
    """A row number, a key, or nothing."""
    if parser.peek() in (b":", b",", b"]"):
        return {}
    if parser.skip(b"#"):
        number = parser.parse_number()
        if not isinstance(number, int):
            parser.fail("expected the number of a row after '#'")
        return {"row_index": number}
    if not parser.skip(b"("):
        return {"key": [_parse_part(parser, is_tuple=False)]}
    key = []
    while not parser.skip(b")"):
        key.append(_parse_part(parser, is_tuple=True))
        if not parser.skip(b",") and parser.peek() != b")":
            parser.fail("expected ',' or ')' after a part of a key")
    return {"key": key}


def _parse_part(parser: YsonParser, *, is_tuple: bool) -> Any:
    if is_tuple and parser.skip(b"#"):
        return None
    text = parser.parse_string()
    if text is not None:
        return to_text(text)
    for part in (parser.parse_number(), parser.parse_literal()):
        if part is not None:
            return part
    return parser.fail("expected a string, a number or %true in a key")


def to_text(text: bytes) -> str | bytes:
    try:
        return text.decode()
    except UnicodeDecodeError:
        return text
