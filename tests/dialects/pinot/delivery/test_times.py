"""Main times for which Pinot refuses a segment: reported while the files are written.

What 1.5.1 does was asked of its own classes: out of range fails unless segmentTimeValueCheck is false,
unreadable fails in any case, and continueOnError lets both pass.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dialects.pinot.delivery.test_deliver import loaded
from trellis.dialects.pinot.cluster.delivery import DeliverySettings, delivery_of, write
from trellis.dialects.pinot.cluster.time_check import TimeCheck
from trellis.dialects.pinot.stored_schema import authored_of
from trellis.dialects.pinot.table.config import table_config
from trellis.dialects.pinot.validation.schema_document import read_schema

LOAD_AGAIN = (
    "Correct the values and load into a new dataset; a table config with timeColumnName t, rowTimeValueCheck "
    "and continueOnError makes null of them instead"
)


def schema(data_type: str, format: str) -> dict[str, Any]:
    time = {"name": "t", "dataType": data_type, "format": format, "granularity": "1:DAYS"}
    city = {"name": "city", "dataType": "STRING"}
    return {"schemaName": "rides", "dimensionFieldSpecs": [city], "dateTimeFieldSpecs": [time]}


def table(**ingestion: Any) -> dict[str, Any]:
    return {
        "tableName": "rides",
        "tableType": "OFFLINE",
        "segmentsConfig": {"timeColumnName": "t"},
        "ingestionConfig": ingestion,
    }


def warned(
    data_type: str, format: str, values: list[Any], arrow: pa.DataType, **ingestion: Any
) -> str | None:
    pinot_schema = read_schema(schema(data_type, format)).schema
    check = TimeCheck(pinot_schema, table_config(table(**ingestion)), "UTC")
    for value in values:
        check.check_batch(pa.record_batch([pa.array([value, None, value], arrow)], names=["t"]))
    return check.warning


SECONDS = ("LONG", "EPOCH|SECONDS")
DAYS = ("STRING", "SIMPLE_DATE_FORMAT|yyyy-MM-dd")
NUMBER_DAYS = ("INT", "SIMPLE_DATE_FORMAT|yyyyMMdd")


@pytest.mark.parametrize(
    ("column", "values", "arrow"),
    [
        (SECONDS, [31_536_000, 3_187_296_000, None], pa.int64()),
        (DAYS, ["1971-01-01", "2071-01-01", None], pa.string()),
        (NUMBER_DAYS, [19710101, 20710101], pa.int32()),
        (("TIMESTAMP", "TIMESTAMP"), [31_536_000_000, 3_187_296_000_000], pa.int64()),
    ],
)  # fmt: skip
def test_times_that_fit(column: tuple[str, str], values: list[Any], arrow: pa.DataType) -> None:
    assert warned(*column, values, arrow) is None


@pytest.mark.parametrize(
    ("column", "values", "arrow", "example"),
    [
        (SECONDS, [1_700_000_000, 31_535_999], pa.int64(), "'31535999' is not between 1971-01-01 and 2071"),
        (SECONDS, [3_187_296_001], pa.int64(), "(it reads as 3187296001000 milliseconds"),
        (DAYS, ["2023-01-01", "1950-01-01"], pa.string(), "'1950-01-01' is not between"),
        (NUMBER_DAYS, [20231231, 19500101], pa.int32(), "'19500101' is not between"),
        (("TIMESTAMP", "TIMESTAMP"), [0], pa.int64(), "(it reads as 0 milliseconds"),
    ],
)  # fmt: skip
def test_times_out_of_range(
    column: tuple[str, str], values: list[Any], arrow: pa.DataType, example: str
) -> None:
    warnings = warned(*column, values, arrow)
    assert warnings is not None
    assert warnings.startswith(
        "2 rows have a main time in t for which Pinot will refuse the segment, such as: "
    )
    assert example in warnings
    assert warnings.endswith(f"{LOAD_AGAIN}, one with segmentTimeValueCheck false lets them in")
    assert warned(*column, values, arrow, segmentTimeValueCheck=False) is None
    assert warned(*column, values, arrow, continueOnError=True) is None


def test_times_that_cannot_be_read() -> None:
    """segmentTimeValueCheck false does not help, so it is not proposed."""
    for config in ({}, {"segmentTimeValueCheck": False}):
        warnings = warned(*DAYS, ["2023-01-01", "abc"], pa.string(), **config)
        assert warnings is not None
        assert warnings.startswith("2 rows have a main time in t")
        assert "abc" in warnings
        assert warnings.endswith(LOAD_AGAIN)
    warnings = warned(*NUMBER_DAYS, [20231399], pa.int32())
    assert warnings is not None
    assert "20231399" in warnings
    assert warned(*DAYS, ["abc"], pa.string(), continueOnError=True) is None


def test_only_the_first_and_the_last_time_count() -> None:
    """A segment with such a text between others is built; where an end is bad, all bad ones are counted."""
    check = TimeCheck(read_schema(schema(*DAYS)).schema, table_config(table()), "UTC")
    check.check_batch(pa.record_batch([["2023-01-01", "2023-99-99", "2024-01-01"]], names=["t"]))
    assert check.warning is None
    check.check_batch(pa.record_batch([["abc", "2023-99-99", "2024-01-01", "abc"]], names=["t"]))
    assert check.rows == 3


def test_a_column_that_no_time_of_now_fits() -> None:
    warnings = warned("INT", "EPOCH|MILLISECONDS", [], pa.int32())
    assert warnings is not None
    assert warnings.startswith("Pinot will refuse the segments: column t: the current time, ")


def test_no_main_time() -> None:
    pinot_schema = read_schema({"schemaName": "rides"}).schema
    check = TimeCheck(pinot_schema, table_config(None), "UTC")
    check.check_batch(pa.record_batch([["abc"]], names=["t"]))
    assert check.warning is None


@pytest.mark.parametrize("format", ["parquet", "json"])
def test_a_delivery_tells_and_is_written(tmp_path: Path, format: str) -> None:
    rows = [{"city": "Bern", "t": t} for t in (5, 1_700_000_000, 7)]
    pipeline = loaded(tmp_path, f"parquet:{tmp_path}/lake", schema(*SECONDS), rows, view="nullable")
    out, delivery_settings = tmp_path / "out", DeliverySettings(format, rows=2)
    delivery = delivery_of(authored_of(pipeline.schema), out, delivery_settings)
    written = write(delivery, pipeline.destination, pipeline.dataset, out, delivery_settings)
    assert [(file.path.name, file.rows) for file in written.files] == [
        (f"part-00000.{format}", 2),
        (f"part-00001.{format}", 1),
    ]
    (warning,) = written.warnings
    assert warning == (
        "2 rows have a main time in t for which Pinot will refuse the segment, such as: '5' is not between "
        "1971-01-01 and 2071-01-01 UTC (it reads as 5000 milliseconds in format EPOCH|SECONDS). "
        f"{LOAD_AGAIN}, one with segmentTimeValueCheck false lets them in"
    )


def test_what_the_warning_proposes_helps(tmp_path: Path) -> None:
    """A new dataset whose config names the main time and checks it: the bad one is null, and all is well."""
    rows = [{"city": "Bern", "t": t} for t in (5, 1_700_000_000)]
    config = table(rowTimeValueCheck=True, continueOnError=True)
    pipeline = loaded(
        tmp_path, f"parquet:{tmp_path}/lake", schema(*SECONDS), rows, view="nullable", table_config=config
    )
    out, delivery_settings = tmp_path / "out", DeliverySettings()
    delivery = delivery_of(authored_of(pipeline.schema), out, delivery_settings)
    written = write(delivery, pipeline.destination, pipeline.dataset, out, delivery_settings)
    assert written.warnings == ()
    assert [row["t"] for row in pq.read_table(written.files[0].path).to_pylist()] == [None, 1_700_000_000]
