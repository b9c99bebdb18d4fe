"""Enriched events into a warehouse, both halves in one: shredded, and loaded into tables that migrate."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import trellis
from destinations.postgres_server import Server, database, postgres
from dialects.snowplow.enriched import (
    VESSEL_CALL,
    enriched_line,
    event_id,
    vessel_call,
    write_registry,
    write_run,
)
from dialects.snowplow.families import document, text
from trellis.dialects.snowplow.enriched.fields import ATOMIC_FIELDS
from trellis.errors import ContractError, SchemaError, SourceError, UsageError
from trellis.pipelines.pipeline import Pipeline
from trellis.pipelines.report import Report

__all__ = ["database", "postgres"]

TABLE = "org_harbor_vessel_call_1"


def pipeline(folder: Path, **options: Any) -> Pipeline:
    place = f"duckdb:{folder / 'shop.duckdb'}"
    return trellis.pipeline(
        "shop", place, dataset="atomic", dialect="snowplow", **{"engine": "inline", **options}
    )


def load(folder: Path, lines: list[str], registry: str, **options: Any) -> Report:
    run = write_run(folder, lines, f"run={len([*folder.glob('run=*')])}")
    return pipeline(folder, **options).load(str(run), schema=registry, max_rejected="100%")


def query(folder: Path, sql: str) -> list[tuple[Any, ...]]:
    with duckdb.connect(str(folder / "shop.duckdb")) as connection:
        return connection.sql(sql).fetchall()


def columns(folder: Path, table: str = TABLE) -> list[str]:
    return [row[0] for row in query(folder, f"SELECT name FROM pragma_table_info('atomic.{table}')")]


def test_an_event_has_a_row_in_events_and_one_for_each_entity(tmp_path: Path) -> None:
    lines = [
        enriched_line(
            1,
            vessel_call("1-0-0", berth="K7", arrivedAt="2024-03-09T05:06:07Z"),
            [vessel_call("1-1-0", berth="K8", draughtM=7.5), vessel_call("1-0-0", berth="K9")],
            app_id="web",
            tr_total="12.5",
        )
    ]
    report = load(tmp_path, lines, write_registry(tmp_path))
    assert (report.rows.read, report.rows.loaded) == (1, 1)
    assert [(table.name, table.rows, table.created) for table in report.tables] == [
        ("events", 1, True),
        (TABLE, 3, True),
    ]
    assert query(tmp_path, "SELECT app_id, event_id, tr_total::VARCHAR, page_url FROM atomic.events") == [
        ("web", event_id(1), "12.50", None)
    ]
    names = "schema_version, root_id, root_tstamp::VARCHAR, ref_tree, berth, arrived_at::VARCHAR, draught_m"
    assert query(tmp_path, f"SELECT {names} FROM atomic.{TABLE} ORDER BY berth") == [
        (version, event_id(1), "2031-04-05 06:00:00.123", '["events","vessel_call"]', *values)
        for version, *values in (
            ("1-0-0", "K7", "2024-03-09 05:06:07", None),
            ("1-1-0", "K8", None, 7.5),
            ("1-0-0", "K9", None, None),
        )
    ]


def test_seed_s50_tables_grow_in_the_order_in_which_versions_were_created(tmp_path: Path) -> None:
    """The RFC's example: 1-0-0, 1-1-0, 1-2-0, 1-0-1, 1-2-1, with data of each in between."""
    added = {
        "1-0-0": (["berth", "arrived_at"], {}),
        "1-1-0": (["draught_m"], {"draughtM": 1.5}),
        "1-2-0": (["agent", "pilot"], {"pilot": True, "agent": "a"}),
        "1-0-1": (["cargo"], {"cargo": "coal"}),
        "1-2-1": (["tug_count"], {"tugCount": 2}),
    }
    expected = columns_of_metadata()
    for number, (version, (names, data)) in enumerate(added.items()):
        registry = write_registry(tmp_path, " ".join([*added][: number + 1]))
        load(tmp_path, [enriched_line(number, vessel_call(version, berth=version, **data))], registry)
        expected += names
        assert columns(tmp_path) == expected
    older = [enriched_line(9, vessel_call("1-0-0", berth="old"))]
    load(tmp_path, older, write_registry(tmp_path))
    assert columns(tmp_path) == expected
    names = "berth, draught_m, agent, pilot, cargo, tug_count"
    assert query(tmp_path, f"SELECT {names} FROM atomic.{TABLE} ORDER BY root_id") == [
        ("1-0-0", None, None, None, None, None),
        ("1-1-0", 1.5, None, None, None, None),
        ("1-2-0", None, "a", True, None, None),
        ("1-0-1", None, None, None, "coal", None),
        ("1-2-1", None, None, None, None, 2),
        ("old", None, None, None, None, None),
    ]


@pytest.mark.parametrize("name", ["part-00000.tsv", "part-00000.TSV", "part-00000.tsv.gz"])
def test_files_that_are_called_tsv_are_lines_of_events(tmp_path: Path, name: str) -> None:
    """They have no header, so the first line is an event, and fields have no quotes."""
    registry, run = write_registry(tmp_path), tmp_path / "run=2031-04-05-06-00-00"
    run.mkdir()
    lines = [
        enriched_line(1, vessel_call("1-0-0", berth="A"), page_title='say "x'),
        enriched_line(2, vessel_call("1-0-0", berth="B")),
    ]
    content = "".join(f"{line}\n" for line in lines).encode()
    (run / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    (run / "part-00001").write_text(f"{enriched_line(3)}\n")
    report = pipeline(tmp_path).load(str(run), schema=registry)
    assert (report.rows.read, report.rows.loaded) == (3, 3)
    assert query(tmp_path, "SELECT event_id, page_title FROM atomic.events ORDER BY 1") == [
        (event_id(1), 'say "x'),
        (event_id(2), None),
        (event_id(3), None),
    ]
    assert query(tmp_path, f"SELECT berth FROM atomic.{TABLE} ORDER BY 1") == [("A",), ("B",)]


def test_r82_versions_up_to_the_last_that_was_met_have_their_columns(tmp_path: Path) -> None:
    """S-29: 1-1-1 alone is met, and 1-1-0 still counts."""
    versions = [
        document("1-0-0", {"a": {"type": "boolean"}}),
        document("1-1-0", {"a": {"type": "boolean"}, "b": {"type": "boolean"}}),
        document("1-1-1", {name: {"type": "boolean"} for name in "abc"}),
        document("1-2-0", {name: {"type": "boolean"} for name in "abcd"}),
    ]
    registry = write_registry(tmp_path, documents=versions)
    load(tmp_path, [enriched_line(1, vessel_call("1-1-1", c=True))], registry)
    assert columns(tmp_path) == [*columns_of_metadata(), "a", "b", "c"]


def test_r83_one_unknown_entity_makes_the_event_bad(tmp_path: Path) -> None:
    contexts = [vessel_call("1-0-0", berth="A"), vessel_call("3-0-0"), vessel_call("1-0-0", berth="B")]
    report = load(tmp_path, [enriched_line(1, contexts=contexts)], write_registry(tmp_path))
    assert (report.rows.loaded, report.rows.rejected) == (0, 1)
    assert report.rejects.by_reason == {"loader_iglu_error": 1}
    assert query(tmp_path, f"SELECT count(*) FROM atomic.{TABLE}") == [(0,)]
    [(line, reason)] = query(tmp_path, "SELECT text, reason FROM atomic._trellis_rejects")
    assert line == enriched_line(1, contexts=contexts)
    assert reason == f"loader_iglu_error: {VESSEL_CALL}3-0-0 is not in {tmp_path / 'registry'}"


def test_an_invalid_entity_makes_the_event_bad_and_says_where(tmp_path: Path) -> None:
    line = enriched_line(1, vessel_call("1-0-0", berth="much too long a berth"))
    load(tmp_path, [line], write_registry(tmp_path))
    assert query(tmp_path, "SELECT reason FROM atomic._trellis_rejects") == [
        (
            (
                f'schema_violations: {VESSEL_CALL}1-0-0: /berth maxLength: "much too long a berth" is longer '
                "than 12 characters"
            ),
        )
    ]


def test_without_validation_values_that_do_not_fit_are_discarded(tmp_path: Path) -> None:
    line = enriched_line(1, vessel_call("1-2-1", berth="K7", tugCount="many", pilot=3))
    report = load(tmp_path, [line], write_registry(tmp_path), settings={"validate": "false"})
    assert report.rows.loaded == 1
    assert query(tmp_path, f"SELECT berth, tug_count, pilot FROM atomic.{TABLE}") == [("K7", None, True)]
    assert query(tmp_path, "SELECT table_name, column_name, value, reason FROM atomic._trellis_discards") == [
        (TABLE, "tug_count", "many", "not an integer of 16 bits")
    ]


def test_a_version_that_does_not_fit_has_a_table_of_its_own(tmp_path: Path) -> None:
    versions = [
        document("1-0-0", {"size": {"type": "integer"}}),
        document("1-0-1", {"size": {"type": "string", "maxLength": 5}}),
    ]
    registry = write_registry(tmp_path, documents=versions)
    lines = [
        enriched_line(1, vessel_call("1-0-0", size=1)),
        enriched_line(2, vessel_call("1-0-1", size="XL")),
    ]
    report = load(tmp_path, lines, registry)
    recovery = next(table.name for table in report.tables if "recovered" in table.name)
    assert recovery.startswith("org_harbor_vessel_call_1_0_1_recovered_")
    assert query(tmp_path, f"SELECT root_id, size FROM atomic.{TABLE}") == [(event_id(1), 1)]
    assert query(tmp_path, f"SELECT root_id, size FROM atomic.{recovery}") == [(event_id(2), "XL")]


def test_on_missing_stop_writes_nothing(tmp_path: Path) -> None:
    with pytest.raises(
        SchemaError, match=r"has no iglu:org\.harbor/vessel_call/jsonschema/3-0-0; publish it"
    ):
        load(
            tmp_path,
            [enriched_line(1, vessel_call("3-0-0"))],
            write_registry(tmp_path),
            settings={"on_missing": "stop"},
        )
    assert query(tmp_path, "SELECT table_name FROM information_schema.tables") == []


def test_a_load_that_rejects_all_events_says_that_the_registry_lacks_their_schemas(tmp_path: Path) -> None:
    registry = write_registry(tmp_path)
    events = [enriched_line(1, vessel_call("3-0-0"))]
    run = write_run(tmp_path, events)
    with pytest.raises(ContractError, match=r"1 of 1 records rejected \(1 loader_iglu_error\)") as failure:
        pipeline(tmp_path).load(str(run), schema=registry)
    note = (
        f"{registry} has none of the schemas that events name ({VESSEL_CALL}3-0-0), and these events were "
        "rejected: publish what is missing or correct --schema, then run `trellis snowplow replay`, or load "
        "again if nothing was loaded; with --option on_missing=stop nothing is written instead"
    )
    assert str(failure.value).splitlines()[1] == f"  {note}"
    assert load(tmp_path, events, registry).notes == (note,)


def test_b14_a_registry_that_does_not_answer_is_not_a_bad_event(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trellis.dialects.snowplow.client.http.PAUSES", (0, 0))
    with pytest.raises(SourceError) as failure:
        load(tmp_path, [enriched_line(1, vessel_call("1-0-0"))], "http://127.0.0.1:9")
    assert str(failure.value) == (
        "registry http://127.0.0.1:9/api does not answer ([Errno 111] Connection refused); nothing was "
        "decided about its schemas: check its URL, and try again"
    )
    assert query(tmp_path, "SELECT table_name FROM information_schema.tables") == []


def test_without_a_registry_the_load_says_what_it_needs(tmp_path: Path) -> None:
    run = write_run(tmp_path, [enriched_line(1, vessel_call("1-0-0", berth="A"))])
    with pytest.raises(UsageError, match=f"the records refer to {VESSEL_CALL}1-0-0; say with --schema"):
        pipeline(tmp_path).load(str(run))


def test_skipped_schemas_have_no_rows_and_need_no_registry(tmp_path: Path) -> None:
    contexts = [vessel_call("3-0-0", berth="A"), vessel_call("1-0-0", berth="B")]
    report = load(
        tmp_path,
        [enriched_line(1, contexts=contexts)],
        write_registry(tmp_path),
        settings={"skip": "iglu:org.harbor/vessel_call/jsonschema/3-*-*"},
    )
    assert {table.name: table.rows for table in report.tables} == {"events": 1, TABLE: 1}


def test_a_registry_with_another_order_is_refused(tmp_path: Path) -> None:
    line = enriched_line(1, vessel_call("1-1-0", berth="A"))
    load(tmp_path, [line], write_registry(tmp_path, "1-0-0 1-1-0"))
    with pytest.raises(SchemaError, match="the registry lists 1-0-0, 1-0-1, 1-1-0, and the tables were made"):
        load(tmp_path, [line], write_registry(tmp_path, "1-0-0 1-0-1 1-1-0"))


def test_seed_s63_a_patched_schema_is_refused_where_it_changes_the_table(tmp_path: Path) -> None:
    line = enriched_line(1, vessel_call("1-0-0"))
    load(tmp_path, [line], write_registry(tmp_path, documents=[document("1-0-0", {"a": text(9)})]))
    load(tmp_path, [line], write_registry(tmp_path, documents=[document("1-0-0", {"a": text(5)})]))
    patched = write_registry(tmp_path, documents=[document("1-0-0", {"a": {"type": "boolean"}})])
    with pytest.raises(SchemaError, match="a schema was patched, so its table would have other columns"):
        load(tmp_path, [line], patched)


def test_self_describing_json_goes_into_the_tables_of_its_schemas(tmp_path: Path) -> None:
    lines = [
        json.dumps({**vessel_call("1-0-0", berth="A"), "id": "e-1", "at": "2031-04-05T06:00:00Z"}),
        json.dumps({**vessel_call("1-0-0", berth="B"), "id": 5, "at": "2031-04-05T06:00:00Z"}),
    ]
    options = {"id_path": "id", "time_path": "at"}
    report = load(tmp_path, lines, write_registry(tmp_path), settings=options)
    assert (report.rows.loaded, report.rows.rejected) == (1, 1)
    assert query(tmp_path, f"SELECT root_id, berth FROM atomic.{TABLE}") == [("e-1", "A")]


def test_postgres_gets_lengths_and_keeps_what_is_cut(tmp_path: Path, postgres: Server, database: str) -> None:
    psycopg = pytest.importorskip("psycopg")
    lines = [
        enriched_line(1, vessel_call("1-2-1", berth="K7", tugCount=2), app_id="x" * 300),
        enriched_line(2, vessel_call("1-0-1", berth="K8", cargo="coal")),
    ]
    run = write_run(tmp_path, lines)
    sink = trellis.pipeline(
        "shop", postgres.url(database), dataset="atomic", dialect="snowplow", engine="inline"
    )
    report = sink.load(str(run), schema=write_registry(tmp_path))
    assert report.truncated.by_reason == {"cut to 255 characters": 1}
    with psycopg.connect(postgres.url(database)) as connection:
        types = connection.execute(
            "SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute "
            f"WHERE attrelid = 'atomic.{TABLE}'::regclass AND attnum > 9 ORDER BY attnum"
        ).fetchall()
        assert types == [
            ("berth", "character varying(12)"),
            ("arrived_at", "timestamp without time zone"),
            ("draught_m", "double precision"),
            ("agent", "character varying(40)"),
            ("pilot", "boolean"),
            ("cargo", "character varying(20)"),
            ("tug_count", "smallint"),
        ]
        rows = connection.execute(f"SELECT berth, cargo, tug_count FROM atomic.{TABLE} ORDER BY 1").fetchall()
        assert rows == [("K7", None, 2), ("K8", "coal", None)]
        assert connection.execute("SELECT max(length(app_id)) FROM atomic.events").fetchall() == [(255,)]


def test_the_table_of_events_has_the_fields_in_order_and_the_time_of_the_load(tmp_path: Path) -> None:
    """Money is exact."""
    load(tmp_path, [enriched_line(1, tr_total="19.99", ti_price_base="0.1")], write_registry(tmp_path))
    assert columns(tmp_path, "events") == [*(field.name for field in ATOMIC_FIELDS), "load_tstamp"]
    assert len(ATOMIC_FIELDS) == 128
    money = "SELECT typeof(tr_total), tr_total::VARCHAR, ti_price_base::VARCHAR FROM atomic.events"
    assert query(tmp_path, money) == [("DECIMAL(18,2)", "19.99", "0.10")]


ENTITIES = st.builds(
    lambda version, berth: {"schema": VESSEL_CALL + version, "data": {"berth": berth} if berth else {}},
    st.sampled_from(["1-0-0", "1-1-0", "1-0-1", "1-2-1", "2-0-0"]),
    st.sampled_from(["", "A", "B\u2028\r\x00", "much too long a berth", "\ud800"]),
)
LINES = st.builds(
    lambda number, contexts, fields: enriched_line(number, None, contexts, **fields),
    st.integers(0, 1000),
    st.lists(ENTITIES, max_size=3),
    st.sampled_from([{}, {"txn_id": "x"}, {"v_etl": ""}, {"derived_contexts": "{"}, {"app_id": "é\x00"}]),
)


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lines=st.lists(LINES, max_size=12))
def test_events_and_entities_balance(tmp_path_factory: pytest.TempPathFactory, lines: list[str]) -> None:
    folder = tmp_path_factory.mktemp("balance")
    report = load(folder, lines, write_registry(folder))
    assert report.rows.read == len(lines) == report.rows.loaded + report.rows.rejected
    rows = {table.name: table.rows for table in report.tables}
    assert rows.get("events", 0) == report.rows.loaded
    rejected = query(folder, 'SELECT "text" FROM atomic._trellis_rejects') if report.rows.rejected else []
    good = Counter(lines) - Counter(line for (line,) in rejected)
    assert rows.get(TABLE, 0) == sum(count * line.count(VESSEL_CALL) for line, count in good.items())
    if report.rows.loaded:
        assert query(folder, "SELECT count(*) FROM atomic.events") == [(report.rows.loaded,)]
    if TABLE in rows:
        inner = (
            f"SELECT count(*) FROM atomic.{TABLE} WHERE root_id NOT IN (SELECT event_id FROM atomic.events)"
        )
        assert query(folder, inner) == [(0,)]


def columns_of_metadata() -> list[str]:
    parts = [f"schema_{part}" for part in ("vendor", "name", "format", "version")]
    return [*parts, "root_id", "root_tstamp", "ref_root", "ref_tree", "ref_parent"]
