"""What holds for every proposal: it is valid, and it holds every value of every row."""

from __future__ import annotations

from typing import Any

from hypothesis import assume, given, settings

from dialects.pinot.infer.proposals import proposed, rows, said
from dialects.pinot.infer.records import tables
from trellis.dialects.pinot.document.reader import read_schema
from trellis.dialects.pinot.schema_changes.changes import is_same_schema


@settings(max_examples=200, deadline=None)
@given(tables())
def test_every_row_loads_without_damage(records: list[dict[str, Any]]):
    """Texts beside objects are an exception: Pinot reads `5 apples` in a JSON column as 5."""
    proposal = proposed(records)
    assume(not any(column.type_name == "JSON" and "text" in column.why for column in proposal.columns))
    assert len(rows(records, proposal)) == len(records)


@settings(max_examples=60, deadline=None)
@given(tables())
def test_the_document_says_all_of_the_proposal(records: list[dict[str, Any]]):
    proposal = proposed(records)
    assert is_same_schema(read_schema(proposal.document), proposal.schema)


@settings(max_examples=60, deadline=None)
@given(tables())
def test_every_column_has_a_reason_and_every_key_a_column_or_a_note(records: list[dict[str, Any]]):
    proposal = proposed(records)
    assert all(column.why for column in proposal.columns)
    noted = {note.column for note in proposal.notes}
    plain = {key for record in records for key, value in record.items() if value is not None}
    keys = (
        plain - {key for record in records for key, value in record.items() if isinstance(value, dict)} - {""}
    )
    assert keys <= {*said(proposal), *noted}


@settings(max_examples=60, deadline=None)
@given(tables())
def test_the_order_of_the_records_does_not_matter_to_types(records: list[dict[str, Any]]):
    one, other = proposed(records), proposed(records[::-1])
    assert sorted(column.type_name for column in one.columns) == sorted(
        column.type_name for column in other.columns
    )
