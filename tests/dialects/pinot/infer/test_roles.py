"""Metric or dimension: by name, by what the values are, by what the user says."""

from __future__ import annotations

from typing import Any

import pytest

from dialects.pinot.infer.proposals import column, proposed, said
from trellis.errors import UsageError

MANY = [*range(50), *range(50)]


@pytest.mark.parametrize(
    ("name", "values", "expected", "why"),
    [
        ("fare", [1, 2], "INT metric", "whole numbers 1 to 2; named like an amount"),
        ("stargazers_count", [1, 2], "INT metric", "whole numbers 1 to 2; named like an amount"),
        ("totalAmount", [1.5], "DOUBLE metric", "fractions; named like an amount"),
        ("durationMs", [12, 5], "INT metric", "whole numbers 5 to 12; named like an amount"),
        ("balance", [10**20], "BIG_DECIMAL metric", "numbers beyond LONG; named like an amount"),
        ("user_id", [1, 2], "LONG dimension", "whole numbers 1 to 2; an identifier, room to grow"),
        ("status_code", [200, 404], "INT dimension", "whole numbers 200 to 404; named like a label"),
        ("year", [2023, 2024], "INT dimension", "whole numbers 2,023 to 2,024; named like a label"),
        ("lat", [1.5, 2.5], "DOUBLE dimension", "fractions; named like a label"),
        ("is_new", [0, 1], "INT dimension", "whole numbers 0 to 1; named like a label"),
        ("thing", [1.5], "DOUBLE metric", "fractions; a measure"),
        ("ts", [1700000000.5], "DOUBLE dimension", "fractions; named like a time"),
        ("thing", MANY, "INT metric", "whole numbers 0 to 49; 50 different numbers"),
        ("thing", [*range(50)], "INT dimension", "whole numbers 0 to 49; all different"),
        ("thing", [*range(20)] * 9, "INT dimension", "whole numbers 0 to 19; only 20 different values"),
        ("thing", [*range(1_001)], "INT metric", "whole numbers 0 to 1,000; very many different numbers"),
        ("fares", [[1, 2]], "INT[] dimension", "lists of whole numbers 1 to 2"),
    ],
)
def test_the_role_and_its_reason(name: str, values: list[Any], expected: str, why: str):
    assert column(values, name) == (expected, why)


def test_the_user_decides():
    records = [{"a": 1, "fare": 1.5, "n": "12", "p": "1.50"}]
    proposal = proposed(records, metrics=("a", "n", "p"), dimensions=("fare",))
    assert said(proposal) == {
        "a": "INT metric",
        "fare": "DOUBLE dimension",
        "n": "LONG metric",
        "p": "BIG_DECIMAL metric",
    }
    assert proposal.columns[0].why == "always 1; a metric as chosen"


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"metrics": ("s",)}, "--metric s: a metric is a number, and this column holds text"),
        (
            {"metrics": ("l",)},
            "--metric l: a metric has one value a row, and this column holds lists of whole",
        ),
        ({"metrics": ("fair",)}, "--metric fair: no such column: did you mean 'fare'?"),
        ({"dimensions": ("fare",), "metrics": ("fare",)}, "column fare has two roles; choose one"),
        ({"dimensions": ("empty",)}, "column empty: no value can be stored in a column"),
    ],
)
def test_what_a_user_cannot_ask(choices: dict[str, Any], message: str):
    with pytest.raises(UsageError, match=message.replace("?", r"\?")):
        proposed([{"s": "x", "l": [1, 2], "fare": 1, "empty": None}], **choices)
