"""The versions of a family for people: what each changed in the data, and in the tables of warehouses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trellis.dialects.snowplow.columns.family_table import FamilyMerge, Step
from trellis.dialects.snowplow.columns.profiles import PROFILES
from trellis.dialects.snowplow.identity.keys import SchemaVer
from trellis.dialects.snowplow.kind.data_changes import data_changes
from trellis.dialects.snowplow.kind.rules import Change
from trellis.dialects.snowplow.registry.store.schema_store import StoredSchema
from trellis.dialects.snowplow.versions.succession import predecessor


@dataclass(frozen=True)
class VersionChanges:
    """One version beside the one before it."""

    schema: StoredSchema
    base: SchemaVer | None
    changes: tuple[Change, ...]
    effects: dict[str, str]
    """What it did to the table, by warehouse."""


def describe_versions(schemas: Sequence[StoredSchema]) -> list[VersionChanges]:
    """`schemas` are those of a family, in the order of creation."""
    tables = [FamilyMerge(profile) for profile in PROFILES.values()]
    described = []
    documents = {schema.key.version: schema.document for schema in schemas}
    versions: list[SchemaVer] = []
    for schema in schemas:
        base = predecessor(schema.key.version, versions)
        changes = data_changes(documents[base].body, schema.document.body) if base else ()
        effects = {table.profile.name: describe_step(table.add(schema.document)) for table in tables}
        described.append(VersionChanges(schema, base, tuple(changes), effects))
        versions.append(schema.key.version)
    return described


def describe_step(step: Step) -> str:
    """
    >>> from trellis.dialects.snowplow.identity.keys import SchemaKey
    >>> describe_step(Step(SchemaKey("com.acme", "event", "jsonschema", SchemaVer(1, 0, 1))))
    'no change'
    """
    if step.breaks:
        return f"a table of its own: {'; '.join(reason.message for reason in step.breaks)}"
    parts = (("adds", step.added), ("widens", step.widened), ("drops NOT NULL of", step.released))
    sentences = [
        f"{verb} {', '.join(column.name for column in columns)}" for verb, columns in parts if columns
    ]
    return "; ".join(sentences) or "no change"
