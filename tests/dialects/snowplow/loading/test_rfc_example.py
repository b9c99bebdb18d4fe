"""The RFC's example end to end: five versions with data of each in between, in every warehouse and format."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest

from dialects.snowplow.enriched import (
    ORDER,
    VESSEL_CALL,
    enriched_line,
    event_id,
    vessel_call,
    write_registry,
)
from dialects.snowplow.families import family, text
from dialects.snowplow.loading.runs import DATA, TABLE, columns, load, loader, rows, shred
from trellis.destinations.lake.store import TableName
from trellis.dialects.snowplow.columns.column_types import varchar
from trellis.dialects.snowplow.document.schema_document import SchemaDocument
from trellis.dialects.snowplow.runs.loading.inspection import TableInspector
from trellis.dialects.snowplow.runs.warehouses.base import RunWarehouse
from trellis.dialects.snowplow.runs.warehouses.delta import DeltaWarehouse
from trellis.dialects.snowplow.runs.warehouses.sql import SqlWarehouse
from trellis.errors import SchemaError

VERSIONS: Final = ORDER.split()
ADDED: Final = {
    "1-0-0": ["berth", "arrived_at"],
    "1-1-0": ["draught_m"],
    "1-2-0": ["agent", "pilot"],
    "1-0-1": ["cargo"],
    "1-2-1": ["tug_count"],
}
"""The columns that each version adds, in their order."""
every_format = pytest.mark.parametrize("format", ["csv", "parquet", "orc"])
files = pytest.mark.parametrize("format", ["csv", "parquet"])


def line(number: int, version: str, **data: Any) -> str:
    return enriched_line(number, vessel_call(version, berth=version, **data), app_id="web")


def add_column(warehouse: RunWarehouse, name: str) -> None:
    """What somebody does by hand."""
    if isinstance(warehouse, DeltaWarehouse):
        warehouse.store.add_columns(TableName("atomic", TABLE), {name: "STRING"})
    else:
        assert isinstance(warehouse, SqlWarehouse)
        warehouse.execute(f"ALTER TABLE atomic.{TABLE} ADD COLUMN {name} VARCHAR")


@every_format
def test_seed_s50_r86_tables_grow_with_each_run(
    any_warehouse: RunWarehouse, tmp_path: Path, format: str
) -> None:
    """The next version is published between the shredding of a run and its load, and waits for its own run.
    A run that knew the first version alone is loaded last."""
    registry = write_registry(tmp_path, "1-0-0")
    oldest = shred(tmp_path, any_warehouse, registry, [line(9, "1-0-0")], format=format)
    names: list[str] = []
    for number, version in enumerate(VERSIONS):
        run = shred(
            tmp_path, any_warehouse, registry, [line(number, version, **DATA[version])], format=format
        )
        registry = write_registry(tmp_path, " ".join(VERSIONS[: number + 2]))
        report = load(any_warehouse, registry, run, verification="definition")
        assert (report.state, report.rows) == ("loaded", {TABLE: 1, "events": 1})
        names += ADDED[version]
        assert columns(any_warehouse) == names
        assert any_warehouse.tables("atomic")[TABLE].comment == f"{VESSEL_CALL}{version}"
    report = load(any_warehouse, registry, oldest, verification="definition")
    assert (report.state, report.statements) == ("loaded", [])
    assert load(any_warehouse, registry, oldest).state == "already loaded"
    values = ("root_id", "schema_version", "draught_m", "agent", "pilot", "cargo", "tug_count")
    assert rows(any_warehouse, TABLE, *values) == [
        (event_id(0), "1-0-0", None, None, None, None, None),
        (event_id(1), "1-1-0", 1.5, None, None, None, None),
        (event_id(2), "1-2-0", None, "a\\N", True, None, None),
        (event_id(3), "1-0-1", None, None, None, "\\N", None),
        (event_id(4), "1-2-1", None, None, None, None, 2),
        (event_id(9), "1-0-0", None, None, None, None, None),
    ]
    times = {
        berth: str(time)[:19] for berth, time in rows(any_warehouse, TABLE, "root_id", "arrived_at") if time
    }
    assert times == {event_id(0): "2024-03-09 03:06:07"}
    assert [app for _, app in rows(any_warehouse, "events", "event_id", "app_id")] == ["web"] * 6
    assert (None,) not in rows(any_warehouse, "events", "load_tstamp")
    inspector = TableInspector(any_warehouse, loader(any_warehouse, registry).registry, "atomic")
    assert [(status.table, status.state) for status in inspector.inspect()] == [(TABLE, "current")]


@files
def test_seed_s62_a_table_altered_by_hand_is_refused(
    any_warehouse: RunWarehouse, tmp_path: Path, format: str
) -> None:
    registry = write_registry(tmp_path)
    first, second = (
        shred(tmp_path, any_warehouse, registry, [line(number, "1-2-1")], format=format) for number in (1, 2)
    )
    load(any_warehouse, registry, first)
    add_column(any_warehouse, "remark")
    with pytest.raises(SchemaError) as refusal:
        load(any_warehouse, registry, second)
    assert str(refusal.value) == (
        f"{TABLE}: it has 17 columns, 16 are expected by its comment {VESSEL_CALL}1-2-1: extra remark; mend "
        "the table or its comment, or let `trellis snowplow adopt` describe it"
    )
    assert rows(any_warehouse, "events", "event_id") == [(event_id(1),)]
    assert rows(any_warehouse, TABLE, "root_id") == [(event_id(1),)]


@files
def test_seed_s63_a_patched_schema_is_refused(
    any_warehouse: RunWarehouse, tmp_path: Path, format: str
) -> None:
    """Also by a run that was shredded since: the table is not as the schema says now."""
    registry = write_registry(tmp_path)
    first, before = (
        shred(tmp_path, any_warehouse, registry, [line(number, "1-2-1")], format=format) for number in (1, 2)
    )
    load(any_warehouse, registry, first)
    *others, last = family()
    patch = {**last.body["properties"], "tugCount": text(5)}
    patched = SchemaDocument(last.key, {**last.body, "properties": patch})
    write_registry(tmp_path, documents=[*others, patched])
    after = shred(tmp_path, any_warehouse, registry, [line(3, "1-2-1", tugCount="two")], format=format)
    profile = any_warehouse.profile
    text_type = profile.type_text(profile.adapt(varchar(5)))
    listed = f"{', '.join(VERSIONS)} of org.harbor/vessel_call/jsonschema/1"
    sentences = {
        before: f"one of {listed} was patched, or its overlay changed, since the run was shredded; shred "
        "the run again",
        after: f"{VESSEL_CALL}1-2-1 was patched since the load of {first}/, and the table is not as the "
        f"schema says now: tug_count is SMALLINT, expected {text_type}; change the table by hand, or publish "
        "the old schema again and the change as a new version",
    }
    for run, sentence in sentences.items():
        with pytest.raises(SchemaError) as refusal:
            load(any_warehouse, registry, run)
        assert str(refusal.value) == f"{TABLE}: {sentence}"
    assert rows(any_warehouse, "events", "event_id") == [(event_id(1),)]
    assert rows(any_warehouse, TABLE, "root_id") == [(event_id(1),)]
