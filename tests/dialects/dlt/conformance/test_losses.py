"""Values that a column takes only in part: they go in, and the report says how many."""

from __future__ import annotations

import json
from datetime import date, datetime, time, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from dialects.dlt.conformance.warehouse import Warehouse
from trellis.schema.model import Column

CUT = "a second has more than 6 digits, the rest was cut"
DATE_ONLY = "a value has a time of day, only the date was kept"
AT = datetime(2024, 1, 1, 0, 0, 0, 123456, timezone.utc)


@pytest.mark.parametrize(
    ("column", "value", "stored", "note"),
    [
        (Column("a", "timestamp"), "2024-01-01T00:00:00.123456789Z", AT, CUT),
        (Column("a", "timestamp"), "2024-01-01T00:00:00.123456000Z", AT, None),
        (
            Column("a", "timestamp", precision=3),
            "2024-01-01T00:00:00.123456Z",
            AT.replace(microsecond=123000),
            "a second has more than 3 digits, the rest was cut",
        ),
        (Column("a", "time"), "10:00:00.1234567", time(10, 0, 0, 123456), CUT),
        (Column("a", "date"), "2024-01-01T10:00:00Z", date(2024, 1, 1), DATE_ONLY),
        (Column("a", "date"), "2024-01-01T00:00:00.000Z", date(2024, 1, 1), None),
        (Column("a", "date"), "2024-01-01", date(2024, 1, 1), None),
        (
            Column("a", "decimal", precision=10, scale=2),
            1.239,
            Decimal("1.24"),
            "a number has more than 2 digits after the point, it was rounded",
        ),
        (
            Column("a", "decimal", precision=10, scale=2),
            " 2.555 ",
            Decimal("2.56"),
            "a number has more than 2 digits after the point, it was rounded",
        ),
        (Column("a", "decimal", precision=10, scale=2), 0.1, Decimal("0.10"), None),
        (Column("a", "decimal", precision=10, scale=2), "0xff", Decimal("255.00"), None),
    ],
)  # fmt: skip
def test_what_is_cut_or_rounded_is_told(
    warehouse: Warehouse, tmp_path: Path, column: Column, value: Any, stored: Any, note: str | None
) -> None:
    file = tmp_path / "t.jsonl"
    file.write_text(json.dumps({"a": value}) + "\n")
    report = warehouse.pipeline.load(str(file), columns=(column,))
    assert warehouse.values("a") == [stored]
    assert report.notes == (() if note is None else (f"1 record: t.a: {note}",))


def test_python_values_too(warehouse: Warehouse) -> None:
    column = Column("a", "date")
    report = warehouse.load({"a": datetime(2024, 1, 1, 10)}, {"a": date(2024, 1, 2)}, columns=(column,))
    assert warehouse.values("a") == [date(2024, 1, 1), date(2024, 1, 2)]
    assert report.notes == ("1 record: t.a: a value has a time of day, only the date was kept",)


def test_each_value_counts_once_in_many_blocks_that_wait_or_not(warehouse: Warehouse, tmp_path: Path) -> None:
    file = tmp_path / "t.jsonl"
    lines = ['{"at": "2024-01-01T00:00:00Z", "p": "%s"}' % ("x" * 200)] * 20_000
    fine = '{"at": "2024-01-01T00:00:00.123456789Z"%s}'
    lines[0] = lines[19_000] = fine % ""
    lines[10_000] = fine % ', "new": 1'
    file.write_text("\n".join(lines) + "\n")
    report = warehouse.pipeline.load(str(file))
    assert report.rows.loaded == 20_000
    assert report.notes == ("3 records: t.at: a second has more than 6 digits, the rest was cut",)


def test_a_row_that_a_contract_drops_loses_nothing(warehouse: Warehouse) -> None:
    column = Column("a", "decimal", precision=10, scale=2)
    warehouse.load({"a": 1}, columns=(column,))
    report = warehouse.load({"a": 1.239, "b": 1}, contract={"columns": "discard_row"})
    assert (report.rows.dropped, report.notes) == (1, ())
