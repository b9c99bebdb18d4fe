"""The REST client: every call as the real controller answered it, every refusal in one sentence."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import pytest

from dialects.pinot.delivery.standin import BROKEN, HTML, SILENCE, Said, Standin, recorded
from trellis.dialects.pinot.cluster.controller import Controller
from trellis.dialects.pinot.cluster.http import Http
from trellis.dialects.pinot.document.reader import read_schema
from trellis.errors import DestinationError, UsageError

RIDES = recorded()["validate ok"]["request"]
TABLE = recorded()["table"]["request"]
CHECK = (
    "check http or https, the host, the port (9000), whether the controller runs, and for a certificate "
    "SSL_CERT_FILE"
)


def refusal(request: Any, *args: Any, **options: Any) -> str:
    with pytest.raises(DestinationError) as raised:
        request(*args, **options)
    assert raised.value.exit_code == 3
    return str(raised.value)


# --- What is asked, and what comes back ------------------------------------------------------------------


def test_r01_unrecognized_properties_are_told(cluster: Standin, controller: Controller) -> None:
    cluster.on("POST /schemas", "post")
    assert controller.add_schema(RIDES) == {"/zz": 1}
    (request,) = cluster.asked
    assert str(request) == "POST /schemas?override=false&force=false"
    assert request.json == RIDES
    assert request.headers["Content-Type"] == "application/json"


def test_r02_a_schema_that_is_there_is_409(cluster: Standin, controller: Controller) -> None:
    cluster.on("POST /schemas", "post", "post again override=false")
    controller.add_schema(RIDES)
    assert refusal(controller.add_schema, RIDES) == (
        f"{cluster.url}: cannot add schema rides: Schema: rides already exists (409)"
    )


def test_r03_a_name_that_is_not_that_of_the_path_is_400(cluster: Standin, controller: Controller) -> None:
    cluster.on("PUT /schemas/rides", "put other name")
    assert refusal(controller.update_schema, {**RIDES, "schemaName": "other"}, name="rides") == (
        f"{cluster.url}: cannot update schema rides: Schema name mismatch for uploaded schema, tried to "
        "add schema with name other as rides (400)"
    )


def test_schemas_and_tables_are_read(cluster: Standin, controller: Controller) -> None:
    cluster.on("GET /schemas/rides", "get").on("GET /schemas/nobody", "get unknown")
    cluster.on("GET /tables/rides", "table get").on("GET /tables/nobody", "table get unknown")
    stored_schema = controller.schema("rides")
    assert stored_schema is not None and stored_schema == read_schema(recorded()["get"]["body"])
    assert controller.schema("nobody") is None
    table = controller.table("rides", "OFFLINE")
    assert table is not None and table["tableName"] == "rides_OFFLINE"
    assert controller.table("rides", "REALTIME") is None
    assert controller.table("nobody", "OFFLINE") is None


def test_the_order_of_a_table(cluster: Standin, controller: Controller) -> None:
    cluster.on("POST /schemas/validate", "validate ok").on("POST /tables", "table")
    cluster.on("PUT /schemas/rides", "put add column").on("PUT /tables/rides_OFFLINE", "table")
    cluster.on("POST /segments/rides/reload", "reload")
    assert controller.validate(RIDES) == {"/zz": 1}
    assert controller.update_schema(RIDES) == {}
    controller.add_table(TABLE)
    controller.update_table(TABLE)
    assert controller.reload("rides", "OFFLINE") == "80875027-fd37-45d9-b542-f3adad12d7e9"
    assert cluster.paths == [
        "POST /schemas/validate",
        "PUT /schemas/rides?reload=false&force=false",
        "POST /tables",
        "PUT /tables/rides_OFFLINE",
        "POST /segments/rides/reload?type=OFFLINE",
    ]


def test_a_table_without_segments_has_nothing_to_reload(cluster: Standin, controller: Controller) -> None:
    cluster.on("POST /segments/rides/reload", "reload without segments")
    assert controller.reload("rides", "OFFLINE") is None


# --- Refusals --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (
            "put INT to LONG",
            "Backward incompatible schema rides. Only allow adding new columns (400)",
        ),
        (
            "put invalid",
            "Invalid schema: rides. Reason: Unsupported data type: STRING in METRIC field: d (400)",
        ),
        ("post unknown type", None),
        ("put unknown", "Failed to find schema nobody (404)"),
        (
            "put reload without table",
            "Failed to find table rides to reload (404)",
        ),
        ("post wrong content type", "HTTP 415 Unsupported Media Type (415)"),
        (BROKEN, "ZooKeeper is away (500)"),
        (
            Said(401, "", "text/plain"),
            ("the controller requires authentication (401); set TRELLIS_PINOT_TOKEN, or "
            "TRELLIS_PINOT_USER to name:password"),
        ),
        (
            Said(403, "no", "text/plain"),
            ("the controller does not permit this user (403); set TRELLIS_PINOT_TOKEN, or "
            "TRELLIS_PINOT_USER to name:password"),
        ),
        (
            Said(502, "<html>Bad gateway</html>", "text/html"),
            ("a web page (HTML) came back with status 502, not the JSON of a controller; is the URL that "
            "of the "
            "controller (port 9000) and not of a broker or a proxy?"),
        ),
    ],
)  # fmt: skip
def test_every_refusal_is_a_sentence(
    cluster: Standin, controller: Controller, answer: str | Said, sentence: str | None
) -> None:
    cluster.on("PUT /schemas/rides", answer)
    message = refusal(controller.update_schema, RIDES)
    assert "\n" not in message and "[Source" not in message and "schemaName" not in message
    if sentence is not None:
        assert message == f"{cluster.url}: cannot update schema rides: {sentence}"


def test_a_web_page_that_says_200(cluster: Standin, controller: Controller) -> None:
    cluster.on("GET /schemas/rides", HTML)
    assert refusal(controller.schema, "rides") == (
        f"{cluster.url}: cannot get schema rides: a web page (HTML) came back with status 200, not the JSON "
        "of a controller; is the URL that of the controller (port 9000) and not of a broker or a proxy?"
    )


# --- No answer -------------------------------------------------------------------------------------------


def test_silence(cluster: Standin) -> None:
    cluster.on("GET /schemas/rides", SILENCE).on("POST /schemas", SILENCE)
    controller = Controller(Http.of(cluster.url, timeout=0.2))
    assert refusal(controller.schema, "rides") == (f"{cluster.url}: no answer to GET within 0.2 seconds")
    assert refusal(controller.add_schema, RIDES) == (
        f"{cluster.url}: no answer to POST within 0.2 seconds; the request "
        "may still take effect, so check before you repeat it"
    )


def test_nobody_listens() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
    controller = Controller(Http.of(url))
    assert refusal(controller.schema, "rides") == (
        f"{url}: the connection failed ([Errno 111] Connection refused); {CHECK}"
    )


def test_there_is_no_such_host() -> None:
    controller = Controller(Http.of("http://nobody.invalid:9000"))
    assert refusal(controller.schema, "rides").startswith(
        "http://nobody.invalid:9000: the connection failed ("
    )


def test_http_where_https_is_meant(cluster: Standin) -> None:
    url = cluster.url.replace("http:", "https:")
    controller = Controller(Http.of(url, timeout=2))
    assert refusal(controller.schema, "rides").startswith(f"{url}: the connection failed ([SSL")


# --- Who asks --------------------------------------------------------------------------------------------


def test_credentials_do_not_follow_to_another_place(cluster: Standin) -> None:
    cluster.on("GET /schemas/rides", Said(307, "", headers={"Location": f"{cluster.url}/other"}))
    controller = Controller(Http.of(cluster.url, "Bearer secret"))
    assert "came back with status 307" in refusal(controller.schema, "rides")
    assert cluster.paths == ["GET /schemas/rides"]


@pytest.mark.parametrize(
    "url",
    [
        *("localhost:9000", "ftp://host", "http://", "nonsense", "", "http://host:port", "http://host:99999"),
        "me:secret@host:9000",
    ],
)
def test_what_is_no_url(url: str) -> None:
    with pytest.raises(UsageError, match="is not a controller: use its URL") as raised:
        Http.of(url)
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize("value", ["Bearer secret\n", "Bearer secret\r\nX: y", "Bearer s\xe9cret"])
def test_a_token_that_cannot_be_sent_is_not_shown(value: str) -> None:
    with pytest.raises(UsageError) as raised:
        Http.of("http://c", value)
    assert str(raised.value) == "TRELLIS_PINOT_TOKEN: it may hold printable ASCII characters only"


def test_an_answer_that_breaks_off(cluster: Standin, controller: Controller) -> None:
    cluster.on("POST /schemas", Said(500, "half", headers={"Content-Length": "400"}))
    assert "the connection failed (IncompleteRead" in refusal(controller.add_schema, RIDES)


def test_the_recorded_answers_are_those_of_a_real_controller() -> None:
    assert len(recorded()) >= 80
    assert recorded()["version"]["body"].count("1.5.1") > 1
    assert Path(__file__).parent.joinpath("answers.jsonl").stat().st_size < 200_000
