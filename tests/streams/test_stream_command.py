"""`trellis stream` as a process: what it prints, how it ends, and that a kill costs and adds nothing."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from spark.cluster import connect_server
from streams.killing import RECORDS, Process, assert_exactly_once, kill_again_and_again, record_of
from trellis.pipelines.pipeline import Pipeline


def write(folder: Path, name: str, *records: Any) -> None:
    """Put a file below `raw` at once."""
    (folder / "raw").mkdir(exist_ok=True)
    written = folder / f".{name}"
    written.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    written.rename(folder / "raw" / name)


@pytest.mark.spark
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_lets_the_batch_finish(tmp_path: Path, number: signal.Signals) -> None:
    write(tmp_path, "a.jsonl", {"id": 1}, ["no record"])
    stream = Process(tmp_path, "raw", "--to", "duckdb:x.duckdb", "--trigger", "100ms")
    stream.wait_until(lambda: len(stream.lines) > 1)
    write(tmp_path, "b.jsonl", {"id": 2})
    stream.wait_until(lambda: any((tmp_path / "x.duckdb.staging").glob("*-1")))
    send = os.killpg if number == signal.SIGINT else os.kill  # a terminal signals the JVM as well
    send(stream.process.pid, number)
    assert stream.end() == (0, "stopping after the running batch; again to stop at once\n")
    first, second, *_ = stream.lines
    checkpoint = next((tmp_path / "x.duckdb.staging/checkpoints").iterdir())
    assert first == f"Streaming raw into duckdb:x.duckdb, dataset main; checkpoint {checkpoint}"
    assert second.startswith("batch 0: rows in 2 = loaded 1 + rejected 1 + dropped 0; ")
    assert second.endswith(" s; drift: t is new, with 3 columns")
    again = Process(tmp_path, "raw", "--to", "duckdb:x.duckdb", "--trigger", "available-now", "--json")
    assert again.end() == (0, "")
    shop = Pipeline("x", f"duckdb:{tmp_path}/x.duckdb")
    assert sorted(row["id"] for row in shop.destination.query("main", "t")) == [1, 2]


@pytest.mark.spark
def test_a_broken_contract_ends_with_1(tmp_path: Path) -> None:
    write(tmp_path, "a.jsonl", {"id": 1})
    arguments = ("raw", "--to", "duckdb:x.duckdb", "--trigger", "available-now", "--json")
    stream = Process(tmp_path, *arguments)
    assert stream.end() == (0, "")
    (batch,) = map(json.loads, stream.lines)
    assert batch["rows"] == {"in": 1, "loaded": 1, "rejected": 0, "dropped": 0}
    assert (batch["batch"], batch["drift"], batch["lag"]) == (0, ["t is new, with 3 columns"], None)
    write(tmp_path, "b.jsonl", {"id": "two"})
    stream = Process(tmp_path, *arguments, "--contract", "freeze")
    message = (
        f'{tmp_path}/raw/b.jsonl:1: x.t.id: "two" at id does not fit its column, which is bigint, and the '
        "contract has data_type: freeze; correct the value, or load with the contract data_type: evolve"
    )
    assert stream.end() == (1, f"error: {message}\n")
    (error,) = map(json.loads, stream.lines)
    assert (error["error"]["type"], error["error"]["code"]) == ("ContractViolation", "contract")
    assert (error["error"]["message"], error["error"]["exit_code"]) == (message, 1)


@pytest.mark.spark
def test_a_killed_stream_of_files_loads_each_record_once(tmp_path: Path, destination_url: str) -> None:
    files, count = 12, 12 * RECORDS
    for number in range(files):
        ids = range(number * RECORDS, (number + 1) * RECORDS)
        write(tmp_path, f"{number:02}.jsonl", *(record_of(id_, count) for id_ in ids))
    option = ("--read-option", "maxFilesPerTrigger=2")
    kill_again_and_again(tmp_path, destination_url, "raw", *option)
    assert_exactly_once(destination_url, count)


@pytest.mark.spark
def test_spark_connect_streams_too(tmp_path: Path) -> None:
    """Batches are loaded beside the server; their lines, errors and the wish to stop cross over."""
    write(tmp_path, "a.jsonl", {"id": 1}, ["no record"])
    with connect_server(tmp_path / "connect") as address:
        spark = ("--remote", address)
        to = ("raw", "--to", "duckdb:x.duckdb")
        stream = Process(tmp_path, *to, "--trigger", "100ms", spark=spark)
        stream.wait_until(lambda: len(stream.lines) > 1)
        assert stream.lines[1].startswith("batch 0: rows in 2 = loaded 1 + rejected 1 + dropped 0; ")
        os.kill(stream.process.pid, signal.SIGTERM)
        assert stream.end() == (0, "stopping after the running batch; again to stop at once\n")
        write(tmp_path, "b.jsonl", {"id": "two"})
        arguments = ("--trigger", "available-now", "--json")
        stream = Process(tmp_path, *to, *arguments, "--contract", "freeze", spark=spark)
        code, errors = stream.end()
        assert (code, errors.partition(" does not fit")[0]) == (
            1, f'error: {tmp_path}/raw/b.jsonl:1: x.t.id: "two" at id'
        )  # fmt: skip
        stream = Process(tmp_path, *to, *arguments, spark=spark)
        assert stream.end() == (0, "")
        (batch,) = map(json.loads, stream.lines)
        assert (batch["batch"], batch["drift"]) == (1, ["t.id__v_text is new: text"])
    shop = Pipeline("x", f"duckdb:{tmp_path}/x.duckdb")
    ids = [(row["id"], row["id__v_text"]) for row in shop.destination.query("main", "t")]
    assert sorted(ids, key=str) == [(1, None), (None, "two")]
