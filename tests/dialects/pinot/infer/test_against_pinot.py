"""Proposals that Pinot takes, asked of its own classes."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest

from dialects.pinot.infer.proposals import proposed
from dialects.pinot.oracle.client import Oracle

pytestmark = pytest.mark.pinot

RECORDS: Final[list[list[dict[str, Any]]]] = [
    [{"id": 1, "ts": 1700000000123, "fare": 1.5}, {"id": 2**40, "ts": 1700000000124, "fare": 2}],
    [{"created_at": "2024-01-01T00:00:00Z", "geo": {"lat": 1.5, "box": {"n": 3}}, "tags": ["a", "b"]}],
    [{"first name": "Ann", "day": "01/31/2024"}, {"first name": None, "day": "02/01/2024"}],
    [{"lines": [{"sku": "p"}, {"sku": "q", "n": 1}], "big": 10**20}, {"lines": [], "big": 1}],
    [{"x": {"a": 1}}, {"x": "5 apples"}, {"x": [1, "z"]}],
    [{"mix": 1}, {"mix": "one"}, {"mix": 1.5}],
    [{"day": "2024-01-31", "at": "2024-01-31 10:00:00", "n": [1, 2.5]}],
    [{"body": "x" * 5000, "a.b": 1, "a": {"b": 2}}],
]


@pytest.mark.parametrize("records", RECORDS)
def test_pinot_takes_the_proposal_and_every_row(pinot: Oracle, records: list[dict[str, Any]]):
    proposal = proposed(records)
    schema = json.loads(proposal.document)
    pinot.ask("validate", schema=schema, tables=[proposal.table])
    pinot.ask("table", json=proposal.table, schema=schema)
    taken = pinot.ask("rows", schema=schema, table=proposal.table, rows=records)
    assert (len(taken["rows"]), taken["incomplete"], taken["skipped"], taken["sanitized"]) == (
        len(records),
        0,
        0,
        0,
    )
    kept = {column.spec.name for column in proposal.columns if column.spec.not_null}
    assert not [row for row in taken["rows"] if kept & set(row["nulls"])]


def test_pinot_unnests_as_proposed(pinot: Oracle):
    proposal = proposed(RECORDS[3], unnest=("lines",))
    taken = pinot.ask("rows", schema=json.loads(proposal.document), table=proposal.table, rows=RECORDS[3])
    assert [row["values"]["lines.sku"]["value"] for row in taken["rows"]] == ["p", "q", "null"]
