"""`trellis registry keygen`, `push`, `pull`, and `serve` where it refuses to."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from destinations.postgres_server import Server
from dialects.snowplow.client.static_site import serve_site
from dialects.snowplow.registry.server_process import running_servers
from trellis.dialects.snowplow.client.locator import KEY_VARIABLE
from trellis.dialects.snowplow.columns.overlay import Overlay, Override
from trellis.dialects.snowplow.identity.keys import Family
from trellis.dialects.snowplow.registry.store.permissions import Permission
from trellis.dialects.snowplow.registry.store.schema_store import SchemaStore

ORDER = ["1-0-0", "1-1-0", "1-2-0", "1-0-1", "1-2-1"]


@pytest.fixture(autouse=True)
def keyless(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(KEY_VARIABLE, raising=False)


def outcomes(ran: Any) -> list[tuple[str, str]]:
    return [(schema["uri"][-5:], schema["outcome"]) for schema in json.loads(ran.out)["schemas"]]


def test_a_key_for_everything_and_keys_for_a_vendor(trellis: Any, store_url: str) -> None:
    (key,) = json.loads(trellis("registry", "keygen", "--at", store_url, "--super", "--json").out).values()
    store = SchemaStore.open(store_url)
    assert store.permission(UUID(key)).is_super
    keys = trellis("registry", "keygen", "--at", store_url, "--vendor", "org.harbor").out.split()
    assert keys[::2] == ["read", "write"]
    permissions = [store.permission(UUID(key)) for key in keys[1::2]]
    assert [(permission.vendor, permission.schema_action) for permission in permissions] == [
        ("org.harbor", "READ"),
        ("org.harbor", "CREATE_VENDOR"),
    ]
    for prefix in ("", "org harbor"):
        ran = trellis("registry", "keygen", "--at", store_url, "--vendor", prefix)
        expected = "expected the beginning of vendors such as com.acme, or * for all"
        assert (ran.code, ran.err) == (2, f"error: --vendor {prefix!r}: {expected}")
    assert trellis("registry", "keygen", "--at", store_url).err == (
        "error: name whom the keys are for: --vendor com.acme, or --super for one key to everything"
    )


def test_a_folder_is_pushed_in_its_order(trellis: Any, schemas: Path, store_url: str) -> None:
    words = ("registry", "push", "schemas", "--at", store_url, "--public")
    ran = trellis(*words, "--json")
    assert (ran.code, outcomes(ran)) == (0, [(version, "created") for version in ORDER])
    assert trellis(*words).out.splitlines()[-1] == "5 schemas: 5 unchanged"
    (schemas / "1-2-1").write_text((schemas / "1-2-1").read_text().replace("10", "12"))
    ran = trellis(*words, "--json")
    assert (ran.code, outcomes(ran)[-1]) == (1, ("1-2-1", "refused"))
    assert json.loads(ran.out)["schemas"][-1]["message"] == (
        "version 1-2-1 exists and cannot be changed; publish 1-2-2, 1-3-0 or 2-0-0 instead"
    )


def test_after_a_version_that_is_refused_comes_none_of_its_name(
    trellis: Any, schemas: Path, store_url: str
) -> None:
    schema = json.loads((schemas / "1-2-0").read_text())
    schema["properties"]["berth"] = {"type": "integer"}
    (schemas / "1-2-0").write_text(json.dumps(schema))
    ran = trellis("registry", "push", "schemas", "--at", store_url, "--json")
    expected = ["created", "created", "refused", "refused", "refused"]
    assert (ran.code, outcomes(ran)) == (1, [*zip(ORDER, expected, strict=True)])
    messages = [schema["message"] for schema in json.loads(ran.out)["schemas"][2:]]
    assert messages == [
        (
            "version 1-2-0 is declared as REVISION, and its changes need MODEL; "
            "/properties/berth: types disjoint needs MODEL; "
            "/properties/berth: table cannot follow needs MODEL in redshift"
        ),
        *["a version before it was refused"] * 2,
    ]


def test_ddl_lint_and_suggest_read_a_store(trellis: Any, schemas: Path, store_url: str) -> None:
    trellis("registry", "push", "schemas", "--at", store_url)
    words = ("org.harbor/vessel_call", "--target", "redshift")
    from_folder = trellis("registry", "ddl", *words, "--at", "schemas").out
    assert trellis("registry", "ddl", *words, "--at", store_url).out == from_folder
    assert trellis("registry", "lint", "--at", store_url).out == "5 schemas: 0 errors, 0 warnings, 0 remarks"
    ran = trellis("registry", "suggest", "vessel_call-next.json", "--at", store_url, "--profile", "spark")
    assert ran.out.splitlines()[-1] == "org.harbor/vessel_call can be 1-3-0: it follows 1-2-1"


def test_suggest_counts_the_warehouses_that_a_server_guards(
    trellis: Any, schemas: Path, tmp_path: Path
) -> None:
    store_url = f"sqlite:{tmp_path}/registry.db"
    trellis("registry", "push", "schemas", "--at", store_url, "--public")
    with running_servers(store_url, 1, "--profile", "spark") as (server,):
        words = ("registry", "suggest", "vessel_call-next.json", "--at", server.url, "--json")
        report = json.loads(trellis(*words).out)
        assert (report["version"], report["profiles"]) == ("1-3-0", {"spark": "REVISION"})
        report = json.loads(trellis(*words, "--profile", "redshift").out)
        assert (report["version"], report["profiles"]) == ("2-0-0", {"redshift": "MODEL"})


def test_a_copy_restores_lists_bodies_and_times_in_the_other_store(
    trellis: Any, schemas: Path, store_url: str, tmp_path: Path, postgres: Server, database: str
) -> None:
    other = postgres.url(database) if store_url.startswith("sqlite") else f"sqlite:{tmp_path}/other.db"
    trellis("registry", "push", "schemas", "--at", store_url)
    family = Family("org.harbor", "vessel_call", "jsonschema", 1)
    SchemaStore.open(store_url).put_overlay(family, Overlay({"/berth": Override("dock")}))
    ran = trellis("registry", "pull", "copy", "--at", store_url)
    assert (ran.code, ran.out.splitlines()[-1]) == (0, "5 schemas: 5 created")
    ran = trellis("registry", "push", "copy", "--at", other, "--json")
    assert outcomes(ran) == [(version, "restored") for version in ORDER]
    before, after = (SchemaStore.open(url).all_schemas() for url in (store_url, other))
    assert [vars(schema) | {"published_by": ""} for schema in before] == [vars(schema) for schema in after]
    ddl = [trellis("registry", "ddl", "--at", url, "--target", "spark").out for url in (store_url, other)]
    assert ddl[0] == ddl[1] == trellis("registry", "ddl", "--at", "copy", "--target", "spark").out
    assert "`dock`" in ddl[0]
    assert trellis("registry", "pull", "copy", "--at", store_url).err == (
        "error: copy is there already; name a new folder, or write over it with --force"
    )


def test_a_server_is_pushed_to_and_pulled_from(
    trellis: Any, schemas: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (schemas / "1.overlay.json").write_text('{"/berth": {"column": "dock"}}')
    store_url = f"sqlite:{tmp_path}/registry.db"
    super_key = json.loads(trellis("registry", "keygen", "--at", store_url, "--super", "--json").out)["super"]
    with running_servers(store_url, 1) as (server,):
        push = ("registry", "push", "schemas", "--at", server.url)
        ran = trellis(*push, "--json")
        message = json.loads(ran.out)["schemas"][0]["message"]
        assert ran.code == 1
        assert message == "Not enough permissions; give a key that may publish it in TRELLIS_REGISTRY_KEY"
        monkeypatch.setenv(KEY_VARIABLE, super_key)
        keys = json.loads(
            trellis("registry", "keygen", "--at", server.url, "--vendor", "org.harbor", "--json").out
        )
        monkeypatch.setenv(KEY_VARIABLE, keys["write"])
        ran = trellis(*push, "--json")
        assert (ran.code, outcomes(ran)) == (0, [(version, "created") for version in ORDER])
        show_ddl = ("registry", "ddl", "--at", server.url, "--target", "postgres")
        assert '"dock"' in trellis(*show_ddl).out
        assert json.loads(ran.out)["schemas"][3]["message"].startswith(
            "version 1-0-1 adds to a revision that"
        )
        assert trellis(*push).out.splitlines()[-1] == "5 schemas: 5 unchanged"
        assert trellis("registry", "pull", "copy", "--at", server.url).code == 0
        assert trellis("registry", "keygen", "--at", server.url, "--vendor", "org.quay").err.startswith(
            f"error: {server.url}/api makes no keys: Not enough permissions: the key may not make keys for"
        )
    exported = json.loads(Path("copy/schemas/registry.json").read_text())
    stored = SchemaStore.open(store_url).all_schemas()
    assert [entry["createdAt"] for entry in exported] == [schema.created_at for schema in stored]
    assert json.loads(Path("copy/schemas/org.harbor/vessel_call/jsonschema/1").read_text()) == [
        f"iglu:org.harbor/vessel_call/jsonschema/{version}" for version in ORDER
    ]


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (
            ["--host", "0.0.0.0"],
            (
                "--host 0.0.0.0: others can reach the registry, and it has no super key; make one with "
                "trellis registry keygen --super"
            ),
        ),
        (["--evolution", "model"], "--evolution: unknown 'model': did you mean 'model-only'?"),
        (
            ["--profile", "oracle"],
            "unknown warehouse 'oracle': it may be one of redshift, postgres, spark, duckdb",
        ),
        (["--webhook", "nowhere"], "--webhook 'nowhere': expected a URL, or com.acme,org.harbor=URL"),
        (["--webhook", "http://"], "--webhook 'http://': expected a URL, or com.acme,org.harbor=URL"),
        (
            ["--warehouse", "bigquery:shop"],
            (
                "bigquery:shop: runs are loaded into duckdb:PATH, delta:PATH and postgresql://...; `trellis "
                "snowplow script` writes statements for Redshift, and other warehouses take events with "
                "`trellis load --dialect snowplow`"
            ),
        ),
        (
            ["--store", "mysql://host"],
            "'mysql://host' is no store: expected sqlite:FILE or postgresql://HOST/DATABASE",
        ),
    ],
)
def test_a_server_that_does_not_start(trellis: Any, words: list[str], error: str) -> None:
    ran = trellis("registry", "serve", "--store", "sqlite:registry.db", *words)
    assert (ran.code, ran.err.splitlines()[-1]) == (2, f"error: {error}")


def test_a_port_that_is_taken(trellis: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        ran = trellis("registry", "serve", "--store", "sqlite:registry.db", "--port", port)
    assert ran.code == 2
    assert ran.err.splitlines()[-1].startswith(f"error: cannot listen on 127.0.0.1, port {port} (")


def test_a_store_that_cannot_be_reached(trellis: Any) -> None:
    ran = trellis("registry", "ddl", "--at", "postgresql://me:secret@127.0.0.1:9/none", "--target", "spark")
    assert ran.code == 3
    assert ran.err.startswith("error: registry postgresql://me:***@127.0.0.1:9/none: connection failed")
    assert "secret" not in ran.err


def test_what_a_permission_covers() -> None:
    assert Permission("", "READ").allows("READ", "any.vendor")
    assert not Permission("org.harbor").allows("READ", "org.harbor")


def test_a_store_that_is_not_there_is_not_made_by_who_reads(trellis: Any, folder: Path) -> None:
    for words in (
        ("registry", "ddl", "--at", "sqlite:regsitry.db", "--target", "spark"),
        ("registry", "pull", "copy", "--at", "sqlite:regsitry.db"),
    ):
        ran = trellis(*words)
        assert ran.code == 2
        assert ran.err == (
            "error: sqlite:regsitry.db: there is no such file; name the store of a registry, which `trellis "
            "registry serve --store` makes"
        )
    assert not (folder / "regsitry.db").exists()


def test_a_registry_without_a_list_is_not_copied(trellis: Any, folder: Path) -> None:
    with serve_site() as site:
        ran = trellis("registry", "pull", "copy", "--at", site.url)
    error = f"error: {site.url} has no list of its schemas, so they cannot be pulled; copy its files"
    assert (ran.code, ran.err, (folder / "copy").exists()) == (2, error, False)


def test_an_empty_registry_is_copied(trellis: Any, store_url: str, tmp_path: Path) -> None:
    SchemaStore.open(store_url)
    ran = trellis("registry", "pull", "copy", "--at", store_url)
    assert (ran.code, ran.err, ran.out.splitlines()[-1]) == (0, "", "0 schemas: none")
    assert json.loads(Path("copy/schemas/registry.json").read_text()) == []
