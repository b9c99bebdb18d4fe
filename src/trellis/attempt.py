"""The walk of a load, on one screen: discover, evolve, conform, stage, migrate, load, record."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from typing import Any, Protocol

from trellis.checks import oddities, refuse_collisions, refuse_unbound, shared, untyped
from trellis.destinations.base import CatalogTable, Commit, Destination
from trellis.dialects import get_dialect
from trellis.errors import SchemaError
from trellis.evolution.declare import judge
from trellis.evolution.dialect import ChainLoad, KeyedLoad, Mode, Request, Strategy
from trellis.evolution.evolve import Evolution, evolve, growing_tables
from trellis.evolution.observe import Observations
from trellis.flow.lost import DISCARDS, LOST
from trellis.flow.plan import Counts, Plan
from trellis.flow.records import Records
from trellis.flow.settle import settle
from trellis.flow.stage import StagedFile, by_table
from trellis.flow.task import Outcome
from trellis.report import Report, Tally, table_reports
from trellis.schema.compare import compare, retyped
from trellis.schema.given import take
from trellis.schema.model import Column, Schema
from trellis.schema.naming import Naming
from trellis.schema.version import bump

ROUNDS = 5

Tell = Callable[[str, int, int | None], object]


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


class Owner(Protocol):
    """What an attempt needs to know of the pipeline it is made for."""

    dialect: str
    dataset: str
    destination: Destination
    settings: Mapping[str, Any]

    @property
    def tell(self) -> Tell: ...

    def look(self) -> tuple[Schema, Mapping[str, CatalogTable] | None]:
        """The schema to start from, and the tables it was read from, if it was."""
        ...


class Attempt:
    """One try at one load, from the schema that the destination holds now."""

    def __init__(self, owner: Owner, records: Records, options: Options, load_id: str, staging: str) -> None:
        self.owner = owner
        self.records = records
        self.options = options
        self.load_id = load_id
        self.staging = staging
        self.dialect = get_dialect(owner.dialect)
        self.destination = owner.destination
        self.dataset = owner.dataset
        self.seconds: dict[str, float] = {}
        self.outcomes: list[Outcome] = []
        self.now = datetime.now(timezone.utc)

    def run(self, dry_run: bool) -> Report:
        before, catalog = self.owner.look()
        start = bump(self._prepare(before))
        naming = self._naming(start)
        root = naming.table(self.options.table) if self.options.table else ""
        with _Clock(self.seconds, "discover"):
            state = self._discover(Evolution(start, growing=growing_tables(start)), naming)
        with _Clock(self.seconds, "conform"):
            state = self._conform(state, naming)
            files = settle(
                [file for outcome in self.outcomes for file in outcome.files], self.outcomes, self.staging
            )
        refuse_unbound(state.schema, root)
        staged = by_table(files)
        touched = [name for name in state.schema.tables if name in staged]
        after = bump(self.dialect.keep.complete(start, state.schema, touched))
        if not self.destination.abilities.case_sensitive:
            refuse_collisions(after)
        report = self._report(before, after, staged, dry_run)
        if not dry_run:
            with _Clock(self.seconds, "load"):
                self._commit(before, after, root, staged, touched, catalog)
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
        if not self.options.table:
            return ()
        naming = self._naming(schema)
        table = schema.tables.get(naming.table(self.options.table))
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
            self.now,
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
            known, state = state, evolve(state, seen, self.dialect, naming)
            if retyped(known.schema, state.schema):  # what is staged has the old types
                self.outcomes, pending, done = [], None, 0
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
            self.destination.url,
            self.owner.dialect,
            after,
            rows,
            dry_run,
            tables=table_reports(changes, loaded, after),
            changes=changes,
            statements=self._migration(before, after) if dry_run else (),
            ddl=self._ddl(before, after) if dry_run else None,
            discards=Tally(dict(discards)),
            kept_in=tuple(name for name in self._keepers(after) if loaded.get(name)),
            rejects=Tally(dict(rejects)),
            notes=(*untyped(after, self.outcomes), *shared(self.outcomes), *oddities(self.outcomes)),
            seconds=self.seconds,
        )

    def _keepers(self, after: Schema) -> tuple[str, ...]:
        """The tables that keep what has no place in the others."""
        own = self.dialect.keep.discards(after)
        return (own.name, DISCARDS.name) if own else (DISCARDS.name,)

    def _migration(self, before: Schema, after: Schema) -> tuple[str, ...]:
        native = self.dialect.keep.native(after, self.destination.abilities.family)
        return tuple(self.destination.migration(self.dataset, after, native, retyped(before, after)))

    def _ddl(self, before: Schema, after: Schema) -> tuple[str, tuple[str, ...]] | None:
        found = self.dialect.keep.ddl(
            before, after, self.dataset or after.name, self.destination.abilities.family
        )
        return (found[0], tuple(found[1])) if found else None

    def _commit(
        self,
        before: Schema,
        after: Schema,
        root: str,
        files: Mapping[str, Sequence[StagedFile]],
        touched: Collection[str],
        catalog: Mapping[str, CatalogTable] | None,
    ) -> None:
        keep = self.dialect.keep
        loads = keep.loads(after, [root] if root else [], touched, self.options.mode, self.now)
        fresh, first = after.stored_hash != before.stored_hash, before.stored_hash is None
        self.destination.commit(
            Commit(
                self.load_id,
                self.dataset,
                after,
                before.stored_hash,
                tuple(load for load in loads if isinstance(load, ChainLoad)),
                files,
                keep.records(after, self.load_id, self.dataset, self.now, fresh=fresh, first=first),
                {name: keep.row_keys(after, name) for name in after.tables},
                keep.journal(),
                tuple(LOST.values()),
                keyed=tuple(load for load in loads if isinstance(load, KeyedLoad)),
                links=keep.links(after),
                catalog=catalog,
                retyped=retyped(before, after),
                native=keep.native(after, self.destination.abilities.family),
                now=self.now,
            ),
            self.records.parallel,
        )


class _Clock:
    def __init__(self, seconds: dict[str, float], name: str) -> None:
        self.seconds = seconds
        self.name = name

    def __enter__(self) -> None:
        self.started = time.monotonic()

    def __exit__(self, *_: object) -> None:
        self.seconds[self.name] = self.seconds.get(self.name, 0.0) + time.monotonic() - self.started
