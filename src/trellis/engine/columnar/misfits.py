"""Byte patterns of lines that hold a value of another kind than the schema of the columnar path expects.

A pattern looks for a key, below the key of the object around it, and for how a value of that kind begins in
JSON. It may match too much or too little: `strict.py` proves every line that it reads.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

import orjson

_SPACE: Final = r"\s*"
_VALUE_STARTS: Final[Mapping[type, str]] = {
    str: '"',
    bool: "[tf]",
    int: "[-0-9]",
    float: "-?[0-9]+[.eE]",
    dict: r"\{",
    list: r"\[",
}
NOT_NULL: Final = r"[^n\s]"
"""The first byte of every value except null."""
PRESENT: Final = ""
"""Matches a key that is present, whatever its value."""


def misfit_pattern(key: str, outer: str | None, value_start: str) -> str:
    r"""The pattern of a key with a value that starts so, in the object under the key `outer` if there is one.

    >>> misfit_pattern("id", "user", '"')
    '"user"\\s*:\\s*\\{[^{}]*"id"\\s*:\\s*"'
    """
    pattern = f"{quoted(key)}{_SPACE}:{_SPACE}{value_start}"
    if outer is None:
        return pattern
    return rf"{quoted(outer)}{_SPACE}:{_SPACE}\{{[^{{}}]*{pattern}"


def value_starts(classes: Iterable[type], accepted_with: Iterable[type] = ()) -> list[str]:
    r"""How values of these classes start; where floats are accepted, an integer must not look like one.

    >>> value_starts([str, dict])
    ['"', '\\{']
    """
    accepted = set(accepted_with)
    return [
        _VALUE_STARTS[class_] if class_ is not int or float not in accepted else _INTEGER_START
        for class_ in classes
        if class_ in _VALUE_STARTS
    ]


_INTEGER_START: Final = r"-?[0-9]+[^0-9.eE]"


def list_start(shape: str) -> str:
    r"""How a list of such elements starts: rows, lists or single values.

    >>> list_start("row")
    '\\[\\s*\\{'
    """
    return rf"\[\s*{_ELEMENTS[shape]}"


_ELEMENTS: Final[Mapping[str, str]] = {"row": r"\{", "list": r"\[", "value": r'["\-0-9tf]'}


def quoted(key: str) -> str:
    """The pattern of a key in quotes."""
    return re.escape(orjson.dumps(key).decode())
