"""Several registries, in the order that a resolver configuration gives them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeVar

from trellis.dialects.snowplow.client.cache import CachedRegistry
from trellis.dialects.snowplow.client.folder import FolderRegistry, read_document
from trellis.dialects.snowplow.client.http import HttpRegistry, checked_url
from trellis.dialects.snowplow.client.registry import Registry, RegistryUnavailable, SchemaNotFound
from trellis.dialects.snowplow.columns.overlay import Overlay
from trellis.dialects.snowplow.document.schema_document import SchemaDocument, SelfDescribingData
from trellis.dialects.snowplow.identity.errors import IgluError
from trellis.dialects.snowplow.identity.keys import Criterion, Family, SchemaKey
from trellis.errors import UsageError

T = TypeVar("T")
_CONFIGURATION: Final = Criterion(
    "com.snowplowanalytics.iglu", "resolver-config", "jsonschema", model=1, revision=0
)
_CLASSES: Final = ("embedded", "http")
"""Folders are asked before servers."""


@dataclass(frozen=True)
class Repository:
    """A registry of a configuration, and when it is asked."""

    registry: Registry
    connection: str
    priority: int
    vendor_prefixes: tuple[str, ...]

    def rank(self, vendor: str) -> tuple[bool, int, int]:
        is_of_vendor = any(vendor.startswith(prefix) for prefix in self.vendor_prefixes)
        return not is_of_vendor, _CLASSES.index(self.connection), self.priority


@dataclass(frozen=True)
class Resolver:
    """The first registry that lists a family answers for it, for its list and all its schemas.

    One that does not answer is passed over where another one has the family; where none has, the schema
    counts as unknown only if all of them answered.
    """

    file: str
    repositories: tuple[Repository, ...]
    _owners: dict[Family, Registry] = field(default_factory=dict, repr=False, compare=False)

    @staticmethod
    def read(file: Path) -> Resolver:
        """Raises SchemaError, UsageError."""
        try:
            configuration = SelfDescribingData.parse(read_document(file))
        except IgluError as error:
            raise UsageError(f"{file}: not a resolver configuration: {error}") from None
        if not _CONFIGURATION.matches(configuration.key):
            raise UsageError(
                f"{file}: {configuration.key} is no resolver configuration; expected "
                "iglu:com.snowplowanalytics.iglu/resolver-config/jsonschema/1-0-0 or later"
            )
        return _Parser(str(file), file.parent).resolver(configuration.data)

    @property
    def name(self) -> str:
        """The configuration, and the registries that it names."""
        names = ", ".join(repository.registry.name for repository in self.repositories)
        return f"{self.file} ({names})"

    def schema(self, key: SchemaKey) -> SchemaDocument:
        return self._owner_of(key).schema(key)

    def versions(self, family: Family) -> Sequence[SchemaKey]:
        if (owner := self._owners.get(family)) is not None:
            return owner.versions(family)

        def versions_of(registry: Registry) -> tuple[Registry, Sequence[SchemaKey]]:
            return registry, registry.versions(family)

        self._owners[family], keys = self._ask(family, versions_of)
        return keys

    def overlay(self, family: Family) -> Overlay | None:
        self.versions(family)
        return self._owners[family].overlay(family)

    def put_overlay(self, family: Family, overlay: Overlay) -> None:
        """Into the registry that has the family."""
        self.versions(family)
        self._owners[family].put_overlay(family, overlay)

    def list_keys(self, vendor: str = "", name: str = "") -> Sequence[SchemaKey]:
        owners: dict[Family, Registry] = {}
        return [
            key
            for registry in self._ordered(vendor)
            for key in registry.list_keys(vendor, name)
            if owners.setdefault(key.family, registry) is registry
        ]

    def _owner_of(self, key: SchemaKey) -> Registry:
        def check_list(registry: Registry) -> Registry:
            if key not in registry.versions(key.family):
                raise SchemaNotFound(f"{key}: not in the list of its family in {registry.name}")
            return registry

        if key.family not in self._owners:
            self._owners[key.family] = self._ask(key.family, check_list)
        return self._owners[key.family]

    def _ordered(self, vendor: str) -> list[Registry]:
        ordered = sorted(self.repositories, key=lambda repository: repository.rank(vendor))
        return [repository.registry for repository in ordered]

    def _ask(self, family: Family, ask: Callable[[Registry], T]) -> T:
        failures: list[SchemaNotFound | RegistryUnavailable] = []
        for registry in self._ordered(family.vendor):
            try:
                return ask(registry)
            except (SchemaNotFound, RegistryUnavailable) as failure:
                failures.append(failure)
        if unavailable := [error for error in failures if isinstance(error, RegistryUnavailable)]:
            raise unavailable[0]
        raise SchemaNotFound("; ".join(map(str, failures)))


@dataclass(frozen=True)
class _Parser:
    place: str
    folder: Path
    """Paths of folders in the configuration begin there."""

    def resolver(self, data: Any) -> Resolver:
        settings = self._object(data, "data")
        repositories = settings.get("repositories")
        if not isinstance(repositories, list) or not repositories:
            raise self._fault("data.repositories", "a list of at least one registry")
        ttl, size = (self._number(settings, name) for name in ("cacheTtl", "cacheSize"))
        parsed = tuple(
            self._repository(repository, f"data.repositories[{index}]", ttl, size)
            for index, repository in enumerate(repositories)
        )
        names = [repository.registry.name for repository in parsed]
        if len({*names}) < len(names):
            raise UsageError(f"{self.place}: two repositories have one name; expected a name for each")
        return Resolver(self.place, parsed)

    def _repository(self, value: Any, place: str, ttl: int | None, size: int | None) -> Repository:
        repository = self._object(value, place)
        name, priority = repository.get("name"), repository.get("priority")
        prefixes = repository.get("vendorPrefixes", [])
        if not isinstance(name, str):
            raise self._fault(f"{place}.name", "a text")
        if not isinstance(priority, int):
            raise self._fault(f"{place}.priority", "a whole number")
        if not isinstance(prefixes, list) or not all(isinstance(prefix, str) for prefix in prefixes):
            raise self._fault(f"{place}.vendorPrefixes", "a list of texts such as com.acme")
        connection, registry = self._registry(repository.get("connection"), f"{place}.connection", name)
        return Repository(CachedRegistry(registry, ttl, size), connection, priority, tuple(prefixes))

    def _registry(self, value: Any, place: str, name: str) -> tuple[str, Registry]:
        connection = self._object(value, place)
        if "http" in connection:
            settings = self._object(connection["http"], f"{place}.http")
            url, key = settings.get("uri"), settings.get("apikey")
            if not isinstance(url, str) or not isinstance(key, str | None):
                raise self._fault(f"{place}.http", "uri, and apikey where the registry needs one, as texts")
            return "http", HttpRegistry(checked_url(url), key, name, key_place=self.place)
        if "embedded" in connection:
            path = self._object(connection["embedded"], f"{place}.embedded").get("path")
            if not isinstance(path, str):
                raise self._fault(f"{place}.embedded.path", "the path of a folder")
            return "embedded", FolderRegistry.open(str(self.folder / path), label=name)
        raise self._fault(place, "http with uri, or embedded with path")

    def _number(self, settings: dict[str, Any], name: str) -> int | None:
        number = settings.get(name)
        if number is None or (isinstance(number, int) and not isinstance(number, bool) and number >= 0):
            return number
        raise self._fault(f"data.{name}", "a whole number from 0")

    def _object(self, value: Any, place: str) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise self._fault(place, "an object")
        return value

    def _fault(self, place: str, expected: str) -> UsageError:
        return UsageError(f"{self.place}: {place} is missing or wrong; expected {expected}")
