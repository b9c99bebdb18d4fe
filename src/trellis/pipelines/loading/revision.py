"""Staged rows that a dialect looks at together before they are committed."""

from __future__ import annotations

from dataclasses import dataclass, replace

from trellis.dialects.registration import ReferenceResolver, RowRevision
from trellis.engine.plan import Counts
from trellis.engine.staging.stage import StagedFile
from trellis.pipelines.loading.partial import Files
from trellis.schema.model import Schema


@dataclass(frozen=True)
class Revised:
    """What is left of the staged rows of a load; `dropped` counts its records that are left out."""

    schema: Schema
    files: Files
    dropped: int = 0
    notes: tuple[str, ...] = ()

    def recount(self, rows: Counts) -> None:
        rows.loaded, rows.dropped = rows.loaded - self.dropped, rows.dropped + self.dropped


@dataclass(frozen=True)
class Revision:
    """The revision of one load, if it has one."""

    rules: RowRevision | None
    resolve: ReferenceResolver | None
    load_id: str
    dry_run: bool

    def visible(self, schema: Schema) -> Schema:
        """The schema without what only the revision needs."""
        return schema if self.rules is None else self.rules.visible(schema)

    def revise(self, before: Schema, schema: Schema, files: Files) -> Revised:
        """`before` is the stored schema, whose versions count: the revision's own columns make none."""
        if self.rules is None:
            return Revised(schema, files)
        paths = {name: [file.path for file in staged] for name, staged in files.items()}
        rows = self.rules.revise(schema, paths, self.load_id, self.resolve, self.dry_run)
        revised: dict[str, list[StagedFile]] = {
            name: [StagedFile(name, path, count) for path, count in parts if count]
            for name, parts in rows.files.items()
        }
        left = {name: staged for name, staged in {**files, **revised}.items() if staged}
        unversioned = replace(
            rows.schema,
            stored_version=before.stored_version,
            stored_hash=before.stored_hash,
            previous_hashes=before.previous_hashes,
        )
        return Revised(unversioned, left, rows.dropped, rows.notes)
