"""A real Pinot controller on loopback and a host for its segments.

The controller, ZooKeeper, the segments and the query engine are those of Pinot 1.5.1. Its server and broker
are not on Maven Central: `SegmentHost.java` stands in for them, on the engine that they run. The readers of
files are of 0.12.0 and the standalone job is of 0.11.0, the last ones there.

    with pinot_cluster(folder) as pinot:
        pinot.create(schema, table)
        pinot.ingest("rides", file, "parquet")
        pinot.query("SELECT COUNT(*) FROM rides")
"""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from dialects.pinot.jvm import jvm, run


@dataclass(frozen=True)
class Answer:
    """What the service said to one request."""

    status: int
    type: str
    body: str

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Cluster:
    """The URLs of a running cluster, and what tests ask of it."""

    controller: str
    broker: str
    pid: int

    def call(self, method: str, path: str, body: Any = None, type: str = "application/json") -> Answer:
        """One request to the controller; `body` is bytes, text, or something to be written as JSON."""
        if body is not None and not isinstance(body, (bytes, str)):
            body = json.dumps(body)
        return request(method, self.controller + path, body, type)

    def upload(self, path: str, name: str, content: bytes) -> Answer:
        """POST a file as multipart form data."""
        edge = "----trellis-edge"
        head = f'--{edge}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n'
        head += "Content-Type: application/octet-stream\r\n\r\n"
        body = head.encode() + content + f"\r\n--{edge}--\r\n".encode()
        return request("POST", self.controller + path, body, f"multipart/form-data; boundary={edge}")

    def create(self, schema: dict[str, Any], table: dict[str, Any]) -> None:
        """The schema, then its OFFLINE table."""
        for path, body in (("/schemas", schema), ("/tables", table)):
            answer = self.call("POST", path, body)
            if answer.status != 200:
                raise RuntimeError(f"{path}: {answer.status} {answer.body}")

    def ingest(self, table: str, file: Path, format: str, **batch: str) -> None:
        """Make one segment of a file (`json`: a record a line, `avro`, `parquet`, `csv`), by the controller.

        The rows can be queried on return.
        """
        config = urllib.parse.quote(json.dumps({"inputFormat": format, **batch}))
        path = f"/ingestFromFile?tableNameWithType={table}_OFFLINE&batchConfigMapStr={config}"
        answer = self.upload(path, file.name, file.read_bytes())
        if answer.status != 200:
            raise RuntimeError(f"ingestFromFile: {answer.status} {answer.body}")
        self.settle(table)

    def run_job(self, table: str, specification: Path) -> None:
        """Run the YAML of a batch job, in a process of its own; its rows can be queried on return."""
        run("Job", str(specification))
        self.settle(table)

    def settle(self, table: str, seconds: float = 30) -> None:
        """Wait until the segments that are served are those that the controller wants served."""
        wait(lambda: self._segments(table, "idealstate") == self._segments(table, "externalview"), seconds)

    def _segments(self, table: str, view: str) -> Any:
        answer = self.call("GET", f"/tables/{table}/{view}?tableType=OFFLINE")
        return (answer.json["OFFLINE"] or {}) if answer.status == 200 else {}

    def reload(self, table: str) -> Answer:
        """Tell the servers to load all segments anew under the present schema, and wait until they have."""
        before = self._reloads()
        answer = self.call("POST", f"/segments/{table}_OFFLINE/reload")
        if answer.status == 200:
            sent = json.loads(answer.json["status"])[f"{table}_OFFLINE"]["numMessagesSent"]
            wait(lambda: self._reloads() >= before + int(sent), 30)
        return answer

    def _reloads(self) -> int:
        return int(request("GET", f"{self.broker}/reloads").body)

    def respond(self, sql: str) -> dict[str, Any]:
        """The whole answer of the broker's `/query/sql`."""
        return cast(
            dict[str, Any], request("POST", f"{self.broker}/query/sql", json.dumps({"sql": sql})).json
        )

    def query(self, sql: str) -> list[list[Any]]:
        """The rows of the answer, as JSON gives them."""
        answer = self.respond(sql)
        if answer.get("exceptions"):
            raise RuntimeError(str(answer["exceptions"]))
        return cast(list[list[Any]], answer["resultTable"]["rows"])


def request(method: str, url: str, body: str | bytes | None = None, type: str = "application/json") -> Answer:
    """One HTTP request; a status of 400 or more is an answer too."""
    data = body.encode() if isinstance(body, str) else body
    request = urllib.request.Request(
        url, data, {"Content-Type": type} if data is not None else {}, method=method
    )
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return Answer(answer.status, answer.headers.get("Content-Type", ""), answer.read().decode())
    except urllib.error.HTTPError as controller_error:
        return Answer(
            controller_error.code,
            controller_error.headers.get("Content-Type", ""),
            controller_error.read().decode(),
        )


def wait(done: Callable[[], bool], seconds: float) -> None:
    """Ask `done` until it says yes."""
    until = time.monotonic() + seconds
    while not done():
        if time.monotonic() > until:
            raise TimeoutError(f"not done within {seconds} s")
        time.sleep(0.05)


@contextmanager
def pinot_cluster(home: Path, heap: str = "1g") -> Iterator[Cluster]:
    """Start ZooKeeper, the controller and the host of segments in one JVM; all they write is under `home`."""
    home.mkdir(parents=True, exist_ok=True)
    with jvm("Controller", str(home), log=home / "pinot.log", heap=heap) as process:
        ports = process.read()
        controller = f"http://127.0.0.1:{ports['controller']}"
        wait(lambda: _healthy(controller), 60)
        yield Cluster(controller, f"http://127.0.0.1:{ports['broker']}", process.pid)


def _healthy(controller: str) -> bool:
    try:
        return request("GET", f"{controller}/health").status == 200
    except OSError:
        return False
