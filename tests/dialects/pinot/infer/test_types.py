"""The type that is proposed for a column, by all its values."""

from __future__ import annotations

import math
from datetime import date, datetime, timezone
from decimal import Decimal
from typing import Any

import pytest

from dialects.pinot.infer.proposals import column, lints, proposed, rows, said


@pytest.mark.parametrize(
    ("values", "expected", "why"),
    [
        ([1, -7], "INT dimension", "whole numbers -7 to 1; only 2 different values"),
        ([0, 0], "INT dimension", "always 0; the same in every row"),
        ([2**30], "LONG dimension", "up to 1,073,741,824, near the end of INT; the same in every row"),
        ([2**40], "LONG dimension", "up to 1,099,511,627,776; the same in every row"),
        ([1, 10**20], "STRING dimension", "numbers beyond LONG, as text; too long for an amount"),
        ([1.5, 2], "DOUBLE metric", "whole numbers and fractions; a measure"),
        ([1.5, 2**60], "BIG_DECIMAL metric", "fractions and whole numbers beyond 2^53; a measure"),
        ([Decimal("1.50")], "BIG_DECIMAL metric", "decimals; a measure"),
        ([True, False], "BOOLEAN dimension", "true or false"),
        (["x", "2"], "STRING dimension", "text"),
        (["x" * 700], "STRING dimension", "text of up to 700 characters"),
        (["1", "22"], "STRING dimension", "text"),
        (['{"a":1}', "[1.50]"], "JSON dimension", "texts that are JSON"),
        (['{"a":1}', "x"], "STRING dimension", "text"),
        (['{"a":1,"a":2}'], "STRING dimension", "text"),
        ([1, "x"], "STRING dimension", "text and whole numbers are mixed"),
        ([True, 1.5, "x"], "STRING dimension", "booleans, fractions and text are mixed"),
        ([b"\x00\xff"], "BYTES dimension", "bytes"),
        ([["a", "b"], ["c"]], "STRING[] dimension", "lists of text"),
        ([[1, 2], [3]], "INT[] dimension", "lists of whole numbers 1 to 3"),
        ([[1.5], 2], "DOUBLE[] dimension", "lists of whole numbers and fractions"),
        ([[10**20]], "STRING[] dimension", "lists of numbers beyond LONG, as text"),
        ([[1, "x"]], "STRING[] dimension", "lists of text and whole numbers are mixed"),
        ([[{"a": 1}]], "JSON dimension", "lists of objects"),
        ([[[1]], [[2, 3]]], "JSON dimension", "lists of lists"),
        ([[{"a": 1}, 5]], "JSON dimension", "lists of mixed values"),
        ([{"a": 1}, 5], "JSON dimension", "objects and whole numbers are mixed"),
        ([{"a": 1}, [5]], "JSON dimension", "lists and objects are mixed"),
        ([date(2024, 1, 31)], "STRING date-time SIMPLE_DATE_FORMAT|yyyy-MM-dd", "dates"),
        ([datetime(2024, 1, 31, tzinfo=timezone.utc)], "TIMESTAMP date-time TIMESTAMP", "timestamps"),
    ],
)  # fmt: skip
def test_the_type_holds_every_value(values: list[Any], expected: str, why: str):
    assert column(values) == (expected, why)
    rows([{"c": value} for value in values], proposed([{"c": value} for value in values]))


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1, "x"], "text and whole numbers are mixed: all become text"),
        ([{"a": 1}, 5], "objects and whole numbers are mixed: all become JSON"),
        ([[1], 2], "lists and whole numbers are mixed: a single value becomes a list of one"),
        ([[1], []], "1 empty list becomes null"),
        ([[1, None], [None, None]], "3 nulls inside lists are left out"),
        ([None, None], "no column: only nulls"),
        ([[], []], "no column: only empty lists"),
        ([{}, None], "no column: only empty objects"),
        ([1, 10**20], "numbers beyond LONG"),
        ([1.5, math.nan, math.inf], "2 values are NaN or infinite: NaN becomes null"),
        (["a\0b", "c"], "1 text holds a null character: Pinot cuts there"),
        ([datetime(2024, 1, 1, 0, 0, 0, 1, timezone.utc)], "1 time loses what is finer than a millisecond"),
    ],
)
def test_what_there_is_to_look_at(values: list[Any], expected: str):
    assert ("c", expected) in lints(proposed([{"c": value} for value in values]))


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


def test_texts_beside_objects_that_look_like_json_are_quoted():
    records = [{"x": {"a": 1}}, {"x": "5 apples"}, {"x": "1.10"}]
    proposal = proposed(records)
    assert said(proposal) == {"x_json": "JSON dimension"}
    assert proposal.table["ingestionConfig"]["transformConfigs"] == [
        {"columnName": "x_json", "transformFunction": 'jsonFormat("x")'}
    ]
    assert [row.values["x_json"] for row in rows(records, proposal)] == ['{"a":1}', '"5 apples"', '"1.10"']


def test_times_of_day_have_no_column():
    from datetime import time

    assert lints(proposed([{"c": time(1), "d": 1}])) == [
        ("c", "no column: times of day, which Pinot does not have: convert them to text")
    ]


def test_where_mixed_values_are_and_what_texts_nearly_are():
    records = [
        {"a": 1, "t": "2024-01-01T00:00:00Z", "price": "1.5"},
        {"a": "x", "t": "soon", "price": "2"},
        {"a": 3, "t": ""},
    ]
    assert [(lint.column, lint.message) for lint in proposed(records).lints[:-1]] == [
        ("a", "text and whole numbers are mixed: all become text"),
        ("a", "1 value is text, first at records:2"),
        ("t", "1 of 3 texts are times: the others make the column text"),
        ("price", "every text is a number: --metric price makes it one"),
    ]


def test_what_the_user_said_of_a_column_is_not_proposed_again():
    records = [{"tax": "1.5", "price": "2", "fee": "3"}]
    lint_messages = lints(proposed(records, metrics=frozenset({"tax"}), dimensions=frozenset({"price"})))
    assert [column for column, value in lint_messages if "makes it one" in value] == ["fee"]
