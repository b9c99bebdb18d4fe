"""Columns that become wider for rows that are taken whole, as they do for other input."""

from __future__ import annotations

from datetime import date, datetime, time, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import trellis
from dialects.dlt.conformance.warehouse import Warehouse
from trellis.errors import ContractError
from trellis.evolution.contract import ContractViolation

AT = datetime(2024, 1, 2, 3, 4, 5, 6, timezone.utc)


@pytest.fixture
def widens(tmp_path: Path) -> Any:
    """A warehouse whose columns become wider as an option says."""

    def opened(widen: str) -> Warehouse:
        warehouse = Warehouse(tmp_path / "farm.duckdb")
        warehouse.pipeline = trellis.pipeline(
            "farm", to=f"duckdb:{warehouse.path}", settings={"widen": widen}
        )
        return warehouse

    return opened


def run(warehouse: Warehouse, *values: Any, **hints: Any) -> Any:
    return warehouse.pipeline.run(pa.table({"a": list(values)}), table_name="t", **hints)


@pytest.mark.parametrize(
    ("widen", "first", "second", "type_", "expected"),
    [
        ("bigint:double", 1, 2.5, "DOUBLE", [1.0, 2.5, 1.0]),
        ("safe", 1, 0.1, "DECIMAL(38,9)", [Decimal(1), Decimal("0.1"), Decimal(1)]),
        ("safe", 1, Decimal("2.25"), "DECIMAL(38,9)", [Decimal(1), Decimal("2.25"), Decimal(1)]),
        ("bigint:text", 1, 2.5, "VARCHAR", ["1", "2.5", "1"]),
        ("bigint:text", 1, "x", "VARCHAR", ["1", "x", "1"]),
        ("double:text", 1.5, "x", "VARCHAR", ["1.5", "x", "1.5"]),
        ("decimal:text", Decimal("1.50"), "x", "VARCHAR", ["1.50", "x", "1.50"]),
        ("time:text", time(1, 2), "x", "VARCHAR", ["01:02:00", "x", "01:02:00"]),
        (
            "safe",
            date(2024, 1, 2),
            AT,
            "TIMESTAMP WITH TIME ZONE",
            [datetime(2024, 1, 2, tzinfo=timezone.utc), AT, datetime(2024, 1, 2, tzinfo=timezone.utc)],
        ),
    ],
)
def test_a_column_becomes_wider(
    widens: Any, widen: str, first: Any, second: Any, type_: str, expected: list[Any]
) -> None:
    warehouse = widens(widen)
    for value in (first, second, first):
        run(warehouse, value)
    assert (warehouse.types()["a"], warehouse.values("a")) == (type_, expected)
    assert list(warehouse.columns()) == ["a"]


def test_in_the_middle_of_a_load(widens: Any) -> None:
    warehouse = widens("bigint:double")
    tables = [pa.table({"a": [1], "b": [None]}), pa.table({"a": [2.5], "b": ["x"]}), pa.table({"a": [3]})]
    warehouse.pipeline.run(tables, table_name="t")
    assert warehouse.columns() == {"a": "double", "b": "text"}
    assert [(row["a"], row["b"]) for row in warehouse.rows()] == [(1.0, None), (2.5, "x"), (3.0, None)]


def test_what_no_wider_type_takes_is_refused_as_ever(widens: Any) -> None:
    warehouse = widens("bigint:double")
    run(warehouse, 1)
    with pytest.raises(ContractError, match="a comes as string, and some of its values do not fit bigint, "):
        run(warehouse, "x")
    assert (warehouse.types()["a"], warehouse.values("a")) == ("BIGINT", [1])


def test_digits_that_a_decimal_has_not_are_refused(widens: Any) -> None:
    warehouse = widens("safe")
    run(warehouse, 1)
    with pytest.raises(ContractError, match="a comes as double, and some of its values do not fit bigint, "):
        run(warehouse, 1e-12)


def test_a_contract_on_types_judges_widening(widens: Any) -> None:
    warehouse = widens("bigint:double")
    run(warehouse, 1)
    with pytest.raises(
        ContractViolation, match="a comes as double, and some of its values do not fit bigint"
    ):
        run(warehouse, 2.5, schema_contract={"data_type": "freeze"})
    run(warehouse, 2.5, schema_contract={"data_type": "discard_value"})
    assert (warehouse.types()["a"], warehouse.values("a")) == ("BIGINT", [1, None])


def test_without_the_option_nothing_becomes_wider(warehouse: Warehouse) -> None:
    run(warehouse, 1)
    with pytest.raises(ContractError, match="a comes as double, and some of its values do not fit bigint"):
        run(warehouse, 2.5)


def test_what_can_be_written_in_a_declared_type_is(warehouse: Warehouse) -> None:
    """Without any widening: as dlt leaves it to the destination."""
    texts = [{"name": name, "data_type": "text"} for name in ("b", "d", "f")]
    table = pa.table({"b": [True], "d": [date(2024, 1, 2)], "f": [2.5], "n": [1.5]})
    hints = [*texts, {"name": "n", "data_type": "decimal"}]
    warehouse.pipeline.run(table, table_name="t", columns=hints)
    assert warehouse.rows() == [{"b": "True", "d": "2024-01-02", "f": "2.5", "n": Decimal("1.5")}]


def test_an_integer_that_a_double_has_not_is_refused(widens: Any) -> None:
    warehouse = widens("bigint:double")
    for value in (1, 2.5):
        run(warehouse, value)
    with pytest.raises(ContractError, match="a comes as int64, and some of its values do not fit double, "):
        run(warehouse, 2**53 + 1)
    assert warehouse.values("a") == [1.0, 2.5]
