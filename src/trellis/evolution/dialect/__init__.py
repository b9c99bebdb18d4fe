"""The seam between the engine and a schema language.

The engine knows no dialect by name. A `Dialect` says what it is like in one value, its `capabilities`, and
takes its decisions through small interfaces, one a module of this package. `defaults` answers all of them, so
that a dialect writes down only what it does otherwise.
"""

from __future__ import annotations

from typing import Protocol

from trellis.evolution.dialect.capabilities import Capabilities
from trellis.evolution.dialect.dead_letters import DeadLetterPolicy
from trellis.evolution.dialect.metadata import MetadataStore
from trellis.evolution.dialect.nesting import NestingRules
from trellis.evolution.dialect.schemas import NamingRules, SchemaStore
from trellis.evolution.dialect.system_columns import SystemColumns
from trellis.evolution.dialect.tables import TableRules
from trellis.evolution.dialect.transforms import Routing
from trellis.evolution.dialect.types import TypeRules
from trellis.evolution.dialect.writes import WritePolicy


class Dialect(Protocol):
    """One schema language."""

    @property
    def name(self) -> str: ...

    @property
    def capabilities(self) -> Capabilities: ...

    @property
    def routing(self) -> Routing:
        """How a record becomes rows, and of which tables."""
        ...

    @property
    def nesting(self) -> NestingRules:
        """How nested values become columns and child tables."""
        ...

    @property
    def naming(self) -> NamingRules:
        """How a key becomes an identifier."""
        ...

    @property
    def types(self) -> TypeRules:
        """Which type a first value gives its column, and where a value goes that does not fit."""
        ...

    @property
    def schemas(self) -> SchemaStore:
        """How schemas are made, read and taken over."""
        ...

    @property
    def tables(self) -> TableRules:
        """What a load adds to the description of its tables."""
        ...

    @property
    def system_columns(self) -> SystemColumns:
        """The columns that are not in the records, and how rows are identified."""
        ...

    @property
    def writes(self) -> WritePolicy:
        """How staged rows go into the destination."""
        ...

    @property
    def dead_letters(self) -> DeadLetterPolicy:
        """Where values go that no column takes."""
        ...

    @property
    def metadata(self) -> MetadataStore:
        """The tables of versions, loads and states."""
        ...
