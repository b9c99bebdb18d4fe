"""What the terminal sessions of the documentation begin with, and which of their commands are not run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from doc_blocks import ROOT


class Story(NamedTuple):
    """Sessions of a page that follow each other in one folder, from the `command` that the first begins with.

    The folder has the examples and these `files`; `before` is executed there first. Without a `width`
    lines are as long as they are. `engine` is that of commands that name none, `bucket` on an S3 server.
    """

    page: str
    command: str
    files: Mapping[str, str] = {}
    before: tuple[str, ...] = ()
    width: int | None = 100
    engine: str = "inline"
    bucket: str = ""

    def __hash__(self) -> int:
        return hash((self.page, self.command))


def json_lines(*records: Mapping[str, Any]) -> str:
    return "".join(f"{json.dumps(record, ensure_ascii=False)}\n" for record in records)


YT_SCHEMA = "[{name=user;type=utf8;required=%true};{name=page;type=utf8};{name=ms;type=uint64}]\n"
VISITS = json_lines({"user": "zoe", "ms": 1}, {"user": "zoe", "ms": "slow"})


def alter(database: str, *statements: str) -> str:
    """The command that executes statements in a DuckDB file."""
    return f"python -c \"import duckdb; duckdb.connect('{database}').execute('{'; '.join(statements)}')\""


EDIT_WEB = """
from pathlib import Path

old = "      ms:\\n        data_type: bigint\\n        nullable: true"
new = "      duration:\\n        data_type: double\\n        nullable: false"
file = Path("web.yaml")
file.write_text(file.read_text().replace(old, new))
"""

EDIT_LAKE = """
from pathlib import Path

file = Path("lake.yaml")
file.write_text(file.read_text().replace("      price:\\n", "      amount:\\n"))
"""

# --- Records ---------------------------------------------------------------------------------------------

ORDERS = json_lines({"id": 1, "note": "gift"})
ADD_TO_CART = {
    "type": "track",
    "event": "Add to Cart",
    "anonymousId": "59b703e3-467a-4a1d-9fe6-da27ed319619",
    "context": {"ip": "0.0.0.0"},
}
CART_1 = ADD_TO_CART | {
    "messageId": "4d5a7681-e596-40ea-a81c-bf69f9b297f1",
    "receivedAt": "2020-05-19T14:39:23.000Z",
    "properties": {"price": 5, "product_id": "P12345", "added_at": "2020-05-19 14:39:22"},
}
CART_2 = ADD_TO_CART | {
    "messageId": "a21620be-6502-44d6-941d-78209a386d58",
    "receivedAt": "2020-12-04T09:12:00.000Z",
    "properties": {"price": "NA", "product_id": 789, "added_at": "4 December 2020"},
}
CARTS = {"cart-1.jsonl": json_lines(CART_1), "cart-2.jsonl": json_lines(CART_2)}
LOAD_CARTS = tuple(f"trellis load {cart} --dialect rudderstack --to duckdb:shop.duckdb" for cart in CARTS)
SIGNED_UP = json_lines(
    {"type": "track", "event": "Signed Up", "messageId": "m1", "userId": "ada", "properties": {"plan": "pro"}}
)
FEW_RIDES = json_lines(
    {
        "id": 1,
        "started": "2024-01-01T08:00:00Z",
        "fare": 12,
        "tags": ["pool"],
        "geo": {"lat": 51},
        "lines": [{"sku": "a"}],
        "mix": 7,
    },
    {
        "id": 2,
        "started": "2024-01-01T09:00:00Z",
        "fare": 7.5,
        "tags": [],
        "geo": {"lat": 48.5},
        "lines": [{"sku": "b"}],
        "mix": "b",
    },
    {
        "id": 3,
        "started": "2024-01-01T10:00:00Z",
        "fare": 9.25,
        "tags": ["pool"],
        "geo": {"lat": 50.5},
        "mix": "c",
    },
)
PEOPLE = {
    "schemaName": "people",
    "dimensionFieldSpecs": [
        {"name": "id", "dataType": "INT"},
        {"name": "n", "dataType": "INT"},
        {"name": "name", "dataType": "STRING", "maxLength": 5},
        {"name": "paid", "dataType": "BOOLEAN"},
    ],
}

# --- Schemas ---------------------------------------------------------------------------------------------

SCHEMA_A = """\
name: shop
tables:
  t:
    columns:
      id: {data_type: bigint}
      old: {data_type: text}
"""
SCHEMA_B = """\
name: shop
tables:
  t:
    columns:
      id: {data_type: text}
      new: {data_type: text}
"""
MISSPELT = """\
name: shop
tables:
  orders:
    colums: {}
"""
FAULTY = {
    "schemaName": "rides",
    "dimensionFieldSpecs": [
        {"name": "s", "dataType": "STRING", "maxLengt": 5},
        {"name": "n", "dataType": "INT", "notNull": True},
    ],
    "metricFieldSpecs": [{"name": "d", "dataType": "STRING"}],
}
FAULTY_TIMES = {
    "schemaName": "faulty",
    "dimensionFieldSpecs": [{"name": "vin", "dataType": "STRING", "maxLenght": 17}],
    "metricFieldSpecs": [{"name": "fare", "dataType": "STRING"}],
    "dateTimeFieldSpecs": [
        {
            "name": "day",
            "dataType": "STRING",
            "format": "SIMPLE_DATE_FORMAT|MM-dd-yyyy",
            "granularity": "1:DAYS",
        },
        {
            "name": "at",
            "dataType": "STRING",
            "format": "SIMPLE_DATE_FORMAT|yyyy-MM-dd HH|EDT",
            "granularity": "1:HOURS",
        },
    ],
}


def rides_schema(**changes: Mapping[str, Any] | None) -> str:
    """The schema of the rides with other dimensions: keys to change, or None for one that is gone."""
    schema = json.loads((ROOT / "examples/pinot/rides-schema.json").read_text(encoding="utf-8"))
    dimensions = {field["name"]: field for field in schema["dimensionFieldSpecs"]}
    for name, keys in changes.items():
        dimensions[name] = {"name": name, **dimensions.get(name, {}), **(keys or {})}
        if keys is None:
            del dimensions[name]
    return json.dumps(schema | {"dimensionFieldSpecs": [*dimensions.values()]})


def more_rides() -> str:
    lines = (ROOT / "examples/pinot/rides.jsonl").read_text(encoding="utf-8").splitlines()
    return json_lines(*(json.loads(line) | {"channel": "app"} for line in lines[:20]))


CHANNEL = {"dataType": "STRING", "defaultNullValue": "web"}
RIDES = {
    "faulty.json": json.dumps(FAULTY_TIMES),
    "rides-schema-2.json": rides_schema(channel=CHANNEL, vin={"maxLength": 17}),
    "rides-schema-3.json": rides_schema(
        channel=CHANNEL, vin={"maxLength": 17}, plate=None, rider_id={"dataType": "LONG"}
    ),
    "more.jsonl": more_rides(),
}

# --- A dataset of dlt ------------------------------------------------------------------------------------

ORDERS_SOURCE = """\
import trellis as dlt
from trellis import incremental


def fetch(after):
    return [row for row in ROWS if row["id"] > after]


ROWS = [
    {"id": 1, "total": 10, "lines": [{"sku": "a"}]},
    {"id": 2, "total": 12.5},
    {"id": 3, "total": 7, "lines": [{"sku": "b", "gift": True}]},
]


@dlt.resource(primary_key="id", write_disposition={"disposition": "merge", "strategy": "upsert"})
def orders(after=incremental("id", initial_value=0)):
    yield fetch(after.last_value)


@dlt.source
def shop():
    return orders
"""
DLT_PIPELINE = f"""\
{ORDERS_SOURCE.replace("import trellis as dlt", "import dlt").replace("from trellis", "from dlt.sources")}

ROWS[1:] = []
where = dlt.destinations.duckdb("shop.duckdb")
dlt.pipeline("nightly", destination=where, dataset_name="shop_data", pipelines_dir="dlt").run(shop())
"""

# --- Stories ---------------------------------------------------------------------------------------------

LOAD_EVENTS_1 = "trellis load events-1.jsonl --to duckdb:shop.duckdb --table events"
LOAD_EVENTS_2 = "trellis load events-2.jsonl --to duckdb:shop.duckdb --table events"
LOAD_ORDERS = "trellis load orders.jsonl --to duckdb:shop.duckdb"
STORIES = (
    Story("README.md", "trellis load events-1.jsonl"),
    Story("docs/cli.md", "trellis load events-2.jsonl", before=(LOAD_EVENTS_1,)),
    Story("docs/cli.md", "cat events.jsonl"),
    Story("docs/cli.md", "trellis names"),
    Story("docs/cli.md", "trellis discards list", CARTS, LOAD_CARTS, width=None),
    Story(
        "docs/cli.md",
        "trellis discards replay",
        CARTS,
        (*LOAD_CARTS, alter("shop.duckdb", "ALTER TABLE add_to_cart ALTER price TYPE VARCHAR")),
    ),
    Story("docs/lakehouse.md", "cat orders.jsonl", width=None),
    Story("docs/lakehouse.md", "aws s3 cp", width=None, engine="spark", bucket="acme-raw"),
    Story(
        "docs/lakehouse.md",
        "trellis schema export",
        {"edit.py": EDIT_LAKE, "orders.jsonl": json_lines({"id": 1, "price": 12.5})},
        ("trellis load orders.jsonl --to delta:lake",) * 2,
        width=None,
    ),
    Story("docs/cli.md", "trellis rejects list", before=(LOAD_EVENTS_1, LOAD_EVENTS_2)),
    Story("docs/cli.md", "trellis schema history", before=(LOAD_EVENTS_1, LOAD_EVENTS_2), width=120),
    Story("docs/cli.md", "trellis schema diff", {"a.yaml": SCHEMA_A, "b.yaml": SCHEMA_B}),
    Story(
        "docs/cli.md",
        "trellis schema drift",
        {"orders.jsonl": ORDERS},
        (
            LOAD_ORDERS,
            alter("shop.duckdb", "ALTER TABLE orders DROP note", "ALTER TABLE orders ADD extra VARCHAR"),
        ),
    ),
    Story("docs/cli.md", "trellis schema lint", {"shop.yaml": MISSPELT}),
    Story("docs/cli.md", "trellis pinot validate", {"rides-schema.json": json.dumps(FAULTY)}, width=120),
    Story("docs/cli.md", "trellis pinot infer", {"rides.jsonl": FEW_RIDES}, width=120),
    Story(
        "docs/dlt.md",
        "trellis run shop.py:shop",
        {"shop.py": ORDERS_SOURCE, "fill.py": DLT_PIPELINE},
        ("python fill.py",),
    ),
    Story(
        "docs/dlt.md",
        "trellis schema drift",
        {"orders.jsonl": json_lines({"id": 1, "paid": True})},
        (
            f"{LOAD_ORDERS} --dataset shop_data",
            alter(
                "shop.duckdb",
                "ALTER TABLE shop_data.orders ALTER id TYPE VARCHAR",
                "ALTER TABLE shop_data.orders DROP paid",
                "ALTER TABLE shop_data.orders ADD checked_by VARCHAR",
                "CREATE TABLE shop_data.notes (note VARCHAR)",
            ),
        ),
        width=120,
    ),
    Story(
        "docs/contracts.md",
        "cat monday.jsonl",
        {
            "edit.py": """from pathlib import Path
document = Path("shop.yaml")
document.write_text(document.read_text().replace("data_type: discard_row", "data_type: evolve"))
"""
        },
    ),
    Story(
        "docs/editor.md",
        "trellis config schema",
        {"trellis.yaml": "profiles: {test: {to: 'duckdb:test.duckdb'}}\n"},
    ),
    Story("docs/loading.md", "cat orders/monday.jsonl"),
    Story("docs/loading.md", "cat prices.jsonl"),
    Story("docs/operations.md", "trellis load missing.jsonl"),
    Story("docs/pinot.md", "trellis pinot infer", RIDES, width=115),
    Story("docs/pinot.md", "cat people.jsonl", {"people.json": json.dumps(PEOPLE)}, width=116),
    Story("docs/read.md", "cat orders.jsonl"),
    Story("docs/rudderstack.md", "trellis load rudderstack-1.jsonl", width=None),
    Story("docs/rudderstack.md", "trellis load one.jsonl", {"one.jsonl": SIGNED_UP}, width=None),
    Story("docs/rudderstack.md", "cat cart-1.jsonl", width=None),
    Story("docs/rudderstack.md", "trellis names", width=120),
    Story("docs/schemas.md", "cat orders.jsonl", width=None),
    Story("docs/schemas.md", "trellis load events-1.jsonl", width=None),
    Story("docs/schemas.md", "cat visits.jsonl", {"edit.py": EDIT_WEB}, width=None),
    Story("docs/site.md", "trellis load events-1.jsonl"),
    Story("docs/snowplow.md", "trellis registry lint"),
    Story("docs/streams.md", "cat raw/monday.jsonl", width=None, engine="spark"),
    Story("docs/ytsaurus.md", "cat visits.jsonl", {"wrong.jsonl": VISITS, "visits.yson": YT_SCHEMA}),
)
NOT_RUN = {
    "needs Spark, an object store or a database": [
        ("docs/loading.md", "trellis load orders.csv"),
        ("docs/loading.md", "trellis load 'export/"),
        ("docs/loading.md", "trellis load table:raw.events"),
        ("docs/loading.md", "trellis load /lake/orders"),
        ("docs/loading.md", "trellis load public.orders"),
        ("docs/loading.md", "export AWS_ACCESS_KEY_ID"),
        ("docs/loading.md", "trellis load 's3a:"),
        ("docs/loading.md", "trellis inspect s3a:"),
        ("docs/loading.md", "trellis load s3a:"),
        ("docs/rudderstack.md", "trellis plan rudderstack-2.jsonl"),
        ("docs/streams.md", "trellis stream kafka:"),
        ("docs/ytsaurus.md", "trellis table list / --at 'yt:/shared"),
    ],
    "runs until it is stopped, or needs a client of YTsaurus": [
        ("docs/ytsaurus.md", "trellis table serve"),
        ("docs/ytsaurus.md", "export YT_PROXY"),
        ("docs/ytsaurus.md", "yt "),
    ],
    "needs a Pinot cluster": [
        ("docs/cli.md", "trellis pinot deliver"),
        ("docs/pinot.md", "trellis pinot deliver"),
        ("docs/pinot.md", "curl"),
    ],
    "needs the jars of Pinot": [
        ("docs/cli.md", "trellis pinot segments"),
        ("docs/pinot.md", "trellis pinot jars"),
        ("docs/pinot.md", "trellis pinot segments"),
    ],
    "needs files that are not shown, or a full disk": [
        ("docs/cli.md", "trellis loads"),
        ("docs/dlt.md", "trellis load orders-*"),
        ("docs/dlt.md", "trellis run farm.py:eggs"),
        ("docs/rudderstack.md", "cat clicks.jsonl"),
        ("docs/rudderstack.md", "trellis load clicks.jsonl"),
    ],
}
"""Commands by their page and how they begin."""
