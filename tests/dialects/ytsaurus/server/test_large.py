"""Many rows, and a large one, through the real client.

`make test-yt` takes 1 GB, and a row of 100 MB; TRELLIS_YT_BYTES and TRELLIS_YT_ROW_BYTES are other sizes.
"""

from __future__ import annotations

import filecmp
import json
import os
import resource
import subprocess
from pathlib import Path

import pytest
from yt.wrapper import YtClient

from dialects.ytsaurus.server.conftest import YT, client_of
from trellis.dialects.ytsaurus.server.http import Server

BYTES = int(os.environ.get("TRELLIS_YT_BYTES", "1000000000"))
ROW_BYTES = int(os.environ.get("TRELLIS_YT_ROW_BYTES", "100000000"))
ROW = {"k": "x" * 40, "n": 1234567890, "text": "some words that a row has " * 8}


@pytest.mark.yt
def test_many_rows_in_and_out(server: Server) -> None:
    client: YtClient = client_of(server)
    count = BYTES // 300
    client.write_table("//tmp/t", (dict(ROW, n=number) for number in range(count)))
    assert client.row_count("//tmp/t") == count
    total = sum(row["n"] for row in client.read_table("//tmp/t"))
    assert total == count * (count - 1) // 2
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 4 * 2**20


@pytest.mark.yt
def test_b05_a_large_row(server: Server) -> None:
    client: YtClient = client_of(server)
    value = "x" * ROW_BYTES
    client.write_table("//tmp/t", [{"k": 1}, {"k": 2, "text": value}])
    assert [row.get("text") for row in client.read_table("//tmp/t")] == [None, value]


@pytest.mark.yt
def test_many_rows_through_the_command(server: Server, tmp_path: Path) -> None:
    """`yt write` and `yt read` with files: the bytes come back as they went in."""
    written, read = tmp_path / "written", tmp_path / "read"
    with written.open("w") as file:
        file.writelines(
            json.dumps(dict(ROW, n=number), separators=(",", ":")) + "\n" for number in range(BYTES // 300)
        )
    schema = "<schema=[{name=k;type=string};{name=n;type=int64};{name=text;type=utf8}]>//tmp/t"
    for verb, path, source, target in (
        ("write", schema, written, os.devnull),
        ("read", "//tmp/t", os.devnull, read),
    ):
        with open(source, "rb") as stdin, open(target, "wb") as stdout:
            command = [str(YT), "--proxy", server.address, verb, path, "--format", "json"]
            subprocess.run(command, stdin=stdin, stdout=stdout, check=True, timeout=3600)
    assert filecmp.cmp(written, read, shallow=False)
