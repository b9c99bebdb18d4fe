"""A browser, and Snowplow's own client, against the registry. `make test-registry` runs these."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from dialects.snowplow.families import object_schema, text
from dialects.snowplow.registry.chromium import running_chromium
from dialects.snowplow.registry.conftest import document
from dialects.snowplow.registry.server_process import publish, running_servers
from trellis.dialects.snowplow.registry.store.permissions import Permission, super_permission
from trellis.dialects.snowplow.registry.store.schema_store import SchemaStore

pytestmark = pytest.mark.registry

SOURCES = Path(__file__).parent / "iglu_client"
OWNED = "<script>document.title = 'owned'</script><img src=x onerror=\"document.title = 'owned'\">"


def run_program(*words: str) -> str:
    """What a program prints."""
    program = shutil.which(words[0])
    assert program, f"{words[0]} is not on the PATH; `make test-registry` needs Chromium, Maven and a JDK"
    done = subprocess.run([program, *words[1:]], capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


@pytest.fixture
def keys(store_url: str) -> Sequence[str]:
    """The super key, and one that reads org.harbor."""
    permissions = [super_permission(), Permission("org.harbor", "READ")]
    return [*map(str, SchemaStore.open(store_url).add_keys(permissions))]


def test_a_browser_runs_nothing_of_a_schema(store_url: str, keys: Sequence[str]) -> None:
    body = object_schema({OWNED: {**text(9), "description": OWNED}}, description=OWNED, title=OWNED)
    with running_servers(store_url, 1) as (server,):
        publish(server.url, keys[0], document("1-0-0", **body))
        for page in ("", "/compare", "/tables", "/versions/1-0-0"):
            url = f"{server.url}/families/org.harbor/vessel_call/jsonschema/1{page}"
            dom = run_program("chromium", "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", url)
            (title,) = re.findall("<title>(.*?)</title>", dom)
            assert title.endswith("– Registry")
            assert "<script" not in dom
            assert "<img" not in dom


def test_a_person_sees_what_publishing_would_meet_while_typing(tmp_path: Path) -> None:
    store_url = f"sqlite:{tmp_path}/registry.db"
    (key,) = map(str, SchemaStore.open(store_url).add_keys([super_permission()]))
    with running_servers(store_url, 1) as (server,), running_chromium(tmp_path / "profile") as browser:
        publish(server.url, key, document("1-0-0"))
        browser.open(f"{server.url}/key")
        browser.type_into("[name=key]", key)
        browser.evaluate("document.querySelector('main form button').click()")
        browser.wait_for("document.querySelector('nav .end').innerText === 'Key'")
        browser.open(f"{server.url}/publish")
        browser.evaluate("document.querySelector('[name=public]').click()")
        shorter = document("1-0-1", **object_schema({"berth": {**text(5), "description": OWNED}}))
        browser.type_into("textarea", json.dumps(shorter))
        browser.wait_for("document.querySelector('#preview').innerText.includes('smallest version')")
        assert "1-0-1 is declared as ADDITION over 1-0-0." in browser.text("#preview")
        assert "bound tightened: maxLength from 12 to 5" in browser.text("#preview")
        assert browser.text("#choices") == "Make it 1-1-0 Publish 1-0-1"
        assert browser.evaluate("document.querySelector('[name=publish]').disabled")
        browser.type_into("textarea", "{broken")
        browser.wait_for("document.querySelector('#preview section') !== null")
        assert browser.text("#preview").startswith("The body cannot be read: Expecting property name")
        assert browser.text("#choices") == ""
        longer = document("1-0-1", **object_schema({"berth": text(20), "cargo": text(9)}))
        browser.type_into("textarea", json.dumps(longer))
        browser.wait_for("document.querySelector('#choices').innerText.includes('Publish 1-0-1')")
        assert 'ADD COLUMN "cargo" VARCHAR(9)' in browser.text("#preview")
        browser.evaluate("document.querySelector('[name=publish]').click()")
        browser.wait_for("location.pathname === '/families/org.harbor/vessel_call/jsonschema/1'")
        assert [problem for problem in browser.problems if "status of 422" not in problem] == []


def test_the_scala_client_of_snowplow_lists_and_validates(
    store_url: str, keys: Sequence[str], tmp_path: Path
) -> None:
    """Also by a version that is superseded. Later clients, which Maven does not have, follow it instead."""
    jars, classes = tmp_path / "classpath", tmp_path / "classes"
    classes.mkdir()
    run_program(
        *("mvn", "-B", "-q", "-f", str(SOURCES / "pom.xml"), "dependency:build-classpath"),
        f"-Dmdep.outputFile={jars}",
    )
    classpath = os.pathsep.join((jars.read_text().strip(), str(classes)))
    compiler = ("java", "-cp", classpath, "scala.tools.nsc.Main", "-usejavacp")
    run_program(*compiler, "-d", str(classes), str(SOURCES / "Lookup.scala"))
    with running_servers(store_url, 1) as (server,):
        superseding = {"$supersedes": ["1-0-0"], **object_schema({"berth": text(12)})}
        documents = [document("1-0-0"), document("1-1-0"), document("1-0-1", **superseding)]
        for schema in documents:
            assert publish(server.url, keys[0], schema, public=False).status_code == 201
        uri = "iglu:org.harbor/vessel_call/jsonschema/1-0-0"
        data = [
            json.dumps({"schema": uri, "data": {"berth": berth}}) for berth in ("K7", "K7 north, the end")
        ]
        printed = [
            run_program(
                *("java", "-cp", classpath, "Lookup", configuration(f"{server.url}/api", key)),
                *("org.harbor", "vessel_call", *data),
            ).splitlines()
            for key in (keys[1], None)
        ]
    assert printed[0] == ["list 1-0-0 1-1-0 1-0-1", "valid", "ValidationError"]
    assert printed[1][0].startswith("no list: ")
    assert printed[1][1:] == ["ResolutionError", "ResolutionError"]


def configuration(url: str, key: str | None) -> str:
    """A resolver configuration with one registry."""
    connection = {"http": {"uri": url, **({"apikey": key} if key else {})}}
    repository = {"name": "ours", "priority": 0, "vendorPrefixes": [], "connection": connection}
    return json.dumps(
        {
            "schema": "iglu:com.snowplowanalytics.iglu/resolver-config/jsonschema/1-0-1",
            "data": {"cacheSize": 10, "repositories": [repository]},
        }
    )
