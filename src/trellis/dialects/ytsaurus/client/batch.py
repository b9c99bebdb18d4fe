"""Commands that a script collects and sends together."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from trellis.dialects.ytsaurus.errors import YtError

if TYPE_CHECKING:
    from trellis.dialects.ytsaurus.client.client import YtClient

_COMMANDS: Final = {
    *("create", "create_table", "mkdir", "get", "set", "list", "exists", "remove", "copy", "move"),
    *("get_type", "get_attribute", "set_attribute", "has_attribute", "remove_attribute"),
    *("row_count", "is_sorted", "is_empty", "alter_table", "lock", "unlock"),
    *("start_transaction", "ping_transaction", "commit_transaction", "abort_transaction"),
}


class BatchResponse:
    """What became of a command; known after `commit_batch`."""

    def __init__(self) -> None:
        self._is_known = False
        self._result: Any = None
        self._error: YtError | None = None

    def get_result(self) -> Any:
        """None of a command that failed."""
        self._check()
        return self._result

    def get_error(self) -> dict[str, Any] | None:
        self._check()
        return None if self._error is None else self._error.to_document()

    def is_ok(self) -> bool:
        return self.get_error() is None

    def run(self, command: Callable[[], Any]) -> YtError | None:
        """The error of the command."""
        self._is_known = True
        try:
            self._result = command()
        except YtError as error:
            self._error = error
        return self._error

    def _check(self) -> None:
        if not self._is_known:
            raise YtError("the batch has not been sent yet; call commit_batch")


class BatchClient:
    """The methods of a client whose commands run one after the other at `commit_batch`.

    One that fails does not keep the others from running.
    """

    def __init__(self, client: YtClient, raise_errors: bool) -> None:
        self._client = client
        self._raise_errors = raise_errors
        self._commands: list[tuple[BatchResponse, Callable[[], Any]]] = []

    def __getattr__(self, name: str) -> Callable[..., BatchResponse]:
        if name not in _COMMANDS:
            raise AttributeError(f"{name} cannot be in a batch")
        return partial(self._add, getattr(self._client, name))

    def _add(self, method: Callable[..., Any], *arguments: Any, **options: Any) -> BatchResponse:
        response = BatchResponse()
        self._commands.append((response, partial(method, *arguments, **options)))
        return response

    def commit_batch(self) -> None:
        """Raises YtError with the errors of all commands that failed, if that was asked for."""
        commands, self._commands = self._commands, []
        errors = [error for response, command in commands if (error := response.run(command)) is not None]
        if self._raise_errors and errors:
            raise YtError("commands of the batch failed", inner_errors=errors)


def apply_in_batch(client: YtClient, function: Callable[..., Any], data: Iterable[Any]) -> list[Any]:
    """The results of a function that takes an item and a client. Raises YtError."""
    batch = BatchClient(client, raise_errors=True)
    responses = [function(item, client=batch) for item in data]
    batch.commit_batch()
    return [None if response is None else response.get_result() for response in responses]
