"""Trellis does what dlt does: the same made-up documents through both, and from files too.

What may differ stands in `tests/dialects/dlt/differences.txt`. A longer hunt:
`python tests/dialects/dlt/against_dlt --streams 2000 --seed 7`.
"""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from dialects.dlt.against_dlt.hunt import Found, compare
from dialects.dlt.against_dlt.known import RECOGNISERS, entries, unexplained
from dialects.dlt.against_dlt.streams import Load, Stream, stream

SEED = int(os.environ.get("TRELLIS_DLT_SEED", "1"))
STREAMS = int(os.environ.get("TRELLIS_DLT_STREAMS", "40"))
CHUNK = 20


@pytest.mark.parametrize("first", range(0, STREAMS, CHUNK))
def test_streams(tmp_path: Path, first: int) -> None:
    numbers = range(first, min(first + CHUNK, STREAMS))
    comparisons = compare([stream(SEED, number) for number in numbers], tmp_path)
    wrong = [text for number, one in zip(numbers, comparisons, strict=True) if (text := report(number, one))]
    if wrong:
        pytest.fail("\n".join(wrong), pytrace=False)


def report(number: int, comparison: Found) -> str:
    """What is wrong with a stream; nothing if nothing is."""
    lines = []
    for way in comparison.differences:
        left, _ = unexplained(comparison, way)
        if left:
            lines += [f"  {way}", *(f"    {one}" for one in left)]
    if not lines:
        return ""
    loads = [f"  {load}" for load in comparison.stream.loads]
    return "\n".join(
        (f"stream {number}, profile {comparison.stream.profile}, table {comparison.table}", *loads, *lines)
    )


def merging(*items: Any, way: str = "upsert", **columns: Any) -> tuple[Load, ...]:
    options = {"mode": "merge", "strategy": way, "keys": ("id",), "columns": columns}
    return (Load([*items], options),)


EAST = dt.timezone(dt.timedelta(hours=2))
STAMP = "2024-05-06T01:02:03Z"
TO_AND_FRO = ("append", "replace", "append")
FLAG = {"gone": {"hard_delete": True}}
EXAMPLES: Mapping[str, Stream] = {
    "Q-1": Stream("t", "epochs", (Load([{"at": int(dt.datetime.now().timestamp()) - 3 * 365 * 86400}]),)),
    "Q-4": Stream(
        "t", "plain", (Load([{"k": [{"a": 1}, {"b": 2}]}], {"contract": {"columns": "discard_value"}}),)
    ),
    "Q-5": Stream("t", "plain", (Load([{"k": [{"a": 1, "_dlt_id": "mine"}]}]),)),
    "Q-9": Stream("t", "plain", (Load([{"a": 1}, {"a": "2024-05-06T01:02:03Z"}]),)),
    "Q-10": Stream("t", "plain", merging({"id": 6, "gone": True}, {"id": 7, "gone": False}, **FLAG)),
    "Q-11": Stream(
        "t",
        "plain",
        (
            *merging({"id": 1, "k": [1]}, way="insert-only"),
            *merging({"id": 1, "k": [1, 2]}, way="insert-only"),
        ),
    ),
    "Q-12": Stream("t", "plain", (Load([{"at": dt.time(1, 2, 3, tzinfo=EAST)}]),), typed=True),
    "S02": Stream(
        "t",
        "plain",
        (Load([{"a": 1}]), Load([{"b": 1, "a": "z"}], {"contract": {"data_type": "discard_row"}})),
    ),
    "C13": Stream(
        "t", "plain", (Load([{"n__v_text": 1, "n": "z"}], {"columns": {"n": {"data_type": "bigint"}}}),)
    ),
    "C15": Stream("t", "unconverted", (Load([{"a": 5}, {"a": STAMP}, {"a": STAMP}]),)),
    "X-2": Stream("t", "plain", (Load([{"n": 2**63}]),)),
    "X-3": Stream("t", "preferred", (Load([{"day": 2**62}]),)),
    "X-4": Stream("t", "plain", (Load([{"x": -0.0}]),)),
    "X-5": Stream("t", "plain", (Load([{"x": float("inf"), "y": 1}]),), typed=True),
    "X-6": Stream("t", "plain", (Load([{"n": 1}, {"n": 1e300}]),)),
    "X-7": Stream("t", "plain", (Load([{"n": Decimal("1.5")}, {"n": 1e22}]),), typed=True),
    "X-8": Stream("t", "plain", (Load([{"w": 1e-7}], {"columns": {"w": {"data_type": "wei"}}}),)),
    "X-9": Stream("t", "plain", (Load([{"a": 1}], {"max_nesting": 1, "contract": {"columns": "freeze"}}),)),
    "X-10": Stream("t", "plain", (Load([{"": [{"a": 1}]}]),)),
    "X-11": Stream("t", "preferred", (Load([{"blob": '{"n": 1.50}'}]),)),
    "X-12": Stream("t", "hinted", tuple(Load([{"a": 1}], {"mode": mode}) for mode in TO_AND_FRO)),
    "X-13": Stream("t", "plain", (Load([{"x" * 250: [1]}]),)),
    "X-14": Stream("t", "preferred", (Load([{"blob": '"s"'}]),)),
}
"""The smallest stream that shows a difference of the list."""


AGREED: tuple[Stream, ...] = (
    Stream("t", "plain", (Load([{"createdAt": 5, "created_at": None}, {"created_at": 6}]),)),
    Stream("t", "plain", (Load([{"tags-": [[1]], "tags_": []}, {"tags_": [5]}]),)),
    Stream("t", "plain", (Load([{"tags-": [], "tags_": [[1], {"a": [2]}]}]),)),
    Stream("t", "plain", (Load([{"a": [[{"x": 1}]]}], {"max_nesting": 2}),)),
    *(
        Stream(
            "t",
            "plain",
            (Load([{"a": {"b": {"l": [{"m": {"n": {"o": [1, [2]]}}}]}}}], {"max_nesting": most}),),
        )
        for most in (1, 2, 3, 4, 5)
    ),
    Stream("t", "flat", (Load([{"a": [1e-7, 1.5e-5, 1e16, 5e-324, "1e-07"]}]),)),
    Stream("t", "plain", (Load([]),)),
    Stream("t", "plain", (Load([], {"mode": "merge", "strategy": "scd2"}),)),
    Stream("t", "plain", (Load([{"a": 1, "_dlt_id": "mine", "k": [1]}]),)),
    Stream("t", "hinted", (Load([{"n": 1}, {"n": "NaN"}]),)),
    Stream("t", "handing_down", (Load([{"x": 1, "k": [{"g": [1]}]}, {"x": "s", "k": [2]}]),)),
    Stream(
        "t", "handing_down", (Load([{"x": [1, {"g": [1]}]}, {"x": {}, "k": [1]}, {"x": {"y": 1}, "k": [1]}]),)
    ),
    Stream("t", "filtered", (Load([{"x": 1, "a": {"b": 1, "c": 2}, "k": [{"x": 2, "v": 3}], "av": [1]}]),)),
)
"""Small streams that once differed, or that none of the made-up ones may hold."""


def test_small_streams(tmp_path: Path) -> None:
    wrong = [report(number, comparison) for number, comparison in enumerate(compare(AGREED, tmp_path))]
    assert [text for text in wrong if text] == []


def test_each_difference_of_the_list_shows(tmp_path: Path) -> None:
    listed = [entry.number for entry in entries()]
    assert listed == [*EXAMPLES]
    assert [entry.recogniser for entry in entries()] == [*RECOGNISERS]
    for number, comparison in zip(listed, compare([*EXAMPLES.values()], tmp_path), strict=True):
        assert comparison.differences["items"], f"{number}: no difference any more; take it off the list"
        assert unexplained(comparison, "items") == ([], {number})
