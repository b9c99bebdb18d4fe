"""Regular expressions of Java, as far as Python's mean the same."""

from __future__ import annotations

import re
import warnings
from functools import lru_cache
from typing import Final

from trellis.dialects.pinot.functions.arguments import FunctionError

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
