"""Filters of Spark on tables: what has no row that passes is not read. No session is needed to see it."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from datetime import date, datetime, timezone
from decimal import Decimal
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.sql import datasource as spark
from pyspark.sql.datasource import CaseInsensitiveDict, EqualTo, GreaterThan, In, IsNotNull, IsNull, LessThan
from pyspark.sql.types import StructType

from dialects.ytsaurus.schemas import document
from dialects.ytsaurus.test_tables import T, create, write
from trellis.dialects.ytsaurus.spark.source import YtDataSource
from trellis.dialects.ytsaurus.store import chunks
from trellis.dialects.ytsaurus.store.altering import alter_table
from trellis.dialects.ytsaurus.store.store import Store

K, V, DAY = ("k",), ("v",), ("day",)


@pytest.fixture(autouse=True)
def small_row_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(chunks._GROUP_ROWS, "lookup", 2)


def rows_read(store: Store, path: str, *filters: spark.Filter) -> list[dict[str, Any]]:
    """What is read for filters: the rows that pass, and those of the blocks around them."""
    options: Any = CaseInsensitiveDict({"store": f"yt:{store.folder}", "path": path})
    reader = YtDataSource(options).reader(StructType([]))
    assert [*reader.pushFilters([*filters])] == [*filters]
    return [row for part in reader.partitions() for batch in reader.read(part) for row in batch.to_pylist()]


@pytest.mark.parametrize(
    ("filters", "keys"),
    [
        ([EqualTo(K, 4)], [4, 4]),
        ([In(K, (8, 1))], [None, 1, 7, 8]),
        ([IsNull(K)], [None, 1]),
        ([IsNotNull(K), LessThan(K, 3)], [None, 1, 2]),
        ([EqualTo(K, 4), GreaterThan(V, 5)], [4, 4]),
        ([EqualTo(K, 4), GreaterThan(V, 6)], []),
        ([EqualTo(V, 9)], [7, 8]),
        ([IsNull(V)], [2]),
        ([EqualTo(K, 4), EqualTo(K, 5)], []),
        ([spark.Not(EqualTo(K, 4))], [None, 1, 2, 4, 4, 7, 8]),
    ],
)
def test_filters_leave_chunks_and_row_groups_unread(
    store: Store, filters: list[spark.Filter], keys: list[int | None]
) -> None:
    create(store, "[k^, v]", rows="{v=1};{k=1;v=2};{k=2}")
    for rows in ("{k=4;v=5};{k=4;v=6}", "{k=7;v=8};{k=8;v=9}"):
        write(store, f"<append=%true>{T}", rows)
    assert [row["k"] for row in rows_read(store, T, *filters)] == keys


def test_chunks_are_told_apart_by_the_keys_of_the_catalogue(store: Store) -> None:
    """Further key columns count where those before are equal, and no file is opened."""
    create(store, "[k:string^, n^, v]", rows="{k=a;n=1};{k=a;n=3}")
    for rows in ("{k=a;n=5};{k=a;n=7}", "{k=b;n=1};{k=b;n=2}", "{k=c;n=1};{k=d;n=9}"):
        write(store, f"<append=%true>{T}", rows)
    for number, part in enumerate(store.catalog.slices(store.node(T).id)):
        if number != 1:
            store.files.path(part.chunk.id).unlink()
    assert [row["n"] for row in rows_read(store, T, EqualTo(K, b"a"), GreaterThan(("n",), 3))] == [5, 7]
    assert rows_read(store, T, EqualTo(K, b"bb")) == []


def test_descending_keys(store: Store) -> None:
    with Store.open(f"yt:{store.folder}?enable_descending=true") as opened:
        opened.create("table", T, {"schema": [{"name": "k", "type": "int64", "sort_order": "descending"}]})
        write(opened, T, "{k=9};{k=8};{k=5};{k=4};{k=1};{}")
        write(opened, f"<append=%true>{T}", "{};{}")
        assert [row["k"] for row in rows_read(opened, T, EqualTo(K, 4))] == [5, 4]
        assert [row["k"] for row in rows_read(opened, T, IsNotNull(K), LessThan(K, 4))] == [1, None]
        assert [row["k"] for row in rows_read(opened, T, IsNull(K))] == [1, None, None, None]


def test_ranges_and_new_names_of_a_path(store: Store) -> None:
    create(store, "[k^, v]", rows=";".join(f"{{k={n};v={n}}}" for n in range(8)))
    path = f"<rename_columns={{k=key}}>{T}[#1:#4,#5:#8]"
    assert [row["key"] for row in rows_read(store, path, In(("key",), (1, 5)))] == [1, 5]


@pytest.mark.parametrize(
    ("type", "rows", "filter", "count"),
    [
        ("uint64", "5u 6u 18446744073709551614u 18446744073709551615u", GreaterThan(V, Decimal(2**63)), 2),
        ("double", "1. 2. 3. %nan", GreaterThan(V, 100.0), 4),
        ("double", "1. 2. 3. %nan", LessThan(V, 3.0), 2),
        ("float", "-0. 0. 1. 2.", EqualTo(V, 0.0), 2),
        ("boolean", "%false %false %true %true", EqualTo(V, True), 2),
        ("string", r'"\x00" "\x01" "\xfe" "\xff"', EqualTo(V, b"\xff"), 2),
        ("utf8", '"a" "b" "\\xc3\\xa9" "\\xc3\\xa9"', spark.StringStartsWith(V, "é"), 2),
        ("date", "0u 1u 2u 3u", EqualTo(V, date(1970, 1, 3)), 2),
        ("datetime", "0u 1u 2u 3u", LessThan(V, datetime(1970, 1, 1, 0, 0, 1, 5, timezone.utc)), 2),
        ("timestamp", "0u 1u 2u 3u", GreaterThan(V, datetime(1970, 1, 1, 0, 0, 0, 1, timezone.utc)), 2),
        ("any", "1 2 3 4", EqualTo(V, b"\x02\x02"), 4),
    ],
)
def test_types(store: Store, type: str, rows: str, filter: spark.Filter, count: int) -> None:
    create(store, f"[v:{type}]", rows=";".join(f"{{v={value}}}" for value in rows.split()))
    assert len(rows_read(store, T, filter)) == count


def test_columns_that_were_altered(store: Store) -> None:
    create(store, "[k:int8^, v]", rows="{k=1;v=1};{k=2;v=2};{k=3;v=3}")
    alter_table(store, T, document("[k:int32^, m^, v, w]"))
    write(store, f"<append=%true>{T}", "{k=300;m=1;v=1;w=7}")
    assert [row["k"] for row in rows_read(store, T, EqualTo(K, 300))] == [300]
    assert [row["k"] for row in rows_read(store, T, IsNotNull(("w",)))] == [300]
    assert [row["k"] for row in rows_read(store, T, IsNull(("m",)), EqualTo(K, 3))] == [3]


COMPARISONS: Final[Mapping[Callable[[Any, Any], spark.Filter], Callable[[Any, Any], bool]]] = {
    EqualTo: operator.eq,
    LessThan: operator.lt,
    spark.LessThanOrEqual: operator.le,
    GreaterThan: operator.gt,
    spark.GreaterThanOrEqual: operator.ge,
}
CONDITIONS: Final = st.sampled_from([*COMPARISONS])
NUMBERS: Final = st.sampled_from([None, -2, 0, 1, 5])
FLOATS: Final = st.sampled_from([None, -0.0, 0.0, 1.5, -math.inf, math.inf, math.nan])


def passes(value: Any, bound: Any, compare: Callable[[Any, Any], bool]) -> bool:
    """Of Spark: NaN equals itself and is greater than all other numbers."""
    if value is None:
        return False
    order = [(math.isnan(item), 0.0 if math.isnan(item) else item) for item in (value, bound)]
    return compare(*order)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.lists(st.tuples(NUMBERS, NUMBERS, FLOATS), min_size=1, max_size=5), min_size=1, max_size=3),
    st.lists(st.tuples(st.sampled_from("knd"), CONDITIONS, FLOATS | NUMBERS), max_size=3),
)
def test_every_row_that_passes_is_read(
    tmp_path_factory: pytest.TempPathFactory, blocks: Any, conditions: Any
) -> None:
    rows = sorted(
        (row for block in blocks for row in block),
        key=lambda row: tuple((value is not None, value or 0) for value in row[:2]),
    )
    conditions = [item for item in conditions if item[2] is not None]
    with Store.open(f"yt:{tmp_path_factory.mktemp('store')}") as store:
        create(store, "[k^, n^, d:double]")
        for block in blocks:
            part, rows = rows[: len(block)], rows[len(block) :]
            write(store, f"<append=%true>{T}", ";".join(map(yson_of, part)))
        filters = [make((name,), value) for name, make, value in conditions]
        expected = [
            repr(row)
            for row in rows_read(store, T)
            if all(passes(row[name], value, COMPARISONS[make]) for name, make, value in conditions)
        ]
        read = [repr(row) for row in rows_read(store, T, *filters)]
        assert [row for row in read if row in expected] == expected


def yson_of(row: tuple[Any, ...]) -> str:
    texts = {math.inf: "%inf", -math.inf: "%-inf"}
    cells = []
    for name, value in zip("knd", row, strict=True):
        if value is not None:
            cells.append(f"{name}={'%nan' if value != value else texts.get(value, repr(value))}")
    return "{" + ";".join(cells) + "}"
