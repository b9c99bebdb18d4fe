"""Servers in processes of their own: many publishers, killed servers, clients of others."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
from iglu_client.core import SchemaKey as IgluKey
from iglu_client.registries import HttpRegistryRef, RegistryRefConfig
from iglu_client.resolver import Resolver
from iglu_client.self_describing_json import SelfDescribingJson

from destinations.postgres_server import PrivateServer
from dialects.snowplow.registry.conftest import document
from dialects.snowplow.registry.server_process import SRC, ServerProcess, publish, running_servers
from trellis.dialects.snowplow.registry.store.permissions import Permission, super_permission
from trellis.dialects.snowplow.registry.store.schema_store import SchemaStore

SERVERS, CLIENTS = 4, 200


def super_key(store_url: str) -> str:
    return str(SchemaStore.open(store_url).add_keys([super_permission()])[0])


def test_200_clients_of_4_servers_leave_one_order_without_gaps(store_url: str) -> None:
    """Half of the clients publish the same twenty versions, the others a name of their own."""
    key = super_key(store_url)
    documents = [
        *(document(f"1-0-{number % 20}") for number in range(CLIENTS // 2)),
        *(document("1-0-0", name=f"berth{number}x") for number in range(CLIENTS // 2)),
    ]
    with running_servers(store_url, SERVERS) as servers:
        start = threading.Barrier(CLIENTS)

        def run_client(number: int) -> int:
            start.wait()
            url = servers[number % SERVERS].url
            while True:  # until the version before is there
                answer = publish(url, key, documents[number])
                if answer.json().get("reason") != "previous missing":
                    return answer.status_code
                time.sleep(0.3)

        with ThreadPoolExecutor(CLIENTS) as pool:
            statuses = Counter(pool.map(run_client, range(CLIENTS)))
        assert statuses == {201: 120, 409: 80}
        lists = [httpx.get(f"{server.url}/api/schemas").json() for server in servers]
        versions = httpx.get(f"{servers[0].url}/api/schemas/org.harbor/vessel_call/jsonschema/1").json()
    assert len({*lists[0]}) == 120
    assert all(listed == lists[0] for listed in lists)
    assert versions == [f"iglu:org.harbor/vessel_call/jsonschema/1-0-{addition}" for addition in range(20)]
    stored = SchemaStore.open(store_url).all_schemas()
    assert [schema.position for schema in stored] == [*range(1, 121)]
    assert [str(schema.key) for schema in stored] == lists[0]


def test_b28_a_server_killed_while_it_publishes_is_before_or_after(store_url: str) -> None:
    key = super_key(store_url)
    answered: list[str] = []

    def publish_on(server: ServerProcess) -> None:
        for number in range(10_000):
            try:
                answer = publish(server.url, key, document("1-0-0", name=f"berth{number}x"))
            except httpx.TransportError:
                return
            answered.append(answer.json()["location"])

    with running_servers(store_url, 1) as (server,):
        publisher = threading.Thread(target=publish_on, args=(server,))
        publisher.start()
        while len(answered) < 10:
            time.sleep(0.01)
        server.kill()
        publisher.join()
    with running_servers(store_url, 1) as (server,):
        listed = httpx.get(f"{server.url}/api/schemas").json()
        bodies = [httpx.get(f"{server.url}/api/schemas/{uri.removeprefix('iglu:')}") for uri in listed]
        assert publish(server.url, key, document("1-0-0", name="later")).status_code == 201
    assert listed[: len(answered)] == answered
    assert len(listed) - len(answered) in (0, 1)
    assert {body.status_code for body in bodies} == {200}
    positions = [schema.position for schema in SchemaStore.open(store_url).all_schemas()]
    assert positions == [*range(1, len(listed) + 2)]


def test_b28_a_publisher_killed_at_any_point_is_before_or_after(store_url: str) -> None:
    """What it supersedes is so with it, and the next one finds the order without gaps."""
    tests = Path(__file__).parents[3]
    ran = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("killing_publishers.py")), store_url],
        env={**os.environ, "PYTHONPATH": f"{SRC}{os.pathsep}{tests}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    results = [json.loads(line) for line in ran.stdout.splitlines()]
    assert [result["killed"] for result in results[-2:]] == [True, False]
    before = {"1-0-0": "None", "1-0-1": "None"}
    after = {"1-0-0": "1-0-2", "1-0-1": "1-0-2", "1-0-2": "None"}
    are_after = [result["versions"] == after for result in results]
    assert [result["versions"] for result in results] == [after if done else before for done in are_after]
    assert are_after == sorted(are_after)
    assert (are_after[0], are_after[-1], len(results) > 15) == (False, True, True)
    for number, (result, done) in enumerate(zip(results, are_after, strict=True)):
        assert result["positions"] == [*range(1, 3 * number + (4 if done else 3))]


def test_b28_a_store_killed_while_schemas_are_published_is_before_or_after(
    private_postgres: PrivateServer, database: str
) -> None:
    store_url = private_postgres.url(database)
    key = super_key(store_url)
    statuses: list[int] = []
    published: list[str] = []
    with running_servers(store_url, 1) as (server,):

        def publish_until_the_store_is_back() -> None:
            number = 0
            while statuses[-1:] != [201] or 503 not in statuses:
                answer = publish(server.url, key, document("1-0-0", name=f"berth{number}x"))
                statuses.append(answer.status_code)
                published.extend([answer.json()["location"]] if answer.status_code == 201 else [])
                number += 1

        publisher = threading.Thread(target=publish_until_the_store_is_back)
        publisher.start()
        while len(published) < 10:
            time.sleep(0.01)
        private_postgres.stop("immediate")
        while 503 not in statuses:
            time.sleep(0.01)
        private_postgres.start()
        publisher.join()
    assert {*statuses} == {201, 503}
    stored = SchemaStore.open(store_url).all_schemas()
    assert [schema.position for schema in stored] == [*range(1, len(stored) + 1)]
    unanswered = [str(schema.key) for schema in stored if str(schema.key) not in published]
    assert [str(schema.key) for schema in stored if str(schema.key) in published] == published
    assert len(unanswered) <= 1


def test_the_python_client_of_iglu_reads_and_validates(store_url: str) -> None:
    store = SchemaStore.open(store_url)
    key = super_key(store_url)
    (reading,) = map(str, store.add_keys([Permission("org.harbor", "READ")]))
    with running_servers(store_url, 1) as (server,):
        headers = {"apikey": key}
        httpx.post(f"{server.url}/api/schemas", json=document("1-0-0"), headers=headers)
        publish(server.url, key, document("1-0-0", name="berth"))
        assert resolve(server.url, None, "vessel_call") is None
        assert resolve(server.url, None, "berth") == document("1-0-0", name="berth")
        assert resolve(server.url, reading, "vessel_call") == document("1-0-0")
        resolver = Resolver([reference(server.url, reading)])
        uri = "iglu:org.harbor/vessel_call/jsonschema/1-0-0"
        SelfDescribingJson(IgluKey.parse_key(uri), {"berth": "K7"}).validate(resolver)


def reference(url: str, key: str | None) -> HttpRegistryRef:
    return HttpRegistryRef(RegistryRefConfig("ours", 0, []), f"{url}/api", key)


def resolve(url: str, key: str | None, name: str) -> Any:
    return reference(url, key).lookup_schema(IgluKey.parse_key(f"iglu:org.harbor/{name}/jsonschema/1-0-0"))


def test_webhooks_are_told(tmp_path: Path) -> None:
    """One that answers nonsense keeps no other from being told."""
    received: list[Any] = []
    from http.server import BaseHTTPRequestHandler, HTTPServer

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            received.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            if self.path == "/garbage":
                self.wfile.write(b"no answer of HTTP\r\n")
                return
            self.send_response(200)
            self.end_headers()

        def log_message(self, *arguments: Any) -> None:
            pass

    hook = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=hook.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{hook.server_port}"
    store_url = f"sqlite:{tmp_path}/registry.db"
    key = super_key(store_url)
    hooks = [f"org.harbor={url}/a", f"{url}/garbage", url]
    words = [word for hook_url in hooks for word in ("--webhook", hook_url)]
    with running_servers(store_url, 1, *words) as (server,):
        publish(server.url, key, document("1-0-0"))
        publish(server.url, key, document("1-0-0", vendor="org.quay"))
        deadline = time.monotonic() + 20
        while len(received) < 5 and time.monotonic() < deadline:
            time.sleep(0.05)
    hook.shutdown()
    hook.server_close()
    harbor, quay = (
        {"schemaKey": f"iglu:{vendor}/vessel_call/jsonschema/1-0-0", "updated": False}
        for vendor in ("org.harbor", "org.quay")
    )
    assert sorted(received, key=str) == [harbor, harbor, harbor, quay, quay]
