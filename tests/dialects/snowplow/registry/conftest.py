"""A registry in a store of each kind, and its API."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from destinations.postgres_server import Server, database, postgres, private_postgres
from dialects.snowplow.conftest import folder, schemas, trellis
from dialects.snowplow.families import object_schema, text
from trellis.dialects.snowplow.document.schema_document import META_SCHEMA
from trellis.dialects.snowplow.registry.http.app import make_app
from trellis.dialects.snowplow.registry.service import RegistryService
from trellis.dialects.snowplow.registry.settings import ServerSettings
from trellis.dialects.snowplow.registry.store.permissions import Permission, super_permission
from trellis.dialects.snowplow.registry.store.schema_store import SchemaStore

__all__ = ["database", "folder", "postgres", "private_postgres", "schemas", "trellis"]

NAME = "/api/schemas/org.harbor/vessel_call/jsonschema"


@pytest.fixture(params=["sqlite", "postgresql"])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "postgresql":
        server: Server = request.getfixturevalue("postgres")
        return server.url(request.getfixturevalue("database"))
    return f"sqlite:{tmp_path}/registry.db"


@dataclass
class Api:
    """The API of a registry, as the holder of the super key calls it."""

    store: SchemaStore
    settings: ServerSettings = field(default_factory=ServerSettings)

    def __post_init__(self) -> None:
        self.service = RegistryService(self.store, self.settings)
        self.client = TestClient(make_app(self.service))
        (self.super_key,) = map(str, self.store.add_keys([super_permission()]))

    def key(self, vendor: str, action: Any = "READ") -> str:
        (key,) = self.store.add_keys([Permission(vendor, action)])
        return str(key)

    def call(self, method: str, path: str, body: Any = None, *, key: str | None = "super") -> Any:
        """The answer; `key` None is nobody's."""
        headers = {} if key is None else {"apikey": self.super_key if key == "super" else key}
        content = body if isinstance(body, bytes | None) else None
        json = None if isinstance(body, bytes | None) else body
        return self.client.request(method, path, json=json, content=content, headers=headers)

    def get(self, path: str, *, key: str | None = "super") -> Any:
        return self.call("GET", path, key=key)

    def publish(self, version: str, *, public: bool = False, **parts: Any) -> Any:
        path = f"/api/schemas?isPublic={'true' if public else 'false'}"
        return self.call("POST", path, document(version, **parts))

    def publish_all(self, versions: str, **parts: Any) -> None:
        for version in versions.split():
            answer = self.publish(version, **parts)
            assert answer.status_code == 201, answer.text


def document(version: str, name: str = "vessel_call", vendor: str = "org.harbor", **body: Any) -> Any:
    """A schema that describes itself; versions differ in nothing else unless `properties` is given."""
    parts = {"vendor": vendor, "name": name, "format": "jsonschema", "version": version}
    headers = {"$schema": META_SCHEMA, "self": parts}
    return {**headers, **(body or object_schema({"berth": text(12)}))}


def properties(**nodes: Any) -> Any:
    """The body of a closed object."""
    return object_schema(nodes)


@pytest.fixture
def make_api(store_url: str) -> Callable[..., Api]:
    def make(settings: ServerSettings | None = None) -> Api:
        return Api(SchemaStore.open(store_url), settings or ServerSettings())

    return make


@pytest.fixture
def api(make_api: Callable[..., Api]) -> Iterator[Api]:
    yield make_api()
