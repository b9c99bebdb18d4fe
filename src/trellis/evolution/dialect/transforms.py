"""How a record becomes rows: one of four ways, which the engine carries out."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple, Protocol

from trellis.evolution.line_projection import LineProjection
from trellis.evolution.projection import Projection
from trellis.evolution.record_outcome import LostValue
from trellis.evolution.row_transform import RowTransform
from trellis.schema.model import Schema
from trellis.schema.naming import Naming


@dataclass
class Routed:
    """What becomes of one record: flat rows by table, in order, and what of it reaches none of them.

    `warning` is something to count that is no fault. `references` names documents that the record refers to
    and that the schema lacks: it waits until they are resolved.
    """

    rows: list[tuple[str, Mapping[str, Any]]] = field(default_factory=list)
    lost: list[LostValue] = field(default_factory=list)
    warning: str | None = None
    references: tuple[str, ...] = ()


SharedNames = Mapping[str, Collection[str]]
"""What has one name in the tables, and what it was called in the records."""


class Router(Protocol):
    """Spreads records over tables."""

    sorts: tuple[str, ...]
    """The keys at the top of a record that tell its sort, for `projection`."""

    def __call__(self, record: Mapping[str, Any], position: str, /) -> Routed:
        """From a record and its position as text. Raises Rejected."""
        ...

    def projection(self, sort: Sequence[str | None]) -> Projection | None:
        """The projection of records with these texts under the keys of `sorts`, from what is known by now."""
        ...

    def shared(self) -> SharedNames:
        """The names, each with its kind in front, with all that came to them so far in the records."""
        ...


class EmittedRow(NamedTuple):
    """One flat row with its table and the parent of that table, if it has one."""

    table: str
    parent: str | None
    row: Mapping[str, Any]


class RowEmitter(Protocol):
    """Makes flat rows of a record by code of the user's own."""

    def __call__(
        self, record: Any, load_id: str, table: str, where: str, /
    ) -> Generator[EmittedRow, bool | None, None]:
        """From a record, the table that the user named and the record's place in words.

        What is sent to the generator is whether the row it gave last is loaded. Raises UsageError.
        """
        ...


@dataclass(frozen=True)
class Flatten:
    """A record belongs to the table that the user named; `NestingRules` say what becomes of its nesting."""


@dataclass(frozen=True)
class Route:
    """Records name their tables; the schema is learned from the rows.

    `read_line` makes the record of a line that is not JSON of its own kind. It raises Rejected. `lines` says
    of ordinary ones how they become rows, many at a time.
    """

    router: Router
    read_line: Callable[[bytes], dict[str, Any]] | None = None
    lines: LineProjection | None = None


@dataclass(frozen=True)
class Author:
    """The schema was authored, nothing is learned from the records."""

    program: RowTransform


@dataclass(frozen=True)
class Emit:
    """Code of the user's makes the rows; the schema is learned from them."""

    emitter: RowEmitter


RecordTransform = Flatten | Route | Author | Emit


class Routing(Protocol):
    def transform(
        self, schema: Schema, naming: Naming, now: datetime, closed: Collection[str] = ()
    ) -> RecordTransform:
        """How the records of a load become rows. Raises SchemaError.

        `now` is the time of the load; `closed` are tables for which a quota left no room.
        """
        ...
