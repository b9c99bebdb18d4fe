"""The commands of the HTTP interface whose input and output are single values."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any, Final, Literal

from trellis.dialects.ytsaurus.errors import ErrorCode, YtError
from trellis.dialects.ytsaurus.paths.rich_path import parse_path
from trellis.dialects.ytsaurus.server.operations import Operations
from trellis.dialects.ytsaurus.server.requests import Request
from trellis.dialects.ytsaurus.store import attributes, transaction_commands
from trellis.dialects.ytsaurus.store.altering import alter_table
from trellis.dialects.ytsaurus.store.operations import merge
from trellis.dialects.ytsaurus.store.store import Store
from trellis.errors import TrellisError

DataType = Literal["null", "structured", "tabular"]
NULL_ID: Final = "0-0-0-0"


@dataclass(frozen=True)
class Session:
    """What a command works with: the store, in the transaction that the request names."""

    store: Store
    operations: Operations


Run = Callable[[Session, Request], Any]


@dataclass(frozen=True)
class Command:
    name: str
    run: Run | None
    """None for those that read or write rows."""
    input: DataType = "null"
    output: DataType = "structured"
    is_volatile: bool = False

    def description(self) -> dict[str, Any]:
        """As clients ask for it, to know how to send the command."""
        return {
            "name": self.name,
            "input_type": self.input,
            "output_type": self.output,
            "is_volatile": self.is_volatile,
            "is_heavy": "tabular" in (self.input, self.output),
        }


# --- Nodes -----------------------------------------------------------------------------------------------


def create_node(session: Session, request: Request) -> Any:
    node_id = session.store.create(
        request.text("type"),
        request.text("path", ""),  # accounts, users and the like have none, and are refused
        request.map("attributes"),
        recursive=request.flag("recursive"),
        ignore_existing=request.flag("ignore_existing"),
        force=request.flag("force"),
    )
    return {"node_id": node_id}


def get_value(session: Session, request: Request) -> Any:
    value = attributes.get(session.store, request.text("path"), request.names("attributes"))
    return _only_value(request, value)


def list_nodes(session: Session, request: Request) -> Any:
    names = attributes.list_children(session.store, request.text("path"), request.names("attributes"))
    return _only_value(request, names)


def check_existence(session: Session, request: Request) -> Any:
    return _only_value(request, attributes.exists(session.store, request.text("path")))


def set_value(session: Session, request: Request) -> None:
    attributes.set_attribute(session.store, request.text("path"), request.value("input"))


def remove_node(session: Session, request: Request) -> None:
    path, force = request.text("path"), request.flag("force")
    attributes.remove(session.store, path, recursive=request.flag("recursive"), force=force)


def copy_node(session: Session, request: Request) -> Any:
    node_id = session.store.copy(
        *_source_and_target(request),
        recursive=request.flag("recursive"),
        ignore_existing=request.flag("ignore_existing"),
        force=request.flag("force"),
    )
    return {"node_id": node_id}


def move_node(session: Session, request: Request) -> Any:
    recursive, force = request.flag("recursive"), request.flag("force")
    return {"node_id": session.store.move(*_source_and_target(request), recursive=recursive, force=force)}


def alter_schema(session: Session, request: Request) -> None:
    for name in ("dynamic", "upstream_replica_id", "schema_id"):
        if request.parameters.get(name) not in (None, False):
            raise YtError(f"alter_table cannot set {name}: tables of Trellis are static")
    alter_table(session.store, request.text("path"), request.value("schema"))


def concatenate_tables(session: Session, request: Request) -> None:
    merge(session.store, request.value("source_paths"), request.value("destination_path"), "ordered")


def parse_rich_path(session: Session, request: Request) -> Any:
    return {"path": parse_path(request.value("path"), session.store.switches).to_yson()}


# --- Transactions ----------------------------------------------------------------------------------------


def start_transaction(session: Session, request: Request) -> Any:
    deadline = request.parameters.get("deadline")
    transaction_id = transaction_commands.start_transaction(
        session.store,
        timeout=request.number("timeout", 30_000) / 1000,
        deadline=None if deadline is None else _moment(request.text("deadline")),
        attributes=request.map("attributes"),
    )
    return {"transaction_id": transaction_id}


def ping_transaction(session: Session, request: Request) -> None:
    ancestors = request.flag("ping_ancestor_transactions")
    transaction_commands.ping_transaction(session.store, request.text("transaction_id"), ancestors=ancestors)


def commit_transaction(session: Session, request: Request) -> None:
    transaction_commands.commit_transaction(session.store, request.text("transaction_id"))


def abort_transaction(session: Session, request: Request) -> None:
    transaction_commands.abort_transaction(session.store, request.text("transaction_id"))


def lock_node(session: Session, request: Request) -> Any:
    lock = transaction_commands.lock_node(
        session.store,
        request.text("path"),
        request.text("mode", "exclusive"),
        waitable=request.flag("waitable"),
        child_key=request.text("child_key", ""),
        attribute_key=request.text("attribute_key", ""),
    )
    return {
        "lock_id": lock.id,
        "node_id": lock.node,
        "revision": session.store.node(f"#{lock.node}").revision,
    }


def unlock_node(session: Session, request: Request) -> None:
    transaction_commands.unlock_node(session.store, request.text("path"))


# --- Operations ------------------------------------------------------------------------------------------


def start_operation(session: Session, request: Request) -> Any:
    operation_id = session.operations.start(
        request.text("operation_type"), request.map("spec"), session.store.lineage[0]
    )
    return {"operation_id": operation_id}


def get_operation(session: Session, request: Request) -> Any:
    document = session.operations.get(request.text("operation_id")).document()
    names = request.names("attributes")
    return {name: document[name] for name in names if name in document} if names else document


def abort_operation(session: Session, request: Request) -> None:
    session.operations.abort(request.text("operation_id"), request.text("abort_message", ""))


def list_operations(session: Session, request: Request) -> Any:
    documents = [operation.document() for operation in session.operations.list()]
    return {"operations": documents[::-1], "incomplete": False}


def list_jobs(session: Session, request: Request) -> Any:
    """Operations of Trellis have no jobs that clients could look at."""
    session.operations.get(request.text("operation_id"))
    return {"jobs": [], "cypress_job_count": 0, "scheduler_job_count": 0, "archive_job_count": 0}


# --- Others ----------------------------------------------------------------------------------------------


def execute_batch(session: Session, request: Request) -> Any:
    """Each command with its result or its error."""
    requests = request.value("requests")
    if not isinstance(requests, list):
        raise YtError("the requests of execute_batch are not a list")
    return {"results": [_run_part(session, part, request) for part in requests]}


def check_permission(session: Session, request: Request) -> Any:
    """Whoever reaches the server may do everything."""
    session.store.node(request.text("path"))
    return {"action": "allow"}


def get_supported_features(session: Session, request: Request) -> Any:
    return {"features": {"compression_codecs": ["lz4", "zstd_1"], "erasure_codecs": ["none"]}}


def generate_timestamp(session: Session, request: Request) -> Any:
    return {"timestamp": int(time.time()) << 30}


def bind_store(store: Store, request: Request) -> Store:
    """The store in the transaction that a command runs in. Raises YtError with the code 11000."""
    transaction_id = request.text("transaction_id", NULL_ID)
    if transaction_id == NULL_ID or request.command in _ABOUT_TRANSACTIONS:
        return store
    return store.within(transaction_id)


def _run_part(session: Session, part: Mapping[str, Any], batch: Request) -> dict[str, Any]:
    try:
        command = COMMANDS.get(str(part.get("command")))
        if command is None or command.run is None or command.name == "execute_batch":
            raise YtError(f"the command {part.get('command')!r} cannot be in a batch")
        parameters = {**part.get("parameters", {})}
        if "input" in part:
            parameters["input"] = part["input"]
        request = Request(command.name, parameters, batch.body, batch.header_format)
        output = command.run(Session(bind_store(session.store, request), session.operations), request)
        return {} if output is None else {"output": output}
    except TrellisError as error:
        return {"error": error_document(error)}


def error_document(error: TrellisError) -> dict[str, Any]:
    return (error if isinstance(error, YtError) else YtError(str(error), ErrorCode.GENERIC)).to_document()


def _only_value(request: Request, value: Any) -> Any:
    return value if request.flag("return_only_value") else {"value": value}


def _source_and_target(request: Request) -> tuple[str, str]:
    return request.text("source_path"), request.text("destination_path")


def _moment(text: str) -> float:
    try:
        moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        raise YtError(f"{text!r} is not a moment; expected one such as 2026-11-23T09:00:00Z") from None
    return (moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)).timestamp()


_ABOUT_TRANSACTIONS: Final = ("ping_transaction", "commit_transaction", "abort_transaction")
COMMANDS: Final[Mapping[str, Command]] = {
    command.name: command
    for command in (
        Command("create", create_node, is_volatile=True),
        Command("get", get_value),
        Command("list", list_nodes),
        Command("exists", check_existence),
        Command("set", set_value, input="structured", output="null", is_volatile=True),
        Command("remove", remove_node, output="null", is_volatile=True),
        Command("copy", copy_node, is_volatile=True),
        Command("move", move_node, is_volatile=True),
        Command("alter_table", alter_schema, output="null", is_volatile=True),
        Command("concatenate", concatenate_tables, output="null", is_volatile=True),
        Command("parse_ypath", parse_rich_path),
        Command("start_transaction", start_transaction, is_volatile=True),
        Command("ping_transaction", ping_transaction, output="null", is_volatile=True),
        Command("commit_transaction", commit_transaction, output="null", is_volatile=True),
        Command("abort_transaction", abort_transaction, output="null", is_volatile=True),
        Command("lock", lock_node, is_volatile=True),
        Command("unlock", unlock_node, output="null", is_volatile=True),
        Command("start_operation", start_operation, is_volatile=True),
        Command("get_operation", get_operation),
        Command("abort_operation", abort_operation, output="null", is_volatile=True),
        Command("list_operations", list_operations),
        Command("list_jobs", list_jobs),
        Command("execute_batch", execute_batch, is_volatile=True),
        Command("check_permission", check_permission),
        Command("get_supported_features", get_supported_features),
        Command("generate_timestamp", generate_timestamp),
        Command("write_table", None, input="tabular", output="null", is_volatile=True),
        Command("insert_rows", None, input="tabular", output="null", is_volatile=True),
        Command("read_table", None, output="tabular"),
    )
}
