"""A schema and its tables brought to a controller: schema first, then tables, then reloads."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from trellis.dialects.pinot.cluster.controller import Controller
from trellis.dialects.pinot.document.fields import PinotSchema
from trellis.dialects.pinot.document.writer import document_of
from trellis.dialects.pinot.schema_changes.changes import Effort, changes, incompatibilities, is_same_schema
from trellis.dialects.pinot.table.config import TableKind, table_config
from trellis.dialects.pinot.table.generated_config import TargetTable, merge_config
from trellis.errors import DestinationError, TrellisError

StepOutcome = Literal["done", "would", "nothing to do", "started", "failed"]


@dataclass(frozen=True)
class StepResult:
    """A step and its outcome."""

    step: str
    outcome: StepOutcome
    note: str = ""


class RolloutFailed(DestinationError):
    """A step failed; `steps` are its outcome and those before it."""

    def __init__(self, why: TrellisError, steps: Sequence[StepResult]) -> None:
        super().__init__(str(why))
        self.exit_code = why.exit_code
        self.steps = tuple(steps)


@dataclass(frozen=True)
class Rollout:
    """The target state of a schema and its tables.

    `dry`: nothing is changed; the controller is only read, and checks the schema.
    """

    controller: Controller
    schema: PinotSchema
    tables: Sequence[TargetTable]
    dry: bool = False

    def run(self) -> list[StepResult]:
        """Run the steps. Raises RolloutFailed where a step fails."""
        steps: list[StepResult] = []
        current = "ask the controller"
        try:
            for current, do in self._steps():
                steps.append(StepResult(current, *do()))
        except TrellisError as why:
            if steps and steps[-1].step == current:
                current = "look what is there"
            steps.append(StepResult(current, "failed"))
            raise RolloutFailed(why, steps) from why
        return steps

    def _steps(self) -> Iterator[tuple[str, Callable[[], tuple[StepOutcome, str]]]]:
        name = self.schema.name or ""
        yield f"check schema {name}", self._check
        old = self.controller.schema(name)
        yield f"{'add' if old is None else 'update'} schema {name}", partial(self._put_schema, old)
        for target in self.tables:
            kind = table_config(target.config).kind
            existing = self.controller.table(name, kind)
            verb = "add" if existing is None else "update"
            yield f"{verb} table {name}_{kind}", partial(self._put_table, target, existing)
            if existing is None:
                continue
            if self._changes_segments(old) or self.controller.needs_reload(name, kind):
                yield f"reload table {name}_{kind}", partial(self._reload, kind)

    def _check(self) -> tuple[StepOutcome, str]:
        ignored = self.controller.validate(document_of(self.schema))
        return "done", f"Pinot ignores {', '.join(ignored)}" if ignored else ""

    def _put_schema(self, old: PinotSchema | None) -> tuple[StepOutcome, str]:
        document = document_of(self.schema)
        if old is None:
            if not self.dry:
                self.controller.add_schema(document)
            return self._done, ""
        if is_same_schema(old, self.schema):
            return "nothing to do", "already up to date"
        problems = incompatibilities(old, self.schema)
        if problems:
            raise DestinationError(
                f"{self.controller.url}: schema {self.schema.name} is incompatible with that of the cluster: "
                f"{'; '.join(problems)}; `trellis pinot plan` shows what a new table takes"
            )
        if not self.dry:
            self.controller.update_schema(document)
        return self._done, "; ".join(map(str, changes(old, self.schema)))

    def _put_table(self, target: TargetTable, existing: Mapping[str, Any] | None) -> tuple[StepOutcome, str]:
        if existing is None:
            if not self.dry:
                self.controller.add_table(target.config)
            return self._done, ""
        merged, changed = merge_config(target.declared, existing)
        if not changed:
            return "nothing to do", "already up to date"
        if not self.dry:
            self.controller.update_table(merged)
        return self._done, f"changed: {', '.join(changed)}"

    def _changes_segments(self, old: PinotSchema | None) -> bool:
        if old is None or is_same_schema(old, self.schema):
            return False
        return any(change.effort is not Effort.NONE for change in changes(old, self.schema))

    def _reload(self, kind: TableKind) -> tuple[StepOutcome, str]:
        if self.dry:
            return "would", ""
        job = self.controller.reload(self.schema.name or "", kind)
        if job is None:
            return "nothing to do", "the table has no segments yet"
        return "started", f"{self.controller.url}/segments/segmentReloadStatus/{job} shows how far it is"

    @property
    def _done(self) -> StepOutcome:
        return "would" if self.dry else "done"
