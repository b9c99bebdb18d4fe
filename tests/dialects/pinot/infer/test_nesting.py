"""Nested values: columns, JSON, rows; and names that Pinot does not take."""

from __future__ import annotations

import pytest

from dialects.pinot.infer.proposals import notes, proposed, rows, said
from trellis.errors import UsageError

FLAT = {"delimiter": ".", "fieldsToUnnest": [], "collectionNotUnnestedToJson": "NON_PRIMITIVE"}


def test_objects_become_columns():
    records = [{"id": 1, "geo": {"lat": 1.5, "box": {"n": 3}}}, {"id": 2, "geo": None}]
    proposal = proposed(records)
    assert said(proposal) == {
        "id": "INT dimension",
        "geo.lat": "DOUBLE metric",
        "geo.box.n": "INT dimension",
    }
    assert proposal.table["ingestionConfig"] == {"complexTypeConfig": FLAT}
    assert [row.values["geo.box.n"] for row in rows(records, proposal)] == [3, -2147483648]


def test_flat_records_need_no_ingestion_config():
    assert "ingestionConfig" not in proposed([{"a": 1, "l": [{"b": 2}]}]).table


def test_objects_with_more_than_a_hundred_keys_are_json():
    records = [{"m": {f"user{row}": row}, "o": {f"k{at}": at for at in range(100)}} for row in range(101)]
    proposal = proposed(records)
    assert said(proposal)["m"] == "JSON dimension"
    assert len(proposal.columns) == 101
    rows(records, proposal)


def test_lists_of_objects_are_json_unless_they_are_unnested():
    records = [{"id": 1, "lines": [{"sku": "p", "n": 1}, {"sku": "q"}]}, {"id": 2, "lines": []}]
    assert said(proposed(records)) == {"id": "INT dimension", "lines": "JSON dimension"}
    proposal = proposed(records, unnest=("lines",))
    assert said(proposal) == {
        "id": "INT dimension",
        "lines.sku": "STRING dimension",
        "lines.n": "INT dimension",
    }
    assert proposal.table["ingestionConfig"] == {"complexTypeConfig": FLAT | {"fieldsToUnnest": ["lines"]}}
    assert [(row.values["id"], row.values["lines.sku"]) for row in rows(records, proposal)] == [
        (1, "p"),
        (1, "q"),
        (2, "null"),
    ]


def test_lists_in_lists_can_be_unnested_too():
    records = [{"a": [{"b": [{"c": 1}, {"c": 2}]}, {"b": [{"c": 3}]}], "s": ["x", "y"]}]
    proposal = proposed(records, unnest=("a", "a.b", "s"))
    assert said(proposal) == {"a.b.c": "INT dimension", "s": "STRING dimension"}
    assert [(row.values["a.b.c"], row.values["s"]) for row in rows(records, proposal)] == [
        (1, "x"), (1, "y"), (2, "x"), (2, "y"), (3, "x"), (3, "y"),
    ]  # fmt: skip
    assert [column.spec.not_null for column in proposal.columns] == [False, False]


@pytest.mark.parametrize(
    ("field", "message"),
    [
        ("line", "--unnest line: no such list: did you mean 'lines'?"),
        ("mixed", "--unnest mixed: it is not always a list"),
    ],
)
def test_what_cannot_be_unnested(field: str, message: str):
    with pytest.raises(UsageError, match=message.replace("?", r"\?")):
        proposed([{"lines": [{"a": 1}], "mixed": [1]}, {"mixed": 1}], unnest=(field,))


def test_names_that_pinot_refuses_are_changed_and_read_by_a_transform():
    records = [{"first name": "Ann", "ID": 1, "id": 2, 'a "b"': 3, "": 4, "$docId": 5}]
    proposal = proposed(records)
    assert said(proposal) == {
        "first_name": "STRING dimension",
        "ID": "INT dimension",
        "id_2": "INT dimension",
        'a_"b"': "INT dimension",
        "$docId": "INT dimension",
    }
    assert rows(records, proposal)[0].values == {
        "first_name": "Ann",
        "ID": 1,
        "id_2": 2,
        'a_"b"': 3,
        "$docId": 5,
    }
    reason = "names hold no blanks and differ by more than case"
    assert notes(proposal) == [
        ("first name", f"the column is named first_name: {reason}"),
        ("id", f"the column is named id_2: {reason}"),
        ('a "b"', f'the column is named a_"b": {reason}'),
        ('""', "a key without a name cannot be a column"),
    ]


def test_of_two_paths_with_one_name_the_first_is_a_column():
    proposal = proposed([{"a.b": 1, "a": {"b": 2}}])
    assert said(proposal) == {"a.b": "INT dimension"}
    assert notes(proposal) == [("a.b", "another path has this name too: only the first is a column")]


@pytest.mark.parametrize(
    ("name", "expected"),
    [("my rides", "my_rides"), ("a__b", "a_b"), ("rides_OFFLINE", "rides"), ("!", "records")],
)
def test_the_table_gets_a_name_that_pinot_takes(name: str, expected: str):
    proposal = proposed([{"a": 1}], name=name)
    assert (proposal.schema.name, proposal.table["tableName"]) == (expected, expected)
