"""Byte patterns of lines that hold a value of another kind than the schema of the fast way expects.

A pattern looks for a key, below the key of the object around it, and for how a value of that kind begins in
JSON. It may match too much or too little: `strict.py` proves every line that it reads.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

import orjson

_SPACE: Final = r"\s*"
_BEGINS: Final[Mapping[type, str]] = {
    str: '"',
    bool: "[tf]",
    int: "[-0-9]",
    float: "-?[0-9]+[.eE]",
    dict: r"\{",
    list: r"\[",
}
ANY: Final = r"[^n\s]"
"""How every value begins but null."""
PRESENT: Final = ""
"""The key is there, whatever its value."""
LONG: Final = r"[:\[,]\s*-?[0-9]{19}"
"""An integer that 64 bits may not hold."""


def misfit_pattern(key: str, outer: str | None, begins: str) -> str:
    r"""The pattern of a key with a value that begins so, in the object under the key `outer` if there is one.

    >>> misfit_pattern("id", "user", '"')
    '"user"\\s*:\\s*\\{[^{}]*"id"\\s*:\\s*"'
    """
    pattern = f"{_quoted(key)}{_SPACE}:{_SPACE}{begins}"
    if outer is None:
        return pattern
    return rf"{_quoted(outer)}{_SPACE}:{_SPACE}\{{[^{{}}]*{pattern}"


def beginnings(classes: Iterable[type], beside: Iterable[type] = ()) -> list[str]:
    """How values of these classes begin; integers are told from floats `beside` which they are accepted.

    >>> beginnings([str, dict])
    ['"', '\\{']
    """
    accepted = set(beside)
    return [
        _BEGINS[each] if each is not int or float not in accepted else _WHOLE
        for each in classes
        if each in _BEGINS
    ]


_WHOLE: Final = r"-?[0-9]+[^0-9.eE]"


def element_beginning(shape: str) -> str:
    """How a list of such elements begins: rows, lists or single values.

    >>> element_beginning("row")
    '\\[\\s*\\{'
    """
    return rf"\[\s*{_ELEMENTS[shape]}"


_ELEMENTS: Final[Mapping[str, str]] = {"row": r"\{", "list": r"\[", "value": r'["\-0-9tf]'}


def _quoted(key: str) -> str:
    return re.escape(orjson.dumps(key).decode())
