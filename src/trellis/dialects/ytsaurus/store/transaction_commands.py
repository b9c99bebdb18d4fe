"""Transactions and locks as clients use them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trellis.dialects.ytsaurus.errors import ErrorCode, YtError
from trellis.dialects.ytsaurus.store.database.ids import format_moment
from trellis.dialects.ytsaurus.store.database.locks import MODES, Lock, LockRequest
from trellis.dialects.ytsaurus.store.database.transactions import DEFAULT_TIMEOUT
from trellis.dialects.ytsaurus.store.store import Store


def start_transaction(
    store: Store,
    *,
    timeout: float = DEFAULT_TIMEOUT,
    deadline: float | None = None,
    attributes: Mapping[str, Any] | None = None,
) -> str:
    """The id of a new transaction in that of the store, aborted `timeout` seconds after its last ping."""
    if timeout <= 0:
        raise YtError(f"a transaction cannot have a timeout of {timeout} seconds; expected more than 0")
    attributes = dict(attributes or {})
    title = str(attributes.pop("title", ""))
    with store.catalog.transaction():
        parent = store.lineage[0]
        return store.transactions.start(parent, title, attributes, timeout, deadline).id


def ping_transaction(store: Store, transaction_id: str, *, ancestors: bool = False) -> None:
    """Raises YtError with the code 11000."""
    with store.catalog.transaction():
        lineage = store.transactions.lineage(transaction_id)[:-1]
        store.transactions.ping(lineage if ancestors else lineage[:1])


def commit_transaction(store: Store, transaction_id: str) -> None:
    """Raises YtError with the code 11000."""
    store.within(transaction_id).commit()


def abort_transaction(store: Store, transaction_id: str) -> None:
    """Raises YtError with the code 11000."""
    with store.catalog.transaction():
        store.transactions.abort(store.transactions.get(transaction_id).id)


def lock_node(
    store: Store,
    path: str,
    mode: str = "exclusive",
    *,
    waitable: bool = False,
    child_key: str = "",
    attribute_key: str = "",
) -> Lock:
    """A lock for the transaction of the store. Raises YtError with the code 402."""
    for known in MODES:
        if mode == known:
            request_mode = known
            break
    else:
        raise YtError(f"there is no lock of the mode {mode!r}; expected one of {', '.join(MODES)}")
    if (child_key or attribute_key) and mode != "shared":
        raise YtError(
            f"{path}: child_key and attribute_key are of shared locks, not of a lock that is {mode}"
        )
    with store.catalog.transaction():
        node = store.node(path)
        request = LockRequest(node.id, path, request_mode, "lock", child_key, attribute_key)
        lock = store.locks.take(store.lineage, request, waitable=waitable)
        if lock is None:
            raise YtError(f"{path} can be locked in a transaction only; start one first")
        if mode == "snapshot":
            store.catalog.pin_table(node.id)
        return lock


def unlock_node(store: Store, path: str) -> None:
    """Give back the locks of the transaction of the store. Raises YtError where it changed the node."""
    with store.catalog.transaction():
        node = store.node(path)
        if not store.catalog.unpin_table(node.id):
            raise YtError(f"{path} was changed in the transaction, so it stays locked until that ends")
        for lock in store.locks.of_transaction(store.lineage[0]):
            if lock.node == node.id:
                store.locks.release(lock)


def object_document(store: Store, object_id: str) -> dict[str, Any] | None:
    """The attributes of a transaction or a lock; None for an id that is of neither."""
    transaction = store.transactions.find(object_id)
    if transaction is not None:
        return {
            "id": transaction.id,
            "type": "nested_transaction" if transaction.parent else "transaction",
            "state": "active",
            "title": transaction.title,
            "timeout": int((transaction.timeout or 0) * 1000),
            "start_time": format_moment(transaction.started),
            "parent_id": transaction.parent or "0-0-0-0",
            "nested_transaction_ids": store.transactions.children(transaction.id),
            **transaction.attributes,
        }
    lock = store.locks.find(object_id)
    return None if lock is None else lock_document(lock)


def lock_document(lock: Lock) -> dict[str, Any]:
    document = {
        "id": lock.id,
        "state": lock.state,
        "mode": lock.mode,
        "transaction_id": lock.transaction,
        "child_key": lock.child_key,
        "attribute_key": lock.attribute_key,
        "acquisition_time": format_moment(lock.acquired),
    }
    return {name: value for name, value in document.items() if value}


def refresh_lock(store: Store, lock_id: str) -> None:
    """Give a pending lock to its transaction if nothing is in its way any more. Raises YtError."""
    with store.catalog.transaction():
        lock = store.locks.find(lock_id)
        if lock is None:
            raise YtError(f"there is no lock {lock_id}; its transaction ended", ErrorCode.PATH_NOT_FOUND)
        if lock.state == "pending":
            store.locks.acquire_pending(lock, store.transactions.lineage(lock.transaction))
