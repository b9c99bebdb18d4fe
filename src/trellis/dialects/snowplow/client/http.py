"""A registry behind a URL: a server, or a static site with the files of one."""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from http.client import HTTPException
from itertools import count, takewhile
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from trellis.dialects.snowplow.client.registry import RegistryUnavailable, SchemaNotFound
from trellis.dialects.snowplow.columns.overlay import Overlay
from trellis.dialects.snowplow.document.json_text import read_json
from trellis.dialects.snowplow.document.schema_document import SchemaDocument
from trellis.dialects.snowplow.identity.errors import IgluError
from trellis.dialects.snowplow.identity.keys import Family, SchemaKey, SchemaVer
from trellis.dialects.snowplow.registry.store.schema_store import StoredSchema
from trellis.dialects.snowplow.versions.order import is_unambiguous, order_by_number
from trellis.errors import SchemaError, UsageError

TIMEOUT: Final = 30.0
PAUSES: Final = (0.2, 1.0, 3.0)
"""Seconds before a request that had no answer is repeated."""
NOT_FOUND: Final = 404
_MOST_SHOWN: Final = 40
"""Bytes of an answer that a sentence shows."""


class Answer(NamedTuple):
    status: int
    body: bytes

    @property
    def ok(self) -> bool:
        return 200 <= self.status < 300

    def json_object(self) -> dict[str, Any]:
        """The fields of the body; none where it is no JSON object."""
        try:
            fields = read_json(self.body)
        except (ValueError, RecursionError):
            return {}
        return fields if isinstance(fields, dict) else {}


@dataclass(frozen=True)
class HttpRegistry:
    """`base` is what `/schemas/...` follows: that of a server ends with `/api`."""

    base: str
    key: str | None = field(default=None, repr=False)
    """Sent as the header `apikey`, to this host alone."""
    label: str = ""
    assume_order: bool = False
    timeout: float = TIMEOUT
    key_place: str = "TRELLIS_REGISTRY_KEY"
    """Where sentences say that the key is."""
    wait: Callable[[float], None] = field(default=time.sleep, repr=False, compare=False)

    @staticmethod
    def open(
        url: str,
        key: str | None = None,
        *,
        assume_order: bool = False,
        key_place: str = "TRELLIS_REGISTRY_KEY",
    ) -> HttpRegistry:
        """The server at a URL with or without `/api`, or the static registry there. Raises UsageError."""
        registry = HttpRegistry(checked_url(url), key, assume_order=assume_order, key_place=key_place)
        if registry.base.endswith("/api"):
            return registry
        server = replace(registry, base=f"{registry.base}/api")
        return server if server.send("GET", "/meta/health").ok else registry

    @property
    def name(self) -> str:
        return self.label or self.base

    def schema(self, key: SchemaKey) -> SchemaDocument:
        path = f"/schemas/{key.vendor}/{key.name}/{key.format}/{key.version}"
        document = self._get(path)
        if document is None:
            raise SchemaNotFound(f"{key}: not found in {self.name}")
        try:
            schema = SchemaDocument.parse(document)
        except IgluError as error:
            raise SchemaError(f"{self.base}{path}: {error}") from None
        if schema.key != key:
            raise SchemaError(f"{self.base}{path}: self says {schema.key}; correct it, or its place")
        return schema

    def stored(self, key: SchemaKey) -> StoredSchema:
        """A schema of a server with its times. Raises SchemaNotFound."""
        document = self._get(f"/schemas/{key.vendor}/{key.name}/{key.format}/{key.version}?repr=meta")
        if document is None:
            raise SchemaNotFound(f"{key}: not found in {self.name}")
        metadata = document.pop("metadata", None) if isinstance(document, dict) else None
        if not isinstance(metadata, dict):
            raise UsageError(f"{self.name} is a static registry, without times; its files can be copied")
        try:
            schema = SchemaDocument.parse(document)
            created_at, updated_at = str(metadata["createdAt"]), str(metadata["updatedAt"])
            return StoredSchema(schema, bool(metadata["isPublic"]), created_at, updated_at)
        except (IgluError, KeyError) as error:
            raise SchemaError(f"{key} of {self.name} is not stored as a registry does it: {error}") from None

    def versions(self, family: Family) -> Sequence[SchemaKey]:
        keys: Sequence[SchemaKey] | None = self._list(f"/schemas/{family}")
        if keys is None:
            keys = self._probe(family)
        if not keys:
            raise SchemaNotFound(f"{family}: no versions in {self.name}")
        if strangers := [str(key) for key in keys if key.family != family]:
            raise SchemaError(
                f"{self.base}/schemas/{family}: lists {', '.join(strangers)}; expected versions of {family}"
            )
        return keys

    def overlay(self, family: Family) -> Overlay | None:
        document = self._get(f"/schemas/{family}/overlay")
        return None if document is None else Overlay.parse(document)

    def put_overlay(self, family: Family, overlay: Overlay) -> None:
        """Raises SchemaError where the registry refuses it."""
        body = json.dumps(overlay.to_dict()).encode()
        answer = self.send("PUT", f"/schemas/{family}/overlay", body)
        if not answer.ok:
            reason = answer.json_object().get("message", f"HTTP {answer.status}")
            raise SchemaError(f"{self.name} refuses the overlay of {family}: {reason}")

    def list_keys(self, vendor: str = "", name: str = "") -> Sequence[SchemaKey]:
        keys = self._list("/".join(filter(None, ("/schemas", vendor, name))))
        if keys is None and name:
            families = (Family(vendor, name, "jsonschema", model) for model in count(1))
            return [key for keys in takewhile(bool, map(self._probe, families)) for key in keys]
        if keys is None and not vendor:
            raise UsageError(f"{self.name} has no list of its schemas; name one, such as com.acme/event")
        return keys or []

    def guarded_profiles(self) -> Sequence[str]:
        """The warehouses whose tables count where a version is published; none where that is not known."""
        settings = self._get("/meta/server")
        profiles = settings.get("profiles") if isinstance(settings, dict) else None
        return [*map(str, profiles)] if isinstance(profiles, list) else []

    def send(self, method: str, path: str, body: bytes | None = None) -> Answer:
        """Any answer but one that says that the registry is busy. A GET is repeated where none came.

        Raises RegistryUnavailable.
        """
        for pause in PAUSES if method == "GET" else ():
            try:
                return self._send_once(method, path, body)
            except RegistryUnavailable as error:
                if _is_timeout(error.__cause__):
                    warnings.warn(
                        f"registry {self.name} does not answer within {self.timeout:g} s; asking it again",
                        stacklevel=2,
                    )
                self.wait(pause)
        return self._send_once(method, path, body)

    def _send_once(self, method: str, path: str, body: bytes | None) -> Answer:
        headers = {"Accept": "application/json", **({"apikey": self.key} if self.key else {})}
        if body is not None:
            headers["Content-Type"] = "application/json"
        request = urllib.request.Request(self.base + path, body, headers, method=method)
        try:
            with _OPENER.open(request, timeout=self.timeout) as response:
                answer = Answer(response.status, response.read())
                location = response.headers.get("Location")
        except urllib.error.URLError as error:
            raise self._unavailable(error.reason) from error
        except (OSError, HTTPException) as error:
            raise self._unavailable(error) from error
        if 300 <= answer.status < 400:
            raise RegistryUnavailable(f"registry {self.name}: redirects to {location}; use that URL")
        if answer.status >= 500 or answer.status == 429:
            raise self._unavailable(f"HTTP {answer.status}")
        return answer

    def _get(self, path: str) -> Any:
        """The JSON of a path, None where there is nothing."""
        answer = self.send("GET", path)
        if answer.status == NOT_FOUND:
            return None
        if not answer.ok:
            hint = f"; check the key in {self.key_place}" if answer.status in (400, 401, 403) else ""
            raise RegistryUnavailable(f"registry {self.name}: {path} answers HTTP {answer.status}{hint}")
        try:
            return read_json(answer.body)
        except (ValueError, RecursionError):
            beginning = answer.body[:_MOST_SHOWN].decode(errors="replace")
            raise RegistryUnavailable(
                f"registry {self.name}: {path} answers {beginning!r}, which is not JSON; expected the URL of "
                "an Iglu server or of a static registry"
            ) from None

    def _list(self, path: str) -> list[SchemaKey] | None:
        uris = self._get(path)
        if uris is None:
            return None
        if not isinstance(uris, list) or not all(isinstance(uri, str) for uri in uris):
            raise RegistryUnavailable(f"registry {self.name}: {path} answers no list of addresses")
        try:
            return [SchemaKey.parse(uri) for uri in uris]
        except IgluError as error:
            raise SchemaError(f"{self.base}{path}: {error}") from None

    def _probe(self, family: Family) -> Sequence[SchemaKey]:
        """The versions of a static registry that has no list: none is missing, so each leads to the next."""
        versions = [*self._existing(family)]
        ordered = order_by_number(str(family), versions, assume=self.assume_order)
        if not is_unambiguous(versions):
            warn_of_order(family)
        return [SchemaKey(family.vendor, family.name, family.format, version) for version in ordered]

    def _existing(self, family: Family) -> Iterator[SchemaVer]:
        for revision in count():
            for addition in count():
                version = SchemaVer(family.model, revision, addition)
                try:
                    self.schema(SchemaKey(family.vendor, family.name, family.format, version))
                except SchemaNotFound:
                    break
                yield version
            if addition == 0:
                return

    def _unavailable(self, reason: object) -> RegistryUnavailable:
        return RegistryUnavailable(
            f"registry {self.name} does not answer ({reason}); nothing was decided about its schemas: check "
            "its URL, and try again"
        )


def checked_url(url: str) -> str:
    """Raises UsageError."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise UsageError(f"{url!r} is not the URL of a registry: expected one such as http://127.0.0.1:8081")
    return url.rstrip("/")


def warn_of_order(family: Family) -> None:
    """Say that an order is the user's assumption."""
    warnings.warn(
        f"{family}: versions are sorted by number, which need not be the order of their creation",
        stacklevel=2,
    )


def _is_timeout(error: object) -> bool:
    return isinstance(error, TimeoutError) or isinstance(getattr(error, "reason", None), TimeoutError)


class _AnyStatus(urllib.request.HTTPErrorProcessor):
    """Any status is an answer. No redirect is followed, so the key is sent to one host only."""

    def http_response(self, request: Any, response: Any) -> Any:
        return response

    https_response = http_response


_OPENER: Final = urllib.request.build_opener(_AnyStatus)
