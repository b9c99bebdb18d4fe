"""The same records by every way in: the same tables, schema, discards and rejects, on any partitions and in
files of any size."""

from __future__ import annotations

import json
import secrets
from collections.abc import Collection, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from trellis.dialects import names
from trellis.generate import generate
from trellis.pipelines.pipeline import Pipeline

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

RIDES = {
    "schemaName": "rides",
    "dimensionFieldSpecs": [
        {"name": "id", "dataType": "INT"},
        {"name": "tags", "dataType": "STRING", "singleValueField": False},
    ],
    "metricFieldSpecs": [{"name": "fare", "dataType": "DOUBLE"}],
}
ODD = [b"[1]", b"not JSON", b'{"id": "x"}', b'{"id": 1e400, "new": {"k": [1]}}', b'{"id": 9, "id": 10}']
VALUES = st.one_of(st.integers(-9, 2**40), st.text("aZ\u00e9 ", max_size=4), st.floats(-1e9, 1e9), st.none())
RIDE = st.fixed_dictionaries(
    {"id": VALUES}, optional={"tags": st.lists(st.text("ab", max_size=2), max_size=3), "fare": VALUES}
)
TYPED_RIDE = st.fixed_dictionaries(
    {"id": st.integers(-9, 2**40)}, optional={"tags": VALUES, "fare": st.floats(-9, 9)}
)
TYPED_TABLE = "[{name=id;type=int64};{name=tags;type=any};{name=fare;type=double}]"


def snowplow_events() -> st.SearchStrategy[str]:
    from dialects.snowplow.enriched import enriched_line, vessel_call

    versions = st.sampled_from(["1-0-0", "1-1-0", "1-2-1", "9-0-0"])
    calls = st.builds(vessel_call, versions, berth=st.text("aZ\u00e9", max_size=4))
    return st.builds(enriched_line, st.integers(0, 99), calls, st.lists(calls, max_size=2))


LINES = {
    "dlt": st.integers(0, 99).map(lambda seed: list(generate(60, seed=seed))),
    "rudderstack": st.integers(0, 99).map(lambda seed: list(generate(25, seed=seed, profile="events"))),
    "pinot": st.lists(RIDE, min_size=20, max_size=60).map(
        lambda rides: [json.dumps(ride).encode() for ride in rides]
    ),
    "snowplow": st.lists(st.deferred(snowplow_events), min_size=20, max_size=60).map(
        lambda lines: [line.encode() for line in lines]
    ),
    "ytsaurus": st.lists(st.one_of(TYPED_RIDE, TYPED_RIDE, RIDE), min_size=20, max_size=60).map(
        lambda rides: [json.dumps(ride).encode() for ride in rides]
    ),
}
OPTIONS: dict[str, dict[str, Any]] = {
    "dlt": {"table": "t"},
    "rudderstack": {},
    "pinot": {"schema": RIDES},
    "snowplow": {},
    "ytsaurus": {"table": "//t", "schema": TYPED_TABLE, "contract": {"data_type": "discard_row"}},
}
SETTINGS = {"pinot": {"on_error": "reject"}}
VOLATILE = ("file", "load_id", "load_tstamp", "uuid_ts")
"""Columns that depend on the load or on the name of the file."""
WITHOUT_LINES = (*VOLATILE, "position")
"""Records of a frame are in no line of a file."""
FEW = settings(max_examples=2, suppress_health_check=[HealthCheck.function_scoped_fixture])


def outcome_of(
    folder: Path, dialect: str, source: Any, engine: Any, hidden: Collection[str] = VOLATILE, **options: Any
) -> dict[str, Any]:
    """Everything that the ways in have to agree on. Rows of typed tables have no order of their own."""
    to = f"duckdb:{folder}/{secrets.token_hex(4)}.duckdb"
    shop = Pipeline("shop", to, dialect=dialect, engine=engine, settings=SETTINGS.get(dialect, {}))
    if dialect == "snowplow":
        from dialects.snowplow.enriched import write_registry

        options["schema"] = write_registry(folder)
    report = shop.load(source, **OPTIONS[dialect], **options)
    assert report.balanced
    tables = {
        table: sorted(
            repr({name: value for name, value in row.items() if not _is_hidden(name, hidden)})
            for row in shop.destination.query(shop.dataset, table)
        )
        for table, rows in shop.destination.row_counts(shop.dataset).items()
        if rows and not table.startswith(("_dlt", "_trellis_schema_changes"))
    }
    return {
        "rows": report.rows,
        "hash": report.schema.stored_hash,
        "rejects": report.rejects,
        "discards": report.discards,
        "tables": tables,
    }


def _is_hidden(name: str, hidden: Collection[str]) -> bool:
    return name.startswith("_dlt") or name.endswith("_at") or name in hidden


def payload_of(spark: SparkSession, lines: Sequence[bytes], partitions: int) -> DataFrame:
    rows = [(number, bytearray(line)) for number, line in enumerate(lines)]
    frame = spark.createDataFrame(rows, "number long, payload binary")
    return frame.repartitionByRange(partitions, "number").sortWithinPartitions("number").select("payload")


@pytest.mark.parametrize("dialect", sorted({*LINES} & {*names()}))
@FEW
@given(data=st.data())
def test_every_way_in_gives_the_same(
    tmp_path: Path, spark: SparkSession, dialect: str, data: st.DataObject
) -> None:
    lines = data.draw(LINES[dialect])
    for odd in data.draw(st.lists(st.sampled_from(ODD), max_size=4)):
        lines.insert(data.draw(st.integers(0, len(lines))), odd)
    folder = tmp_path / secrets.token_hex(4)
    folder.mkdir()
    ends = data.draw(st.lists(st.integers(0, len(lines)), max_size=3).map(sorted))
    for number, (begin, end) in enumerate(pairwise([0, *ends, len(lines)])):
        (folder / f"{number}.jsonl").write_bytes(b"".join(line + b"\n" for line in lines[begin:end]))
    expected = outcome_of(tmp_path, dialect, str(folder), "inline")
    assert outcome_of(tmp_path, dialect, str(folder), "spark") == expected
    without_lines = outcome_of(tmp_path, dialect, str(folder), "inline", WITHOUT_LINES)
    for partitions in (1, 3):
        frame = payload_of(spark, lines, partitions)
        outcome = outcome_of(tmp_path, dialect, frame, "spark", WITHOUT_LINES, payload="payload")
        assert outcome == without_lines
    hub = f"hub{secrets.token_hex(4)}"
    spark.conf.set(f"fs.viewfs.mounttable.{hub}.link./raw", f"file://{folder}")
    spark.conf.set("spark.sql.files.maxPartitionBytes", "9000")
    try:
        assert outcome_of(tmp_path, dialect, f"viewfs://{hub}/raw", "spark") == expected
    finally:
        spark.conf.unset("spark.sql.files.maxPartitionBytes")


@pytest.mark.parametrize("partitions", [1, 3])
def test_typed_rows_give_what_their_json_gives(tmp_path: Path, spark: SparkSession, partitions: int) -> None:
    """Where the kinds of JSON survive: text that is no time, whole numbers, fractions, booleans, nesting."""
    rows = [
        {
            "id": number,
            "name": None if number % 3 else f"n{number}",
            "fare": number + 0.5,
            "paid": number % 2 == 0,
            "at": {"k": [number, 7]},
        }
        for number in range(30)
    ]
    file = tmp_path / "a.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    schema = "id long, name string, fare double, paid boolean, at struct<k: array<long>>"
    frame = (
        spark.createDataFrame(rows, schema).repartitionByRange(partitions, "id").sortWithinPartitions("id")
    )
    expected = outcome_of(tmp_path, "dlt", str(file), "inline")
    assert outcome_of(tmp_path, "dlt", frame, "spark") == expected
