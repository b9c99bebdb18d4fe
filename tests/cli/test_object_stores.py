"""Commands on an object store: input, staging, and what is refused."""

from __future__ import annotations

import gzip
import json
import os
import re
from pathlib import Path

import pytest

from s3_server import ACCESS_KEY, SECRET_KEY, S3Server

ORDERS = b'{"id":1,"items":[{"sku":"a"},{"sku":"b"}]}\n{"id":2}\n'


def without_names(text: str) -> str:
    text = re.sub(r"hash \S+", "hash HASH", text)
    return re.sub(r"(load|plan) \d+\.\d+ in [\d.]+ s", r"\1 ID in T s", text)


def test_a_folder_of_a_bucket_is_loaded(trellis, s3: S3Server, bucket: str):
    s3.put(f"{bucket}/raw/2026-01.jsonl", ORDERS)
    s3.put(f"{bucket}/raw/2026-02.jsonl.gz", gzip.compress(b'{"id":3}\n'))
    ran = trellis("load", f"s3a://{bucket}/raw/", "--to", "duckdb:x.duckdb", "--table", "t")
    assert (ran.code, ran.err) == (0, "")
    assert (
        without_names(ran.out)
        == f"""\
Loaded s3a://{bucket}/raw/ into duckdb:x.duckdb, dataset main

  Table       Rows  New
  t              3  table, 3 columns: id and 2 more
    t__items     2  table, 4 columns

rows in 3 = loaded 3 + rejected 0 + dropped 0
schema x, version 2, hash HASH
load ID in T s"""
    )
    again = trellis("plan", f"s3://{bucket}/raw/*.jsonl", "--to", "duckdb:x.duckdb")
    assert (again.code, again.err) == (0, "")
    assert "rows in 2 = loaded 2 + rejected 0 + dropped 0" in again.out


def test_the_table_is_called_after_the_object(trellis, s3: S3Server, bucket: str):
    s3.put(f"{bucket}/orders-2026-01.jsonl", ORDERS)
    ran = trellis("load", f"s3a://{bucket}/orders-2026-01.jsonl", "--json")
    assert ran.json["tables"][0]["name"] == "orders"


def test_a_bucket_is_inspected(trellis, s3: S3Server, bucket: str):
    for month in (1, 2):
        s3.put(f"{bucket}/raw/2026-0{month}.jsonl", ORDERS)
    ran = trellis("inspect", f"s3a://{bucket}/raw")
    assert (ran.code, ran.err) == (0, "")
    assert (
        ran.out
        == """\
4 records in 2 files, 4 paths

  Path         Kind    Count  Missing  First at         Example
  id           int         4           2026-01.jsonl:1  1
  items        array       2        2  2026-01.jsonl:1  [2 items]
  items[]      object      4           2026-01.jsonl:1  {sku}
  items[].sku  string      4           2026-01.jsonl:1  "a\""""
    )


def test_a_file_url_is_a_path(trellis, lines, folder: Path):
    lines("a b.jsonl", '{"id":1}')
    url = (folder / "a b.jsonl").as_uri()
    assert trellis("load", url, "--to", f"duckdb:{folder.as_uri()}/x.duckdb", "--table", "t").code == 0
    assert (folder / "x.duckdb").is_file()


# --- Staging ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("to", ["duckdb:x.duckdb", "parquet:lake"])
def test_rows_wait_in_a_bucket(trellis, lines, folder: Path, s3: S3Server, bucket: str, to: str):
    lines("t.jsonl", '{"id":1,"k":[1,2]}', '{"id":"x"}', "broken")
    ran = trellis("load", "t.jsonl", "--to", to, "--staging", f"s3a://{bucket}/stage", "--json")
    assert (ran.code, ran.err) == (0, "")
    assert {table["name"]: table["rows"] for table in ran.json["tables"]} == {"t": 2, "t__k": 2}
    staged = [request for request in s3.requests if re.match(r"(PUT|POST) .*\.parquet$", request)]
    tables = {request.rsplit("/", 2)[1] for request in staged}
    assert tables == {"t", "t__k", "_trellis_rejects"}
    assert s3.objects(bucket) == []
    left = [path.name for path in folder.rglob("*") if "staging" in path.name]
    assert left in ([], ["staging"])
    assert list((folder / "lake" / "_trellis" / "staging").glob("*")) == []
    plan = trellis("plan", "t.jsonl", "--to", to, "--staging", f"s3a://{bucket}/stage")
    assert (plan.code, s3.objects(bucket)) == (0, [])


@pytest.mark.parametrize("to", ["duckdb:x.duckdb", "parquet:lake"])
def test_rows_wait_in_another_folder(trellis, lines, folder: Path, to: str):
    lines("t.jsonl", '{"id":1,"k":[1,2]}', '{"id":"x"}', "broken")
    lines("trellis.yaml", "staging: shared/staging")
    for _ in range(2):
        ran = trellis("load", "t.jsonl", "--to", to, "--json")
        assert (ran.code, ran.err, ran.json["rows"]["loaded"]) == (0, "", 2)
    assert list((folder / "shared" / "staging").iterdir()) == []


def test_a_place_that_cannot_be_written_is_refused_before_anything_is_read(
    trellis, lines, folder: Path, s3: S3Server
):
    lines("t.jsonl", '{"id":1}')
    lines("file", "")
    before = sorted(folder.iterdir())
    ran = trellis("load", "t.jsonl", "--to", "duckdb:x.duckdb", "--staging", "s3a://no-such-bucket/stage")
    assert (ran.code, ran.out) == (2, "")
    assert re.fullmatch(
        r"error: s3a://no-such-bucket/stage/\S+/_trellis: there is no bucket 'no-such-bucket' at "
        + re.escape(f"{s3.endpoint}; check the name"),
        ran.err,
    )
    ran = trellis("load", "t.jsonl", "--to", "duckdb:x.duckdb", "--staging", "file/stage")
    assert (ran.code, ran.out) == (3, "")
    assert re.fullmatch(
        re.escape(f"error: {folder}/file/stage/")
        + r"\S+: rows cannot be staged there \(Not a directory\); check the path, its rights and the free "
        "space, or name another folder with --staging",
        ran.err,
    )
    assert sorted(folder.iterdir()) == before


def test_rows_that_a_dead_load_left_are_deleted_by_the_next(
    trellis, lines, folder: Path, s3: S3Server, bucket: str
):
    lines("t.jsonl", '{"id":1}')
    s3.put(f"{bucket}/stage/1-dead/t/x.parquet", b"rows")
    s3.put(f"{bucket}/stage/2-alive/t/x.parquet", b"rows")
    owner = folder / "x.duckdb.staging" / "1" / "_owner"
    owner.parent.mkdir(parents=True)
    note = {"pid": 2**22 + 1, "host": os.uname().nodename, "rows": f"s3a://{bucket}/stage/1-dead"}
    owner.write_text(json.dumps(note))
    assert trellis("load", "t.jsonl", "--to", "duckdb:x.duckdb").code == 0
    assert s3.objects(bucket) == ["stage/2-alive/t/x.parquet"]
    assert not owner.parent.exists()


# --- What is refused -------------------------------------------------------------------------------------

REFUSED = {
    "parquet:s3://lake/x": "parquet:s3://lake/x: tables on a remote file system are not supported yet; name "
    "a local path, such as parquet:shop",
    "duckdb:s3a://lake/x.duckdb": "duckdb:s3a://lake/x.duckdb: tables on a remote file system are not "
    "supported yet; name a local path, such as duckdb:shop",
    "parquet:abfss://me:safe@lake/x": "parquet:abfss://***@lake/x: tables on a remote file system are not "
    "supported yet; name a local path, such as parquet:shop",
}


@pytest.mark.parametrize("to", REFUSED)
def test_a_destination_on_an_object_store_is_refused_at_once(trellis, folder: Path, to: str):
    ran = trellis("load", "there-is-no-such-file.jsonl", "--to", to)
    assert (ran.code, ran.out, ran.err) == (2, "", f"error: {REFUSED[to]}")
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    ("code", "change"),
    [
        (2, {"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": ""}),
        (3, {"AWS_SECRET_ACCESS_KEY": "another-secret", "AWS_ACCESS_KEY_ID": "AKIAANOTHER"}),
        (3, {"AWS_ENDPOINT_URL": "http://127.0.0.1:1"}),
    ],
)
def test_what_a_store_refuses_ends_with_one_sentence_and_no_secret(
    process, s3: S3Server, bucket: str, code: int, change: dict[str, str], monkeypatch: pytest.MonkeyPatch
):
    for name, value in change.items():
        monkeypatch.setenv(name, value)
    for debug in ([], ["--debug"]):
        ran = process("load", f"s3a://{bucket}/raw/", "--to", "duckdb:x.duckdb", *debug)
        assert (ran.returncode, ran.stdout) == (code, "")
        assert re.search(rf"s3a://{bucket}/raw/: (access is denied|the store at)", ran.stderr)
        assert debug or (len(ran.stderr.splitlines()) == 1 and ran.stderr.startswith("error: "))
        secrets = (
            ACCESS_KEY,
            SECRET_KEY,
            *(value for name, value in change.items() if "KEY" in name and value),
        )
        assert not any(secret in ran.stderr for secret in secrets)


def test_no_secret_is_written_anywhere(trellis, folder: Path, s3: S3Server, bucket: str):
    s3.put(f"{bucket}/t.jsonl", b'{"id":1}\nbroken\n')
    ran = trellis(
        "load",
        f"s3a://{bucket}/t.jsonl",
        "--to",
        "parquet:lake",
        "--staging",
        f"s3a://{bucket}/stage",
        "--json",
    )
    assert ran.code == 0
    written = [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
    for secret in (SECRET_KEY, ACCESS_KEY):
        assert secret not in ran.out
        assert not any(secret.encode() in content for content in written)
