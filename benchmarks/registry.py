"""A registry of 10,000 schemas behind its server: the list of all, a read that is cached, a publication."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from time import perf_counter
from typing import Any

from processes import cpu_seconds

from trellis.dialects.snowplow.document.schema_document import META_SCHEMA, SchemaDocument
from trellis.dialects.snowplow.registry.store.permissions import super_permission
from trellis.dialects.snowplow.registry.store.schema_store import SchemaStore, StoredSchema, current_time

SCHEMAS, VERSIONS, PROPERTIES = 10_000, 200, 20
READS, PUBLICATIONS = 3_000, 20


def document(name: str, addition: int = 0) -> dict[str, Any]:
    """Twenty properties, and one more for each tenth addition."""
    count = PROPERTIES + addition // 10
    return {
        "$schema": META_SCHEMA,
        "self": {"vendor": "com.acme", "name": name, "format": "jsonschema", "version": f"1-0-{addition}"},
        "type": "object",
        "properties": {f"property{number}": {"type": "string", "maxLength": 99} for number in range(count)},
        "additionalProperties": False,
    }


def fill(store: SchemaStore) -> None:
    documents = [document("event", addition) for addition in range(VERSIONS)]
    documents += [document(f"name{number}x") for number in range(SCHEMAS - VERSIONS)]
    now = current_time()
    with store.writing() as writer:
        for parsed in map(SchemaDocument.parse, documents):
            writer.add(StoredSchema(parsed, True, now, now))


class Stopwatch:
    """Seconds, and those of the server's processor, that calls take on average."""

    def __init__(self, pid: int) -> None:
        self.pid = pid

    def measure(self, *calls: Callable[[], object]) -> dict[str, float]:
        began, cpu_began = perf_counter(), cpu_seconds(self.pid)
        for call in calls:
            call()
        wall, cpu = perf_counter() - began, cpu_seconds(self.pid) - cpu_began
        return {"seconds": wall / len(calls), "cpu": cpu / len(calls)}


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:{folder}/registry.db"
        store = SchemaStore.open(url)
        fill(store)
        (key,) = store.add_keys([super_permission()])
        words = ("registry", "serve", "--store", url, "--port", "0")
        process = subprocess.Popen(
            [sys.executable, "-m", "trellis.cli", *words], stdout=subprocess.PIPE, text=True
        )
        try:
            assert process.stdout is not None
            port = int(process.stdout.readline().split(",")[0].rpartition(":")[2])
            connection = http.client.HTTPConnection("127.0.0.1", port)

            def send(method: str, path: str, body: object = None) -> bytes:
                content = None if body is None else json.dumps(body)
                connection.request(method, f"/api/schemas{path}", content, {"apikey": str(key)})
                answer = connection.getresponse()
                assert answer.status in (200, 201), answer.read()
                return answer.read()

            watch = Stopwatch(process.pid)
            path = "/com.acme/event/jsonschema/1-0-0"
            send("GET", path)
            documents = [document("event", VERSIONS + number) for number in range(PUBLICATIONS)]
            first, *later = (partial(send, "POST", "?isPublic=true", body) for body in documents)
            figures = {
                "list": watch.measure(partial(send, "GET", "")),
                "read": watch.measure(*[partial(send, "GET", path)] * READS),
                "first publication": watch.measure(first),
                "publication": watch.measure(*later),
            }
        finally:
            process.kill()
            process.wait()
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
