"""The walk of a load, on one screen: read, discover, evolve, conform, stage, migrate, load, record."""

from __future__ import annotations

import shutil
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from typing import Any

from trellis.destinations import open_destination
from trellis.destinations.base import ChainLoad, Commit, Destination, Moved
from trellis.dialects import get_dialect
from trellis.errors import SchemaError, TrellisError, UsageError
from trellis.evolution.declare import judge
from trellis.evolution.dialect import Dialect, Mode, Request, Strategy
from trellis.evolution.evolve import Evolution, evolve, growing_tables
from trellis.evolution.observe import Observations
from trellis.flow.inflight import InFlight
from trellis.flow.lost import LOST
from trellis.flow.plan import Counts, Plan
from trellis.flow.records import Records
from trellis.flow.settle import settle
from trellis.flow.stage import StagedFile, by_table
from trellis.flow.task import Outcome
from trellis.records import records_of
from trellis.report import Report, Tally, table_reports
from trellis.schema.compare import compare
from trellis.schema.document import from_json
from trellis.schema.given import take
from trellis.schema.model import Column, Schema
from trellis.schema.naming import Naming
from trellis.schema.version import bump

ATTEMPTS = 20
ROUNDS = 5


def _silent(_: str, __: int, ___: int | None) -> None:
    return None


@dataclass(frozen=True)
class Options:
    """How one load is to be done; what is None follows from the schema or the destination."""

    table: str | None = None
    mode: Mode | None = None
    strategy: Strategy | None = None
    keys: tuple[str, ...] = ()
    merge_keys: tuple[str, ...] = ()
    columns: tuple[Column, ...] = ()
    contract: str | Mapping[str, str] | None = None
    schema: Schema | None = None
    max_nesting: int | None = None
    load_id: str | None = None


@dataclass
class Pipeline:
    """A named stream of records into one dataset of one destination.

    `master` and `remote` name a Spark; without them a small input is loaded in this process and a
    large one by Spark in local mode. `tell` is called with (stage, bytes done, bytes in all).
    """

    name: str
    to: str
    dataset: str | None = None
    dialect: str = "dlt"
    master: str | None = None
    remote: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    tell: Any = _silent

    def __post_init__(self) -> None:
        self.destination: Destination = open_destination(self.to)
        self._dialect: Dialect = get_dialect(self.dialect)
        self.dataset = self.dataset or self.destination.abilities.default_dataset

    @property
    def schema(self) -> Schema:
        """The newest schema in the destination, or an empty one."""
        stored = self.destination.stored_schema(self._dataset, self.name, self._dialect.keep.journal())
        return from_json(stored) if stored is not None else self._dialect.keep.new_schema(self.name)

    def load(self, source: Any, table: str | None = None, **options: Any) -> Report:
        """Load records: paths, a DataFrame, an Arrow table, pandas, or an iterable of dicts.

        Raises UsageError, SchemaError, ContractError, DestinationError or SparkError; the destination
        is then as it was.
        """
        return self._load(source, Options(table=table, **options), dry_run=False)

    def plan(self, source: Any, table: str | None = None, **options: Any) -> Report:
        """What `load` would do: the same report, nothing written."""
        return self._load(source, Options(table=table, **options), dry_run=True)

    def save_schema(self, schema: Schema) -> Schema:
        """Record a schema as the newest version, without rows, and create its tables.

        It must be made from the version that is there now, `pipeline.schema`. Raises DestinationError,
        and TrellisError where another load was faster.
        """
        keep, after, base = self._dialect.keep, bump(schema), schema.stored_hash
        load_id, now = f"{time.time():.6f}", datetime.now(timezone.utc)
        fresh = after.stored_hash != base
        records = keep.records(after, load_id, self._dataset, now, fresh=fresh, first=base is None)
        try:
            commit = Commit(load_id, self._dataset, after, base, (), {}, records, {}, keep.journal())
            self.destination.commit(commit)
        except Moved:
            raise TrellisError(f"{self.to}: another load changed the schema meanwhile; save it again") from None
        return after

    @property
    def _dataset(self) -> str:
        return self.dataset or ""

    def _load(self, source: Any, options: Options, dry_run: bool) -> Report:
        started = time.monotonic()
        records = records_of(source, self.master, self.remote)
        table = options.table or records.name
        if not table:
            raise UsageError("the records come from no file, so the table has no name; give one with table=")
        fingerprint = (
            None if dry_run or options.load_id else records.fingerprint(self.name, table, options.mode or "")
        )
        with InFlight(self.destination.staging(""), fingerprint, options.load_id) as flight:
            if not dry_run and self._loaded_before(flight.load_id):
                flight.finished()
                return self._already(flight.load_id)
            for attempt in range(ATTEMPTS):
                staging = self.destination.staging(flight.load_id)
                flight.claim(staging)
                try:
                    done = _Attempt(
                        self, records, replace(options, table=table), flight.load_id, staging
                    ).run(dry_run)
                    flight.finished()
                    return replace(done, seconds={**done.seconds, "all": time.monotonic() - started})
                except Moved:
                    if attempt == ATTEMPTS - 1:
                        raise TrellisError(
                            f"{self.to}: other loads changed the schema {ATTEMPTS} times while this one ran; load again"
                        ) from None
                finally:
                    shutil.rmtree(staging, ignore_errors=True)
        raise AssertionError("unreachable")

    def _loaded_before(self, load_id: str) -> bool:
        return self.destination.has_load(self._dataset, load_id, self._dialect.keep.journal())

    def _already(self, load_id: str) -> Report:
        return Report(
            load_id, self._dataset, self.to, self.dialect, self.schema, Counts(), already_loaded=True,
            notes=(f"load {load_id} is in the destination already; nothing was loaded again",),
        )  # fmt: skip


def pipeline(name: str, to: str, **options: Any) -> Pipeline:
    """A pipeline into a destination such as `duckdb:shop.duckdb` or `parquet:lake`."""
    return Pipeline(name, to, **options)


class _Attempt:
    """One try at one load, from the schema that the destination holds now."""

    def __init__(
        self, owner: Pipeline, records: Records, options: Options, load_id: str, staging: str
    ) -> None:
        self.owner = owner
        self.records = records
        self.options = options
        self.load_id = load_id
        self.staging = staging
        self.dialect = get_dialect(owner.dialect)
        self.destination = owner.destination
        self.dataset = owner.dataset or ""
        self.seconds: dict[str, float] = {}
        self.outcomes: list[Outcome] = []

    def run(self, dry_run: bool) -> Report:
        before = self.owner.schema
        start = bump(self._prepare(before))
        naming = self._naming(start)
        root = naming.table(self.options.table or "")
        with _Clock(self.seconds, "discover"):
            state = self._discover(Evolution(start, growing=growing_tables(start)), naming)
        with _Clock(self.seconds, "conform"):
            state = self._conform(state, naming)
            files = settle(
                [file for outcome in self.outcomes for file in outcome.files], self.outcomes, self.staging
            )
        _refuse_unbound(state.schema, root)
        if not self.destination.abilities.case_sensitive:
            _refuse_collisions(state.schema)
        after = bump(state.schema)
        report = self._report(before, after, by_table(files), dry_run)
        if not dry_run:
            with _Clock(self.seconds, "load"):
                self._commit(before, after, root, by_table(files))
        return report

    def _prepare(self, before: Schema) -> Schema:
        given = self.options.schema
        schema = before if given is None else take(before, given, self._naming)
        request = Request(
            table=self.options.table or "",
            mode=self.options.mode,
            strategy=self.options.strategy,
            keys=self.options.keys,
            merge_keys=self.options.merge_keys,
            columns=(*self._typed(schema), *self.options.columns),
            contract=self.options.contract,
            max_nesting=self.options.max_nesting,
        )
        return judge(before, self.dialect.keep.prepare(schema, request, self._naming(schema)))

    def _typed(self, schema: Schema) -> tuple[Column, ...]:
        """The declared columns of a typed source, as far as the schema does not know them yet."""
        naming = self._naming(schema)
        table = schema.tables.get(naming.table(self.options.table or ""))
        named = (replace(column, name=naming.key(column.name)) for column in self.records.declared())
        return tuple(column for column in named if table is None or column.name not in table.columns)

    def _naming(self, schema: Schema) -> Naming:
        return self.dialect.naming.naming(schema, self.destination.abilities.max_identifier)

    def _plan(self, state: Evolution) -> Plan:
        return Plan(
            state.schema,
            self.options.table or "",
            self.owner.dialect,
            self.load_id,
            self.staging,
            state.refusals,
            self.destination.abilities.max_identifier,
        )

    def _discover(self, state: Evolution, naming: Naming) -> Evolution:
        """Learn from the first records, so that few blocks meet something new later."""
        self.owner.tell("discover", 0, None)
        seen = self.records.peek(self._plan(state))
        return evolve(state, seen, self.dialect, naming)

    def _conform(self, state: Evolution, naming: Naming) -> Evolution:
        """Conform and stage everything; blocks with something new wait until the schema has room."""
        total, done = self.records.weight, 0

        def progress(size: int) -> None:
            nonlocal done
            done += size
            self.owner.tell("load", min(done, total or done), total)

        pending = None
        for _ in range(ROUNDS):
            waiting = []
            for outcome in self.records.run(self._plan(state), pending, progress):
                if outcome.error is not None:
                    raise outcome.error
                self.outcomes.append(outcome)
                waiting.append(outcome)
            pending = [ref for outcome in waiting for ref in outcome.pending]
            if not pending:
                return state
            seen = Observations()
            for outcome in waiting:
                seen.merge(outcome.observed)
            state = evolve(state, seen, self.dialect, naming)
        raise SchemaError(f"the schema of table {self.options.table} did not settle in {ROUNDS} rounds")

    def _report(
        self, before: Schema, after: Schema, files: Mapping[str, Sequence[StagedFile]], dry_run: bool
    ) -> Report:
        rows, discards, rejects = Counts(), Counter[str](), Counter[str]()
        for outcome in self.outcomes:
            rows.add(outcome.counts)
            discards.update(outcome.discards)
            rejects.update(outcome.rejects)
        changes = tuple(c for c in compare(before, after) if not c.table.startswith(self.dialect.keep.prefix))
        loaded = {name: sum(f.rows for f in found) for name, found in files.items()}
        return Report(
            self.load_id,
            self.dataset,
            self.owner.to,
            self.owner.dialect,
            after,
            rows,
            dry_run,
            tables=table_reports(changes, loaded, after),
            changes=changes,
            statements=tuple(self.destination.migration(self.dataset, after)) if dry_run else (),
            discards=Tally(dict(discards)),
            rejects=Tally(dict(rejects)),
            notes=_untyped(after, self.outcomes),
            seconds=self.seconds,
        )

    def _commit(
        self, before: Schema, after: Schema, root: str, files: Mapping[str, Sequence[StagedFile]]
    ) -> None:
        keep = self.dialect.keep
        table = after.tables[root]
        mode: Mode = table.hints.get("write_disposition") or "append"
        strategy: Strategy = table.hints.get("x-merge-strategy") or "delete-insert"
        self.destination.commit(
            Commit(
                self.load_id,
                self.dataset,
                after,
                before.stored_hash,
                (ChainLoad(root, mode, strategy),),
                files,
                keep.records(
                    after,
                    self.load_id,
                    self.dataset,
                    datetime.now(timezone.utc),
                    fresh=after.stored_hash != before.stored_hash,
                    first=before.stored_hash is None,
                ),
                {name: keep.row_keys(after, name) for name in after.tables},
                keep.journal(),
                tuple(LOST.values()),
            )
        )


def _untyped(schema: Schema, outcomes: Sequence[Outcome]) -> tuple[str, ...]:
    """A note on keys that never had a value: they get their column with the first one."""
    found = sorted(
        f"{table}.{column}"
        for table, column in set[tuple[str, str]]().union(*(outcome.untyped for outcome in outcomes))
        if table not in schema.tables
        or column not in schema.tables[table].columns
        or not schema.tables[table].columns[column].complete
    )
    if not found:
        return ()
    return (f"null in every record, so without a column until a value comes: {', '.join(found)}",)


def _refuse_unbound(schema: Schema, root: str) -> None:
    """A key column that never arrived has no type, so it cannot be created."""
    for table in schema.chain(root):
        for column in table.columns.values():
            if not column.complete and column.required and table.seen_data:
                kind = (
                    "primary key"
                    if column.hint("primary_key")
                    else "merge key"
                    if column.hint("merge_key")
                    else "required"
                )
                raise SchemaError(
                    f"table {table.name}: {kind} column {column.name} is in no record, so it has no type; "
                    "check its name, or give it a data_type in the schema"
                )


def _refuse_collisions(schema: Schema) -> None:
    """Names that differ in case alone are one name to a destination that does not tell case apart."""
    columns = ((f"columns of table {table.name}", table.columns) for table in schema.tables.values())
    for what, names in (("tables", schema.tables), *columns):
        seen: dict[str, str] = {}
        for name in names:
            other = seen.setdefault(name.casefold(), name)
            if other != name:
                raise SchemaError(
                    f"{what}: {other} and {name} collide, because the destination does not tell case apart; "
                    "choose a naming convention that does not either, such as snake_case or sql_ci_v1"
                )


class _Clock:
    def __init__(self, seconds: dict[str, float], name: str) -> None:
        self.seconds = seconds
        self.name = name

    def __enter__(self) -> None:
        self.started = time.monotonic()

    def __exit__(self, *_: object) -> None:
        self.seconds[self.name] = self.seconds.get(self.name, 0.0) + time.monotonic() - self.started
