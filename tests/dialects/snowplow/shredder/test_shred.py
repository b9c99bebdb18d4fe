"""Runs of enriched events, shredded into run folders."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path
from typing import Any

import duckdb
import pytest
from pyarrow import orc

from dialects.snowplow.enriched import (
    VESSEL_CALL,
    enriched_line,
    event_id,
    vessel_call,
    write_registry,
    write_run,
)
from dialects.snowplow.families import document
from trellis.dialects.snowplow.client.references import RegistryReferences
from trellis.dialects.snowplow.runs.event_store import SqliteEventStore
from trellis.dialects.snowplow.runs.manifest import RunManifest
from trellis.dialects.snowplow.runs.shredder import Shredder
from trellis.engine.runner import InlineRunner
from trellis.errors import UsageError
from trellis.pipelines.report import Report

RUN = "run=2031-04-05-06-00-00"
FAMILY = "vendor=org.harbor/name=vessel_call/model=1"


def shred(folder: Path, registry: str, **options: Any) -> list[Report]:
    shredder = Shredder(folder / "out", RegistryReferences.open(registry), InlineRunner(), **options)
    return list(shredder.shred(str(folder)))


def files(folder: Path) -> list[str]:
    return sorted(
        path.relative_to(folder / "out").as_posix() for path in folder.glob("out/**/*") if path.is_file()
    )


def lines(path: Path) -> list[list[str]]:
    return [line.split("\t") for line in path.read_text().splitlines()]


def test_r81_files_of_a_family_have_its_merged_columns(tmp_path: Path) -> None:
    """S-53: the run folder of the family; S-54: then the manifest."""
    events = [
        enriched_line(1, vessel_call("1-2-1", berth="K7\tnorth", cargo="x", tugCount=2, pilot=True)),
        enriched_line(
            2, contexts=[vessel_call("1-0-1", berth="A", cargo="\\N"), vessel_call("1-0-0", berth="")]
        ),
        enriched_line(3, vessel_call("1-0-0")),
    ]
    write_run(tmp_path, events)
    [report] = shred(tmp_path, write_registry(tmp_path), settings={"validate": "false"})
    assert (report.rows.read, report.rows.loaded, report.rows.rejected) == (3, 3, 0)
    assert files(tmp_path) == [
        f"{RUN}/families.json",
        f"{RUN}/shredding_complete.json",
        f"{RUN}/vendor=com.snowplowanalytics.snowplow/name=atomic/model=1/part-00000.txt",
        f"{RUN}/{FAMILY}/part-00000.txt",
    ]
    rows = lines(tmp_path / "out" / RUN / FAMILY / "part-00000.txt")
    assert [len(row) for row in rows] == [16, 16, 16, 16]
    assert rows[0] == [
        *("org.harbor", "vessel_call", "jsonschema", "1-2-1", event_id(1), "2031-04-05 06:00:00.123"),
        *("events", '["events","vessel_call"]', "events"),
        *("K7 north", r"\N", r"\N", r"\N", "1", "x", "2"),
    ]
    assert [row[9:] for row in rows[1:]] == [
        ["A", *[r"\N"] * 4, r"\\N", r"\N"],
        ["", *[r"\N"] * 6],
        [r"\N"] * 7,
    ]
    [atomic, *_] = lines(
        tmp_path / "out" / RUN / "vendor=com.snowplowanalytics.snowplow/name=atomic/model=1/part-00000.txt"
    )
    assert len(atomic) == 128
    assert (atomic[3], atomic[6], atomic[0]) == ("2031-04-05 06:00:00.123", event_id(1), "")


def test_the_manifest_says_what_was_met(tmp_path: Path) -> None:
    """S-59: only the schemas that are used; S-56: not what was published since."""
    events = [
        enriched_line(1, vessel_call("1-1-0", berth="A"), collector_tstamp="2031-04-05 06:00:00.5"),
        enriched_line(2, contexts=[vessel_call("1-0-0", berth="B")]),
        enriched_line(3, vessel_call("9-0-0")),
    ]
    write_run(tmp_path, events)
    shred(tmp_path, write_registry(tmp_path))
    folder = tmp_path / "out" / RUN
    completion = json.loads((folder / "shredding_complete.json").read_text())
    assert completion["schema"].endswith("/shredding_complete/jsonschema/2-0-1")
    data = completion["data"]
    assert sorted(data) == ["base", "compression", "count", "processor", "timestamps", "typesInfo"]
    assert data["base"] == f"{folder}/"
    assert data["count"] == {"good": 2, "bad": 1}
    assert (data["timestamps"]["min"], data["timestamps"]["max"]) == (
        "2031-04-05T06:00:00.123+00:00",
        "2031-04-05T06:00:00.500+00:00",
    )
    assert data["typesInfo"] == {
        "transformation": "SHREDDED",
        "types": [
            {"schemaKey": f"{VESSEL_CALL}1-0-0", "format": "TSV", "snowplowEntity": "CONTEXT"},
            {"schemaKey": f"{VESSEL_CALL}1-1-0", "format": "TSV", "snowplowEntity": "SELF_DESCRIBING_EVENT"},
        ],
    }
    manifest = RunManifest.read(folder)
    assert [(table.table, table.keys, table.path, table.rows) for table in manifest.tables] == [
        ("org_harbor_vessel_call_1", (f"{VESSEL_CALL}1-0-0", f"{VESSEL_CALL}1-1-0"), FAMILY, 2)
    ]
    assert manifest.tables[0].columns[9:] == ("berth", "arrived_at", "draught_m")


def test_bad_rows_keep_their_line_in_a_folder_of_their_kind(tmp_path: Path) -> None:
    line = enriched_line(3, vessel_call("9-0-0"))
    write_run(tmp_path, [line, "no event"])
    [report] = shred(tmp_path, write_registry(tmp_path))
    assert (report.rows.loaded, report.rows.rejected) == (0, 2)
    bad = tmp_path / "out" / RUN / "output=bad/vendor=com.snowplowanalytics.snowplow.badrows"
    [row] = [json.loads(text) for text in (bad / "name=loader_iglu_error/part-00000.jsonl").open()]
    assert row["data"]["payload"] == line
    assert row["data"]["failure"] == {"message": f"{VESSEL_CALL}9-0-0 is not in {tmp_path / 'registry'}"}
    assert (bad / "name=loader_parsing_error/part-00000.jsonl").is_file()


def test_a_run_that_is_there_is_passed_over(tmp_path: Path) -> None:
    write_run(tmp_path, [enriched_line(1)])
    registry = write_registry(tmp_path)
    shred(tmp_path, registry)
    before = (tmp_path / "out" / RUN / "shredding_complete.json").read_text()
    write_run(tmp_path, [enriched_line(2)], "run=2031-04-05-07-00-00")
    first, second = shred(tmp_path, registry)
    assert (first.already_loaded, second.already_loaded, second.rows.loaded) == (True, False, 1)
    assert (tmp_path / "out" / RUN / "shredding_complete.json").read_text() == before


def test_b17_a_run_folder_without_completion_file_is_not_written_over(tmp_path: Path) -> None:
    write_run(tmp_path, [enriched_line(1)])
    (tmp_path / "out" / RUN).mkdir(parents=True)
    with pytest.raises(UsageError) as refusal:
        shred(tmp_path, write_registry(tmp_path))
    assert str(refusal.value) == (
        f"{tmp_path}/out/{RUN}: an incomplete run is in the way; delete the folder, or name another with "
        "--out"
    )


def test_gzip(tmp_path: Path) -> None:
    write_run(tmp_path, [enriched_line(1, vessel_call("1-0-0", berth="A"))])
    shred(tmp_path, write_registry(tmp_path), compression="GZIP")
    with gzip.open(tmp_path / "out" / RUN / FAMILY / "part-00000.txt.gz", "rt") as file:
        assert file.read().split("\t")[9:] == ["A", "\\N\n"]


def test_files_that_are_called_tsv_are_lines_of_events(tmp_path: Path) -> None:
    run = write_run(tmp_path, [enriched_line(1, vessel_call("1-0-0", berth="A"))])
    (run / "part-00000").rename(run / "part-00000.tsv")
    [report] = shred(tmp_path, write_registry(tmp_path))
    assert (report.rows.loaded, report.rows.rejected) == (1, 0)
    assert [row[9:] for row in lines(tmp_path / "out" / RUN / FAMILY / "part-00000.txt")] == [["A", r"\N"]]


def test_seed_s81_parquet_of_many_runs_is_one_table_although_columns_were_added(tmp_path: Path) -> None:
    write_run(tmp_path, [enriched_line(1, vessel_call("1-0-0", berth="A"))])
    write_run(
        tmp_path, [enriched_line(2, vessel_call("1-1-0", berth="B", draughtM=1.5))], "run=2031-04-05-07-00-00"
    )
    shred(tmp_path, write_registry(tmp_path), format="parquet")
    pattern = f"{tmp_path}/out/*/{FAMILY}/*.parquet"
    rows = duckdb.sql(
        f"SELECT berth, draught_m, name FROM read_parquet('{pattern}', union_by_name=true) ORDER BY berth"
    )
    assert rows.fetchall() == [("A", None, "vessel_call"), ("B", 1.5, "vessel_call")]


def test_seed_s82_orc(tmp_path: Path) -> None:
    write_run(tmp_path, [enriched_line(1, vessel_call("1-1-0", berth="A", draughtM=2.5))])
    shred(tmp_path, write_registry(tmp_path), format="orc")
    table = orc.read_table(tmp_path / "out" / RUN / FAMILY / "part-00000.orc")
    assert table.select(["root_id", "berth", "draught_m"]).to_pylist() == [
        {"root_id": event_id(1), "berth": "A", "draught_m": 2.5}
    ]


def test_a_version_that_does_not_fit_has_files_of_its_own(tmp_path: Path) -> None:
    versions = [
        document("1-0-0", {"size": {"type": "integer"}}),
        document("1-0-1", {"size": {"type": "string", "maxLength": 5}}),
    ]
    write_run(
        tmp_path,
        [enriched_line(1, vessel_call("1-0-0", size=1)), enriched_line(2, vessel_call("1-0-1", size="XL"))],
    )
    shred(tmp_path, write_registry(tmp_path, documents=versions))
    folder = tmp_path / "out" / RUN / FAMILY
    assert [row[9:] for row in lines(folder / "part-00000.txt")] == [["1"]]
    assert [row[9:] for row in lines(folder / "recovered=1-0-1/part-00000.txt")] == [["XL"]]


def test_r84_copies_are_dropped_and_events_that_share_an_id_get_new_ones(tmp_path: Path) -> None:
    call = vessel_call("1-0-0", berth="A")
    write_run(
        tmp_path,
        [
            enriched_line(1, call, event_fingerprint="f", etl_tstamp="2031-04-05 06:00:02", app_id="later"),
            enriched_line(1, call, event_fingerprint="f", etl_tstamp="2031-04-05 06:00:01", app_id="first"),
            enriched_line(2, call, event_fingerprint="f"),
            enriched_line(2, call, event_fingerprint="g"),
            enriched_line(3, call),
        ],
    )
    [report] = shred(tmp_path, write_registry(tmp_path))
    assert (report.rows.read, report.rows.loaded, report.rows.dropped) == (5, 4, 1)
    assert {table.name: table.rows for table in report.tables} == {
        "events": 4,
        "org_harbor_vessel_call_1": 4,
        "com_snowplowanalytics_snowplow_duplicate_1": 2,
    }
    folder = tmp_path / "out" / RUN
    atomic = lines(folder / "vendor=com.snowplowanalytics.snowplow/name=atomic/model=1/part-00000.txt")
    ids = [row[6] for row in atomic]
    assert [row[0] for row in atomic] == ["first", "", "", ""]
    assert (ids[0], ids[3]) == (event_id(1), event_id(3))
    assert len({*ids}) == 4
    assert event_id(2) not in ids
    assert [row[4] for row in lines(folder / FAMILY / "part-00000.txt")] == ids
    duplicates = lines(folder / "vendor=com.snowplowanalytics.snowplow/name=duplicate/model=1/part-00000.txt")
    assert sorted((row[4], row[9]) for row in duplicates) == sorted((id_, event_id(2)) for id_ in ids[1:3])
    manifest = RunManifest.read(folder)
    assert manifest.good == 4
    duplicate = "iglu:com.snowplowanalytics.snowplow/duplicate/jsonschema/1-0-0"
    assert (duplicate, "CONTEXT", "TSV") in manifest.types


@pytest.mark.parametrize(("kind", "dropped"), [("natural", 1), ("none", 0)])
def test_duplicates_may_stay(tmp_path: Path, kind: str, dropped: int) -> None:
    write_run(tmp_path, [enriched_line(1, event_fingerprint=text) for text in "ffg"])
    [report] = shred(tmp_path, write_registry(tmp_path), deduplication=kind)
    assert report.rows.dropped == dropped
    rows = lines(
        tmp_path / "out" / RUN / "vendor=com.snowplowanalytics.snowplow/name=atomic/model=1/part-00000.txt"
    )
    assert [row[6] for row in rows] == [event_id(1)] * (3 - dropped)


def test_r85_copies_of_events_of_earlier_runs_are_dropped(tmp_path: Path) -> None:
    registry, store = write_registry(tmp_path), SqliteEventStore(str(tmp_path / "events.db"))
    call, other = vessel_call("1-0-0", berth="A"), {"etl_tstamp": "2031-04-05 07:00:00"}
    first = [enriched_line(1, call, event_fingerprint="f", etl_tstamp="2031-04-05 06:00:00")]
    write_run(tmp_path, first)
    [report] = shred(tmp_path, registry, store=store)
    assert (report.rows.loaded, report.rows.dropped) == (1, 0)
    shutil.rmtree(tmp_path / "out")
    [again] = shred(tmp_path, registry, store=store)
    assert (again.rows.loaded, again.rows.dropped) == (1, 0)
    later = [
        enriched_line(1, call, event_fingerprint="f", **other),
        enriched_line(1, call, event_fingerprint="g", **other),
        enriched_line(2, call, **other),
    ]
    write_run(tmp_path, later, "run=2031-04-05-07-00-00")
    [_, report] = shred(tmp_path, registry, store=store)
    assert (report.rows.read, report.rows.loaded, report.rows.dropped) == (3, 2, 1)
    atomic = "vendor=com.snowplowanalytics.snowplow/name=atomic/model=1/part-00000.txt"
    rows = lines(tmp_path / "out/run=2031-04-05-07-00-00" / atomic)
    assert [row[6] for row in rows] == [event_id(1), event_id(2)]


@pytest.mark.parametrize(
    ("format", "profile"), [("csv", "redshift"), ("csv", "postgres"), ("parquet", "postgres")]
)
def test_d11_texts_are_whole_in_files_and_loads_cut_them(tmp_path: Path, format: str, profile: str) -> None:
    line = enriched_line(1, vessel_call("1-2-1", berth="A", agent="b" * 41), app_id="a" * 256)
    write_run(tmp_path, [line])
    shred(tmp_path, write_registry(tmp_path), format=format, profile=profile, settings={"validate": "false"})
    text = "".join(
        path.read_text() if format == "csv" else str(duckdb.read_parquet(str(path)).fetchall())
        for path in tmp_path.glob("out/**/part-*")
    )
    assert ("a" * 256 in text, "b" * 41 in text) == (True, True)


@pytest.mark.parametrize("format", ["parquet", "orc"])
@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        ("tugCount", "many", "/tugCount type: 'many' is not an integer of 16 bits"),
        ("draughtM", "1,5", "/draughtM type: '1,5' is not a number of at most 1.8e308"),
        ("arrivedAt", "soon", "/arrivedAt type: 'soon' is not a time such as 2031-04-05T06:00:00Z"),
    ],
)
def test_an_event_with_a_value_that_its_type_does_not_take_is_bad(
    tmp_path: Path, format: str, key: str, value: str, reason: str
) -> None:
    """Nothing of it is written, and the rows of others stay."""
    lines_of_run = [
        enriched_line(1, vessel_call("1-2-1", berth="B")),
        enriched_line(2, contexts=[vessel_call("1-2-1", berth="C"), vessel_call("1-2-1", **{key: value})]),
        enriched_line(3, vessel_call("1-2-1", berth="D")),
    ]
    write_run(tmp_path, lines_of_run)
    settings = {"validate": "false"}
    [report] = shred(tmp_path, write_registry(tmp_path), format=format, settings=settings)
    assert (report.rows.loaded, report.rows.rejected) == (2, 1)
    assert {table.name: table.rows for table in report.tables} == {"events": 2, "org_harbor_vessel_call_1": 2}
    [bad] = tmp_path.glob("out/**/name=loader_runtime_error/part-*")
    assert json.loads(bad.read_text())["data"]["failure"]["message"] == f"{VESSEL_CALL}1-2-1: {reason}"
    assert RunManifest.read(tmp_path / "out" / RUN).bad == 1


def test_a_valid_integer_beyond_64_bits_is_bad_in_files_with_types(tmp_path: Path) -> None:
    registry = write_registry(tmp_path, documents=[document("1-0-0", {"n": {"type": "integer"}})])
    write_run(tmp_path, [enriched_line(1, vessel_call("1-0-0", n=2**63)), enriched_line(2)])
    [report] = shred(tmp_path, registry, format="parquet")
    assert (report.rows.loaded, dict(report.rejects.by_reason)) == (1, {"loader_runtime_error": 1})
