"""Functions that search with patterns: regular expressions of Java, as far as Python's mean the same."""

from __future__ import annotations

import re
import warnings
from functools import lru_cache
from typing import Final

from trellis.dialects.pinot.functions.registry import FunctionError, Theme, as_int, as_text

_PIECE: Final = re.compile(r"\\.|\(\?<(?![=!])|\[\^?\]?|\]|&&|[.]|.", re.DOTALL)
_ANY: Final = "[^\\n\\r\\x85\\u2028\\u2029]"
_GROUP: Final = re.compile(r"\$(?:\{(\w+)\}|(\d))", re.ASCII)
_SAME: Final = frozenset("dDwWsSbBtnrfxuU0123456789\\")


@lru_cache(maxsize=1024)
def compile_pattern(pattern: str, ignore_case: bool = False) -> re.Pattern[str]:
    """The pattern for Python. Raises FunctionError for one that is wrong, or that Python reads otherwise.

    >>> compile_pattern("(?<year>\\\\d+)").search("in 2023")["year"]
    '2023'
    """
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            return re.compile(_translate(pattern), re.ASCII | (re.IGNORECASE if ignore_case else 0))
        except (re.error, FutureWarning, OverflowError, RecursionError) as error:
            raise FunctionError(f"the pattern {pattern[:80]!r} cannot be used: {error}") from None


def _translate(pattern: str) -> str:
    pieces: list[str] = []
    in_class = False
    for match in _PIECE.finditer(pattern):
        piece = match[0]
        if piece[0] == "\\":
            piece = _escape(piece, pattern)
        elif in_class:
            if piece[0] == "[" or piece == "&&":
                raise FunctionError(
                    f"a class within a class in the pattern {pattern[:80]!r} is not supported"
                )
            in_class = piece != "]"
        elif piece[0] == "[":
            in_class = True
        elif piece == "(?<":
            piece = "(?P<"
        elif piece == "." and "(?" not in pattern:
            piece = _ANY
        pieces.append(piece)
    return "".join(pieces)


def _escape(piece: str, pattern: str) -> str:
    letter = piece[1:]
    if letter == "z":
        return r"\Z"
    if letter == "Z":
        return r"(?=\n?\Z)"
    if letter.isascii() and letter.isalnum() and letter not in _SAME and letter != "A":
        raise FunctionError(f"{piece} in the pattern {pattern[:80]!r} is not supported")
    return piece


def python_replacement(text: str) -> str:
    r"""What Java puts in place of a match, for Python: `$1` is a group, a backslash takes the next as it is.

    >>> print(python_replacement(r"<$1\$>"))
    <\g<1>$>
    """
    pieces: list[str] = []
    position = 0
    while position < len(text):
        sign = text[position]
        if sign == "$":
            group = _GROUP.match(text, position)
            if not group:
                raise FunctionError(f"a group is expected after the $ of the replacement {text[:80]!r}")
            pieces.append(f"\\g<{group[1] or group[2]}>")
            position = group.end()
            continue
        if sign == "\\":
            position += 1
            if position == len(text):
                raise FunctionError(f"a character is expected after the last backslash of {text[:80]!r}")
            sign = text[position]
        pieces.append("\\\\" if sign == "\\" else sign)
        position += 1
    return "".join(pieces)


PATTERNS: Final = Theme()


@PATTERNS.function("regexpLike", as_text, as_text, as_text, optional=1)
def _regexp_like(text: str, pattern: str, flags: str = "c") -> bool:
    """Whether a part of the text matches; with the flag i upper and lower case are one."""
    return compile_pattern(pattern, _ignores_case(flags)).search(text) is not None


@PATTERNS.function("like", as_text, as_text)
def _like(text: str, pattern: str) -> bool:
    """Whether the whole text matches: % stands for any text, _ for any character. Case does not count."""
    return _compile_like(pattern).fullmatch(text) is not None


@lru_cache(maxsize=1024)
def _compile_like(pattern: str) -> re.Pattern[str]:
    pieces = re.findall(r"\\[%_]|.", pattern, re.DOTALL)
    wildcards = {"%": ".*", "_": "."}
    python = "".join(wildcards.get(piece) or re.escape(piece[-1]) for piece in pieces)
    return re.compile(python, re.IGNORECASE | re.ASCII | re.DOTALL)


@PATTERNS.function("regexpExtract", as_text, as_text, as_int, as_text, optional=2)
def _regexp_extract(text: str, pattern: str, group: int = 0, default: str = "") -> str | None:
    """What a group of the first match holds, 0 being all of it; `default` where there is none."""
    match = compile_pattern(pattern).search(text)
    return match[group] if match and 0 <= group <= len(match.groups()) else default


@PATTERNS.function("regexpReplace", as_text, as_text, as_text, as_int, as_int, as_text, optional=3)
def _regexp_replace(
    text: str, pattern: str, replacement: str, start: int = 0, occurrence: int = -1, flags: str = "c"
) -> str:
    """The text with matches from a place on replaced: all, or one; place and match are counted from 0."""
    compiled = compile_pattern(pattern, _ignores_case(flags))
    if not 0 <= start <= len(text):
        raise FunctionError(f"a place in a text of {len(text)} characters is expected, not {start}")
    try:
        template = python_replacement(replacement)
        if occurrence < 0:
            return text[:start] + compiled.sub(template, text[start:])
        for count, match in enumerate(compiled.finditer(text, start)):
            if count == occurrence:
                return text[: match.start()] + match.expand(template) + text[match.end() :]
    except (re.error, IndexError) as error:
        raise FunctionError(
            f"the replacement {replacement[:80]!r} does not go with {pattern[:80]!r}: {error}"
        ) from None
    return text


def _ignores_case(flags: str) -> bool:
    if flags not in ("i", "c"):
        raise FunctionError(f"the flag i or c is expected, not {flags[:60]!r}")
    return flags == "i"
