"""A server in this process, the real client of YTsaurus and its command `yt`."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from yt.wrapper import YtClient
from yt.wrapper.default_config import retries_config

from dialects.ytsaurus.conftest import database, postgres, private_postgres, store_url
from trellis.dialects.ytsaurus.server.http import Server

__all__ = ["database", "postgres", "private_postgres", "store_url"]

YT = Path(sys.executable).with_name("yt")
NO_RETRIES = retries_config(count=1, enable=False, backoff={"policy": "rounded_up_to_request_timeout"})
Yt = Callable[..., subprocess.CompletedProcess[str]]


@contextmanager
def running_server(store_url: str, **options: Any) -> Iterator[Server]:
    with Server(store_url, "127.0.0.1", 0, **options) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def server(store_url: str) -> Iterator[Server]:
    with running_server(store_url) as opened:
        yield opened


def client_of(server: Server, **config: object) -> YtClient:
    return YtClient(proxy=server.address, config={"proxy": {"retries": NO_RETRIES}, **config})


@pytest.fixture
def client(server: Server) -> YtClient:
    return client_of(server)


@pytest.fixture
def yt(server: Server, tmp_path: Path) -> Yt:
    """Run the unmodified command `yt`."""

    def run(*arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "YT_LOG_LEVEL": "ERROR"}
        command = [str(YT), "--proxy", server.address, *arguments]
        return subprocess.run(
            command, input=stdin, capture_output=True, text=True, env=environment, check=False, timeout=300
        )

    return run
