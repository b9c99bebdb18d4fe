"""A run folder as the target of a load: it appears with all its files, or not at all."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Final, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

import trellis
from trellis.destinations.base import NO_COLUMNS, NO_FILL_VALUES, NO_NATIVE, Abilities, Commit, FillValues
from trellis.destinations.folder import explain_os_errors, make_folder
from trellis.dialects.registration import ReferenceResolver
from trellis.dialects.snowplow.columns.names import wide_column_name
from trellis.dialects.snowplow.columns.profiles import Profile
from trellis.dialects.snowplow.events.families import ENTITY_COLUMN, SCHEMA_COLUMNS, VERSION_SIGN
from trellis.dialects.snowplow.identity.keys import SchemaKey
from trellis.dialects.snowplow.rows.csv import EVENTS
from trellis.dialects.snowplow.runs.duplicate_contexts import (
    add_wide_contexts,
    with_duplicate_family,
    write_contexts,
)
from trellis.dialects.snowplow.runs.duplicates import DUPLICATE, Deduplication, Duplicates, find_duplicates
from trellis.dialects.snowplow.runs.event_store import EventStore
from trellis.dialects.snowplow.runs.layouts import BAD_PATH, GOOD_PATH, events_path, table_path
from trellis.dialects.snowplow.runs.manifest import (
    ALGORITHM,
    FORMAT_NAMES,
    Compression,
    FileFormat,
    RunManifest,
    RunTable,
    RunType,
    is_complete,
)
from trellis.dialects.snowplow.runs.row_files import (
    NULL,
    RowFiles,
    RunPart,
    count_json_rows,
    distinct_rows,
    read_rows,
    write_parts,
)
from trellis.dialects.snowplow.stored_families import (
    LOAD_TIME,
    MARKS,
    RECOVERED,
    STAYS_JSON,
    families_of,
)
from trellis.engine.arrow.types import arrow_type
from trellis.engine.parallel import Parallel, one_by_one
from trellis.engine.staging.dead_letters import REJECTS
from trellis.engine.staging.stage import folder_name
from trellis.errors import UsageError
from trellis.evolution.dialect.metadata import MetadataTables
from trellis.schema.model import DataType, Schema, Table

_STAGING: Final = ".trellis"
HIDDEN: Final = frozenset((LOAD_TIME, *(mark.name for mark in MARKS)))
"""Columns of staged rows that no file has."""
PART_BYTES: Final = 4 << 20
"""Of staged rows: what a file of a run, or a task that writes such files, has at least."""
T = TypeVar("T")


class IncompleteRun(UsageError):
    """The folder of a run is there and not complete."""


@dataclass
class RunFolder:
    """The folder of one run below `root`. Files are of one format, and tables by the rules of a profile."""

    root: Path
    name: str
    profile: Profile
    format: FileFormat
    compression: Compression = "NONE"
    deduplication: Deduplication = "all"
    store: EventStore | None = None
    resolve: ReferenceResolver | None = None
    identity: str = ""
    """What the run is called where events are compared with those of other runs."""
    manifest: RunManifest | None = None
    duplicates: Duplicates = field(default_factory=Duplicates)
    written: Mapping[str, int] = field(default_factory=dict)
    """The rows of the files of each table of the load."""

    def __post_init__(self) -> None:
        self.abilities = Abilities(self.profile.warehouse, "", grows_structs=True)
        self.url = str(self.path)

    @property
    def path(self) -> Path:
        return self.root / self.name

    @property
    def lock(self) -> Path:
        """The file that who writes the run holds."""
        return Path(self.staging(""), f"{folder_name(self.name)}.lock")

    def staging(self, load_id: str) -> str:
        return make_folder(os.path.join(self.root, _STAGING, folder_name(load_id) if load_id else ""))

    def has_load(self, dataset: str, load_id: str, metadata: MetadataTables) -> bool:
        """Raises IncompleteRun."""
        if self.path.exists() and not is_complete(self.path):
            raise IncompleteRun(
                f"{self.path}: an incomplete run is in the way; delete the folder, or name another with --out"
            )
        return is_complete(self.path)

    def migration(
        self,
        dataset: str,
        schema: Schema,
        native: Mapping[DataType, str] = NO_NATIVE,
        retyped: Mapping[str, Sequence[str]] = NO_COLUMNS,
        filled: FillValues = NO_FILL_VALUES,
    ) -> list[str]:
        """None: a run folder has no tables before it is written."""
        return []

    def commit(self, commit: Commit, parallel: Parallel = one_by_one) -> None:
        """Write all files beside the folder, and give it its name when they are complete."""
        draft = Path(self.staging(commit.load_id)) / "run"
        with explain_os_errors(self.url):
            shutil.rmtree(draft, ignore_errors=True)
            draft.mkdir(parents=True)
            events = [file.path for file in commit.files.get(EVENTS, ())]
            self.duplicates = find_duplicates(events, self.identity, self.deduplication, self.store)
            writer = _RunWriter(self, commit, draft, parallel)
            self.manifest, self.written = writer.write(), writer.written
            os.rename(draft, self.path)

    def rehearse(self, commit: Commit, parallel: Parallel = one_by_one) -> None:
        """Nothing is compared with what is there."""


@dataclass
class _RunWriter:
    """Writes the files of one run into a draft of its folder."""

    run: RunFolder
    commit: Commit
    draft: Path
    parallel: Parallel
    written: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.schema = self.commit.schema
        self.options = families_of(self.schema).options
        self.is_wide = self.options.layout == "wide"
        self.paths = {name: [file.path for file in files] for name, files in self.commit.files.items()}

    def write(self) -> RunManifest:
        self._add_duplicate_contexts()
        parts = [part for table, path in self._entity_tables() for part in self._parts(table, path)]
        if EVENTS in self.paths:
            parts += self._parts(self.schema.tables[EVENTS], *self._place_of_events())
        self._write_parts(parts)
        event_rows, json_events = self.written.get(EVENTS, 0), self._json_events()
        tables = self._wide_tables(event_rows) if self.is_wide else self._family_tables()
        earliest, latest = _bounds(self._batches(EVENTS, ["collector_tstamp"]))
        bad = self._write_bad_rows()
        manifest = RunManifest(
            f"{self.run.path.absolute()}/",
            tuple(sorted(self._types())),
            self.run.format,
            self.run.compression,
            self.commit.now,
            datetime.now(timezone.utc),
            earliest,
            latest,
            event_rows + json_events,
            bad,
            ALGORITHM,
            families_of(self.schema).profile.name,
            tuple(tables),
            self.options.layout,
            self.options.compat,
            len(self.run.duplicates.dropped) + self.commit.dropped,
            json_events,
        )
        manifest.write(self.draft, trellis.__version__)
        return manifest

    def _add_duplicate_contexts(self) -> None:
        """Give each event that got a new id a context that says which one it had."""
        if not self.run.duplicates.renamed:
            return
        self.schema = with_duplicate_family(self.schema, self.run.resolve)
        if self.options.layout == "wide":
            self.schema, self.run.duplicates = add_wide_contexts(self.schema, self.run.duplicates)
        else:
            staged = str(self.draft.parent / "contexts.parquet")
            table = write_contexts(self.schema, self.run.duplicates, staged)
            self.paths.setdefault(table, []).append(staged)

    def _place_of_events(self) -> tuple[str, str]:
        """The folder of events, and what stands for NULL in it."""
        return (GOOD_PATH, NULL) if self.is_wide else (events_path(self.options.layout, self.run.format), "")

    def _wide_tables(self, rows: int) -> Iterator[RunTable]:
        """What the columns of each family were made by."""
        families = families_of(self.schema)
        for name, versions in families.versions.items():
            family = SchemaKey.parse(versions[0]).family
            prefixes = tuple(wide_column_name(kind, family) for kind in ("unstruct_event", "contexts"))
            recovered = tuple(f"{prefix}_recovered_" for prefix in prefixes)
            names = tuple(
                name
                for name in self.schema.tables[EVENTS].columns
                if name in prefixes or name.startswith(recovered)
            )
            yield RunTable(EVENTS, tuple(versions), names, GOOD_PATH, families.digests[name], rows)

    def _json_events(self) -> int:
        """Each has one row, in the table of its entity."""
        return sum(
            count_json_rows(path) for table, _ in self._entity_tables() for path in self.paths[table.name]
        )

    def _entity_tables(self) -> Iterator[tuple[Table, str]]:
        """The tables of entities that have rows, each with its folder."""
        for name, table in self.schema.tables.items():
            if not self.is_wide and name in self.paths and ENTITY_COLUMN in table.columns:
                is_recovered = bool(table.hints.get(RECOVERED))
                yield (
                    table,
                    table_path(
                        self.options.layout, _key_of(table), self._format_of(table), is_recovered=is_recovered
                    ),
                )

    def _family_tables(self) -> Iterator[RunTable]:
        """What the tables of entities were made by."""
        families = families_of(self.schema)
        for table, path in self._entity_tables():
            key, is_recovered = _key_of(table), bool(table.hints.get(RECOVERED))
            family = str(key.family)
            yield RunTable(
                table.name.partition(VERSION_SIGN)[0],
                (str(key),) if is_recovered else tuple(families.versions[family]),
                tuple(_visible(table)),
                path,
                families.digests[family],
                self.written[table.name],
                is_recovered,
            )

    def _parts(self, table: Table, path: str, null: str = NULL) -> Iterator[RunPart]:
        """The files that a table becomes; small staged files become one."""
        columns = [table.columns[name] for name in _visible(table)]
        files = RowFiles(
            self._format_of(table),
            self.run.compression,
            pa.schema([pa.field(column.name, arrow_type(column)) for column in columns]),
            self.run.duplicates,
            null,
            self.options.compat,
        )
        folder = self.draft / path
        folder.mkdir(parents=True, exist_ok=True)
        for number, sources in enumerate(_packed(self.paths[table.name], os.path.getsize)):
            yield RunPart(table.name, files, sources, str(folder / f"part-{number:05}.{files.ending}"))

    def _write_parts(self, parts: Sequence[RunPart]) -> None:
        """Write files side by side, few small ones at once: a table alone may be too small to share."""
        for written in self.parallel(write_parts, _packed(parts, RunPart.staged_bytes)):
            for table, rows in written:
                self.written[table] = self.written.get(table, 0) + rows

    def _format_of(self, table: Table) -> FileFormat:
        return "json" if table.hints.get(STAYS_JSON) else self.run.format

    def _write_bad_rows(self) -> int:
        """Write what was rejected as JSON, in a folder for each reason."""
        count = 0
        for batch in self._batches(REJECTS.name, ["file", "position", "text", "reason"]):
            for row in batch.to_pylist():
                kind, _, message = row["reason"].partition(": ")
                folder = self.draft / BAD_PATH / f"name={kind}"
                folder.mkdir(parents=True, exist_ok=True)
                document = {
                    "schema": f"iglu:com.snowplowanalytics.snowplow.badrows/{kind}/jsonschema/2-0-0",
                    "data": {
                        "processor": {"artifact": "trellis", "version": trellis.__version__},
                        "failure": {"message": message},
                        "payload": row["text"],
                    },
                }
                with (folder / "part-00000.jsonl").open("a", encoding="utf-8") as file:
                    file.write(json.dumps(document) + "\n")
                count += 1
        return count

    def _types(self) -> set[RunType]:
        """The schemas that rows were made by, each with the kind of entity."""
        if self.options.layout == "wide":
            return self._wide_types()
        types: set[RunType] = set()
        for table in self.schema.tables.values():
            if ENTITY_COLUMN in table.columns:
                format = FORMAT_NAMES[self._format_of(table)]
                for path in self.paths.get(table.name, []):
                    for *parts, kind in distinct_rows(path, [*SCHEMA_COLUMNS, ENTITY_COLUMN]):
                        types.add(RunType(f"iglu:{'/'.join(parts)}", kind, format))
        return types

    def _wide_types(self) -> set[RunType]:
        types: set[RunType] = set()
        for batch in self._batches(EVENTS, [ENTITY_COLUMN]):
            for text in pc.unique(batch.column(0)).drop_null().to_pylist() if batch.num_columns else ():
                for line in text.splitlines():
                    kind, _, uri = line.partition(" ")
                    types.add(RunType(uri, kind, FORMAT_NAMES[self.run.format]))
        if self.run.duplicates.renamed:
            types.add(RunType(str(DUPLICATE.key), "CONTEXT", FORMAT_NAMES[self.run.format]))
        return types

    def _batches(self, table: str, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        return read_rows(self.paths.get(table, []), names)


def _packed(items: Sequence[T], size: Callable[[T], int]) -> list[tuple[T, ...]]:
    """The items in order, those in a row together until they have the bytes of a part."""
    packs: list[list[T]] = []
    room = 0
    for item in items:
        if room <= 0:
            packs.append([])
            room = PART_BYTES
        packs[-1].append(item)
        room -= size(item)
    return [tuple(pack) for pack in packs]


def _visible(table: Table) -> list[str]:
    """The columns that the files of a table have."""
    return [name for name in table.columns if name not in HIDDEN]


def _key_of(table: Table) -> SchemaKey:
    assert table.description is not None
    return SchemaKey.parse(table.description)


def _bounds(batches: Iterator[pa.RecordBatch]) -> tuple[datetime | None, datetime | None]:
    """The least and the greatest time."""
    least: list[Any] = []
    greatest: list[Any] = []
    for batch in batches:
        bounds = pc.min_max(batch.column(0)).as_py()
        least.append(bounds["min"])
        greatest.append(bounds["max"])
    if not least:
        return None, None
    return min(least).replace(tzinfo=timezone.utc), max(greatest).replace(tzinfo=timezone.utc)
