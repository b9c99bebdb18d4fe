"""The corners of section 16: what a type without a scale becomes, and what is wider than any type."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timezone
from decimal import Decimal
from typing import Any

import pytest

from destinations.conftest import LAKES
from trellis.destinations.parquet.types import type_name
from trellis.errors import SchemaError
from trellis.pipelines.pipeline import Pipeline
from trellis.schema.model import Column
from trellis.warehouses.catalog.databases import DUCKDB, POSTGRES

TypeOf = Callable[[Column], str]

HALF = Column("price", "decimal", scale=4)
WHOLE = Column("count", "decimal", precision=12)


@pytest.mark.parametrize(
    ("type_of", "half", "whole"),
    [
        (DUCKDB.type_of, "DECIMAL(38,4)", "DECIMAL(12,0)"),
        (POSTGRES.type_of, "numeric(38,4)", "numeric(12,0)"),
        (type_name, "decimal128(38, 4)", "decimal128(12, 0)"),
    ],
    ids=["duckdb", "postgres", "parquet"],
)
def test_a_decimal_that_says_one_of_its_numbers(type_of: TypeOf, half: str, whole: str) -> None:
    assert (type_of(HALF), type_of(WHOLE)) == (half, whole)


def test_values_of_a_decimal_with_a_scale_alone(shop: Pipeline) -> None:
    values = [Decimal("1.2345"), Decimal("1.23456"), Decimal(f"{10**34 - 1}.5")]
    shop.load([{"price": value} for value in values], table="t", columns=(HALF,))
    prices = [row["price"] for row in shop.destination.query(shop.dataset, "t")]
    assert sorted(price for price in prices if price is not None) == [
        Decimal("1.2345"),
        Decimal("1.2346"),
        Decimal("9999999999999999999999999999999999.5000"),
    ]


@pytest.mark.parametrize(
    ("type_of", "column", "says"),
    [
        (DUCKDB.type_of, Column("at", "timestamp", precision=10), "timestamp of precision 10; 9 is"),
        (
            DUCKDB.type_of,
            Column("at", "timestamp", precision=10, timezone=False),
            "DuckDB has no timestamp of precision 10; 9 is the most; give it precision 9 or less",
        ),
        (
            DUCKDB.type_of,
            Column("n", "decimal", precision=39, scale=2),
            (
                "DuckDB has no decimal of precision 39 and scale 2; 38 digits are the most, and the scale is "
                "at most the precision; give it another precision or scale"
            ),
        ),
        (DUCKDB.type_of, Column("n", "decimal", precision=3, scale=5), "decimal of precision 3 and scale 5"),
        (DUCKDB.type_of, Column("n", "bigint", precision=129), "bigint of precision 129; 128 is the most"),
        (type_name, Column("at", "timestamp", precision=10), "Parquet has no timestamp of precision 10; 9"),
        (type_name, Column("at", "time", precision=10), "Parquet has no time of precision 10; 9 is"),
        (type_name, Column("n", "bigint", precision=65), "Parquet has no bigint of precision 65; 64 is"),
        (type_name, Column("n", "decimal", precision=77), "decimal of precision 77 and scale 0; 76 digits"),
        (type_name, Column("n", "decimal", precision=3, scale=5), "decimal of precision 3 and scale 5; 76"),
        (POSTGRES.type_of, Column("n", "bigint", precision=65), "PostgreSQL has no bigint of precision 65"),
        (POSTGRES.type_of, Column("at", "timestamp", precision=7), "timestamp of precision 7; 6 is the most"),
    ],
)
def test_a_type_that_is_too_wide(type_of: TypeOf, column: Column, says: str) -> None:
    with pytest.raises(SchemaError, match=f"column {column.name}: .*{says}"):
        type_of(column)


@pytest.mark.parametrize(
    ("type_of", "column", "name"),
    [
        (DUCKDB.type_of, Column("at", "timestamp", precision=9), "TIMESTAMP WITH TIME ZONE"),
        (DUCKDB.type_of, Column("at", "timestamp", precision=9, timezone=False), "TIMESTAMP_NS"),
        (DUCKDB.type_of, Column("n", "decimal", precision=38, scale=38), "DECIMAL(38,38)"),
        (DUCKDB.type_of, Column("n", "bigint", precision=128), "HUGEINT"),
        (type_name, Column("at", "timestamp", precision=9), "timestamp[ns, tz=UTC]"),
        (type_name, Column("n", "bigint", precision=64), "int64"),
        (type_name, Column("n", "decimal", precision=76), "decimal256(76, 0)"),
    ],
)
def test_the_widest_type(type_of: TypeOf, column: Column, name: str) -> None:
    assert type_of(column) == name


def test_a_load_with_a_number_that_is_too_wide_leaves_nothing(shop: Pipeline) -> None:
    refuse_wide(shop, Column("n", "bigint", precision=200))


@pytest.mark.parametrize("destination_url", ["duckdb", "parquet", "postgres"], indirect=True)
def test_a_load_with_a_timestamp_of_too_many_digits_leaves_nothing(shop: Pipeline) -> None:
    refuse_wide(shop, Column("n", "timestamp", precision=12))


def refuse_wide(shop: Pipeline, column: Column) -> None:
    rows: list[dict[str, Any]] = [{"id": 1, "n": None}]
    with pytest.raises(SchemaError, match="column n: "):
        shop.load(rows, table="t", columns=(column,))
    assert "t" not in shop.destination.catalog(shop.dataset)


@pytest.mark.parametrize("destination_url", LAKES, indirect=True)
def test_a_lake_has_timestamps_of_six_digits_whatever_is_asked_for(shop: Pipeline) -> None:
    rows = [{"n": "2026-01-01T00:00:00.123456789Z"}]
    report = shop.load(rows, table="t", columns=(Column("n", "timestamp", precision=12),))
    assert report.notes == ("1 record: t.n: a second has more than 6 digits, the rest was cut",)
    (row,) = shop.destination.query(shop.dataset, "t")
    assert row["n"] == datetime(2026, 1, 1, 0, 0, 0, 123456, tzinfo=timezone.utc)


@pytest.mark.parametrize("destination_url", ["duckdb"], indirect=True)
def test_duckdb_is_not_asked_for_a_decimal_that_it_does_not_have(shop: Pipeline) -> None:
    wide = Column("n", "decimal", precision=39, scale=2)
    with pytest.raises(SchemaError, match="column n: DuckDB has no decimal of precision 39 and scale 2"):
        shop.load([{"n": Decimal("1.5")}], table="t", columns=(wide,))
    assert shop.destination.catalog("main") == {}


@pytest.mark.parametrize("destination_url", ["duckdb"], indirect=True)
def test_the_report_tells_of_a_decimal_without_a_scale(shop: Pipeline) -> None:
    note = (
        "column t.count: precision 12 without a scale means scale 0; "
        "say the scale if fractions are to be kept"
    )
    first = shop.load([{"count": Decimal("1.5")}], table="t", columns=(WHOLE,))
    assert note in first.notes
    assert note not in shop.load([{"count": Decimal(2)}], table="t").notes
