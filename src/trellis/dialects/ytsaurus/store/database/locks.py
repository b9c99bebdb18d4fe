"""Locks of transactions on nodes: snapshot, shared and exclusive ones."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from trellis.dialects.ytsaurus.errors import ErrorCode, YtError
from trellis.dialects.ytsaurus.store.database.connections import Database, Record
from trellis.dialects.ytsaurus.store.database.ids import new_id
from trellis.dialects.ytsaurus.store.database.transactions import TRUNK, Transactions

LockMode = Literal["snapshot", "shared", "exclusive"]
MODES: Final[tuple[LockMode, ...]] = ("snapshot", "shared", "exclusive")
_COLUMNS: Final = "id, tx, node, mode, state, child_key, attribute_key, acquired"


@dataclass(frozen=True)
class LockRequest:
    """What a command is about to do with a node."""

    node: str
    path: str
    mode: LockMode
    verb: str = "lock"
    child_key: str = ""
    """The name of the child, where only that is locked."""
    attribute_key: str = ""


@dataclass(frozen=True)
class Lock:
    id: str
    transaction: str
    node: str
    mode: LockMode
    state: Literal["acquired", "pending"]
    child_key: str = ""
    attribute_key: str = ""
    acquired: float = 0.0

    def conflicts(self, request: LockRequest) -> bool:
        if "snapshot" in (self.mode, request.mode):
            return False
        if "exclusive" in (self.mode, request.mode):
            return True
        return (self.child_key or None) == request.child_key or (
            self.attribute_key or None
        ) == request.attribute_key

    def covers(self, request: LockRequest) -> bool:
        keys = (request.mode, request.child_key, request.attribute_key)
        return self.mode == "exclusive" or (self.mode, self.child_key, self.attribute_key) == keys


class Locks:
    """The locks of a store. Changes are made inside of a transaction of the database."""

    def __init__(self, database: Database, transactions: Transactions) -> None:
        self._db = database
        self._transactions = transactions

    def take(self, lineage: Sequence[str], request: LockRequest, *, waitable: bool = False) -> Lock | None:
        """The lock of a transaction, or None in the trunk, where it is enough that nothing is in the way.

        Locks of transactions that it is nested in are not in its way. A `waitable` lock that cannot be had
        yet is pending. Raises YtError with the code 402, which names the holder.
        """
        transaction = lineage[0]
        held = self.of_node(request.node)
        blocking = [
            lock for lock in held if lock.transaction not in lineage and self._is_blocking(lock, request)
        ]
        pinned = [lock for lock in held if lock.mode == "snapshot" and lock.transaction in lineage]
        if request.mode != "snapshot" and pinned:
            raise YtError(
                f"cannot {request.verb} {request.path}: the transaction {pinned[0].transaction} has "
                "a snapshot lock on it, and may only read it",
                ErrorCode.CONCURRENT_LOCK,
                attributes={"path": request.path},
            )
        if blocking and not waitable:
            raise self._conflict(blocking[0], request)
        if transaction == TRUNK:
            return None
        for lock in held:
            if lock.transaction == transaction and lock.covers(request):
                return lock
        lock = Lock(
            *(new_id("lock"), transaction, request.node, request.mode),
            *("pending" if blocking else "acquired", request.child_key, request.attribute_key, time.time()),
        )
        self._db.execute(
            f"INSERT INTO locks ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            *(lock.id, lock.transaction, lock.node, lock.mode, lock.state),
            *(lock.child_key, lock.attribute_key, lock.acquired),
        )
        return lock

    def find(self, lock_id: str) -> Lock | None:
        records = self._db.execute(f"SELECT {_COLUMNS} FROM locks WHERE id = ?", lock_id)
        return next(map(_lock, records), None)

    def of_node(self, node: str) -> list[Lock]:
        """Those that are acquired."""
        records = self._db.execute(
            f"SELECT {_COLUMNS} FROM locks WHERE node = ? AND state = 'acquired' ORDER BY acquired", node
        )
        return [_lock(record) for record in records]

    def of_transaction(self, transaction: str) -> list[Lock]:
        records = self._db.execute(
            f"SELECT {_COLUMNS} FROM locks WHERE tx = ? ORDER BY acquired", transaction
        )
        return [_lock(record) for record in records]

    def acquire_pending(self, lock: Lock, lineage: Sequence[str]) -> None:
        """Give a pending lock to its transaction if nothing is in its way any more."""
        request = LockRequest(lock.node, lock.node, lock.mode, "lock", lock.child_key, lock.attribute_key)
        held = self.of_node(lock.node)
        if not any(item.transaction not in lineage and self._is_blocking(item, request) for item in held):
            self._db.execute(
                "UPDATE locks SET state = 'acquired', acquired = ? WHERE id = ?", time.time(), lock.id
            )

    def release(self, lock: Lock) -> None:
        self._db.execute("DELETE FROM locks WHERE id = ?", lock.id)

    def promote(self, transaction: str, parent: str) -> None:
        """Give the locks of a committed transaction to the one it is nested in."""
        if parent != TRUNK:
            self._db.execute(
                "UPDATE locks SET tx = ? WHERE tx = ? AND mode <> 'snapshot' AND state = 'acquired'",
                *(parent, transaction),
            )
        self._db.execute("DELETE FROM locks WHERE tx = ?", transaction)

    def _is_blocking(self, lock: Lock, request: LockRequest) -> bool:
        if not lock.conflicts(request):
            return False
        holder = self._transactions.find(lock.transaction)
        if holder is None:
            return False
        if holder.timeout is None and self._transactions.is_dead(holder.id):
            self._transactions.abort(holder.id)
            return False
        return True

    def _conflict(self, lock: Lock, request: LockRequest) -> YtError:
        holder = self._transactions.get(lock.transaction)
        return YtError(
            f"cannot {request.verb} {request.path}: it is locked by {holder.holder}; "
            "wait for it and run this again",
            ErrorCode.CONCURRENT_LOCK,
            attributes={
                "path": request.path,
                "holder": holder.holder,
                "winner_transaction": {"id": holder.id, "title": holder.title, **holder.attributes},
            },
        )


def _lock(record: Record) -> Lock:
    return Lock(*record)
