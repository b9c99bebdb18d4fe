"""One line of text -> one record, exactly, or the reason why it is none.

orjson is fast but rounds integers beyond 64 bits, and hides duplicate keys; a line with a long run
of digits is parsed by the standard library, and a line whose keys do not add up is searched for
duplicates.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from threading import Lock
from typing import Any

import orjson

MAX_DEPTH = 1024
"""Levels of nesting that a line may have: as many as orjson takes."""
_FRAMES = 3 * MAX_DEPTH
"""Python frames that its parsers need for these."""
_SHALLOW = 100
_RECURSION_LIMIT = Lock()
_STRING_OR_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*"?|[\[\]{}]')
_DIGITS = bytes(48 if 48 <= byte < 58 else 0 for byte in range(256))
LONG, SAFE = 19, 16
"""Digits from which on an integer may not fit 64 bits, or a double."""
_SPACED_COLON = re.compile(rb'"[ \t\r]+:')
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


class BadLine(Exception):
    """Why a line is not a record."""


def has_long_number(text: bytes, digits: int = LONG) -> bool:
    """Whether there are so many digits in a row."""
    return b"0" * digits in digits_as_zeros(text)


def digits_as_zeros(text: bytes) -> bytes:
    """The text with every digit as 0 and every other byte as NUL."""
    return text.translate(_DIGITS)


def parse(line: bytes, check_big_ints: bool = True, verbatim: bool = False) -> Any:
    """The JSON value of a line. Integers of any length are exact; a number beyond the range of a
    double stays as its text. `check_big_ints`: the line may have a long number. `verbatim`: half of a
    surrogate pair in an escape is kept, which UTF-8 does not have, and a number beyond the range of a double
    is a Decimal. Raises BadLine."""
    if not check_big_ints or not has_long_number(line):
        try:
            return orjson.loads(line)
        except orjson.JSONDecodeError:
            pass
    return _loads(line, None, verbatim)


def record(line: bytes, check_big_ints: bool = True, verbatim: bool = False) -> dict[str, Any]:
    """The JSON object of a line; options as for `parse`. Raises BadLine."""
    value = parse(line, check_big_ints, verbatim)
    if value.__class__ is not dict:
        raise BadLine(f"a record must be a JSON object, this line is {_KINDS[value.__class__]}")
    return value


def may_repeat(text: Sequence[bytes], keys: int) -> bool:
    """Whether an object in these lines may hold a key twice: their values hold `keys` keys.

    Every key ends in a quote and a colon. Text can hold more of these than there are keys, never fewer,
    unless there is white space between the two.
    """
    if sum(part.count(b'":') for part in text) != keys:
        return True
    spaced = any(mark in part for part in text for mark in (b'" ', b'"\t', b'"\r'))
    return spaced and any(map(_SPACED_COLON.search, text))


def replaced_values(line: bytes, keys: int) -> list[tuple[str, Any]]:
    """(key, value) of every value but null that a later one of the same key of the same object replaced.

    `keys` is how many keys the record has. JSON allows it; the last value counts.
    """
    if not may_repeat((line,), keys):
        return []
    return [(key, value) for key, value in duplicates(line) if value is not None]


def duplicates(line: bytes) -> list[tuple[str, Any]]:
    """Every (key, value) that a later pair with the same key in the same object overwrote."""
    overwritten: list[tuple[str, Any]] = []

    def object_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for key, value in pairs:
            if key in values:
                overwritten.append((key, values[key]))
            values[key] = value
        return values

    _loads(line, object_of, verbatim=True)
    return overwritten


def _loads(line: bytes, pairs: Any, verbatim: bool) -> Any:
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as bad:
        raise BadLine(f"not UTF-8: byte 0x{line[bad.start]:02x} at column {bad.start + 1}") from None
    text = text.removeprefix("\ufeff")
    if _is_deeper_than(text, MAX_DEPTH):
        raise BadLine(f"nested deeper than {MAX_DEPTH} levels")
    with _room_to_recurse(text):
        try:
            value = json.loads(
                text,
                parse_int=_integer,
                parse_float=_exact if verbatim else _real,
                parse_constant=_constant,
                object_pairs_hook=pairs,
            )
        except json.JSONDecodeError as bad:
            raise BadLine(f"not JSON: {_plain(bad.msg)} at column {bad.pos + 1}") from None
        if not verbatim and _SURROGATE.search(line):
            try:
                json.dumps(value, ensure_ascii=False).encode("utf-8")
            except UnicodeEncodeError:
                raise BadLine("not UTF-8: half of a surrogate pair in an escape") from None
    return value


def _is_deeper_than(text: str, limit: int) -> bool:
    """Whether brackets outside of strings nest deeper than that, up to where the text stops being JSON.

    >>> _is_deeper_than('{"a": [1, "[["]}', 1), _is_deeper_than('{"a": [1, "[["]}', 2)
    (True, False)
    """
    if text.count("[") + text.count("{") <= limit:
        return False
    depth = 0
    for match in _STRING_OR_BRACKET.finditer(text):
        token = match.group()
        if token in ("[", "{"):
            depth += 1
            if depth > limit:
                return True
        elif token in ("]", "}"):
            depth -= 1
    return False


@contextmanager
def _room_to_recurse(text: str) -> Iterator[None]:
    """Raise the interpreter's recursion limit for a deep text.

    What a line is must depend neither on the frames below the parser nor on a limit that another library set.
    """
    if text.count("[") + text.count("{") < _SHALLOW:
        yield
        return
    with _RECURSION_LIMIT:
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(limit + _FRAMES)
        try:
            yield
        finally:
            sys.setrecursionlimit(limit)


def _integer(digits: str) -> int | str:
    return int(digits) if len(digits) <= 4000 else digits


def _real(digits: str) -> float | str:
    value = float(digits)
    return value if math.isfinite(value) else digits


def _exact(digits: str) -> float | Decimal:
    value = float(digits)
    return value if math.isfinite(value) else Decimal(digits)


def _constant(word: str) -> Any:
    raise BadLine(f"not JSON: {word} is no JSON number")


def _plain(message: str) -> str:
    """A message of the decoder, some of which end with the word that their place is to follow."""
    return message[0].lower() + message[1:].removesuffix(" at") if message else "cannot be read"


_KINDS = {
    list: "an array",
    str: "a string",
    int: "a number",
    float: "a number",
    bool: "a boolean",
    type(None): "null",
}
