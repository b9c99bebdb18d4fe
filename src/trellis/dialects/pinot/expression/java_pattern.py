"""Regular expressions of Java, as far as Python's mean the same (spec pinot.md, section 5)."""

from __future__ import annotations

import re
import warnings
from functools import lru_cache
from typing import Final

from trellis.dialects.pinot.expression.take import FunctionError

_PIECE: Final = re.compile(r"\\.|\(\?<(?![=!])|\[\^?\]?|\]|&&|[.]|.", re.DOTALL)
_ANY: Final = "[^\\n\\r\\x85\\u2028\\u2029]"
_SAME: Final = frozenset("dDwWsSbBtnrfxuU0123456789\\")


@lru_cache(maxsize=1024)
def compiled(pattern: str, ignore_case: bool = False) -> re.Pattern[str]:
    """The pattern for Python. Raises FunctionError for one that is wrong, or that Python reads otherwise.

    >>> compiled("(?<year>\\\\d+)").search("in 2023")["year"]
    '2023'
    """
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            return re.compile(_translated(pattern), re.ASCII | (re.IGNORECASE if ignore_case else 0))
        except (re.error, FutureWarning, OverflowError, RecursionError) as wrong:
            raise FunctionError(
                f"the pattern {pattern[:80]!r} is not one that can be used: {wrong}"
            ) from None


def _translated(pattern: str) -> str:
    made: list[str] = []
    within = False
    for found in _PIECE.finditer(pattern):
        piece = found[0]
        if piece[0] == "\\":
            piece = _escape(piece, pattern)
        elif within:
            if piece[0] == "[" or piece == "&&":
                raise FunctionError(
                    f"a class within a class in the pattern {pattern[:80]!r} is not supported"
                )
            within = piece != "]"
        elif piece[0] == "[":
            within = True
        elif piece == "(?<":
            piece = "(?P<"
        elif piece == "." and "(?" not in pattern:
            piece = _ANY
        made.append(piece)
    return "".join(made)


def _escape(piece: str, pattern: str) -> str:
    letter = piece[1:]
    if letter == "z":
        return r"\Z"
    if letter == "Z":
        return r"(?=\n?\Z)"
    if letter.isascii() and letter.isalnum() and letter not in _SAME and letter != "A":
        raise FunctionError(f"{piece} in the pattern {pattern[:80]!r} is not supported")
    return piece


def replacement(text: str) -> str:
    r"""What Java puts in place of a match, for Python: `$1` is a group, a backslash takes the next as it is.

    >>> print(replacement(r"<$1\$>"))
    <\g<1>$>
    """
    made: list[str] = []
    at = 0
    while at < len(text):
        sign = text[at]
        if sign == "$":
            group = re.compile(r"\$(?:\{(\w+)\}|(\d))", re.ASCII).match(text, at)
            if not group:
                raise FunctionError(f"a group is expected after the $ of the replacement {text[:80]!r}")
            made.append(f"\\g<{group[1] or group[2]}>")
            at = group.end()
            continue
        if sign == "\\":
            at += 1
            if at == len(text):
                raise FunctionError(f"a character is expected after the last backslash of {text[:80]!r}")
            sign = text[at]
        made.append("\\\\" if sign == "\\" else sign)
        at += 1
    return "".join(made)
