"""A folder of Parquet files as the warehouse: run folders per table, and a manifest that makes them count."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import partial
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypeVar

from trellis.destinations.base import (
    NO_COLUMNS,
    NO_FILL_VALUES,
    NO_NATIVE,
    Abilities,
    CatalogTable,
    Commit,
    CommitConflict,
    FillValues,
    Parallel,
    one_by_one,
)
from trellis.destinations.folder import (
    exclusive_lock,
    explain_os_errors,
    make_folder,
    move_file,
    sync_to_disk,
)
from trellis.destinations.parquet.files import read_batches, read_rows
from trellis.destinations.parquet.intent import Intents
from trellis.destinations.parquet.load import (
    TRELLIS_FOLDER,
    Draft,
    ParquetLoad,
    catalog_of,
    folder_of,
    is_of_load,
    merged_columns,
)
from trellis.destinations.parquet.manifest import LiveTable, Manifest, Manifests
from trellis.destinations.parquet.queries import count_by, empty_cells, newest_row
from trellis.destinations.parquet.types import type_name
from trellis.destinations.refusals import refuse_case_variants, unknown_table
from trellis.destinations.row_changes import RowChanges
from trellis.destinations.scan.literals import render_literal
from trellis.destinations.spark_relation import SparkRelation
from trellis.destinations.sql.migration import Migration
from trellis.destinations.sql.preconditions import check_base
from trellis.destinations.sql.queries import version_order
from trellis.engine.staging.stage import folder_name
from trellis.errors import DestinationError
from trellis.evolution.dialect.metadata import MetadataTables
from trellis.schema.model import Column, DataType, Schema
from trellis.warehouses.catalog.databases import DUCKDB
from trellis.warehouses.catalog.lakes import PARQUET

if TYPE_CHECKING:
    import pyarrow as pa

LOCK_WAIT = 600.0
ATTEMPTS = 20
UNLOCKED_ATTEMPTS = 3
"""How often a load is prepared while others may commit; after that they wait for it."""

T = TypeVar("T")


@dataclass(frozen=True)
class DatasetFiles:
    """Where the parts of one dataset are."""

    prefix: str
    lock: str
    manifests: Manifests
    intents: Intents


UNKNOWN_TO_SPARK = ("time32", "time64", "decimal256", "timestamp[ns")
"""How the types of files begin that Spark does not read as they are."""


class Parquet:
    """`parquet:DIR`."""

    abilities = Abilities(
        PARQUET,
        default_dataset="",
        casts=False,
        nested_types=True,
        alters=True,
        grows_structs=True,
        no_merge="plain Parquet files are only appended to or replaced, while delta:PATH, iceberg:PATH, "
        "duckdb:FILE and postgresql://HOST/DB merge",
    )

    def __init__(self, path: str, lock_wait: float = LOCK_WAIT) -> None:
        self.path = path
        self.url = f"parquet:{path}"
        self.lock_wait = lock_wait

    def staging(self, load_id: str) -> str:
        return make_folder(os.path.join(self._staging, folder_name(load_id)))

    def stored_schema(self, dataset: str, name: str, metadata: MetadataTables) -> str | None:
        if name not in self._dataset_files(dataset).manifests.newest().schemas:
            return None
        rows = [row for row in self.history(dataset, metadata) if row["schema_name"] == name]
        return str(rows[-1]["schema"]) if rows else None

    def has_load(self, dataset: str, load_id: str, metadata: MetadataTables) -> bool:
        dataset_files = self._dataset_files(dataset)
        if not _has_load(dataset_files.manifests.newest(), load_id, metadata):
            return False
        if dataset_files.intents.exists(load_id):
            with explain_os_errors(self.path), exclusive_lock(dataset_files.lock, self.lock_wait):
                dataset_files.intents.clean_up(load_id, dataset_files.manifests.newest())
        return True

    def catalog(self, dataset: str) -> Mapping[str, CatalogTable]:
        return catalog_of(self._dataset_files(dataset).manifests.newest())

    def type_name(self, column: Column, native: Mapping[DataType, str] = NO_NATIVE) -> str:
        return type_name(column)

    def migration(
        self,
        dataset: str,
        schema: Schema,
        native: Mapping[DataType, str] = NO_NATIVE,
        retyped: Mapping[str, Sequence[str]] = NO_COLUMNS,
        filled: FillValues = NO_FILL_VALUES,
    ) -> list[str]:
        manifest = self._dataset_files(dataset).manifests.newest()
        refuse_case_variants(schema.tables.values(), catalog_of(manifest))
        for table in schema.tables.values():
            if table.name in manifest.tables:
                merged_columns(table, manifest.tables[table.name], retyped.get(table.name, ()))
        plan = Migration(
            DUCKDB,
            catalog_of(manifest),
            type_name,
            render_literal,
            retyped=retyped,
            filled=filled,
            comments=False,
        )
        return plan.statements(schema.tables.values())

    def commit(self, commit: Commit, parallel: Parallel = one_by_one) -> Mapping[str, RowChanges]:
        dataset_files = self._dataset_files(commit.dataset)
        with explain_os_errors(self.path):
            self._check_dataset_name(commit)
            for attempt in range(ATTEMPTS):
                with ExitStack() as held:
                    if attempt >= UNLOCKED_ATTEMPTS:
                        held.enter_context(exclusive_lock(dataset_files.lock, self.lock_wait))
                    base = dataset_files.manifests.newest()
                    if _has_load(base, commit.load_id, commit.metadata):
                        return {}
                    self._check_base(base, commit)
                    draft = self._draft(dataset_files, base, commit, self._scratch(commit))
                    if draft is None:
                        continue
                    if attempt < UNLOCKED_ATTEMPTS:
                        held.enter_context(exclusive_lock(dataset_files.lock, self.lock_wait))
                    if self._publish(dataset_files, base, commit, draft):
                        return draft.row_changes
        raise DestinationError(
            f"{self.path}: commit conflict: gave up after {ATTEMPTS} attempts, as other loads kept "
            "committing first; nothing was loaded, load again"
        )

    def rehearse(self, commit: Commit, parallel: Parallel = one_by_one) -> Mapping[str, RowChanges]:
        dataset_files = self._dataset_files(commit.dataset)
        with explain_os_errors(self.path), TemporaryDirectory(prefix="trellis-plan-") as scratch:
            self._check_dataset_name(commit)
            base = dataset_files.manifests.newest()
            self._check_base(base, commit)
            draft = self._draft(dataset_files, base, commit, scratch)
            if draft is None:
                raise CommitConflict
            return draft.row_changes

    def _check_base(self, base: Manifest, commit: Commit) -> None:
        """Raises CommitConflict, StateConflict where the load was not planned on these tables."""
        version_hash = base.schemas.get(commit.schema.name)
        check_base(commit, version_hash, catalog_of(base), partial(self._newest_in, base))

    def newest_row(
        self, dataset: str, table: str, column: str, value: str, order: Sequence[str]
    ) -> Mapping[str, Any] | None:
        return self._read(dataset, lambda manifest: self._newest_in(manifest, table, column, value, order))

    def _newest_in(
        self, manifest: Manifest, table: str, column: str, value: str, order: Sequence[str]
    ) -> Mapping[str, Any] | None:
        live = manifest.tables.get(table, LiveTable())
        if column not in live.columns:
            return None
        paths = [os.path.join(self.path, file.path) for file in live.files]
        return newest_row(paths, list(live.columns), column, value, order)

    def query(self, dataset: str, table: str, limit: int | None = None) -> list[dict[str, Any]]:
        def rows(manifest: Manifest) -> list[dict[str, Any]]:
            live = self._live(manifest, table)
            return read_rows([os.path.join(self.path, f.path) for f in live.files], live.columns, limit)

        return self._read(dataset, rows)

    def batches(self, dataset: str, table: str) -> Iterator[pa.RecordBatch]:
        live = self._live(self._dataset_files(dataset).manifests.newest(), table)
        try:
            for file in live.files:
                yield from read_batches(os.path.join(self.path, file.path))
        except FileNotFoundError as bad:
            raise DestinationError(
                f"{self.path}: a load took a file away meanwhile ({bad}); read again"
            ) from bad

    def spark_relation(self, dataset: str, table: str) -> SparkRelation | None:
        live = self._live(self._dataset_files(dataset).manifests.newest(), table)
        if any(type_.startswith(UNKNOWN_TO_SPARK) for type_ in live.columns.values()):
            return None
        folder = os.path.abspath(self.path)
        files = tuple(f"file://{os.path.join(folder, file.path)}" for file in live.files)
        return SparkRelation("parquet", files, {"mergeSchema": "true"})

    def count_by(
        self, dataset: str, table: str, columns: Sequence[str], example: str
    ) -> list[tuple[Any, ...]]:
        def counts(manifest: Manifest) -> list[tuple[Any, ...]]:
            files = self._live(manifest, table).files
            return count_by([os.path.join(self.path, file.path) for file in files], columns, example)

        return self._read(dataset, counts)

    def empty_cells(
        self, dataset: str, table: str, key: str, column: str, values: Sequence[str]
    ) -> Collection[str]:
        def cells(manifest: Manifest) -> Collection[str]:
            live = self._live(manifest, table)
            paths = [os.path.join(self.path, file.path) for file in live.files]
            return empty_cells(paths, key, column, values)

        return self._read(dataset, cells)

    def row_counts(self, dataset: str) -> Mapping[str, int]:
        return {
            name: table.rows for name, table in self._dataset_files(dataset).manifests.newest().tables.items()
        }

    def history(self, dataset: str, metadata: MetadataTables) -> list[dict[str, Any]]:
        if metadata.versions not in self.catalog(dataset):
            return []
        rows = self.query(dataset, metadata.versions)
        return sorted(rows, key=version_order)

    def _live(self, manifest: Manifest, table: str) -> LiveTable:
        if table not in manifest.tables:
            raise unknown_table(self.path, table, manifest.tables)
        return manifest.tables[table]

    @property
    def _staging(self) -> str:
        return os.path.join(self.path, TRELLIS_FOLDER, "staging")

    def _dataset_files(self, dataset: str) -> DatasetFiles:
        if os.path.lexists(self.path) and not os.path.isdir(self.path):
            raise DestinationError(f"{self.path}: it is a file, not a folder; name a folder for the tables")
        prefix = f"{folder_of(dataset)}/" if dataset else ""
        folder = os.path.join(self.path, prefix, TRELLIS_FOLDER)
        return DatasetFiles(
            prefix,
            os.path.join(folder, "lock"),
            Manifests(os.path.join(folder, "manifests")),
            Intents(os.path.join(folder, "intents"), self.path, self._staging),
        )

    def _read(self, dataset: str, read: Callable[[Manifest], T]) -> T:
        """Read files of the newest manifest; if a load removes some meanwhile, those of the next."""
        manifests = self._dataset_files(dataset).manifests
        while True:
            manifest = manifests.newest()
            try:
                return read(manifest)
            except FileNotFoundError as bad:
                if manifests.number() == manifest.number:
                    raise DestinationError(
                        f"{self.path}: a file of table data is missing ({bad}); restore it from a backup"
                    ) from bad

    def _draft(
        self, dataset_files: DatasetFiles, base: Manifest, commit: Commit, scratch: str
    ) -> Draft | None:
        """The tables after this load, or None if another load removed files under it."""
        shutil.rmtree(scratch, ignore_errors=True)
        try:
            make_folder(scratch)
            return ParquetLoad(self.path, dataset_files.prefix, commit, base, scratch).draft_tables()
        except (OSError, DestinationError):
            if dataset_files.manifests.number() != base.number:
                return None
            raise

    def _publish(self, dataset_files: DatasetFiles, base: Manifest, commit: Commit, draft: Draft) -> bool:
        """Move the files in and add the manifest; False if another load was faster. The lock is held."""
        if dataset_files.manifests.number() != base.number:
            return False
        schemas = {**base.schemas, commit.schema.name: str(commit.schema.stored_hash)}
        after = Manifest(base.number + 1, commit.load_id, schemas, draft.tables)
        scratch = self._scratch(commit)
        dataset_files.intents.clean_up_dead_loads(commit.load_id, base)
        dataset_files.intents.write(commit.load_id, base.paths ^ after.paths, scratch)
        moved: list[tuple[str, str]] = []
        added = False
        try:
            for source, target in draft.moves:
                moved.append((source, os.path.join(self.path, target)))
                move_file(*moved[-1])
                sync_to_disk(moved[-1][1])
            for source, target in draft.links:
                os.makedirs(os.path.dirname(os.path.join(self.path, target)), exist_ok=True)
                os.link(os.path.join(self.path, source), os.path.join(self.path, target))
            for folder in {os.path.dirname(path) for path in after.paths - base.paths}:
                sync_to_disk(os.path.join(self.path, folder))
                sync_to_disk(os.path.dirname(os.path.join(self.path, folder)))
            added = dataset_files.manifests.add(after, scratch)
        finally:
            if added or dataset_files.manifests.newest() == after:
                with suppress(OSError):
                    dataset_files.intents.clean_up(commit.load_id, after)
                    dataset_files.manifests.prune()
            else:
                for source, target in moved:
                    with suppress(FileNotFoundError):
                        move_file(target, source)
                dataset_files.intents.clean_up(commit.load_id, dataset_files.manifests.newest())
        return added

    def _scratch(self, commit: Commit) -> str:
        return os.path.join(self._staging, folder_name(commit.load_id), "_commit")

    def _check_dataset_name(self, commit: Commit) -> None:
        """A table folder and a dataset folder cannot be one."""
        name = commit.dataset
        if name and any(t == name for t in self._dataset_files("").manifests.newest().tables):
            raise DestinationError(f"{self.path}: {name} is a table there; give the dataset another name")
        for table in () if name else commit.schema.tables:
            if os.path.isdir(os.path.join(self.path, folder_of(table), TRELLIS_FOLDER)):
                raise DestinationError(f"{self.path}: {table} is a dataset there; rename the table")


def _has_load(manifest: Manifest, load_id: str, metadata: MetadataTables) -> bool:
    loads = manifest.tables.get(metadata.loads)
    return loads is not None and any(is_of_load(file.path, load_id) for file in loads.files)
