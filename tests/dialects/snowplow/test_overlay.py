"""Overlays: tables that were made otherwise (docs/conformance/snowplow.md, D-16)."""

from __future__ import annotations

from datetime import datetime, timezone

from dialects.snowplow.families import REDSHIFT, SPARK, document, text
from trellis.dialects.snowplow.columns.family_table import merge_family
from trellis.dialects.snowplow.columns.overlay import Overlay
from trellis.dialects.snowplow.ddl.migrations import Migration
from trellis.dialects.snowplow.ddl.tables import TableStatements
from trellis.dialects.snowplow.rows.csv import Event, LineWriter

FIRST = document("1-0-0", {"berth": text(12), "agent": text(40)}, ["berth"])
SECOND = document("1-0-1", {"berth": text(20), "agent": text(40), "cargo": text(9)}, ["berth"])
DOCK = Overlay.parse({"/berth": {"column": "dock", "type": "VARCHAR(64)", "encode": "LZO", "position": 2}})


def test_d16_statements_and_lines_follow_an_overlay() -> None:
    table = DOCK.apply(merge_family([FIRST, SECOND], REDSHIFT))
    sql = TableStatements(REDSHIFT, "atomic", table.name).create(table.columns, table.key)
    assert sql.splitlines()[10:13] == [
        '  "agent"          VARCHAR(40)   ENCODE ZSTD,',
        '  "dock"           VARCHAR(64)   ENCODE LZO  NOT NULL,',
        '  "cargo"          VARCHAR(9)    ENCODE ZSTD,',
    ]
    event = Event("e17e6d2e-fae3-4e2f-8a5b-3c9a8f2f4d11", datetime(2024, 3, 9, tzinfo=timezone.utc))
    line = LineWriter(table.columns).line(SECOND.key, event, {"berth": "K7", "agent": "Sea", "cargo": "rye"})
    assert line.split("\t")[9:] == ["Sea", "K7", "rye"]


def test_d16_a_script_leaves_what_an_overlay_says_alone() -> None:
    before, after = (
        DOCK.apply(merge_family(documents, REDSHIFT)) for documents in ([FIRST], [FIRST, SECOND])
    )
    assert Migration.between(before, after).script(REDSHIFT, "atomic").splitlines()[1] == (
        '  ALTER TABLE atomic.org_harbor_vessel_call_1 ADD COLUMN "cargo" VARCHAR(9) ENCODE ZSTD;'
    )


def test_d16_columns_are_added_in_the_order_in_which_they_came() -> None:
    """Wherever the overlay places them in a table that is made anew; loads may also bring them one by one."""
    third = document("1-0-2", {**SECOND.body["properties"], "pilot": {"type": "boolean"}}, ["berth"])
    overlay = Overlay.parse({"/pilot": {"position": 1}, "/cargo": {"position": 2}})
    before, middle, after = (
        overlay.apply(merge_family(documents, REDSHIFT))
        for documents in ([FIRST], [FIRST, SECOND], [FIRST, SECOND, third])
    )
    whole = [column.name for column in Migration.between(before, after).added]
    steps = [
        *(column.name for column in Migration.between(before, middle).added),
        *(column.name for column in Migration.between(middle, after).added),
    ]
    assert whole == steps == ["cargo", "pilot"]
    assert [column.name for column in after.columns] == ["pilot", "cargo", "berth", "agent"]
    assert after.orders == (
        ("berth", "agent", "cargo", "pilot"),
        ("berth", "cargo", "agent", "pilot"),
        ("pilot", "cargo", "berth", "agent"),
    )


def test_d16_an_overlay_is_for_every_warehouse() -> None:
    columns = DOCK.apply(merge_family([FIRST], SPARK)).columns
    assert [(column.name, SPARK.type_text(column.type)) for column in columns] == [
        ("agent", "STRING"),
        ("dock", "STRING"),
    ]
