"""The conformance rows of inference; I04 and I05 differ on purpose, as all records are read, not one."""

from __future__ import annotations

from typing import Any

import pytest

from dialects.pinot.infer.proposals import proposed, said


@pytest.mark.parametrize(
    ("record", "choices", "columns"),
    [
        pytest.param({"n": 3_000_000_000}, {}, {"n": "LONG dimension"}, id="I01"),
        pytest.param({"n": 99999999999999999999}, {}, {"n": "STRING dimension"}, id="I03"),
        pytest.param({"l": [1, "x"]}, {}, {"l": "STRING[] dimension"}, id="I04"),
        pytest.param({"l": [{"k": 1}]}, {}, {"l": "JSON dimension"}, id="I05"),
        pytest.param({"o": {"p": {"q": 1}}}, {}, {"o.p.q": "INT dimension"}, id="I06"),
        pytest.param({"a": None, "b": [], "c": 1}, {}, {"c": "INT dimension"}, id="I07"),
        pytest.param(
            {"ts": 1_700_000_000_123},
            {"times": ("ts",)},
            {"ts": "LONG date-time EPOCH|MILLISECONDS"},
            id="I08",
        ),
    ],
)
def test_inference(record: dict[str, Any], choices: dict[str, Any], columns: dict[str, str]) -> None:
    proposal = proposed([record], **choices)
    assert said(proposal) == columns
    for field in proposal.schema.date_times:
        assert field.granularity == "1:MILLISECONDS"
