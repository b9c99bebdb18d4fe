"""A static registry on loopback, which counts what it is asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any


@dataclass
class Site:
    """`files` by path. `status` is what it answers to everything, if it is set."""

    url: str
    files: dict[str, bytes] = field(default_factory=dict)
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    paths: list[str] = field(default_factory=list)
    """Those that were asked for."""
    keys: list[str | None] = field(default_factory=list)
    """The header `apikey` of each request."""


@contextmanager
def serve_site() -> Iterator[Site]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            site.paths.append(self.path)
            site.keys.append(self.headers.get("apikey"))
            body = site.files.get(self.path)
            self.send_response(site.status or (404 if body is None else 200))
            for name, value in site.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body or b"<html>nothing</html>")

        def log_message(self, *arguments: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    site = Site(f"http://127.0.0.1:{server.server_port}")
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()
