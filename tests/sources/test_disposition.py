"""`disposition` by itself, and what is said again over a stored table."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

import pytest

from sources.conftest import part
from trellis import sources as trellis
from trellis.errors import SchemaError
from trellis.schema.merge import merge_table
from trellis.schema.model import Column, Schema, Table
from trellis.schema.naming import get_naming
from trellis.sources.hints.write_disposition import disposition

SCD2 = {"disposition": "merge", "strategy": "scd2"}


def test_a_word_and_a_dict_of_it_say_the_same() -> None:
    assert disposition(Table("t"), "replace") == disposition(Table("t"), {"disposition": "replace"})
    assert disposition(Table("t"), "replace").hints == {"write_disposition": "replace"}


def test_columns_that_are_declared_keep_their_place_and_what_is_said_of_them() -> None:
    table = Table(
        "t",
        {"_dlt_valid_to": Column("_dlt_valid_to", precision=3), "h": Column("h", "text"), "z": Column("z")},
    )
    declared = disposition(table, {**SCD2, "row_version_column_name": "h"})
    assert list(declared.columns) == ["_dlt_valid_to", "h", "z", "_dlt_valid_from"]
    assert (declared.columns["_dlt_valid_to"].data_type, declared.columns["_dlt_valid_to"].precision) == (
        "timestamp",
        3,
    )
    version = {"x-row-version": True, "unique": False, "row_key": False}
    assert declared.columns["h"] == Column("h", "text", nullable=False).with_hints(**version)


def test_times_are_kept_as_text() -> None:
    moment = datetime(2024, 1, 2, 3, tzinfo=timezone.utc)
    declared = disposition(
        Table("t"), {**SCD2, "boundary_timestamp": moment, "active_record_timestamp": moment}
    )
    assert declared.hints["x-boundary-timestamp"] == "2024-01-02T03:00:00+00:00"
    assert declared.columns["_dlt_valid_to"].hints["x-active-record-timestamp"] == "2024-01-02T03:00:00+00:00"


@pytest.mark.parametrize("key", ["strategy", "replace_strategy"])
def test_how_a_table_is_replaced(key: str) -> None:
    declared = disposition(Table("t"), {"disposition": "replace", key: "insert-from-staging"})
    assert declared.hints == {"write_disposition": "replace", "x-replace-strategy": "insert-from-staging"}


@pytest.mark.parametrize(
    ("hint", "message"),
    [
        (5, "write_disposition is 5: write one of append, replace, merge, skip, or a dict"),
        ({"strategy": "scd2"}, "or a dict with the key 'disposition'"),
        ({"disposition": "append", "strategy": "upsert"}, "append takes no key 'strategy'"),
        (
            {"disposition": "merge", "strategy": "cdc"},
            "there is no 'cdc': it may be one of delete-insert, upsert",
        ),
        ({"disposition": "replace", "strategy": "truncate"}, "there is no 'truncate'"),
        ({**SCD2, "validity_column_names": ["a"]}, "name two columns, from and to"),
        ({**SCD2, "active_record_timestamp": "never"}, "active_record_timestamp is 'never'; write a time"),
    ],
)
def test_what_is_not_understood(hint: Any, message: str) -> None:
    with pytest.raises(SchemaError, match=f"table t: write_disposition.*{message}|{message}"):
        disposition(Table("t"), hint)


def stored_after(*hints: dict[str, Any]) -> Table:
    """The table of the schema after resources with these hints, one after another."""
    schema = Schema("shop")
    for hint in hints:
        declared = part(trellis.resource([], name="t", **hint)).declared
        schema = merge_table(schema, declared.table, get_naming())
    return schema.tables["t"]


def test_keys_said_again_over_a_stored_table() -> None:
    for then in ({}, {"primary_key": ""}):
        stored = stored_after({"primary_key": "a"}, {"primary_key": "b"}, then)
        assert stored.columns_with("primary_key") == ("b",)
        assert stored.columns["a"].nullable is False


def test_compound_hints_are_replaced_and_others_added_over_a_stored_table() -> None:
    first = {"columns": {"b": {"partition": True, "sort": True}}}
    stored = stored_after(first, {"columns": {"a": {"partition": True, "sort": True}}})
    assert (stored.columns_with("partition"), stored.columns_with("sort")) == (("a",), ("b", "a"))


def test_a_disposition_left_out_is_append_again() -> None:
    assert stored_after({"write_disposition": "replace"}, {}).hints["write_disposition"] == "append"
