"""A run folder as the target of a load: it appears with all its files, or not at all."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from functools import partial
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

import trellis
from trellis.destinations.base import NO_COLUMNS, NO_FILL_VALUES, NO_NATIVE, Abilities, Commit, FillValues
from trellis.destinations.folder import explain_os_errors, make_folder
from trellis.dialects.snowplow.columns.profiles import Profile
from trellis.dialects.snowplow.events.event import Entity, ShreddedEvent
from trellis.dialects.snowplow.events.families import ENTITY_COLUMN, FamilyRows
from trellis.dialects.snowplow.identity.keys import SchemaKey
from trellis.dialects.snowplow.rows.csv import EVENTS
from trellis.dialects.snowplow.runs.duplicates import (
    DUPLICATE,
    Deduplication,
    Duplicates,
    find_duplicates,
)
from trellis.dialects.snowplow.runs.event_store import EventStore
from trellis.dialects.snowplow.runs.manifest import (
    ALGORITHM,
    Compression,
    FileFormat,
    RunManifest,
    RunTable,
    is_complete,
)
from trellis.dialects.snowplow.runs.row_files import NULL, read_rows, write_rows
from trellis.dialects.snowplow.stored_families import (
    LOAD_TIME,
    MARKS,
    RECOVERED,
    definition_digest,
    entity_tables,
    families_of,
)
from trellis.engine.arrow.types import arrow_type
from trellis.engine.parallel import Parallel, one_by_one
from trellis.engine.staging.dead_letters import REJECTS
from trellis.engine.staging.stage import StagedFile, folder_name
from trellis.errors import UsageError
from trellis.evolution.dialect.metadata import MetadataTables
from trellis.schema.model import DataType, Schema, Table

ATOMIC_PATH: Final = "vendor=com.snowplowanalytics.snowplow/name=atomic/model=1"
BAD_PATH: Final = "output=bad/vendor=com.snowplowanalytics.snowplow.badrows"
_ENDINGS: Final[Mapping[FileFormat, str]] = {"csv": "txt", "parquet": "parquet", "orc": "orc"}
_STAGING: Final = ".trellis"


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
    manifest: RunManifest | None = None
    duplicates: Duplicates = field(default_factory=Duplicates)

    def __post_init__(self) -> None:
        self.abilities = Abilities(self.profile.warehouse, "")
        self.url = str(self.path)

    @property
    def path(self) -> Path:
        return self.root / self.name

    def staging(self, load_id: str) -> str:
        return make_folder(os.path.join(self.root, _STAGING, folder_name(load_id) if load_id else ""))

    def has_load(self, dataset: str, load_id: str, metadata: MetadataTables) -> bool:
        """Raises UsageError for a folder that is there and not complete."""
        if self.path.exists() and not is_complete(self.path):
            raise UsageError(
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
            self.duplicates = find_duplicates(events, self.name, self.deduplication, self.store)
            self.manifest = _RunWriter(self, commit, draft, parallel).write()
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

    def write(self) -> RunManifest:
        families = families_of(self.commit.schema)
        tables = [*self._entity_tables(), *self._duplicate_table()]
        good = 0
        if self._paths(EVENTS):
            table = self.commit.schema.tables[EVENTS]
            hidden = (LOAD_TIME, *(mark.name for mark in MARKS))
            names = [name for name in table.columns if name not in hidden]
            good = self._write_table(table, names, ATOMIC_PATH, null="")
        earliest, latest = _bounds(self._batches(EVENTS, ["collector_tstamp"]))
        bad = self._write_bad_rows()
        types = self._types()
        if self.run.duplicates.renamed:
            types.add((str(DUPLICATE.key), "CONTEXT"))
        manifest = RunManifest(
            f"{self.run.path.absolute()}/",
            tuple(sorted(types)),
            self.run.format,
            self.run.compression,
            self.commit.now,
            datetime.now(timezone.utc),
            earliest,
            latest,
            good,
            bad,
            ALGORITHM,
            families.profile.name,
            tuple(tables),
        )
        manifest.write(self.draft, trellis.__version__)
        return manifest

    def _entity_tables(self) -> Iterator[RunTable]:
        """Write the tables of entities that have rows."""
        families = families_of(self.commit.schema)
        for name, table in self.commit.schema.tables.items():
            files = self.commit.files.get(name, ())
            if not files or ENTITY_COLUMN not in table.columns:
                continue
            assert table.description is not None
            key = SchemaKey.parse(table.description)
            path = f"vendor={key.vendor}/name={key.name}/model={key.version.model}"
            is_recovered = bool(table.hints.get(RECOVERED))
            if is_recovered:
                path = f"{path}/recovered={key.version}"
            names = _visible(table)
            rows = self._write_table(table, names, path)
            family = str(key.family)
            yield RunTable(
                name,
                (str(key),) if is_recovered else tuple(families.versions[family]),
                tuple(names),
                path,
                families.digests[family],
                rows,
                is_recovered,
            )

    def _duplicate_table(self) -> Iterator[RunTable]:
        """Write a context for each event that got a new id."""
        renamed = self.run.duplicates.renamed.values()
        if not renamed:
            return
        families = families_of(self.commit.schema)
        rows = FamilyRows([DUPLICATE], families.profile, as_text=families.options.text, marked=True)
        [table] = entity_tables(rows)
        contexts = [
            rows.row(
                Entity(DUPLICATE.key, {"originalEventId": event.original_id}, "CONTEXT"),
                ShreddedEvent(event.id, event.collected_at.replace(tzinfo=timezone.utc), None, ()),
            )[1]
            for event in renamed
        ]
        staged = str(self.draft.parent / "duplicates.parquet")
        pq.write_table(_arrow_table(table, contexts), staged)
        family = DUPLICATE.key.family
        path = f"vendor={family.vendor}/name={family.name}/model={family.model}"
        written = self._write_table(table, _visible(table), path, sources=[staged])
        digest = definition_digest(rows.table)
        yield RunTable(table.name, (str(DUPLICATE.key),), tuple(_visible(table)), path, digest, written)

    def _write_table(
        self,
        table: Table,
        names: Sequence[str],
        path: str,
        null: str = NULL,
        sources: Sequence[str] | None = None,
    ) -> int:
        """Write the staged rows of a table, or those of other files; how many are left of them."""
        columns = [table.columns[name] for name in names]
        schema = pa.schema([pa.field(column.name, arrow_type(column)) for column in columns])
        gzip = ".gz" if self.run.format == "csv" and self.run.compression == "GZIP" else ""
        ending = f"{_ENDINGS[self.run.format]}{gzip}"
        (self.draft / path).mkdir(parents=True, exist_ok=True)
        parts = [
            (source, str(self.draft / path / f"part-{number:05}.{ending}"))
            for number, source in enumerate(self._paths(table.name) if sources is None else sources)
        ]
        write = partial(write_rows, self.run.format, self.run.compression, schema, null, self.run.duplicates)
        return sum(self.parallel(write, parts))

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

    def _types(self) -> set[tuple[str, str]]:
        """The schemas that rows were made by, each with the kind of entity."""
        names = [f"schema_{part}" for part in ("vendor", "name", "format", "version")]
        types: set[tuple[str, str]] = set()
        for table in self.commit.schema.tables.values():
            if ENTITY_COLUMN in table.columns:
                for batch in self._batches(table.name, [*names, ENTITY_COLUMN]):
                    distinct = pa.Table.from_batches([batch]).group_by(batch.schema.names).aggregate([])
                    for row in distinct.to_pylist():
                        types.add(("iglu:" + "/".join(row[name] for name in names), row[ENTITY_COLUMN]))
        return types

    def _batches(self, table: str, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        return read_rows(self._paths(table), names)

    def _paths(self, table: str) -> list[str]:
        files: Sequence[StagedFile] = self.commit.files.get(table, ())
        return [file.path for file in files]


def _visible(table: Table) -> list[str]:
    """The columns that the files of a table have."""
    marks = {mark.name for mark in MARKS}
    return [name for name in table.columns if name not in marks]


def _arrow_table(table: Table, rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    return pa.table(
        {
            column.name: pa.array([_plain(row.get(column.name)) for row in rows], arrow_type(column))
            for column in table.columns.values()
        }
    )


def _plain(value: Any) -> Any:
    """A time without its zone, as columns of a run hold it."""
    return value.replace(tzinfo=None) if isinstance(value, datetime) else value


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
