"""What a registry shows besides its schemas: a warehouse that they have tables in, and the next registry."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from trellis.dialects.snowplow.document.schema_document import SchemaDocument
from trellis.dialects.snowplow.identity.keys import SchemaKey


class TableLine(Protocol):
    """A table beside its schemas."""

    @property
    def table(self) -> str: ...

    @property
    def state(self) -> str: ...

    @property
    def version(self) -> str:
        """The last schema that it holds; empty where that is not known."""

    @property
    def last(self) -> str:
        """The last schema that the registry has for it."""

    @property
    def reasons(self) -> Sequence[str]:
        """How it differs from what its schemas say."""


@dataclass(frozen=True)
class FailureGroup:
    """Failed events of one reason at one place of one schema."""

    reason: str
    schema: str | None
    pointer: str | None
    count: int
    example: str
    """The message of one of them."""


class Warehouse(Protocol):
    """A dataset into which runs are loaded. Methods raise DestinationError."""

    @property
    def shown(self) -> str:
        """What pages call it."""

    def tables(self) -> Sequence[TableLine]: ...

    def failures(self) -> Sequence[FailureGroup]:
        """The events that failed and are not replayed, the most first."""


@dataclass(frozen=True)
class Promotion:
    """What the next registry answered for one version."""

    key: SchemaKey
    outcome: str
    message: str


class NextRegistry(Protocol):
    """The registry that schemas go on to, such as that of production."""

    @property
    def name(self) -> str: ...

    def promote(self, documents: Sequence[SchemaDocument], key: str, *, public: bool) -> Iterator[Promotion]:
        """Publish versions in their order with a key of that registry, until one is refused.

        Raises UsageError, RegistryUnavailable.
        """
