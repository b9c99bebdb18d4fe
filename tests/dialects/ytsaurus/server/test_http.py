"""The HTTP interface itself: headers, bodies, trailers."""

from __future__ import annotations

import gzip
import http.client
import json
import socket
import time
from pathlib import Path
from typing import Any

import pytest

from trellis.dialects.ytsaurus.server.http import Server
from trellis.dialects.ytsaurus.store.store import Store
from trellis.dialects.ytsaurus.store.writing import write_rows

T = "//tmp/t"


@pytest.fixture
def store_url(tmp_path: Path) -> str:
    return f"yt:{tmp_path}/store"


def send(
    server: Server, method: str, path: str, body: Any = None, **headers: str
) -> tuple[int, dict[str, str], bytes]:
    host, port = server.server_address[:2]
    connection = http.client.HTTPConnection(str(host), port, timeout=30)
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request(method, path, body, names, encode_chunked=hasattr(body, "__next__"))
    answer = connection.getresponse()
    data = answer.read()
    connection.close()
    return answer.status, dict(answer.headers), data


def error_of(answer: tuple[int, dict[str, str], bytes]) -> tuple[int, int, str]:
    status, headers, data = answer
    document = json.loads(data)
    assert json.loads(headers["X-YT-Error"]) == document
    assert headers["X-YT-Response-Code"] == str(document["code"])
    return status, document["code"], document["message"]


def test_pages(server: Server) -> None:
    assert json.loads(send(server, "GET", "/api")[2]) == ["v4"]
    commands = {item["name"]: item for item in json.loads(send(server, "GET", "/api/v4")[2])}
    assert commands["read_table"] == {
        "name": "read_table",
        "input_type": "null",
        "output_type": "tabular",
        "is_volatile": False,
        "is_heavy": True,
    }
    assert {"create", "execute_batch", "start_operation", "lock", "list_jobs"} <= commands.keys()
    assert json.loads(send(server, "GET", "/hosts")[2]) == [server.address]
    assert error_of(send(server, "GET", "/nowhere")) == (
        404,
        1,
        "there is nothing at /nowhere; commands are below /api/v4",
    )


def test_parameters_of_urls_bodies_and_headers(server: Server) -> None:
    created = send(server, "POST", "/api/v4/create", json.dumps({"type": "table", "path": T}))
    assert set(json.loads(created[2])) == {"node_id"}
    assert json.loads(send(server, "GET", f"/api/v4/get?path={T}/@row_count")[2]) == {"value": 0}
    yson = {"X_YT_Parameters": '{path="//tmp"}', "X_YT_Header_Format": "yson"}
    answer = send(server, "GET", "/api/v4/exists", **yson, Accept="application/x-yt-yson-text")
    assert answer[2] == b'{"value"=%true;}'
    put = send(server, "PUT", "/api/v4/set", b'{"n": [1]}', X_YT_Parameters=json.dumps({"path": f"{T}/@x"}),
               Content_Type="application/json")  # fmt: skip
    assert put[0] == 200
    got = send(server, "GET", f"/api/v4/get?path={T}/@x/n", X_YT_Output_Format="<format=text>yson")
    assert got[2] == b'{"value"=[1;];}'
    assert error_of(send(server, "POST", "/api/v4/create", b"{")) == (
        400,
        1,
        (
            "the parameters in the body cannot be read: the value is not JSON: Expecting property name "
            "enclosed in double quotes: line 1 column 2 (char 1)"
        ),
    )
    assert error_of(send(server, "POST", "/api/v4/fly"))[2] == "there is no command fly"
    assert error_of(send(server, "POST", "/api/v4/start_transaction?timeout=soon"))[2] == (
        "the parameter timeout of start_transaction is 'soon'; expected a number"
    )
    assert error_of(send(server, "GET", "/api/v4/get"))[2] == "the command get has no parameter path"


def write(server: Server, body: Any, **headers: str) -> tuple[int, dict[str, str], bytes]:
    parameters = json.dumps({"path": T, "input_format": "json"})
    return send(server, "PUT", "/api/v4/write_table", body, X_YT_Parameters=parameters, **headers)


def test_bodies(server: Server) -> None:
    send(server, "POST", "/api/v4/create", json.dumps({"type": "table", "path": T}))
    rows = b"".join(b'{"k":%d}\n' % number for number in range(1000))
    assert write(server, iter([rows[:10], rows[10:5000], rows[5000:]]))[0] == 200
    assert (
        write(server, gzip.compress(rows[:5000]) + gzip.compress(rows[5000:]), Content_Encoding="gzip")[0]
        == 200
    )
    assert json.loads(send(server, "GET", f"/api/v4/get?path={T}/@row_count")[2]) == {"value": 1000}
    status, headers, data = send(
        server,
        "GET",
        f"/api/v4/read_table?path={T}[%23998:]",
        X_YT_Output_Format="json",
        Accept_Encoding="gzip",
    )
    assert (status, headers["Content-Encoding"], gzip.decompress(data)) == (
        200,
        "gzip",
        b'{"k":998}\n{"k":999}\n',
    )
    assert json.loads(headers["X-YT-Response-Parameters"]) == {
        "start_row_index": 998,
        "approximate_row_count": 2,
    }
    truncated = gzip.compress(rows)[:-20]
    assert error_of(write(server, truncated, Content_Encoding="gzip"))[2] == (
        "//tmp/t: the body ends in the middle of its gzip stream"
    )
    assert error_of(write(server, rows, Content_Encoding="gzip"))[2].startswith(
        "//tmp/t: the body is not gzip, as its"
    )
    assert error_of(write(server, rows, Content_Encoding="zstd"))[2] == (
        "bodies encoded as zstd are not supported; expected gzip or identity"
    )
    assert json.loads(send(server, "GET", f"/api/v4/get?path={T}/@row_count")[2]) == {"value": 1000}


def test_an_error_between_rows_is_in_the_trailers(server: Server, tmp_path: Path) -> None:
    chunks = tmp_path / "store" / "chunks"
    with Store.open(server.url) as store:
        for number in range(2):
            write_rows(store, f"<append=%true>{T}", [{"k": number}])
            if number == 0:
                kept = set(chunks.iterdir())
    (last,) = set(chunks.iterdir()) - kept
    last.unlink()
    host, port = server.server_address[:2]
    with socket.create_connection((str(host), port), 30) as connection:
        request = f"GET /api/v4/read_table?path={T} HTTP/1.1\r\nHost: x\r\nX-YT-Output-Format: json\r\n"
        connection.sendall(f"{request}Connection: close\r\n\r\n".encode())
        answer = b""
        while block := connection.recv(65536):
            answer += block
    head, _, body = answer.partition(b"\r\n\r\n")
    assert b"Trailer: X-YT-Error" in head
    rows, _, trailers = body.partition(b"\r\n0\r\n")
    assert rows == b'8\r\n{"k":0}\n'
    lines = dict(line.split(": ", 1) for line in trailers.decode().strip().split("\r\n"))
    assert lines["X-YT-Response-Code"] == "1"
    assert json.loads(lines["X-YT-Error"])["message"].endswith("is gone; restore it from a backup")


def await_lock(server: Server, *, held: bool) -> None:
    deadline = time.monotonic() + 30
    with Store.open(server.url) as store:
        while bool(store.locks.of_node(store.node(T).id)) != held:
            assert time.monotonic() < deadline
            time.sleep(0.02)


@pytest.mark.parametrize(
    ("length", "body"),
    [
        ("Transfer-Encoding: chunked", b'8\r\n{"k":2}\n\r\n'),
        ("Transfer-Encoding: chunked", b'8\r\n{"k":'),
        ("Content-Length: 100", b'{"k":2}\n'),
        ("Content-Length: 100\r\nContent-Encoding: gzip", gzip.compress(b'{"k":2}\n')),
    ],
    ids=["between-chunks", "in-a-chunk", "length", "gzip"],
)
def test_b16_a_client_that_is_gone_in_the_middle_of_a_write(server: Server, length: str, body: bytes) -> None:
    with Store.open(server.url) as store:
        write_rows(store, T, [{"k": 1}])
    host, port = server.server_address[:2]
    with socket.create_connection((str(host), port), 30) as connection:
        parameters = json.dumps({"path": T, "input_format": "json"})
        request = f"PUT /api/v4/write_table HTTP/1.1\r\nHost: x\r\nX-YT-Parameters: {parameters}\r\n"
        connection.sendall(f"{request}{length}\r\n\r\n".encode() + body)
        await_lock(server, held=True)
    status, _, data = send(server, "GET", f"/api/v4/read_table?path={T}", X_YT_Output_Format="json")
    assert (status, data) == (200, b'{"k":1}\n')
    await_lock(server, held=False)  # the server has noticed that the client is gone
    with Store.open(server.url) as store:
        write_rows(store, T, [{"k": 3}])


def test_b08_truncated_gzip_names_the_table(server: Server) -> None:
    body = gzip.compress(b'{"k": 1}\n' * 1000)
    parameters = json.dumps({"path": f"<append=%true>{T}", "input_format": "json"})
    headers = {"X_YT_Parameters": parameters, "Content_Encoding": "gzip"}
    send(server, "PUT", "/api/v4/write_table", body, **headers)
    assert error_of(send(server, "PUT", "/api/v4/write_table", body[:-9], **headers)) == (
        400,
        1,
        f"{T}: the body ends in the middle of its gzip stream",
    )
    assert json.loads(send(server, "GET", f"/api/v4/get?path={T}/@row_count")[2]) == {"value": 1000}
