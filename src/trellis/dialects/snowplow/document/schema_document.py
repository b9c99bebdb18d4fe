"""Documents that describe themselves: a schema names its key, data names its schema."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from trellis.dialects.snowplow.identity.errors import IgluError
from trellis.dialects.snowplow.identity.keys import SchemaKey, SchemaVer

META_SCHEMA: Final = "http://iglucentral.com/schemas/com.snowplowanalytics.self-desc/schema/jsonschema/1-0-0#"
_PARTS: Final = ("vendor", "name", "format", "version")
HEADERS: Final = ("$schema", "self", "$supersededBy", "$supersedes")
"""What a document says about itself, beside the schema."""


@dataclass(frozen=True)
class SchemaDocument:
    """A schema of a registry. `body` is JSON Schema, draft 4, without the headers."""

    key: SchemaKey
    body: dict[str, Any]
    superseded_by: SchemaVer | None = None
    supersedes: tuple[SchemaVer, ...] = ()

    @staticmethod
    def parse(document: object) -> SchemaDocument:
        """Raises IgluError."""
        if not isinstance(document, dict):
            raise IgluError("INVALID_SCHEMA", "a schema is a JSON object")
        meta_schema = document.get("$schema")
        if not isinstance(meta_schema, str) or _canonical(meta_schema) != META_SCHEMA:
            raise IgluError(
                "INVALID_METASCHEMA",
                f"$schema is {meta_schema!r}; a schema of a registry has {META_SCHEMA!r}",
            )
        superseded_by = document.get("$supersededBy")
        supersedes = document.get("$supersedes", [])
        if not isinstance(supersedes, list):
            raise IgluError("INVALID_SCHEMA", "$supersedes is a list of versions such as ['1-0-0']")
        return SchemaDocument(
            _key_of(document.get("self")),
            body_of(document),
            None if superseded_by is None else _version(superseded_by, "$supersededBy"),
            tuple(_version(version, "$supersedes") for version in supersedes),
        )

    def to_dict(self) -> dict[str, Any]:
        """The document as a registry hands it out."""
        key = self.key
        parts = (key.vendor, key.name, key.format, str(key.version))
        headers: dict[str, Any] = {"$schema": META_SCHEMA, "self": dict(zip(_PARTS, parts, strict=True))}
        if self.superseded_by is not None:
            headers["$supersededBy"] = str(self.superseded_by)
        if self.supersedes:
            headers["$supersedes"] = [*map(str, self.supersedes)]
        return {**headers, **self.body}


class SelfDescribingData(NamedTuple):
    """A value, and the key of the schema that it follows."""

    key: SchemaKey
    data: Any

    @staticmethod
    def parse(document: object) -> SelfDescribingData:
        """Raises IgluError."""
        if not isinstance(document, dict) or "data" not in document or "schema" not in document:
            raise IgluError(
                "INVALID_DATA_PAYLOAD", 'data that describes itself is {"schema": "iglu:...", "data": ...}'
            )
        uri = document["schema"]
        if not isinstance(uri, str):
            raise IgluError("INVALID_DATA_PAYLOAD", "schema is the address of a schema, a text")
        return SelfDescribingData(SchemaKey.parse(uri), document["data"])


def body_of(document: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of a document that describes itself."""
    return {name: value for name, value in document.items() if name not in HEADERS}


def _canonical(meta_schema: str) -> str:
    return f"http://{meta_schema[8:]}" if meta_schema.startswith("https://") else meta_schema


def _key_of(parts: object) -> SchemaKey:
    """The key that `self` declares."""
    if not isinstance(parts, dict) or not all(isinstance(parts.get(part), str) for part in _PARTS):
        raise IgluError("INVALID_SCHEMA", f"self has the texts {', '.join(_PARTS)}")
    vendor, name, format, version = (parts[part] for part in _PARTS)
    schema_ver = _version(version, "self.version")
    try:
        return SchemaKey.parse(f"iglu:{vendor}/{name}/{format}/{schema_ver}")
    except IgluError as error:
        raise IgluError("INVALID_SCHEMA", f"self does not name a schema: {error}") from None


def _version(value: object, place: str) -> SchemaVer:
    try:
        return SchemaVer.parse(value if isinstance(value, str) else str(value))
    except IgluError as error:
        raise IgluError("INVALID_SCHEMA", f"{place}: {error}") from None
