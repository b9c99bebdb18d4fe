"""Nested values: columns, MAPs, JSON, rows; and names that Pinot does not take."""

from __future__ import annotations

import pytest

from dialects.pinot.infer.proposals import lints, proposed, rows, said
from trellis.errors import UsageError

FLAT = {"delimiter": ".", "fieldsToUnnest": [], "collectionNotUnnestedToJson": "NON_PRIMITIVE"}


def test_fixed_objects_become_columns():
    records = [{"id": 1, "geo": {"lat": 1.5, "box": {"n": 3}}}, {"id": 2, "geo": None}]
    proposal = proposed(records)
    assert said(proposal) == {
        "id": "LONG dimension",
        "geo.lat": "DOUBLE dimension",
        "geo.box.n": "INT dimension",
    }
    assert proposal.table["ingestionConfig"] == {"complexTypeConfig": FLAT}
    assert [row.values["geo.box.n"] for row in rows(records, proposal)] == [3, -2147483648]


def test_flat_records_need_no_ingestion_config():
    assert "ingestionConfig" not in proposed([{"a": 1, "l": [{"b": 2}]}]).table


def test_objects_whose_keys_are_data_are_maps():
    records = [
        {"m": {"1": "x", "22": "y"}, "d": {"2024-01-01": 1.5}},
        {"m": {"333": "z"}, "d": {"2024-01-02": 2.5}},
    ]
    proposal = proposed(records)
    assert said(proposal) == {"m": "MAP complex", "d": "MAP complex"}
    assert [column.why for column in proposal.columns] == [
        "the keys are data, 3 of them, with values of one kind",
        "the keys are data, 2 of them, with values of one kind",
    ]
    values = [column.spec.children["value"] for column in proposal.columns]
    assert [(value.data_type.value, value.field_type.value) for value in values] == [
        ("STRING", "DIMENSION"),
        ("DOUBLE", "METRIC"),
    ]
    assert rows(records, proposal)[0].values == {"m": {"1": "x", "22": "y"}, "d": {"2024-01-01": 1.5}}


def test_objects_whose_keys_vary_are_maps_or_json():
    keys = [f"key_{chr(97 + at)}" for at in range(20)]
    records = [{"one": {key: at}, "mixed": {key: at if at % 2 else "x"}} for at, key in enumerate(keys)]
    proposal = proposed(records)
    assert said(proposal) == {"one": "MAP complex", "mixed": "JSON dimension"}
    assert proposal.columns[0].spec.children["value"].data_type.value == "LONG"
    assert proposal.columns[1].why == "objects: the keys vary, 20 of them"
    rows(records, proposal)


def test_many_keys_that_are_always_there_are_columns():
    assert len(proposed([{"o": {f"k{at}": at for at in range(50)}}]).columns) == 50


def test_lists_of_objects_are_json_unless_they_are_unnested():
    records = [{"id": 1, "lines": [{"sku": "p", "n": 1}, {"sku": "q"}]}, {"id": 2, "lines": []}]
    assert said(proposed(records)) == {"id": "LONG dimension", "lines": "JSON dimension"}
    proposal = proposed(records, unnest=("lines",))
    assert said(proposal) == {
        "id": "LONG dimension",
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


def test_the_delimiter_is_one_that_no_key_holds():
    records = [{"a.b": 1, "a": {"b": 2, "c.d": 3}}]
    proposal = proposed(records)
    assert said(proposal) == {"a.b": "INT dimension", "a__b": "INT dimension", "a__c.d": "INT dimension"}
    assert rows(records, proposal)[0].values == {"a.b": 1, "a__b": 2, "a__c.d": 3}


def test_names_that_pinot_refuses_are_changed_and_read_by_a_transform():
    records = [{"first name": "Ann", "ID": 1, "id": 2, 'a "b"': 3, "": 4, "$docId": 5}]
    proposal = proposed(records)
    assert said(proposal) == {
        "first_name": "STRING dimension",
        "ID": "LONG dimension",
        "id_2": "LONG dimension",
        'a_"b"': "INT dimension",
        "$docId": "LONG dimension",
    }
    assert rows(records, proposal)[0].values == {
        "first_name": "Ann",
        "ID": 1,
        "id_2": 2,
        'a_"b"': 3,
        "$docId": 5,
    }
    assert lints(proposal) == [
        ("first name", "the column is named first_name: names must not contain blanks"),
        ("id", "the column is named id_2: names must differ by more than case"),
        ('a "b"', 'the column is named a_"b": names must not contain blanks'),
        ('""', "a key without a name cannot be a column"),
    ]


@pytest.mark.parametrize(
    ("name", "expected"),
    [("my rides", "my_rides"), ("a__b", "a_b"), ("rides_OFFLINE", "rides"), ("!", "records")],
)
def test_the_table_gets_a_name_that_pinot_takes(name: str, expected: str):
    proposal = proposed([{"a": 1}], name=name)
    assert (proposal.schema.name, proposal.table["tableName"]) == (expected, expected)
