"""The server: version 4 of the HTTP interface, as far as clients need it for tables.

It stands on `http.server`, as an answer whose rows end with an error says so in trailers, which ASGI servers
do not send over HTTP/1.1.
"""

from __future__ import annotations

import hmac
import json
import signal
import socket
import threading
import zlib
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar, Final
from urllib.parse import urlsplit

import trellis
from trellis.dialects.loopback import is_loopback
from trellis.dialects.ytsaurus.errors import YtError
from trellis.dialects.ytsaurus.formats.row import ReadingNotes
from trellis.dialects.ytsaurus.paths.parser import plain_path
from trellis.dialects.ytsaurus.server.commands import COMMANDS, Command, Session, bind_store, error_document
from trellis.dialects.ytsaurus.server.operations import Operations
from trellis.dialects.ytsaurus.server.requests import (
    BodyReader,
    Request,
    decode_body,
    input_format,
    output_format,
    parse_parameters,
)
from trellis.dialects.ytsaurus.store.inserting import insert_rows
from trellis.dialects.ytsaurus.store.reading import open_source
from trellis.dialects.ytsaurus.store.row_formats.formatting import format_rows
from trellis.dialects.ytsaurus.store.store import Store
from trellis.dialects.ytsaurus.store.writing import parse_rows, write_rows
from trellis.dialects.ytsaurus.yson.values import split_attributes
from trellis.errors import TrellisError, UsageError

BLOCK_SIZE: Final = 2**18
MAX_ANSWERS: Final = 10_000
MAX_HEADER: Final = 16_000
"""Characters of a message in the header of an error: clients refuse longer lines."""
_API: Final = "/api/v4"


class Server(ThreadingHTTPServer):
    """A store that clients reach at a port. Each connection has a thread, each request its own store."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(
        self,
        url: str,
        host: str,
        port: int,
        *,
        token: str = "",
        clusters: Mapping[str, str] | None = None,
        allow_jobs: bool = False,
    ) -> None:
        """Raises UsageError where others could reach the store without a token."""
        if not (is_loopback(host) or token):
            raise UsageError(
                f"--host {host}: others can reach the store, and no token protects it; set one with --token"
            )
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self.url = url
        self.token = token
        self.answers = _Answers()
        Store.open(url).close()
        self.operations = Operations(self.open_store, clusters or {}, allow_jobs=allow_jobs)
        try:
            super().__init__((host, port), _Handler)
        except (OSError, OverflowError) as error:
            raise UsageError(
                f"cannot listen on {host}, port {port} ({error}); choose others with --host and --port"
            ) from None

    def open_store(self) -> AbstractContextManager[Store]:
        return Store.open(self.url)

    def stop_on_signals(self) -> None:
        """End `serve_forever` on SIGINT and SIGTERM.

        Not by an exception: Python drops one that comes while it runs a destructor.
        """
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: threading.Thread(target=self.shutdown).start())

    @property
    def address(self) -> str:
        """Where it listens: HOST:PORT."""
        host, port = self.server_address[:2]
        host = host.decode() if isinstance(host, bytes) else str(host)
        return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


class _Answers:
    """The answers to commands that change something, by the id that a repeated command shares."""

    def __init__(self) -> None:
        self._answers: OrderedDict[str, Any] = OrderedDict()
        self._lock = threading.Lock()

    def find(self, mutation_id: str) -> tuple[Any] | None:
        with self._lock:
            return (self._answers[mutation_id],) if mutation_id in self._answers else None

    def put(self, mutation_id: str, answer: Any) -> None:
        with self._lock:
            self._answers[mutation_id] = answer
            if len(self._answers) > MAX_ANSWERS:
                self._answers.popitem(last=False)


class _Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"
    server_version = f"trellis/{trellis.__version__}"
    timeout = 600
    wbufsize = -1
    disable_nagle_algorithm = True
    _pages: ClassVar[Mapping[str, Callable[[_Handler], object]]] = {
        "/api": lambda handler: ["v4"],
        _API: lambda handler: [command.description() for command in COMMANDS.values()],
        "/hosts": lambda handler: [handler.headers.get("Host", handler.server.address)],
        "/version": lambda handler: trellis.__version__,
        "/auth/whoami": lambda handler: {"login": "root", "realm": "trellis"},
    }

    def do_GET(self) -> None:
        body = BodyReader(self.rfile, self.headers)
        path = urlsplit(self.path).path.rstrip("/")
        try:
            if path in self._pages:  # clients ask for them without their token
                self._send_value(json.dumps(self._pages[path](self)).encode())
            elif not self._is_allowed():
                self._send_error(YtError("the token is wrong; start the client with that of --token"), 401)
            elif path.startswith(f"{_API}/"):
                self._run_command(path.removeprefix(f"{_API}/"), body)
            else:
                self._send_error(YtError(f"there is nothing at {path}; commands are below {_API}"), 404)
            body.drain()
        except (ConnectionError, TimeoutError):
            self.close_connection = True

    do_POST = do_PUT = do_GET  # noqa: N815 - the names that http.server calls

    def log_message(self, format: str, *args: object) -> None:
        """Requests are not printed."""

    # --- Commands -------------------------------------------------------------------------------------

    def _run_command(self, name: str, body: BodyReader) -> None:
        try:
            command = COMMANDS.get(name)
            if command is None:
                raise YtError(f"there is no command {name}")
            request = self._parse_request(command, body)
            with self.server.open_store() as store:
                session = Session(bind_store(store, request), self.server.operations)
                if command.output == "tabular":
                    self._send_rows(session.store, request)
                elif command.input == "tabular":
                    self._receive_rows(session.store, request)
                    self._send_value(b"")
                else:
                    self._send_answer(command, session, request)
        except TrellisError as error:
            body.drain()
            self._send_error(error)

    def _parse_request(self, command: Command, body: BodyReader) -> Request:
        stream = decode_body(body, self.headers.get("Content-Encoding", ""))
        data = b"" if command.input != "null" else stream.read()
        parameters, header_format = parse_parameters(self.headers, self.path, data)
        request = Request(command.name, parameters, stream, header_format)
        if command.input == "structured":
            value = request.format("input_format", input_format(self.headers)).loads(stream.read())
            parameters["input"] = value
        return request

    def _send_answer(self, command: Command, session: Session, request: Request) -> None:
        mutation_id = request.text("mutation_id", "") if command.is_volatile else ""
        answered = self.server.answers.find(mutation_id)
        if answered is None and command.run is not None:
            answered = (command.run(session, request),)
            if mutation_id:
                self.server.answers.put(mutation_id, *answered)
        (value,) = answered or (None,)
        if command.output == "null":
            self._send_value(b"")
        else:
            self._send_value(request.format("output_format", output_format(self.headers)).dumps(value))

    # --- Rows -----------------------------------------------------------------------------------------

    def _receive_rows(self, store: Store, request: Request) -> None:
        format = request.format("input_format", input_format(self.headers))
        path, notes = request.value("path"), ReadingNotes()
        rows = parse_rows(format, request.body, notes)
        if request.command == "insert_rows":
            update, aggregate = request.flag("update"), request.flag("aggregate")
            insert_rows(store, path, rows, format.forms, update=update, aggregate=aggregate)
        else:
            write_rows(store, path, rows, format.forms)
        notes.tell(plain_path(path))

    def _send_rows(self, store: Store, request: Request) -> None:
        format = request.format("output_format", output_format(self.headers))
        source = open_source(store, request.value("path"))
        intervals = source.intervals()
        answer = {
            "start_row_index": intervals[0][0] if intervals else 0,
            "approximate_row_count": sum(end - start for start, end in intervals),
        }
        controls, _ = split_attributes(request.map("control_attributes"))
        blocks = format_rows(source, format, controls)
        first = next(blocks, b"")  # what cannot be read at all is an error without rows before it
        self._begin_stream(
            {"X-YT-Response-Parameters": request.header_format.dumps(answer).decode("latin-1")}
        )
        try:
            for block in _join_blocks(first, blocks):
                self._send_chunk(self._compressor.compress(block) if self._compressor else block)
        except TrellisError as error:
            self._end_stream(_error_headers(error_document(error)))
        else:
            self._end_stream({})

    def _begin_stream(self, headers: Mapping[str, str]) -> None:
        accepted = self.headers.get("Accept-Encoding", "identity")
        names = [name.partition(";")[0].strip() for name in accepted.split(",")]
        encoding = next((name for name in names if name in ("gzip", "identity")), "identity")
        self._compressor = zlib.compressobj(1, wbits=zlib.MAX_WBITS | 16) if encoding == "gzip" else None
        self.send_response(200)
        for name, value in {**headers, "Content-Encoding": encoding}.items():
            self.send_header(name, value)
        self.send_header("Content-Type", "application/octet-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.send_header("Trailer", "X-YT-Error, X-YT-Response-Code, X-YT-Response-Message")
        self.end_headers()

    def _end_stream(self, trailers: Mapping[str, str]) -> None:
        if self._compressor:
            self._send_chunk(self._compressor.flush())
        lines = "".join(f"{name}: {value}\r\n" for name, value in trailers.items())
        self.wfile.write(f"0\r\n{lines}\r\n".encode("latin-1"))
        self.wfile.flush()

    def _send_chunk(self, data: bytes) -> None:
        if data:
            self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))

    # --- Answers --------------------------------------------------------------------------------------

    def _is_allowed(self) -> bool:
        token = self.headers.get("Authorization", "").partition(" ")[2].strip()
        return not self.server.token or hmac.compare_digest(token.encode(), self.server.token.encode())

    def _send_value(self, data: bytes, status: int = 200, headers: Mapping[str, str] | None = None) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
        self.wfile.flush()

    def _send_error(self, error: TrellisError, status: int = 400) -> None:
        document = error_document(error)
        self._send_value(_json(document).encode(), status, _error_headers(document))


def _join_blocks(first: bytes, rows: Iterable[bytes]) -> Iterator[bytes]:
    """Rows in larger pieces; those before an error, too."""
    block = bytearray(first)
    try:
        for row in rows:
            block += row
            if len(block) >= BLOCK_SIZE:
                yield bytes(block)
                block.clear()
    except TrellisError:
        yield bytes(block)
        raise
    yield bytes(block)


def _error_headers(document: Mapping[str, Any]) -> dict[str, str]:
    message = document["message"]
    if len(_json(document)) > MAX_HEADER:
        document = {"code": document["code"], "message": message[:1000], "attributes": {}, "inner_errors": []}
    return {
        "X-YT-Error": _json(document),
        "X-YT-Response-Code": str(document["code"]),
        "X-YT-Response-Message": _json(message[:1000]),
    }


def _json(value: object) -> str:
    """In ASCII, on one line. Bytes are in the attributes of errors where a value was no text."""
    return json.dumps(value, default=lambda item: item.decode("utf-8", "backslashreplace"))
