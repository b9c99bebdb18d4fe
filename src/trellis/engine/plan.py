"""What a task must know to turn blocks into rows: picklable, the same for every task of a load."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from datetime import datetime, timezone
from functools import cached_property
from typing import Any, NamedTuple

from trellis.dialects import get_dialect
from trellis.engine.arrow.types import Digits
from trellis.engine.input.blocks import Split
from trellis.engine.storage.storage import DEFAULT_STORAGE, Storage
from trellis.evolution.dialect import Dialect
from trellis.evolution.dialect.system_columns import RowKeys
from trellis.evolution.dialect.transforms import RecordTransform
from trellis.evolution.evolve import Refusals
from trellis.evolution.nesting import Nesting
from trellis.evolution.observe import Observations
from trellis.schema.model import Schema
from trellis.schema.naming import Naming


@dataclass(frozen=True)
class Plan:
    """The schema of this moment and the decisions that go with it.

    `first_file` counts the files of the load that come before those of the plan. `digits` are what the
    destination keeps of times and decimals. With `whole` rows with types are taken as they are, and these are
    all the bookkeeping columns they get; `nesting` tells which of their columns may still be given a nested
    type, None that the destination keeps nested values as JSON. `staging` is a location that every worker
    reaches, `storage` how input and staging are opened. `sample` are lines that show what records look like,
    so that no task has to find out anew.
    """

    schema: Schema
    table: str
    dialect_name: str
    load_id: str
    staging: str
    refusals: Refusals = field(default_factory=Refusals)
    max_identifier: int | None = None
    now: datetime = field(default_factory=lambda: datetime.now(timezone.utc))
    first_file: int = 0
    digits: Digits = field(default_factory=Digits)
    whole: RowKeys | None = None
    nesting: Nesting | None = None
    storage: Storage = DEFAULT_STORAGE
    sample: tuple[bytes, ...] = ()

    @cached_property
    def dialect(self) -> Dialect:
        return get_dialect(self.dialect_name)

    @cached_property
    def naming(self) -> Naming:
        return self.dialect.naming.naming(self.schema, self.max_identifier)

    def transform(self) -> RecordTransform:
        """How its records become rows. Raises SchemaError."""
        full = {name for name, verdict in self.refusals.tables.items() if verdict == "overflow"}
        return self.dialect.routing.transform(self.schema, self.naming, self.now, full)

    def __getstate__(self) -> dict[str, Any]:
        return {each.name: getattr(self, each.name) for each in fields(self)}


class Peek(NamedTuple):
    """What the first records show that the schema has no place for, and some of their lines."""

    observed: Observations
    sample: tuple[bytes, ...] = ()


@dataclass(frozen=True)
class BlockRef:
    """A block, or some of its lines, to be read again once the schema has room for what is in them."""

    split: Split
    offset: int
    lines: tuple[int, ...] | None = None


def refs_by_offset(waiting: Iterable[object]) -> dict[int, tuple[int, ...] | None]:
    """The lines of each block of the one split of a source in memory."""
    return {ref.offset: ref.lines for ref in waiting if isinstance(ref, BlockRef)}


@dataclass
class Discard:
    """A value that has no place in the tables, kept with everything needed to bring it back."""

    table: str
    column: str
    path: str
    value: str
    line: int
    reason: str
    row: str | None = None


@dataclass
class Reject:
    """A line that is no record; `kind` is what it is counted under."""

    line: int
    text: bytes
    reason: str
    kind: str = ""


@dataclass
class Counts:
    """Root records: read = loaded + rejected + dropped."""

    read: int = 0
    loaded: int = 0
    rejected: int = 0
    dropped: int = 0

    def add(self, other: Counts) -> None:
        self.read += other.read
        self.loaded += other.loaded
        self.rejected += other.rejected
        self.dropped += other.dropped


Row = dict[str, Any]
