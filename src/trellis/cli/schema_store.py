"""Schemas where they are: in a destination, with their versions, or in a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from trellis.cli.output.console import aside
from trellis.cli.schema_files import read_schema, schema_file
from trellis.cli.settings import open_pipeline
from trellis.destinations import open_destination
from trellis.destinations.waiting import NotifiesWaiting
from trellis.dialects import get_dialect, history_columns
from trellis.dialects.documents import from_stored
from trellis.errors import SchemaError, UsageError, nearest
from trellis.evolution.dialect.schemas import TableRequest
from trellis.pipelines.config import Config, find_config
from trellis.pipelines.datasets.schema_history import Changes, SchemaHistory, Version, difference
from trellis.pipelines.pipeline import Pipeline
from trellis.pipelines.read import dialect_of
from trellis.schema.documents.consistency import all_faults
from trellis.schema.merge import merge_schema
from trellis.schema.model import Schema, Settings, Table
from trellis.schema.system import is_system


@dataclass(frozen=True)
class StoredSchema:
    """One schema in one dataset of a destination."""

    pipeline: Pipeline
    rows: tuple[dict[str, Any], ...]

    @staticmethod
    def open(at: str | None, dataset: str | None, name: str | None, empty: bool = False) -> StoredSchema:
        """Raises UsageError where there is none, unless `empty` says that this is right."""
        config = Config(to=at, dataset=dataset, name=name).over(find_config())
        if config.to is None:
            raise UsageError(
                "missing schema: give a FILE, or a destination with --to, such as --to duckdb:shop.duckdb"
            )
        if config.dialect is None:
            config = replace(config, dialect=_dialect_at(config.to, config.dataset))
        pipeline = open_pipeline(config)
        metadata = get_dialect(pipeline.dialect).metadata.tables()
        rows = pipeline.destination.history(pipeline.dataset, metadata)
        names = list(dict.fromkeys(str(row["schema_name"]) for row in rows))
        if config.name is None and pipeline.name not in names and len(names) == 1:
            pipeline.name = names[0]
        if pipeline.name not in names and not empty:
            raise UsageError(_none(pipeline, names))
        return StoredSchema(pipeline, tuple(row for row in rows if row["schema_name"] == pipeline.name))

    @property
    def name(self) -> str:
        return self.pipeline.name

    @property
    def newest(self) -> Schema:
        return self.pipeline.schema

    def versions(self) -> list[Version]:
        """From the first to the newest."""
        return SchemaHistory(self.pipeline, self.rows).versions(self.name)

    def version(self, number: int) -> Schema:
        rows = [row for row in self.rows if int(row["version"]) == number]
        if not rows:
            known = ", ".join(str(row["version"]) for row in self.rows)
            raise UsageError(
                f"{self.pipeline.destination.url}: schema {self.name} has no version {number}; it has {known}"
            )
        return from_stored(str(rows[-1]["schema"]), f"version {number} in {self.pipeline.destination.url}")

    def refuse_unknown_tables(self, schema: Schema, names: Sequence[str]) -> None:
        """Raises UsageError for a table that a version lacks and another one has."""
        for name in names:
            if name in schema.tables:
                continue
            versions = (self.version(int(row["version"])) for row in self.rows)
            others = [str(version.stored_version) for version in versions if name in version.tables]
            if others:
                raise UsageError(
                    f"schema {schema.name}, version {schema.stored_version}, has no table {name!r}; choose a "
                    f"--version that has it: {', '.join(others)}"
                )


def schema_at(file: str | None, at: str | None, dataset: str | None, name: str | None) -> Schema:
    """The schema of a file, or the newest of a destination."""
    if file is not None and at is not None:
        raise UsageError(f"{file} and --to {at} are two schemas; give one")
    return read_schema(file).schema if file is not None else StoredSchema.open(at, dataset, name).newest


def sides(
    a: str, b: str | None, at: str | None, dataset: str | None, name: str | None
) -> tuple[Schema, Schema]:
    """The two schemas of a comparison: each a file, or a version number."""
    store: StoredSchema | None = None

    def side(text: str | None) -> Schema:
        nonlocal store
        if text is not None and not (text.isdigit() and not Path(text).exists()):
            return read_schema(text).schema
        if at is None and find_config().to is None:
            raise UsageError(
                f"version {text} needs a destination: add --to, such as --to duckdb:shop.duckdb"
                if text
                else "missing second schema: give a second file, or a destination with --to"
            )
        store = store or StoredSchema.open(at, dataset, name)
        return store.newest if text is None else store.version(int(text))

    return side(a), side(b)


def imported(store: StoredSchema, file: str, imported_schema: Schema) -> tuple[Schema, Changes]:
    """The schema that one of a file makes of the newest one, and what that changes."""
    before = store.newest
    pipeline, dialect = store.pipeline, get_dialect(store.pipeline.dialect)
    system_tables = {
        name: table
        for name, table in before.tables.items()
        if name.startswith(dialect.capabilities.system_prefix)
    }
    theirs = {
        name: _as_known(table, before, dialect.capabilities.system_prefix)
        for name, table in imported_schema.tables.items()
        if name not in system_tables
    }
    root = next((table.name for table in theirs.values() if not table.nested), None)
    if root is None:
        raise SchemaError(f"{file}: holds no table; declare at least one under 'tables'")
    base = replace(
        before,
        tables=system_tables,
        description=imported_schema.description or before.description,
        normalizers={**before.normalizers, **imported_schema.normalizers},
    )
    naming = dialect.naming.naming(base, pipeline.destination.abilities.max_identifier)
    whole = replace(
        imported_schema,
        tables=theirs,
        settings=_settings(before, imported_schema),
        normalizers=base.normalizers,
    )
    after = dialect.schemas.apply_request(merge_schema(base, whole, naming), TableRequest(table=root), naming)
    return after, difference(before, after)


def with_contract(schema: Schema, contract: str | Mapping[str, str] | None) -> Schema:
    """The schema with this contract for all root tables; None leaves theirs."""
    if contract is None:
        return schema
    roots = (table for table in schema.tables.values() if not table.nested)
    return schema.with_tables(*(table.with_hints(schema_contract=contract) for table in roots))


def _as_known(table: Table, before: Schema, prefix: str) -> Table:
    """The table with the dialect's own columns and what the engine noted of it, unless the file has these."""
    known = before.tables.get(table.name)
    if known is None:
        return table
    kept = (c for c in known.columns.values() if is_system(c.name, prefix) and c.name not in table.columns)
    table = table.with_columns(*kept)
    notes = known.hints.get("x-normalizer")
    return (
        table if not notes or "x-normalizer" in table.hints else table.with_hints(**{"x-normalizer": notes})
    )


def _settings(before: Schema, imported_schema: Schema) -> Settings:
    settings = {
        field_.name: value
        for field_ in fields(Settings)
        if (value := getattr(imported_schema.settings, field_.name)) is not None and value != {}
    }
    return replace(before.settings, **settings)


def refuse_breaking(file: str, changes: Changes) -> None:
    breaking = [change.describe() for change in changes if change.breaking]
    if breaking:
        more = f" and {len(breaking) - 1} more" if len(breaking) > 1 else ""
        raise SchemaError(f"{file}: breaking changes are not imported without --force ({breaking[0]}{more})")


def lint(files: Sequence[str]) -> bool:
    """Say of each file whether it is right; whether all are."""
    from trellis.cli.output.console import console, counted, error_console

    right = True
    for file in files:
        try:
            schema = schema_file(file, lambda document: all_faults(document, history_columns()))
        except (SchemaError, UsageError) as bad:
            error_console().print("error: ", style="bold red", end="")
            error_console().print(str(bad), soft_wrap=True)
            right = False
            continue
        columns = sum(len(table.columns) for table in schema.tables.values())
        summary = f"{file}: right, schema {schema.name} with {counted(len(schema.tables), 'table')}"
        console().print(f"{summary} and {counted(columns, 'column')}", soft_wrap=True)
    return right


def _dialect_at(to: str, dataset: str | None) -> str | None:
    """The dialect that filled a dataset, told by the record of its loads."""
    destination, tell = open_destination(to), aside()
    if isinstance(destination, NotifiesWaiting):
        destination.notify = lambda notice: tell(notice, 0, None)
    return dialect_of(destination, dataset or destination.abilities.default_dataset)


def _none(pipeline: Pipeline, names: Sequence[str]) -> str:
    where = (
        f"{pipeline.destination.url}, dataset {pipeline.dataset}"
        if pipeline.dataset
        else pipeline.destination.url
    )
    if not names:
        return f"{where}: holds no schema yet; load something into it, or import a schema"
    return f"{where}: holds no schema {pipeline.name!r}{nearest(pipeline.name, names)} (--name chooses)"
