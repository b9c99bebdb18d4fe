"""A schema and its tables brought to a controller: schema first, then tables, then reloads."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Literal

from trellis.dialects.pinot.cluster.controller import Controller
from trellis.dialects.pinot.cluster.controller_errors import Refused
from trellis.dialects.pinot.document.comparison.changes import Effort, changes
from trellis.dialects.pinot.document.comparison.compatibility import compatible, same
from trellis.dialects.pinot.document.fields import PinotSchema
from trellis.dialects.pinot.document.writer import document_of
from trellis.dialects.pinot.table.config import Kind, table_config
from trellis.dialects.pinot.table.generated_config import WantedTable
from trellis.errors import DestinationError, TrellisError

PipelineResult = Literal["done", "would", "nothing to do", "not yet", "failed", "left out"]
POLL: Final = 0.5


@dataclass(frozen=True)
class Done:
    """A step and what became of it."""

    step: str
    outcome: PipelineResult
    note: str = ""


class Stopped(DestinationError):
    """A step failed; `steps` tells what was done before, and what was left out."""

    def __init__(self, why: TrellisError, steps: Sequence[Done]) -> None:
        super().__init__(str(why))
        self.exit_code = why.exit_code
        self.steps = tuple(steps)


@dataclass(frozen=True)
class Rollout:
    """What is to stand in the cluster.

    `force` replaces a schema that does not fit. `wait`: seconds for a reload to be over.
    `dry`: nothing is changed; the controller is only asked what is there, and to check the schema.
    """

    controller: Controller
    schema: PinotSchema
    tables: Sequence[WantedTable]
    force: bool = False
    dry: bool = False
    wait: float = 60.0
    sleep: Callable[[float], None] = time.sleep

    def run(self, tell: Callable[[Done], None] = lambda _: None) -> list[Done]:
        """Do it. Raises Stopped where a step fails."""
        made: list[Done] = []
        current = "ask the controller"
        try:
            for current, do in self._steps():
                done = do()
                made.append(Done(current, *done))
                tell(made[-1])
        except TrellisError as why:
            if made and made[-1].step == current:
                current = "look what is there"
            made.append(Done(current, "failed"))
            raise Stopped(why, made) from why
        return made

    def _steps(self) -> Iterator[tuple[str, Callable[[], tuple[PipelineResult, str]]]]:
        name = self.schema.name or ""
        yield f"check schema {name}", self._check
        old = self.controller.schema(name)
        yield f"{'add' if old is None else 'update'} schema {name}", partial(self._put_schema, old)
        for wanted in self.tables:
            kind = table_config(wanted.config).kind
            there = self.controller.table(name, kind)
            verb = "add" if there is None else "update"
            yield f"{verb} table {name}_{kind}", partial(self._put_table, wanted, there)
            if there is None:
                continue
            if self._changes_segments(old):
                yield f"reload table {name}_{kind}", partial(self._reload, kind)
            elif (due := self._due(kind)) is not None:
                yield f"reload table {name}_{kind}", due

    def _check(self) -> tuple[PipelineResult, str]:
        ignored = self.controller.validate(document_of(self.schema))
        return "done", f"Pinot ignores {', '.join(ignored)}" if ignored else ""

    def _put_schema(self, old: PinotSchema | None) -> tuple[PipelineResult, str]:
        document = document_of(self.schema)
        if old is None:
            if not self.dry:
                self.controller.add_schema(document)
            return self._done, ""
        if same(old, self.schema):
            return "nothing to do", "it is there as it is"
        problems = compatible(old, self.schema)
        if problems and not self.force:
            raise DestinationError(
                f"{self.controller.url}: schema {self.schema.name} does not fit the one that is there: "
                f"{'; '.join(problems)}; `trellis pinot plan` shows what a new table takes; "
                "--force replaces it all the same"
            )
        if not self.dry:
            self.controller.update_schema(document, force=self.force and bool(problems))
        return self._done, "; ".join(map(str, changes(old, self.schema)))

    def _put_table(self, wanted: WantedTable, there: Mapping[str, Any] | None) -> tuple[PipelineResult, str]:
        if there is None:
            if not self.dry:
                self.controller.add_table(wanted.config)
            return self._done, ""
        changed = differences(wanted.said, there)
        if not changed:
            return "nothing to do", "it is there as it is"
        if not self.dry:
            self.controller.update_table(over(wanted.said, there))
        return self._done, f"changed: {', '.join(changed)}"

    def _changes_segments(self, old: PinotSchema | None) -> bool:
        if old is None or same(old, self.schema):
            return False
        return any(each.effort is not Effort.NONE for each in changes(old, self.schema))

    def _due(self, kind: Kind) -> Callable[[], tuple[PipelineResult, str]] | None:
        """The reload that an earlier run did not come to, as the servers tell; None where there is none."""
        name = self.schema.name or ""
        try:
            needed = self.controller.needs_reload(name, kind)
            if needed is None and not self.controller.has_segments(name, kind):
                return None
            why = "no server told whether its segments need it"
        except Refused as error:
            needed, why = None, str(error)
        if needed is not None:
            return partial(self._reload, kind) if needed else None
        path = f"{self.controller.url}/segments/{name}/reload?type={kind}"
        said = f"{why}; if an earlier run stopped before it: curl -sSf -X POST '{path}'"
        return lambda: ("left out", said)

    def _reload(self, kind: Kind) -> tuple[PipelineResult, str]:
        if self.dry:
            return "would", ""
        ordered = self.controller.reload(self.schema.name or "", kind)
        if ordered is None:
            return "nothing to do", "the table has no segments yet"
        waited = 0.0
        while True:
            progress = self.controller.progress(ordered.job)
            if progress.over or waited >= self.wait:
                break
            self.sleep(POLL)
            waited += POLL
        if progress.over and not progress.failed:
            return "done", f"{progress.done} of {progress.total} segments"
        if progress.over:
            raise DestinationError(
                f"{self.controller.url}: {progress.failed} of {progress.total} segments could not be "
                f"reloaded (job {ordered.job}); the log of the servers tells why"
            )
        who = "server does" if progress.silent == 1 else "servers do"
        silent = f", {progress.silent} {who} not answer" if progress.silent else ""
        tells = f"{self.controller.url}/segments/segmentReloadStatus/{ordered.job} tells when"
        return "not yet", f"{progress.done} of {progress.total} segments{silent}; {tells}"

    @property
    def _done(self) -> PipelineResult:
        return "would" if self.dry else "done"


def over(config: Mapping[str, Any], there: Mapping[str, Any]) -> dict[str, Any]:
    """A config with what only the cluster says of it kept.

    >>> over({"a": {"x": 1}}, {"a": {"x": 2, "y": 3}, "b": 4})
    {'a': {'x': 1, 'y': 3}, 'b': 4}
    """
    made = dict(there)
    for key, value in config.items():
        before = there.get(key)
        if isinstance(value, Mapping):
            made[key] = over(value, before if isinstance(before, Mapping) else {})
        elif str(before) != str(value):
            made[key] = value
    return made


def differences(config: Mapping[str, Any], there: Mapping[str, Any], place: str = "") -> list[str]:
    """The paths of what a config says differently.

    >>> differences({"a": {"x": 1}, "b": 4}, {"a": {"x": 2, "y": 3}, "b": 4})
    ['a.x']
    """
    found: list[str] = []
    for key, value in config.items():
        before, path = there.get(key), f"{place}{key}"
        if isinstance(value, Mapping):
            found += differences(value, before if isinstance(before, Mapping) else {}, f"{path}.")
        elif str(before) != str(value):
            found.append(path)
    return found
