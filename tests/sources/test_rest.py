"""Sources from JSON APIs: pages, tries, credentials, configurations; against a server on loopback."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from types import MappingProxyType
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlsplit

import pytest

import trellis
from trellis.errors import SourceError, UsageError
from trellis.sources.rest import (
    APIKeyAuth,
    BearerTokenAuth,
    HttpBasicAuth,
    JSONLinkPaginator,
    JSONResponseCursorPaginator,
    OffsetPaginator,
    PageNumberPaginator,
    RESTClient,
    SinglePagePaginator,
    rest_api_source,
)

ROWS = [{"id": number, "at": f"2026-01-{number + 1:02}"} for number in range(7)]


class Answer(NamedTuple):
    body: Any
    status: int = 200
    headers: Mapping[str, str] = MappingProxyType({})


class Api(NamedTuple):
    """A server whose answers a test gives by path, and the requests that it got."""

    url: str
    answers: dict[str, Callable[[dict[str, str]], Answer]]
    requests: list[tuple[str, dict[str, str], dict[str, str]]]


@pytest.fixture
def api() -> Iterator[Api]:
    answers: dict[str, Callable[[dict[str, str]], Answer]] = {}
    requests: list[tuple[str, dict[str, str], dict[str, str]]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            url = urlsplit(self.path)
            params = dict(parse_qsl(url.query))
            requests.append((url.path, params, {k.lower(): v for k, v in self.headers.items()}))
            unknown = Answer({"message": "not here"}, 404)
            answer = answers[url.path](params) if url.path in answers else unknown
            body = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    yield Api(f"http://127.0.0.1:{server.server_port}", answers, requests)
    server.shutdown()
    server.server_close()


def rows(client: RESTClient, path: str, **options: Any) -> list[Any]:
    return [row for page in client.paginate(path, **options) for row in page]


def test_pages_by_links_of_the_header(api: Api) -> None:
    def events(params: dict[str, str]) -> Answer:
        page = int(params.get("page", 1))
        link = {"Link": f'<{api.url}/events?page={page + 1}&size=3>; rel="next"'} if page < 3 else {}
        return Answer(ROWS[(page - 1) * 3 : page * 3], headers=link)

    api.answers["/events"] = events
    assert rows(RESTClient(api.url), "events", params={"size": 3}) == ROWS
    assert [params for _, params, _ in api.requests] == [
        {"size": "3"},
        {"page": "2", "size": "3"},
        {"page": "3", "size": "3"},
    ]


def by_offset(params: dict[str, str]) -> Answer:
    offset, limit = int(params["offset"]), int(params["limit"])
    return Answer({"data": ROWS[offset : offset + limit], "total": len(ROWS)})


def by_page(params: dict[str, str]) -> Answer:
    page = int(params["page"])
    return Answer({"data": ROWS[page * 3 : page * 3 + 3]})


def by_cursor(params: dict[str, str]) -> Answer:
    start = int(params.get("cursor", 0))
    following = start + 3 if start + 3 < len(ROWS) else None
    return Answer({"data": ROWS[start : start + 3], "cursors": {"next": following}})


def by_link(params: dict[str, str]) -> Answer:
    start = int(params.get("start", 0))
    link = f"/rows?start={start + 3}" if start + 3 < len(ROWS) else None
    return Answer({"data": ROWS[start : start + 3], "next": link})


@pytest.mark.parametrize(
    ("answer", "paginator", "requests"),
    [
        (by_offset, OffsetPaginator(limit=3), 3),
        (by_offset, OffsetPaginator(limit=3, total_path=None), 4),
        (by_offset, OffsetPaginator(limit=3, total_path=None, maximum_offset=6), 2),
        (by_page, PageNumberPaginator(), 4),
        (by_page, PageNumberPaginator(maximum_page=2), 2),
        (by_cursor, JSONResponseCursorPaginator(), 3),
        (by_link, JSONLinkPaginator(), 3),
        (by_link, SinglePagePaginator(), 1),
    ],
)
def test_other_ways_to_page(
    api: Api, answer: Callable[[dict[str, str]], Answer], paginator: Any, requests: int
) -> None:
    api.answers["/rows"] = answer
    read = rows(RESTClient(api.url, paginator=paginator), "rows", data_selector="data")
    assert read == ROWS[: min(len(ROWS), 3 * requests)]
    assert len(api.requests) == requests


def test_the_rows_of_an_answer(api: Api) -> None:
    client = RESTClient(api.url)
    for body, expected in (
        ([1, 2], [1, 2]),
        ({"id": 1}, [{"id": 1}]),
        ({"items": [1], "total": 1}, [1]),
        ({"a": [1], "b": [2]}, [{"a": [1], "b": [2]}]),
    ):
        api.answers["/x"] = lambda _, body=body: Answer(body)  # type: ignore[misc]
        assert rows(client, "x") == expected
    api.answers["/x"] = lambda _: Answer({"result": {"items": [1]}, "empty": None})
    assert rows(client, "x", data_selector="result.items") == [1]
    assert rows(client, "x", data_selector="empty") == []
    with pytest.raises(SourceError, match="the answer has nothing at data; correct data_selector"):
        rows(client, "x", data_selector="data")


def test_what_may_be_temporary_is_tried_again(api: Api) -> None:
    answers = iter(
        [
            Answer({}, 503),
            Answer({}, 429, {"Retry-After": "7"}),
            Answer({}, 429, {"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}),
            Answer([1]),
        ]
    )
    api.answers["/x"] = lambda _: next(answers)
    pauses: list[float] = []
    client = RESTClient(api.url, backoff=2, sleep=pauses.append)
    assert rows(client, "x") == [1]
    assert 1.6 <= pauses[0] <= 2.4
    assert pauses[1:] == [7.0, 0.0]


def test_a_service_that_stays_away_is_a_retryable_error(api: Api) -> None:
    api.answers["/x"] = lambda _: Answer({}, 502)
    client = RESTClient(api.url, retries=2, sleep=lambda _: None)
    with pytest.raises(SourceError) as bad:
        rows(client, "x", params={"token": "secret"})
    assert str(bad.value) == (
        f"GET {api.url}/x: 502 Bad Gateway, also after 2 further tries; load again later"
    )
    assert (bad.value.retryable, len(api.requests)) == (True, 3)
    with pytest.raises(SourceError, match=r"ConnectError: .*, also after 1 further tries"):
        rows(RESTClient("http://127.0.0.1:1", retries=1, sleep=lambda _: None), "x")


@pytest.mark.parametrize(
    ("status", "advice"),
    [
        (401, "check the credentials and their rights"),
        (404, "check the path and the parameters"),
        (400, "correct the request"),
    ],
)
def test_what_will_not_get_better_is_not_tried_again(api: Api, status: int, advice: str) -> None:
    api.answers["/x"] = lambda _: Answer({}, status)
    with pytest.raises(SourceError, match=rf"/x: {status} .*; {advice}") as bad:
        rows(RESTClient(api.url), "x")
    assert (bad.value.retryable, len(api.requests)) == (False, 1)


def test_an_answer_that_is_no_json(api: Api) -> None:
    api.answers["/x"] = lambda _: Answer(b"<html>")
    with pytest.raises(SourceError, match=r"/x: the answer is no JSON \('<html>'\); check the path"):
        rows(RESTClient(api.url), "x")


@pytest.mark.parametrize(
    ("auth", "header", "value"),
    [
        (BearerTokenAuth("t"), "authorization", "Bearer t"),
        (HttpBasicAuth("me", "pw"), "authorization", "Basic bWU6cHc="),
        (APIKeyAuth("X-Key", "k"), "x-key", "k"),
        (APIKeyAuth("key", "k", "cookie"), "cookie", "key=k"),
    ],
)
def test_credentials(api: Api, auth: Any, header: str, value: str) -> None:
    api.answers["/x"] = lambda _: Answer([])
    rows(RESTClient(api.url, auth=auth), "x")
    assert api.requests[0][2][header] == value
    assert not re.search(r"'(t|pw|k)'", repr(auth))


def test_credentials_go_to_no_other_host(api: Api) -> None:
    api.answers["/link"] = lambda _: Answer({"next": "http://evil.example/x", "data": [1]})
    api.answers["/away"] = lambda _: Answer({}, 302, {"Location": "http://evil.example/x"})
    api.answers["/near"] = lambda _: Answer({}, 302, {"Location": "/link"})
    client = RESTClient(api.url, auth=BearerTokenAuth("t"), paginator=JSONLinkPaginator())
    for path in ("link", "away", "near"):
        with pytest.raises(SourceError, match=r"it leads to another host, evil\.example, which would get"):
            rows(client, path)
    with pytest.raises(SourceError, match="leads to another host"):
        rows(client, "http://evil.example/x")


def test_a_page_that_names_itself_ends(api: Api) -> None:
    api.answers["/x"] = lambda _: Answer({"next": "/x", "data": [1]})
    with pytest.raises(SourceError, match="/x: the page names itself as the next; choose another paginator"):
        rows(RESTClient(api.url, paginator=JSONLinkPaginator()), "x")


def test_a_source_from_a_configuration(api: Api, tmp_path: Path) -> None:
    api.answers["/v1/orders"] = lambda params: Answer(
        [row for row in ROWS if str(row["at"]) >= params.get("since", "")]
    )
    api.answers["/v1/orders/1/lines"] = lambda _: Answer([{"sku": "a"}])
    for number in (0, 2, 3, 4, 5, 6):
        api.answers[f"/v1/orders/{number}/lines"] = lambda _: Answer([])
    config = {
        "client": {"base_url": f"{api.url}/v1", "auth": {"type": "bearer", "token": "t"}},
        "resource_defaults": {"primary_key": "id", "endpoint": {"params": {"size": 100}}},
        "resources": [
            {
                "name": "orders",
                "write_disposition": "merge",
                "endpoint": {
                    "incremental": {
                        "cursor_path": "at",
                        "initial_value": "2026-01-01",
                        "start_param": "since",
                    }
                },
            },
            {
                "name": "lines",
                "primary_key": "sku",
                "endpoint": "orders/{resources.orders.id}/lines",
                "include_from_parent": ["id"],
            },
        ],
    }
    shop = trellis.pipeline("shop", f"duckdb:{tmp_path}/shop.duckdb", engine="inline")
    shop.run(rest_api_source(config, name="shop"))
    assert shop.read("orders").arrow().num_rows == 7
    assert shop.read("lines", system_columns=False).arrow().to_pylist() == [{"sku": "a", "_orders_id": 1}]
    api.requests.clear()
    shop.run(rest_api_source(config, name="shop"))
    path, params, headers = api.requests[0]
    assert (path, params, headers["authorization"]) == (
        "/v1/orders", {"size": "100", "since": "2026-01-07"}, "Bearer t"
    )  # fmt: skip


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"client": {}}, "client: base_url is missing"),
        ({"client": {"base_url": "ftp://x"}}, "ftp://x: the base URL of an API begins with http"),
        ({"resurces": []}, "the configuration: unknown key 'resurces': did you mean 'resources'"),
        ({"resources": []}, "rest_api_source: no resources"),
        ({"resources": [{"endpoint": "x"}]}, "resources: a resource without a name"),
        ({"resources": [{"name": "a", "primry_key": "id"}]}, "resource a: unknown key 'primry_key'"),
        (
            {"resources": [{"name": "a", "endpoint": {"paginator": "ofset"}}]},
            "resource a, paginator: there is no type 'ofset': did you mean 'offset'",
        ),
        (
            {"resources": [{"name": "a", "endpoint": {"paginator": "offset"}}]},
            "resource a, paginator: offset missing 1 required positional argument: 'limit'",
        ),
        (
            {"resources": [{"name": "a", "endpoint": "b/{resources.b.id}"}]},
            "resource a: its path names b, which is no resource before it",
        ),
    ],
)
def test_faults_of_a_configuration(change: dict[str, Any], fault: str) -> None:
    config = {"client": {"base_url": "https://x.example"}, "resources": ["a"], **change}
    with pytest.raises(UsageError, match=re.escape(fault)):
        rest_api_source(config)


def test_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACME_TOKEN", "s3cret")
    token = trellis.secret("ACME_TOKEN")
    assert (token, repr(token)) == ("s3cret", "Secret('***')")
    monkeypatch.delenv("ACME_TOKEN")
    with pytest.raises(
        UsageError,
        match="secret ACME_TOKEN: neither an environment variable nor a keyring has it; set the variable",
    ):
        trellis.secret("ACME_TOKEN")
