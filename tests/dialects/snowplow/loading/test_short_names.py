"""Names that a warehouse has no room for: kept in the overlay, and followed from there."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

import trellis
from destinations.postgres_server import Server
from dialects.snowplow.enriched import enriched_line, write_registry, write_run
from dialects.snowplow.families import REDSHIFT, object_schema, text
from dialects.snowplow.loading.runs import load, loader, rows, shred
from trellis.dialects.snowplow.client.locator import open_registry
from trellis.dialects.snowplow.client.store import StoreRegistry
from trellis.dialects.snowplow.columns.overlay import Overlay, merge_with_overlay
from trellis.dialects.snowplow.columns.profiles import PROFILES
from trellis.dialects.snowplow.document.schema_document import SchemaDocument
from trellis.dialects.snowplow.identity.keys import Family, SchemaKey
from trellis.dialects.snowplow.registry.store.schema_store import StoredSchema, current_time
from trellis.dialects.snowplow.runs.loading.inspection import TableInspector
from trellis.dialects.snowplow.runs.warehouses.locator import open_warehouse
from trellis.dialects.snowplow.runs.warehouses.sql import SqlWarehouse
from trellis.errors import SchemaError
from trellis.pipelines.report import Report

COLUMN = f"berth_{'of_the_harbor_' * 4}name"
NAME = f"vessel_call_{'of_the_harbor_' * 4}list"
TABLE = f"org_harbor_{NAME}_1"
FAMILY = Family("org.harbor", NAME, "jsonschema", 1)


def by_hash(name: str) -> str:
    return f"{name[:54]}_{sha256(name.encode()).hexdigest()[:8]}"


KEPT = {"postgres": {COLUMN: by_hash(COLUMN), TABLE: by_hash(TABLE)}}


def version(number: str, properties: dict[str, Any]) -> SchemaDocument:
    return SchemaDocument(
        SchemaKey.parse(f"iglu:org.harbor/{NAME}/jsonschema/{number}"), object_schema(properties)
    )


DOCUMENTS = [version("1-0-0", {COLUMN: text(9)})]


def event(number: int, schema: str = "1-0-0", **data: Any) -> str:
    entity = {"schema": f"iglu:{FAMILY.vendor}/{NAME}/jsonschema/{schema}", "data": data or {COLUMN: "K8"}}
    return enriched_line(number, entity)


def overlay_file(registry: str) -> Path:
    return Path(registry, f"{FAMILY}.overlay.json")


def write_names(registry: str, **names: str) -> None:
    overlay_file(registry).write_text(json.dumps({"shortened": {"postgres": names}}))


@pytest.fixture
def url(postgres: Server, database: str) -> str:
    return postgres.url(database)


@pytest.fixture
def warehouse(url: str) -> Any:
    opened = open_warehouse(url)
    assert isinstance(opened, SqlWarehouse)
    yield opened
    opened.close()


def test_the_first_load_keeps_short_names_in_the_overlay(warehouse: SqlWarehouse, tmp_path: Path) -> None:
    registry = write_registry(tmp_path, documents=DOCUMENTS)
    runs = [shred(tmp_path, warehouse, registry, [event(number)]) for number in range(2)]
    first, second = (load(warehouse, registry, run) for run in runs)
    assert json.loads(overlay_file(registry).read_text()) == {"shortened": KEPT}
    assert (first.shortened, first.not_kept) == (KEPT["postgres"], "")
    assert second.shortened == {}
    assert rows(warehouse, by_hash(TABLE), by_hash(COLUMN)) == [("K8",), ("K8",)]


def test_names_are_kept_also_where_the_rule_of_shortening_changes(
    warehouse: SqlWarehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Runs that were shredded by either rule go into the table that is there."""
    registry = write_registry(tmp_path, documents=DOCUMENTS)
    runs = [shred(tmp_path, warehouse, registry, [event(number)]) for number in range(2)]
    load(warehouse, registry, runs[0])
    monkeypatch.setattr("trellis.dialects.snowplow.columns.profiles._DIGEST", 12)
    runs.append(shred(tmp_path, warehouse, registry, [event(2)]))
    assert [load(warehouse, registry, run).statements for run in runs[1:]] == [[], []]
    assert rows(warehouse, by_hash(TABLE), by_hash(COLUMN)) == [("K8",)] * 3


def test_a_name_that_is_changed_in_the_overlay_is_followed(warehouse: SqlWarehouse, tmp_path: Path) -> None:
    """Also by a run that was shredded before, whose files have the names of the rule."""
    registry = write_registry(tmp_path, documents=DOCUMENTS)
    runs = [shred(tmp_path, warehouse, registry, [event(number)]) for number in range(2)]
    load(warehouse, registry, runs[0])
    write_names(registry, **{COLUMN: "berth_name", TABLE: "vessel_calls"})
    warehouse.execute(f"ALTER TABLE atomic.{by_hash(TABLE)} RENAME TO vessel_calls")
    with pytest.raises(SchemaError, match=f"vessel_calls: .*: missing berth_name; extra {by_hash(COLUMN)}"):
        load(warehouse, registry, runs[1])
    warehouse.execute(f"ALTER TABLE atomic.vessel_calls RENAME COLUMN {by_hash(COLUMN)} TO berth_name")
    runs.append(shred(tmp_path, warehouse, registry, [event(2)]))
    assert [load(warehouse, registry, run).rows for run in runs[1:]] == [{"vessel_calls": 1, "events": 1}] * 2
    assert rows(warehouse, "vessel_calls", "berth_name") == [("K8",)] * 3
    [status] = TableInspector(warehouse, open_registry(registry), "atomic").inspect()
    assert (status.table, status.state) == ("vessel_calls", "current")


def test_tables_of_versions_that_do_not_fit_keep_their_names(warehouse: SqlWarehouse, tmp_path: Path) -> None:
    documents = [*DOCUMENTS, version("1-0-1", {COLUMN: {"type": "integer"}})]
    registry = write_registry(tmp_path, documents=documents)
    runs = [
        shred(tmp_path, warehouse, registry, [event(number, "1-0-1", **{COLUMN: 7})]) for number in (1, 2)
    ]
    [recovered] = load(warehouse, registry, runs[0]).recovered
    names = json.loads(overlay_file(registry).read_text())["shortened"]["postgres"]
    [long_name] = [name for name, short in names.items() if short == recovered]
    assert long_name.startswith(f"{TABLE}_0_1_recovered_")
    write_names(registry, **{COLUMN: "berth_name", TABLE: "vessel_calls", long_name: "calls_of_1_0_1"})
    warehouse.execute(f"ALTER TABLE atomic.{recovered} RENAME TO calls_of_1_0_1")
    warehouse.execute(f"ALTER TABLE atomic.calls_of_1_0_1 RENAME {by_hash(COLUMN)} TO berth_name")
    assert load(warehouse, registry, runs[1]).recovered == ["calls_of_1_0_1"]
    assert rows(warehouse, "calls_of_1_0_1", "berth_name") == [(7,), (7,)]


def test_a_registry_that_takes_no_overlay_leaves_the_names_to_the_rule(
    warehouse: SqlWarehouse, tmp_path: Path
) -> None:
    registry = write_registry(tmp_path, documents=DOCUMENTS)
    overlay_file(registry).with_name(f".{overlay_file(registry).name}").mkdir()  # so that no file is written
    runs = [shred(tmp_path, warehouse, registry, [event(number)]) for number in range(2)]
    first, second = (load(warehouse, registry, run) for run in runs)
    assert first.shortened == KEPT["postgres"]
    assert first.not_kept.startswith(f"{overlay_file(registry)}: cannot be written (Is a directory)")
    assert second.shortened == {}
    assert rows(warehouse, by_hash(TABLE), by_hash(COLUMN)) == [("K8",), ("K8",)]


def load_events(folder: Path, url: str, registry: str, number: int, *, plan: bool = False) -> Report:
    """By `trellis load`."""
    run = write_run(folder, [event(number)], f"run={number}{'-plan' if plan else ''}")
    pipeline = trellis.pipeline("shop", url, dataset="atomic", dialect="snowplow", engine="inline")
    return (pipeline.plan if plan else pipeline.load)(str(run), schema=registry)


def test_a_load_of_events_keeps_and_follows_them_too(
    warehouse: SqlWarehouse, url: str, tmp_path: Path
) -> None:
    registry = write_registry(tmp_path, documents=DOCUMENTS)
    notes = [
        f"{name} is {short} in the warehouse, which has no room for longer names"
        for name, short in KEPT["postgres"].items()
    ]
    assert [*load_events(tmp_path, url, registry, 1, plan=True).notes] == notes
    assert not overlay_file(registry).exists()
    assert [*load_events(tmp_path, url, registry, 1).notes] == notes
    assert json.loads(overlay_file(registry).read_text()) == {"shortened": KEPT}
    assert [*load_events(tmp_path, url, registry, 2).notes] == []
    load(warehouse, registry, shred(tmp_path, warehouse, registry, [event(3)]))
    assert rows(warehouse, by_hash(TABLE), by_hash(COLUMN)) == [("K8",)] * 3


def test_a_load_of_events_follows_a_name_that_is_changed(
    warehouse: SqlWarehouse, url: str, tmp_path: Path
) -> None:
    registry = write_registry(tmp_path, documents=DOCUMENTS)
    load_events(tmp_path, url, registry, 1)
    write_names(registry, **{COLUMN: "berth_name", TABLE: by_hash(TABLE)})
    warehouse.execute(f"ALTER TABLE atomic.{by_hash(TABLE)} RENAME COLUMN {by_hash(COLUMN)} TO berth_name")
    load_events(tmp_path, url, registry, 2)
    assert rows(warehouse, by_hash(TABLE), "berth_name") == [("K8",)] * 2
    assert by_hash(COLUMN) not in warehouse.tables("atomic")[by_hash(TABLE)].names


def test_an_overlay_keeps_what_it_has(warehouse: SqlWarehouse, tmp_path: Path) -> None:
    registry = write_registry(tmp_path, documents=DOCUMENTS)
    overrides = {f"/{COLUMN}": {"type": "VARCHAR(20)"}}
    overlay_file(registry).write_text(json.dumps(overrides))
    load(warehouse, registry, shred(tmp_path, warehouse, registry, [event(1)]))
    assert json.loads(overlay_file(registry).read_text()) == {**overrides, "shortened": KEPT}


def test_a_store_keeps_them_as_a_folder_does(warehouse: SqlWarehouse, tmp_path: Path) -> None:
    registry = f"sqlite:{tmp_path / 'registry.db'}"
    store, now = StoreRegistry.open(registry, create=True).store, current_time()
    with store.writing() as writer:
        writer.add(StoredSchema(DOCUMENTS[0], True, now, now))
    load(warehouse, registry, shred(tmp_path, warehouse, registry, [event(1)]))
    assert store.overlay(FAMILY) == Overlay({}, KEPT)


def test_other_warehouses_keep_their_names() -> None:
    overlay = Overlay.parse({"shortened": {"postgres": {COLUMN: "berth_name", TABLE: "vessel_calls"}}})
    tables = (merge_with_overlay(DOCUMENTS, profile, overlay) for profile in (PROFILES["postgres"], REDSHIFT))
    assert [(table.name, *(column.name for column in table.columns)) for table in tables] == [
        ("vessel_calls", "berth_name"),
        (TABLE, COLUMN),
    ]
    assert overlay.to_dict() == {"shortened": {"postgres": {COLUMN: "berth_name", TABLE: "vessel_calls"}}}


BROKEN: dict[str, tuple[Any, str]] = {
    "no object": ([], r"shortened: expected short names by long ones, for each warehouse"),
    "warehouse": ({"postgre": {}}, r"shortened: unknown warehouse 'postgre': did you mean 'postgres'"),
    "too long": (
        {"postgres": {COLUMN: "a" * 64}},
        r"shortened/postgres/berth_.*: 'a+' is no name in postgres; expected a text of at most 63 bytes",
    ),
    "twice": (
        {"postgres": {COLUMN: "a", TABLE: "a"}},
        r"berth_of_the_harbor_.* is 'a' already; name one of them otherwise",
    ),
}


@pytest.mark.parametrize(("shortened", "reason"), BROKEN.values(), ids=BROKEN)
def test_names_that_cannot_be_are_refused(shortened: Any, reason: str) -> None:
    with pytest.raises(SchemaError, match=reason):
        Overlay.parse({"shortened": shortened})


def test_a_name_that_another_column_has_is_refused() -> None:
    overlay = Overlay.parse({"shortened": {"postgres": {COLUMN: "agent"}}})
    document = version("1-0-0", {COLUMN: text(9), "agent": text(9)})
    with pytest.raises(SchemaError, match=f"gives agent and {COLUMN} one name in postgres, 'agent'"):
        merge_with_overlay([document], PROFILES["postgres"], overlay)


def test_a_table_that_another_family_has_is_refused(
    warehouse: SqlWarehouse, url: str, tmp_path: Path
) -> None:
    other = SchemaDocument(
        SchemaKey.parse("iglu:org.harbor/vessel_call/jsonschema/1-0-0"), object_schema({"a": text(9)})
    )
    registry = write_registry(tmp_path, documents=[*DOCUMENTS, other])
    write_names(registry, **{TABLE: "org_harbor_vessel_call_1"})
    entity = {"schema": str(other.key), "data": {"a": "x"}}
    line = enriched_line(2, {"schema": str(DOCUMENTS[0].key), "data": {COLUMN: "K8"}}, [entity])
    reason = "org_harbor_vessel_call_1: it would be the table of .* and of .*; name one of them otherwise"
    (tmp_path / "plain").mkdir()
    plain = write_registry(tmp_path / "plain", documents=[*DOCUMENTS, other])
    run = shred(tmp_path, warehouse, plain, [line])
    with pytest.raises(SchemaError, match=reason):
        load(warehouse, registry, run)
    source = write_run(tmp_path, [line], "run=2")
    pipeline = trellis.pipeline("shop", url, dataset="atomic", dialect="snowplow", engine="inline")
    with pytest.raises(SchemaError, match=r"it is the table of iglu:.*, and would be that of org.harbor/"):
        pipeline.load(str(source), schema=registry)
    assert loader(warehouse, registry).warehouse.tables("atomic") == {}
