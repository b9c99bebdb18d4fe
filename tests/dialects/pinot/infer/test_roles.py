"""Metric or dimension: by type, or by what the user says."""

from __future__ import annotations

from typing import Any

import pytest

from dialects.pinot.infer.proposals import column, proposed, said
from trellis.errors import UsageError


@pytest.mark.parametrize(
    ("name", "values", "expected", "why"),
    [
        ("fare", [1, 2], "INT dimension", "whole numbers"),
        ("fare", [1.5], "DOUBLE metric", "fractions"),
        ("balance", [10**20], "STRING dimension", "numbers beyond LONG, as text"),
        ("fares", [[1.5, 2]], "DOUBLE[] dimension", "lists of fractions and whole numbers"),
    ],
)
def test_the_role_and_its_reason(name: str, values: list[Any], expected: str, why: str):
    assert column(values, name) == (expected, why)


def test_the_user_decides():
    proposal = proposed([{"a": 1, "fare": 1.5, "wei": 10**20}], metrics=("a", "wei"), dimensions=("fare",))
    assert said(proposal) == {"a": "INT metric", "fare": "DOUBLE dimension", "wei": "BIG_DECIMAL metric"}
    assert proposal.columns[0].why == "whole numbers; as chosen"


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"metrics": ("s",)}, "--metric s: a metric is one number a row, and its values are text"),
        ({"metrics": ("l",)}, "--metric l: a metric is one number a row, and its values are lists of whole"),
        ({"metrics": ("fair",)}, "--metric fair: no such column: did you mean 'fare'?"),
        ({"dimensions": ("fare",), "metrics": ("fare",)}, "column fare has two roles; choose one"),
    ],
)
def test_what_a_user_cannot_ask(choices: dict[str, Any], message: str):
    with pytest.raises(UsageError, match=message.replace("?", r"\?")):
        proposed([{"s": "x", "l": [1, 2], "fare": 1}], **choices)
