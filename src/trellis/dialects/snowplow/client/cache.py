"""A registry that is asked once for each list and each version."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar, cast

from trellis.dialects.snowplow.client.registry import Registry, RegistryUnavailable, SchemaNotFound
from trellis.dialects.snowplow.columns.overlay import Overlay
from trellis.dialects.snowplow.document.schema_document import SchemaDocument
from trellis.dialects.snowplow.identity.keys import Family, SchemaKey

NOT_FOUND_PAUSE: Final = 60.0
FAILURE_PAUSE: Final = 1.0
LONGEST_PAUSE: Final = 3600.0
"""Seconds. What failed is asked for again after the first of these, then after twice as long each time."""

T = TypeVar("T")
Failure = SchemaNotFound | RegistryUnavailable


@dataclass
class _Entry:
    """An answer. `value` stays once there was one, whatever happens later."""

    value: Any = None
    failure: Failure | None = None
    attempts: int = 0
    """Failures in a row."""
    asked_at: float = 0.0

    def is_current(self, now: float, ttl: float | None) -> bool:
        if self.failure is None:
            return ttl is None or now - self.asked_at < ttl
        pause = NOT_FOUND_PAUSE if isinstance(self.failure, SchemaNotFound) else FAILURE_PAUSE
        return now - self.asked_at < min(pause * 2.0 ** min(self.attempts - 1, 20), LONGEST_PAUSE)


@dataclass
class CachedRegistry:
    """`ttl` is how many seconds an answer counts, None as long as this value lives."""

    registry: Registry
    ttl: float | None = None
    size: int | None = None
    """How many answers are kept, None all."""
    clock: Callable[[], float] = time.monotonic
    _entries: OrderedDict[Family | SchemaKey, _Entry] = field(default_factory=OrderedDict, repr=False)

    @property
    def name(self) -> str:
        return self.registry.name

    def schema(self, key: SchemaKey) -> SchemaDocument:
        return self._get(key, self.registry.schema)

    def versions(self, family: Family) -> Sequence[SchemaKey]:
        return self._get(family, self.registry.versions)

    def overlay(self, family: Family) -> Overlay | None:
        return self.registry.overlay(family)

    def put_overlay(self, family: Family, overlay: Overlay) -> None:
        self.registry.put_overlay(family, overlay)

    def list_keys(self, vendor: str = "", name: str = "") -> Sequence[SchemaKey]:
        return self.registry.list_keys(vendor, name)

    def _get(self, key: Any, fetch: Callable[[Any], T]) -> T:
        entry = self._entries.pop(key, None)
        if entry is None or not entry.is_current(self.clock(), self.ttl):
            entry = self._fetch(entry or _Entry(), key, fetch)
        self._entries[key] = entry
        if self.size is not None and len(self._entries) > self.size:
            self._entries.popitem(last=False)
        if entry.value is None:
            assert entry.failure is not None
            raise entry.failure
        return cast(T, entry.value)

    def _fetch(self, entry: _Entry, key: Any, fetch: Callable[[Any], T]) -> _Entry:
        try:
            value = fetch(key)
        except (SchemaNotFound, RegistryUnavailable) as failure:
            return _Entry(entry.value, failure, entry.attempts + 1, self.clock())
        return _Entry(value, asked_at=self.clock())
