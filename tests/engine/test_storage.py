"""Files of every file system in one way: the same on a local disk and on an S3 server."""

from __future__ import annotations

import io
import os
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pytest

from s3_server import ACCESS_KEY, SECRET_KEY, S3Server
from trellis.engine.plan import Plan
from trellis.engine.storage.failures import explained
from trellis.engine.storage.location import absolute, is_remote, parse_url
from trellis.engine.storage.settings import StorageSettings
from trellis.engine.storage.storage import Storage
from trellis.engine.storage.stores import s3_options
from trellis.errors import StorageError, TrellisError, UsageError
from trellis.schema.model import Schema

TREE = (
    "a.jsonl",
    "b/[1].jsonl",
    "b/2026-01/x y+é%41.jsonl",
    "b/2026-02/z.json",
    "b/2027-01/z.jsonl",
    "b/.hidden/h.jsonl",
    "b/_temporary/t.jsonl",
    "b/_SUCCESS",
    "c/deep/er/d.jsonl",
)


@dataclass(frozen=True)
class Place:
    """A folder on some file system, with a way to put files into it."""

    root: str
    storage: Storage
    put: Callable[[str, bytes], None]

    def names(self, pattern: str) -> list[str]:
        return [file.name.removeprefix(f"{self.root}/") for file in self.storage.list_files(self.at(pattern))]

    def at(self, name: str) -> str:
        return f"{self.root}/{name}" if name else self.root


@pytest.fixture(params=["local", "s3"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    if request.param == "s3":
        server: S3Server = request.getfixturevalue("s3")
        bucket = request.getfixturevalue("bucket")
        settings = StorageSettings.of({})
        return Place(
            f"s3a://{bucket}/in",
            Storage(settings),
            lambda name, data: server.put(f"{bucket}/in/{name}", data),
        )

    def put(name: str, data: bytes) -> None:
        (tmp_path / "in" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "in" / name).write_bytes(data)

    return Place(f"{tmp_path}/in", Storage(), put)


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("a.jsonl", ["a.jsonl"]),
        ("b/[1].jsonl", ["b/[1].jsonl"]),
        ("b/2026-01/x y+é%41.jsonl", ["b/2026-01/x y+é%41.jsonl"]),
        ("c", ["c/deep/er/d.jsonl"]),
        ("b/", ["b/2026-01/x y+é%41.jsonl", "b/2026-02/z.json", "b/2027-01/z.jsonl", "b/[1].jsonl"]),
        ("b/2026-*", None),
        ("b/2026-*/*", ["b/2026-01/x y+é%41.jsonl", "b/2026-02/z.json"]),
        ("b/*/z.json*", ["b/2026-02/z.json", "b/2027-01/z.jsonl"]),
        ("b/*/z.jsonl", ["b/2027-01/z.jsonl"]),
        ("b/*", ["b/[1].jsonl", "b/_SUCCESS"]),
        ("c/**/*.jsonl", ["c/deep/er/d.jsonl"]),
        ("c/**", ["c/deep/er/d.jsonl"]),
        ("**/d.jsonl", ["c/deep/er/d.jsonl"]),
        ("b/**/h.jsonl", None),
        ("b/.*/h.jsonl", ["b/.hidden/h.jsonl"]),
        ("nix/*.jsonl", None),
    ],
)
def test_the_same_files_are_listed_in_the_same_order(
    place: Place, pattern: str, names: list[str] | None
) -> None:
    for name in TREE:
        place.put(name, b"{}\n")
    if names is not None:
        assert place.names(pattern) == names
        return
    with pytest.raises(UsageError) as refused:
        place.names(pattern)
    assert str(refused.value) == f"{place.at(pattern)}: no file matches this pattern"


def test_a_listed_file_has_its_size_and_a_tag_of_its_content(place: Place) -> None:
    place.put("a.jsonl", b'{"a":1}\n')
    (file,) = place.storage.list_files(place.at("a.jsonl"))
    assert (file.size, file.location) == (8, place.at("a.jsonl"))
    head, tag = place.storage.read_head(file, 4)
    assert head == b'{"a"'
    place.put("a.jsonl", b'{"a":2}\n')
    (file,) = place.storage.list_files(place.at("a.jsonl"))
    assert place.storage.read_head(file, 4)[1] != tag


def test_a_file_is_read_from_anywhere_and_line_by_line(place: Place) -> None:
    place.put("a", b"".join(b"%06d\n" % number for number in range(5_000)))
    with place.storage.open_input(place.at("a"), 1_000) as stream:
        assert (stream.readline(), stream.read(10)) == (b"000000\n", b"000001\n000")
        stream.seek(7 * 4_998)
        assert (stream.readline(), stream.read(100), stream.read(1)) == (b"004998\n", b"004999\n", b"")


def test_a_written_file_is_whole_and_takes_the_place_of_another(place: Place, tmp_path: Path) -> None:
    place.storage.make_folder(place.at("out"))
    for data in (b"first", b"second" * 100_000):
        place.storage.write_file(place.at("out/x"), data)
    assert place.names("out") == ["out/x"]
    place.storage.rename(place.at("out/x"), place.at("out/y"))
    assert place.names("out") == ["out/y"]
    place.storage.download(place.at("out/y"), f"{tmp_path}/copies/y")
    assert Path(f"{tmp_path}/copies/y").read_bytes() == b"second" * 100_000


def test_a_tree_is_deleted_and_nothing_beside_it(place: Place) -> None:
    for name in ("stage/1/t/x", "stage/1/u/y", "stage/10/z"):
        place.put(name, b"x")
    for _ in range(2):
        place.storage.delete_tree(place.at("stage/1"))
        assert place.names("stage") == ["stage/10/z"]
    assert place.storage.status(place.at("stage/1")) is None
    assert place.storage.status(place.at("stage")) is not None


def test_a_pickled_storage_opens_the_same_files(place: Place) -> None:
    place.put("a", b"x")
    again: Storage = pickle.loads(pickle.dumps(place.storage))
    assert again == place.storage
    assert again.open_input(place.at("a")).read() == b"x"


# --- What is refused -------------------------------------------------------------------------------------

NO_BUCKET = "there is no bucket 'no-such-bucket' at {endpoint}; check the name"
REFUSED = {
    "s3a://{bucket}/nix.jsonl": "s3a://{bucket}/nix.jsonl: no such file in {bucket}",
    "s3://{bucket}/nix/*.jsonl": "s3://{bucket}/nix/*.jsonl: no file matches this pattern",
    "s3a://no-such-bucket/a.jsonl": f"s3a://no-such-bucket/a.jsonl: {NO_BUCKET}",
    "s3a://no-such-bucket/*": f"s3a://no-such-bucket/*: {NO_BUCKET}",
    "s3a://{bucket}": "s3a://{bucket}: the folder holds no files; check the path, or wait until "
    "they are there",
    "s3a:///a.jsonl": "s3a:///a.jsonl: the URL names no bucket; write s3a://BUCKET/KEY",
    "ftp://me:safe@host/x?sig=safe": "ftp://***@host/x?***: ftp:// is not a file system; give a local path "
    "or one of s3://, s3a://, gs://, abfs://, abfss://, hdfs://",
    "s3://KEY:safe@{bucket}/x": "s3://***@{bucket}/x: a URL with credentials ends up in reports and logs; "
    "write s3a://BUCKET/KEY, and set the credentials in the environment or in Spark's conf",
    "abfss://raw/x": "abfss://raw: the URL names no storage account; write "
    "abfss://CONTAINER@ACCOUNT.dfs.core.windows.net/PATH, or set AZURE_STORAGE_ACCOUNT_NAME",
}


@pytest.mark.parametrize("source", REFUSED)
def test_what_is_not_there_is_said_in_one_sentence(s3: S3Server, bucket: str, source: str) -> None:
    with pytest.raises(UsageError) as refused:
        Storage(StorageSettings.of({})).list_files(source.format(bucket=bucket))
    assert str(refused.value) == REFUSED[source].format(bucket=bucket, endpoint=s3.endpoint)


DENIED = (
    "access is denied to these credentials; check them, and their rights to list, read and write the bucket"
)
OTHER_KEY = {"fs.s3a.access.key": "AKIAOTHER", "fs.s3a.secret.key": "other-secret"}
CONF: dict[str, tuple[dict[str, str], type[TrellisError], str]] = {
    "no credentials": (
        {},
        UsageError,
        (
            "access is denied, and no credentials are set; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, "
            "or spark.hadoop.fs.s3a.access.key and .secret.key"
        ),
    ),
    "another key": (OTHER_KEY, StorageError, DENIED),
    "no server": (
        {**OTHER_KEY, "fs.s3a.endpoint": "http://127.0.0.1:1"},
        StorageError,
        (
            "the store at http://127.0.0.1:1 cannot be reached (Could not connect to server); check "
            "AWS_ENDPOINT_URL or spark.hadoop.fs.s3a.endpoint, and the network"
        ),
    ),
}


@pytest.mark.parametrize("case", CONF)
def test_a_store_that_lets_nobody_in(
    s3: S3Server, bucket: str, case: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    conf, kind, sentence = CONF[case]
    settings = StorageSettings.of({"fs.s3a.endpoint": s3.endpoint, **conf}, {})
    with pytest.raises(TrellisError) as refused:
        Storage(settings).list_files(f"s3a://{bucket}/*.jsonl")
    assert type(refused.value) is kind
    assert str(refused.value) == f"s3a://{bucket}/*.jsonl: {sentence}"


def test_an_error_that_pyarrow_has_no_class_for() -> None:
    """As pyarrow raises it for Azure without credentials; nobody answers for Azure on loopback."""
    text = "Check for Hierarchical Namespace failed: Failed to get token from DefaultAzureCredential."
    location = "abfss://raw@acme.dfs.core.windows.net/x.csv"
    with pytest.raises(UsageError) as refused, explained(location, StorageSettings.of({}, {})):
        raise pa.ArrowException(text)
    assert str(refused.value) == (
        f"{location}: access is denied, and no credentials are set; set AZURE_STORAGE_ACCOUNT_KEY, or "
        "spark.hadoop.fs.azure.account.key.ACCOUNT.dfs.core.windows.net"
    )


def test_writing_where_nothing_can_be_written(s3: S3Server, bucket: str) -> None:
    with pytest.raises(UsageError) as missing:
        Storage(StorageSettings.of({})).write_file("s3a://no-such-bucket/x", b"x")
    sentence = f"there is no bucket 'no-such-bucket' at {s3.endpoint}; check the name"
    assert str(missing.value) == f"s3a://no-such-bucket/x: {sentence}"
    with pytest.raises(StorageError) as refused:
        Storage(StorageSettings.of({"fs.s3a.endpoint": s3.endpoint, **OTHER_KEY}, {})).write_file(
            f"s3a://{bucket}/x", b"x"
        )
    assert str(refused.value) == (
        f"s3a://{bucket}/x: the store refuses the credentials (INVALID_ACCESS_KEY_ID); check "
        "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or spark.hadoop.fs.s3a.access.key and .secret.key"
    )


# --- Settings --------------------------------------------------------------------------------------------


def test_settings_of_a_session_come_before_those_of_the_environment() -> None:
    conf = {
        "spark.hadoop.fs.s3a.endpoint": "http://minio:9000",
        "spark.hadoop.fs.s3a.access.key": "of-conf",
        "spark.hadoop.fs.s3a.bucket.raw.data.endpoint": "http://other:9000",
        "fs.s3a.endpoint.region": "of-session",
        "spark.app.name": "x",
        "spark.hadoop.fs.s3a.threads.max": "9",
    }
    environment = {
        "AWS_ENDPOINT_URL": "http://env:1",
        "AWS_ACCESS_KEY_ID": "of-environment",
        "AWS_SECRET_ACCESS_KEY": "of-environment",
        "AWS_SESSION_TOKEN": "of-environment",
        "AWS_DEFAULT_REGION": "of-environment",
        "AZURE_STORAGE_ACCOUNT": "acme",
    }
    settings = StorageSettings.of(conf, environment)
    assert dict(settings.properties) == {
        "fs.azure.account.name": "acme",
        "fs.s3a.access.key": "of-conf",
        "fs.s3a.bucket.raw.data.endpoint": "http://other:9000",
        "fs.s3a.endpoint": "http://minio:9000",
        "fs.s3a.endpoint.region": "of-session",
    }
    assert settings.get("fs.s3a.endpoint", "raw.data") == "http://other:9000"
    assert settings.get("fs.s3a.secret.key") is None


@pytest.mark.parametrize(
    ("conf", "options"),
    [
        ({}, {}),
        ({"endpoint": "s3.amazonaws.com"}, {}),
        (
            {"endpoint": "https://s3.eu-west-1.amazonaws.com/"},
            {"endpoint_override": "s3.eu-west-1.amazonaws.com", "scheme": "https", "region": "eu-west-1"},
        ),
        (
            {"endpoint": "minio:9000", "connection.ssl.enabled": "false", "path.style.access": "false"},
            {
                "endpoint_override": "minio:9000",
                "region": "us-east-1",
                "scheme": "http",
                "force_virtual_addressing": True,
            },
        ),
        (
            {
                "aws.credentials.provider": "org.apache.hadoop.fs.s3a.AnonymousAWSCredentialsProvider",
                "access.key": "not used",
            },
            {"anonymous": True},
        ),
        (
            {
                "access.key": "a",
                "secret.key": "b",
                "session.token": "c",
                "assumed.role.arn": "d",
                "endpoint.region": "eu-north-1",
            },
            {
                "region": "eu-north-1",
                "access_key": "a",
                "secret_key": "b",
                "session_token": "c",
                "role_arn": "d",
            },
        ),
    ],
)
def test_what_the_conf_of_s3a_means(conf: dict[str, str], options: dict[str, object]) -> None:
    settings = StorageSettings.of({f"spark.hadoop.fs.s3a.{name}": value for name, value in conf.items()}, {})
    assert s3_options("raw", settings) == options


def test_secrets_are_in_no_text(s3: S3Server) -> None:
    settings = StorageSettings.of(
        {"spark.hadoop.fs.azure.account.key.acme.dfs.core.windows.net": "azure-secret"}
    )
    plan = Plan(Schema("shop"), "t", "dlt", "1", "s3a://x/y", storage=Storage(settings))
    for text in (repr(settings), repr(plan), str(plan), f"{Storage(settings)}"):
        assert "***" in text
        assert not any(secret in text for secret in (SECRET_KEY, ACCESS_KEY, "azure-secret"))
    assert settings.redact(f"a {SECRET_KEY} b") == "a *** b"
    assert pickle.loads(pickle.dumps(plan)).storage.settings == settings


# --- Locations -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("location", "meant"),
    [
        ("in/x", "/base/in/x"),
        ("../x", "/base/../x"),
        ("/in/x", "/in/x"),
        ("file:///in/a%20b", "/in/a b"),
        ("file:/in/x", "/in/x"),
        ("file://localhost/in/x", "/in/x"),
        ("file://in/x", "/base/in/x"),
        ("s3a://bucket/in/x", "s3a://bucket/in/x"),
    ],
)
def test_a_location_is_absolute(location: str, meant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getcwd", lambda: "/base")
    assert absolute(location) == meant


@pytest.mark.parametrize(
    ("location", "path", "container", "account"),
    [
        ("s3a://raw/2026/", "raw/2026", "raw", ""),
        ("gs://raw", "raw", "raw", ""),
        ("abfss://raw@acme.dfs.core.windows.net/a/b", "raw/a/b", "raw", "acme.dfs.core.windows.net"),
        ("hdfs://me@node:8020/a/b", "/a/b", "", ""),
        ("hdfs:///a/b", "/a/b", "", ""),
    ],
)
def test_the_parts_of_a_url(location: str, path: str, container: str, account: str) -> None:
    url = parse_url(location)
    assert (url.path, url.container, url.account) == (path, container, account)
    assert url.url(url.path) == location.rstrip("/") + ("/" if location == "gs://raw" else "")
    assert is_remote(location)


def test_a_file_is_taken_as_it_is_whatever_its_name(place: Place) -> None:
    """Arrow would compress and decompress by the ending of the name."""
    place.storage.make_folder(place.root)
    place.storage.write_file(place.at("a.jsonl.gz"), b"plain")
    (file,) = place.storage.list_files(place.at("a.jsonl.gz"))
    assert (file.size, place.storage.read_head(file, 9)[0]) == (5, b"plain")


def test_a_stream_of_a_remote_file_is_a_buffered_one(s3: S3Server, bucket: str) -> None:
    """So few requests are made: not one for each line."""
    s3.put(f"{bucket}/a", b"x\n" * 100_000)
    s3.requests.clear()
    with Storage(StorageSettings.of({})).open_input(f"s3://{bucket}/a") as stream:
        assert isinstance(stream, io.BufferedReader)
        assert sum(1 for _ in stream) == 100_000
    assert len(s3.requests) == 2
