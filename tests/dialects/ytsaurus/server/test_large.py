"""Many rows, and a large one, through the real client.

`make test-yt` takes 1 GB, and a row of 100 MB; TRELLIS_YT_BYTES and TRELLIS_YT_ROW_BYTES are other sizes.
"""

from __future__ import annotations

import os
import resource

import pytest
from yt.wrapper import YtClient

from dialects.ytsaurus.server.conftest import client_of
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
