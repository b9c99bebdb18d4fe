"""Several versions in one table."""

from __future__ import annotations

import pytest

from dialects.snowplow.families import REDSHIFT, SPARK, document, family, object_schema, sql, text, types
from trellis.dialects.snowplow.columns.column_types import (
    BIGINT,
    DATE,
    DOUBLE,
    INT,
    SMALLINT,
    TIMESTAMP,
    ColumnType,
    char,
    varchar,
)
from trellis.dialects.snowplow.columns.family_table import merge_family
from trellis.dialects.snowplow.columns.merge import Fit, fit
from trellis.dialects.snowplow.columns.profiles import PROFILES
from trellis.dialects.snowplow.document.schema_document import SchemaDocument

MONEY = ColumnType("DECIMAL", 36, 2)
FITS: dict[str, list[tuple[ColumnType, ColumnType, Fit]]] = {
    "R51": [
        (varchar(20), varchar(30), "widens"),
        (varchar(30), varchar(20), "fits"),
        (varchar(20), varchar(4096), "widens"),
    ],
    "R52": [(SMALLINT, INT, "breaks"), (INT, SMALLINT, "fits")],
    "R53": [(BIGINT, DOUBLE, "breaks"), (DOUBLE, BIGINT, "fits"), (DOUBLE, MONEY, "fits")],
    "R54": [
        (varchar(4), SMALLINT, "breaks"),
        (varchar(5), SMALLINT, "fits"),
        (varchar(18), BIGINT, "breaks"),
        (varchar(19), BIGINT, "fits"),
    ],
    "R55": [
        (varchar(9), DATE, "breaks"),
        (varchar(10), DATE, "fits"),
        (varchar(24), TIMESTAMP, "breaks"),
        (varchar(25), TIMESTAMP, "fits"),
    ],
    "R56": [
        (DATE, varchar(4096), "breaks"),
        (char(3), varchar(6), "breaks"),
        (char(4), char(6), "breaks"),
        (char(6), char(4), "fits"),
    ],
    "R57": [(varchar(8), char(8), "fits"), (MONEY, BIGINT, "fits")],
}


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param(*case, id=f"{row}-{sql(case[0])}-{sql(case[1])}")
        for row, cases in FITS.items()
        for case in cases
    ],
)
def test_a_type_and_the_column_that_is_there(old: ColumnType, new: ColumnType, expected: Fit) -> None:
    assert fit(old, new, REDSHIFT) == expected


@pytest.mark.parametrize(
    ("old", "new", "postgres", "spark"),
    [
        (SMALLINT, INT, "widens", "widens"),
        (INT, BIGINT, "widens", "widens"),
        (INT, DOUBLE, "widens", "widens"),
        (BIGINT, DOUBLE, "breaks", "breaks"),
        (INT, MONEY, "widens", "widens"),
        (ColumnType("DECIMAL", 9, 2), MONEY, "widens", "widens"),
        (char(3), varchar(6), "widens", "fits"),
        (varchar(20), varchar(30), "widens", "fits"),
        (INT, varchar(20), "breaks", "breaks"),
        (DATE, varchar(20), "breaks", "breaks"),
    ],
)
def test_other_warehouses_widen_more(old: ColumnType, new: ColumnType, postgres: Fit, spark: Fit) -> None:
    profile = PROFILES["postgres"]
    assert fit(old, new, profile) == postgres
    assert fit(SPARK.adapt(old), SPARK.adapt(new), SPARK) == spark


def breaks(*documents: SchemaDocument) -> list[str]:
    return [reason.message for reason in merge_family(documents, REDSHIFT).steps[-1].breaks]


def test_r58_required_and_optional() -> None:
    required, optional = document("1-0-0", {"a": text(5)}, ["a"]), document("1-0-1", {"a": text(5)})
    assert breaks(required, optional) == ["Making required column nullable a"]
    assert breaks(optional, required) == []
    assert types(merge_family([optional, required], REDSHIFT).columns) == ["VARCHAR(5)"]


def test_r59_properties_that_are_removed() -> None:
    both = {"a": text(5), "b": text(5)}
    assert breaks(document("1-0-0", both), document("1-0-1", {"a": text(5)})) == []
    kept = merge_family([document("1-0-0", both), document("1-0-1", {"a": text(5)})], REDSHIFT)
    assert [column.name for column in kept.columns] == ["a", "b"]
    assert breaks(document("1-0-0", both, ["b"]), document("1-0-1", {"a": text(5)})) == [
        "Making required column nullable b"
    ]


def test_r60_an_object_becomes_a_text() -> None:
    nested = document("1-0-0", {"g": object_schema({"lat": {"type": "number"}})})
    table = merge_family([nested, document("1-0-1", {"g": {"type": "string"}})], REDSHIFT)
    assert [(column.name, sql(column.type)) for column in table.columns] == [
        ("g.lat", "DOUBLE PRECISION"),
        ("g", "VARCHAR(4096)"),
    ]


def test_r61_a_version_that_does_not_fit_gets_a_table() -> None:
    odd = document("1-0-1", {"berth": {"type": "integer"}})
    table = merge_family([*family("1-0-0 1-1-0"), odd, *family("1-2-0")], REDSHIFT)
    assert [(recovery.name, str(recovery.key)) for recovery in table.recovery] == [
        (
            "org_harbor_vessel_call_1_0_1_recovered_1501065791",
            "iglu:org.harbor/vessel_call/jsonschema/1-0-1",
        )
    ]
    assert [column.name for column in table.columns] == (
        ["berth", "arrived_at", "draught_m", "agent", "pilot"]
    )
    assert str(table.key.version) == "1-2-0"
    assert breaks(*family("1-0-0 1-1-0"), odd) == [
        "Incompatible types in column berth old VARCHAR(12) new BIGINT",
        "Making required column nullable berth",
    ]


def test_columns_that_arrive_together_are_sorted_and_nullable() -> None:
    later = {"e": text(1), "d": text(1), "c": text(1), "b": text(1), "z": text(1), "a": text(1)}
    table = merge_family([document("1-0-0", {"a": text(1)}), document("1-1-0", later, ["z"])], REDSHIFT)
    assert [(column.name, column.nullable) for column in table.columns] == [
        (name, True) for name in ("a", "z", "b", "c", "d", "e")
    ]


def test_all_keys_of_a_column_are_read() -> None:
    table = merge_family(
        [document("1-0-0", {"portId": text(5)}), document("1-1-0", {"port_id": text(9)})], REDSHIFT
    )
    assert [(column.paths, sql(column.type)) for column in table.columns] == [
        ((("portId",), ("port_id",)), "VARCHAR(9)")
    ]
