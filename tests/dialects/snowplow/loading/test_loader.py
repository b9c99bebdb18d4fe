"""Run folders loaded into DuckDB and PostgreSQL."""

from __future__ import annotations

import json
from contextlib import nullcontext
from datetime import datetime
from decimal import Decimal
from hashlib import sha256
from pathlib import Path

import pytest

from dialects.snowplow.enriched import (
    VESSEL_CALL,
    enriched_line,
    event_id,
    vessel_call,
    write_registry,
)
from dialects.snowplow.families import document, object_schema, text
from dialects.snowplow.loading.runs import DATA, TABLE, columns, load, loader, shred
from trellis.dialects.snowplow.columns.column_types import varchar
from trellis.dialects.snowplow.document.schema_document import SchemaDocument
from trellis.dialects.snowplow.runs.layouts import ATOMIC
from trellis.dialects.snowplow.runs.loading import loader as module
from trellis.dialects.snowplow.runs.loading.inspection import TableInspector
from trellis.dialects.snowplow.runs.loading.retries import Retries
from trellis.dialects.snowplow.runs.manifest import COMPLETION_FILE, FAMILIES_FILE, RunManifest
from trellis.dialects.snowplow.runs.warehouses.base import WarehouseUnavailable
from trellis.dialects.snowplow.runs.warehouses.sql import SqlWarehouse
from trellis.engine.staging.dead_letters import DISCARDS
from trellis.errors import DestinationError, SchemaError


def test_an_older_run_goes_into_a_newer_table(warehouse: SqlWarehouse, tmp_path: Path) -> None:
    registry = write_registry(tmp_path)
    older = shred(tmp_path, warehouse, registry, [enriched_line(1, vessel_call("1-0-0", berth="old"))])
    newer = shred(tmp_path, warehouse, registry, [enriched_line(2, vessel_call("1-2-1", berth="new"))])
    load(warehouse, registry, newer)
    assert [*load(warehouse, registry, older).statements] == []
    assert warehouse.execute(f"SELECT berth, tug_count FROM atomic.{TABLE} ORDER BY 1") == [
        ("new", None),
        ("old", None),
    ]


def test_the_balance_of_a_load_counts_the_copies_that_shredding_dropped(
    warehouse: SqlWarehouse, tmp_path: Path
) -> None:
    registry = write_registry(tmp_path)
    call = vessel_call("1-0-0", berth="A")
    lines = [enriched_line(1, call, event_fingerprint="f")] * 3 + [enriched_line(2, call), "no event"]
    run = shred(tmp_path, warehouse, registry, lines)
    report = load(warehouse, registry, run)
    assert report.balance == "events in 5 = loaded 2 + failed 1 + dropped 2"
    assert report.rows == {TABLE: 2, "events": 2}
    figures = ("loaded_events", "failed_events", "dropped_events")
    assert [report.to_dict()[name] for name in figures] == [2, 1, 2]


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_events_of_self_describing_json_count_although_they_have_no_row_in_events(
    warehouse: SqlWarehouse, tmp_path: Path, format: str
) -> None:
    registry = write_registry(tmp_path)
    json_event = {**vessel_call("1-0-0", berth="A"), "id": "e-1", "at": "2031-04-05T06:00:00Z"}
    lines = [json.dumps(json_event), enriched_line(1, vessel_call("1-0-0", berth="B")), "{}"]
    settings = {"id_path": "id", "time_path": "at"}
    run = shred(tmp_path, warehouse, registry, lines, format=format, settings=settings)
    assert RunManifest.read(run).completion_document("")["data"]["count"] == {"good": 2, "bad": 1}
    report = load(warehouse, registry, run)
    assert report.balance == "events in 3 = loaded 2 + failed 1 + dropped 0"
    assert report.rows == {TABLE: 2, "events": 1}


@pytest.mark.parametrize("layout", ["model", "version"])
def test_events_of_skipped_schemas_alone_are_dropped_in_both_halves(
    warehouse: SqlWarehouse, tmp_path: Path, layout: str
) -> None:
    """Self-describing JSON has no row in events, so one whose schema is skipped has none at all."""
    registry = write_registry(tmp_path)
    skipped = {**vessel_call("3-0-0"), "id": "e-1", "at": "2031-04-05T06:00:00Z"}
    call = vessel_call("1-0-0", berth="A")
    copies = [enriched_line(1, call, event_fingerprint="f")] * 2
    lines = [json.dumps(skipped), json.dumps({**skipped, **call}), *copies, "{}"]
    rules = {"id_path": "id", "time_path": "at", "skip": "iglu:org.harbor/vessel_call/jsonschema/3-*-*"}
    run = shred(tmp_path, warehouse, registry, lines, settings={"layout": layout, **rules})
    report = load(warehouse, registry, run)
    assert report.balance == "events in 5 = loaded 2 + failed 1 + dropped 2"


def test_r86_what_was_published_since_the_run_does_not_widen_the_table(
    warehouse: SqlWarehouse, tmp_path: Path
) -> None:
    """S-56, S-60."""
    registry = write_registry(tmp_path, "1-0-0 1-1-0 1-2-0")
    run = shred(tmp_path, warehouse, registry, [enriched_line(1, vessel_call("1-2-0", berth="A"))])
    write_registry(tmp_path)
    load(warehouse, registry, run)
    assert columns(warehouse) == ["berth", "arrived_at", "draught_m", "agent", "pilot"]


def test_r87_the_table_migrates_by_position_not_by_number(warehouse: SqlWarehouse, tmp_path: Path) -> None:
    registry = write_registry(tmp_path)
    load(
        warehouse,
        registry,
        shred(tmp_path, warehouse, registry, [enriched_line(1, vessel_call("1-2-0", berth="A"))]),
    )
    report = load(
        warehouse,
        registry,
        shred(tmp_path, warehouse, registry, [enriched_line(2, vessel_call("1-0-1", berth="B", cargo="c"))]),
    )
    assert [
        statement.partition(" ADD COLUMN ")[2] for statement in report.statements if " ADD " in statement
    ] == ['"cargo" VARCHAR' + ("(20)" if warehouse.profile.name == "postgres" else "")]


@pytest.mark.parametrize(
    ("comment", "reason"),
    [
        (
            None,
            (
                "the table has no comment, so its version is not known; set it: COMMENT ON TABLE "
                f"atomic.{TABLE} IS '{VESSEL_CALL}1-2-1' with the last version whose columns it has, or let "
                "`trellis snowplow adopt` find it"
            ),
        ),
        (
            "mine",
            (
                "its comment is 'mine'; expected one of 1-0-0, 1-1-0, 1-2-0, 1-0-1, 1-2-1 of "
                "org.harbor/vessel_call/jsonschema/1, the last version whose columns it has; set it, or let "
                "`trellis snowplow adopt` find it"
            ),
        ),
    ],
)
def test_r88_b19_a_table_without_a_known_version_is_refused(
    warehouse: SqlWarehouse, tmp_path: Path, comment: str | None, reason: str
) -> None:
    registry = write_registry(tmp_path)
    lines = [enriched_line(1, vessel_call("1-0-0", berth="A"))]
    load(warehouse, registry, shred(tmp_path, warehouse, registry, lines))
    text_of_comment = "NULL" if comment is None else f"'{comment}'"
    warehouse.execute(f"COMMENT ON TABLE atomic.{TABLE} IS {text_of_comment}")
    with pytest.raises(SchemaError) as refusal:
        load(warehouse, registry, shred(tmp_path, warehouse, registry, lines))
    assert str(refusal.value) == f"{TABLE}: {reason}"


def test_r89_b20_a_table_without_one_of_its_columns_is_refused(
    warehouse: SqlWarehouse, tmp_path: Path
) -> None:
    """S-55, S-62: counts of columns are compared at each load."""
    registry = write_registry(tmp_path)
    lines = [enriched_line(1, vessel_call("1-2-1", berth="A"))]
    load(warehouse, registry, shred(tmp_path, warehouse, registry, lines))
    warehouse.execute(f"ALTER TABLE atomic.{TABLE} DROP COLUMN cargo")
    second = shred(tmp_path, warehouse, registry, lines)
    with pytest.raises(SchemaError) as refusal:
        load(warehouse, registry, second)
    assert str(refusal.value) == (
        f"{TABLE}: it has 15 columns, 16 are expected by its comment {VESSEL_CALL}1-2-1: missing cargo; mend "
        "the table or its comment, or let `trellis snowplow adopt` describe it"
    )
    assert warehouse.execute("SELECT count(*) FROM atomic.events") == [(1,)]


@pytest.mark.parametrize(
    ("column", "retyped", "sentence"),
    [
        (f"{TABLE}.draught_m", "SMALLINT", "draught_m is SMALLINT, expected {double}; mend the table"),
        (f"{TABLE}.arrived_at", "DATE", "arrived_at is DATE, expected TIMESTAMP; mend the table"),
        (
            "events.tr_total",
            "BIGINT",
            "events: tr_total is BIGINT, expected {decimal}; the column would not keep",
        ),
    ],
)
def test_b20_a_column_that_would_round_or_cut_its_values_is_refused(
    warehouse: SqlWarehouse, tmp_path: Path, column: str, retyped: str, sentence: str
) -> None:
    """A warehouse rounds 2.25 for an integer without a word."""
    registry, (table, name) = write_registry(tmp_path), column.split(".")
    call = vessel_call("1-1-0", berth="A", draughtM=2.25, arrivedAt="2031-04-05T06:00:00Z")
    load(warehouse, registry, shred(tmp_path, warehouse, registry, [enriched_line(1, call)]))
    warehouse.execute(f"ALTER TABLE atomic.{table} ALTER COLUMN {name} TYPE {retyped}")
    run = shred(tmp_path, warehouse, registry, [enriched_line(2, call, tr_total="2.25")])
    expected = {
        "double": "DOUBLE PRECISION" if warehouse.profile.name == "postgres" else "DOUBLE",
        "decimal": "DECIMAL (18, 2)" if warehouse.profile.name == "postgres" else "DECIMAL(18,2)",
    }
    with pytest.raises(SchemaError) as refusal:
        load(warehouse, registry, run)
    assert sentence.format(**expected) in str(refusal.value)
    assert warehouse.execute("SELECT count(*) FROM atomic.events") == [(1,)]


def test_columns_that_keep_their_values_in_another_type_are_taken(
    warehouse: SqlWarehouse, tmp_path: Path
) -> None:
    registry, call = write_registry(tmp_path), vessel_call("1-2-1", berth="A", draughtM=2.25, tugCount=3)
    load(warehouse, registry, shred(tmp_path, warehouse, registry, [enriched_line(1, call)]))
    for name, retyped in (("draught_m", "VARCHAR"), ("tug_count", "BIGINT")):
        warehouse.execute(f"ALTER TABLE atomic.{TABLE} ALTER COLUMN {name} TYPE {retyped}")
    load(warehouse, registry, shred(tmp_path, warehouse, registry, [enriched_line(2, call)]))
    warehouse.execute("ALTER TABLE atomic.events ALTER COLUMN domain_sessionidx TYPE SMALLINT")
    for number, session in ((3, "7"), (4, "32768")):
        line = enriched_line(number, call, domain_sessionidx=session)
        run = shred(tmp_path, warehouse, registry, [line])
        with pytest.raises(DestinationError) if number == 4 else nullcontext():
            load(warehouse, registry, run)
    stored = warehouse.execute(f"SELECT draught_m, tug_count FROM atomic.{TABLE}")
    assert stored == [("2.25", 3)] * 3
    assert warehouse.execute("SELECT max(domain_sessionidx) FROM atomic.events") == [(7,)]


def test_r90_a_run_is_loaded_once(warehouse: SqlWarehouse, tmp_path: Path) -> None:
    registry = write_registry(tmp_path)
    run = shred(tmp_path, warehouse, registry, [enriched_line(1, vessel_call("1-0-0", berth="A"))])
    assert [load(warehouse, registry, run).state for _ in range(2)] == ["loaded", "already loaded"]
    assert warehouse.execute("SELECT count(*) FROM atomic.events") == [(1,)]
    assert warehouse.execute("SELECT base, count_good FROM atomic.manifest") == [(f"{run}/", 1)]


def test_r91_a_failed_load_leaves_nothing_and_goes_in_once_later(
    warehouse: SqlWarehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry = write_registry(tmp_path)
    run = shred(tmp_path, warehouse, registry, [enriched_line(1, vessel_call("1-0-0", berth="A"))])

    def fail(manifest: object, now: object) -> None:
        raise DestinationError("the server is gone")

    with monkeypatch.context() as patch, pytest.raises(DestinationError, match="the server is gone"):
        patch.setattr(module, "manifest_row", fail)
        load(warehouse, registry, run)
    assert TABLE not in warehouse.tables("atomic")
    assert load(warehouse, registry, run).state == "loaded"
    assert warehouse.execute(f"SELECT berth FROM atomic.{TABLE}") == [("A",)]


def test_r92_another_version_of_the_algorithm_is_refused(warehouse: SqlWarehouse, tmp_path: Path) -> None:
    """S-73."""
    registry = write_registry(tmp_path)
    run = shred(tmp_path, warehouse, registry, [enriched_line(1, vessel_call("1-0-0", berth="A"))])
    families = json.loads((run / FAMILIES_FILE).read_text())
    (run / FAMILIES_FILE).write_text(json.dumps({**families, "algorithm": "0"}))
    with pytest.raises(
        SchemaError, match="shredded by version 0 of the algorithm, this loader has version 1"
    ):
        load(warehouse, registry, run)
    assert "events" not in warehouse.tables("atomic")


def test_r93_b18_a_run_without_completion_file_is_incomplete(warehouse: SqlWarehouse, tmp_path: Path) -> None:
    registry = write_registry(tmp_path)
    run = shred(tmp_path, warehouse, registry, [enriched_line(1)])
    (run / COMPLETION_FILE).unlink()
    assert load(warehouse, registry, run).state == "incomplete"
    assert "events" not in warehouse.tables("atomic")


def test_values_that_do_not_fit_are_kept_beside(warehouse: SqlWarehouse, tmp_path: Path) -> None:
    registry = write_registry(tmp_path)
    data = {"tugCount": "many", "arrivedAt": "yesterday", "pilot": "maybe", "draughtM": "7,5"}
    line = enriched_line(1, vessel_call("1-2-1", berth="K7", **data))
    run = shred(tmp_path, warehouse, registry, [line], settings={"validate": "false"})
    assert load(warehouse, registry, run).discards == 4
    kept = warehouse.execute(
        'SELECT column_name, "row", value, reason FROM atomic._trellis_discards ORDER BY 1'
    )
    assert [(name, value) for name, _, value, _ in kept] == [
        ("arrived_at", "yesterday"),
        ("draught_m", "7,5"),
        ("pilot", "maybe"),
        ("tug_count", "many"),
    ]
    assert {event for _, event, _, _ in kept} == {event_id(1)}
    assert kept[-1][-1] == "not an integer of 16 bits"


def test_words_that_a_server_takes_for_values_are_kept_beside(
    warehouse: SqlWarehouse, tmp_path: Path
) -> None:
    """COPY of PostgreSQL would take each of them."""
    registry = write_registry(tmp_path)
    for words in ({"arrivedAt": "now"}, {"draughtM": "nan"}, {"pilot": "yes"}, {"tugCount": " 2"}):
        line = enriched_line(1, vessel_call("1-2-1", berth="K7", **words))
        run = shred(tmp_path, warehouse, registry, [line], settings={"validate": "false"})
        assert load(warehouse, registry, run).discards == 1
    assert warehouse.execute("SELECT column_name, value FROM atomic._trellis_discards ORDER BY 1") == [
        ("arrived_at", "now"),
        ("draught_m", "nan"),
        ("pilot", "yes"),
        ("tug_count", " 2"),
    ]
    values = "arrived_at, draught_m, pilot, tug_count"
    assert {*warehouse.execute(f"SELECT {values} FROM atomic.{TABLE}")} == {(None, None, None, None)}


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_rows_of_usual_texts_are_those_of_any(
    warehouse: SqlWarehouse, tmp_path: Path, format: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry = write_registry(tmp_path)
    data = {"arrivedAt": "2031-12-31T23:59:59.250Z", "draughtM": 1e-7, "pilot": True, "agent": "a\\\\N\\"}
    line = enriched_line(1, vessel_call("1-2-1", berth="é" * 6, **data), tr_total="12.5", page_title="\\N\\")
    run = shred(tmp_path, warehouse, registry, [line], format=format)
    assert load(warehouse, registry, run).discards == 0
    values = "berth, arrived_at, draught_m, pilot, agent, tug_count"
    assert warehouse.execute(f"SELECT {values} FROM atomic.{TABLE}") == [
        ("é" * 6, datetime(2031, 12, 31, 23, 59, 59, 250_000), 1e-7, True, "a\\\\N\\", None)
    ]
    events = "SELECT tr_total, page_title, app_id, load_tstamp IS NULL FROM atomic.events"
    assert warehouse.execute(events) == [(Decimal("12.50"), "\\N\\", None, False)]


def test_a_schema_that_was_patched_since_the_run_is_refused(warehouse: SqlWarehouse, tmp_path: Path) -> None:
    registry = write_registry(tmp_path, documents=[document("1-0-0", {"a": text(9)})])
    run = shred(tmp_path, warehouse, registry, [enriched_line(1, vessel_call("1-0-0", a="x"))])
    write_registry(tmp_path, documents=[document("1-0-0", {"a": {"type": "integer"}})])
    with pytest.raises(SchemaError, match=r"one of 1-0-0 of .* was patched, or its overlay changed"):
        load(warehouse, registry, run)


def test_a_name_for_which_there_is_no_room_is_told_once(warehouse: SqlWarehouse, tmp_path: Path) -> None:
    key = f"berth_{'of_the_harbor_' * 4}name"
    registry = write_registry(tmp_path, documents=[document("1-0-0", {key: text(9)})])
    data = vessel_call("1-0-0", **{key: "K8"})
    runs = [shred(tmp_path, warehouse, registry, [enriched_line(number, data)]) for number in range(2)]
    first, second = (load(warehouse, registry, run).shortened for run in runs)
    short = f"{key[:54]}_{sha256(key.encode()).hexdigest()[:8]}"
    assert first == ({key: short} if warehouse.profile.name == "postgres" else {})
    assert second == {}


def test_status_says_which_runs_are_loaded(warehouse: SqlWarehouse, tmp_path: Path) -> None:
    registry = write_registry(tmp_path)
    runs = [shred(tmp_path, warehouse, registry, [enriched_line(number)]) for number in range(3)]
    load(warehouse, registry, runs[0])
    (runs[1] / COMPLETION_FILE).unlink()
    runs_loader = loader(warehouse, registry)
    assert [(report.run, report.state) for report in runs_loader.status(str(tmp_path / "out"))] == [
        ("run=2031-04-05-00-00-00", "loaded"),
        ("run=2031-04-05-01-00-00", "incomplete"),
        ("run=2031-04-05-02-00-00", "unloaded"),
    ]


def test_contexts_of_duplicates_need_no_registry(warehouse: SqlWarehouse, tmp_path: Path) -> None:
    registry = write_registry(tmp_path)
    lines = [enriched_line(1, event_fingerprint=text) for text in "fg"]
    load(warehouse, registry, shred(tmp_path, warehouse, registry, lines))
    assert warehouse.execute(
        "SELECT original_event_id, count(*) FROM atomic.com_snowplowanalytics_snowplow_duplicate_1 "
        "JOIN atomic.events ON event_id = root_id GROUP BY 1"
    ) == [(event_id(1), 2)]


def test_every_load_keeps_its_discards_beside_those_of_other_loads(
    warehouse: SqlWarehouse, url: str, tmp_path: Path
) -> None:
    """Both ways of loading share one table."""
    registry = write_registry(tmp_path)
    line = enriched_line(1, vessel_call("1-2-1", berth="K7", tugCount="many"))
    run = shred(tmp_path, warehouse, registry, [line], settings={"validate": "false"})
    load(warehouse, registry, run)
    names = [column.name for column in warehouse.tables("atomic")["_trellis_discards"].columns]
    assert names == [*DISCARDS.columns]
    assert warehouse.execute(
        "SELECT load_id, table_name, column_name, path, value, position FROM atomic._trellis_discards"
    ) == [(f"{run}/", TABLE, "tug_count", "/tugCount", "many", 0)]


ALTERED = {
    "dropped": ("DROP COLUMN cargo", "15 columns, 16 are expected .*: missing cargo"),
    "added": ("ADD COLUMN remark VARCHAR", "17 columns, 16 are expected .*: extra remark"),
    "renamed": ("RENAME COLUMN cargo TO load", "16 columns, 16 are expected .*: missing cargo; extra load"),
}


@pytest.mark.parametrize(("change", "reason"), ALTERED.values(), ids=ALTERED)
def test_seed_s55_seed_s62_a_table_altered_by_hand_is_refused(
    warehouse: SqlWarehouse, tmp_path: Path, change: str, reason: str
) -> None:
    registry = write_registry(tmp_path)
    lines = [enriched_line(1, vessel_call("1-2-1", berth="A"))]
    load(warehouse, registry, shred(tmp_path, warehouse, registry, lines))
    warehouse.execute(f"ALTER TABLE atomic.{TABLE} {change}")
    second = shred(tmp_path, warehouse, registry, lines)
    with pytest.raises(SchemaError, match=reason):
        load(warehouse, registry, second)
    assert warehouse.execute("SELECT count(*) FROM atomic.events") == [(1,)]


def test_seed_s64_b20_a_column_of_another_type_is_refused_where_definitions_are_compared(
    warehouse: SqlWarehouse, tmp_path: Path
) -> None:
    registry = write_registry(tmp_path)
    lines = [enriched_line(1, vessel_call("1-2-1", berth="A", tugCount=2))]
    load(warehouse, registry, shred(tmp_path, warehouse, registry, lines))
    warehouse.execute(f"ALTER TABLE atomic.{TABLE} ALTER COLUMN tug_count TYPE VARCHAR(65535)")
    second = shred(tmp_path, warehouse, registry, lines)
    actual = "VARCHAR(65535)" if warehouse.profile.texts_have_length else "VARCHAR"
    with pytest.raises(SchemaError) as refusal:
        load(warehouse, registry, second, verification="definition")
    assert f": tug_count is {actual}, expected SMALLINT; mend the table" in str(refusal.value)
    assert load(warehouse, registry, second).state == "loaded"
    assert warehouse.execute(f"SELECT tug_count FROM atomic.{TABLE}") == [("2",), ("2",)]


def test_seed_s65_b20_a_column_in_another_place_is_refused_where_definitions_are_compared(
    warehouse: SqlWarehouse, tmp_path: Path
) -> None:
    registry = write_registry(tmp_path)
    lines = [enriched_line(1, vessel_call("1-2-1", berth="A", agent="B"))]
    load(warehouse, registry, shred(tmp_path, warehouse, registry, lines))
    type_text = warehouse.profile.type_text(varchar(40))
    warehouse.execute(f"ALTER TABLE atomic.{TABLE} DROP COLUMN agent")
    warehouse.execute(f"ALTER TABLE atomic.{TABLE} ADD COLUMN agent {type_text}")
    second = shred(tmp_path, warehouse, registry, lines)
    with pytest.raises(SchemaError, match="agent is in place 16, expected in place 13"):
        load(warehouse, registry, second, verification="definition")
    load(warehouse, registry, second)
    assert warehouse.execute(f"SELECT agent, cargo FROM atomic.{TABLE} ORDER BY 1 NULLS FIRST") == [
        (None, None),
        ("B", None),
    ]


def test_seed_s63_a_schema_patched_between_loads_is_named(warehouse: SqlWarehouse, tmp_path: Path) -> None:
    """The table has as many columns as before, so their number tells nothing."""
    line = enriched_line(1, vessel_call("1-0-0", agent="B"))
    registry = write_registry(tmp_path, documents=[document("1-0-0", {"agent": {"type": "integer"}})])
    first = shred(tmp_path, warehouse, registry, [enriched_line(1, vessel_call("1-0-0", agent=1))])
    load(warehouse, registry, first)
    registry = write_registry(tmp_path, documents=[document("1-0-0", {"agent": text(40)})])
    second = shred(tmp_path, warehouse, registry, [line])
    with pytest.raises(SchemaError) as refusal:
        load(warehouse, registry, second)
    actual = warehouse.profile.type_text(varchar(40))
    assert str(refusal.value) == (
        f"{TABLE}: {VESSEL_CALL}1-0-0 was patched since the load of {first}/, and the table is not as the "
        f"schema says now: agent is BIGINT, expected {actual}; change the table by hand, or publish the old "
        "schema again and the change as a new version"
    )


def test_a_patch_of_words_alone_stops_nothing(warehouse: SqlWarehouse, tmp_path: Path) -> None:
    line = enriched_line(1, vessel_call("1-0-0", agent="B"))
    registry = write_registry(tmp_path, documents=[document("1-0-0", {"agent": text(40)})])
    load(warehouse, registry, shred(tmp_path, warehouse, registry, [line]))
    registry = write_registry(tmp_path, documents=[document("1-0-0", {"agent": text(40)}, title="Call")])
    assert load(warehouse, registry, shred(tmp_path, warehouse, registry, [line])).state == "loaded"


def test_the_table_of_a_version_that_does_not_fit(warehouse: SqlWarehouse, tmp_path: Path) -> None:
    documents = [document("1-0-0", {"agent": {"type": "integer"}}), document("1-0-1", {"agent": text(40)})]
    registry = write_registry(tmp_path, documents=documents)
    lines = [
        enriched_line(1, vessel_call("1-0-0", agent=7)),
        enriched_line(2, vessel_call("1-0-1", agent="B")),
    ]
    report = load(warehouse, registry, shred(tmp_path, warehouse, registry, lines))
    [recovered] = report.recovered
    assert recovered.startswith(f"{TABLE}_0_1_recovered_")
    assert report.rows == {TABLE: 1, recovered: 1, "events": 2}
    assert warehouse.execute(f"SELECT agent FROM atomic.{recovered}") == [("B",)]
    registry = write_registry(tmp_path, documents=documents[:1])
    run = tmp_path / "out/run=2031-04-05-00-00-00"
    warehouse.execute("DELETE FROM atomic.manifest")
    (tmp_path / "registry/org.harbor/vessel_call/jsonschema/1-0-1").unlink()
    with pytest.raises(
        SchemaError, match="the registry lists 1-0-0, and the run was shredded by 1-0-0, 1-0-1"
    ):
        load(warehouse, registry, run)


@pytest.mark.parametrize("layout", ["model", "version"])
def test_seed_s91_a_table_follows_its_overlay(warehouse: SqlWarehouse, tmp_path: Path, layout: str) -> None:
    registry = write_registry(tmp_path, "1-0-0")
    overlay = {"/berth": {"column": "dock", "position": 2}}
    lines = [enriched_line(1, vessel_call("1-0-0", berth="A"))]
    before = shred(tmp_path, warehouse, registry, lines, settings={"layout": layout})
    (tmp_path / "registry/org.harbor/vessel_call/jsonschema/1.overlay.json").write_text(json.dumps(overlay))
    after = shred(tmp_path, warehouse, registry, lines, settings={"layout": layout})
    assert [RunManifest.read(run).tables[0].columns[9:] for run in (before, after)] == [
        ("berth", "arrived_at"),
        ("arrived_at", "dock") if layout == "model" else ("dock", "arrived_at"),
    ]
    for run in (after, before):
        load(warehouse, registry, run)
    assert columns(warehouse) == ["arrived_at", "dock"]
    assert warehouse.execute(f"SELECT dock FROM atomic.{TABLE}") == [("A",), ("A",)]


def test_texts_of_events_are_as_long_as_the_registry_says(warehouse: SqlWarehouse, tmp_path: Path) -> None:
    atomic = SchemaDocument(ATOMIC, object_schema({"app_id": text(3)}))
    registry = write_registry(tmp_path, documents=[atomic])
    load(warehouse, registry, shred(tmp_path, warehouse, registry, [enriched_line(1, app_id="shop")]))
    cut = warehouse.profile.texts_have_length
    assert warehouse.execute("SELECT app_id FROM atomic.events") == [("sho" if cut else "shop",)]


def test_a_table_of_events_without_a_column_is_refused(warehouse: SqlWarehouse, tmp_path: Path) -> None:
    registry = write_registry(tmp_path)
    load(warehouse, registry, shred(tmp_path, warehouse, registry, [enriched_line(1)]))
    warehouse.execute("ALTER TABLE atomic.events DROP COLUMN geo_city")
    second = shred(tmp_path, warehouse, registry, [enriched_line(2)])
    type_text = warehouse.profile.type_text(warehouse.profile.adapt(varchar(75)))
    with pytest.raises(SchemaError) as refusal:
        load(warehouse, registry, second)
    assert str(refusal.value) == (
        "events: it has no column geo_city; add what is missing: "
        f'ALTER TABLE atomic.events ADD COLUMN "geo_city" {type_text}'
    )


@pytest.mark.parametrize("format", ["parquet", "orc"])
def test_tabs_and_ends_of_lines_stay_in_typed_files(
    warehouse: SqlWarehouse, tmp_path: Path, format: str
) -> None:
    registry = write_registry(tmp_path)
    odd = "a\tb\nc\rd\\e"
    line = enriched_line(1, vessel_call("1-2-1", berth="A", agent=odd))
    load(warehouse, registry, shred(tmp_path, warehouse, registry, [line], format=format))
    assert warehouse.execute(f"SELECT agent FROM atomic.{TABLE}") == [(odd,)]


def test_a_time_that_is_not_read_from_orc_is_refused(warehouse: SqlWarehouse, tmp_path: Path) -> None:
    registry = write_registry(tmp_path)
    line = enriched_line(1, collector_tstamp="9999-12-31 23:59:59.999")
    run = shred(tmp_path, warehouse, registry, [line], format="orc")
    with pytest.raises(SchemaError) as refusal:
        load(warehouse, registry, run)
    assert "ORC is read for times of the years 1678 to 2261" in str(refusal.value)
    assert str(refusal.value).endswith("; shred the run with --format csv or parquet")
    assert "events" not in warehouse.tables("atomic")


def test_a_run_that_is_compatible_is_loaded_as_such(warehouse: SqlWarehouse, tmp_path: Path) -> None:
    """D-04, D-12: an object without a type has a column of its own, and carriage returns stay."""
    place = {"properties": {"x": text(9)}}
    registry = write_registry(tmp_path, documents=[document("1-0-0", {"m": place, "berth": text(9)})])
    lines = [
        enriched_line(1, vessel_call("1-0-0", m={"x": "a\r\nb"}, berth="\\N")),
        enriched_line(2, vessel_call("1-0-0", berth="B")),
    ]
    for number in range(2):
        run = shred(tmp_path, warehouse, registry, lines, settings={"compat": "true"})
        report = load(warehouse, registry, run, verification="definition")
        assert (report.state, report.rows, bool(report.statements)) == (
            "loaded",
            {TABLE: 2, "events": 2},
            number == 0,
        )
    assert columns(warehouse) == ["berth", "m", "m.x"]
    runs = loader(warehouse, registry)
    for compat, state in ((False, "altered"), (True, "current")):
        inspector = TableInspector(warehouse, runs.registry, "atomic", compat)
        assert [status.state for status in inspector.inspect()] == [state]
    rows = warehouse.execute(f'SELECT berth, m, "m.x" FROM atomic.{TABLE} ORDER BY 1')
    assert rows[::2] == [("B", None, None), ("\\N", '{"x":"a\\r\\nb"}', "a\r b")]


def test_a_warehouse_that_is_out_of_reach_is_tried_again(
    warehouse: SqlWarehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry = write_registry(tmp_path)
    run = shred(tmp_path, warehouse, registry, [enriched_line(1)])
    waits: list[float] = []
    real_lock = warehouse.lock

    def lock(dataset: str) -> None:
        if len(waits) < 2:
            raise WarehouseUnavailable("the server restarts")
        real_lock(dataset)

    monkeypatch.setattr(warehouse, "lock", lock)
    monkeypatch.setattr(warehouse, "reconnect", lambda: None)
    with pytest.warns(UserWarning, match="^the server restarts; trying again in 60 s$"):
        report = load(warehouse, registry, run, retries=Retries((30.0, 60.0), waits.append))
    assert (report.state, report.attempts, waits) == ("loaded", 3, [30.0, 60.0])
    with pytest.raises(SchemaError, match="no such"):
        Retries((30.0,), waits.append).run(fail_for_good)
    assert waits == [30.0, 60.0]


def fail_for_good(attempt: int) -> None:
    raise SchemaError("no such table")


@pytest.mark.parametrize("format", ["csv", "parquet", "orc"])
def test_files_of_each_version_go_into_the_table_of_all(
    warehouse: SqlWarehouse, tmp_path: Path, format: str
) -> None:
    registry = write_registry(tmp_path)
    lines = [
        enriched_line(number, vessel_call(version, berth=version, **DATA[version]))
        for number, version in enumerate(DATA)
    ]
    run = shred(tmp_path, warehouse, registry, lines, format=format, settings={"layout": "version"})
    assert load(warehouse, registry, run).rows == {TABLE: 5, "events": 5}
    assert columns(warehouse) == ["berth", "arrived_at", "draught_m", "agent", "pilot", "cargo", "tug_count"]
    assert warehouse.execute(
        f"SELECT berth, draught_m, agent, cargo, tug_count FROM atomic.{TABLE} ORDER BY root_id"
    ) == [
        ("1-0-0", None, None, None, None),
        ("1-1-0", 1.5, None, None, None),
        ("1-2-0", None, "a\\N", None, None),
        ("1-0-1", None, None, "\\N", None),
        ("1-2-1", None, None, None, 2),
    ]


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        (
            {"layout": "wide"},
            "its files are wide rows, .* with `trellis load --dialect snowplow --option lay",
        ),
        (
            {"layout": "version", "json": "iglu:org.harbor/vessel_call/jsonschema/1-*-*"},
            "format=json/model=1/revision=0/addition=0: entities that stay JSON are for loaders with JSON",
        ),
    ],
)
def test_rows_that_are_not_those_of_tables_are_refused(
    warehouse: SqlWarehouse, tmp_path: Path, settings: dict[str, str], reason: str
) -> None:
    registry = write_registry(tmp_path)
    lines = [enriched_line(1, vessel_call("1-0-0", berth="A"))]
    format = "parquet" if settings["layout"] == "wide" else "csv"
    run = shred(tmp_path, warehouse, registry, lines, format=format, settings=settings)
    with pytest.raises(SchemaError, match=reason):
        load(warehouse, registry, run)
    assert warehouse.tables("atomic") == {}
