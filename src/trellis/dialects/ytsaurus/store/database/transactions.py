"""Transactions: rows of the catalogue, which end when their time is over or their process is dead."""

from __future__ import annotations

import fcntl
import math
import os
import socket
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Final

from trellis.dialects.ytsaurus.errors import ErrorCode, YtError
from trellis.dialects.ytsaurus.store.database.connections import Database, Record
from trellis.dialects.ytsaurus.store.database.ids import new_id
from trellis.dialects.ytsaurus.yson.parser import loads
from trellis.dialects.ytsaurus.yson.writer import dumps

TRUNK: Final = ""
"""The place of what is in no transaction."""
DEFAULT_TIMEOUT: Final = 30.0
MAX_TIMEOUT: Final = 3600.0 * 24
_COLUMNS: Final = "id, parent, title, attributes, timeout, expires, deadline, started"


@dataclass(frozen=True)
class Transaction:
    id: str
    parent: str
    """TRUNK for one that is not nested."""
    title: str
    attributes: Mapping[str, Any] = field(default_factory=dict)
    timeout: float | None = None
    """Seconds for which it lives without a ping; None for that of a command, which lives with its process."""
    expires: float | None = None
    deadline: float | None = None
    started: float = 0.0

    @property
    def holder(self) -> str:
        """As errors name it."""
        if self.timeout is None:
            return self.title
        return f"the transaction {self.id}" + (f" ({self.title})" if self.title else "")


class Transactions:
    """The transactions of a store. Changes are made inside of a transaction of the database."""

    def __init__(self, database: Database, folder: Path) -> None:
        self._db = database
        self._folder = folder

    def start(
        self,
        parent: str,
        title: str,
        attributes: Mapping[str, Any],
        timeout: float = DEFAULT_TIMEOUT,
        deadline: float | None = None,
    ) -> Transaction:
        now = time.time()
        timeout = min(timeout, MAX_TIMEOUT)
        transaction_id = new_id("nested_transaction" if parent else "transaction")
        transaction = Transaction(
            transaction_id, parent, title, attributes, timeout, _expiry(now, timeout, deadline), deadline, now
        )
        self._insert(transaction)
        return transaction

    def find(self, transaction_id: str) -> Transaction | None:
        """The transaction, if its time is not over."""
        records = self._db.execute(f"SELECT {_COLUMNS} FROM transactions WHERE id = ?", transaction_id)
        transactions = [_transaction(record) for record in records]
        return next((item for item in transactions if not item.expires or item.expires > time.time()), None)

    def get(self, transaction_id: str) -> Transaction:
        """Raises YtError with the code 11000."""
        transaction = self.find(transaction_id)
        if transaction is None:
            raise YtError(
                f"there is no transaction {transaction_id}; it was committed or aborted, "
                "or its time was over",
                ErrorCode.NO_SUCH_TRANSACTION,
                attributes={"transaction_id": transaction_id},
            )
        return transaction

    def lineage(self, transaction_id: str) -> tuple[str, ...]:
        """A transaction and those it is nested in, up to the trunk. Raises YtError with the code 11000."""
        ids = []
        while transaction_id:
            ids.append(transaction_id)
            transaction_id = self.get(transaction_id).parent
        return (*ids, TRUNK)

    def list_ids(self) -> list[str]:
        """Those that clients started."""
        records = self._db.execute("SELECT id FROM transactions WHERE timeout IS NOT NULL ORDER BY started")
        return [transaction_id for (transaction_id,) in records]

    def ping(self, transaction_ids: Sequence[str]) -> None:
        """Raises YtError with the code 11000."""
        for transaction in map(self.get, transaction_ids):
            if transaction.timeout is None:
                continue
            expires = _expiry(time.time(), transaction.timeout, transaction.deadline)
            self._db.execute("UPDATE transactions SET expires = ? WHERE id = ?", expires, transaction.id)

    def children(self, transaction_id: str) -> list[str]:
        records = self._db.execute("SELECT id FROM transactions WHERE parent = ?", transaction_id)
        return [child for (child,) in records]

    def abort(self, transaction_id: str) -> None:
        """Forget a transaction with all that was changed in it, and those nested in it."""
        for child in self.children(transaction_id):
            self.abort(child)
        self._db.execute(
            "DELETE FROM slices WHERE tx = ? AND node IN (SELECT id FROM nodes WHERE tx = ?)",
            *(transaction_id, transaction_id),
        )
        for table in ("nodes", "locks"):
            self._db.execute(f"DELETE FROM {table} WHERE tx = ?", transaction_id)
        self._db.execute("DELETE FROM transactions WHERE id = ?", transaction_id)

    def abort_expired(self) -> None:
        for (transaction_id,) in self._db.execute(
            "SELECT id FROM transactions WHERE expires < ?", time.time()
        ):
            self.abort(transaction_id)

    # --- Commands -------------------------------------------------------------------------------------

    def first_start(self) -> float:
        """When the oldest of the commands that run began, in seconds since 1970; infinite if none runs."""
        ((started,),) = self._db.execute("SELECT min(started) FROM transactions WHERE timeout IS NULL")
        return math.inf if started is None else float(started)

    @contextmanager
    def of_process(self, parent: str, verb: str) -> Iterator[Transaction]:
        """A transaction that ends with its process, as the system frees the lock of a file."""
        moment = datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M:%S UTC")
        title = f"{verb} (process {os.getpid()} on {socket.gethostname()}, {moment})"
        transaction = Transaction(new_id("transaction"), parent, title, started=time.time())
        file = self._folder / transaction.id
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            with self._db.transaction():
                self.lineage(parent)
                self._insert(transaction)
            try:
                yield transaction
            finally:
                if self.find(transaction.id) is not None:  # it was not committed
                    with self._db.transaction():
                        self.abort(transaction.id)
        finally:
            file.unlink(missing_ok=True)
            os.close(descriptor)

    def abort_dead(self) -> None:
        """Those of processes that died, and the files of those that died after a commit."""
        records = self._db.execute("SELECT id FROM transactions WHERE timeout IS NULL")
        for transaction_id in {*(record[0] for record in records), *os.listdir(self._folder)}:
            if self.is_dead(transaction_id):
                self.abort(transaction_id)

    def is_dead(self, transaction_id: str) -> bool:
        """Whether the process of a command is dead."""
        try:
            descriptor = os.open(self._folder / transaction_id, os.O_RDWR)
        except FileNotFoundError:
            return True
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        finally:
            os.close(descriptor)
        (self._folder / transaction_id).unlink(missing_ok=True)
        return True

    def _insert(self, transaction: Transaction) -> None:
        self._db.execute(
            f"INSERT INTO transactions ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            *(transaction.id, transaction.parent, transaction.title),
            dumps(dict(transaction.attributes), yson_format="binary"),
            *(transaction.timeout, transaction.expires, transaction.deadline, transaction.started),
        )


def _transaction(record: Record) -> Transaction:
    transaction_id, parent, title, attributes, *times = record
    return Transaction(transaction_id, parent, title, loads(bytes(attributes)), *times)


def _expiry(now: float, timeout: float, deadline: float | None) -> float:
    return now + timeout if deadline is None else min(now + timeout, deadline)
