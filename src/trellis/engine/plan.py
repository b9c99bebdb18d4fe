"""What a task must know to turn blocks into rows. It is picklable and the same for every task of a load."""

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
from trellis.evolution.nested_types import Nesting
from trellis.evolution.observe import Observations
from trellis.schema.model import Schema
from trellis.schema.naming import Naming


@dataclass(frozen=True)
class Plan:
    """The current schema of a load and the settings of its tasks.

    `first_file` is the number of the plan's first file among all files of the load. `digits` are the digits
    that the destination keeps of times and decimals. `preserved_keys` are the only system columns of rows
    that keep their types; None: rows do not. `nesting` says which columns may still be given a nested type;
    None: the destination keeps nested values as JSON. Every worker can reach the location `staging`;
    `storage` opens input and staging. `sample` are lines that show what the records look like, so that no
    task starts blind. `quarantines`: a row that a frozen contract refuses is left out.
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
    preserved_keys: RowKeys | None = None
    nesting: Nesting | None = None
    storage: Storage = DEFAULT_STORAGE
    sample: tuple[bytes, ...] = ()
    quarantines: bool = False

    @cached_property
    def dialect(self) -> Dialect:
        return get_dialect(self.dialect_name)

    @cached_property
    def naming(self) -> Naming:
        return self.dialect.naming.naming(self.schema, self.max_identifier)

    def transform(self) -> RecordTransform:
        """How the records of the load become rows. Raises SchemaError."""
        full_tables = {name for name, verdict in self.refusals.tables.items() if verdict == "overflow"}
        return self.dialect.routing.transform(self.schema, self.naming, self.now, full_tables)

    def __getstate__(self) -> dict[str, Any]:
        return {item.name: getattr(self, item.name) for item in fields(self)}


class Peek(NamedTuple):
    """What the first records hold that the schema lacks, and some of their lines."""

    observed: Observations
    sample: tuple[bytes, ...] = ()


@dataclass(frozen=True)
class BlockRef:
    """A block, or some of its lines, to be read again once the schema has grown."""

    split: Split
    offset: int
    lines: tuple[int, ...] | None = None


def lines_by_offset(waiting: Iterable[object]) -> dict[int, tuple[int, ...] | None]:
    """The lines of each block of the one split of a source in memory."""
    return {ref.offset: ref.lines for ref in waiting if isinstance(ref, BlockRef)}


@dataclass
class Discard:
    """A value that no column takes, kept with everything needed to bring it back.

    `is_truncated`: its column holds what is left of it.
    """

    table: str
    column: str
    path: str
    value: str
    line: int
    reason: str
    row: str | None = None
    is_truncated: bool = False


@dataclass
class Reject:
    """A line that is no record; `kind` is the reason it is counted under."""

    line: int
    text: bytes
    reason: str
    kind: str = ""


@dataclass
class Counts:
    """Root records: read = loaded + rejected + dropped + failed.

    A record has failed if a table did that it has a row in.
    """

    read: int = 0
    loaded: int = 0
    rejected: int = 0
    dropped: int = 0
    failed: int = 0

    def add(self, other: Counts) -> None:
        self.read += other.read
        self.loaded += other.loaded
        self.rejected += other.rejected
        self.dropped += other.dropped
        self.failed += other.failed


Row = dict[str, Any]
