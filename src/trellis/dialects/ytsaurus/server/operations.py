"""Operations that clients start: each runs in a thread, and is there until the server ends."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from trellis.dialects.ytsaurus.errors import ErrorCode, YtError
from trellis.dialects.ytsaurus.paths.rich_path import parse_sort_columns
from trellis.dialects.ytsaurus.schema.model import SortColumn
from trellis.dialects.ytsaurus.store.database.ids import format_moment, new_id
from trellis.dialects.ytsaurus.store.jobs.job import Command
from trellis.dialects.ytsaurus.store.jobs.operations import map_reduce_rows, map_rows, reduce_rows
from trellis.dialects.ytsaurus.store.operations import OperationSpec, erase, merge, remote_copy, sort
from trellis.dialects.ytsaurus.store.store import Store
from trellis.dialects.ytsaurus.yson.values import split_attributes, to_key
from trellis.errors import TrellisError

State = Literal["running", "completed", "failed", "aborted"]
OpenStore = Callable[[], AbstractContextManager[Store]]
_TRANSACTION_WAIT: Final = 60.0
"""Seconds in which an operation is under way, so that it can be aborted."""


@dataclass
class Operation:
    id: str
    type: str
    spec: Mapping[str, Any]
    started: float
    state: State = "running"
    finished: float | None = None
    error: YtError | None = None
    transaction: str = ""
    """Which holds the locks of the operation while it runs."""
    has_begun: threading.Event = field(default_factory=threading.Event)

    def document(self) -> dict[str, Any]:
        """The attributes by which clients follow an operation."""
        is_running = self.state == "running"
        jobs = {"running": int(is_running), "completed": int(self.state == "completed"), "pending": 0}
        jobs |= {"failed": int(self.state == "failed"), "aborted": int(self.state == "aborted"), "lost": 0}
        progress = {"jobs": {**jobs, "total": 1}, "build_time": format_moment(self.finished or time.time())}
        document = {
            "id": self.id,
            "type": self.type,
            "state": self.state,
            "spec": self.spec,
            "full_spec": self.spec,
            "unrecognized_spec": {},
            "authenticated_user": "root",
            "start_time": format_moment(self.started),
            "brief_progress": progress,
            "progress": progress,
            "alerts": {},
            "suspended": False,
            "result": {"error": self.error.to_document() if self.error else {"code": 0, "message": ""}},
        }
        if self.finished is not None:
            document["finish_time"] = format_moment(self.finished)
        return document


class Operations:
    """The operations of a server."""

    def __init__(
        self, open_store: OpenStore, clusters: Mapping[str, str], *, allow_jobs: bool = False
    ) -> None:
        self._open_store = open_store
        self._clusters = clusters
        self._allow_jobs = allow_jobs
        self._operations: dict[str, Operation] = {}

    def start(self, type: str, spec: Mapping[str, Any], transaction_id: str) -> str:
        """The id of an operation that runs. Raises YtError for one that Trellis does not have."""
        run = _RUNS.get(type)
        if run is None:
            raise YtError(f"there are no operations of the type {type!r}; expected one of {', '.join(_RUNS)}")
        if type in _WITH_COMMANDS and not self._allow_jobs:
            raise YtError(
                f"operations of the type {type} run commands of clients on the machine of the server, "
                "which does not allow it; start it with --allow-jobs"
            )
        operation = Operation(new_id("operation"), type, spec, time.time())
        self._operations[operation.id] = operation
        threading.Thread(target=self._run, args=(operation, run, transaction_id), daemon=True).start()
        return operation.id

    def get(self, operation_id: str) -> Operation:
        """Raises YtError with the code 1915."""
        operation = self._operations.get(operation_id)
        if operation is None:
            raise YtError(
                f"there is no operation {operation_id}; a server forgets them when it ends",
                ErrorCode.NO_SUCH_OPERATION,
            )
        return operation

    def list(self) -> Sequence[Operation]:
        return tuple(self._operations.values())

    def abort(self, operation_id: str, message: str) -> None:
        """Nothing that an aborted operation did is there. Those that ended stay as they are."""
        operation = self.get(operation_id)
        operation.has_begun.wait(_TRANSACTION_WAIT)
        with self._open_store() as store, store.catalog.transaction():
            if operation.state == "running" and store.transactions.find(operation.transaction):
                operation.state = "aborted"
                operation.error = YtError(message or "the operation was aborted by a user")
                store.transactions.abort(operation.transaction)

    def _run(self, operation: Operation, run: _Run, transaction_id: str) -> None:
        state: State = "completed"
        try:
            with self._open_store() as store:
                outer = store.within(transaction_id) if transaction_id else store
                with outer.command(f"operation {operation.id}") as inner:
                    operation.transaction = inner.lineage[0]
                    operation.has_begun.set()
                    run(inner, operation.spec, self._clusters)
        except TrellisError as error:
            state = "failed"
            if operation.state == "running":
                operation.error = error if isinstance(error, YtError) else YtError(str(error))
        except Exception as error:
            state, operation.error = "failed", YtError(f"the operation broke: {error!r}")
            raise
        finally:
            operation.finished = time.time()
            operation.has_begun.set()
            if operation.state == "running":
                operation.state = state


_Run = Callable[[Store, Mapping[str, Any], Mapping[str, str]], None]


def _run_merge(store: Store, spec: Mapping[str, Any], clusters: Mapping[str, str]) -> None:
    mode: Any = to_key(spec.get("mode", "unordered"))
    merge(store, _inputs(spec), _value(spec, "output_table_path"), mode, OperationSpec.parse(spec))


def _run_sort(store: Store, spec: Mapping[str, Any], clusters: Mapping[str, str]) -> None:
    keys = parse_sort_columns(_value(spec, "sort_by"), "sort_by")
    sort(store, _inputs(spec), _value(spec, "output_table_path"), keys, OperationSpec.parse(spec))


def _run_erase(store: Store, spec: Mapping[str, Any], clusters: Mapping[str, str]) -> None:
    erase(store, _value(spec, "table_path"), OperationSpec.parse(spec))


def _run_remote_copy(store: Store, spec: Mapping[str, Any], clusters: Mapping[str, str]) -> None:
    name, sources = to_key(_value(spec, "cluster_name")), _inputs(spec)
    if name not in clusters:
        raise YtError(f"there is no cluster {name!r}; start the server with --cluster {name}=yt:FOLDER")
    if len(sources) != 1:
        raise YtError(f"remote_copy takes one table, not {len(sources)}")
    with Store.open(clusters[name], create=False) as cluster:
        remote_copy(
            store,
            cluster,
            sources[0],
            _value(spec, "output_table_path"),
            OperationSpec.parse(spec),
            copy_attributes=spec.get("copy_attributes") is True,
        )


def _run_map(store: Store, spec: Mapping[str, Any], clusters: Mapping[str, str]) -> None:
    _check_spec(spec)
    mapper = Command.parse(_value(spec, "mapper"), _job_io(spec, "job_io"))
    map_rows(store, mapper, _inputs(spec), _outputs(spec))


def _run_reduce(store: Store, spec: Mapping[str, Any], clusters: Mapping[str, str]) -> None:
    _check_spec(spec)
    job = Command.parse(_value(spec, "reducer"), _job_io(spec, "job_io"))
    join_by = _sort_columns(spec, "join_by")
    reduce_by = _sort_columns(spec, "reduce_by")
    reduce_rows(
        *(store, job, _inputs(spec), _outputs(spec), reduce_by, _sort_columns(spec, "sort_by")),
        join_by=join_by,
    )


def _run_map_reduce(store: Store, spec: Mapping[str, Any], clusters: Mapping[str, str]) -> None:
    _check_spec(spec)
    mapper = Command.parse(spec["mapper"], _job_io(spec, "map_job_io")) if "mapper" in spec else None
    reducer = Command.parse(_value(spec, "reducer"), _job_io(spec, "reduce_job_io"))
    combiner = None
    if "reduce_combiner" in spec:
        combiner = Command.parse(spec["reduce_combiner"], _job_io(spec, "sort_job_io"))
    reduce_by, sort_by = _sort_columns(spec, "reduce_by"), _sort_columns(spec, "sort_by")
    map_reduce_rows(
        *(store, mapper, reducer, _inputs(spec), _outputs(spec), reduce_by, sort_by), combiner=combiner
    )


_RUNS: Final[Mapping[str, _Run]] = {
    "merge": _run_merge,
    "sort": _run_sort,
    "erase": _run_erase,
    "remote_copy": _run_remote_copy,
    "map": _run_map,
    "reduce": _run_reduce,
    "join_reduce": _run_reduce,
    "map_reduce": _run_map_reduce,
}
_WITH_COMMANDS: Final = ("map", "reduce", "join_reduce", "map_reduce")


def _inputs(spec: Mapping[str, Any]) -> list[Any]:
    value, _ = split_attributes(_value(spec, "input_table_paths"))
    return value if isinstance(value, list) else [value]


def _outputs(spec: Mapping[str, Any]) -> list[Any]:
    value, _ = split_attributes(_value(spec, "output_table_paths"))
    return value if isinstance(value, list) else [value]


def _sort_columns(spec: Mapping[str, Any], name: str) -> Sequence[SortColumn]:
    """What rows are grouped, sorted or joined by; empty where the spec does not say."""
    return parse_sort_columns(spec[name], name) if name in spec else ()


def _job_io(spec: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    settings, _ = split_attributes(spec.get(name) or {})
    if not isinstance(settings, Mapping):
        raise YtError(f"{name} of the spec is not a map")
    return settings


def _check_spec(spec: Mapping[str, Any]) -> None:
    """Raises YtError for tables that a job cannot write here."""
    if spec.get("stderr_table_path") or spec.get("core_table_path"):
        name = "stderr_table_path" if spec.get("stderr_table_path") else "core_table_path"
        raise YtError(
            f"{name} cannot be written; the error of a job that fails has the end of its standard error"
        )


def _value(spec: Mapping[str, Any], name: str) -> Any:
    if name not in spec:
        raise YtError(f"the spec of the operation has no {name}")
    return spec[name]
