"""What the HTTP API and the pages share: the store, its rules, and answers that are kept until it changes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Final, Literal, TypeVar, cast
from uuid import UUID

from trellis.dialects.snowplow.columns.overlay import Overlay
from trellis.dialects.snowplow.document.schema_document import SelfDescribingData
from trellis.dialects.snowplow.document.validation import SchemaValidator
from trellis.dialects.snowplow.identity.errors import IgluError
from trellis.dialects.snowplow.identity.keys import Family, SchemaKey, SchemaVer
from trellis.dialects.snowplow.registry.publishing import Publisher
from trellis.dialects.snowplow.registry.refusals import Refusal, schema_not_found
from trellis.dialects.snowplow.registry.settings import ServerSettings
from trellis.dialects.snowplow.registry.store.permissions import ANONYMOUS, Permission
from trellis.dialects.snowplow.registry.store.schema_store import SchemaStore, StoredSchema
from trellis.errors import SchemaError

Representation = Literal["uri", "canonical", "meta"]
KEPT_ANSWERS: Final = 5_000

T = TypeVar("T")


@dataclass
class AnswerCache:
    """Answers of one revision of the store, which another process may change, too."""

    revision: int = -1
    _answers: OrderedDict[Any, Any] = field(default_factory=OrderedDict)
    _lock: Lock = field(default_factory=Lock)

    def get(self, revision: int, key: Any, make: Callable[[], T]) -> T:
        with self._lock:
            if revision != self.revision:
                self._answers.clear()
                self.revision = revision
            if key in self._answers:
                self._answers.move_to_end(key)
                return cast(T, self._answers[key])
        answer = make()
        with self._lock:
            if revision == self.revision:
                self._answers[key] = answer
                if len(self._answers) > KEPT_ANSWERS:
                    self._answers.popitem(last=False)
        return answer


class RegistryService:
    """A registry as the holder of a key sees it. Every method raises Refusal and StoreUnavailable."""

    def __init__(self, store: SchemaStore, settings: ServerSettings) -> None:
        self.store = store
        self.settings = settings
        self.publisher = Publisher(store, settings.kinds, settings.succession)
        self.is_terminating: Callable[[], bool] = lambda: False
        self._cache = AnswerCache()

    def cached(self, key: Any, make: Callable[[], T]) -> T:
        """What `make` gives for this key, made again only after something was published."""
        return self._cache.get(self.store.revision(), key, make)

    def permission(self, apikey: str | None) -> Permission:
        """What a key may do; nothing where there is none, or none such."""
        if apikey is None:
            return ANONYMOUS
        try:
            key = UUID(apikey)
        except ValueError:
            raise Refusal(400, "Invalid UUID for ApiKey") from None
        return self.cached(("permission", key), lambda: self.store.permission(key))

    def list_schemas(
        self,
        permission: Permission,
        vendor: str = "",
        name: str = "",
        format: str = "",
        model: int = 0,
        representation: Representation = "uri",
    ) -> Sequence[object]:
        """Those that the key may read, in the order of creation."""
        listed = [
            schema.uri
            for schema in self.store.list_schemas(vendor, name, format, model)
            if schema.is_public or permission.allows("READ", schema.vendor)
        ]
        if representation == "uri":
            return listed
        readable = {*listed}
        return [
            represent(schema, representation)
            for schema in self.store.all_schemas()
            if str(schema.key) in readable
        ]

    def schema(self, permission: Permission, key: SchemaKey) -> StoredSchema:
        schema = self.store.find_schema(key)
        if schema is None or not (schema.is_public or permission.allows("READ", key.vendor)):
            raise schema_not_found()
        return schema

    def family(self, permission: Permission, family: Family) -> list[StoredSchema]:
        """The versions of a family in the order of creation, at least one."""
        schemas = [
            schema
            for schema in self.store.family(family)
            if schema.is_public or permission.allows("READ", family.vendor)
        ]
        if not schemas:
            raise schema_not_found()
        return schemas

    def overlays(self, family: Family) -> dict[Family, Overlay]:
        """That of a family, if it has one."""
        overlay = self.store.overlay(family)
        return {family: overlay} if overlay else {}

    def validate_instance(self, permission: Permission, document: object) -> list[dict[str, Any]]:
        """What a schema of the registry refuses of data that describes itself."""
        try:
            data = SelfDescribingData.parse(document)
        except IgluError as error:
            raise Refusal(400, f"The data does not describe itself: {error}") from None
        schema = self.schema(permission, data.key)
        try:
            validator = self.cached(("validator", data.key), lambda: SchemaValidator(schema.document.body))
        except SchemaError as error:
            raise Refusal(500, f"The schema {data.key} cannot validate anything: {error}") from None
        return [
            {
                "message": violation.message,
                "path": violation.pointer or "/",
                "keyword": violation.keyword,
                "targets": [],
            }
            for violation in validator.violations(data.data)
        ]


def represent(schema: StoredSchema, representation: Representation) -> object:
    if representation == "uri":
        return str(schema.key)
    document = schema.document.to_dict()
    if representation == "meta":
        document["metadata"] = {
            "createdAt": schema.created_at,
            "updatedAt": schema.updated_at,
            "isPublic": schema.is_public,
        }
    return document


def parse_representation(text: str | None, default: Representation) -> Representation:
    if text is None:
        return default
    if text not in ("uri", "canonical", "meta"):
        raise Refusal(400, f"unknown repr {text!r}; expected uri, canonical or meta")
    return cast(Representation, text)


def parse_family(vendor: str, name: str, format: str, model: str) -> Family:
    version = SchemaVer.parse(f"{model}-0-0")
    return Family(vendor, name, format, version.model)
