"""Text that may be a number: a cheap test, since most text is none."""

from __future__ import annotations

import re

_NUMBER = re.compile(r"[+-]?[0-9.][0-9_.]*(?:[eE][+-]?[0-9_]+)?", re.ASCII).fullmatch

_HEX = re.compile(r"0x([0-9a-fA-F]+)").fullmatch

NOT_FINITE = frozenset(("nan", "inf", "infinity"))

# No number and no time starts with these characters; nearly all text does.
INERT_STARTS = frozenset(
    c for c in map(chr, range(128)) if not c.isspace() and c not in '0123456789+-.tTfFyYnNiI{["'
)


def literal(text: str) -> str:
    """The text without space around it if it may be a number, else nothing."""
    bare = text.strip()
    return bare if _NUMBER(bare) or not bare.isascii() else ""


def hexadecimal(text: str) -> int | None:
    """The integer that hexadecimal text is, `0x` first.

    >>> hexadecimal(" 0xff "), hexadecimal("ff")
    (255, None)
    """
    match = _HEX(text.strip()) if "0x" in text else None
    return int(match[1], 16) if match else None


def may_be_number(text: str) -> bool:
    """Whether it is worth trying: False is certain."""
    bare = text.strip()
    if not bare.isascii() or _NUMBER(bare) or _HEX(bare):
        return True
    return len(bare) <= 9 and bare.lower().lstrip("+-") in NOT_FINITE
