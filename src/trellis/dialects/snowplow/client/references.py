"""The schemas that records refer to, from a registry into the schema of a load."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Final

from trellis.dialects.snowplow.client.locator import open_registry
from trellis.dialects.snowplow.client.registry import Registry, SchemaNotFound
from trellis.dialects.snowplow.client.short_names import keep_short_names, short_name_notes
from trellis.dialects.snowplow.identity.keys import Family, SchemaKey
from trellis.dialects.snowplow.stored_families import (
    StoredFamilies,
    families_of,
    with_families,
    with_family,
)
from trellis.errors import SchemaError
from trellis.schema.model import Schema

_MOST_LISTED: Final = 3


@dataclass(frozen=True)
class RegistryReferences:
    """Completes the schema of a load. What is not found is noted, a registry that is silent raises."""

    registry: Registry

    @staticmethod
    def open(text: str) -> RegistryReferences:
        """Raises UsageError, SchemaError, RegistryUnavailable."""
        return RegistryReferences(open_registry(text))

    def __call__(self, schema: Schema, references: Collection[str]) -> Schema:
        """The schema with the families of these addresses. Raises SchemaError, RegistryUnavailable."""
        by_family: dict[Family, list[SchemaKey]] = {}
        for key in sorted(map(SchemaKey.parse, references)):
            by_family.setdefault(key.family, []).append(key)
        for family, keys in by_family.items():
            schema = self._with_family(schema, family, keys)
        return schema

    def _with_family(self, schema: Schema, family: Family, keys: Collection[SchemaKey]) -> Schema:
        known = families_of(schema)
        try:
            listed = list(self.registry.versions(family))
        except SchemaNotFound:
            listed = []
        if missing := [key for key in keys if key not in listed]:
            schema = _without(schema, missing, self.registry.name)
        used = {*keys, *map(SchemaKey.parse, known.versions.get(str(family), ()))} & {*listed}
        if not used:
            return schema
        last = max(map(listed.index, used))
        documents = [self.registry.schema(key) for key in listed[: last + 1]]
        _refuse_reordered(known, family, [str(document.key) for document in documents])
        changed = with_family(schema, str(family), documents, self.registry.overlay(family))
        _refuse_patched(known, families_of(changed), family)
        return changed

    def missing_notes(self, schema: Schema) -> tuple[str, ...]:
        known = families_of(schema)
        if not known.unresolved:
            return ()
        uris = sorted(known.unresolved)
        lacks = "lacks schemas" if known.complete else "has none of the schemas"
        again = "run `trellis snowplow replay`, or load again if nothing was loaded"
        if known.options.is_run:
            again = "delete the run folder and shred the run again"
        note = (
            f"{self.registry.name} {lacks} that events name ({listed_uris(uris)}), and these events were "
            f"rejected: publish what is missing or correct --schema, then {again}; with --option "
            "on_missing=stop nothing is written instead"
        )
        return (note,)

    def before_commit(self, before: Schema, after: Schema, dry_run: bool) -> tuple[str, ...]:
        """Keep the short names of tables and columns in overlays; what to say of those that are new."""
        known = families_of(after)
        if known.is_wide or known.options.is_run:
            return ()
        brought: dict[str, str] = {}
        refusals: set[str] = set()
        stored_names = {*before.tables, *(name for table in before.tables.values() for name in table.columns)}
        for name in known.complete:
            table = known.table_rows_of(name).table
            names = table.shortened
            brought |= {full: short for full, short in names.items() if short not in stored_names}
            if not dry_run:
                refusals.add(keep_short_names(self.registry, table.key.family, known.profile.name, names))
        return (*short_name_notes(brought, "; ".join(sorted(filter(None, refusals)))),)


def listed_uris(uris: Sequence[str]) -> str:
    """Addresses in a sentence: the first of many.

    >>> listed_uris(["a", "b", "c", "d", "e"])
    'a, b, c and 2 more'
    """
    more = len(uris) - _MOST_LISTED
    return f"{', '.join(uris[:_MOST_LISTED])}{f' and {more:,} more' if more > 0 else ''}"


def _without(schema: Schema, missing: Collection[SchemaKey], registry: str) -> Schema:
    """The schema that notes which addresses have nothing behind them."""
    known = families_of(schema)
    if known.options.on_missing == "stop":
        raise SchemaError(
            f"{registry} has no {', '.join(map(str, missing))}; publish it, or load with "
            "--option on_missing=reject to keep its events aside"
        )
    reasons = {str(key): f"{key} is not in {registry}" for key in missing}
    return with_families(schema, replace(known, unresolved={**known.unresolved, **reasons}))


def _refuse_reordered(known: StoredFamilies, family: Family, uris: list[str]) -> None:
    """Columns follow the order of creation, so one that changed would put values into other columns."""
    stored = list(known.versions.get(str(family), ()))
    if uris[: len(stored)] != stored:
        raise SchemaError(
            f"{family}: the registry lists {', '.join(map(_version, uris))}, and the tables were made from "
            f"{', '.join(map(_version, stored))}; load from the registry of the earlier loads, or into "
            "another dataset"
        )


def _refuse_patched(known: StoredFamilies, changed: StoredFamilies, family: Family) -> None:
    """A schema with another text and the same address can make tables that are not those that are there."""
    name = str(family)
    before, after = known.digests.get(name), changed.digests[name]
    same_versions = list(known.versions.get(name, ())) == list(changed.versions[name])
    if before is not None and same_versions and before != after:
        raise SchemaError(
            f"{family}: a schema was patched, so its table would have other columns than the one that is "
            "there; publish the change as a new version, or load into another dataset"
        )


def _version(uri: str) -> str:
    return uri.rpartition("/")[2]
