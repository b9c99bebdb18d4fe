"""Pipelines: named streams of records into one dataset of one destination."""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from tempfile import TemporaryDirectory
from typing import Any

from trellis.attempt import Attempt, Options, Tell
from trellis.destinations import open_destination
from trellis.destinations.base import CatalogTable, Commit, Destination, Moved
from trellis.dialects import get_dialect
from trellis.dialects import names as dialects
from trellis.errors import TrellisError, UsageError
from trellis.evolution.dialect import Dialect
from trellis.flow.inflight import InFlight
from trellis.flow.plan import Counts
from trellis.records import records_of
from trellis.report import Report
from trellis.schema.document import from_json
from trellis.schema.model import Schema
from trellis.schema.version import bump

ATTEMPTS = 20


def _silent(_: str, __: int, ___: int | None) -> None:
    return None


@dataclass
class Pipeline:
    """A named stream of records into one dataset of one destination.

    `master` and `remote` name a Spark; without them a small input is loaded in this process and a
    large one by Spark in local mode. `naming` is the convention that names follow from the first load
    on, `settings` are the options of the dialect. `tell` is called with (stage, bytes done, bytes in all).
    """

    name: str
    to: str = field(repr=False)
    dataset: str = ""
    dialect: str = "dlt"
    master: str | None = None
    remote: str | None = None
    naming: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    tell: Tell = _silent

    def __post_init__(self) -> None:
        self.destination: Destination = open_destination(self.to)
        self._dialect: Dialect = get_dialect(self.dialect)
        if self.naming is not None:
            self.settings = {**self.settings, "naming": self.naming}
        self.dataset = self.dataset or self._dialect.naming.dataset(
            self.settings, self.destination.abilities.default_dataset
        )

    @property
    def schema(self) -> Schema:
        """The newest schema in the destination, or an empty one."""
        return self.look()[0]

    @property
    def where(self) -> str:
        """The dataset, for messages."""
        return f"{self.destination.url}, dataset {self.dataset}" if self.dataset else self.destination.url

    def look(self) -> tuple[Schema, Mapping[str, CatalogTable] | None]:
        """The newest schema, and the real tables where these say which columns it has."""
        keep, catalog = self._dialect.keep, None
        stored = self.destination.stored_schema(self.dataset, self.name, keep.journal())
        if stored is None:
            self._refuse_other_dialect()
        found = from_json(stored) if stored is not None else keep.new_schema(self.name)
        if keep.follows_catalog:
            catalog = self.destination.catalog(self.dataset)
            found = keep.adopt(found, catalog)
        return keep.configure(found, self.settings, self.destination.abilities.family), catalog

    def _refuse_other_dialect(self) -> None:
        """A dataset that another dialect filled is not ours: its tables would be taken for other things."""
        there = self.destination.catalog(self.dataset)
        mine = self._dialect.keep.journal().versions
        for other in dialects():
            journal = get_dialect(other).keep.journal().versions
            if journal != mine and journal in there and mine not in there:
                raise UsageError(
                    f"{self.where}: the dialect {other} filled it, not {self.dialect}; add "
                    f"--dialect {other}, or load into another dataset"
                )

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
        records = keep.records(after, load_id, self.dataset, now, fresh=fresh, first=base is None)
        try:
            commit = Commit(load_id, self.dataset, after, base, (), {}, records, {}, keep.journal())
            self.destination.commit(commit)
        except Moved:
            raise TrellisError(
                f"{self.destination.url}: another load changed the schema meanwhile; save it again"
            ) from None
        return after

    def _load(self, source: Any, options: Options, dry_run: bool) -> Report:
        started = time.monotonic()
        records = records_of(source, self.master, self.remote)
        table = options.table or records.name
        if self._dialect.route.names_tables:
            if options.table:
                raise UsageError(
                    f"the records of dialect {self.dialect} name their tables; leave --table out"
                )
            table = ""
        elif not table:
            raise UsageError("the records come from no file, so the table has no name; give one with table=")
        fingerprint = (
            None
            if dry_run or options.load_id
            else records.fingerprint(self.name, self.dialect, self.dataset, table, options.mode or "")
        )
        with ExitStack() as held:
            if dry_run:
                home = held.enter_context(TemporaryDirectory(prefix="trellis-plan-"))
            else:
                home = self.destination.staging("")
            flight = held.enter_context(InFlight(home, fingerprint, options.load_id))
            if not dry_run and self._loaded_before(flight.load_id):
                flight.finished()
                return self._already(flight.load_id)
            for attempt in range(ATTEMPTS):
                staging = f"{home}/rows" if dry_run else self.destination.staging(flight.load_id)
                flight.claim(staging)
                try:
                    done = Attempt(self, records, replace(options, table=table), flight.load_id, staging).run(
                        dry_run
                    )
                    flight.finished()
                    return replace(done, seconds={**done.seconds, "all": time.monotonic() - started})
                except Moved:
                    if attempt == ATTEMPTS - 1:
                        raise TrellisError(
                            f"{self.destination.url}: other loads changed the schema {ATTEMPTS} times while "
                            "this one ran; load again"
                        ) from None
                finally:
                    shutil.rmtree(staging, ignore_errors=True)
        raise AssertionError("unreachable")

    def _loaded_before(self, load_id: str) -> bool:
        return self.destination.has_load(self.dataset, load_id, self._dialect.keep.journal())

    def _already(self, load_id: str) -> Report:
        return Report(
            load_id, self.dataset, self.destination.url, self.dialect, self.schema, Counts(),
            already_loaded=True,
            notes=(f"load {load_id} is in the destination already; nothing was loaded again",),
        )  # fmt: skip


def pipeline(name: str, to: str, **options: Any) -> Pipeline:
    """A pipeline into a destination such as `duckdb:shop.duckdb` or `parquet:lake`."""
    return Pipeline(name, to, **options)
