"""Tasks as a Spark job: Spark says where and when, each task reads, conforms and stages its splits."""

from __future__ import annotations

import os
import pickle
import platform
import secrets
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import pyarrow as pa

from trellis import __version__
from trellis.engine.input.spark_source import SparkSource
from trellis.engine.plan import Plan
from trellis.engine.spark.failures import job_failure
from trellis.engine.spark.packages import request_source, request_storage
from trellis.engine.spark.progress import ProgressNote, ProgressNotes
from trellis.engine.spark.session import (
    conf_before_start,
    cores_of,
    get_session,
    is_local,
    runs_here,
    start_session,
)
from trellis.engine.spark.storage import configure_storage
from trellis.engine.storage.location import is_remote
from trellis.engine.task import Outcome, Progress, Task, run_task
from trellis.errors import SparkError, TrellisError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_RESULT = "result binary"
_PROGRESS = "_progress"
_CANCEL_SECONDS = 5

Batches = Iterable[pa.RecordBatch]
T = TypeVar("T")
R = TypeVar("R")
ProgressCallback = Callable[[str, int, int | None], object]


def _silent(_: str, __: int, ___: int | None) -> None:
    return None


class SparkRunner:
    """A `Runner` on the active session, or on one that starts when it is first needed.

    `tell` is called with ("spark", 0, None) and ("workers", 0, None) when the load waits for them.
    """

    def __init__(
        self,
        master: str | None = None,
        remote: str | None = None,
        session: SparkSession | None = None,
        tell: ProgressCallback = _silent,
    ) -> None:
        self.master = master
        self.remote = remote
        self.tell = tell
        self.started = False
        self.visible: set[str] = set()
        if session is not None:
            self.session = session

    @cached_property
    def session(self) -> SparkSession:
        self.tell("spark", 0, None)
        return get_session(self.master, self.remote)

    def session_for(self, source: SparkSource) -> SparkSession:
        """The session, which reads a source if it starts now."""
        request_source(source.format)
        return self.session_at(source.sources)

    def session_at(self, locations: Iterable[str]) -> SparkSession:
        """The session, which opens files at these locations as this process does."""
        places = [*locations]
        for location in places:
            request_storage(location)
        for location in places:
            configure_storage(self.session, location)
        return self.session

    def conf_before_start(self) -> Mapping[str, str] | None:
        """As `session.conf_before_start`."""
        return None if "session" in self.__dict__ else conf_before_start(self.master, self.remote)

    def start(self) -> None:
        self.started = True
        if "session" not in self.__dict__:
            start_session(self.master, self.remote)

    def wait(self) -> None:
        if self.started:
            self.session  # noqa: B018

    def cores(self) -> int:
        try:
            return cores_of(self.session)
        except TrellisError:
            raise
        except Exception as failure:
            raise job_failure(failure) from failure

    def check_staging(self, folder: str) -> None:
        """A file goes to and fro: what the driver writes a task must see, and the other way round."""
        if is_remote(folder) or folder in self.visible or self._is_local():
            return
        probe = Path(folder).absolute() / f"_probe-{secrets.token_hex(8)}"
        probe.mkdir(parents=True)
        try:
            (probe / "driver").touch()
            looks = list(self.parallel(partial(_look, str(probe)), range(self.cores())))
            blind = {look.host for look in looks if not look.sees or not (probe / look.note).exists()}
        finally:
            for note in probe.glob("*"):
                note.unlink()
            probe.rmdir()
        if blind:
            raise SparkError(
                f"{folder}: Spark's workers ({', '.join(sorted(blind))}) do not see this staging folder of "
                "the driver; name one that all of them share with --staging"
            )
        self.visible.add(folder)

    def _is_local(self) -> bool:
        if "session" in self.__dict__:
            return is_local(self.session)
        return runs_here(self.master, self.remote)

    def run_tasks(self, plan: Plan, tasks: Sequence[Task], progress: Progress) -> Iterator[Outcome]:
        folder = os.path.join(plan.staging, _PROGRESS)
        notes: AbstractContextManager[object] = (
            nullcontext() if is_remote(folder) else ProgressNotes(folder, progress)
        )
        with notes:
            yield from self.parallel(partial(_run, plan), tasks)

    def parallel(self, work: Callable[[T], R], items: Sequence[T]) -> Iterator[R]:
        """`Parallel` on the executors: one job, a task for each item."""
        if not items:
            return
        frame = self._frame(lambda: self.session.range(0, len(items), 1, len(items)))
        yield from self.map_partitions(frame, partial(_each, work, list(items)))

    def map_partitions(
        self, frame: DataFrame, work: Callable[[Batches], Iterator[R | TrellisError]]
    ) -> Iterator[R]:
        """What the work makes of the rows of each partition of a frame, in one job."""
        self.tell("workers", 0, None)
        try:
            with _cancelled_with_the_load(self.session):
                rows = frame.mapInArrow(_Work(work), _RESULT).collect()
        except Exception as failure:
            raise job_failure(failure) from failure
        for row in rows:
            result = pickle.loads(bytes(row.result))
            if isinstance(result, TrellisError):
                raise result
            yield result

    def _frame(self, make: Callable[[], DataFrame]) -> DataFrame:
        try:
            return make()
        except TrellisError:
            raise
        except Exception as failure:
            raise job_failure(failure) from failure


@contextmanager
def _cancelled_with_the_load(session: SparkSession) -> Iterator[None]:
    """Ctrl-C ends the job too: a cluster would go on with it and write into a folder that is gone."""
    tag = f"trellis-{secrets.token_hex(8)}"
    session.addTag(tag)
    try:
        yield
    except KeyboardInterrupt:
        # A thread of its own has its own connection; that of this one is in the middle of an answer.
        cancel = threading.Thread(target=session.interruptTag, args=(tag,), daemon=True)
        cancel.start()
        cancel.join(_CANCEL_SECONDS)
        raise
    except Exception:
        with suppress(Exception):
            session.removeTag(tag)
        raise
    session.removeTag(tag)


def _run(plan: Plan, task: Task) -> Outcome:
    return run_task(plan, task, ProgressNote(os.path.join(plan.staging, _PROGRESS), task.name))


class _Look(NamedTuple):
    """Whether a machine sees the file of the driver, and the name of the one that it left beside it."""

    host: str
    sees: bool
    note: str


def _look(probe: str, number: int) -> _Look:
    note = str(number)
    try:
        os.stat(os.path.join(probe, "driver"))
        Path(probe, note).touch()
    except OSError:
        return _Look(platform.node(), False, note)
    return _Look(platform.node(), True, note)


def _each(work: Callable[[T], R], items: Sequence[T], batches: Batches) -> Iterator[R | TrellisError]:
    """The results of the items with the numbers in some batches."""
    for batch in batches:
        for number in batch.column("id").to_pylist():
            try:
                yield work(items[number])
            except TrellisError as failure:
                yield failure


class _Work:
    """What runs on an executor. Never holds the session.

    Spark ships it as it ships any function. Results come back as one binary cell each, because a row of a
    DataFrame has no other place for them; they live as long as the job. Relative paths mean in a task what
    they mean in the driver: an executor has a folder of its own.
    """

    def __init__(self, work: Callable[[Batches], Iterator[Any]]) -> None:
        self.work = work
        self.version = __version__
        self.folder = os.getcwd()

    def __call__(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        if self.version != __version__:
            yield _row(
                SparkError(
                    f"the Python of Spark's workers has trellis-spark {__version__}, this process "
                    f"{self.version}; install the same version in both"
                )
            )
            return
        results = self.work(batches)
        while True:
            try:
                with _working_folder(self.folder):
                    result = next(results)
            except StopIteration:
                return
            except TrellisError as failure:
                yield _row(failure)
                return
            yield _row(result)


@contextmanager
def _working_folder(folder: str) -> Iterator[None]:
    """Work in a folder, if this machine has it, and go back: others use the same Python worker."""
    before = os.getcwd()
    with suppress(OSError):
        os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def _row(result: object) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict({"result": pa.array([pickle.dumps(result)], pa.binary())})
