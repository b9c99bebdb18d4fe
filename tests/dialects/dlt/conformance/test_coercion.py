"""Group C: values meet columns; what does not fit goes to a variant column."""

from __future__ import annotations

from datetime import date, datetime, time, timezone
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest

from dialects.dlt.conformance.warehouse import Warehouse
from trellis.errors import ContractError
from trellis.evolution.scalars.kinds import Wei
from trellis.schema.model import Schema, Settings

UTC = timezone.utc
NO_COERCION = Schema(
    "given", normalizers={"json": {"module": "dlt.common.normalizers.json.relational_no_coercion"}}
)

# id of the row, the first value, what follows it, the types of all columns, and where the values are
ROWS: list[tuple[str, Any, list[Any], dict[str, str], dict[str, list[Any]]]] = [
    (
        "C01",
        1,
        ["idx-9", 2.5, 3.0, True, "44", b"x", date(2024, 1, 2)],
        {
            "a": "bigint",
            "a__v_text": "text",
            "a__v_double": "double",
            "a__v_bool": "bool",
            "a__v_binary": "binary",
            "a__v_date": "date",
        },
        {
            "a": [1, None, None, 3, None, 44, None, None],
            "a__v_text": [None, "idx-9", *[None] * 6],
            "a__v_double": [None, None, 2.5, *[None] * 5],
            "a__v_bool": [*[None] * 4, True, *[None] * 3],
            "a__v_binary": [*[None] * 6, b"x", None],
            "a__v_date": [*[None] * 7, date(2024, 1, 2)],
        },
    ),
    (
        "C02",
        "s",
        [1, 2.5, True, datetime(2024, 1, 2, 3, 4, 5, tzinfo=UTC), b"\x01"],
        {"a": "text"},
        {"a": ["s", "1", "2.5", "True", "2024-01-02T03:04:05+00:00", "AQ=="]},
    ),
    (
        "C03",
        True,
        [1, "no", "maybe", 0.0, 5],
        {"a": "bool", "a__v_text": "text"},
        {"a": [True, True, False, None, False, True], "a__v_text": [None, None, None, "maybe", None, None]},
    ),
    ("C04", 5, [True], {"a": "bigint", "a__v_bool": "bool"}, {"a": [5, None], "a__v_bool": [None, True]}),
    (
        "C05",
        5,
        ["0x1f", " 3 ", "4.5", ""],
        {"a": "bigint", "a__v_text": "text"},
        {"a": [5, 31, 3, None, None], "a__v_text": [None, None, None, "4.5", ""]},
    ),
    (
        "C06",
        1.5,
        [2, Decimal("9.99"), "1e3", "n/a", True],
        {"a": "double", "a__v_text": "text", "a__v_bool": "bool"},
        {
            "a": [1.5, 2.0, 9.99, 1000.0, None, None],
            "a__v_text": [*[None] * 4, "n/a", None],
            "a__v_bool": [*[None] * 5, True],
        },
    ),
    (
        "C07",
        Decimal("1.5"),
        [2, 0.1, "3.30", "bad", True],
        {"a": "decimal", "a__v_text": "text", "a__v_bool": "bool"},
        {
            "a": [Decimal("1.5"), Decimal(2), Decimal("0.1"), Decimal("3.30"), None, None],
            "a__v_text": [*[None] * 4, "bad", None],
            "a__v_bool": [*[None] * 5, True],
        },
    ),
    (
        "C08",
        datetime(2024, 1, 1, tzinfo=UTC),
        ["2024-05-01", "soon", 1700000000, date(2024, 5, 6), "12:00:01", 1700000000000],
        {"a": "timestamp", "a__v_text": "text", "a__v_bigint": "bigint"},
        {
            "a": [
                datetime(2024, 1, 1, tzinfo=UTC),
                datetime(2024, 5, 1, tzinfo=UTC),
                None,
                datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC),
                datetime(2024, 5, 6, tzinfo=UTC),
                None,
                None,
            ],
            "a__v_text": [None, None, "soon", None, None, "12:00:01", None],
            "a__v_bigint": [*[None] * 6, 1700000000000],
        },
    ),
    (
        "C09",
        date(2024, 1, 1),
        ["2024-02-02T23:00:00-05:00", datetime(2024, 3, 3, 5), 1700000000, "nope"],
        {"a": "date", "a__v_text": "text"},
        {
            "a": [date(2024, 1, 1), date(2024, 2, 3), date(2024, 3, 3), date(2023, 11, 14), None],
            "a__v_text": [*[None] * 4, "nope"],
        },
    ),
    (
        "C10",
        time(1, 2, 3),
        ["03:04:05", "2024-01-01T03:04:05Z"],
        {"a": "time", "a__v_text": "text"},
        {"a": [time(1, 2, 3), time(3, 4, 5), None], "a__v_text": [None, None, "2024-01-01T03:04:05Z"]},
    ),
    (
        "C11",
        b"ab",
        ["aGk=", "0x6869", 513, "%%"],
        {"a": "binary", "a__v_text": "text"},
        {"a": [b"ab", b"hi", b"hi", b"\x01\x02", None], "a__v_text": [None, None, None, None, "%%"]},
    ),
]


@pytest.mark.parametrize(
    ("first", "then", "types", "values"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS]
)
@pytest.mark.parametrize("loads", ["one load", "a load each"])
def test_values_meet_a_column(
    warehouse: Warehouse, loads: Any, first: Any, then: Any, types: Any, values: Any
) -> None:
    records = [{"a": value} for value in (first, *then)]
    for batch in [records] if loads == "one load" else [[record] for record in records]:
        warehouse.load(*batch)
    assert warehouse.columns() == types
    assert {name: warehouse.values(name) for name in types} == values
    variants = [c.name for c in warehouse.schema.tables["t"].columns.values() if c.is_variant]
    assert variants == list(types)[1:]


def test_c12_a_variant_column_takes_values_of_its_own_key(warehouse: Warehouse) -> None:
    for record in ({"a": 1}, {"a": "x"}, {"a__v_text": 5}):
        warehouse.load(record)
    assert warehouse.columns() == {"a": "bigint", "a__v_text": "text"}
    assert warehouse.values("a__v_text") == [None, "x", "5"]


@pytest.mark.parametrize("loads", ["one load", "a load each"])
def test_c13_no_variant_of_a_variant(warehouse: Warehouse, loads: Any) -> None:
    records = [{"a__v_text": 1, "a": 1}, {"a": "zz"}]
    with pytest.raises(ContractError, match=r"fits neither column a \(bigint\) nor a__v_text \(bigint\)"):
        for batch in [records] if loads == "one load" else [[record] for record in records]:
            warehouse.load(*batch)
    assert len(warehouse.raw() if "t" in warehouse.tables else []) == (loads == "a load each")


def test_c14_preferred_type_that_the_first_value_does_not_fit(warehouse: Warehouse) -> None:
    rules = Settings(preferred_types={"inserted_at": "timestamp"})
    warehouse.load({"inserted_at": "junk"}, schema=Schema("given", settings=rules))
    assert warehouse.columns() == {"inserted_at__v_text": "text"}
    assert list(warehouse.types()) == ["inserted_at__v_text", "_dlt_load_id", "_dlt_id"]
    warehouse.load({"inserted_at": "2024-01-01"})
    assert warehouse.values("inserted_at") == [None, datetime(2024, 1, 1, tzinfo=UTC)]


def test_c15_without_coercion_every_type_has_its_column(warehouse: Warehouse) -> None:
    warehouse.load({"a": 1}, {"a": "2"}, {"a": 3.0}, schema=NO_COERCION)
    warehouse.load({"a": "4"}, {"a": 5})
    assert warehouse.columns() == {"a": "bigint", "a__v_text": "text", "a__v_double": "double"}
    assert warehouse.values("a") == [1, None, None, None, 5]
    assert warehouse.values("a__v_text") == [None, "2", None, "4", None]
    assert warehouse.values("a__v_double") == [None, None, 3.0, None, None]


def test_c15_what_a_detector_finds_is_not_coerced(warehouse: Warehouse) -> None:
    warehouse.load({"a": "2024-05-06T01:02:03Z"}, {"a": "soon"}, {"a": 5}, schema=NO_COERCION)
    assert warehouse.columns() == {"a": "timestamp", "a__v_text": "text", "a__v_bigint": "bigint"}
    assert warehouse.values("a") == [datetime(2024, 5, 6, 1, 2, 3, tzinfo=UTC), None, None]


@pytest.mark.parametrize(
    ("values", "types"),
    [(["s", 1], {"a": "text"}), ([1, "s"], {"a": "bigint", "a__v_text": "text"})],
    ids=["text first", "number first"],
)
def test_c16_the_first_value_decides(warehouse: Warehouse, values: Any, types: Any) -> None:
    warehouse.load(*({"a": value} for value in values))
    assert warehouse.columns() == types


def test_c17_values_of_python(warehouse: Warehouse) -> None:
    warehouse.load({"u": UUID(int=5), "d": Decimal("1.5"), "t": (1, 2)})
    assert warehouse.columns() == {"u": "text", "d": "decimal"}
    (row,) = warehouse.rows()
    assert (row["u"], str(row["d"])) == ("00000000-0000-0000-0000-000000000005", "1.500000000")
    assert warehouse.types()["d"] == "DECIMAL(38,9)"
    assert warehouse.rows("t__t") == [{"value": 1}, {"value": 2}]


def test_c18_wei_beyond_the_limit(warehouse: Warehouse) -> None:
    warehouse.load({"w": Wei(2**120)}, {"w": Wei(6 * 10**38)})
    warehouse.load({"w": Wei(7 * 10**38)})
    assert warehouse.columns() == {"w": "wei", "w__v_str": "text"}
    assert warehouse.values("w") == [2**120, None, None]
    assert warehouse.values("w__v_str") == [None, "6" + "0" * 38, "7" + "0" * 38]
