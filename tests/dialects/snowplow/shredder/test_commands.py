"""Events of Snowplow on the command line: loaded at once, or shredded and then loaded."""

from __future__ import annotations

import shutil
from pathlib import Path

from cli.conftest import Trellis
from dialects.snowplow.enriched import enriched_line, vessel_call, write_registry, write_run

RUN = "run=2031-04-05-06-00-00"
TABLE = "org_harbor_vessel_call_1"


def test_load(trellis: Trellis, folder: Path) -> None:
    write_registry(folder)
    write_run(folder, [enriched_line(1, vessel_call("1-0-0", berth="A")), "no event"])
    ran = trellis(
        *("load", f"{RUN}/", "--dialect", "snowplow", "--schema", "registry", "--to", "duckdb:shop.duckdb"),
        *("--dataset", "atomic", "--json"),
    )
    assert (ran.code, ran.err) == (0, "")
    assert ran.json["rows"] == {"in": 2, "loaded": 1, "rejected": 1, "dropped": 0}
    assert ran.json["rejects"] == {"count": 1, "by_reason": {"loader_parsing_error": 1}}


def test_shred_load_and_status(trellis: Trellis, folder: Path) -> None:
    write_registry(folder)
    write_run(folder, [enriched_line(1, vessel_call("1-1-0", berth="A"))])
    shred = (
        "snowplow",
        "shred",
        ".",
        "--schema",
        "registry",
        "--out",
        "out",
        "--profile",
        "duckdb",
        "--json",
    )
    ran = trellis(*shred)
    assert (ran.code, ran.err) == (0, "")
    [run] = ran.json["runs"]
    assert run["rows"] == {"in": 1, "loaded": 1, "rejected": 0, "dropped": 0}
    place = ("out", "--schema", "registry", "--to", "duckdb:shop.duckdb", "--json")
    states = [
        trellis("snowplow", command, *place).json["runs"] for command in ("status", "load", "status", "load")
    ]
    assert [[(run["run"], run["state"]) for run in runs] for runs in states] == [
        [(RUN, "unloaded")],
        [(RUN, "loaded")],
        [(RUN, "loaded")],
        [(RUN, "already loaded")],
    ]
    assert states[1][0]["tables"] == [{"name": TABLE, "rows": 1}, {"name": "events", "rows": 1}]


def test_the_report_of_a_run_says_where_bad_events_are(trellis: Trellis, folder: Path) -> None:
    write_registry(folder)
    write_run(folder, [enriched_line(1, vessel_call("1-0-0", berth="A")), "no event"])
    shred = ("snowplow", "shred", ".", "--schema", "registry", "--out", "out", "--engine", "inline")
    ran = trellis(*shred)
    bad = f"out/{RUN}/output=bad/vendor=com.snowplowanalytics.snowplow.badrows"
    assert f"1 row rejected; see {bad} for the lines and reasons" in ran.out
    assert (folder / bad / "name=loader_parsing_error").is_dir()
    assert f"{TABLE}     1  table, 11 columns: schema_vendor" in ran.out
    assert "rows in 2 = loaded 1 + rejected 1 + dropped 0" in ran.out
    assert trellis(*shred, "-q").out == ""


def test_rows_wait_in_another_folder(trellis: Trellis, folder: Path) -> None:
    write_registry(folder)
    write_run(folder, [enriched_line(1, vessel_call("1-0-0", berth="A"))])
    (folder / "file").touch()
    shred = ("snowplow", "shred", ".", "--schema", "registry", "--out", "out", "--engine", "inline")
    ran = trellis(*shred, "--staging", "file/stage")
    assert ran.code == 3
    assert "rows cannot be staged there (Not a directory); check the path" in ran.err
    ran = trellis(*shred, "--staging", "stage")
    assert (ran.code, ran.err) == (0, "")
    assert [path.name for path in (folder / "out").iterdir()] == [RUN]
    assert [*(folder / "stage").iterdir()] == []


def test_runs_before_one_that_is_refused_are_shown(trellis: Trellis, folder: Path) -> None:
    later = "run=2031-04-06-06-00-00"
    write_registry(folder)
    write_run(folder, [enriched_line(1, vessel_call("1-0-0", berth="A"))])
    write_run(folder, [enriched_line(2, vessel_call("1-0-0", berth="B"))], later)
    (folder / "out" / later).mkdir(parents=True)
    shred = ("snowplow", "shred", ".", "--schema", "registry", "--out", "out", "--engine", "inline")
    ran = trellis(*shred, "--json")
    assert ran.code == 2
    assert [run["rows"]["loaded"] for run in ran.json["runs"]] == [1]
    assert ran.json["error"]["message"] == (
        f"out/{later}: an incomplete run is in the way; delete the folder, or name another with --out"
    )
    shutil.rmtree(folder / "out" / RUN)
    assert trellis(*shred).out.splitlines()[0] == f"Loaded . into out/{RUN}"


def test_a_run_without_files_does_not_stop_those_after_it(trellis: Trellis, folder: Path) -> None:
    """Nor does one that is incomplete where runs are written; it is named when the others are done."""
    write_registry(folder)
    empty, incomplete, last = "run=2031-04-04-06-00-00", RUN, "run=2031-04-06-06-00-00"
    (folder / "runs" / empty).mkdir(parents=True)
    (folder / "runs" / empty / "_SUCCESS").touch()
    for number, name in enumerate((incomplete, last)):
        write_run(folder / "runs", [enriched_line(number, vessel_call("1-0-0", berth="A"))], name)
    (folder / "out" / incomplete).mkdir(parents=True)
    shred = ("snowplow", "shred", "runs", "--schema", "registry", "--out", "out", "--engine", "inline")
    ran = trellis(*shred, "--json")
    note = (
        f"runs/{empty}: the run has no files and was passed over; shred again when they are there, or delete "
        "the folder"
    )
    assert [(run["load_id"], run["rows"]["in"], run["notes"]) for run in ran.json["runs"]] == [
        (empty, 0, [note]),
        (last, 1, []),
    ]
    assert (ran.code, ran.json["error"]["message"]) == (
        2,
        f"out/{incomplete}: an incomplete run is in the way; delete the folder, or name another with --out",
    )
    (folder / "out" / incomplete).rmdir()
    ran = trellis(*shred)
    assert (ran.code, ran.out.splitlines()[0]) == (0, note)
    assert sorted(path.name for path in (folder / "out").iterdir()) == [incomplete, last]
    ran = trellis("snowplow", "shred", f"runs/{empty}", *shred[3:])
    assert (ran.code, ran.err) == (
        2,
        f"error: runs/{empty}: the folder holds no files; check the path, or wait until they are there",
    )


def test_options_that_do_not_exist(trellis: Trellis, folder: Path) -> None:
    write_registry(folder)
    write_run(folder, [enriched_line(1)])
    shred = ("snowplow", "shred", ".", "--schema", "registry", "--out", "out")
    ran = trellis(*shred, "--format", "avro")
    assert (ran.code, ran.err) == (
        2,
        "error: --format: there is no 'avro': it may be one of csv, parquet, orc, json",
    )
    ran = trellis(*shred, "--option", "validat=false")
    assert (ran.code, ran.err) == (2, "error: --option: there is no 'validat': did you mean 'validate'?")
    ran = trellis("snowplow", "load", ".", "--schema", "registry", "--to", "parquet:x")
    assert ran.code == 2
    assert "runs are loaded into duckdb:PATH, delta:PATH and postgresql://..." in ran.err
