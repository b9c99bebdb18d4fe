"""A table config with its schema, as the rules look at it, and what a rule is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from trellis.dialects.pinot.document.defaults import literal_text
from trellis.dialects.pinot.document.faults import Fault, pointer
from trellis.dialects.pinot.document.fields import FieldSpec, PinotSchema, columns
from trellis.dialects.pinot.table.known_keys import values_at

UPSERT: Final = "/upsertConfig"
DEDUP: Final = "/dedupConfig"
FIELDS: Final = "/fieldConfigList/*"
PARTITIONS: Final = "/tableIndexConfig/segmentPartitionConfig/columnPartitionMap"


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


@dataclass(frozen=True)
class CheckedTable:
    """The places of a config are JSON pointers; in a pattern `*` stands for every key or index.

    >>> table = CheckedTable(PinotSchema("s"), {"tierConfigs": [{"name": "a"}, {"name": "b"}]})
    >>> [*table.values("/tierConfigs/*/name")]
    [('/tierConfigs/0/name', 'a'), ('/tierConfigs/1/name', 'b')]
    """

    schema: PinotSchema
    document: Mapping[str, Any]

    @cached_property
    def columns(self) -> Mapping[str, FieldSpec]:
        return columns(self.schema)

    @property
    def realtime(self) -> bool:
        return self.text("/tableType").upper() == "REALTIME"

    @property
    def upsert(self) -> bool:
        return isinstance(self.value(UPSERT), Mapping) and self.text(f"{UPSERT}/mode", "FULL") != "NONE"

    @property
    def dedup(self) -> bool:
        return isinstance(self.value(DEDUP), Mapping) and self.flag(f"{DEDUP}/dedupEnabled", default=True)

    @property
    def time_column(self) -> str:
        return self.text("/segmentsConfig/timeColumnName")

    def values(self, pattern: str) -> Iterator[tuple[str, Any]]:
        """The values at a pattern, each with its pointer; absent ones and nulls are left out."""
        return values_at(self.document, pattern)

    def objects(self, pattern: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
        return ((place, value) for place, value in self.values(pattern) if isinstance(value, Mapping))

    def names(self, pattern: str) -> Iterator[tuple[str, str]]:
        """The texts at a pattern; empty ones, which Pinot skips, are left out."""
        return ((place, literal_text(value)) for place, value in self.values(pattern) if value != "")

    def keys(self, pattern: str) -> Iterator[tuple[str, str]]:
        """The keys of the objects at a pattern."""
        return ((place + pointer(key), key) for place, value in self.objects(pattern) for key in value)

    def has(self, place: str) -> bool:
        return self.value(place) is not None

    def uses(self, place: str) -> bool:
        """Whether something is set: not false, NONE or empty."""
        value = self.value(place)
        return bool(value) and str(value).lower() not in ("false", "none")

    def value(self, place: str) -> Any:
        """The value at a place; None where it is absent."""
        return next((value for _, value in self.values(place)), None)

    def text(self, place: str, default: str = "") -> str:
        value = self.value(place)
        return default if value is None else str(value)

    def flag(self, place: str, default: bool = False) -> bool:
        return self.text(place, str(default)).strip().lower() in ("true", "1")


Rule = Callable[[CheckedTable], Iterator[Fault]]
"""Finds the faults of one kind."""


def unchecked_part(place: str, noun: str = "") -> Fault:
    """What is said of a part whose rules are not implemented; it is named as its key if without a noun."""
    message = (
        f"{noun or place.rpartition('/')[2]} is not checked: Pinot's own classes check it with --pinot-jars"
    )
    return Fault(place, message, unchecked=True)
