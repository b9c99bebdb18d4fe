"""A controller that says what a real one of 1.5.1 said (`answers.jsonl`), and remembers what it was asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

ANSWERS = Path(__file__).parent / "answers.jsonl"


@dataclass(frozen=True)
class Said:
    """An answer: status, content type, body; more headers; `silent`: it never comes."""

    status: int
    body: str = ""
    type: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)
    silent: bool = False


@dataclass(frozen=True)
class Asked:
    """A request as it came."""

    method: str
    path: str
    headers: dict[str, str]
    body: str

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


@cache
def recorded() -> dict[str, dict[str, Any]]:
    """The answers of the real controller by label."""
    lines = ANSWERS.read_text(encoding="utf-8").splitlines()
    return {value["label"]: value for value in map(json.loads, lines)}


def said(label: str) -> Said:
    """What the real controller said."""
    reply = recorded()[label]
    return Said(reply["status"], reply["body"], reply["content_type"])


HTML = Said(200, "<html><body>Welcome to nginx!</body></html>", "text/html")
SILENCE = Said(200, silent=True)
BROKEN = Said(500, '{"code":500,"error":"ZooKeeper is away"}')


class Standin:
    """`on` tells what comes to a request, the last answer again and again."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.url = ""
        self._answers: dict[str, list[Said]] = {}
        self.finished = threading.Event()

    def on(self, request: str, *answers: str | Said) -> Standin:
        """`request`: method and path, with or without the query."""
        self._answers[request] = [said(answer) if isinstance(answer, str) else answer for answer in answers]
        return self

    def answer(self, request: Asked) -> Said:
        self.asked.append(request)
        reply = self._answers.get(str(request)) or self._answers.get(str(request).partition("?")[0])
        if reply is None:
            return Said(500, json.dumps({"code": 500, "error": f"nobody expected {request}"}))
        return reply.pop(0) if len(reply) > 1 else reply[0]

    @property
    def paths(self) -> list[str]:
        return [str(request) for request in self.asked]


@contextmanager
def standin() -> Iterator[Standin]:
    """Listens on loopback until the block is left."""
    controller = Standin()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(controller))
    server.daemon_threads = True
    controller.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield controller
    finally:
        controller.finished.set()
        server.shutdown()
        server.server_close()
        thread.join()


def _handler(standin: Standin) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: Any) -> None: ...

        def _any(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
            reply = standin.answer(Asked(self.command, self.path, dict(self.headers), body))
            if reply.silent:
                standin.finished.wait(30)
                return
            self.send_response(reply.status)
            content = reply.body.encode()
            length = {"Content-Length": str(len(content))}
            for name, value in {"Content-Type": reply.type, **length, **reply.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

    any_: Callable[[Handler], None] = Handler._any
    for method in ("GET", "POST", "PUT", "DELETE"):
        setattr(Handler, f"do_{method}", any_)
    return Handler
