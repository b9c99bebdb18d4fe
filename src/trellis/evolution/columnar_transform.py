"""A row program as data, column by column: for records without special values.

Each column names the path of its values in a record and their conversion. A record with a value that needs
more than that goes through the program alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from trellis.evolution.projection import Path

Target = Literal[
    "int32",
    "int64",
    "float32",
    "float64",
    "bool",
    "millis",
    "text",
    "digits",
    "json",
    "binary",
    "same_int",
    "same_float",
    "same_bool",
    "same_text",
    "other",
]
"""What a column holds.

`bool` is true or false, `millis` are milliseconds since 1970, `digits` decimals as text without zeros at
their end, `json` compact JSON with sorted keys, `binary` bytes that come as hexadecimal text. `same_int` and
its like hold values of one kind, as they are; values of all others go through `convert`. `other` has no
shortcut.
"""


class Special(Exception):
    """A value that only the program itself can deal with."""


@dataclass(frozen=True)
class ReadTime:
    """Texts of a Joda pattern in UTC -> milliseconds since 1970."""

    pattern: str


@dataclass(frozen=True)
class WriteTime:
    """Milliseconds since 1970 -> texts of a Joda pattern in UTC."""

    pattern: str


@dataclass(frozen=True)
class Times:
    by: int


@dataclass(frozen=True)
class Divide:
    """Whole division toward 0."""

    by: int


Step = ReadTime | WriteTime | Times | Divide


@dataclass(frozen=True)
class Derived:
    """Values that are computed from others where a record has none at `path`.

    `steps` say the same of the one argument there is, for whole columns; empty where they cannot.
    """

    path: Path
    arguments: tuple[Path, ...]
    compute: Callable[..., Any]
    steps: tuple[Step, ...] = ()


@dataclass(frozen=True)
class Cell:
    """One column. `many`: it holds lists of values.

    `convert` makes one value of a record what is stored; it gives None for NULL and raises Special.
    `longest` is how long a text may be, in UTF-16 units. `default` stands where there is no value; None:
    nothing does. Stored numbers must be `within` these bounds, texts pass `check`; `pattern` is how texts
    write a time in UTC, and what it reads as must be `within` too, in milliseconds. Where a value is
    `required`, records without one are special.
    """

    column: str
    source: Path | Derived
    target: Target
    many: bool
    convert: Callable[[Any], Any]
    default: Any = None
    longest: int | None = None
    within: tuple[int, int] | None = None
    pattern: str | None = None
    check: Callable[[Any], bool] | None = None
    required: bool = False


@dataclass(frozen=True)
class Remainder:
    """The column of what a record has under keys that no cell uses.

    `convert` makes one value of these keys and values, nulls left out; it raises Special.
    """

    column: str
    convert: Callable[[Mapping[str, Any]], Any]


@dataclass(frozen=True)
class ColumnarTransform:
    """The columns of a table, and which records are left out: those for which `drops` is true.

    `used` are the keys at the top of a record that something is made of. The others go into the `remainder`;
    without one they are counted, each under what `unused` says of it, and where the transform is `closed`
    records that have some are special. `take_warnings` gives what else the cells' `convert` counted since it
    was called last. `zone` is the time zone of texts without one. `joint` joins the keys of objects to names
    of columns, so keys that hold it are special.
    """

    cells: tuple[Cell, ...]
    used: frozenset[str]
    unused: Callable[[str], str]
    take_warnings: Callable[[], Counter[str]]
    zone: str = "UTC"
    drops: Derived | None = None
    joint: str | None = None
    closed: bool = False
    remainder: Remainder | None = None


def at(record: Any, path: Path) -> Any:
    """What stands at a path of a record; None where nothing does."""
    for key in path:
        if not isinstance(record, Mapping):
            return None
        record = record.get(key)
    return record
