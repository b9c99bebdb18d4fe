"""Tables of catalogs that are a session's own, as `spark:CATALOG.SCHEMA`."""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import trellis
from destinations.lake.catalogs import (
    catalog_settings,
    hadoop_catalog,
    hive_metastore,
    jdbc_catalog,
    rest_catalog,
)
from destinations.lake.test_replacement import TO_TEXT, killed_when_replaced, while_replacing
from destinations.lake.test_two_writers import assert_all_arrived, load_in_two_processes
from destinations.postgres_server import Server, database, postgres
from trellis.destinations.lake.store import TableAlteration, TableName, TableStore
from trellis.errors import DestinationError
from trellis.pipelines.pipeline import Pipeline
from trellis.schema.model import Column

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["database", "postgres"]

pytestmark = pytest.mark.lake

WAIT = 300
OTHER = """
import json
import sys
from pathlib import Path
from conftest import start_spark
import trellis
folder, url, settings = sys.argv[1:]
session = start_spark(Path(folder))
for name, value in json.loads(settings).items():
    session.conf.set(name, value)
print("ready", flush=True)
for line in sys.stdin:
    trellis.pipeline("shop", to=url).load(json.loads(line), table="orders")
    print("loaded", flush=True)
"""


@dataclass(frozen=True)
class Catalog:
    """A catalog that the session of the tests has."""

    name: str
    schema: str
    settings: Mapping[str, str]
    folder: Path

    @property
    def url(self) -> str:
        return f"spark:{self.name}.{self.schema}"

    @property
    def orders(self) -> TableName:
        return TableName(self.schema, "orders")

    @property
    def shop(self) -> Pipeline:
        return trellis.pipeline("shop", to=self.url)

    @property
    def store(self) -> TableStore:
        store: TableStore = self.shop.destination.store  # type: ignore[attr-defined]
        return store

    def rows(self, table: str, *columns: str) -> list[tuple[Any, ...]]:
        rows = self.shop.destination.query(self.schema, table)
        return sorted((tuple(row[column] for column in columns) for row in rows), key=repr)


@pytest.fixture(scope="session")
def rest(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, str]]:
    with rest_catalog(tmp_path_factory.mktemp("rest")) as options:
        yield options


@pytest.fixture(scope="session")
def hive(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, str]]:
    with hive_metastore(tmp_path_factory.mktemp("hive")) as options:
        yield options


@pytest.fixture(params=["hadoop", "jdbc", "rest", "hive"])
def catalog(request: pytest.FixtureRequest, spark: SparkSession, tmp_path: Path) -> Catalog:
    folder = tmp_path / "lake"
    if request.param == "hadoop":
        options = hadoop_catalog(folder)
    elif request.param == "jdbc":
        server: Server = request.getfixturevalue("postgres")
        options = jdbc_catalog(folder, server.url(request.getfixturevalue("database")))
    else:
        options = request.getfixturevalue(request.param)
    token = secrets.token_hex(4)
    name = f"{request.param}_{token}"
    settings = catalog_settings(name, options)
    for key, value in settings.items():
        spark.conf.set(key, value)
    return Catalog(name, f"shop_{token}", settings, tmp_path)


@contextmanager
def other_process(catalog: Catalog) -> Iterator[Callable[[Sequence[Mapping[str, Any]]], None]]:
    """Loads rows in a process that has a Spark of its own."""
    package, tests = Path(trellis.__file__).parent.parent, Path(__file__).parent.parent.parent
    child = subprocess.Popen(
        [
            sys.executable,
            "-c",
            OTHER,
            str(catalog.folder / "spark"),
            catalog.url,
            json.dumps(catalog.settings),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={
            **os.environ,
            "PYTHONPATH": f"{package}{os.pathsep}{tests}",
            "TRELLIS_STAGING": str(catalog.folder / "staging"),
        },
    )
    assert child.stdin is not None and child.stdout is not None
    output, lines = child.stdout, child.stdin

    def load(rows: Sequence[Mapping[str, Any]]) -> None:
        print(json.dumps(rows), file=lines, flush=True)
        assert output.readline() == "loaded\n"

    try:
        assert output.readline() == "ready\n"
        yield load
    finally:
        child.communicate(timeout=WAIT)


def test_rows_are_appended_merged_and_replaced(catalog: Catalog) -> None:
    merge: dict[str, Any] = {"table": "orders", "mode": "merge", "keys": ("id",)}
    catalog.shop.load([{"id": 1, "tags": ["a"]}], load_id="one", **merge)
    catalog.shop.load([{"id": 1, "tags": ["b", "c"]}, {"id": 2, "late": True}], load_id="two", **merge)
    assert catalog.shop.load([{"id": 2}], load_id="two", **merge).already_loaded
    assert catalog.rows("orders", "id", "late") == [(1, None), (2, True)]
    assert catalog.rows("orders__tags", "value") == [("b",), ("c",)]
    catalog.shop.load([{"id": 3, "tags": ["d"]}], table="orders", mode="replace")
    assert catalog.rows("orders", "id", "late") == [(3, None)]
    assert catalog.rows("orders__tags", "value") == [("d",)]
    assert catalog.shop.destination.row_counts(catalog.schema)["_dlt_loads"] == 3


def test_columns_get_other_types_and_names(catalog: Catalog) -> None:
    price = Column("price", "decimal", precision=9, scale=2)
    catalog.shop.load([{"id": 1, "price": Decimal("0.50")}], table="orders", columns=[price])
    for types in ({"price": "DECIMAL(12,2)"}, {"id": "STRING"}):
        catalog.store.alter_table(catalog.orders, TableAlteration(types=types))
    catalog.store.alter_table(catalog.orders, TableAlteration(renamed={"price": "amount"}))
    columns = catalog.shop.destination.catalog(catalog.schema)["orders"].columns
    assert (columns["id"], columns["amount"]) == ("STRING", "DECIMAL(12,2)")
    assert catalog.rows("orders", "id", "amount") == [("1", Decimal("0.50"))]
    catalog.shop.load([{"id": 2, "amount": Decimal("1000000000.50")}], table="orders")
    assert catalog.rows("orders", "id", "amount") == [("1", Decimal("0.50")), ("2", Decimal("1000000000.50"))]


def test_what_others_append_while_rows_are_replaced_stays_or_is_named(
    spark: SparkSession, catalog: Catalog
) -> None:
    catalog.shop.load([{"id": 1}], table="orders")
    with other_process(catalog) as load:
        with while_replacing(spark, catalog.folder, lambda: load([{"id": 2}])):
            catalog.store.alter_table(catalog.orders, TO_TEXT)
        assert catalog.rows("orders", "id") == [("1",), ("2",)]
        (catalog.folder / "done").unlink()
        to_number = TableAlteration(types={"id": "BIGINT"})
        with killed_when_replaced(), while_replacing(spark, catalog.folder, lambda: load([{"id": "3"}])):
            catalog.store.alter_table(catalog.orders, to_number)
    with pytest.raises(DestinationError, match="has not committed again what other writers") as refused:
        catalog.shop.load([{"id": 4}], table="orders")
    message = str(refused.value)
    lost = message.partition("which is in ")[2].partition(";")[0]
    assert sorted(row["id"] for row in spark.read.format("iceberg").load(lost).collect()) == ["1", "2", "3"]
    spark.sql(message[message.index("ALTER TABLE") :].partition(",")[0])
    catalog.shop.load([{"id": 3}, {"id": 4}], table="orders")
    assert catalog.rows("orders", "id") == [(1,), (2,), (3,), (4,)]


def test_processes_write_at_once(catalog: Catalog, tmp_path: Path) -> None:
    modes = ("append", "delete-insert")
    load_in_two_processes(tmp_path, catalog.url, *modes, settings=catalog.settings)
    assert_all_arrived(catalog.shop, *modes)


def test_processes_write_delta_tables_of_a_hive_metastore(tmp_path: Path, hive: Mapping[str, str]) -> None:
    """Whether a session has one, it learns before it starts."""
    modes, schema = ("append", "upsert"), f"shop_{secrets.token_hex(4)}"
    settings = {
        "spark.sql.catalogImplementation": "hive",
        "spark.hadoop.hive.metastore.uris": hive["uri"],
    }
    submitted = " ".join(f"--conf {name}={value}" for name, value in settings.items())
    load_in_two_processes(
        tmp_path, f"spark:spark_catalog.{schema}", *modes, PYSPARK_SUBMIT_ARGS=f"{submitted} pyspark-shell"
    )
    (folder,) = tmp_path.glob(f"*/warehouse/{schema}.db")  # of the process that created it
    assert_all_arrived(trellis.pipeline("shop", to=f"delta:{folder}"), *modes)
