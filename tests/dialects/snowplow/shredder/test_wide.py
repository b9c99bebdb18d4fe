"""Wide rows: events with their entities as columns of structs, which grow with the versions."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from deltalake import DeltaTable

import trellis
from dialects.snowplow.enriched import (
    VESSEL_CALL,
    enriched_line,
    event_id,
    vessel_call,
    write_registry,
    write_run,
)
from dialects.snowplow.families import document, object_schema, text
from trellis.dialects.snowplow.schemas import SnowplowSchemas
from trellis.errors import SchemaError, UsageError
from trellis.pipelines.pipeline import Pipeline
from trellis.pipelines.report import Report
from trellis.schema.model import Schema

EVENT = "unstruct_event_org_harbor_vessel_call_1"
CONTEXTS = "contexts_org_harbor_vessel_call_1"
WIDE = {"layout": "wide"}
WAREHOUSES = ("duckdb:shop.duckdb", "parquet:lake", "delta:delta")


def pipeline(folder: Path, to: str = "duckdb:shop.duckdb") -> Pipeline:
    scheme, _, path = to.partition(":")
    place = f"{scheme}:{folder / path}"
    return trellis.pipeline("shop", place, dataset="atomic", dialect="snowplow", engine="inline")


def load(sink: Pipeline, folder: Path, lines: list[str], registry: str, **settings: str) -> Report:
    run = write_run(folder, lines, f"run={len([*folder.glob('run=*')])}")
    wide = trellis.pipeline(
        sink.name,
        sink.destination.url,
        dataset="atomic",
        dialect="snowplow",
        engine="inline",
        settings={**WIDE, **settings},
    )
    return wide.load(str(run), schema=registry, max_rejected="100%")


def events(sink: Pipeline, *names: str) -> list[tuple[Any, ...]]:
    rows = sink.destination.query("atomic", "events")
    return sorted(tuple(row[name] for name in names) for row in rows)


@pytest.mark.parametrize("to", WAREHOUSES)
def test_r28_entities_are_columns_that_grow_with_their_versions(tmp_path: Path, to: str) -> None:
    """S-22: a late addition; S-19: what was there before keeps its values, and has NULL in new fields."""
    sink, registry = pipeline(tmp_path, to), write_registry(tmp_path)
    call = vessel_call("1-0-0", berth="K7", arrivedAt="2024-03-09T05:06:07.5Z")
    report = load(sink, tmp_path, [enriched_line(1, call, [vessel_call("1-0-0", berth="K8")])], registry)
    assert {table.name: table.rows for table in report.tables} == {"events": 1}
    later = [
        enriched_line(2, vessel_call("1-1-0", berth="K9", draughtM=7.5)),
        enriched_line(3, contexts=[vessel_call("1-2-1", berth="A", tugCount=2, pilot=True)]),
        enriched_line(4),
    ]
    load(sink, tmp_path, later, registry)
    new = dict.fromkeys(("draught_m", "agent", "pilot", "cargo", "tug_count"))
    assert [filled(row) for row in events(sink, "event_id", EVENT, CONTEXTS)] == [
        (
            event_id(1),
            {"berth": "K7", "arrived_at": datetime(2024, 3, 9, 5, 6, 7, 500_000), **new},
            [{"berth": "K8", "arrived_at": None, **new}],
        ),
        (event_id(2), {"berth": "K9", "arrived_at": None, **new, "draught_m": 7.5}, None),
        (
            event_id(3),
            None,
            [{"berth": "A", "arrived_at": None, **new, "pilot": True, "tug_count": 2}],
        ),
        (event_id(4), None, None),
    ]


def filled(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """The row with all fields of an entity: older files of a lake lack some."""
    names = ("berth", "arrived_at", "draught_m", "agent", "pilot", "cargo", "tug_count")
    identity, event, contexts = row
    return (
        identity,
        event and {**dict.fromkeys(names), **event},
        contexts and [{**dict.fromkeys(names), **context} for context in contexts],
    )


def test_columns_of_structs_have_the_types_of_their_schemas(tmp_path: Path) -> None:
    properties = {
        "berth": {"type": "string"},
        "depth": {"type": "number", "multipleOf": 0.01, "minimum": 0, "maximum": 99},
        "tugs": {"type": "array", "items": {"type": "integer"}},
        "any": {},
        "date": {"type": "string", "format": "date"},
    }
    registry = write_registry(tmp_path, documents=[document("1-0-0", properties)])
    data = {"berth": "K7", "depth": 4.25, "tugs": [1, 2], "any": {"x": 1.50}, "date": "2024-03-09"}
    sink = pipeline(tmp_path)
    load(sink, tmp_path, [enriched_line(1, vessel_call("1-0-0", **data))], registry)
    with duckdb.connect(str(tmp_path / "shop.duckdb")) as connection:
        [(type_,)] = connection.sql(f"SELECT typeof({EVENT}) FROM atomic.events").fetchall()
        rows = connection.sql(f"SELECT unnest({EVENT}) FROM atomic.events")
        assert type_.replace('"', "") == (
            "STRUCT(any VARCHAR, berth VARCHAR, date DATE, depth DECIMAL(9,2), tugs BIGINT[])"
        )
        assert [str(value) for value in rows.fetchall()[0]] == [
            '{"x":1.5}',
            "K7",
            "2024-03-09",
            "4.25",
            "[1, 2]",
        ]


GROWN = [
    document("1-0-0", {"crew": object_schema({"chief": {"type": "string"}}), "port": {"type": "string"}}),
    document(
        "1-0-1",
        {
            "crew": object_schema({"chief": {"type": "string"}, "boats": {"type": "integer"}}),
            "port": {"type": "string"},
            "flag": {"type": "boolean"},
        },
    ),
]
"""A version that adds a field, and one inside of another."""


def delta_columns(folder: Path) -> dict[str, tuple[str, str | None]]:
    """The columns of entities in the catalog of Delta, each with its type and its comment."""
    schema = DeltaTable(str(folder / "delta" / "atomic" / "events")).schema()
    fields = ((field.name, pa.field(field)) for field in schema.fields if "org_harbor" in field.name)
    comments = {field.name: field.metadata.get("comment") for field in schema.fields}
    return {name: (str(field.type), comments[name]) for name, field in fields}


def test_the_catalog_of_delta_shows_structs_that_grew_inside(tmp_path: Path) -> None:
    """The comment of a column is the last version that it holds, as that of a table is."""
    sink, registry = pipeline(tmp_path, "delta:delta"), write_registry(tmp_path, documents=GROWN)
    boats = vessel_call("1-0-1", port="B", flag=True, crew={"chief": "Ann", "boats": 2})
    load(sink, tmp_path, [enriched_line(1, None, [vessel_call("1-0-0", port="A")])], registry)
    first = "struct<crew: struct<chief: string>, port: string>"
    assert delta_columns(tmp_path) == {CONTEXTS: (f"list<element: {first}>", f"{VESSEL_CALL}1-0-0")}
    load(sink, tmp_path, [enriched_line(2, boats)], registry)
    grown = "struct<crew: struct<chief: string, boats: int64>, port: string, flag: bool>"
    columns = {
        CONTEXTS: (f"list<element: {grown}>", f"{VESSEL_CALL}1-0-1"),
        EVENT: (grown, f"{VESSEL_CALL}1-0-1"),
    }
    assert delta_columns(tmp_path) == columns
    report = load(sink, tmp_path, [enriched_line(3, boats), enriched_line(4, vessel_call("1-0-0"))], registry)
    assert report.changes == ()
    assert delta_columns(tmp_path) == columns


@pytest.mark.parametrize("to", WAREHOUSES)
def test_a_version_without_other_columns_changes_the_comment_alone(tmp_path: Path, to: str) -> None:
    documents = [document("1-0-0", {"port": text(4)}), document("1-0-1", {"port": text(9)})]
    sink, registry = pipeline(tmp_path, to), write_registry(tmp_path, documents=documents)
    for number, version in enumerate(("1-0-0", "1-0-1", "1-0-1")):
        load(sink, tmp_path, [enriched_line(number, vessel_call(version, port="A"))], registry)
        described = sink.schema.tables["events"].columns[EVENT].description
        assert described == f"{VESSEL_CALL}{version}"
        comments = sink.destination.catalog("atomic")["events"].comments
        assert comments is None or comments[EVENT] == f"{VESSEL_CALL}{version}"


@pytest.mark.parametrize("to", WAREHOUSES)
def test_r78_a_version_that_does_not_fit_has_a_column_of_its_own(tmp_path: Path, to: str) -> None:
    versions = [
        document("1-0-0", {"size": {"type": "integer"}}),
        document("1-0-1", {"size": {"type": "string"}}),
        document("1-0-2", {"size": {"type": "integer"}, "unit": {"type": "string"}}),
    ]
    sink, registry = pipeline(tmp_path, to), write_registry(tmp_path, documents=versions)
    load(sink, tmp_path, [enriched_line(1, vessel_call("1-0-2", size=1, unit="m"))], registry)
    columns = sink.destination.catalog("atomic")["events"].columns
    assert [name for name in columns if "recovered" in name] == []
    load(sink, tmp_path, [enriched_line(2, vessel_call("1-0-1", size="XL"))], registry)
    columns = sink.destination.catalog("atomic")["events"].columns
    [recovered] = [name for name in columns if "recovered" in name]
    assert recovered.startswith(f"{EVENT}_recovered_1_0_1_")
    described = sink.schema.tables["events"].columns
    assert [described[name].description for name in (EVENT, recovered)] == [
        f"{VESSEL_CALL}1-0-2",
        f"{VESSEL_CALL}1-0-1",
    ]
    assert events(sink, "event_id", EVENT, recovered) == [
        (event_id(1), {"size": 1, "unit": "m"}, None),
        (event_id(2), None, {"size": "XL"}),
    ]


def test_r79_a_value_that_its_type_does_not_take_makes_the_event_bad(tmp_path: Path) -> None:
    sink, registry = pipeline(tmp_path), write_registry(tmp_path)
    lines = [
        enriched_line(1, vessel_call("1-0-0", berth="A", arrivedAt="soon")),
        enriched_line(2, contexts=[vessel_call("1-0-0", berth="A"), vessel_call("1-0-0")]),
        enriched_line(3, vessel_call("1-0-0", berth="B")),
    ]
    report = load(sink, tmp_path, lines, registry, validate="false")
    assert (report.rows.loaded, report.rows.rejected) == (1, 2)
    assert report.rejects.by_reason == {"loader_runtime_error": 2}
    rejects = sink.destination.query("atomic", "_trellis_rejects")
    assert [row["reason"] for row in rejects] == [
        (
            f'loader_runtime_error: {VESSEL_CALL}1-0-0: /arrivedAt type: "soon" is not a time with a zone '
            "such as 2031-04-05T06:00:00Z"
        ),
        f"loader_runtime_error: {VESSEL_CALL}1-0-0: /berth required: a text is missing",
    ]


def test_entities_say_their_version_where_the_user_wants_that(tmp_path: Path) -> None:
    sink, registry = pipeline(tmp_path), write_registry(tmp_path)
    contexts = [vessel_call("1-0-0", berth="A"), vessel_call("1-1-0", berth="B")]
    load(sink, tmp_path, [enriched_line(1, contexts=contexts)], registry, schema_version="true")
    [(entities,)] = events(sink, CONTEXTS)
    assert [(entity["_schema_version"], entity["berth"]) for entity in entities] == [
        ("1-0-0", "A"),
        ("1-1-0", "B"),
    ]
    with pytest.raises(UsageError, match="the tables are there in layout wide, with schema_version=true"):
        load(sink, tmp_path, [enriched_line(2)], registry, schema_version="false")


def test_s63_a_patched_schema_is_refused_where_it_changes_a_column(tmp_path: Path) -> None:
    sink, line = pipeline(tmp_path), enriched_line(1, vessel_call("1-0-0"))
    load(sink, tmp_path, [line], write_registry(tmp_path, documents=[document("1-0-0", {"a": {}})]))
    patched = write_registry(tmp_path, documents=[document("1-0-0", {"a": {"type": "boolean"}})])
    with pytest.raises(SchemaError, match="a schema was patched, so its table would have other columns"):
        load(sink, tmp_path, [line], patched)


def test_layouts_that_tables_cannot_have(tmp_path: Path) -> None:
    sink, registry = pipeline(tmp_path), write_registry(tmp_path)
    with pytest.raises(UsageError, match="layout version is one of files"):
        load(sink, tmp_path, [enriched_line(1)], registry, layout="version")
    with pytest.raises(UsageError, match="there is no 'row': it may be one of model, version, wide"):
        load(sink, tmp_path, [enriched_line(1)], registry, layout="row")
    with pytest.raises(UsageError, match="wide rows need columns of structs that can grow, which postgres"):
        SnowplowSchemas().configure(Schema("shop"), WIDE, "postgres")


def test_self_describing_json_has_no_wide_row(tmp_path: Path) -> None:
    sink, registry = pipeline(tmp_path), write_registry(tmp_path)
    line = json.dumps({**vessel_call("1-0-0", berth="A"), "id": "e-1", "at": "2031-04-05T06:00:00Z"})
    report = load(sink, tmp_path, [line, enriched_line(1)], registry, id_path="id", time_path="at")
    assert (report.rows.loaded, report.rejects.by_reason) == (1, {"loader_parsing_error": 1})
