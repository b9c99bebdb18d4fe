"""The versions of a name as the last publication left them, so that the next one need not merge all anew."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from trellis.dialects.snowplow.columns.family_table import FamilyMerge
from trellis.dialects.snowplow.columns.flatten import flatten
from trellis.dialects.snowplow.columns.profiles import Profile
from trellis.dialects.snowplow.document.schema_document import SchemaDocument
from trellis.dialects.snowplow.identity.keys import SchemaKey, SchemaVer
from trellis.dialects.snowplow.registry.store.schema_store import Head, SchemaWriter

KEPT_NAMES: Final = 500

Name = tuple[str, str, str]
"""Vendor, name, format."""


def name_of(key: SchemaKey) -> Name:
    return key.vendor, key.name, key.format


@dataclass
class NameHistory:
    """The versions of all models in the order of creation, and the table of each model."""

    profiles: tuple[Profile, ...]
    heads: list[Head] = field(default_factory=list)
    documents: list[SchemaDocument] = field(default_factory=list)
    tables: dict[int, tuple[FamilyMerge, ...]] = field(default_factory=dict)
    """By model, for each profile."""

    @property
    def versions(self) -> list[SchemaVer]:
        return [head.version for head in self.heads]

    @property
    def is_public(self) -> bool | None:
        return self.heads[0].is_public if self.heads else None

    @property
    def superseded_by(self) -> dict[SchemaVer, SchemaVer]:
        return {head.version: head.superseded_by for head in self.heads if head.superseded_by is not None}

    def refresh(self, writer: SchemaWriter, name: Name) -> None:
        """Follow what was published meanwhile, by whichever process."""
        heads = writer.heads(*name)
        count = len(self.heads)
        if [_identity(head) for head in heads[:count]] != [_identity(head) for head in self.heads]:
            self.documents.clear()
            self.tables.clear()
            count = 0
        if len(heads) > count:
            last_position = heads[count - 1].position if count else 0
            for schema in writer.schemas_of(*name, after=last_position):
                self._add(schema.document)
        self.heads = heads

    def tables_of(self, model: int) -> Sequence[FamilyMerge]:
        return self.tables.get(model, ())

    def _add(self, document: SchemaDocument) -> None:
        self.documents.append(document)
        model = document.key.version.model
        if model not in self.tables:
            self.tables[model] = tuple(FamilyMerge(profile) for profile in self.profiles)
        flat = flatten(document.body)
        for table in self.tables[model]:
            table.add(document, flat)


@dataclass
class Histories:
    """Those of the names that were published last."""

    profiles: tuple[Profile, ...]
    _histories: OrderedDict[Name, NameHistory] = field(default_factory=OrderedDict)

    def of(self, name: Name) -> NameHistory:
        history = self._histories.pop(name, None) or NameHistory(self.profiles)
        self._histories[name] = history
        if len(self._histories) > KEPT_NAMES:
            self._histories.popitem(last=False)
        return history


def _identity(head: Head) -> tuple[int, str]:
    return head.position, head.updated_at
