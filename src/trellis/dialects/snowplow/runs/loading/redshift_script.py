"""The statements that load a run into Redshift, as text: nothing is run."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from trellis.destinations.sql.literals import string_literal
from trellis.destinations.sql.names import quoted
from trellis.dialects.snowplow.client.registry import Registry
from trellis.dialects.snowplow.columns.profiles import PROFILES
from trellis.dialects.snowplow.rows.csv import EVENTS
from trellis.dialects.snowplow.runs.layouts import events_path
from trellis.dialects.snowplow.runs.loading.events_table import events_change
from trellis.dialects.snowplow.runs.loading.migration import FamilyVersions, TablePlanner
from trellis.dialects.snowplow.runs.loading.records import MANIFEST, manifest_row
from trellis.dialects.snowplow.runs.loading.verification import Verification
from trellis.dialects.snowplow.runs.manifest import (
    COMPLETION_FILE,
    FORMAT_NAMES,
    RunManifest,
    is_complete,
)
from trellis.dialects.snowplow.runs.warehouses.tables import (
    RealColumn,
    RealTable,
    TableChange,
    group_columns,
)
from trellis.dialects.snowplow.stored_families import LOAD_TIME
from trellis.errors import SchemaError, UsageError
from trellis.warehouses.statements import ColumnDefinition, create_table

PROFILE: Final = PROFILES["redshift"]
_MANIFEST_TYPES: Final = {"types": "VARCHAR(65535)", "base": "VARCHAR(512)"}


@dataclass(frozen=True)
class RedshiftScript:
    """Scripts of runs whose files are below `stage`, such as `s3://acme/shredded`."""

    registry: Registry
    dataset: str
    stage: str
    role: str
    """The ARN of the role that lets Redshift read the files."""
    verification: Verification = "count"
    most_errors: int = 10

    def scripts(self, runs: Iterable[Path], tables: Mapping[str, RealTable]) -> Iterator[str]:
        """What loads runs into these tables, one after the other.

        Of each run columns are resized, then one transaction does the rest. A run that is incomplete is left
        out, and a comment says so. Raises SchemaError for a run that the tables may not take.
        """
        known = dict(tables)
        for run in runs:
            if not is_complete(run):
                yield f"-- {run.name}: left out, as it has no {COMPLETION_FILE}\n"
                continue
            script, changes = self._script(run, known)
            known |= {change.table: _changed(known.get(change.table), change) for change in changes.values()}
            yield f"-- {run.name}\n{script}"

    def _script(self, run: Path, tables: Mapping[str, RealTable]) -> tuple[str, Mapping[str, TableChange]]:
        manifest = RunManifest.of_loadable(run)
        if manifest.profile != PROFILE.name:
            raise SchemaError(
                f"{run}: it was shredded for {manifest.profile}; shred it again with --profile redshift"
            )
        families = FamilyVersions(self.registry, PROFILE, manifest.compat)
        planner = TablePlanner(families, self.dataset, manifest, self.verification)
        changes = planner.changes(tables)
        if manifest.event_rows:  # before the others, which refer to it
            events = events_change(PROFILE, self.dataset, tables.get(EVENTS), self.registry)
            changes = {EVENTS: events, **changes}
        resizing = [statement for change in changes.values() for statement in change.resizing]
        inside = [
            self._create_manifest(),
            *(statement for change in changes.values() for statement in change.adding),
            *self._copies(run, manifest, changes),
            *self._load_time(manifest),
            self._record(run, manifest),
        ]
        statements = (*resizing, "BEGIN TRANSACTION", *inside, "END TRANSACTION")
        return "".join(f"{statement};\n" for statement in statements), changes

    def _copies(self, run: Path, manifest: RunManifest, changes: Mapping[str, TableChange]) -> Iterator[str]:
        if manifest.event_rows:
            names = [column.name for column in changes[EVENTS].columns if column.name != LOAD_TIME]
            path = events_path(manifest.layout, manifest.format)
            yield self._copy(EVENTS, names, f"{run.name}/{path}", manifest)
        for table in manifest.tables:
            change = changes[table.table]
            names = [change.renamed.get(name, name) for name in table.columns]
            yield self._copy(change.table, names, f"{run.name}/{table.path}", manifest)

    def _copy(self, table: str, names: list[str], path: str, manifest: RunManifest) -> str:
        listed = ", ".join(map(quoted, names))
        source = string_literal(self._staged(path))
        is_csv = manifest.format == "csv"
        format = f"FORMAT AS {FORMAT_NAMES[manifest.format]}"
        options = self._csv_options(table, manifest) if is_csv else [format]
        return (
            f"COPY {self._reference(table)} ({listed}) FROM {source} "
            f"IAM_ROLE {string_literal(self.role)} {' '.join(options)}"
        )

    def _csv_options(self, table: str, manifest: RunManifest) -> list[str]:
        return [
            r"DELIMITER '\t'",
            "TIMEFORMAT 'auto'",
            "TRUNCATECOLUMNS",
            "ACCEPTINVCHARS",
            f"MAXERROR {self.most_errors}",
            *(["EMPTYASNULL", "FILLRECORD"] if table == EVENTS else []),
            *(["GZIP"] if manifest.compression == "GZIP" else []),
        ]

    def _load_time(self, manifest: RunManifest) -> Iterator[str]:
        """The statement that fills the time of the load, which the files do not have."""
        if manifest.event_rows and manifest.earliest and manifest.latest:
            bounds = [
                string_literal(f"{time:%Y-%m-%d %H:%M:%S.%f}")
                for time in (manifest.earliest, manifest.latest)
            ]
            yield (
                f"UPDATE {self._reference(EVENTS)} SET {LOAD_TIME} = GETDATE() WHERE {LOAD_TIME} IS NULL "
                f"AND collector_tstamp BETWEEN {' AND '.join(bounds)}"
            )

    def _create_manifest(self) -> str:
        columns = [
            ColumnDefinition(
                column.name,
                _MANIFEST_TYPES.get(column.name, PROFILE.warehouse.type_of(column)),
                constraint="PRIMARY KEY" if column.hint("primary_key") else "",
            )
            for column in MANIFEST.complete_columns
        ]
        return create_table(PROFILE.warehouse, self._reference(MANIFEST.name), columns, if_missing=True)

    def _staged(self, path: str) -> str:
        return f"{self.stage.rstrip('/')}/{path}/"

    def _record(self, run: Path, manifest: RunManifest) -> str:
        """The row of the run, which loaders of Snowplow know by its place in S3."""
        row = manifest_row(manifest, manifest.completed) | {"base": self._staged(run.name)}
        del row["ingestion_tstamp"]
        values = {
            **{name: "NULL" if value is None else string_literal(str(value)) for name, value in row.items()},
            "ingestion_tstamp": "GETDATE()",
            "count_good": str(manifest.good),
        }
        return (
            f"INSERT INTO {self._reference(MANIFEST.name)} ({', '.join(map(quoted, values))}) "
            f"VALUES ({', '.join(values.values())})"
        )

    def _reference(self, table: str) -> str:
        return PROFILE.warehouse.reference(self.dataset, table)


def _changed(real: RealTable | None, change: TableChange) -> RealTable:
    """The table after a change."""
    columns = {column.name: column for column in real.columns} if real else {}
    for column in change.columns if change.created else (*change.widened, *change.added):
        columns[column.name] = RealColumn(column.name, PROFILE.type_text(column.type), column.nullable)
    return RealTable(tuple(columns.values()), str(change.key))


def read_catalog(file: Path) -> dict[str, RealTable]:
    """The tables of a dataset from lines of CSV: table, comment, column, type, whether it may be NULL (t, f).

    Raises UsageError.
    """
    try:
        with file.open(encoding="utf-8", newline="") as lines:
            rows = [*csv.reader(lines)]
    except OSError as error:
        raise UsageError(
            f"{file}: the catalog cannot be read ({error.strerror}); name the file with --catalog"
        ) from None
    except ValueError as error:
        raise UsageError(f"{file}: not CSV in UTF-8 ({error}); write it with psql --csv -t") from None
    for number, row in enumerate(rows, start=1):
        if len(row) != 5:
            raise UsageError(
                f"{file}:{number}: {len(row)} values; expected table, comment, column, type, and t where it "
                "may be NULL, else f"
            )
    return group_columns(
        (table, comment or None, column, type_, nullable in ("t", "true"))
        for table, comment, column, type_, nullable in rows
    )
