"""The store of a registry, read without its server. All of its schemas can be read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from trellis.dialects.snowplow.client.registry import RegistryUnavailable, SchemaNotFound
from trellis.dialects.snowplow.columns.overlay import Overlay
from trellis.dialects.snowplow.document.schema_document import SchemaDocument
from trellis.dialects.snowplow.identity.keys import Family, SchemaKey
from trellis.dialects.snowplow.registry.store.database import StoreUnavailable, redact
from trellis.dialects.snowplow.registry.store.schema_store import SchemaStore, StoredSchema
from trellis.errors import UsageError


@dataclass(frozen=True)
class StoreRegistry:
    """What a server with this store would hand out to a key that may read everything."""

    name: str
    store: SchemaStore

    @staticmethod
    def open(url: str, *, create: bool = False) -> StoreRegistry:
        """`create`: a file that is not there is made. Raises UsageError, RegistryUnavailable."""
        file = url.removeprefix("sqlite:")
        if file != url and not create and not Path(file).is_file():
            raise UsageError(
                f"{url}: there is no such file; name the store of a registry, which `trellis registry serve "
                "--store` makes"
            )
        with _answering():
            return StoreRegistry(redact(url), SchemaStore.open(url))

    def schema(self, key: SchemaKey) -> SchemaDocument:
        return self.stored(key).document

    def stored(self, key: SchemaKey) -> StoredSchema:
        """Raises SchemaNotFound."""
        with _answering():
            schema = self.store.find_schema(key)
        if schema is None:
            raise SchemaNotFound(f"{key}: not found in {self.name}")
        return schema

    def versions(self, family: Family) -> Sequence[SchemaKey]:
        with _answering():
            schemas = self.store.list_schemas(family.vendor, family.name, family.format, family.model)
        if not schemas:
            raise SchemaNotFound(f"{family}: no versions in {self.name}")
        return [SchemaKey.parse(schema.uri) for schema in schemas]

    def overlay(self, family: Family) -> Overlay | None:
        with _answering():
            return self.store.overlay(family)

    def put_overlay(self, family: Family, overlay: Overlay) -> None:
        with _answering():
            self.store.put_overlay(family, overlay)

    def list_keys(self, vendor: str = "", name: str = "") -> Sequence[SchemaKey]:
        with _answering():
            return [SchemaKey.parse(schema.uri) for schema in self.store.list_schemas(vendor, name)]


@contextmanager
def _answering() -> Iterator[None]:
    try:
        yield
    except StoreUnavailable as error:
        raise RegistryUnavailable(f"registry {error}") from error
