"""One pending load that holds something of every class a package can hold."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, timezone
from decimal import Decimal

import pyarrow as pa

from trellis.destinations.base import CatalogTable, Commit, FileLogState, Reset, RunState
from trellis.engine.plan import Counts
from trellis.engine.staging.stage import StagedFile
from trellis.evolution.dialect.metadata import MetadataTables
from trellis.evolution.dialect.system_columns import RowKeys
from trellis.evolution.table_writes import History, IdentityRules, KeyedWrite, TableTreeWrite
from trellis.pipelines.packages import Package
from trellis.pipelines.report import Report, TableReport, Tally
from trellis.schema.compare import AddColumn, AddTable, ChangeColumn, ChangeTable, DropColumn, DropTable
from trellis.schema.model import Column, Schema, Settings, Table

AT = datetime(2024, 5, 6, 7, 8, 9, 10, timezone.utc)
ID = Column("id", "bigint", nullable=False).with_hints(primary_key=True)
PRICE = Column("price", "decimal", precision=10, scale=2, description="Größe")
ORDERS = Table("orders", {"id": ID, "price": PRICE}).with_hints(write_disposition="merge", resource="orders")
LINES = Table("orders__lines", {"sku": Column("sku", "text")}, parent="orders")
REJECTS = Table(
    "_trellis_rejects", {"line": Column("line", "bigint")}, description="Lines that are no record"
)
SCHEMA = Schema(
    "shop",
    {"orders": ORDERS, "orders__lines": LINES},
    Settings(
        detections=("iso_timestamp",),
        default_hints={"not_null": ("_dlt_id", "re:^_dlt")},
        preferred_types={"re:_at$": "timestamp"},
        schema_contract={"columns": "freeze"},
    ),
    normalizers={"names": "snake_case", "json": {"config": {"max_nesting": 2}}},
    description="A shop",
    stored_version=3,
    stored_hash="hash 3",
    imported_hash="hash 1",
    previous_hashes=("hash 2", "hash 1"),
)


def sample(staging: str, load_id: str = "1715000000.000001", pipeline: str = "shop") -> Package:
    """`staging` is the folder of its staged files; the files are not made."""
    files: dict[str, Sequence[StagedFile]] = {
        "orders": [
            StagedFile("orders", f"{staging}/orders/000000-0.parquet", 2),
            StagedFile("orders", f"{staging}/1/orders/items-0.parquet", 1),
        ]
    }
    commit = Commit(
        load_id,
        "shop_data",
        SCHEMA,
        "hash 2",
        (
            TableTreeWrite("orders", "merge", "scd2", History("_dlt_id", "valid_from", "valid_to", AT)),
            TableTreeWrite("other", "replace"),
        ),
        files,
        {
            "_dlt_loads": [{"load_id": load_id, "status": 0, "inserted_at": AT, "schema": None}],
            "odd": [{"a": Decimal("1.50"), "b": b"\x00", "c": (date(2024, 5, 6), 2.5), "$d": float("inf")}],
        },
        {"orders": RowKeys("_dlt_id", "_dlt_load_id", loaded_at={"uuid_ts": "ms"}, from_columns=("id",))},
        MetadataTables("_dlt_version", "_dlt_loads", "load_id", "_dlt_pipeline_state", ("version",)),
        (REJECTS,),
        keyed=(KeyedWrite("users", ("id",), "received_at", "coalesce_latest"), KeyedWrite("tracks")),
        links=IdentityRules(
            "rules", "mappings", (("t1", "v1"), ("t2", "v2")), "type", "value", "id", "updated_at"
        ),
        catalog={
            "users": CatalogTable(
                "users", {"id": "TEXT", "x": "XML"}, {"id": "text", "x": None}, False, {"id"}
            ),
            "seen": CatalogTable("seen", is_view=True, required=()),
        },
        retyped={"orders": ["price"]},
        filled={"orders": {"price": pa.scalar(Decimal("0.00"), pa.decimal128(10, 2))}},
        native={"bigint": "bigint", "json": "jsonb"},
        reset=Reset(("old",), ("emptied",), True),
        base_state=RunState(pipeline, None),
        base_files=FileLogState("orders", 3),
        now=AT,
    )
    report = Report(
        load_id,
        "shop_data",
        "duckdb:shop.duckdb",
        "dlt",
        SCHEMA,
        Counts(5, 3, 1, 1),
        tables=(
            TableReport("orders", 3, True, ("id", "price")),
            TableReport("orders__lines", 0, parent="orders"),
        ),
        changes=(
            AddTable(LINES),
            DropTable(LINES),
            AddColumn("orders", PRICE),
            DropColumn("orders", ID),
            ChangeColumn("orders", "id", "precision", None, 32),
            ChangeTable("orders", "x-note", [1, {"a": None}], "text"),
        ),
        statements=('ALTER TABLE "orders" ADD COLUMN "price" DECIMAL(10, 2)',),
        ddl=("BIGQUERY", ("CREATE TABLE orders (id INT64)",)),
        discards=Tally({"collision": 2}),
        kept_in=("_trellis_discards",),
        rejects=Tally({"not JSON": 1}),
        notes=("a note",),
        seconds={"all": 1.5, "load": 2.0},
    )
    return Package(commit, report)
