"""Which Spark a load runs on, and that it leaves a session of the user's as it was."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from trellis.cli.app import run
from trellis.engine.spark import session as sessions
from trellis.engine.spark.job import SparkRunner
from trellis.engine.spark.session import cores_of, get_session
from trellis.errors import SparkError, UsageError
from trellis.pipelines.pipeline import Pipeline

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture
def source(tmp_path: Path) -> str:
    (tmp_path / "x.jsonl").write_text('{"id":1}\n{"id":2}\n')
    return str(tmp_path / "x.jsonl")


def settings(session: SparkSession) -> dict[str, str]:
    return {**dict(session.sparkContext.getConf().getAll()), **session.conf.getAll}


def test_the_settings_of_an_active_session_stay(tmp_path: Path, spark: SparkSession, source: str) -> None:
    spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    try:
        spark.range(1).collect()  # extensions of the tests' session set their own conf with its first query
        before = settings(spark)
        shop = Pipeline("shop", f"duckdb:{tmp_path}/x.duckdb", engine="spark")
        shop.load(source, table="files")
        shop.load(spark.range(3), table="frame")
        assert settings(spark) == before
        assert spark.getTags() == set()
    finally:
        spark.conf.unset("spark.sql.session.timeZone")
    assert get_session() is spark


def test_a_session_is_active_in_other_threads_too(tmp_path: Path, spark: SparkSession, source: str) -> None:
    before = settings(spark)
    reports: list[Any] = []
    shop = Pipeline("shop", f"duckdb:{tmp_path}/x.duckdb", engine="spark")
    thread = threading.Thread(target=lambda: reports.append(shop.load(source)))
    thread.start()
    thread.join()
    assert reports[0].rows.loaded == 2
    assert settings(spark) == before


def test_one_process_has_one_spark(tmp_path: Path, spark: SparkSession, source: str) -> None:
    loaded = Pipeline("shop", f"duckdb:{tmp_path}/x.duckdb", master="local[2]").load(source)
    assert loaded.rows.loaded == 2
    with pytest.raises(
        UsageError,
        match=r"Spark at local\[7\] cannot be used: a Spark session at local\[2\] runs in this "
        r"process already; use it \(name no master and no remote\), or stop it first",
    ):
        Pipeline("shop", f"duckdb:{tmp_path}/x.duckdb", master="local[7]").load(source)
    with pytest.raises(UsageError, match="Spark at sc://nowhere cannot be used"):
        Pipeline("shop", f"duckdb:{tmp_path}/x.duckdb", remote="sc://nowhere").load(source)


def test_what_is_in_memory_needs_no_spark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(*_: Any) -> None:
        raise AssertionError("a Spark was asked for")

    monkeypatch.setattr(sessions, "start_session", none)
    monkeypatch.setattr(SparkRunner, "session", property(none))
    import pyarrow as pa

    shop = Pipeline("shop", f"duckdb:{tmp_path}/x.duckdb", engine="spark")
    assert shop.load([{"id": 1}], table="items").rows.loaded == 1
    assert shop.load(pa.table({"id": [1, 2]}), table="arrow").rows.loaded == 2
    assert shop.run([{"id": 1}], table_name="rows").rows.loaded == 1


def test_the_cores_of_a_session(spark: SparkSession) -> None:
    assert cores_of(spark) == 2


@pytest.mark.parametrize("master", ["local[2", "local[0]", "lokal", "local[2,]", ""])
def test_a_malformed_master(tmp_path: Path, source: str, master: str) -> None:
    with pytest.raises(UsageError, match="is no address of Spark; write local"):
        sessions.check_master(master)


@pytest.mark.parametrize(
    "master", ["local", "local[*]", "local[2]", "local[*, 3]", "yarn", "spark://a:1,b:2", "k8s://https://c"]
)
def test_masters(master: str) -> None:
    sessions.check_master(master)


def test_connect_without_grpcio(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "find_spec", lambda _: None)
    with pytest.raises(
        SparkError,
        match=r"--remote sc://host needs grpcio, which is not installed; "
        r"pip install 'trellis-spark\[connect\]'",
    ):
        sessions.connect("sc://host")


def test_a_connect_server_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.jsonl").write_text('{"id": 1}\n')
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"sc://127.0.0.1:{server.getsockname()[1]}"
    command = ["load", f"{tmp_path}/a.jsonl", "--to", f"duckdb:{tmp_path}/x.duckdb", "--engine", "spark"]
    assert run([*command, "--remote", f"{address}/;token=secret"]) == 3
    assert capsys.readouterr().err == (
        f"error: {address}/: no Spark Connect server answers there (Connection refused); check host and "
        "port, or start one with sbin/start-connect-server.sh\n"
    )


def test_a_worker_imports_what_it_needs() -> None:
    code = "import sys, trellis.engine.spark.job; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    imported = {name.partition(".")[0] for name in done.stdout.split()}
    assert {"trellis", "pyarrow", "orjson"} <= imported
    assert not imported & {
        "duckdb",
        "rich",
        "typer",
        "ruamel",
        "pyspark",
        "psycopg",
        "sqlglot",
        "pandas",
        "http",
    }


def test_a_usage_error_does_not_wait_for_spark(tmp_path: Path, source: str) -> None:
    command = [sys.executable, "-m", "trellis.cli", "load", source, "--engine", "spark", "--mode", "apend"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "error: there is no mode 'apend': did you mean 'append'?\n"


def test_output_for_a_program_is_one_object(tmp_path: Path, source: str) -> None:
    command = [sys.executable, "-m", "trellis.cli", "load", source, "--engine", "spark", "--json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["rows"] == {"in": 2, "loaded": 2, "rejected": 0, "dropped": 0}
