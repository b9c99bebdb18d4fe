"""The schemas that a user names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trellis.dialects.snowplow.client.registry import Registry
from trellis.dialects.snowplow.document.schema_document import SchemaDocument
from trellis.dialects.snowplow.identity.errors import IgluError
from trellis.dialects.snowplow.identity.keys import Family, SchemaVer
from trellis.dialects.snowplow.versions.order import up_to
from trellis.errors import UsageError, nearest


@dataclass(frozen=True)
class Selection:
    """VENDOR/NAME, with a version all of its model up to it; without any all schemas."""

    vendor: str = ""
    name: str = ""
    version: SchemaVer | None = None

    @staticmethod
    def parse(text: str) -> Selection:
        """Raises UsageError."""
        parts = text.removeprefix("iglu:").split("/")
        if len(parts) == 4:
            parts.pop(2)
        if len(parts) not in (2, 3) or not all(parts):
            raise UsageError(f"{text!r} names no schemas: expected com.acme/event or com.acme/event/1-0-0")
        return Selection(parts[0], parts[1], parse_version(parts[2]) if parts[2:] else None)

    def read(self, registry: Registry) -> dict[Family, Sequence[SchemaDocument]]:
        """The schemas of each family in the order of their creation.

        Raises SchemaError, UsageError, RegistryUnavailable.
        """
        families = sorted({key.family for key in registry.list_keys(self.vendor, self.name)})
        return {
            family: up_to(self.version, [registry.schema(key) for key in registry.versions(family)])
            for family in families
            if self.version is None or self.version.model == family.model
        }

    def unknown(self, registry: Registry) -> UsageError:
        """That there is no such schema."""
        names = {f"{key.vendor}/{key.name}" for key in registry.list_keys()}
        name = f"{self.vendor}/{self.name}"
        return UsageError(f"{registry.name} has no schema {name}{nearest(name, sorted(names - {name}))}")


def parse_version(text: str) -> SchemaVer:
    """The version of an option. Raises UsageError."""
    try:
        return SchemaVer.parse(text)
    except IgluError as error:
        raise UsageError(str(error)) from None
