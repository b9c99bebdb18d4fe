"""Tables beside their schemas: `verify`, and `adopt` for those that were made otherwise."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dialects.snowplow.enriched import VESSEL_CALL, enriched_line, vessel_call, write_registry
from dialects.snowplow.families import document, family, text
from dialects.snowplow.loading.runs import TABLE, columns, load, loader, rows, shred
from trellis.dialects.snowplow.columns.column_types import DOUBLE, varchar
from trellis.dialects.snowplow.columns.family_table import merge_family
from trellis.dialects.snowplow.commands.tables import adopt
from trellis.dialects.snowplow.ddl.tables import TableStatements
from trellis.dialects.snowplow.runs.loading.inspection import TableInspector, TableStatus
from trellis.dialects.snowplow.runs.warehouses.sql import SqlWarehouse
from trellis.errors import UsageError


def inspect(warehouse: SqlWarehouse, registry: str, *names: str) -> list[TableStatus]:
    runs = loader(warehouse, registry)
    return TableInspector(warehouse, runs.registry, "atomic").inspect(names)


def create_table(warehouse: SqlWarehouse, statement: str) -> None:
    """A table that somebody else made."""
    warehouse.execute('CREATE SCHEMA IF NOT EXISTS "atomic"')
    metadata = TableStatements(warehouse.profile, "atomic", TABLE).statements((), family()[0].key)[0]
    warehouse.execute(f"{metadata.removesuffix(')').rstrip()},\n{statement})")


def test_tables_are_current_behind_or_altered(warehouse: SqlWarehouse, tmp_path: Path) -> None:
    registry = write_registry(tmp_path)
    load(
        warehouse,
        registry,
        shred(tmp_path, warehouse, registry, [enriched_line(1, vessel_call("1-1-0", berth="A"))]),
    )
    behind = TableStatus(TABLE, "behind", f"{VESSEL_CALL}1-1-0", f"{VESSEL_CALL}1-2-1")
    assert inspect(warehouse, registry) == [behind]
    load(
        warehouse,
        registry,
        shred(tmp_path, warehouse, registry, [enriched_line(2, vessel_call("1-2-1", berth="A"))]),
    )
    current = TableStatus(TABLE, "current", f"{VESSEL_CALL}1-2-1", f"{VESSEL_CALL}1-2-1")
    assert inspect(warehouse, registry, TABLE) == [current]
    warehouse.execute(f"ALTER TABLE atomic.{TABLE} DROP COLUMN cargo")
    warehouse.execute(f"ALTER TABLE atomic.{TABLE} ADD COLUMN remark DATE")
    warehouse.execute(f"ALTER TABLE atomic.{TABLE} ALTER COLUMN tug_count TYPE BIGINT")
    [status] = inspect(warehouse, registry)
    assert (status.state, status.reasons) == (
        "altered",
        ("missing cargo", "extra remark", "tug_count is BIGINT, expected SMALLINT"),
    )
    warehouse.execute(f"COMMENT ON TABLE atomic.{TABLE} IS NULL")
    [status] = inspect(warehouse, registry)
    assert status.state == "unknown"
    assert "the table has no comment, so its version is not known" in status.reasons[0]
    with pytest.raises(UsageError, match=f"atomic: there is no table 'x': .*{TABLE}"):
        inspect(warehouse, registry, "x")


def test_the_table_of_a_version_that_does_not_fit_is_verified_by_itself(
    warehouse: SqlWarehouse, tmp_path: Path
) -> None:
    documents = [document("1-0-0", {"agent": {"type": "integer"}}), document("1-0-1", {"agent": text(40)})]
    registry = write_registry(tmp_path, documents=documents)
    lines = [enriched_line(1, vessel_call("1-0-1", agent="B")), enriched_line(2, vessel_call("1-0-0"))]
    load(warehouse, registry, shred(tmp_path, warehouse, registry, lines))
    statuses = inspect(warehouse, registry)
    assert [(status.version[-5:], status.state) for status in statuses] == [
        ("1-0-0", "current"),
        ("1-0-1", "current"),
    ]


def test_seed_s90_seed_s91_a_table_made_by_hand_is_adopted(
    warehouse: SqlWarehouse, url: str, tmp_path: Path
) -> None:
    """Other names, another order and wider types; later versions add columns at its end."""
    registry = write_registry(tmp_path, "1-0-0 1-1-0")
    texts = "VARCHAR(64)" if warehouse.profile.texts_have_length else "VARCHAR"
    create_table(warehouse, f"arrivedat TIMESTAMP, draught NUMERIC(36, 2), dock {texts} NOT NULL")
    named = ("/berth=dock", "/draughtM=draught")
    warehouse.close()
    adoption = adopt(TABLE, registry, url, "atomic", "", named, dry_run=False)
    [obstacle] = adoption.obstacles
    real = "numeric(36,2)" if url.startswith("postgres") else "DECIMAL(36,2)"
    double = warehouse.profile.type_text(DOUBLE)
    assert (obstacle.column, obstacle.reason) == (
        "draught",
        f"is {real}, and values of /draughtM need {double}",
    )
    warehouse.reconnect()
    warehouse.execute(f"ALTER TABLE atomic.{TABLE} ALTER COLUMN draught TYPE DOUBLE PRECISION")
    warehouse.close()
    adoption = adopt(TABLE, registry, url, "atomic", "", named, dry_run=False)
    wider = {"type": "VARCHAR(64)"} if warehouse.profile.texts_have_length else {}
    assert adoption.to_dict() == {
        "table": TABLE,
        "version": f"{VESSEL_CALL}1-1-0",
        "overlay": {
            "/berth": {"column": "dock", **wider, "position": 3},
            "/arrivedAt": {"column": "arrivedat", "position": 1},
            "/draughtM": {"column": "draught", "position": 2},
        },
        "obstacles": [],
    }
    warehouse.reconnect()
    stored = Path(registry, "org.harbor/vessel_call/jsonschema/1.overlay.json")
    assert json.loads(stored.read_text()) == adoption.overlay.to_dict()
    write_registry(tmp_path)
    lines = [enriched_line(1, vessel_call("1-0-1", berth="A", cargo="c"))]
    load(warehouse, registry, shred(tmp_path, warehouse, registry, lines), verification="definition")
    assert columns(warehouse) == ["arrivedat", "draught", "dock", "agent", "pilot", "cargo"]
    assert warehouse.execute(f"SELECT dock, cargo FROM atomic.{TABLE}") == [("A", "c")]


def test_d16_places_of_an_overlay_hold_for_tables_that_earlier_versions_made(
    warehouse: SqlWarehouse, tmp_path: Path
) -> None:
    """A table was adopted elsewhere with its columns in another order; here the first version makes one, and
    the columns of later versions come at its end."""
    registry = write_registry(tmp_path)
    names = ("pilot", "agent", "draughtM", "arrivedAt", "berth")
    overlay = {f"/{name}": {"position": position} for position, name in enumerate(names, start=1)}
    place = Path(registry, "org.harbor/vessel_call/jsonschema/1.overlay.json")
    place.write_text(json.dumps(overlay))
    data: list[dict[str, Any]] = []
    for version in ("1-0-0", "1-2-0", "1-2-1"):
        data.append({"berth": version, **({} if version == "1-0-0" else {"agent": "b", "draughtM": 1.5})})
        lines = [enriched_line(len(data), vessel_call(version, **data[-1]))]
        for format in ("csv", "parquet"):
            run = shred(tmp_path, warehouse, registry, lines, format=format)
            load(warehouse, registry, run, verification="definition")
        assert [status.state for status in inspect(warehouse, registry)] != ["altered"]
    assert columns(warehouse) == [
        *("arrived_at", "berth", "draught_m", "agent", "pilot"),
        *("cargo", "tug_count"),
    ]
    assert rows(warehouse, TABLE, "berth", "agent", "draught_m")[::2] == [
        ("1-0-0", None, None),
        ("1-2-0", "b", 1.5),
        ("1-2-1", "b", 1.5),
    ]
    warehouse.execute(f"ALTER TABLE atomic.{TABLE} DROP COLUMN agent")
    warehouse.execute(f"ALTER TABLE atomic.{TABLE} ADD COLUMN agent VARCHAR(40)")
    [status] = inspect(warehouse, registry)
    assert (status.state, status.reasons[-1]) == ("altered", "pilot is in place 13, expected in place 10")


def test_columns_that_every_table_has_may_stand_anywhere(warehouse: SqlWarehouse, tmp_path: Path) -> None:
    registry = write_registry(tmp_path, "1-0-0")
    lines = [enriched_line(1, vessel_call("1-0-0", berth="A"))]
    load(warehouse, registry, shred(tmp_path, warehouse, registry, lines))
    warehouse.execute(f"ALTER TABLE atomic.{TABLE} DROP COLUMN ref_parent")
    warehouse.execute(f"ALTER TABLE atomic.{TABLE} ADD COLUMN ref_parent VARCHAR(255)")
    assert [status.state for status in inspect(warehouse, registry)] == ["current"]
    lines = [enriched_line(2, vessel_call("1-0-0", berth="B"))]
    load(warehouse, registry, shred(tmp_path, warehouse, registry, lines), verification="definition")
    assert rows(warehouse, TABLE, "berth", "ref_parent") == [("A", None), ("B", "events")]


def test_a_table_of_an_older_generator_is_adopted_by_its_columns(
    warehouse: SqlWarehouse, url: str, tmp_path: Path
) -> None:
    """Without a comment the last version counts whose columns are all there."""
    registry = write_registry(tmp_path)
    statements = TableStatements(warehouse.profile, "atomic", TABLE)
    table = merge_family(family("1-0-0 1-1-0"), warehouse.profile)
    warehouse.execute('CREATE SCHEMA "atomic"')
    warehouse.execute(statements.statements(table.columns, table.key)[0])
    warehouse.close()
    adoption = adopt(TABLE, registry, url, "atomic", "", (), dry_run=False)
    warehouse.reconnect()
    assert (str(adoption.version), adoption.overlay.to_dict()) == (f"{VESSEL_CALL}1-1-0", {})
    assert warehouse.tables("atomic")[TABLE].comment == f"{VESSEL_CALL}1-1-0"
    assert [status.state for status in inspect(warehouse, registry)] == ["behind"]


def test_what_cannot_be_adopted_is_said_of_each_column(
    warehouse: SqlWarehouse, url: str, tmp_path: Path
) -> None:
    registry = write_registry(tmp_path, "1-0-0")
    create_table(warehouse, "berth SMALLINT NOT NULL, arrived_at TIMESTAMP NOT NULL, remark DATE")
    warehouse.close()
    adoption = adopt(TABLE, registry, url, "atomic", "", (), dry_run=False)
    warehouse.reconnect()
    small = "smallint" if url.startswith("postgres") else "SMALLINT"
    needed = warehouse.profile.type_text(warehouse.profile.adapt(varchar(12)))
    assert [(obstacle.column, obstacle.reason) for obstacle in adoption.obstacles] == [
        ("berth", f"is {small}, and values of /berth need {needed}"),
        ("arrived_at", "is NOT NULL, and events may leave /arrivedAt out"),
        ("remark", "belongs to no property; drop it"),
    ]
    assert warehouse.tables("atomic")[TABLE].comment is None
    assert not Path(registry, "org.harbor/vessel_call/jsonschema/1.overlay.json").exists()
    warehouse.close()
    with pytest.raises(
        UsageError, match=r"--column /berht=berth: schemas have no property /berht: did you mean '/berth'"
    ):
        adopt(TABLE, registry, url, "atomic", "", ("/berht=berth",), dry_run=True)
    with pytest.raises(UsageError, match=r"--version 1-9-0: the registry has no such version"):
        adopt(TABLE, registry, url, "atomic", "1-9-0", (), dry_run=True)
