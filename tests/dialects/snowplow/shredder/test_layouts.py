"""Layouts of run folders: a table for each family, one for each version, or wide rows."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import duckdb
import pytest

from dialects.snowplow.enriched import (
    VESSEL_CALL,
    enriched_line,
    event_id,
    vessel_call,
    write_registry,
    write_run,
)
from dialects.snowplow.families import document
from dialects.snowplow.shredder.test_shred import RUN, files, lines, shred
from trellis.dialects.snowplow.client.locator import open_registry
from trellis.dialects.snowplow.runs.loading.loader import RunLoader, RunReport
from trellis.dialects.snowplow.runs.warehouses.locator import open_warehouse
from trellis.errors import UsageError

ATOMIC = "vendor=com.snowplowanalytics.snowplow/name=atomic"
VERSIONS = "output=good/vendor=org.harbor/name=vessel_call"
EVENT = "unstruct_event_org_harbor_vessel_call_1"
CONTEXTS = "contexts_org_harbor_vessel_call_1"


def manifest(folder: Path) -> dict[str, Any]:
    document = json.loads((folder / "out" / RUN / "shredding_complete.json").read_text())
    data: dict[str, Any] = document["data"]
    return data


def families(folder: Path) -> list[dict[str, Any]]:
    document = json.loads((folder / "out" / RUN / "families.json").read_text())
    tables: list[dict[str, Any]] = document["tables"]
    return tables


def test_files_of_a_version_have_its_own_columns(tmp_path: Path) -> None:
    events = [
        enriched_line(1, vessel_call("1-2-1", berth="K7", tugCount=2)),
        enriched_line(2, contexts=[vessel_call("1-0-1", berth="A", cargo="rye"), vessel_call("1-0-0")]),
    ]
    write_run(tmp_path, events)
    settings = {"layout": "version", "validate": "false"}
    [report] = shred(tmp_path, write_registry(tmp_path), settings=settings)
    assert {table.name: table.rows for table in report.tables if table.rows} == {
        "events": 2,
        "org_harbor_vessel_call_1@1-0-0": 1,
        "org_harbor_vessel_call_1@1-0-1": 1,
        "org_harbor_vessel_call_1@1-2-1": 1,
    }
    folder = f"{RUN}/{VERSIONS}/format=tsv/model=1"
    assert files(tmp_path) == [
        f"{RUN}/families.json",
        f"{RUN}/output=good/{ATOMIC}/format=tsv/model=1/revision=0/addition=0/part-00000.txt",
        f"{folder}/revision=0/addition=0/part-00000.txt",
        f"{folder}/revision=0/addition=1/part-00000.txt",
        f"{folder}/revision=2/addition=1/part-00000.txt",
        f"{RUN}/shredding_complete.json",
    ]
    place = tmp_path / "out" / folder
    assert [row[9:] for row in lines(place / "revision=0/addition=1/part-00000.txt")] == [["A", r"\N", "rye"]]
    assert [row[9:] for row in lines(place / "revision=2/addition=1/part-00000.txt")] == [
        ["K7", *[r"\N"] * 4, "2"]
    ]
    table = families(tmp_path)[-1]
    assert (table["table"], table["keys"][-1], table["columns"][9:]) == (
        "org_harbor_vessel_call_1",
        f"{VESSEL_CALL}1-2-1",
        ["berth", "agent", "arrived_at", "draught_m", "pilot", "tug_count"],
    )


def test_seed_s14_entities_of_some_schemas_stay_json(tmp_path: Path) -> None:
    """JSON needs a mapping, so it says by its paths where values are."""
    events = [
        enriched_line(1, vessel_call("1-1-0", berth="K7", draughtM=7.50)),
        enriched_line(2, vessel_call("1-0-1", berth="K\t8")),
    ]
    write_run(tmp_path, events)
    settings = {
        "layout": "version",
        "json": "iglu:org.harbor/vessel_call/jsonschema/1-*-*",
        "tsv": "iglu:org.harbor/vessel_call/jsonschema/1-0-1",
    }
    shred(tmp_path, write_registry(tmp_path), settings=settings)
    place = tmp_path / "out" / RUN / VERSIONS
    [line] = (place / "format=json/model=1/revision=1/addition=0/part-00000.txt").read_text().splitlines()
    assert json.loads(line) == {
        "schema": {"vendor": "org.harbor", "name": "vessel_call", "format": "jsonschema", "version": "1-1-0"},
        "data": {"berth": "K7", "draughtM": 7.5},
        "hierarchy": {
            "rootId": event_id(1),
            "rootTstamp": "2031-04-05 06:00:00.123",
            "refRoot": "events",
            "refTree": ["events", "vessel_call"],
            "refParent": "events",
        },
    }
    [row] = lines(place / "format=tsv/model=1/revision=0/addition=1/part-00000.txt")
    assert row[9:] == ["K 8", r"\N", r"\N"]
    assert [(item["schemaKey"], item["format"]) for item in manifest(tmp_path)["typesInfo"]["types"]] == [
        (f"{VESSEL_CALL}1-0-1", "TSV"),
        (f"{VESSEL_CALL}1-1-0", "JSON"),
    ]


def test_json_may_be_the_format_of_all_schemas_but_some(tmp_path: Path) -> None:
    events = [
        enriched_line(1, vessel_call("1-1-0", berth="K7")),
        enriched_line(2, vessel_call("1-0-1", berth="K8")),
    ]
    write_run(tmp_path, events)
    settings = {"layout": "version", "tsv": "iglu:org.harbor/vessel_call/jsonschema/1-0-1"}
    shred(tmp_path, write_registry(tmp_path), format="json", settings=settings)
    assert [(item["schemaKey"], item["format"]) for item in manifest(tmp_path)["typesInfo"]["types"]] == [
        (f"{VESSEL_CALL}1-0-1", "TSV"),
        (f"{VESSEL_CALL}1-1-0", "JSON"),
    ]
    assert [name.partition(f"{RUN}/output=good/")[2] for name in files(tmp_path)[1:-1]] == [
        f"{ATOMIC}/format=tsv/model=1/revision=0/addition=0/part-00000.txt",
        "vendor=org.harbor/name=vessel_call/format=json/model=1/revision=1/addition=0/part-00000.txt",
        "vendor=org.harbor/name=vessel_call/format=tsv/model=1/revision=0/addition=1/part-00000.txt",
    ]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"settings": {"json": "iglu:a/b/jsonschema/1-*-*", "skip": "iglu:a/b/jsonschema/1-*-*"}},
            "option json: iglu:a/b/jsonschema/1-*-* is in option skip, too",
        ),
        (
            {"settings": {"json": "iglu:a/b/jsonschema/1-*-*"}},
            "options tsv and json choose formats in the folders of versions",
        ),
        ({"settings": {"layout": "wide"}}, "wide rows have types, which CSV has not"),
        (
            {"settings": {"layout": "wide"}, "format": "orc"},
            "wide rows in Parquet and JSON alone, not in ORC",
        ),
        ({"format": "json"}, "JSON has no merged columns; write it with --layout version or wide"),
        ({"settings": {"skip": "1-*-*"}}, "option skip: '1-*-*' is not a criterion"),
    ],
)
def test_options_that_contradict_each_other(tmp_path: Path, options: dict[str, Any], message: str) -> None:
    write_run(tmp_path, [enriched_line(1)])
    with pytest.raises(UsageError) as caught:
        shred(tmp_path, write_registry(tmp_path), **options)
    assert message in str(caught.value)


def test_compat_leaves_carriage_returns(tmp_path: Path) -> None:
    """R-66, D-12."""
    write_run(tmp_path, [enriched_line(1, vessel_call("1-0-0", berth="a\r\nb"))])
    shred(tmp_path, write_registry(tmp_path), settings={"compat": "true"})
    path = tmp_path / "out" / RUN / "vendor=org.harbor/name=vessel_call/model=1/part-00000.txt"
    assert path.read_bytes().split(b"\t")[9] == b"a\r b"


def test_wide_rows_are_one_table_over_runs(tmp_path: Path) -> None:
    write_run(
        tmp_path,
        [enriched_line(1, vessel_call("1-0-0", berth="K7"), [vessel_call("1-0-0", berth="A")])],
    )
    later = [enriched_line(2, contexts=[vessel_call("1-1-0", berth="B", draughtM=1.5)]), "no event"]
    write_run(tmp_path, later, "run=2031-04-05-07-00-00")
    registry = write_registry(tmp_path)
    shred(tmp_path, registry, format="parquet", settings={"layout": "wide"})
    assert files(tmp_path)[:3] == [
        f"{RUN}/families.json",
        f"{RUN}/output=good/part-00000.parquet",
        f"{RUN}/shredding_complete.json",
    ]
    assert manifest(tmp_path)["typesInfo"] == {
        "transformation": "WIDEROW",
        "fileFormat": "PARQUET",
        "types": [
            {"schemaKey": f"{VESSEL_CALL}1-0-0", "snowplowEntity": "CONTEXT"},
            {"schemaKey": f"{VESSEL_CALL}1-0-0", "snowplowEntity": "SELF_DESCRIBING_EVENT"},
        ],
    }
    assert [(table["table"], table["columns"]) for table in families(tmp_path)] == [
        ("events", [CONTEXTS, EVENT])
    ]
    pattern = f"{tmp_path}/out/*/output=good/*.parquet"
    rows = duckdb.sql(
        f"SELECT event_id, {EVENT}.berth, {CONTEXTS}[1].berth, {CONTEXTS}[1].draught_m "
        f"FROM read_parquet('{pattern}', union_by_name=true) ORDER BY event_id"
    )
    assert rows.fetchall() == [(event_id(1), "K7", "A", None), (event_id(2), None, "B", 1.5)]


def test_wide_rows_as_json_have_entities_as_they_came(tmp_path: Path) -> None:
    """Nothing is cast, so a version that does not fit needs no column of its own."""
    versions = [
        document("1-0-0", {"a": {"type": "integer"}, "aB": {"type": "number"}}),
        document("1-0-1", {"a": {"type": "string"}}),
    ]
    contexts = [vessel_call("1-0-0", a=1, aB=7.50), vessel_call("1-0-1", a="x\t\u2028")]
    line = enriched_line(
        1, vessel_call("1-0-0", a=2), contexts, tr_total="12.5", br_cookies="1", dvce_screenwidth="80"
    )
    write_run(tmp_path, [line, "no event"])
    settings = {"layout": "wide", "schema_version": "true"}
    registry = write_registry(tmp_path, documents=versions)
    shred(tmp_path, registry, format="json", compression="GZIP", settings=settings)
    path = tmp_path / "out" / RUN / "output=good/part-00000.txt.gz"
    [text] = gzip.decompress(path.read_bytes()).decode().split("\n")[:-1]
    event = json.loads(text)
    assert len(event) == 130
    assert {name: value for name, value in event.items() if value is not None} == {
        "event_id": event_id(1),
        "collector_tstamp": "2031-04-05T06:00:00.123Z",
        "v_collector": "ssc-3.2",
        "v_etl": "enrich-5.0",
        "tr_total": 12.5,
        "br_cookies": True,
        "dvce_screenwidth": 80,
        EVENT: {"a": 2},
        CONTEXTS: [
            {"a": 1, "aB": 7.5, "_schema_version": "1-0-0"},
            {"a": "x\t\u2028", "_schema_version": "1-0-1"},
        ],
    }
    assert '"aB":7.5' in text
    types = manifest(tmp_path)["typesInfo"]
    assert (types["transformation"], types["fileFormat"], len(types["types"])) == ("WIDEROW", "JSON", 3)
    assert [(table["table"], table["columns"]) for table in families(tmp_path)] == [
        ("events", [CONTEXTS, EVENT])
    ]


def test_r84_a_wide_row_as_json_with_a_new_id_has_a_context_with_the_old_one(tmp_path: Path) -> None:
    write_run(tmp_path, [enriched_line(1, event_fingerprint=text) for text in "fg"])
    shred(tmp_path, write_registry(tmp_path), format="json", settings={"layout": "wide"})
    text = (tmp_path / "out" / RUN / "output=good/part-00000.txt").read_text()
    events = [json.loads(line) for line in text.splitlines()]
    column = "contexts_com_snowplowanalytics_snowplow_duplicate_1"
    assert [event[column] for event in events] == [[{"originalEventId": event_id(1)}]] * 2
    assert len({event["event_id"] for event in events} | {event_id(1)}) == 3


def test_r84_a_wide_row_with_a_new_id_has_a_context_with_the_old_one(tmp_path: Path) -> None:
    call = [vessel_call("1-0-0", berth="A")]
    write_run(
        tmp_path,
        [
            enriched_line(1, contexts=call, event_fingerprint="f"),
            enriched_line(1, contexts=call, event_fingerprint="g"),
            enriched_line(2, contexts=call),
        ],
    )
    shred(tmp_path, write_registry(tmp_path), format="parquet", settings={"layout": "wide"})
    path = f"{tmp_path}/out/{RUN}/output=good/part-00000.parquet"
    column = "contexts_com_snowplowanalytics_snowplow_duplicate_1"
    rows = duckdb.sql(f"SELECT event_id, {column} FROM '{path}'").fetchall()
    original = [{"original_event_id": event_id(1)}]
    assert [contexts for _, contexts in rows] == [original, original, None]
    assert len({identity for identity, _ in rows}) == 3
    assert rows[2][0] == event_id(2)
    types = [item["schemaKey"] for item in manifest(tmp_path)["typesInfo"]["types"]]
    assert types == [
        "iglu:com.snowplowanalytics.snowplow/duplicate/jsonschema/1-0-0",
        f"{VESSEL_CALL}1-0-0",
    ]


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_files_of_versions_are_loaded_into_the_table_of_their_family(tmp_path: Path, format: str) -> None:
    """Each by its own columns; a version that does not fit has a table of its own."""
    versions = [
        document("1-0-0", {"size": {"type": "integer"}}),
        document("1-0-1", {"size": {"type": "string", "maxLength": 5}}),
        document("1-0-2", {"size": {"type": "integer"}, "unit": {"type": "string"}}),
    ]
    registry = write_registry(tmp_path, documents=versions)
    calls = [
        vessel_call("1-0-0", size=1),
        vessel_call("1-0-1", size="XL"),
        vessel_call("1-0-2", size=2, unit="m"),
    ]
    write_run(tmp_path, [enriched_line(number, call) for number, call in enumerate(calls)])
    shred(tmp_path, registry, format=format, profile="duckdb", settings={"layout": "version"})
    [report] = load(tmp_path, registry)
    [recovered] = [name for name in report.rows if "recovered" in name]
    assert report.rows == {"org_harbor_vessel_call_1": 2, recovered: 1, "events": 3}
    with duckdb.connect(str(tmp_path / "shop.duckdb")) as connection:
        rows = connection.sql("SELECT size, unit FROM atomic.org_harbor_vessel_call_1 ORDER BY size")
        assert rows.fetchall() == [(1, None), (2, "m")]
        assert connection.sql(f"SELECT size FROM atomic.{recovered}").fetchall() == [("XL",)]


def load(folder: Path, registry: str) -> list[RunReport]:
    warehouse = open_warehouse(f"duckdb:{folder / 'shop.duckdb'}")
    try:
        return [*RunLoader(warehouse, open_registry(registry), "atomic").load(str(folder / "out"))]
    finally:
        warehouse.close()
