"""How commands fail: for programs as an object, with the exit code of whoever is to blame."""

from __future__ import annotations

import subprocess
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest

from cli.conftest import Trellis

TO = ("--to", "duckdb:shop.duckdb")


@pytest.mark.parametrize(
    ("argv", "kind", "code", "message"),
    [
        (("load", "nix.jsonl", *TO), "UsageError", 2, "nix.jsonl: no such file"),
        (("load", "x.jsonl", *TO, "--keyy", "id"), "NoSuchOption", 2, "no such option: --keyy: did you"),
        (("load", "page.jsonl", *TO), "ContractError", 1, "1 of 1 records rejected (1 not JSON)"),
        (("schema", "show", "--at", "duckdb:x.duckdb"), "UsageError", 2, "duckdb:x.duckdb, dataset main"),
    ],
)
def test_an_error_is_an_object_with_json(
    trellis: Trellis, folder: Path, argv: tuple[str, ...], kind: str, code: int, message: str
) -> None:
    (folder / "page.jsonl").write_text("<html>\n")
    ran = trellis(*argv, "--json")
    error = ran.json["error"]
    assert (ran.code, error["exit_code"], error["type"]) == (code, code, kind)
    assert error["message"].startswith(message)
    assert ran.err == f"error: {error['message']}"


@pytest.fixture
def refusing_server() -> str:
    """The address of a server that answers 503."""

    class Refuse(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_error(503)

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Refuse)
    Thread(target=server.handle_request, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}/"


def test_a_service_that_refuses_is_no_bad_usage(trellis: Trellis, folder: Path, refusing_server: str) -> None:
    (folder / "shop.py").write_text(
        "import urllib.request\nimport trellis\n\n\n@trellis.resource\ndef orders():\n"
        f"    yield urllib.request.urlopen({refusing_server!r}).read()\n"
    )
    ran = trellis("run", "shop.py:orders", *TO)
    assert ran.code == 3
    assert "shop.py, line 7, in orders: HTTPError: HTTP Error 503: Service Unavailable" in ran.err


def test_an_unknown_kind_of_schema_file_is_refused(trellis: Trellis, folder: Path) -> None:
    (folder / "orders.jsonl").write_text('{"id": 1}\n')
    assert trellis("load", "orders.jsonl", *TO).code == 0
    ran = trellis("schema", "export", *TO, "--out", "x.txt")
    assert ran.code == 2
    assert ran.err.startswith(
        "error: --out x.txt: its name does not show a format; choose one with --format: yaml, json, "
    )
    assert not (folder / "x.txt").exists()


def test_the_history_of_a_schema_imports_no_pandas(trellis: Trellis, folder: Path) -> None:
    (folder / "orders.jsonl").write_text('{"id": 1}\n')
    assert trellis("load", "orders.jsonl", *TO).code == 0
    code = (
        "import sys; from trellis.cli.app import run; "
        f"run(['schema', 'history', '--at', {TO[1]!r}]); "
        "print({'pandas', 'pyspark', 'trellis.dialects.pinot.dialect'} & {*sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "set()"
