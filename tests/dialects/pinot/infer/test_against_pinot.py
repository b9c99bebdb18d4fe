"""Inference against Pinot's own classes: the same from one record, and proposals that Pinot takes."""

from __future__ import annotations

import json
import random
from typing import Any, Final

import pytest

from dialects.pinot.infer.proposals import proposed
from dialects.pinot.oracle.client import Oracle, Refused
from trellis.dialects.pinot.document.writer import document_of
from trellis.dialects.pinot.infer.first_object import first_object
from trellis.dialects.pinot.infer.roles import Roles
from trellis.dialects.pinot.table.config import CollectionMode, ComplexTypeConfig
from trellis.errors import SchemaError

pytestmark = pytest.mark.pinot

KEYS: Final = ("a", "b", "a.b", "c", "b.c")
SCALARS: Final = (1, 3000000000, 10**20, 1.5, True, "x", None, -7)
MODES: Final[tuple[CollectionMode, ...]] = ("NONE", "NON_PRIMITIVE", "ALL")


def value(dice: random.Random, depth: int) -> Any:
    sort = dice.randint(0, 11 if depth < 4 else 7)
    if sort <= 7:
        return SCALARS[sort]
    if sort <= 9:
        return [value(dice, depth + 1) for _ in range(dice.randint(0, 3))]
    return {key: value(dice, depth + 1) for key in dice.sample(KEYS, dice.randint(0, 3))}


def fields(document: dict[str, Any]) -> dict[str, Any]:
    return {spec["name"]: spec for key, specs in document.items() if key.endswith("Specs") for spec in specs}


@pytest.mark.parametrize("seed", range(500))
def test_one_record_gives_the_schema_that_pinot_gives(pinot: Oracle, seed: int):
    dice = random.Random(seed)
    record = {key: value(dice, 1) for key in dice.sample(KEYS, dice.randint(1, 4))}
    mode, unnest = dice.choice(MODES), tuple(dice.sample(("a", "b", "a.b", "c"), dice.randint(0, 2)))
    metric, time = dice.sample((*KEYS, "none"), 2)
    roles = Roles(frozenset({metric}), time, "MILLISECONDS")
    choices: dict[str, Any] = {
        "json": json.dumps(record),
        "fields": {metric: "METRIC", time: "DATE_TIME"},
        "time_unit": roles.unit,
        "unnest": list(unnest),
        "to_json": mode,
    }
    try:
        theirs = pinot.ask("infer", **choices)
    except Refused as refused:
        with pytest.raises(SchemaError, match=str(refused).split(":")[0]):
            first_object(record, roles, ComplexTypeConfig(unnest=unnest, to_json=mode))
        return
    ours = first_object(record, roles, ComplexTypeConfig(unnest=unnest, to_json=mode))
    assert fields(json.loads(json.dumps(document_of(ours)))) == fields(theirs)


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
