"""A schema with everything that a format may keep or lose."""

from __future__ import annotations

from typing import Final

from trellis.schema.model import NESTED_TYPE, Column, Schema, Table

ORDERS: Final = Table(
    "orders",
    {
        column.name: column
        for column in (
            Column("id", "bigint", nullable=False).with_hints(primary_key=True),
            Column("note", "text", nullable=True, precision=40, description="What the customer's wish is"),
            Column("price", "decimal", nullable=False, precision=10, scale=2),
            Column("at", "timestamp", nullable=True).with_hints(partition=True),
            Column("local_at", "timestamp", nullable=True, timezone=False),
            Column("day", "date", nullable=True),
            Column("clock", "time", nullable=True),
            Column("qty", "bigint", nullable=True, precision=32),
            Column("ratio", "double", nullable=True, precision=24),
            Column("paid", "bool", nullable=True),
            Column("raw", "binary", nullable=True),
            Column("doc", "json", nullable=True),
            Column("tags", "json", nullable=True).with_hints(**{NESTED_TYPE: "arrow:list<int32>"}),
            Column("gas", "wei", nullable=True),
            Column("_dlt_id", "text", nullable=False).with_hints(unique=True, row_key=True),
        )
    },
    description="What was bought",
).with_hints(write_disposition="append", resource="orders")
ITEMS: Final = Table(
    "orders__items",
    {
        column.name: column
        for column in (
            Column("unit price", "double", nullable=True),
            Column("_dlt_parent_id", "text", nullable=False).with_hints(parent_key=True),
        )
    },
    parent="orders",
)
SHOP: Final = Schema("shop", {table.name: table for table in (ORDERS, ITEMS)})
SMALL: Final = Schema(
    "shop",
    {
        "t": Table(
            "t",
            {
                "id": Column("id", "bigint", nullable=False).with_hints(primary_key=True),
                "note": Column("note", "text", nullable=True, precision=40, description="A wish"),
                "tags": Column("tags", "json", nullable=True).with_hints(
                    **{NESTED_TYPE: "arrow:list<int32>"}
                ),
            },
            description="What was bought",
        )
    },
)
