"""Timestamps of 96 bits in Parquet files: every moment comes right, every digit is kept or told."""

from __future__ import annotations

import struct
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import trellis
from dialects.dlt.conformance.warehouse import Warehouse
from trellis.engine.input.blocks import Split
from trellis.engine.input.parquet import read_batches
from trellis.errors import UsageError
from trellis.schema.model import Column

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

YEARS = [datetime(year, 1, 2, 3, 4, 5, 678901, timezone.utc) for year in (1, 1600, 1900, 2026, 9999)]
FINE = [1_700_000_000_123_456_789, -1, -2_208_988_800_000_000_001, None, 1_000]
CUT = "records: a second in {} has more digits than the column keeps, the last ones were cut"
JULIAN_1970 = 2_440_588


def write(path: Path, **columns: pa.Array) -> str:
    """A file of timestamps of 96 bits."""
    plain: dict[str, Any] = {"use_dictionary": False, "compression": "none"}
    pq.write_table(pa.table(columns), path, use_deprecated_int96_timestamps=True, **plain)
    return str(path)


def move(path: str, nanos: int, days: int) -> None:
    """Move the moments of so many nanoseconds in a file by days, out of what nanoseconds can say."""
    day, rest = divmod(nanos, 86_400 * 10**9)
    old = struct.pack("<qI", rest, JULIAN_1970 + day)
    data = Path(path).read_bytes()
    assert old in data
    Path(path).write_bytes(data.replace(old, struct.pack("<qI", rest, JULIAN_1970 + day + days)))


def nanos_in(folder: Path, column: str) -> tuple[str, list[int | None]]:
    (file,) = (folder / "t").rglob("*.parquet")
    column_values = pq.read_table(file)[column]
    return str(column_values.type), column_values.cast(pa.int64()).to_pylist()


def test_moments_far_away_come_right(warehouse: Warehouse, tmp_path: Path) -> None:
    path = write(tmp_path / "in.parquet", a=pa.array([*YEARS, None], pa.timestamp("us")))
    report = warehouse.pipeline.load(path, table="t")
    assert (warehouse.values("a"), report.notes) == ([*YEARS, None], ())


def test_moments_far_away_come_right_from_spark(
    warehouse: Warehouse, tmp_path: Path, spark: SparkSession
) -> None:
    known = "spark.sql.parquet.outputTimestampType"
    before = spark.conf.get(known)
    spark.conf.set(known, "INT96")
    try:
        literals = ", ".join(f"(timestamp'{year:%Y-%m-%d %H:%M:%S.%f}')" for year in YEARS)
        literals = literals.replace("'1-", "'0001-")
        spark.sql(f"SELECT * FROM VALUES {literals} AS t(a)").coalesce(1).write.parquet(f"{tmp_path}/in")
    finally:
        spark.conf.set(known, str(before))
    (file,) = (tmp_path / "in").glob("*.parquet")
    assert pq.ParquetFile(file).metadata.schema.column(0).physical_type == "INT96"
    report = warehouse.pipeline.load(str(tmp_path / "in"), table="t")
    assert (sorted(warehouse.values("a")), report.notes) == (YEARS, ())


def test_nanoseconds_are_kept_or_told(warehouse: Warehouse, tmp_path: Path) -> None:
    path = write(tmp_path / "in.parquet", a=pa.array(FINE, pa.timestamp("ns")))
    report = warehouse.pipeline.load(path, table="cut")
    assert report.notes == (f"3 {CUT.format('cut.a')}",)
    assert [at and at.isoformat() for at in warehouse.values("a", "cut")] == [
        "2023-11-14T22:13:20.123456+00:00",
        "1969-12-31T23:59:59.999999+00:00",
        "1899-12-31T23:59:59.999999+00:00",
        None,
        "1970-01-01T00:00:00.000001+00:00",
    ]
    report = warehouse.pipeline.load(path, table="kept", columns=(Column("a", timezone=False),))
    assert (warehouse.types("kept")["a"], report.notes) == ("TIMESTAMP_NS", ())
    assert [moment and moment.value for moment in warehouse.values("a", "kept")] == FINE


def test_nanoseconds_beside_moments_far_away(tmp_path: Path) -> None:
    fine, far = pa.array(FINE, pa.timestamp("ns")), pa.array(YEARS, pa.timestamp("us"))
    path = write(tmp_path / "in.parquet", a=fine, b=far)
    pipe = trellis.pipeline("farm", to=f"parquet:{tmp_path}/lake")
    report = pipe.load(path, table="t")
    assert nanos_in(tmp_path / "lake", "a") == ("timestamp[ns, tz=UTC]", FINE)
    assert pipe.destination.query("", "t")[0]["b"] == YEARS[0]
    assert report.notes == ()


def test_one_column_of_both_keeps_the_moments_and_counts_the_digits(tmp_path: Path) -> None:
    path = write(tmp_path / "in.parquet", a=pa.array([*FINE, 86_400 * 10**9 + 7], pa.timestamp("ns")))
    move(path, FINE[0] or 0, -(400 * 365))
    report = trellis.pipeline("farm", to=f"parquet:{tmp_path}/lake").load(path, table="t")
    micros = [None if nanos is None else nanos // 1_000 for nanos in (*FINE, 86_400 * 10**9 + 7)]
    micros[0] = 1_700_000_000_123_456 - 400 * 365 * 86_400 * 10**6
    assert nanos_in(tmp_path / "lake", "a") == ("timestamp[us, tz=UTC]", micros)
    assert report.notes == (f"4 {CUT.format('t.a')}",)


def test_nested_moments(warehouse: Warehouse, tmp_path: Path) -> None:
    far = pa.array([[moment, None] for moment in YEARS], pa.list_(pa.timestamp("us")))
    fine = pa.array([{"x": moment} for moment in FINE], pa.struct({"x": pa.timestamp("ns")}))
    warehouse.pipeline.load(write(tmp_path / "in.parquet", a=far, s=fine), table="t")
    assert [moment for moment in warehouse.values("value", "t__a") if moment] == YEARS
    assert warehouse.values("s__x")[0] == datetime(2023, 11, 14, 22, 13, 20, 123456, timezone.utc)


def test_a_moment_outside_of_the_calendar(warehouse: Warehouse, tmp_path: Path) -> None:
    path = write(tmp_path / "in.parquet", a=pa.array(FINE, pa.timestamp("ns")))
    move(path, FINE[0] or 0, 200_000_000)
    with pytest.raises(UsageError, match=r"in.parquet: a holds a time that is outside of the calendar"):
        warehouse.pipeline.load(path, table="t")


def test_the_same_file_in_any_number_of_splits(tmp_path: Path) -> None:
    """What is kept is settled for the whole file, not for a part of it."""
    path = str(tmp_path / "in.parquet")
    table = pa.table({"a": pa.array([1_000, 2_000, 3_001], pa.timestamp("ns"))})
    pq.write_table(table, path, use_deprecated_int96_timestamps=True, row_group_size=1)
    splits: list[list[tuple[int, int | None]]] = [[(0, None)], [(0, 1), (1, 3)]]
    for parts in splits:
        read = [
            rows.batch
            for start, end in parts
            for rows in read_batches(Split(0, start, path, "parquet", start=start, end=end))
        ]
        assert pa.Table.from_batches(read).equals(table)
