"""What a reader asks of a registry, and how it answers that it has nothing or cannot be reached."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from trellis.dialects.snowplow.columns.overlay import Overlay
from trellis.dialects.snowplow.document.schema_document import SchemaDocument
from trellis.dialects.snowplow.identity.keys import Family, SchemaKey
from trellis.errors import SchemaError, SourceError


class SchemaNotFound(SchemaError):
    """The registry answered that it has no such schema, or none that the key may read."""


class RegistryUnavailable(SourceError):
    """The registry did not answer, or not as one: nothing is known about its schemas."""


class Registry(Protocol):
    """Schemas by key, and the versions of a family in the order of their creation.

    Every method raises RegistryUnavailable, and SchemaError for what is stored wrong.
    """

    @property
    def name(self) -> str:
        """What error sentences call it."""

    def schema(self, key: SchemaKey) -> SchemaDocument:
        """Raises SchemaNotFound."""

    def versions(self, family: Family) -> Sequence[SchemaKey]:
        """The versions of a family in the order of their creation, at least one. Raises SchemaNotFound."""

    def overlay(self, family: Family) -> Overlay | None:
        """How the table of a family differs from what its schemas say."""

    def put_overlay(self, family: Family, overlay: Overlay) -> None:
        """In place of the one before. Raises SchemaError where the registry takes none."""

    def list_keys(self, vendor: str = "", name: str = "") -> Sequence[SchemaKey]:
        """All that can be read, or those of a vendor and name; none where there are none.

        Raises UsageError where a registry has no list of all.
        """
