"""Records that are Python objects: dlt and Trellis load the same of them, each into a dataset of its own."""

from __future__ import annotations

import collections
import datetime
import enum
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pandas as pd
import pydantic
import pytest

import trellis
from dialects.dlt.against_dlt.twins import Place, disagreements
from trellis.errors import ContractError, UsageError


@dataclass
class Size:
    width: int
    steps: list[int]


class Colour(pydantic.BaseModel):
    name: str
    shades: list[int]


class Numbers(list[int]):
    pass


class Kind(enum.Enum):
    small = "Small"


ROWS = [{"id": 1}]
Point = collections.namedtuple("Point", "x y")
FRAME = pd.DataFrame(
    {
        "id": [1, 2],
        "price": [1.5, None],
        "count": pd.array([1, None], dtype="Int64"),
        "paid": pd.array([None, True], dtype="boolean"),
    }
)
RECORDS: Mapping[str, list[Any]] = {
    "missing values of a frame": FRAME.to_dict("records"),
    "nan below the record": [{"id": 1, "a": {"b": float("nan"), "c": 1}, "l": [1.0, float("nan")]}],
    "nan alone": [{"id": 1, "a": float("nan")}],
    "None as a key": [{None: 1, "id": 2, "a": {None: 3}, "l": [{None: 4}]}],
    "keys of other classes": [
        {True: 1, 1.5: 2, datetime.date(2024, 1, 1): 3, datetime.datetime(2024, 1, 1): 4},
        {Kind.small: 5, uuid.UUID(int=5): 6, 7: 8},
    ],
    "dataclasses": [{"id": 1, "size": Size(2, [1, 2]), "sizes": [Size(3, [])]}],
    "models": [{"id": 1, "colour": Colour(name="red", shades=[1]), "all": [Colour(name="b", shades=[])]}],
    "named tuples": [{"id": 1, "at": Point(1, 2)}],
    "subclasses": [
        collections.OrderedDict(id=1, tally=collections.Counter("aab"), numbers=Numbers([1, 2])),
        collections.defaultdict(int, id=2),
    ],
}


@pytest.mark.parametrize("name", RECORDS)
def test_objects(tmp_path: Path, name: str) -> None:
    theirs, ours = (Place(f"duckdb:{tmp_path}/{who}.duckdb", tmp_path / who) for who in ("dlt", "trellis"))
    theirs.dlt().run(RECORDS[name], table_name="items")
    ours.trellis().run(RECORDS[name], table_name="items")
    assert disagreements(theirs.read(), ours.read()) == []


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(f"duckdb:{tmp_path}/shop.duckdb", tmp_path)


def rows(place: Place, records: Any) -> list[dict[str, Any]]:
    place.trellis().run(records, table_name="items")
    table = place.read().tables["items"]
    return [{k: v for k, v in row.items() if not k.startswith("_dlt")} for row in table.rows]


def test_nat_is_null(place: Place) -> None:
    """dlt makes a variant column of it that holds a tag of its files and the text NaT."""
    frame = pd.DataFrame({"id": [1, 2], "at": [pd.Timestamp("2024-01-01"), pd.NaT]})
    moment = datetime.datetime(2024, 1, 1, tzinfo=datetime.timezone.utc)
    assert rows(place, frame.to_dict("records")) == [{"id": 1, "at": moment}, {"id": 2, "at": None}]


def test_infinities_stay(place: Place) -> None:
    """dlt makes NULL of them where it writes items to its files."""
    assert rows(place, [{"a": 1.5}, {"a": float("inf")}]) == [{"a": 1.5}, {"a": float("inf")}]


def test_every_mapping_is_an_object(place: Place) -> None:
    """dlt takes only dicts and their subclasses."""
    inner = MappingProxyType({"x": 1})
    assert rows(place, [collections.UserDict(id=1, a=inner)]) == [{"id": 1, "a__x": 1}]


def test_nul_stays(place: Place) -> None:
    """dlt leaves it out of the statements that it writes for DuckDB."""
    assert rows(place, [{"a": "x\0y"}]) == [{"a": "x\0y"}]


@pytest.mark.parametrize(("key", "shown"), [(("a", "b"), "('a', 'b') is a tuple"), (b"k", "b'k' is a bytes")])
def test_keys_that_are_no_text(place: Place, key: Any, shown: str) -> None:
    with pytest.raises(ContractError) as refused:
        place.trellis().run([{"id": 1}, {"id": 2, "a": {key: 1}}], table_name="items")
    assert str(refused.value) == (
        f"records, record 2: the key {shown}; the keys of a record are texts, numbers, dates or None:"
        " make it a text"
    )


def test_no_data_at_all(place: Place) -> None:
    with pytest.raises(UsageError, match="the data is None and no rows of an earlier run"):
        place.trellis().run(None, table_name="items")


def test_several_sources_in_one_run(place: Place) -> None:
    """dlt loads one after the other, each in a package of its own."""
    sources = [trellis.Source(name, [trellis.resource(ROWS, name="rows")]) for name in ("a", "b")]
    with pytest.raises(UsageError, match="run the sources of the list one by one"):
        place.trellis().run(sources)
