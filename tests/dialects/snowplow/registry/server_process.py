"""A server of a registry in a process of its own, on loopback."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

SRC = Path(__file__).parents[4] / "src"
STARTUP = 60.0


class ServerProcess:
    """`trellis registry serve` on a free port."""

    def __init__(self, store_url: str, *options: str) -> None:
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            self.port = listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        words = ("registry", "serve", "--store", store_url, "--port", str(self.port), *options)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "trellis.cli", *words],
            env={**os.environ, "PYTHONPATH": str(SRC)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )

    def wait_until_ready(self) -> None:
        deadline = time.monotonic() + STARTUP
        while time.monotonic() < deadline and self.process.poll() is None:
            try:
                if httpx.get(f"{self.url}/api/meta/health").text == "OK":
                    return
            except httpx.TransportError:
                time.sleep(0.1)
        self.process.kill()
        raise RuntimeError(f"no server: {self.process.communicate()[1].decode()}")

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


def publish(url: str, key: str, document: Any) -> httpx.Response:
    return httpx.post(f"{url}/api/schemas?isPublic=true", json=document, headers={"apikey": key}, timeout=120)
