"""Where the tasks of a load run: in this process, or on a Spark."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol, TypeVar

from trellis.engine.parallel import in_threads
from trellis.engine.plan import Plan
from trellis.engine.task import Outcome, Progress, Task, run_task

T = TypeVar("T")
R = TypeVar("R")


class Runner(Protocol):
    """Runs the tasks of one load."""

    def start(self) -> None:
        """Announce tasks, so that a slow start (Spark's) can begin early."""
        ...

    def wait(self) -> None:
        """Wait until tasks can run. Raises SparkError."""
        ...

    def conf_before_start(self) -> Mapping[str, str] | None:
        """The conf that tasks will run with, where they have not started and it is known; else None."""
        ...

    def cores(self) -> int:
        """How many tasks run at once."""
        ...

    def check_staging(self, folder: str) -> None:
        """Raises SparkError if a task could not write to that folder."""
        ...

    def run_tasks(self, plan: Plan, tasks: Sequence[Task], progress: Progress) -> Iterator[Outcome]:
        """The outcomes of the tasks, in any order."""
        ...

    def parallel(self, work: Callable[[T], R], items: Sequence[T]) -> Iterator[R]:
        """As `Parallel`, where the tasks run."""
        ...


class InlineRunner:
    """Runs the tasks one after the other in this process."""

    def start(self) -> None:
        return

    def wait(self) -> None:
        return

    def conf_before_start(self) -> Mapping[str, str] | None:
        return None

    def cores(self) -> int:
        return 1

    def check_staging(self, folder: str) -> None:
        return

    def run_tasks(self, plan: Plan, tasks: Sequence[Task], progress: Progress) -> Iterator[Outcome]:
        for task in tasks:
            yield run_task(plan, task, progress)

    def parallel(self, work: Callable[[T], R], items: Sequence[T]) -> Iterator[R]:
        return in_threads(work, items)
