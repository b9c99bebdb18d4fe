"""Pipelines: named streams of records into one dataset of one destination."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from trellis.destinations import open_destination
from trellis.destinations.base import CatalogTable, Destination, Reset, RunState
from trellis.destinations.waiting import NotifiesWaiting
from trellis.dialects import DEFAULT_DIALECT, get_dialect, registration_of
from trellis.dialects import names as dialects
from trellis.dialects.documents import from_stored
from trellis.engine.input.read_options import ReadOptions
from trellis.engine.records.files import FileRecords, Records
from trellis.engine.runner import Runner
from trellis.engine.spark.storage import current_storage
from trellis.engine.staging.loaded_files import FileClaim
from trellis.engine.storage.location import absolute, is_remote
from trellis.engine.storage.storage import Storage
from trellis.errors import UsageError
from trellis.evolution.dialect import Dialect
from trellis.evolution.dialect.metadata import State
from trellis.pipelines.datasets.dataset import Dataset, StoredTable
from trellis.pipelines.engine import Engine, engine_of, runner_of
from trellis.pipelines.history import LoadHistory, LoadOutcome, begin_outcome
from trellis.pipelines.loading.checks import refuse_edited
from trellis.pipelines.loading.job import LoadContext, LoadInput, LoadJob, ProgressCallback, ignore_progress
from trellis.pipelines.loading.new_files import LoadedFile, load_new_files, loaded_files
from trellis.pipelines.loading.options import LoadSettings, read_schema, registry_of, with_files
from trellis.pipelines.loading.reject_limit import RejectLimit
from trellis.pipelines.loading.runner import LoadRunner
from trellis.pipelines.records import DEFAULT_READ_OPTIONS, RecordSource, records_of, source_names
from trellis.pipelines.refresh import Refresh, drop_job, forgetting, refresh_of, reset_of
from trellis.pipelines.report import Report
from trellis.pipelines.schema_folders import SchemaFolders
from trellis.pipelines.schema_proposals import propose_schema
from trellis.pipelines.schema_versions import NO_CHANGES, SchemaChanges, save_schema
from trellis.pipelines.source_job import job_of, source_of, undeclared
from trellis.pipelines.streaming.options import StreamSettings
from trellis.pipelines.streaming.stream import start_stream
from trellis.schema.model import Schema
from trellis.schema.user_schema import with_normalizers
from trellis.sources import Source, current
from trellis.sources.extraction.extract import NextItemMode, extract

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from trellis.pipelines.loading.options import LoadOptions
    from trellis.pipelines.streaming.options import StreamOptions
    from trellis.pipelines.streaming.stream import OnBatch, Stream
    from trellis.sources.hints.hints import ResourceHints


@dataclass(repr=False)
class Pipeline:
    """A named stream of records into one dataset of one destination.

    Files are conformed by Spark: by the active session with its settings as they are, else at `master` or
    `remote`, else in local mode. `engine="inline"` runs the same conformers in this process, without a JVM;
    None leaves the choice to the environment variable TRELLIS_ENGINE. `naming` is the convention that names
    follow from the first load on, before that of the destination and that of a schema; `settings` are the
    options of the dialect. `import_schema` is a folder with a schema document to take over when it changes,
    `export_schema` one to write it to after each load. `staging` is a folder or URL that the driver and all
    workers reach, where rows wait for their commit; without it they wait beside the destination. `tell` is
    called with (stage, bytes done, bytes in all); where the destination waits for another process the stage
    is a sentence that says so.
    """

    name: str
    to: str
    dataset: str = ""
    dialect: str = DEFAULT_DIALECT
    master: str | None = None
    remote: str | None = None
    engine: Engine | None = None
    naming: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    import_schema: str | None = None
    export_schema: str | None = None
    staging: str | None = None
    tell: ProgressCallback = ignore_progress

    def __post_init__(self) -> None:
        engine_of(self.engine, self.master, self.remote)
        if self.staging is not None:
            self.staging = absolute(self.staging)
        self.destination: Destination = open_destination(self.to)
        if isinstance(self.destination, NotifiesWaiting):
            self.destination.notify = lambda notice: self.tell(notice, 0, None)
        self._dialect: Dialect = get_dialect(self.dialect)
        dialect = self._dialect
        self._folders = SchemaFolders(
            self.import_schema, self.export_schema, dialect.capabilities.system_prefix
        )
        naming = self.destination.abilities.naming if "naming" in dialect.capabilities.options else None
        if self.naming is not None:
            self.settings = {**self.settings, "naming": self.naming}
        elif naming is not None:
            self.settings = {"naming": naming, **self.settings}
        self.settings = with_files(self.settings, dialect.capabilities.file_options)
        self.dataset = self.dataset or self._dialect.naming.dataset(
            self.settings, self.destination.abilities.default_dataset
        )

    def __repr__(self) -> str:
        where = f"{self.destination.url!r}, dataset={self.dataset!r}"
        return f"Pipeline({self.name!r}, {where}, dialect={self.dialect!r})"

    @property
    def schema(self) -> Schema:
        """The newest schema in the destination, or an empty one."""
        return self.look()[0]

    @property
    def where(self) -> str:
        """The dataset, for messages."""
        return f"{self.destination.url}, dataset {self.dataset}" if self.dataset else self.destination.url

    @property
    def storage(self) -> Storage:
        """How files are opened: with the settings of the active Spark session, else of the environment."""
        return current_storage()

    @property
    def state(self) -> State:
        """What the pipeline remembers of its sources. Raises SchemaError."""
        return self._recall()[0]

    def _recall(self) -> tuple[State, RunState | None]:
        """The state, and how it is told whether another run moved it."""
        dialect, row = self._dialect, None
        metadata = dialect.metadata.tables()
        if metadata.states:
            row = self.destination.newest_row(
                self.dataset, metadata.states, "pipeline_name", self.name, metadata.newest
            )
        state = dialect.metadata.restore_state(row, self.name, self.dataset)
        if not metadata.states:
            return state, None
        return state, RunState(self.name, str(row["version_hash"]) if row else None)

    def look(self, schema_name: str = "") -> tuple[Schema, Mapping[str, CatalogTable] | None]:
        """The newest schema, and the real tables where these say which columns it has.

        Without a name it is the pipeline's own. Raises SchemaError for one that was edited by hand.
        """
        dialect, catalog, name = self._dialect, None, schema_name or self._schema_of(self.state)
        stored = self.destination.stored_schema(self.dataset, name, dialect.metadata.tables())
        if stored is None:
            self._refuse_other_dialect()
        where = f"{self.where}, newest version of schema {name}"
        schema = from_stored(stored, where) if stored is not None else dialect.schemas.new_schema(name)
        refuse_edited(schema, self.where)
        schema = self._folders.imported(schema)
        if dialect.capabilities.follows_catalog:
            catalog = self.destination.catalog(self.dataset)
            schema = dialect.schemas.schema_from_catalog(schema, catalog)
        return dialect.schemas.configure(schema, self.settings, self.destination.abilities.family), catalog

    def declared(self, schema: Schema) -> Schema:
        """The schema, linked to the file in the import folder; the file is written if there is none."""
        return self._folders.declared(schema)

    def _refuse_other_dialect(self) -> None:
        """A dataset that another dialect filled is not ours: its tables would be taken for other things."""
        catalog = self.destination.catalog(self.dataset)
        versions = self._dialect.metadata.tables().versions
        if not catalog or versions in catalog:
            return
        for other in dialects():
            foreign = get_dialect(other).metadata.tables().versions
            if foreign != versions and foreign in catalog:
                raise UsageError(
                    f"{self.where}: the dialect {other} filled it, not {self.dialect}; add "
                    f"--dialect {other}, or load into another dataset"
                )

    def load(self, source: RecordSource, table: str | None = None, **options: Unpack[LoadOptions]) -> Report:
        """Load records: paths, a DataFrame, an Arrow table, pandas, or an iterable of dicts.

        `table` is the root table, default the name of the first file; the options are those of
        `LoadOptions`. `format` and `read_options` say how Spark reads paths and tables:
        `load("raw/*.txt", format="csv", read_options={"sep": ";"})`, `load("table:raw.events")`.
        Raises UsageError, SchemaError, ContractError, DestinationError or SparkError; the destination is then
        as it was.
        """
        settings = LoadSettings.of(table, options)
        return self._record(lambda outcome: self._load(source, settings, False, outcome), source)

    def plan(self, source: RecordSource, table: str | None = None, **options: Unpack[LoadOptions]) -> Report:
        """What `load` would do: the same report, nothing written."""
        return self._load(source, LoadSettings.of(table, options), dry_run=True)

    def stream(
        self,
        source: Any,
        table: str | None = None,
        *,
        on_batch: OnBatch | None = None,
        **options: Unpack[StreamOptions],
    ) -> Stream:
        """Load what arrives: files below paths, `kafka://broker/topic`, or a streaming DataFrame.

        Each micro-batch is one load, also where it is repeated after a crash. `on_batch` gets the report of
        each one that is done; the options are those of `StreamOptions`. Raises UsageError, SparkError.

            stream = shop.stream("kafka://broker/orders", trigger="available-now")
            stream.wait()
        """
        return start_stream(self, source, StreamSettings.of(table, options), self._runner(), on_batch)

    def run(
        self,
        source: Any,
        *,
        refresh: Refresh | None = None,
        load_id: str | None = None,
        max_rejected: int | str | None = None,
        next_item_mode: NextItemMode = "round_robin",
        **hints: Unpack[ResourceHints],
    ) -> Report:
        """Load a source, a resource or rows, with what they declare, all tables in one commit.

        `hints` are those of `trellis.resource`, and apply to every resource that is loaded. `refresh` takes
        away before it loads: `drop_sources` all tables and the state of the source, `drop_resources` those
        of the selected resources, `drop_data` their rows. `max_rejected` is that of `load`. `next_item_mode`
        says whether the resources are read in turns, a page each, or one after the other (`fifo`). Rows that
        the destination did not take are kept, and the next run loads them, and only them. Raises what `load`
        raises.
        """
        limit = RejectLimit.of(max_rejected)
        return self._record(
            lambda outcome: self._run(source, refresh, load_id, limit, next_item_mode, hints, outcome)
        )

    def read(
        self,
        table: str,
        *,
        load: str | datetime | None = None,
        nested: bool = False,
        system_columns: bool = True,
    ) -> StoredTable:
        """A table of the dataset: `.spark()`, `.arrow()`, `.pandas()` and `.duckdb()` read it.

        `load` is the id of a load, `last`, or a time: then the rows that the last load up to it brought.
        `nested` puts the rows of each table below into a list. `system_columns=False` leaves out what the
        records did not have. Raises UsageError for a table or load that is not there.
        """
        dataset = Dataset(self.destination, self.dataset, self.dialect, self.master, self.remote)
        return dataset.table(table, load=load, nested=nested, system_columns=system_columns)

    def loads(self) -> list[LoadOutcome]:
        """What became of the loads into the dataset, of those that failed too; the oldest first."""
        return self._history.outcomes()

    def loaded_files(self) -> list[LoadedFile]:
        """The files that loads with `new_only` brought into the dataset, the oldest first."""
        return loaded_files(self.destination, self.dataset)

    def _record(self, load: Callable[[LoadOutcome], Report], source: Any = None) -> Report:
        return self._history.record(begin_outcome(self.name, self.dialect), load, source_names(source))

    @property
    def _history(self) -> LoadHistory:
        return LoadHistory(self.destination.url, self.dataset)

    def _run(
        self,
        source: Any,
        refresh: Refresh | None,
        load_id: str | None,
        reject_limit: RejectLimit,
        next_item_mode: NextItemMode,
        hints: ResourceHints,
        outcome: LoadOutcome,
    ) -> Report:
        delivered = self.load_runner().deliver()
        if delivered is not None:
            return delivered
        dialect, mode = self._dialect, refresh_of(refresh)
        (state, base_state), reset = self._recall(), Reset()
        named = source_of(source, self._schema_of(state), hints)
        schema = self.look(named.name)[0]
        if mode is not None:
            chosen = [resource.name for resource in named.resources.read]
            reset = reset_of(schema, chosen, mode, dialect.capabilities.system_prefix)
            state = forgetting(state, named.name, chosen, mode)
        runner = self._runner()
        extracted = extract(named, (state.get("sources") or {}).get(named.name) or {}, schema, next_item_mode)
        job = job_of(extracted, state, dialect, lambda rows: self._records(rows, runner))
        settings = dialect.schemas.new_schema(named.name).settings if isinstance(source, Source) else None

        def prepared(stored: Schema) -> Schema:
            kept = dialect.tables.drop_tables(stored, reset.drop) if reset.drop else stored
            return kept if settings is None else undeclared(kept, settings)

        moves = job.state is not None and job.state.get("sources")
        user_schema = self._named(job.user_schema)
        job = replace(
            job,
            user_schema=user_schema,
            prepared=prepared,
            reset=reset,
            base_state=base_state if moves else None,
            reject_limit=reject_limit,
        )
        return self.load_runner().run(job, load_id, keeps=True, outcome=outcome)

    def drop(self, resources: Sequence[str] = (), *, source: str = "") -> Report:
        """Drop the tables of these resources (`re:` takes a pattern), and forget their state.

        Without resources: all of the source. Raises UsageError, DestinationError.
        """
        state = self.state
        schema = self.look(source or self._schema_of(state))[0]
        if schema.stored_hash is None:
            raise UsageError(
                f"{self.where} holds no schema {schema.name!r}, so there is nothing to drop; --name is the "
                "pipeline that loaded it, --source its schema"
            )
        job = drop_job(schema, state, self._dialect, resources)
        return self.load_runner().run(job)

    def drop_pending(self) -> int:
        """Forget the rows that a failed run left behind; how many packages there were."""
        return self.load_runner().packages.drop()

    def save_schema(self, schema: Schema, changes: SchemaChanges = NO_CHANGES, *, origin: str = "") -> Schema:
        """Record a schema as the newest version, without rows, and bring its tables to it, in one commit.

        It must be made from the version that is there now, `pipeline.schema`; `origin` is the file that it
        came from. Raises SchemaError, DestinationError, and ConflictError where another load was faster.
        """
        return save_schema(self, schema, changes, origin=origin)

    def _load(
        self, source: Any, options: LoadSettings, dry_run: bool, outcome: LoadOutcome | None = None
    ) -> Report:
        def load(source: Any, options: LoadSettings, claim: FileClaim | None = None) -> Report:
            line_extensions = self._dialect.capabilities.line_extensions
            reading = replace(options.reading, line_extensions=line_extensions)
            records = self._records(source, self._runner(), options.payload, reading)
            job = replace(self.load_job(source, records, options, dry_run), claim=claim)
            (feed,) = job.feeds
            fingerprint = None
            if not (dry_run or options.load_id or claim):  # a claim is remembered by the destination
                parts = (self.name, self.dialect, self.dataset, feed.request.table, options.mode or "")
                fingerprint = records.fingerprint(*parts)
            return self.load_runner().run(job, options.load_id, fingerprint, dry_run, outcome=outcome)

        if options.new_only:
            return load_new_files(self, source, options, load)
        return load(source, options)

    def load_job(
        self, source: Any, records: Records, options: LoadSettings, dry_run: bool = False
    ) -> LoadJob:
        """What a load of the records of a source is to do. Raises UsageError, SchemaError."""
        if options.only_tables and not self._dialect.capabilities.tables_fail_alone:
            raise UsageError(f"the dialect {self.dialect} loads all tables or none; leave --only-table out")
        table = self.root_table(options.table, records.name)
        state = self.state
        schema = self._schema_of(state)
        changed = None if dry_run else self._dialect.metadata.next_state(state, schema, None)
        user_schema: Schema | None = None
        notes: tuple[str, ...] = ()
        resolve = registry_of(options.schema, self.dialect)
        if options.schema is not None and resolve is None:
            user_schema = read_schema(options.schema, self._dialect)
        elif isinstance(records, FileRecords) and (
            proposed := propose_schema(self._dialect, source, table, lambda: self.look(schema), self.settings)
        ):
            user_schema, notes = proposed.schema, (proposed.note,)
        return LoadJob(
            (LoadInput(records, options.request(table)),),
            schema,
            user_schema=self._named(user_schema),
            resolve=resolve,
            revision=registration_of(self.dialect).open_revision(self.settings),
            state=changed,
            notes=notes,
            reject_limit=RejectLimit.of(options.max_rejected),
            only_tables=options.only_tables,
        )

    def root_table(self, name: str | None, default: str) -> str:
        """The table of records, empty where these name their tables themselves. Raises UsageError."""
        if self._dialect.capabilities.records_name_tables:
            if name:
                raise UsageError(f"the dialect {self.dialect} names the tables itself; leave --table out")
            return ""
        if not (name or default):
            raise UsageError("in-memory records need table=, the name of their root table")
        return name or default

    def _records(
        self,
        source: Any,
        runner: Runner,
        payload: str | None = None,
        read_options: ReadOptions = DEFAULT_READ_OPTIONS,
    ) -> Records:
        records = records_of(source, runner, payload, read_options)
        if self.staging is not None and is_remote(self.staging):
            runner.wait()  # the settings of the session may say how to reach it
        return records

    def _runner(self) -> Runner:
        return runner_of(self.engine, self.master, self.remote, self._tell)

    def _tell(self, stage: str, done: int, total: int | None) -> object:
        return self.tell(stage, done, total)

    def _named(self, user_schema: Schema | None) -> Schema | None:
        """A schema document with the naming convention that wins over its own, if there is one."""
        naming = self.settings.get("naming")
        return (
            user_schema
            if user_schema is None or naming is None
            else with_normalizers(user_schema, {"names": str(naming)})
        )

    def _schema_of(self, state: State) -> str:
        """The schema of rows that no source names: as the pipeline remembers it, else one of its own name."""
        return str(state.get("default_schema_name") or self.name)

    def load_runner(self, context: LoadContext | None = None) -> LoadRunner:
        """What carries out jobs of this pipeline; `context` is how they see it, default as it is."""
        return LoadRunner(
            context or self, self.name, self.where, self._dialect.metadata.tables(), self._folders
        )


def pipeline(
    name: str,
    to: str,
    *,
    dataset: str = "",
    dialect: str = DEFAULT_DIALECT,
    master: str | None = None,
    remote: str | None = None,
    engine: Engine | None = None,
    naming: str | None = None,
    settings: Mapping[str, Any] = MappingProxyType({}),
    import_schema: str | None = None,
    export_schema: str | None = None,
    staging: str | None = None,
    tell: ProgressCallback = ignore_progress,
) -> Pipeline:
    """A pipeline into a destination such as `duckdb:shop.duckdb` or `parquet:lake`.

    The options are those of `Pipeline`. Raises UsageError for one that does not exist or does not fit.

        shop = trellis.pipeline("shop", "duckdb:shop.duckdb", dataset="raw")
        report = shop.load("orders/*.jsonl", mode="merge", keys=("id",))
    """
    new_pipeline = Pipeline(
        name,
        to,
        dataset=dataset,
        dialect=dialect,
        master=master,
        remote=remote,
        engine=engine,
        naming=naming,
        settings=settings,
        import_schema=import_schema,
        export_schema=export_schema,
        staging=staging,
        tell=tell,
    )
    current.recall_from(lambda: new_pipeline.state.get("sources") or {})
    return new_pipeline
