"""Rows that wait in a temporary file come back as they were, whatever is in them."""

from __future__ import annotations

import os
from collections import OrderedDict
from dataclasses import dataclass
from datetime import datetime, timezone
from decimal import Decimal
from enum import Enum
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from trellis.engine.input.chunk_file import ChunkFile
from trellis.errors import UsageError


class Colour(str, Enum):
    RED = "red"


class Pair(NamedTuple):
    left: int
    right: int


@dataclass
class Point:
    x: int


def again(*rows: Any) -> list[Any]:
    chunks = ChunkFile()
    chunks.append([{"first": 1}])
    chunks.append(rows)
    chunks.append([{"last": 1}])
    assert (len(chunks), chunks.read(0), chunks.read(2)) == (3, [{"first": 1}], [{"last": 1}])
    chunks.read(1)
    return chunks.read(1)


def test_rows_of_plain_values() -> None:
    rows = [
        {
            "id": 2**80,
            "price": Decimal("1.50"),
            "at": datetime(2024, 5, 6, tzinfo=timezone.utc),
            "none": None,
        },
        {"nested": {"pair": (1, b"\x00"), "set": {1}}, 5: "five", "$": "dollar", "half": "\ud800"},
        ["no", "dict"],
        "text",
    ]
    assert again(*rows) == rows


@pytest.mark.parametrize(
    "value",
    [
        Colour.RED,
        Pair(1, 2),
        Point(3),
        OrderedDict(a=1),
        bytearray(b"x"),
        lambda: None,
        pd.NaT,
        np.array([1, 2]),
        np.array(5),
        np.str_(""),
    ],
    ids=lambda value: type(value).__name__,
)
def test_an_object_of_another_class_is_the_same_object(value: Any) -> None:
    (row,) = again({"value": [value]})
    assert row["value"][0] is value


@pytest.mark.parametrize(
    "value",
    [
        np.float64(0.1),
        np.float32("nan"),
        np.int64(-5),
        np.bool_(True),
        np.str_("text"),
        np.datetime64("2024-05-06T07:08:09.123456789"),
        pd.Timestamp("2024-05-06T07:08:09.123456789"),
        pd.Timestamp("0001-01-01").as_unit("s"),
    ],
    ids=repr,
)
def test_cells_of_frames(value: Any) -> None:
    (row,) = again({"value": value})
    assert (type(row["value"]), repr(row["value"])) == (type(value), repr(value))


def test_cells_of_frames_do_not_stay_in_memory() -> None:
    value = np.float64(0.1)
    (row,) = again({"value": value})
    assert row["value"] is not value


def test_a_timestamp_with_a_zone_keeps_its_offset() -> None:
    summer = pd.Timestamp("2024-07-01T12:00:00.000000001", tz=ZoneInfo("Europe/Berlin"))
    ((chunk,),) = again([summer])
    assert (chunk, chunk.isoformat()) == (summer, "2024-07-01T12:00:00.000000001+02:00")


def test_tables_come_back_as_arrow_tables() -> None:
    table = pa.table(
        {"id": pa.array([1, None], pa.int16()), "at": pa.array([0, 1], pa.timestamp("s", "UTC"))}
    )
    batch = table.to_batches()[0]
    sliced = pa.concat_tables([table, table.slice(1)])
    frame = pd.DataFrame({"a": [1.5, 2.5], "b": ["x", None]}, index=[7, 8])
    records = again(table, batch, sliced, frame, {"id": 1}, table.schema.empty_table())
    assert [type(record) for record in records] == [pa.Table] * 4 + [dict, pa.Table]
    assert records[:3] == [table, table, sliced]
    assert records[3].to_pydict() == {"a": [1.5, 2.5], "b": ["x", None]}
    assert records[5] == table.schema.empty_table()


def test_a_frame_that_arrow_does_not_take_stays_as_it_is() -> None:
    frame = pd.DataFrame({"a": [1, "text"]})
    assert again(frame)[0] is frame


def test_a_list_that_holds_itself_stays_as_it_is() -> None:
    row: dict[str, Any] = {"a": 1}
    row["self"] = row
    assert again(row)[0] is row


def test_a_full_disk_is_one_sentence(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    chunks = ChunkFile()
    chunks._file = open("/dev/full", "r+b", buffering=0)  # type: ignore[assignment]  # noqa: SIM115
    with pytest.raises(UsageError) as refused:
        chunks.append([{"id": 1}])
    assert str(refused.value) == (
        f"{tmp_path}: rows cannot be kept in a temporary file (No space left on device); free some space "
        "there, or name another folder with TMPDIR"
    )


def test_the_file_has_no_name(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    chunks = ChunkFile()
    chunks.append([{"secret": 1}])
    assert os.listdir(tmp_path) == []
