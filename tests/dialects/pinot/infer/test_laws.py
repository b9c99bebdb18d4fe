"""What holds for every proposal: it is valid, and it holds every value of every row."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings

from dialects.pinot.infer.proposals import proposed, rows, said
from dialects.pinot.infer.records import tables
from trellis.dialects.pinot.schema_changes.compatibility import is_same_schema
from trellis.dialects.pinot.validation.schema_document import read_schema


@settings(max_examples=200, deadline=None)
@given(tables())
def test_every_row_loads_without_damage(records: list[dict[str, Any]]):
    found = proposed(records)
    assert len(rows(records, found)) == len(records)


@settings(max_examples=60, deadline=None)
@given(tables())
def test_the_document_says_all_of_the_proposal(records: list[dict[str, Any]]):
    found = proposed(records)
    assert is_same_schema(read_schema(found.document).schema, found.schema)


@settings(max_examples=60, deadline=None)
@given(tables())
def test_every_column_has_a_reason_and_every_key_a_column_or_a_note(records: list[dict[str, Any]]):
    found = proposed(records)
    assert all(each.why for each in found.columns)
    noted = {each.column for each in found.lints}
    plain = {key for record in records for key, value in record.items() if value is not None}
    keys = (
        plain - {key for record in records for key, value in record.items() if isinstance(value, dict)} - {""}
    )
    assert keys <= {*said(found), *noted}


@settings(max_examples=60, deadline=None)
@given(tables())
def test_the_order_of_the_records_does_not_matter_to_types(records: list[dict[str, Any]]):
    one, other = proposed(records), proposed(records[::-1])
    assert sorted(each.type_said for each in one.columns) == sorted(each.type_said for each in other.columns)
