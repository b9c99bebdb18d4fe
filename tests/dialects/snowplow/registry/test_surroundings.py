"""Pages about where schemas are used: tables of a warehouse, events that failed, the next registry."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

import pytest

from dialects.snowplow.enriched import enriched_line, vessel_call, write_registry
from dialects.snowplow.families import object_schema, text
from dialects.snowplow.loading.runs import TABLE, load, shred
from dialects.snowplow.registry.conftest import Api, properties
from dialects.snowplow.registry.server_process import running_servers
from dialects.snowplow.registry.test_pages import FAMILY, HOSTILE, Browser, plain
from trellis.dialects.snowplow.commands.surroundings import HttpPromotion, LoadedDataset
from trellis.dialects.snowplow.commands.transfer import push_folder
from trellis.dialects.snowplow.registry.settings import ServerSettings
from trellis.dialects.snowplow.registry.store.permissions import Permission, super_permission
from trellis.dialects.snowplow.registry.store.schema_store import SchemaStore
from trellis.dialects.snowplow.runs.warehouses.duckdb import DuckDBWarehouse


@pytest.fixture
def api(tmp_path: Path) -> Api:
    """A registry with the schemas of F, and a warehouse with a run that was shredded by the first two."""
    store_url = f"sqlite:{tmp_path}/registry.db"
    registry = write_registry(tmp_path)
    push_folder(registry, store_url, public=True)
    warehouse = DuckDBWarehouse(str(tmp_path / "shop.duckdb"))
    lines = [
        enriched_line(1, vessel_call("1-1-0", berth="A")),
        enriched_line(2, vessel_call("1-0-0", berth="x" * 13)),
        enriched_line(3, vessel_call("1-0-0", berth=f"{HOSTILE}<b>")),
        enriched_line(4, vessel_call("1-9-9", berth="A")),
        "no event",
    ]
    load(warehouse, registry, shred(tmp_path, warehouse, registry, lines))
    warehouse.close()
    store = SchemaStore.open(store_url)
    dataset = LoadedDataset(f"duckdb:{tmp_path / 'shop.duckdb'}", "atomic", store)
    return Api(store, ServerSettings(warehouse=dataset))


@pytest.fixture
def browser(api: Api) -> Browser:
    return Browser(api)


def test_tables_are_shown_with_their_versions(api: Api, browser: Browser, tmp_path: Path) -> None:
    assert browser.client.get("/warehouse").status_code == 403
    browser.sign_in(api.key("org.harbor"))
    page = browser.get("/warehouse")
    assert plain(page).endswith(
        f"Tables atomic in duckdb:{tmp_path}/shop.duckdb Table State Version Registry What differs "
        f"{TABLE} behind 1-1-0 1-2-1"
    )
    assert f'<a href="{FAMILY}">{TABLE}</a>' in page
    warehouse = DuckDBWarehouse(str(tmp_path / "shop.duckdb"))
    warehouse.execute(f"ALTER TABLE atomic.{TABLE} DROP COLUMN arrived_at")
    warehouse.execute(f"ALTER TABLE atomic.{TABLE} ADD COLUMN remark VARCHAR")
    warehouse.close()
    assert plain(browser.get("/warehouse")).endswith(
        f"{TABLE} altered 1-1-0 1-2-1 missing arrived_at; extra remark"
    )
    browser.sign_in(api.key("org.quay"))
    assert TABLE not in browser.get("/warehouse")


def test_failed_events_are_shown_by_reason_schema_and_property(api: Api, browser: Browser) -> None:
    assert browser.client.get("/failures").status_code == 403
    browser.sign_in(api.key("org.harbor"))
    page = browser.get("/failures")
    assert "2 schema_violations iglu:org.harbor/vessel_call/jsonschema/1-0-0 /berth" in plain(page)
    assert "1 loader_iglu_error iglu:org.harbor/vessel_call/jsonschema/1-9-9" in plain(page)
    assert "loader_parsing_error" not in page
    link = f"{FAMILY}/versions/1-0-0?pointer=/berth"
    assert f'href="{link}"' in page
    shown = plain(browser.get(link))
    assert '/berth in 1-0-0 { "type": "string", "maxLength": 12 }' in shown
    browser.sign_in(api.super_key)
    assert "1 loader_parsing_error" in plain(browser.get("/failures"))
    assert browser.client.get(f"{FAMILY}/versions/9-0-0").status_code == 404
    assert "The schema says nothing of this place." in browser.get(f"{FAMILY}/versions/1-0-0?pointer=/x/y")


def test_texts_of_events_are_shown_as_text(api: Api, browser: Browser) -> None:
    browser.sign_in(api.super_key)
    for path in ("/failures", "/warehouse", f"{FAMILY}/versions/1-0-0?pointer=/{HOSTILE}"):
        page = browser.get(path)
        assert "<script" not in page
        assert "<img" not in page
        assert "<b>" not in page


def test_a_warehouse_that_cannot_be_opened(api: Api, browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "shop.duckdb").write_text("no database")
    browser.sign_in(api.super_key)
    answer = browser.client.get("/warehouse")
    assert (answer.status_code, "DuckDB cannot open it" in answer.text) == (503, True)


def test_a_registry_without_a_warehouse_has_no_such_pages(tmp_path: Path) -> None:
    api = Api(SchemaStore.open(f"sqlite:{tmp_path}/registry.db"))
    browser = Browser(api)
    browser.sign_in(api.super_key)
    assert "Failed events" not in browser.get("/")
    assert browser.client.get("/warehouse").status_code == 404
    assert browser.client.get("/promote?schema=x").status_code in (403, 404)


def test_a_version_is_promoted_to_the_next_registry(tmp_path: Path) -> None:
    """Those before it go along; what the next registry refuses is shown."""
    next_store = f"sqlite:{tmp_path}/next.db"
    key, reading = map(
        str, SchemaStore.open(next_store).add_keys([super_permission(), Permission("org.harbor", "READ")])
    )
    with running_servers(next_store, 1) as (server,):
        store = SchemaStore.open(f"sqlite:{tmp_path}/registry.db")
        api = Api(store, ServerSettings(next_registry=HttpPromotion(server.url)))
        api.publish_all("1-0-0 1-0-1 1-1-0", public=True)
        browser = Browser(api)
        uri = "iglu:org.harbor/vessel_call/jsonschema/1-0-1"
        assert browser.client.get(f"/promote?schema={uri}").status_code == 403
        browser.sign_in(api.super_key)
        assert f"/promote?schema={quote(uri)}" in browser.get(FAMILY)
        page = plain(browser.get(f"/promote?schema={uri}"))
        assert f"The registry {server.url} gets what it lacks of: 1-0-0, 1-0-1." in page
        promote = f"/promote?schema={uri}"
        refused = plain(browser.send(promote, schema=uri, key=reading).text)
        assert (
            f"{uri[:-5]}1-0-0 refused Not enough permissions; give a key that may publish it in the form"
            in (refused)
        )
        malformed = browser.send(promote, schema=uri, key="no key")
        assert (malformed.status_code, "HTTP 400; check the key in the form" in malformed.text) == (502, True)
        done = plain(browser.send(promote, schema=uri, key=key, public="on").text)
        assert f"{uri[:-5]}1-0-0 created {uri} created" in done
        again = plain(browser.send(promote, schema=uri, key=key).text)
        assert f"{uri[:-5]}1-0-0 unchanged {uri} unchanged" in again
    stored = [
        (str(schema.key)[-5:], schema.is_public) for schema in SchemaStore.open(next_store).all_schemas()
    ]
    assert stored == [("1-0-0", True), ("1-0-1", True)]
    answer = browser.send(promote, schema=uri, key=key)
    assert (answer.status_code, "does not answer" in answer.text) == (502, True)


def test_a_place_in_a_list_is_found(tmp_path: Path) -> None:
    api = Api(SchemaStore.open(f"sqlite:{tmp_path}/registry.db"))
    calls = {"type": "array", "items": object_schema({"at": text(5)})}
    api.publish_all("1-0-0", public=True, **properties(calls=calls))
    shown = plain(Browser(api).get(f"{FAMILY}/versions/1-0-0?pointer=/calls/0/at"))
    assert '/calls/0/at in 1-0-0 { "type": "string", "maxLength": 5 }' in shown
