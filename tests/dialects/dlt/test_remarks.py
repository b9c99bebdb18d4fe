"""What a load says of hints that have no effect."""

from __future__ import annotations

import pytest

from trellis.dialects.dlt.load.hint_notes import remarks
from trellis.schema.model import Column, Schema, Table


def table(mode: str, *columns: Column, **hints: str) -> Schema:
    keys = {"write_disposition": mode, **{name.replace("_", "-"): value for name, value in hints.items()}}
    return Schema("farm", {"t": Table("t", {c.name: c for c in columns}, hints=keys)})


ID = Column("id", "bigint").with_hints(primary_key=True)
DAY = Column("day", "date").with_hints(merge_key=True)
GONE = Column("gone", "bool").with_hints(hard_delete=True)
AT = Column("at", "timestamp").with_hints(dedup_sort="desc")


@pytest.mark.parametrize(
    ("schema", "says"),
    [
        (table("merge"), "table t is merged without a primary or merge key, so its rows were appended"),
        (table("merge", ID), None),
        (table("merge", DAY), None),
        (
            table("merge", ID, DAY, x_merge_strategy="upsert"),
            "table t: upsert does not look at the merge key day",
        ),
        (table("merge", DAY, x_merge_strategy="scd2"), None),
        (
            table("append", ID, GONE),
            "table t: hard_delete of column gone has no effect, for the table is not merged",
        ),
        (table("merge", ID, GONE, AT), None),
        (
            table("merge", DAY, AT),
            "table t: dedup_sort of column at has no effect without a primary key",
        ),
        (
            table("replace", x_replace_strategy="staging-optimized"),
            "table t: staging-optimized replaces the rows in one transaction, like any replace here",
        ),
        (table("replace", x_replace_strategy="insert-from-staging"), None),
    ],
)
def test_a_hint_without_effect_is_told(schema: Schema, says: str | None) -> None:
    assert remarks(schema, ["t"]) == ((says,) if says else ())
