"""The command `trellis table serve`, in a process of its own."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from yt.wrapper import YtClient

SRC = Path(__file__).parents[4] / "src"
T = "//tmp/t"


@contextmanager
def served(folder: Path, *options: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """The address of a server and its process."""
    command = [sys.executable, "-m", "trellis", "table", "serve", "--at", "yt:store", "--port", "0", *options]
    environment = {**os.environ, "PYTHONPATH": str(SRC), "TRELLIS_YT_TOKEN": "secret"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=folder, env=environment) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        try:
            match = re.fullmatch(r"yt:store is served at (\S+:\d+); use it with yt --proxy \1\n", line)
            assert match is not None, line
            yield match[1], process
        finally:
            process.kill()


def test_a_server_that_is_killed_in_a_transaction(tmp_path: Path) -> None:
    """Another one goes on with the transactions of clients, which are in the catalogue."""
    config = {"proxy": {"retries": {"enable": False}}, "token": "secret"}
    with served(tmp_path) as (address, process):
        client = YtClient(proxy=address, config=config)
        client.write_table(T, [{"k": 1}])
        transaction = client.start_transaction(timeout=60_000)
        with client.Transaction(transaction_id=transaction, ping=False):
            client.write_table(f"<append=%true>{T}", [{"k": 2}])
        process.send_signal(signal.SIGKILL)
        process.wait()
    with served(tmp_path) as (address, process):
        client = YtClient(proxy=address, config=config)
        assert list(client.read_table(T)) == [{"k": 1}]
        client.commit_transaction(transaction)
        assert list(client.read_table(T)) == [{"k": 1}, {"k": 2}]
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0
