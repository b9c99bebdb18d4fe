"""Input on an object store: the same load as from a local folder."""

from __future__ import annotations

import bz2
import gzip
import json
import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

import trellis.engine.records.files
from s3_server import S3Server
from trellis.engine.input.blocks import Split, read_blocks
from trellis.engine.input.files import input_files
from trellis.engine.plan import Plan
from trellis.engine.records.files import FileRecords
from trellis.engine.runner import InlineRunner
from trellis.engine.storage.settings import StorageSettings
from trellis.engine.storage.storage import Storage
from trellis.engine.task import Outcome, Progress, Task
from trellis.errors import StorageError, UsageError
from trellis.generate import generate
from trellis.pipelines.inspect import inspect
from trellis.pipelines.pipeline import Pipeline

SRC = Path(__file__).parents[2] / "src"


def lines(seed: int) -> bytes:
    return b"".join(line + b"\n" for line in generate(120, seed=seed, profile="shop")) + b'{"broken"\n'


def array(seed: int) -> bytes:
    return b"[" + b",".join(generate(40, seed=seed, profile="flat")) + b"]"


def parquet(tmp_path: Path) -> bytes:
    """Two row groups, with timestamps of 96 bits that have nanoseconds."""
    table = pa.table({"id": range(2_000), "at": pa.array(range(2_000), pa.timestamp("ns"))})
    pq.write_table(table, tmp_path / "x.parquet", use_deprecated_int96_timestamps=True, row_group_size=1_000)
    return (tmp_path / "x.parquet").read_bytes()


def rows(pipeline: Pipeline) -> dict[str, list[str]]:
    """All rows but of tables and in columns that no two loads have in common."""
    apart = ("load_id", "rejected_at", "discarded_at", "_dlt_load_id", "_dlt_id", "_dlt_parent_id")
    ours = ("_dlt", "_trellis_schema_changes")
    tables = [name for name in pipeline.destination.catalog("main") if not name.startswith(ours)]
    return {
        name: sorted(
            json.dumps({key: value for key, value in row.items() if key not in apart}, default=str)
            for row in pipeline.destination.query("main", name)
        )
        for name in tables
    }


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.jsonl", lambda _: lines(1)),
        ("a.jsonl.gz", lambda _: gzip.compress(lines(2))),
        ("a.jsonl.zst", lambda _: zstandard.compress(lines(3))),
        ("a.ndjson.bz2", lambda _: bz2.compress(lines(4))),
        ("a.json", lambda _: array(5)),
        ("a", parquet),
    ],
)
def test_an_object_loads_as_the_same_local_file(
    name: str,
    content: Callable[[Path], bytes],
    s3: S3Server,
    bucket: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(trellis.engine.records.files, "split_for", lambda *_: 7_000)
    data = content(tmp_path)
    (tmp_path / "raw").mkdir()
    for number in range(2):
        s3.put(f"{bucket}/raw/{number}-{name}", data)
        (tmp_path / "raw" / f"{number}-{name}").write_bytes(data)
    local, remote = (Pipeline("shop", f"duckdb:{tmp_path}/{kind}.duckdb") for kind in ("local", "remote"))
    expected = local.load(f"{tmp_path}/raw", table="t", load_id="1")
    report = remote.load(f"s3a://{bucket}/raw/", table="t", load_id="1")
    assert report.rows == expected.rows
    assert report.schema.stored_hash == expected.schema.stored_hash
    names = {table: "\n".join(lines) for table, lines in rows(remote).items()}
    assert names == {
        table: "\n".join(lines).replace(str(tmp_path), f"s3a://{bucket}")
        for table, lines in rows(local).items()
    }


def test_inspect_reads_objects(s3: S3Server, bucket: str, tmp_path: Path) -> None:
    for number in range(2):
        s3.put(f"{bucket}/raw/{number}.jsonl.gz", gzip.compress(lines(number)))
    s3.put(f"{bucket}/rows/x.parquet", parquet(tmp_path))
    inspection = inspect(f"s3://{bucket}/raw/*.gz")
    assert inspection.files == (f"s3://{bucket}/raw/0.jsonl.gz", f"s3://{bucket}/raw/1.jsonl.gz")
    assert (inspection.records, inspection.rejected) == (240, 2)
    assert inspect(f"s3://{bucket}/rows").records == 2_000


def test_an_object_that_was_written_anew_is_another_input(s3: S3Server, bucket: str) -> None:
    def fingerprint() -> str | None:
        storage = Storage(StorageSettings.of({}))
        return FileRecords(input_files([f"s3a://{bucket}/a.jsonl"], storage), InlineRunner()).fingerprint("x")

    s3.put(f"{bucket}/a.jsonl", b'{"a":1}\n')
    first = fingerprint()
    assert fingerprint() == first
    s3.put(f"{bucket}/a.jsonl", b'{"a":2}\n')
    assert fingerprint() != first


def test_an_object_that_goes_while_it_is_read(s3: S3Server, bucket: str) -> None:
    storage = Storage(StorageSettings.of({}))
    split = Split(0, 0, f"s3a://{bucket}/a.jsonl")
    with pytest.raises(UsageError, match=rf"^s3a://{bucket}/a.jsonl: no such file$"):
        list(read_blocks(split, storage=storage))
    nowhere = StorageSettings.of({"fs.s3a.endpoint": "http://127.0.0.1:1"})
    with pytest.raises(StorageError, match=r"the store at http://127\.0\.0\.1:1 cannot be reached"):
        list(read_blocks(split, storage=Storage(nowhere)))


# --- Tasks in another place ------------------------------------------------------------------------------

TASK = """
import pickle, sys
from trellis.engine.task import run_task
plan, task = pickle.load(sys.stdin.buffer)
sys.stdout.buffer.write(pickle.dumps(run_task(plan, task, lambda _: None)))
"""


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Tasks run in processes with another working directory, and without variables of AWS.

    What is given are their names.
    """
    names: list[str] = []
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    environment = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}

    def run(_: InlineRunner, plan: Plan, tasks: Sequence[Task], progress: Progress) -> Iterator[Outcome]:
        for task in tasks:
            ran = subprocess.run(
                [sys.executable, "-c", TASK],
                input=pickle.dumps((plan, task)),
                stdout=subprocess.PIPE,
                check=True,
                cwd=folder,
                env={**environment, "PYTHONPATH": str(SRC)},
            )
            names.append(task.name)
            yield pickle.loads(ran.stdout)

    monkeypatch.setattr(InlineRunner, "run_tasks", run)
    return names


@pytest.mark.parametrize("to", ["duckdb:shop.duckdb", "parquet:lake"])
@pytest.mark.parametrize("staging", [None, "staged"])
def test_relative_paths_are_those_of_the_driver(
    to: str, staging: str | None, elsewhere: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "home" / "in").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "home")
    Path("in/a.jsonl").write_bytes(b'{"id":1}\n{"id":"x","k":[1,2]}\nbroken\n')
    pipeline = Pipeline("shop", to, staging=staging)
    report = pipeline.load("in/a.jsonl", table="t")
    assert (report.rows.loaded, report.rows.rejected) == (2, 1)
    assert elsewhere
    assert dict(pipeline.destination.row_counts(pipeline.dataset)).items() >= {"t": 2, "t__k": 2}.items()
    (reject,) = pipeline.destination.query(pipeline.dataset, "_trellis_rejects")
    assert (reject["file"], reject["position"]) == ("in/a.jsonl", 3)
    assert list((tmp_path / "elsewhere").iterdir()) == []
    assert not staging or list(Path(staging).iterdir()) == []


def test_credentials_travel_with_the_plan(
    elsewhere: list[str], s3: S3Server, bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    s3.put(f"{bucket}/a.jsonl", b'{"id":1}\n')
    pipeline = Pipeline("shop", f"duckdb:{tmp_path}/shop.duckdb", staging=f"s3a://{bucket}/stage")
    assert pipeline.load(f"s3a://{bucket}/a.jsonl").rows.loaded == 1
    assert elsewhere
    assert s3.objects(bucket) == ["a.jsonl"]
    assert list((tmp_path / "elsewhere").iterdir()) == []


# --- Compressed files ------------------------------------------------------------------------------------


def read(path: Path) -> int:
    """The number of lines."""
    (file,) = input_files([str(path)])
    return sum(len(block.lines) for block in read_blocks(Split(0, 0, file.path, "lines", file.compression)))


MANY = b"".join(b'{"n":%d,"text":"%s"}\n' % (n, b"x" * (n % 50)) for n in range(60_000))


@pytest.mark.parametrize(
    ("ending", "compress"),
    [("gz", gzip.compress), ("bz2", bz2.compress), ("zst", zstandard.compress)],
)
def test_files_of_several_streams_are_read_to_their_end(
    tmp_path: Path, ending: str, compress: Callable[[bytes], bytes]
) -> None:
    half = len(MANY) // 2
    path = tmp_path / f"x.jsonl.{ending}"
    path.write_bytes(compress(MANY[:half]) + compress(MANY[half:]))
    assert read(path) == 60_000


@pytest.mark.parametrize(
    ("ending", "compress"),
    [("gz", gzip.compress), ("bz2", bz2.compress), ("zst", zstandard.compress)],
)
@pytest.mark.parametrize("part", [0.3, 0.9])
def test_half_a_compressed_file_is_refused(
    tmp_path: Path, ending: str, compress: Callable[[bytes], bytes], part: float
) -> None:
    whole = compress(MANY)
    path = tmp_path / f"x.jsonl.{ending}"
    path.write_bytes(whole[: int(len(whole) * part)])
    with pytest.raises(UsageError, match="stream ends in the middle of the file; nothing was loaded"):
        read(path)


def test_a_damaged_zstandard_file_is_refused(tmp_path: Path) -> None:
    whole = bytearray(zstandard.ZstdCompressor(write_checksum=True).compress(MANY))
    whole[len(whole) // 2 : len(whole) // 2 + 100] = b"\xff" * 100
    (tmp_path / "x.jsonl.zst").write_bytes(whole)
    with pytest.raises(UsageError, match=r"cannot be read to its end \(.+\); nothing was loaded"):
        read(tmp_path / "x.jsonl.zst")
