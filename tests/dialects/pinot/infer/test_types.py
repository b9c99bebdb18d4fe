"""The type that is proposed for a column, by all its values."""

from __future__ import annotations

from datetime import date, datetime, time, timezone
from decimal import Decimal
from typing import Any

import pytest

from dialects.pinot.infer.proposals import column, notes, proposed, rows, said


@pytest.mark.parametrize(
    ("values", "expected", "why"),
    [
        ([1, -7], "INT dimension", "whole numbers"),
        ([2**31 - 1], "INT dimension", "whole numbers"),
        ([2**31], "LONG dimension", "whole numbers"),
        ([10**20], "STRING dimension", "numbers beyond LONG, as text"),
        ([1.5, 2], "DOUBLE metric", "fractions and whole numbers"),
        ([1.5, 2**60], "BIG_DECIMAL metric", "fractions and whole numbers"),
        ([Decimal("1.50")], "BIG_DECIMAL metric", "decimals"),
        ([True, False], "BOOLEAN dimension", "booleans"),
        (["x", "2"], "STRING dimension", "text"),
        (['{"a":1}', "[1.50]"], "STRING dimension", "text"),
        ([1, "x"], "STRING dimension", "text and whole numbers are mixed"),
        ([True, 1.5, "x"], "STRING dimension", "booleans, fractions and text are mixed"),
        ([b"\x00\xff"], "BYTES dimension", "bytes"),
        ([["a", "b"], ["c"]], "STRING[] dimension", "lists of text"),
        ([[1, 2], [3]], "INT[] dimension", "lists of whole numbers"),
        ([[1.5], 2], "DOUBLE[] dimension", "lists of fractions and whole numbers"),
        ([[10**20]], "STRING[] dimension", "lists of numbers beyond LONG, as text"),
        ([[1, "x"]], "STRING[] dimension", "lists of text and whole numbers are mixed"),
        ([[{"a": 1}]], "JSON dimension", "lists of objects"),
        ([[[1]], [[2, 3]]], "JSON dimension", "lists of lists"),
        ([[{"a": 1}, 5]], "JSON dimension", "lists of objects and whole numbers"),
        ([{"a": 1}, 5], "JSON dimension", "objects and whole numbers"),
        ([{"a": 1}, [5]], "JSON dimension", "lists and objects"),
        ([date(2024, 1, 31)], "STRING date-time SIMPLE_DATE_FORMAT|yyyy-MM-dd", "dates"),
        ([datetime(2024, 1, 31, tzinfo=timezone.utc)], "TIMESTAMP date-time TIMESTAMP", "timestamps"),
    ],
)  # fmt: skip
def test_the_type_holds_every_value(values: list[Any], expected: str, why: str):
    shown, reason = column(values)
    assert (shown, reason.partition("; main time")[0]) == (expected, why)
    rows([{"c": value} for value in values], proposed([{"c": value} for value in values]))


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([3, "x", 4], "text and whole numbers are mixed; text first at records:2"),
        ([{"a": 1}, 5], "objects and whole numbers are mixed; whole numbers first at records:2"),
        ([None, None], "no column: it has no values"),
        ([[], [None]], "no column: it has no values"),
        ([{}, None], "no column: it has no values"),
        ([time(1)], "no column: Pinot has no times of day; convert them to text"),
    ],
)
def test_what_is_uncertain(values: list[Any], expected: str):
    assert notes(proposed([{"c": value} for value in values])) == [("c", expected)]


def test_long_texts_get_a_length_that_holds_them():
    proposal = proposed([{"a": "x" * 512, "b": "x" * 513, "c": "\N{GRINNING FACE}" * 300, "d": "x" * 4097}])
    assert {member.spec.name: member.spec.max_length for member in proposal.columns} == {
        "a": None,
        "b": 1024,
        "c": 1024,
        "d": 8192,
    }


def test_nulls_turn_on_column_based_null_handling():
    proposal = proposed([{"a": 1, "b": 2, "l": ["x"]}, {"a": 1, "b": None, "l": []}, {"a": 1, "l": ["x"]}])
    assert proposal.schema.column_nulls
    assert {member.spec.name: member.spec.not_null for member in proposal.columns} == {
        "a": True,
        "b": False,
        "l": False,
    }
    without = proposed([{"a": 1}, {"a": 2}])
    assert not without.schema.column_nulls
    assert not without.columns[0].spec.not_null


def test_objects_beside_texts_are_json():
    records = [{"x": {"a": 1}}, {"x": "apples"}]
    proposal = proposed(records)
    assert said(proposal) == {"x": "JSON dimension"}
    assert [row.values["x"] for row in rows(records, proposal)] == ['{"a":1}', '"apples"']
