"""The pages of the registry."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from dialects.snowplow.families import object_schema, text
from dialects.snowplow.registry.conftest import Api, document, properties
from trellis.dialects.snowplow.document.json_text import indent_json
from trellis.dialects.snowplow.registry.store.schema_store import SchemaStore

FAMILY = "/families/org.harbor/vessel_call/jsonschema/1"
HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>{{7*7}}{% raw %}</textarea></pre>"


@pytest.fixture
def api(tmp_path: Path) -> Api:
    return Api(SchemaStore.open(f"sqlite:{tmp_path}/registry.db"))


class Browser:
    """Follows links and sends forms, with their tokens."""

    def __init__(self, api: Api) -> None:
        self.client = TestClient(api.client.app)

    def get(self, path: str) -> str:
        answer = self.client.get(path)
        assert answer.status_code == 200, answer.text
        return answer.text

    def send(self, path: str, **fields: str) -> Any:
        (token,) = re.findall(r'name="token" value="([^"]*)"', self.get(path))
        return self.client.post(path, data={"token": token, **fields})

    def sign_in(self, key: str) -> None:
        assert self.send("/key", key=key).status_code == 200


@pytest.fixture
def browser(api: Api) -> Browser:
    return Browser(api)


def plain(page: str) -> str:
    """The text that a person sees, in one line."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", page)).split())


def test_families_are_listed_for_who_may_read_them(api: Api, browser: Browser) -> None:
    api.publish_all("1-0-0 1-1-0 1-0-1")
    api.publish_all("1-0-0", name="berth", public=True)
    listed = plain(browser.get("/"))
    assert listed.endswith("Versions in the order of creation org.harbor / berth 1 1-0-0")
    browser.sign_in(api.key("org.harbor"))
    assert "org.harbor / vessel_call 1 1-0-0, 1-1-0, 1-0-1" in plain(browser.get("/"))
    assert "vessel_call" not in plain(browser.get("/?q=BERT"))
    assert plain(browser.get("/?q=none")).endswith("There are no schemas that you may read with “none”.")


def test_a_family_shows_what_each_version_changed(api: Api, browser: Browser) -> None:
    api.publish_all("1-0-0", public=True, **properties(berth={"type": "string", "enum": ["a"]}))
    api.publish_all(
        "1-0-1", public=True, **properties(berth={"type": "string", "enum": ["a"]}, cargo=text(9))
    )
    page = plain(browser.get(FAMILY))
    assert re.search(
        r"1-0-1 [0-9-]{10} [0-9:]{8} UTC , key [0-9a-f]{8} Beside 1-0-0: ADDITION /properties/cargo "
        r"property added redshift adds cargo postgres adds cargo spark adds cargo",
        page,
    )
    assert api.client.get(FAMILY.replace("/1", "/2")).status_code == 404


def test_two_versions_side_by_side(api: Api, browser: Browser) -> None:
    api.publish_all("1-0-0", public=True)
    api.publish_all("1-1-0", public=True, **properties(berth=text(5)))
    page = browser.get(f"{FAMILY}/compare")
    assert "REVISION /properties/berth bound tightened: maxLength from 12 to 5" in plain(page)
    texts = re.findall(r"<pre[^>]*>(.*?)</pre>", page, re.DOTALL)
    marked = [html.unescape(line).strip() for text in texts for line in re.findall("<mark>(.*)</mark>", text)]
    assert marked == ['"maxLength": 12', '"maxLength": 5']
    sides = [json.loads(html.unescape(re.sub("</?mark>", "", text))) for text in texts]
    assert sides == [object_schema({"berth": text(12)}), object_schema({"berth": text(5)})]
    assert "They accept the same data." in browser.get(f"{FAMILY}/compare?left=1-0-0&right=1-0-0")
    assert browser.client.get(f"{FAMILY}/compare?left=9-0-0").status_code == 404


def test_tables_and_scripts(api: Api, browser: Browser) -> None:
    api.publish_all("1-0-0", public=True)
    api.publish_all("1-0-1", public=True, **properties(berth=text(12), cargo=text(9)))
    page = plain(browser.get(f"{FAMILY}/tables?target=postgres&start=1-0-0"))
    assert "From 1-0-0 to 1-0-1 BEGIN TRANSACTION; ALTER TABLE atomic.org_harbor_vessel_call_1 ADD" in page
    assert "CREATE TABLE IF NOT EXISTS atomic.org_harbor_vessel_call_1 (" in page
    assert browser.client.get(f"{FAMILY}/tables?target=oracle").status_code == 400


def test_a_schema_is_checked_renumbered_and_published(api: Api, browser: Browser) -> None:
    api.publish_all("1-0-0", public=True, **properties(berth={"type": "integer", "maximum": 9}))
    browser.sign_in(api.super_key)
    uri = "iglu:org.harbor/vessel_call/jsonschema/1-0-0"
    (area,) = re.findall(r"<textarea[^>]*>(.*?)</textarea>", browser.get(f"/publish?schema={uri}"), re.DOTALL)
    assert json.loads(html.unescape(area))["self"]["version"] == "1-0-0"
    changed = document("1-0-1", **properties(berth={"type": "integer", "maximum": 40000}))
    fields = {"text": indent_json(changed), "public": "on"}
    page = plain(browser.send("/publish", check="", **fields).text)
    assert "1-0-1 is declared as ADDITION over 1-0-0. Its changes need: redshift MODEL spark ADDITION" in page
    assert "The smallest version that it may have is 2-0-0 ." in page
    assert "column of an event unstruct_event_org_harbor_vessel_call_1" in page
    assert "CREATE TABLE IF NOT EXISTS atomic.org_harbor_vessel_call_1_0_1_recovered_" in page
    refusal = browser.send("/publish", publish="", **fields)
    assert refusal.status_code == 409
    assert "version 1-0-1 is declared as ADDITION, and its changes need MODEL" in plain(refusal.text)
    page = browser.send("/publish", renumber="", **fields).text
    (area,) = re.findall(r"<textarea[^>]*>(.*?)</textarea>", page, re.DOTALL)
    renumbered = html.unescape(area)
    assert json.loads(renumbered)["self"]["version"] == "2-0-0"
    answer = browser.send("/publish", publish="", text=renumbered, public="on")
    assert (answer.status_code, answer.url.path) == (200, "/families/org.harbor/vessel_call/jsonschema/2")
    assert api.get("/api/schemas/org.harbor/vessel_call/jsonschema/2-0-0", key=None).status_code == 200


def test_what_a_person_writes_wrong_stays_in_the_form(api: Api, browser: Browser) -> None:
    browser.sign_in(api.super_key)
    answer = browser.send("/publish", check="", text="{broken")
    assert (answer.status_code, "{broken</textarea>" in answer.text) == (422, True)
    bad = document("1-0-0", **properties(berth={"type": "integer", "minimum": 9, "maximum": 3}))
    page = plain(browser.send("/publish", check="", text=json.dumps(bad)).text)
    assert "ERROR /properties/berth numericMinimumMaximum: minimum 9 is greater than maximum 3" in page


def test_writing_needs_a_key_and_the_token(api: Api, browser: Browser) -> None:
    schema = json.dumps(document("1-0-0"))
    anonymous = browser.send("/publish", publish="", text=schema)
    assert (anonymous.status_code, "Sign in with a key first" in anonymous.text) == (403, True)
    browser.sign_in(api.key("org.harbor", "READ"))
    assert browser.send("/publish", publish="", text=schema).status_code == 403
    browser.sign_in(api.super_key)
    for fields in ({}, {"token": ""}, {"token": "guess"}):
        forged = browser.client.post("/publish", data={"text": schema, "publish": "", **fields})
        assert forged.status_code == 403
        assert "The form is not from this page" in forged.text
    assert api.get("/api/schemas").json() == []
    browser.send("/key", forget="")
    assert "registry_key" not in browser.client.cookies
    assert browser.send("/key", key="abc").status_code == 400
    unknown = browser.send("/key", key="00000000-0000-4000-8000-000000000000")
    assert (unknown.status_code, "The registry does not know this key" in unknown.text) == (403, True)


def test_cookies_and_headers_keep_other_sites_out(api: Api) -> None:
    answer = api.client.get("/")
    assert answer.headers["set-cookie"].endswith("HttpOnly; Path=/; SameSite=strict")
    assert answer.headers["content-security-policy"].startswith("default-src 'none'; style-src 'self'; ")
    for path in ("/", "/publish", "/static/swagger-ui", "/static/style.css"):
        page = api.client.get(path).text
        assert not re.findall(r"(?:src|href|action)=\"(?!/|#|data:,)|@import|url\(", page)
        scripts = ['<script src="/static/publish.js" defer></script>'] if path == "/publish" else []
        assert re.findall("<script.*?</script>", page) == scripts
    policy = api.client.get("/publish").headers["content-security-policy"]
    assert policy == f"{answer.headers['content-security-policy']}; script-src 'self'; connect-src 'self'"
    script = api.client.get("/static/publish.js")
    assert script.headers["content-type"].startswith("text/javascript")


def test_every_text_of_a_schema_is_shown_as_text(api: Api, browser: Browser) -> None:
    body = object_schema(
        {HOSTILE: {"type": "string", "description": HOSTILE, "enum": [HOSTILE]}},
        description=HOSTILE,
        title=HOSTILE,
        **{HOSTILE: HOSTILE},
    )
    api.publish_all("1-0-0", public=True, **body)
    body["properties"][f"{HOSTILE}2"] = {"type": "integer"}
    api.publish_all("1-0-1", public=True, **body)
    browser.sign_in(api.super_key)
    pages = [
        *map(browser.get, (FAMILY, f"{FAMILY}/compare", f"{FAMILY}/tables?start=1-0-0")),
        browser.get("/publish?schema=iglu:org.harbor/vessel_call/jsonschema/1-0-1"),
        browser.send("/publish", check="", text=json.dumps(document("1-0-2", **body))).text,
        browser.get(f"/?q={HOSTILE}"),
        browser.client.get(f"/nothing/{HOSTILE}").text,
    ]
    for page in pages:
        assert page.count("<script") == page.count('<script src="/static/publish.js" defer></script>')
        assert "<img" not in page
        assert page.count("</textarea>") == page.count("<textarea")
        assert page.count("</pre>") == page.count("<pre")
    assert all("&lt;script&gt;alert(1)" in page for page in pages[:6])
    assert all("{{7*7}}" in html.unescape(page) for page in pages[:6])


def test_a_page_that_does_not_exist(api: Api) -> None:
    answer = api.client.get("/nothing")
    assert (answer.status_code, "The endpoint does not exist" in answer.text) == (404, True)
    assert answer.headers["content-type"].startswith("text/html")
