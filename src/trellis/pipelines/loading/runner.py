"""Jobs carried out: tried until no other load comes between, kept where the destination refuses them."""

from __future__ import annotations

import os
import time
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from trellis.destinations.base import CommitConflict, StateConflict
from trellis.engine.plan import Counts
from trellis.engine.staging.folder import StagingFolder
from trellis.engine.staging.inflight import PENDING, LoadNote
from trellis.errors import ConflictError, DestinationError, TrellisError
from trellis.evolution.dialect.metadata import MetadataTables
from trellis.pipelines.history import LoadOutcome
from trellis.pipelines.loading.attempt import LoadAttempt
from trellis.pipelines.loading.job import LoadContext, LoadJob
from trellis.pipelines.packages import Package, Packages
from trellis.pipelines.report import Report
from trellis.pipelines.schema_folders import SchemaFolders

ATTEMPTS = 20


@dataclass(frozen=True)
class LoadRunner:
    """Carries out the jobs of one pipeline. `where` is its dataset, for messages."""

    context: LoadContext
    name: str
    where: str
    metadata: MetadataTables
    folders: SchemaFolders

    def run(
        self,
        job: LoadJob,
        load_id: str | None = None,
        fingerprint: str | None = None,
        dry_run: bool = False,
        keeps: bool = False,
        outcome: LoadOutcome | None = None,
        repeats: bool = True,
    ) -> Report:
        """Try a job until no other load comes between. `keeps`: what the destination refuses is kept.

        The id of the load and the tries to commit it go into `outcome`. Without `repeats` the destination
        is known not to have the load.
        """
        started = time.monotonic()
        with ExitStack() as held:
            if dry_run:
                home = held.enter_context(TemporaryDirectory(prefix="trellis-plan-"))
            else:
                home = os.path.abspath(self.context.destination.staging(""))
            storage = self.context.storage
            flight = held.enter_context(LoadNote(home, fingerprint, load_id, storage))
            if repeats and not dry_run and self._loaded_before(flight.load_id):
                flight.finished()
                return self._already(job, flight.load_id)
            for attempt in range(ATTEMPTS):
                if outcome is not None:
                    outcome.load_id, outcome.commits = flight.load_id, attempt + 1
                folder = f"{home}/rows" if dry_run else self.context.destination.staging(flight.load_id)
                root = self.context.staging or self.context.destination.abilities.staging
                staging = StagingFolder.of(folder, root, flight.load_id, storage)
                staging.make()
                flight.claim(staging)
                trial, kept = LoadAttempt(self.context, job, flight.load_id, staging), False
                try:
                    done = trial.run(dry_run)
                    flight.finished()
                    if not dry_run:
                        self.folders.export(done.schema)
                    return replace(done, seconds={**done.seconds, "all": time.monotonic() - started})
                except CommitConflict:
                    if attempt == ATTEMPTS - 1:
                        raise ConflictError(
                            f"{self.where}: commit conflict: gave up after {ATTEMPTS} attempts, as other "
                            "writers kept committing first; load again when they are done"
                        ) from None
                except DestinationError as bad:
                    if keeps and trial.commit is not None and trial.report is not None:
                        files = staging.bring_home(trial.commit.files)
                        commit = replace(trial.commit, files=files)
                        self.packages.keep(Package(commit, trial.report))
                        kept = True
                        raise DestinationError(
                            f"{bad}; the rows are kept, the next run loads them first (load {flight.load_id})"
                        ) from bad
                    raise
                finally:
                    staging.remove(kept)
        raise AssertionError("unreachable")

    def deliver(self) -> Report | None:
        """Commit what an earlier run could not, if there is such a package. Raises TrellisError."""
        package = self.packages.oldest()
        if package is None:
            with suppress(OSError):  # a folder that something is in stays
                self.packages.folder.parent.rmdir()
            return None
        commit, report = package.commit, package.report
        if not self._loaded_before(commit.load_id):
            self.packages.check_files(package)
            try:
                report = report.with_row_changes(self.context.destination.commit(commit))
            except (CommitConflict, StateConflict):
                raise TrellisError(
                    f"{self.where}: the pending load {commit.load_id} was made for a schema or a state that "
                    "another load changed meanwhile; drop it with drop_pending() and run its source again"
                ) from None
        self.packages.done(package)
        self.folders.export(commit.schema)
        note = (
            f"load {commit.load_id}, which failed before, is now loaded; the rows of this run were not read: "
            "run again"
        )
        return replace(report, notes=(*report.notes, note))

    @property
    def packages(self) -> Packages:
        return Packages(Path(self.context.destination.staging("")) / PENDING, self.name)

    def _loaded_before(self, load_id: str) -> bool:
        return self.context.destination.has_load(self.context.dataset, load_id, self.metadata)

    def _already(self, job: LoadJob, load_id: str) -> Report:
        schema = self.context.look(job.schema_name)[0]
        return Report(
            load_id, self.context.dataset, self.context.destination.url, self.context.dialect, schema,
            Counts(),
            already_loaded=True,
            notes=(f"load {load_id} is already in the destination; nothing was loaded again",),
        )  # fmt: skip
