"""A server of a registry in a process of its own, on loopback."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

SRC = Path(__file__).parents[4] / "src"


class ServerProcess:
    """`trellis registry serve` on a free port. `url` is known once it is ready."""

    def __init__(self, store_url: str, *options: str) -> None:
        self.url = ""
        words = ("registry", "serve", "--store", store_url, "--port", "0", *options)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "trellis.cli", *words],
            env={**os.environ, "PYTHONPATH": str(SRC)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def wait_until_ready(self) -> None:
        assert self.process.stdout is not None
        greeting = re.match(r"registry at (http://127.0.0.1:\d+), stored in ", self.process.stdout.readline())
        if greeting is None:
            raise RuntimeError(f"no server: {self.process.communicate()[1]}")
        self.url = greeting[1]

    def kill(self) -> None:
        """As `kill -9` does; nothing where it ended already."""
        if self.process.returncode is None:
            self.process.kill()
            self.process.communicate()


@contextmanager
def running_servers(store_url: str, count: int, *options: str) -> Iterator[list[ServerProcess]]:
    servers = [ServerProcess(store_url, *options) for _ in range(count)]
    try:
        for server in servers:
            server.wait_until_ready()
        yield servers
    finally:
        for server in servers:
            server.kill()


def publish(url: str, key: str, document: Any, *, public: bool = True) -> httpx.Response:
    parameters = {"isPublic": str(public).lower()}
    headers = {"apikey": key}
    return httpx.post(f"{url}/api/schemas", params=parameters, json=document, headers=headers, timeout=120)
