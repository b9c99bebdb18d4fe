"""The commands about tables that are loaded: verify, adopt, replay, archive, script."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from subprocess import PIPE, Popen

import duckdb
import pytest

from cli.conftest import Trellis
from dialects.snowplow.enriched import VESSEL_CALL, enriched_line, vessel_call, write_registry, write_run
from dialects.snowplow.loading.runs import TABLE
from trellis.dialects.snowplow.runs.loading.loader import RunLoader, RunReport
from trellis.dialects.snowplow.runs.manifest import COMPLETION_FILE

RUN = "run=2031-04-05-06-00-00"
WAREHOUSE = ("--schema", "registry", "--to", "duckdb:shop.duckdb")


@pytest.fixture
def loaded(trellis: Trellis, folder: Path) -> Trellis:
    """A run of one good event and two that failed, loaded by the first version of F."""
    write_registry(folder, "1-0-0")
    lines = [
        enriched_line(1, vessel_call("1-0-0", berth="A")),
        enriched_line(2, vessel_call("1-1-0", berth="B", draughtM=1.5)),
        "no event",
    ]
    write_run(folder, lines)
    shred = ("snowplow", "shred", ".", "--schema", "registry", "--out", "out", "--profile", "duckdb")
    assert trellis(*shred, "--engine", "inline").code == 0
    ran = trellis("snowplow", "load", "out", *WAREHOUSE)
    assert (ran.code, ran.err) == (0, "")
    missing = (
        f"{RUN}: when it was shredded the registry did not have {VESSEL_CALL}1-1-0; publish what is missing, "
        "and load the events that failed with `trellis snowplow replay`"
    )
    assert ran.out.splitlines()[-3:] == [
        f"{RUN}: 2 events failed, see table failed_events",
        missing,
        f"{RUN}: events in 3 = loaded 1 + failed 2 + dropped 0",
    ]
    write_registry(folder)
    return trellis


def change(*statements: str) -> None:
    with duckdb.connect("shop.duckdb") as db:
        for statement in statements:
            db.execute(statement)


def test_verify(loaded: Trellis) -> None:
    ran = loaded("snowplow", "verify", *WAREHOUSE)
    assert (ran.code, ran.err) == (0, "")
    assert [line.split() for line in ran.out.splitlines()] == [
        ["Table", "State", "Version", "Registry"],
        [TABLE, "behind", "1-0-0", "1-2-1"],
    ]
    change(f"ALTER TABLE atomic.{TABLE} DROP COLUMN arrived_at")
    assert loaded("snowplow", "verify", *WAREHOUSE, "--compat").code == 1
    ran = loaded("snowplow", "verify", TABLE, *WAREHOUSE, "--json")
    assert ran.code == 1
    assert ran.json == {
        "tables": [
            {
                "table": TABLE,
                "state": "altered",
                "version": f"{VESSEL_CALL}1-0-0",
                "last": f"{VESSEL_CALL}1-2-1",
                "reasons": ["missing arrived_at"],
            }
        ]
    }


def test_adopt(loaded: Trellis) -> None:
    change(
        f"ALTER TABLE atomic.{TABLE} RENAME COLUMN berth TO dock", f"COMMENT ON TABLE atomic.{TABLE} IS NULL"
    )
    adopt = ("snowplow", "adopt", TABLE, *WAREHOUSE, "--version", "1-0-0")
    ran = loaded(*adopt)
    assert ran.code == 1
    assert (
        f"{TABLE}.berth missing: the table has no column like it for /berth; name one with --column"
        in ran.out
    )
    assert ran.out.endswith(f"{TABLE} cannot be adopted as it is; nothing was changed")
    ran = loaded(*adopt, "--column", "/berth=dock")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.endswith(f"{TABLE} is {VESSEL_CALL}1-0-0")
    assert loaded("snowplow", "verify", *WAREHOUSE).code == 0
    assert loaded(*adopt).code == 0, "the name that was given stays known"
    change(f"ALTER TABLE atomic.{TABLE} RENAME COLUMN dock TO berth")
    assert loaded(*adopt).out.splitlines() == ["{}", f"{TABLE} is {VESSEL_CALL}1-0-0"]
    assert loaded("snowplow", "verify", *WAREHOUSE).code == 0
    ran = loaded("snowplow", "adopt", "events", *WAREHOUSE)
    assert ran.err.startswith("error: events has no schema, so there is nothing to adopt")
    ran = loaded(*adopt, "--column", "berth")
    assert (ran.code, ran.err) == (2, "error: --column berth: expected POINTER=NAME, such as /berth=dock")


def test_replay(loaded: Trellis) -> None:
    ran = loaded("snowplow", "replay", *WAREHOUSE, "--engine", "inline")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines()[:2] == [
        "2 failed events: 1 loaded",
        "  1 failed again: loader_parsing_error",
    ]
    with duckdb.connect("shop.duckdb") as db:
        assert db.execute(f"SELECT berth, draught_m FROM atomic.{TABLE} ORDER BY 1").fetchall() == [
            ("A", None),
            ("B", 1.5),
        ]
    ran = loaded("snowplow", "replay", *WAREHOUSE, "--engine", "inline", "-q")
    assert ran.out == "  1 failed again: loader_parsing_error"
    ran = loaded(
        "snowplow", "replay", *WAREHOUSE, "--engine", "inline", "--json", "--reason", "generic_error"
    )
    assert ran.json == {"tried": 0, "loaded": 0, "failed": {}, "tables": [], "statements": []}
    ran = loaded("snowplow", "replay", *WAREHOUSE, "--engine", "inline", "--reason", "schema_violation")
    assert ran.err == "error: --reason: there is no 'schema_violation': did you mean 'schema_violations'?"
    ran = loaded("snowplow", "replay", *WAREHOUSE, "--engine", "inline", "--of-schema", "org.harbor/x")
    assert (ran.code, ran.err[:28]) == (2, "error: --of-schema: 'org.har")


def test_archive(loaded: Trellis, folder: Path) -> None:
    ran = loaded("snowplow", "archive", "out", "--into", "archive", *WAREHOUSE)
    assert (ran.code, ran.err, ran.out) == (0, "", f"{RUN}: moved to archive/{RUN}")
    assert not (folder / "out" / RUN).exists()
    ran = loaded(
        "snowplow", "load", "archive", "--schema", "registry", "--to", "duckdb:other.duckdb", "--json"
    )
    assert [run["state"] for run in ran.json["runs"]] == ["loaded"]


def test_script(loaded: Trellis) -> None:
    shred = ("snowplow", "shred", ".", "--schema", "registry", "--out", "shredded", "--engine", "inline")
    assert loaded(*shred).code == 0
    script = ("snowplow", "script", "shredded", "--schema", "registry", "--iam-role", "arn:aws:iam::1:role/x")
    ran = loaded(*script, "--stage", "s3://acme/shredded")
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.splitlines()
    assert (lines[0], lines[1], lines[-1]) == (f"-- {RUN}", "BEGIN TRANSACTION;", "END TRANSACTION;")
    [run] = loaded(*script, "--stage", "s3://acme/shredded", "--json").json["runs"]
    assert (run["run"], run["sql"].rstrip("\n")) == (RUN, ran.out)
    ran = loaded(*script, "--stage", "/shredded")
    assert ran.code == 2
    assert ran.err.startswith(
        "error: --stage /shredded: Redshift copies from S3; name the folder of the runs"
    )


def test_runs_before_one_that_is_refused_are_shown(loaded: Trellis, folder: Path) -> None:
    later = "run=2031-04-06-06-00-00"
    shutil.copytree(folder / "out" / RUN, folder / "out" / later)
    (folder / "out" / later / COMPLETION_FILE).write_text("{}")
    ran = loaded("snowplow", "load", "out", *WAREHOUSE)
    assert (ran.code, ran.out.splitlines()[-1].split()) == (2, [RUN, "already", "loaded"])
    assert loaded("snowplow", "load", "out", *WAREHOUSE, "-q").out == ""
    assert RUN in loaded("snowplow", "status", "out", *WAREHOUSE, "-q", "--until", "2031-04-06").out
    assert ran.err.startswith(
        f"error: out/{later}: shredding_complete.json and families.json are not those of a"
    )
    ran = loaded("snowplow", "load", "out", *WAREHOUSE, "--json")
    assert [(run["run"], run["state"]) for run in ran.json["runs"]] == [(RUN, "already loaded")]
    assert (ran.code, ran.json["error"]["code"]) == (2, "schema")
    ran = loaded("snowplow", "archive", "out", "--into", "archive", *WAREHOUSE, "--json")
    assert ran.json["runs"] == [{"run": RUN, "archived": f"archive/{RUN}"}]
    assert ran.json["error"]["message"] == ran.err.removeprefix("error: ")


def test_runs_before_ctrl_c_are_shown(loaded: Trellis, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(folder / "out" / RUN, folder / "out" / "run=2031-04-06-06-00-00")
    load_run = RunLoader.load_run

    def stopped_load(loader: RunLoader, run: Path) -> RunReport:
        if run.name != RUN:
            raise KeyboardInterrupt
        return load_run(loader, run)

    monkeypatch.setattr(RunLoader, "load_run", stopped_load)
    ran = loaded("snowplow", "load", "out", *WAREHOUSE, "--json")
    assert (ran.code, ran.err) == (130, "stopped")
    assert [(run["run"], run["state"]) for run in ran.json["runs"]] == [(RUN, "already loaded")]


def test_options_that_do_not_exist(loaded: Trellis) -> None:
    ran = loaded("snowplow", "load", "out", *WAREHOUSE, "--verify", "counts")
    assert (ran.code, ran.err) == (2, "error: --verify: there is no 'counts': did you mean 'count'?")
    assert [
        run["state"] for run in loaded("snowplow", "status", "out", *WAREHOUSE, "--json").json["runs"]
    ] == ["loaded"]
    ran = loaded("snowplow", "status", "out", *WAREHOUSE)
    assert [line.split() for line in ran.out.splitlines()] == [["Run", "State"], [RUN, "loaded"]]
    ran = loaded("snowplow", "status", "out", *WAREHOUSE, "--json", "--since", "2031-04-06")
    assert ran.json == {"runs": []}


def test_a_run_without_its_completion_file_says_what_to_do(loaded: Trellis, folder: Path) -> None:
    (folder / "out" / RUN / COMPLETION_FILE).unlink()
    note = (
        f"{RUN}: it has no shredding_complete.json; wait for its shredder to end, or delete the folder and "
        "shred the run again"
    )
    for command in ("status", "load"):
        ran = loaded("snowplow", command, "out", *WAREHOUSE)
        assert (ran.code, ran.out.splitlines()[-1]) == (0, note)


def test_a_duckdb_file_that_another_process_holds(loaded: Trellis, folder: Path) -> None:
    program = (
        "import duckdb, sys; file = duckdb.connect('shop.duckdb'); print(1, flush=True); sys.stdin.read()"
    )
    with Popen([sys.executable, "-c", program], stdin=PIPE, stdout=PIPE, cwd=folder) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        ran = loaded("snowplow", "status", "out", *WAREHOUSE)
        holder.communicate()
    assert ran.code == 3
    assert ran.err.startswith("error: shop.duckdb: another process holds the file (")
    assert ran.err.endswith(f"(PID {holder.pid})); close it and try again")


def test_commands_that_look_make_no_file(loaded: Trellis, folder: Path) -> None:
    where = ("--schema", "registry", "--to", "duckdb:mistyped.duckdb")
    adopt = ("adopt", "vessel_call", "--version", "iglu:org.harbor/vessel_call/jsonschema/1-0-0", "--dry-run")
    ran = loaded("snowplow", "status", "out", *where, "--json")
    assert (ran.code, [(run["run"], run["state"]) for run in ran.json["runs"]]) == (0, [(RUN, "unloaded")])
    replay = ("replay", "--engine", "inline")
    for words in (("verify",), ("archive", "out", "--into", "archive"), adopt, adopt[:-1], replay):
        ran = loaded("snowplow", *words, *where)
        assert (ran.code, ran.err) == (
            3,
            "error: mistyped.duckdb: no such file; expected the DuckDB file that runs are loaded into",
        )
    ran = loaded("snowplow", "load", "output", *where)
    assert (ran.code, ran.err) == (
        2,
        "error: output: there is no such folder; expected a run, or a folder of runs",
    )
    assert not (folder / "mistyped.duckdb").exists()


def test_load_into_delta(trellis: Trellis, folder: Path) -> None:
    write_registry(folder)
    write_run(folder, [enriched_line(1, vessel_call("1-0-0", berth="A"))])
    shred = ("snowplow", "shred", ".", "--schema", "registry", "--out", "out", "--format", "parquet")
    assert trellis(*shred, "--engine", "inline").code == 0
    lake = ("--schema", "registry", "--to", "delta:lake")
    ran = trellis("snowplow", "load", "out", *lake, "--json")
    assert (ran.code, ran.json["runs"][0]["state"]) == (0, "loaded")
    ran = trellis("snowplow", "verify", *lake, "--json")
    assert [(table["table"], table["state"]) for table in ran.json["tables"]] == [(TABLE, "behind")]
    ran = trellis("snowplow", "replay", *lake)
    assert (ran.code, ran.out) == (0, "0 failed events: 0 loaded")


def test_tables_of_trellis_load_are_taken_over(trellis: Trellis, folder: Path) -> None:
    """Their comment is the version that they are at, as the loader's own."""
    write_registry(folder, "1-0-0 1-1-0")
    write_run(folder, [enriched_line(1, vessel_call("1-1-0", berth="A", draughtM=1.5))])
    load = ("load", f"{RUN}/", "--dialect", "snowplow", "--dataset", "atomic", "--engine", "inline")
    assert trellis(*load, *WAREHOUSE).code == 0
    write_registry(folder)
    (folder / "later").mkdir()
    lines = [enriched_line(2, vessel_call("1-2-1", berth="B", tugCount=2)), "no event"]
    write_run(folder / "later", lines, "run=2031-04-06-06-00-00")
    shred = ("snowplow", "shred", "later", "--schema", "registry", "--out", "out", "--profile", "duckdb")
    assert trellis(*shred, "--engine", "inline").code == 0
    query = f"SELECT comment FROM duckdb_tables() WHERE table_name = '{TABLE}'"
    with duckdb.connect("shop.duckdb") as db:
        assert db.execute(query).fetchall() == [(f"{VESSEL_CALL}1-1-0",)]
    ran = trellis("snowplow", "load", "out", *WAREHOUSE, "--verify", "definition")
    assert (ran.code, ran.err) == (0, "")
    with duckdb.connect("shop.duckdb") as db:
        assert db.execute(query).fetchall() == [(f"{VESSEL_CALL}1-2-1",)]
        assert db.execute(
            f"SELECT berth, draught_m, tug_count FROM atomic.{TABLE} ORDER BY 1"
        ).fetchall() == [
            ("A", 1.5, None),
            ("B", None, 2),
        ]
        assert db.execute("SELECT count(*) FROM atomic.events").fetchall() == [(2,)]
