"""`trellis load --dialect ytsaurus`: records cast to the schema of a table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import trellis
from dialects.ytsaurus.test_tables import read, schema_of
from trellis.dialects.ytsaurus.errors import YtError
from trellis.dialects.ytsaurus.store.altering import alter_table
from trellis.dialects.ytsaurus.store.store import Store
from trellis.dialects.ytsaurus.yson.parser import loads
from trellis.errors import ContractError, DestinationError, UsageError

EVENTS = "//home/events"
SCHEMA = "[{name=user;type=utf8;required=%true};{name=ms;type=uint64};{name=tags;type=any}]"
ROWS = [{"user": "mia", "ms": 340, "tags": {"a": [1, 0.5]}}, {"user": "ada"}]


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"yt:{tmp_path}/store"


def load(url: str, records: Any, table: str = EVENTS, settings: Any = None, **options: Any) -> Any:
    pipeline = trellis.pipeline("events", url, dialect="ytsaurus", settings=settings or {})
    return pipeline.load(records, table=table, **options)


def rows_of(url: str, path: str = EVENTS) -> str:
    with Store.open(url) as store:
        return read(store, path)


def test_records_are_cast_to_the_schema(url: str) -> None:
    report = load(url, ROWS, schema=f"{SCHEMA}\n")
    assert (report.rows.read, report.rows.loaded) == (2, 2)
    with Store.open(url) as store:
        assert schema_of(store, EVENTS) == ("[user:utf8, ms:optional<uint64>, tags:any] strong")
        assert read(store, EVENTS) == "{user=mia;ms=340u;tags={a=[1;0.5;]}}{user=ada}"
    load(url, [{"user": "bea", "ms": 2**64 - 1}])
    assert rows_of(url).endswith("{user=bea;ms=18446744073709551615u}")


def test_seed_y43_one_bad_row_refuses_the_load(url: str) -> None:
    load(url, ROWS, schema=f"{SCHEMA}\n")
    before = rows_of(url)
    with pytest.raises(ContractError) as error:
        load(url, [{"user": "bea"}, {"user": "eva", "ms": -1}])
    assert str(error.value) == (
        'records, record 2: column "ms": expected uint64, not int64 -1; fix the record, or reject such '
        "records: --contract data_type=discard_row"
    )
    assert rows_of(url) == before


def test_bad_rows_are_rejected_under_a_contract(url: str) -> None:
    records = [*ROWS, {"user": "eva", "ms": "slow"}, {"ms": 1}, {"user": "bea", "zz": 1}]
    report = load(url, records, schema=f"{SCHEMA}\n", contract={"data_type": "discard_row"})
    assert (report.rows.read, report.rows.loaded, report.rows.rejected) == (5, 2, 3)
    assert report.rejects.by_reason == {
        'column "ms": expected uint64': 1,
        'column "user": a value that does not fit': 1,
        'column "zz": a value that does not fit': 1,
    }
    rejects = trellis.pipeline("events", url, dialect="ytsaurus").destination.query("", "_trellis_rejects")
    assert rejects[0]["reason"] == 'column "ms": expected uint64, not string "slow"'


def test_a_weak_table_takes_any_row(url: str) -> None:
    load(url, [{"k": 1, "v": {"x": 0.5}}, {"k": "a", "z": None}])
    with Store.open(url) as store:
        assert (schema_of(store, EVENTS), read(store, EVENTS)) == ("~[] weak", "{k=1;v={x=0.5}}{k=a}")


def test_c52_a_schema_that_is_not_strict(url: str) -> None:
    load(url, [{"a": 1, "z": "q"}, {"z": 2}], schema="<strict=%false>[{name=a;type=int64}]\n")
    assert rows_of(url) == "{a=1;z=q}{z=2}"


def test_keys_sort_a_load(url: str) -> None:
    load(
        url,
        [{"k": 2}, {"k": 1, "v": 5}, {"k": 2, "v": 1}],
        schema="[{name=v;type=int64};{name=k;type=int64}]\n",
        keys="k",
    )
    with Store.open(url) as store:
        assert (schema_of(store, EVENTS), read(store, EVENTS)) == (
            "[k^, v] strong",
            "{k=1;v=5}{k=2}{k=2;v=1}",
        )
    with pytest.raises(YtError) as error:
        load(url, [{"k": 0}])
    assert (int(error.value.code), str(error.value)) == (
        301,
        "the key [0;] is less than that of the last row of the table; the table is sorted by k",
    )
    load(url, [{"k": 9}, {"k": 8}], mode="replace")
    assert rows_of(url) == "{k=8}{k=9}"


def test_later_loads_change_the_schema_as_alter_may(url: str) -> None:
    load(url, [{"k": 1}], schema="[{name=k;type=int32}]\n")
    load(url, [{"k": 2, "v": "x"}], schema="[{name=k;type=int64};{name=v;type=utf8}]\n")
    assert rows_of(url) == "{k=1}{k=2;v=x}"
    with pytest.raises(YtError) as error:
        load(url, [{"k": 3}], schema="[{name=k;type=int32}]\n")
    assert int(error.value.code) == 316
    with Store.open(url) as store:
        columns = "[{name=k;type=int64};{name=v;type=utf8};{name=w;type=int64}]"
        alter_table(store, EVENTS, loads(columns))
    with pytest.raises(YtError) as error:
        load(url, [{"k": 3}])
    assert int(error.value.code) == 316


def test_seed_y88_a_schema_is_learned_from_all_records(url: str, tmp_path: Path) -> None:
    file = tmp_path / "events.jsonl"
    file.write_text(
        "".join(f"{json.dumps(row)}\n" for row in [{"k": "a", "n": 1}, {"k": "b", "n": 0.5, "z": True}])
    )
    report = load(url, str(file), settings={"schema_mode": "strong"})
    with Store.open(url) as store:
        assert schema_of(store, EVENTS) == "[k:optional<string>, n:any, z:optional<bool>] strong"
    assert report.notes[0].endswith(f"column n is any: int64 in 1 of 2 rows, double in 1 (first in {file}:2)")
    load(url, str(file), "//home/other", {"schema_mode": "strong", "promote_integers": "true"})
    with Store.open(url) as store:
        assert schema_of(store, "//home/other") == (
            "[k:optional<string>, n:optional<double>, z:optional<bool>] strong"
        )


def test_a_strong_schema_takes_new_columns_where_it_is_learned(url: str, tmp_path: Path) -> None:
    def load_row(row: dict[str, object], **settings: str) -> Any:
        file = tmp_path / "events.jsonl"
        file.write_text(f"{json.dumps(row)}\n")
        return load(url, str(file), settings=settings)

    load_row({"k": "a"}, schema_mode="strong")
    with pytest.raises(ContractError, match='column "n": the strict schema has no such column'):
        load_row({"k": "b", "n": 1})
    report = load_row({"n": 1, "k": "b"}, schema_mode="strong")
    assert report.notes[0] == "column n was added: int64 in 1 of 1 rows"
    with pytest.raises(ContractError, match='column "n": expected int64, not string "x"'):
        load_row({"n": "x"}, schema_mode="strong")
    assert load_row({"n": 2}, schema_mode="strong").notes == ()
    with Store.open(url) as store:
        assert schema_of(store, EVENTS) == "[k:optional<string>, n] strong"
        assert read(store, EVENTS) == "{k=a}{k=b;n=1}{n=2}"


def test_what_a_load_is_not_asked(url: str) -> None:
    for options, message in [
        ({"table": "a/@b"}, "--table 'a/@b' is no path of a table; expected one such as //home/events"),
        ({"mode": "merge"}, "mode merge: rows of YTsaurus's static tables are appended or replaced"),
        (
            {"contract": {"data_type": "discard_value"}},
            (
                "contract data_type=discard_value: a row of YTsaurus fits as a whole; expected freeze or "
                "discard_row"
            ),
        ),
    ]:
        with pytest.raises(UsageError) as error:
            load(url, ROWS, **options)  # type: ignore[arg-type]
        assert str(error.value) == message


def test_a_name_is_that_of_a_table_in_home(url: str) -> None:
    load(url, [{"k": 1}], "events")
    assert rows_of(url) == "{k=1}"


def test_tables_of_other_dialects_are_refused(url: str) -> None:
    with pytest.raises(DestinationError) as error:
        trellis.pipeline("events", url).load([{"k": 1}], table="events")
    assert str(error.value) == (
        "table events has no schema of YTsaurus, and the store has no other tables; load with "
        "--dialect ytsaurus"
    )


def test_a_load_id_is_loaded_once(url: str) -> None:
    for _ in range(2):
        load(url, ROWS, load_id="one")
    assert rows_of(url).count("user=mia") == 1


def test_the_command(trellis: Any, folder: Path) -> None:
    (folder / "schema.yson").write_text(SCHEMA)
    (folder / "events.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in ROWS))
    trellis(
        *("load", "events.jsonl", "--dialect", "ytsaurus", "--schema", "schema.yson", "--to", "yt:store"),
        *("--table", EVENTS),
    )
    assert trellis("table", "get", f"{EVENTS}/@row_count", "--at", "yt:store").out == "2"
