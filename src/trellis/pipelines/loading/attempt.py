"""The walk of a load, on one screen: discover, evolve, conform, stage, migrate, load, record."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timezone
from functools import partial

from trellis.destinations.base import CatalogTable, Commit, FileLogState
from trellis.dialects import get_dialect
from trellis.engine.arrow.nested_types import without_nested_types
from trellis.engine.parallel import Parallel, in_threads, one_by_one
from trellis.engine.plan import Counts, Plan
from trellis.engine.positions import place_of, renumber_positions
from trellis.engine.staging.column_defaults import NO_FILL_VALUES, FillValues, fill_values
from trellis.engine.staging.dead_letters import DEAD_LETTER_TABLES, DISCARDS, REJECTS
from trellis.engine.staging.folder import StagingFolder
from trellis.engine.staging.loaded_files import LOADED_FILES
from trellis.engine.staging.stage import StagedFile, by_table
from trellis.engine.storage.location import is_remote
from trellis.engine.task import Outcome, Waiting
from trellis.errors import SchemaError, TrellisError, UsageError
from trellis.evolution.contract import ContractViolation, merge_violations
from trellis.evolution.declare import apply_contract, declare_rules
from trellis.evolution.dialect.schemas import TableRequest
from trellis.evolution.dialect.system_columns import RowKeys
from trellis.evolution.evolve import Evolution, evolve, growing_tables
from trellis.evolution.nested_types import Nesting
from trellis.evolution.observe import Observations
from trellis.evolution.scalars.wei import with_default_precision
from trellis.evolution.table_writes import IdentityRules, KeyedWrite, Load, Mode, TableTreeWrite
from trellis.pipelines.loading.change_log import SCHEMA_CHANGES, ChangeLog
from trellis.pipelines.loading.checks import (
    beside_wei,
    near_width,
    refuse_collisions,
    refuse_faulty,
    refuse_merges,
    refuse_unbound,
    refuse_width,
    shared,
    unscaled,
    untyped,
    warnings,
)
from trellis.pipelines.loading.job import LoadContext, LoadInput, LoadJob
from trellis.pipelines.loading.partial import Files, TableSelection
from trellis.pipelines.loading.reject_limit import refuse_rejected
from trellis.pipelines.loading.revision import Revision
from trellis.pipelines.report import Report, TableFailure, Tally, table_reports
from trellis.schema.compare import compare, gains_columns, retyped
from trellis.schema.model import Schema
from trellis.schema.naming import Naming
from trellis.schema.version import bump

ROUNDS = 5
MOST_EXAMPLES = 1_000
"""Lines that go along with a plan to show what records look like."""


class LoadAttempt:
    """One try at one load, from the schema that the destination holds now."""

    def __init__(self, context: LoadContext, job: LoadJob, load_id: str, staging: StagingFolder) -> None:
        self.context = context
        self.job = job
        self.load_id = load_id
        self.staging = staging
        self.dialect = get_dialect(context.dialect)
        self.destination = context.destination
        self.dataset = context.dataset
        self.seconds: dict[str, float] = {}
        self.outcomes: list[Outcome] = []
        self.samples: list[list[bytes]] = [[] for _ in job.feeds]
        self.seen = Observations()
        self.selection = TableSelection(self.dialect, job.only_tables)
        self.commit: Commit | None = None
        self.report: Report | None = None
        self.now = datetime.now(timezone.utc)

    def run(self, dry_run: bool) -> Report:
        before, catalog = self.context.look(self.job.schema_name)
        start = self._prepare(before)
        start = bump(start if dry_run else self.context.declared(start))
        naming = self._naming(start)
        tables = (feed.request.table for feed in self.job.feeds)
        roots = list(dict.fromkeys(naming.table(table) for table in tables if table))
        refuse_faulty(start, roots, self.destination.url)
        known = [name for name in roots if name in start.tables]
        self._table_writes(start, known, known)  # what is refused, is so before records are read
        with _Clock(self.seconds, "discover"):
            state = Evolution(
                self._with_rules(start, naming),
                growing=growing_tables(start),
                nesting=self._nesting(start, roots),
                quarantines=self.job.quarantines,
            )
            state = self._discover(state, naming)
        with _Clock(self.seconds, "conform"):
            state = self._conform(state, naming)
            files = [file for outcome in self.outcomes for file in outcome.files]
            files = self._fetch(files, state.schema)
            if self.job.claim:
                files += self.job.claim.stage(self.staging.home, self.load_id, self.now)
        never_populated = [name for name in roots if self._is_never_populated(name, before, state.schema)]
        if never_populated:
            names = [table.name for name in never_populated for table in state.schema.chain(name)]
            state = replace(state, schema=self.dialect.tables.drop_tables(state.schema, names))
            roots = [name for name in roots if name not in never_populated]
        for root in roots:
            refuse_unbound(state.schema, root)
        revision = Revision(self.job.revision, self.job.resolve, self.load_id, dry_run)
        before, start = revision.visible(before), revision.visible(start)
        self.revised = revised = revision.revise(before, state.schema, by_table(files))
        while True:
            try:
                return self._write(before, start, revised.schema, roots, revised.files, catalog, dry_run)
            except TrellisError as error:
                if not self.selection.fail(error, revised.schema, revised.files):
                    raise

    def _write(
        self,
        before: Schema,
        start: Schema,
        conformed: Schema,
        roots: Sequence[str],
        all_files: Files,
        catalog: Mapping[str, CatalogTable] | None,
        dry_run: bool,
    ) -> Report:
        """Commit the tables of the selection, or rehearse that.

        Raises TrellisError, of one table where the others are fine.
        """
        schema, files = self.selection.apply(start, conformed, all_files)
        touched = [name for name in schema.tables if name in files]
        after = bump(self.dialect.tables.finalize_schema(start, schema, touched))
        limit = self._max_columns(after)
        if self.dialect.capabilities.tables_fail_alone:
            refuse_width(after, touched, limit, self.dialect.capabilities.too_wide)
        if not self.destination.abilities.case_sensitive:
            refuse_collisions(after)
        rows = {name: sum(file.rows for file in all_files[name]) for name in self.selection.failures}
        report = self.report = replace(
            self._report(before, after, roots, files, dry_run),
            failures=tuple(TableFailure(n, rows[n], error) for n, error in self.selection.failures.items()),
            alerts=near_width(after, touched, limit),
        )
        rejects, resolve = all_files.get(REJECTS.name, ()), self.job.resolve
        missing = () if resolve is None else resolve.missing_notes(conformed)
        refuse_rejected(self.job.reject_limit, report.rows, report.rejects.by_reason, rejects, missing)
        kept = () if resolve is None else resolve.before_commit(before, conformed, dry_run)
        notes = (*report.notes, *missing, *kept)
        report = self.report = replace(report, notes=notes)
        self.commit = self._build_commit(before, after, report, roots, files, touched, catalog)
        write = self.destination.rehearse if dry_run else self.destination.commit
        with _Clock(self.seconds, "rehearse" if dry_run else "load"):
            return report.with_row_changes(write(self.commit, self._parallel()))

    def _table_writes(
        self, schema: Schema, roots: Sequence[str], touched: Collection[str]
    ) -> tuple[tuple[Load, ...], IdentityRules | None]:
        """How the rows of the load go in, and how identities are joined.

        Raises UsageError where rows would be merged, and the destination does not merge.
        """
        writes = self.dialect.writes.table_writes(schema, roots, touched, self._mode, self.now)
        identity_rules = self.dialect.writes.identity_rules(schema)
        if self.destination.abilities.no_merge is not None:
            refuse_merges(writes, identity_rules, self.destination.abilities.no_merge)
        return writes, identity_rules

    @property
    def _mode(self) -> Mode | None:
        return self.job.feeds[0].request.mode if self.job.feeds else None

    def _max_columns(self, schema: Schema) -> int | None:
        limits = (self.dialect.tables.max_columns(schema), self.destination.abilities.warehouse.max_columns)
        return min((limit for limit in limits if limit is not None), default=None)

    def _fetch(self, files: Sequence[StagedFile], schema: Schema) -> list[StagedFile]:
        """The staged files where the destination reads them, and dead letters here, ready to be loaded."""
        local = {*DEAD_LETTER_TABLES, *self._keepers(schema)}
        read_here = [
            f for f in files if not self.destination.abilities.reads_remote_files or f.table in local
        ]
        fetched = dict(zip(read_here, self.staging.fetch(read_here), strict=True))
        for outcome in self.outcomes:
            outcome.files = [fetched.get(file, file) for file in outcome.files]
        return renumber_positions(
            [file for outcome in self.outcomes for file in outcome.files], self.outcomes
        )

    def _is_never_populated(self, name: str, before: Schema, after: Schema) -> bool:
        """Whether a table was asked for that was not there, and that no row came for."""
        user_tables = self.job.user_schema.tables if self.job.user_schema is not None else {}
        known = name in before.tables or name in user_tables
        return not known and name in after.tables and not after.tables[name].seen_data

    def _prepare(self, before: Schema) -> Schema:
        stored = self.job.prepared(before)
        user_schema = self.job.user_schema
        schema = (
            stored
            if user_schema is None
            else self.dialect.schemas.merge_user_schema(stored, user_schema, self._naming)
        )
        for feed in self.job.feeds:
            schema = self.dialect.schemas.apply_request(schema, feed.request, self._naming(schema))
        judged = apply_contract(stored, schema, self.dialect.capabilities.system_prefix)
        abilities = self.destination.abilities
        declares = abilities.grows_structs and self.dialect.capabilities.declares_nested_types
        return judged if abilities.nested_types or declares else without_nested_types(judged)

    def _nesting(self, start: Schema, roots: Sequence[str]) -> Nesting:
        if not self.destination.abilities.nested_types:
            return Nesting()
        filled = [name for name in roots if name in start.tables and start.tables[name].seen_data]
        loads = self.dialect.writes.table_writes(start, filled, filled, self._mode, self.now)
        chains = (load for load in loads if isinstance(load, TableTreeWrite))
        return Nesting.of(start, [chain.root for chain in chains if chain.mode == "replace"])

    def _naming(self, schema: Schema) -> Naming:
        return self.dialect.naming.naming(schema, self.destination.abilities.max_identifier)

    def _plans(self, state: Evolution) -> Iterator[tuple[LoadInput, Plan]]:
        """Each feed with what its tasks must know. The files of all feeds are numbered through."""
        files = 0
        for number, feed in enumerate(self.job.feeds):
            yield (
                feed,
                Plan(
                    with_default_precision(state.schema, self.destination.abilities.digits.wei),
                    feed.request.table,
                    self.context.dialect,
                    self.load_id,
                    self.staging.below(str(number)) if len(self.job.feeds) > 1 else self.staging.rows,
                    state.refusals,
                    self.destination.abilities.max_identifier,
                    self.now,
                    files,
                    self.destination.abilities.digits,
                    self._preserved_keys(state.schema, feed.request),
                    state.nesting if self.destination.abilities.nested_types else None,
                    self.staging.storage,
                    tuple(self.samples[number]),
                    state.quarantines,
                ),
            )
            files += feed.records.file_count

    def _preserved_keys(self, schema: Schema, request: TableRequest) -> RowKeys | None:
        if not request.preserve_types:
            return None
        table = self._naming(schema).table(request.table)
        return self.dialect.system_columns.preserved_row_keys(schema, table, self.context.settings)

    def _discover(self, state: Evolution, naming: Naming) -> Evolution:
        """Learn from the first records, so that few blocks meet something new later."""
        self.context.tell("discover", 0, None)
        seen = Observations()
        for number, (feed, plan) in enumerate(self._plans(state)):
            with suppress(ContractViolation):  # the whole input will tell all of them
                peek = feed.records.peek(plan)
                seen.merge(peek.observed)
                self.seen.merge(peek.observed)
                self.samples[number] += peek.sample
        state = self._resolve(state, seen)
        try:
            return self._evolve(state, seen, naming)
        except ContractViolation:  # the whole input will tell all of them
            return state

    def _evolve(self, state: Evolution, seen: Observations, naming: Naming) -> Evolution:
        evolved = evolve(state, seen, self.dialect, naming)
        return replace(evolved, schema=self._with_rules(evolved.schema, naming))

    def _with_rules(self, schema: Schema, naming: Naming) -> Schema:
        """The schema with the value rules that the load declares of tables which it has by now."""
        for feed in self.job.feeds:
            root = naming.table(feed.request.table) if feed.request.table else ""
            schema = declare_rules(schema, feed.request.rules, root, naming)
        return schema

    def _conform(self, state: Evolution, naming: Naming) -> Evolution:
        """Conform and stage everything; blocks with something new wait until the schema has room."""
        weights = [feed.records.weight for feed in self.job.feeds]
        total = None if None in weights else sum(weight or 0 for weight in weights)
        done = 0

        def progress(size: int) -> None:
            nonlocal done
            done += size
            self.context.tell("load", min(done, total or done), total)

        waiting: list[Sequence[Waiting] | None] = [None] * len(self.job.feeds)
        for _ in range(ROUNDS):
            seen, violations = Observations(), list[ContractViolation]()
            for number, (feed, plan) in enumerate(self._plans(state)):
                blocks, pending = waiting[number], list[Waiting]()
                if blocks is None or blocks:
                    for outcome in feed.records.run(plan, blocks, progress):
                        if isinstance(outcome.error, ContractViolation):
                            violations.append(outcome.error)
                        elif outcome.error is not None:
                            raise outcome.error
                        self.outcomes.append(outcome)
                        seen.merge(outcome.observed)
                        self.seen.merge(outcome.observed)
                        pending += outcome.pending
                        self.samples[number] += outcome.examples[: MOST_EXAMPLES - len(self.samples[number])]
                waiting[number] = pending
            known = state
            if any(waiting):
                try:
                    state = self._evolve(self._resolve(state, seen), seen, naming)
                except ContractViolation as violation:
                    violations.append(violation)
            if violations:
                raise merge_violations(violations).located(partial(place_of, outcomes=self.outcomes))
            if not any(waiting):
                return state
            if retyped(known.schema, state.schema):  # what is staged has the old types
                self.outcomes, waiting, done = [], [None] * len(self.job.feeds), 0
        tables = ", ".join(feed.request.table for feed in self.job.feeds if feed.request.table)
        raise SchemaError(
            f"the schema of table {tables} was still changing after {ROUNDS} passes; "
            "declare its columns with a schema document"
        )

    def _resolve(self, state: Evolution, seen: Observations) -> Evolution:
        """The schema with the documents that records wait for."""
        if not seen.references:
            return state
        if self.job.resolve is None:
            names = ", ".join(sorted(seen.references)[:3])
            raise UsageError(
                f"the records refer to {names}; say with --schema where these schemas are, a URL or a folder"
            )
        return replace(state, schema=self.job.resolve(state.schema, seen.references))

    def _report(
        self,
        before: Schema,
        after: Schema,
        roots: Sequence[str],
        files: Mapping[str, Sequence[StagedFile]],
        dry_run: bool,
    ) -> Report:
        rows, discards, truncated, rejects = Counts(), Counter[str](), Counter[str](), Counter[str]()
        for outcome in self.outcomes:
            rows.add(outcome.counts)
            discards.update(outcome.discards)
            truncated.update(outcome.truncated)
            rejects.update(outcome.rejects)
        self.selection.recount(rows, self.outcomes)
        self.revised.recount(rows)
        prefix = self.dialect.capabilities.system_prefix
        changes = tuple(c for c in compare(before, after) if not c.table.startswith(prefix))
        loaded = {name: sum(f.rows for f in staged) for name, staged in files.items()}
        return Report(
            self.load_id,
            self.dataset,
            self.destination.url,
            self.context.dialect,
            after,
            rows,
            dry_run,
            tables=table_reports(changes, loaded, after),
            changes=changes,
            statements=self._migration(before, after) if dry_run else (),
            ddl=self._ddl(before, after) if dry_run else None,
            discards=Tally(dict(discards)),
            truncated=Tally(dict(truncated)),
            kept_in=tuple(name for name in self._keepers(after) if loaded.get(name)),
            rejects=Tally(dict(rejects)),
            notes=(
                *self.job.notes,
                *self.dialect.writes.warnings(after, roots),
                *unscaled(before, after),
                *beside_wei(before, after, self._naming(after)),
                *untyped(after, self.outcomes),
                *shared(self.outcomes),
                *warnings(self.outcomes),
                *self.revised.notes,
            ),
            seconds=self.seconds,
        )

    def _keepers(self, after: Schema) -> tuple[str, ...]:
        """The tables that keep what has no place in the others."""
        dialect_table = self.dialect.dead_letters.table(after)
        return (dialect_table.name, DISCARDS.name) if dialect_table else (DISCARDS.name,)

    def _migration(self, before: Schema, after: Schema) -> tuple[str, ...]:
        native = self.dialect.writes.native_types(after, self.destination.abilities.family)
        filled = self._filled(before, after)
        return tuple(self.destination.migration(self.dataset, after, native, retyped(before, after), filled))

    def _filled(self, before: Schema, after: Schema) -> FillValues:
        """What the rows that are there get in the columns that the load adds."""
        if not gains_columns(before, after):
            return NO_FILL_VALUES
        return fill_values(after, self.dialect.writes.backfill(after, self.now))

    def _ddl(self, before: Schema, after: Schema) -> tuple[str, tuple[str, ...]] | None:
        family, dataset = self.destination.abilities.family, self.dataset or after.name
        statements = self.dialect.writes.foreign_ddl(before, after, dataset, family, self.context.settings)
        return (statements[0], tuple(statements[1])) if statements else None

    def _build_commit(
        self,
        before: Schema,
        after: Schema,
        report: Report,
        roots: Sequence[str],
        files: Mapping[str, Sequence[StagedFile]],
        touched: Collection[str],
        catalog: Mapping[str, CatalogTable] | None,
    ) -> Commit:
        dialect = self.dialect
        loads, identity_rules = self._table_writes(after, roots, touched)
        fresh = after.stored_hash != before.stored_hash or self.job.reset.versions
        records = dialect.metadata.rows(after, self.load_id, self.now, fresh=fresh, state=self.job.state)
        log = ChangeLog(self.load_id, self.context.name, self.now)
        change_rows = log.rows_of_load(
            after, report.changes, self.seen, partial(place_of, outcomes=self.outcomes)
        )
        claim, extra_tables, base_files = self.job.claim, [*DEAD_LETTER_TABLES.values()], None
        if claim:
            _refuse_replacing(loads)
            extra_tables.append(LOADED_FILES)
            base_files = None if claim.is_repeated else FileLogState(claim.table, claim.sequence - 1)
        if change_rows:
            extra_tables.append(SCHEMA_CHANGES)
        return Commit(
            self.load_id,
            self.dataset,
            after,
            before.stored_hash,
            tuple(load for load in loads if isinstance(load, TableTreeWrite)),
            files,
            {**records, **change_rows},
            {name: dialect.system_columns.row_keys(after, name) for name in after.tables},
            dialect.metadata.tables(),
            tuple(extra_tables),
            keyed=tuple(load for load in loads if isinstance(load, KeyedWrite)),
            links=identity_rules,
            catalog=catalog,
            retyped=retyped(before, after),
            filled=self._filled(before, after),
            native=dialect.writes.native_types(after, self.destination.abilities.family),
            reset=self.job.reset,
            base_state=self.job.base_state,
            base_files=base_files,
            dropped=report.rows.dropped,
            now=self.now,
        )

    def _parallel(self) -> Parallel:
        """What spreads the work of a commit: files that were fetched are seen by this machine alone."""
        if is_remote(self.staging.rows):
            return in_threads
        return self.job.feeds[0].records.parallel if self.job.feeds else one_by_one


def _refuse_replacing(loads: Sequence[TableTreeWrite | KeyedWrite]) -> None:
    for load in loads:
        if isinstance(load, TableTreeWrite) and load.mode == "replace":
            raise UsageError(
                f"table {load.root}: the mode replace would delete the rows of the files that were loaded "
                "before; load new files with the mode append or merge"
            )


class _Clock:
    def __init__(self, seconds: dict[str, float], name: str) -> None:
        self.seconds = seconds
        self.name = name

    def __enter__(self) -> None:
        self.started = time.monotonic()

    def __exit__(self, *_: object) -> None:
        self.seconds[self.name] = self.seconds.get(self.name, 0.0) + time.monotonic() - self.started
