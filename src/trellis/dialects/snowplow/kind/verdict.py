"""Whether a new version is what its number declares, for data and for the tables of warehouses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from trellis.dialects.snowplow.columns.family_table import FamilyMerge, columns_of
from trellis.dialects.snowplow.columns.profiles import PROFILES, Profile
from trellis.dialects.snowplow.document.nodes import pointer_to
from trellis.dialects.snowplow.document.schema_document import SchemaDocument
from trellis.dialects.snowplow.identity.keys import Kind, SchemaVer
from trellis.dialects.snowplow.kind.data_changes import data_changes
from trellis.dialects.snowplow.kind.rules import KINDS, Change, strictest
from trellis.dialects.snowplow.versions.succession import next_version, predecessor

Evolution = Literal["strict", "model-only", "off"]
"""Which untrue declarations are refused: all; those of what needs a MODEL; none."""


@dataclass(frozen=True)
class KindPolicy:
    """What a registry holds declared kinds to. `profiles` are the warehouses whose tables count."""

    evolution: Evolution = "strict"
    profiles: tuple[Profile, ...] = (PROFILES["redshift"], PROFILES["spark"])
    guards_open_objects: bool = False
    """Whether a property that is added to an open object is refused, not only warned of."""

    def enforces(self, change: Change) -> bool:
        return self.guards_open_objects or change.rule != "property added to an open object"

    def refuses(self, change: Change, declared: Kind) -> bool:
        """
        >>> KindPolicy().refuses(Change("", "bound tightened", "REVISION"), "ADDITION")
        True
        """
        exceeds = KINDS.index(change.needs) > KINDS.index(declared)
        is_guarded = self.evolution == "strict" or (
            self.evolution == "model-only" and change.needs == "MODEL"
        )
        return exceeds and is_guarded and self.enforces(change)


@dataclass(frozen=True)
class Verdict:
    """What changed, what that needs, and what of it the declared kind does not cover."""

    declared: Kind | None
    """None for the first version of all."""
    base: SchemaVer | None
    """The version that it was compared with; None for the first of a model."""
    changes: tuple[Change, ...]
    refused: tuple[Change, ...]
    """Those that the declared kind does not cover."""

    @property
    def needs(self) -> Kind:
        return strictest(change.needs for change in self.changes)

    @property
    def warnings(self) -> tuple[Change, ...]:
        """Changes that need more than declared, and are accepted nevertheless."""
        declared = KINDS.index(self.declared or "MODEL")
        return tuple(
            change
            for change in self.changes
            if KINDS.index(change.needs) > declared and change not in self.refused
        )

    @property
    def info(self) -> str | None:
        """That a smaller step of the version would have done."""
        if self.base is None or self.declared is None:
            return None
        if KINDS.index(self.needs) >= KINDS.index(self.declared):
            return None
        return f"the version is a {self.declared}, and the changes need no more than {_article(self.needs)}"


def judge(
    document: SchemaDocument,
    registered: Sequence[SchemaDocument],
    policy: KindPolicy,
    tables: Sequence[FamilyMerge] | None = None,
) -> Verdict:
    """Whether a schema is what its version declares.

    `registered` are all schemas of the name and format, of all models, in the order of the registry. `tables`
    are those of its model as `merge_tables` makes them; a registry that keeps them need not merge all anew.
    """
    version = document.key.version
    base = predecessor(version, [other.key.version for other in registered])
    declared = version.kind
    if base is None or declared is None:
        return Verdict(declared, None, (), ())
    changes = _changes(document, base, registered, tables or merge_tables(base.model, registered, policy))
    return Verdict(
        declared, base, changes, tuple(change for change in changes if policy.refuses(change, declared))
    )


@dataclass(frozen=True)
class Suggestion:
    """The smallest version that the changes may have."""

    base: SchemaVer | None
    version: SchemaVer
    changes: tuple[Change, ...] = ()

    @property
    def needs(self) -> Kind:
        return strictest(change.needs for change in self.changes)


def suggest_version(
    document: SchemaDocument,
    registered: Sequence[SchemaDocument],
    policy: KindPolicy,
    base: SchemaVer | None = None,
) -> Suggestion:
    """The smallest version that a registry with this policy takes for the body of the document.

    It is compared with `base`, else with the greatest version that is registered.
    """
    versions = [other.key.version for other in registered]
    if not versions:
        return Suggestion(None, SchemaVer(1, 0, 0))
    base = max(versions) if base is None else base
    tables = merge_tables(base.model, registered, policy)
    changes = _changes(document, base, registered, tables)
    kind = strictest(change.needs for change in changes if policy.enforces(change))
    for larger in KINDS[KINDS.index(kind) :]:  # the version before the new one may be another than `base`
        version = next_version(base, larger, versions)
        candidate = replace(document, key=document.key.with_version(version))
        if not judge(candidate, registered, replace(policy, evolution="strict"), tables).refused:
            break
    return Suggestion(base, version, changes)


def merge_tables(
    model: int, registered: Sequence[SchemaDocument], policy: KindPolicy
) -> tuple[FamilyMerge, ...]:
    """The table of a model in each of the warehouses that count."""
    tables = tuple(FamilyMerge(profile) for profile in policy.profiles)
    for document in registered:
        if document.key.version.model == model:
            for table in tables:
                table.add(document)
    return tables


def _changes(
    document: SchemaDocument,
    base: SchemaVer,
    registered: Sequence[SchemaDocument],
    tables: Sequence[FamilyMerge],
) -> tuple[Change, ...]:
    (old,) = (other for other in registered if other.key.version == base)
    breaks = (change for table in tables for change in _table_breaks(document, table))
    return (*data_changes(old.body, document.body), *breaks)


def _table_breaks(document: SchemaDocument, table: FamilyMerge) -> Iterator[Change]:
    """Where the table of the versions that are registered cannot take the new one."""
    for reason in table.compare(document.key, columns_of(document, table.profile)).breaks:
        pointer = pointer_to(*(part for key in reason.column.paths[0] for part in ("properties", key)))
        yield Change(pointer, "table cannot follow", "MODEL", reason.message, table.profile.name)


def _article(kind: Kind) -> str:
    return f"an {kind}" if kind == "ADDITION" else f"a {kind}"
