"""Operations as scripts hold them: they have ended by the time that a script has one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from trellis.dialects.ytsaurus.errors import YtError
from trellis.dialects.ytsaurus.store.database.ids import new_id


class OperationState(str):
    """completed or failed."""

    @property
    def name(self) -> str:
        return str(self)

    def is_finished(self) -> bool:
        return True

    def is_unsuccessfully_finished(self) -> bool:
        return self == "failed"

    def is_running(self) -> bool:
        return False


class Operation:
    """An operation that has run."""

    url = None
    """There is no page of it."""

    def __init__(self, type: str, error: YtError | None = None) -> None:
        self.type = type
        self.id = new_id("operation")
        self._error = error

    def get_state(self) -> OperationState:
        return OperationState("completed" if self._error is None else "failed")

    def get_error(self, state: object = None) -> YtError | None:
        return self._error

    def wait(self, check_result: bool = True, print_progress: object = None, timeout: object = None) -> None:
        """Raises the YtError of one that failed. It has ended before, so the last two have no effect."""
        if check_result and self._error is not None:
            raise self._error


def run_operation(type: str, sync: bool, run: Callable[[], Any]) -> Operation:
    """Run at once. With `sync` an error is raised, else it is that of the operation."""
    try:
        run()
    except YtError as error:
        if sync:
            raise
        return Operation(type, error)
    return Operation(type)


class OperationsTracker:
    """Operations of a `with` block, whose errors it raises at the end. Settings have no effect."""

    def __init__(self, **settings: object) -> None:
        self._operations: list[Operation] = []

    def add(self, operation: Operation) -> None:
        self._operations.append(operation)

    def get_operation_count(self) -> int:
        return len(self._operations)

    def wait_all(self, check_result: bool = True, **settings: object) -> None:
        """Raises the YtErrors of those that failed, as inner errors of one."""
        errors = [error for operation in self._operations if (error := operation.get_error()) is not None]
        self._operations.clear()
        if check_result and errors:
            raise YtError("all tracked operations have ended, some have failed", inner_errors=errors)

    def __enter__(self) -> OperationsTracker:
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        if kind is None:
            self.wait_all()
