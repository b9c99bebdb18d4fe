"""Connections that are lost and servers that crash in the midst of a load: it goes in once all the same."""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from threading import Thread
from typing import Any

import psycopg
import pytest

from destinations.postgres_loads import commit_of, staged
from destinations.postgres_server import PrivateServer, Server
from trellis.destinations import open_destination
from trellis.destinations.postgres.names import staging_schema
from trellis.errors import DestinationError
from trellis.pipelines.pipeline import pipeline
from trellis.schema.model import Column, Table

T = Table("t", {"id": Column("id", "bigint"), "v": Column("v", "text")})
COMMIT = (b'"_dlt_loads"', b"COMMIT")
"""The end of the transaction that notes the load."""


@pytest.fixture(autouse=True)
def in_a_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trellis.destinations.postgres.destination.PAUSE", 0.01)


class Proxy:
    """Passes connections on, and cuts some of them: when the client has sent these signs, in this order.

    The server gets the last sign only if `is_cut_after_answer`; the client then never hears of its answer.
    """

    def __init__(self, server: Server, signs: Sequence[bytes], is_cut_after_answer: bool, times: int) -> None:
        self.target = psycopg.conninfo.conninfo_to_dict(server.admin)
        self.signs = signs
        self.is_cut_after_answer = is_cut_after_answer
        self.left = times
        self.cut = 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                server = socket.create_connection((str(self.target["host"]), int(str(self.target["port"]))))
                muted: list[bool] = []
                Thread(target=self._up, args=(client, server, muted), daemon=True).start()
                Thread(target=self._down, args=(client, server, muted), daemon=True).start()

    def _up(self, client: socket.socket, server: socket.socket, muted: list[bool]) -> None:
        awaited = [*self.signs]
        with hanging_up(server), suppress(OSError):
            while data := client.recv(1 << 16):
                while awaited and awaited[0] in data:
                    del awaited[0]
                if not awaited and self.left and not muted:
                    self.left -= 1
                    self.cut += 1
                    muted.append(True)
                    if not self.is_cut_after_answer:
                        client.shutdown(socket.SHUT_RDWR)
                        return
                server.sendall(data)

    def _down(self, client: socket.socket, server: socket.socket, muted: list[bool]) -> None:
        with hanging_up(client), suppress(OSError):
            while (data := server.recv(1 << 16)) and not muted:
                client.sendall(data)


@contextmanager
def hanging_up(end: socket.socket) -> Iterator[None]:
    try:
        yield
    finally:
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
        end.close()


@contextmanager
def proxy(
    server: Server, signs: Sequence[bytes], is_cut_after_answer: bool = False, times: int = 1
) -> Iterator[Proxy]:
    proxy_server = Proxy(server, signs, is_cut_after_answer, times)
    with closing(proxy_server.listener):
        yield proxy_server


def rows_there(server: Server, database: str) -> list[int]:
    return [n for (n,) in server.run("SELECT id FROM t ORDER BY id", database=database)]


def left_there(server: Server, database: str) -> list[str]:
    return list(open_destination(server.url(database)).catalog(staging_schema("public")))


@pytest.mark.parametrize("is_cut_after_answer", [False, True])
@pytest.mark.parametrize(
    "signs", [COMMIT, (b"COPY ",), (b"CREATE UNLOGGED",), (b"pg_advisory_xact_lock", b"INSERT")]
)
def test_connection_cut(
    postgres: Server, database: str, signs: Sequence[bytes], is_cut_after_answer: bool
) -> None:
    with proxy(postgres, signs, is_cut_after_answer) as cutting:
        shop = pipeline("shop", to=postgres.url(database, host="127.0.0.1", port=str(cutting.port)))
        shop.load([{"id": 1, "k": [1]}, {"id": 2}], table="t")
        assert cutting.cut == 1
    assert rows_there(postgres, database) == [1, 2]
    assert postgres.run("SELECT count(*) FROM _dlt_loads", database=database) == [(1,)]
    assert left_there(postgres, database) == []


def test_connection_cut_each_time(postgres: Server, database: str) -> None:
    with proxy(postgres, (b"BEGIN",), is_cut_after_answer=False, times=10**6) as cutting:
        to = postgres.url(database, host="127.0.0.1", port=str(cutting.port))
        with pytest.raises(DestinationError) as raised:
            pipeline("shop", to=to).load([{"id": 1}], table="t", load_id="mine")
        assert cutting.cut == 5
    assert "load mine was tried 5 times, and each time the connection was lost (" in str(raised.value)
    assert str(raised.value).endswith("); nothing was loaded; look into the server's log, and load again")


def test_outcome_that_is_not_known(postgres: Server, database: str) -> None:
    with proxy(postgres, COMMIT, is_cut_after_answer=False, times=10**6) as cutting:
        to = postgres.url(database, host="127.0.0.1", port=str(cutting.port))
        with pytest.raises(DestinationError) as raised:
            pipeline("shop", to=to).load([{"id": 1}], table="t", load_id="mine")
        assert cutting.cut == 5
    assert str(raised.value).endswith(
        "; whether it arrived is not known; load again with --load-id mine, which loads nothing that is there"
    )
    assert pipeline("shop", to=postgres.url(database)).load([{"id": 1}], table="t", load_id="mine").balanced
    assert rows_there(postgres, database) == [1]


@pytest.mark.parametrize("mode", ["immediate", "fast"])
def test_restart_while_rows_are_copied(
    private_postgres: PrivateServer, database: str, tmp_path: Path, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trellis.destinations.postgres.copy.TASK_BYTES", 1)
    rows = [{"id": n, "v": "x"} for n in range(40)]
    restarts = []

    def parallel(work: Callable[[Any], Any], items: Sequence[Any]) -> Iterator[Any]:
        for number, item in enumerate(items):
            if number == 2 and len(restarts) < 2:
                restarts.append(mode)
                private_postgres.restart(mode)
            yield work(item)

    warehouse = open_destination(private_postgres.url(database))
    warehouse.commit(commit_of({"t": staged(tmp_path, T, rows, group=10)}, T), parallel)
    assert len(restarts) == 2
    assert rows_there(private_postgres, database) == list(range(40))
    assert left_there(private_postgres, database) == []


def test_crash_between_copy_and_transaction(
    private_postgres: PrivateServer, database: str, tmp_path: Path
) -> None:
    """The staging tables are there, but empty."""
    crashes = []

    def parallel(work: Callable[[Any], Any], items: Sequence[Any]) -> Iterator[Any]:
        yield from [*map(work, items)]
        if not crashes:
            crashes.append(1)
            private_postgres.restart("immediate")

    warehouse = open_destination(private_postgres.url(database))
    warehouse.commit(commit_of({"t": staged(tmp_path, T, [{"id": 1}])}, T), parallel)
    assert rows_there(private_postgres, database) == [1]


@pytest.mark.parametrize(
    "when", ["AFTER INSERT ON t", "AFTER INSERT ON _dlt_loads DEFERRABLE INITIALLY DEFERRED"]
)
def test_crash_in_the_transaction(private_postgres: PrivateServer, database: str, when: str) -> None:
    shop = pipeline("shop", to=private_postgres.url(database))
    shop.load([{"id": 1}], table="t")
    private_postgres.run(
        "CREATE TABLE began AS SELECT pg_postmaster_start_time() AS at",
        "CREATE FUNCTION linger() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        "IF pg_postmaster_start_time() = (SELECT at FROM began) THEN PERFORM pg_sleep(60); END IF; "
        "RETURN NULL; END $$",
        f"CREATE CONSTRAINT TRIGGER linger {when} FOR EACH ROW EXECUTE FUNCTION linger()",
        database=database,
    )

    def crash() -> None:
        asleep = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'"
        while private_postgres.run(asleep) == [(0,)]:
            time.sleep(0.01)
        private_postgres.restart("immediate")

    crashing = Thread(target=crash)
    crashing.start()
    assert shop.load([{"id": 2}, {"id": 3}], table="t").balanced
    crashing.join()
    assert rows_there(private_postgres, database) == [1, 2, 3]
    assert private_postgres.run("SELECT count(*) FROM _dlt_loads", database=database) == [(2,)]
    assert left_there(private_postgres, database) == []


def test_server_that_does_not_come_back(
    private_postgres: PrivateServer, database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trellis.destinations.postgres.destination.RETURN_WAIT", 0.0)
    warehouse = open_destination(private_postgres.url(database))
    commit = commit_of({"t": staged(tmp_path, T, [{"id": 1}])}, T, load_id="mine")

    def parallel(work: Callable[[Any], Any], items: Sequence[Any]) -> Iterator[Any]:
        private_postgres.stop("immediate")
        return map(work, items)

    try:
        with pytest.raises(DestinationError) as raised:
            warehouse.commit(commit, parallel)
    finally:
        private_postgres.start()
    assert "load mine was tried 2 times" in str(raised.value)
    message = "no server answers there; start PostgreSQL|server closed the connection"  # as it goes, or gone
    assert re.search(message, str(raised.value))
    warehouse.commit(commit)
    assert rows_there(private_postgres, database) == [1]
    assert left_there(private_postgres, database) == []
