"""How all records of one event type become rows: as paths and columns.

A projection holds only for ordinary records: every value at its path and of its class, text that is no time.
It gives the rows that the router gives, for many records at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

Path = tuple[str, ...]


@dataclass(frozen=True)
class First:
    """The first of some texts that is there."""

    paths: tuple[Path, ...]


@dataclass(frozen=True)
class Constant:
    """The same text in every row."""

    value: str


@dataclass(frozen=True)
class Moment:
    """The first of some times that is there."""

    paths: tuple[Path, ...]


@dataclass(frozen=True)
class Shifted:
    """A time; where it is missing, `base` earlier by as much as `minus` is before `plus`.

    These are times that may be missing too; each has others in its place then.
    """

    path: Path
    base: Moment
    plus: Moment
    minus: Moment


Source = First | Constant | Moment | Shifted


@dataclass(frozen=True)
class TableRows:
    """The rows of one table. `columns` are those of the dialect, `leaves` the columns of other values.

    Only records have one in which there is something other than white space at `where`.
    """

    table: str
    columns: Mapping[str, Source]
    leaves: Mapping[Path, str]
    where: Path | None = None


@dataclass(frozen=True)
class ValueRules:
    """How texts and lists are stored.

    `is_plain` tells of a text whether it is nothing else, `time_of` which time it is; those that match
    `iso_time` (RE2) are what ISO 8601 says, in UTC where they name no zone. `list_text` tells as what text a
    list is kept (None: as nothing). Texts of more than `longest` bytes are no ordinary ones.
    """

    is_plain: Callable[[str], bool]
    time_of: Callable[[str], datetime | None]
    iso_time: str
    list_text: Callable[[list[Any]], str | None]
    longest: int | None = None


@dataclass(frozen=True)
class Projection:
    """What records of one sort may hold, and their rows.

    `texts` and `flags` may be there beside the leaves; `required` has to be. Texts at `same` must equal the
    text of a column of the first table. Where the first of `early` is before the second, `warning` is to be
    counted. Nulls and blank texts are as if they were not there.
    """

    rows: tuple[TableRows, ...]
    texts: tuple[Path, ...]
    flags: tuple[Path, ...]
    required: tuple[Path, ...]
    rules: ValueRules
    same: Mapping[Path, str] = field(default_factory=dict)
    early: tuple[Moment, Moment] | None = None
    warning: str = ""
