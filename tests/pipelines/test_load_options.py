"""Options of a load from Python: what is wrong is refused before anything is written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

from trellis.errors import SchemaError, UsageError
from trellis.pipelines.pipeline import Pipeline, pipeline
from trellis.schema.documents.document import to_json
from trellis.schema.model import Schema, Table
from trellis.schema.version import bump

ROWS = [{"id": 1, "qty": 1}, {"id": 1, "qty": 2}, {"id": 2, "qty": 3}]


@pytest.fixture
def shop(tmp_path: Path) -> Pipeline:
    return pipeline("shop", f"duckdb:{tmp_path}/shop.duckdb", engine="inline")


STRATEGY_WITHOUT_MERGE = (
    "strategy upsert is for the mode merge, and the mode is append; leave the strategy out, or choose merge"
)
REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "mode in capitals": ({"mode": "Merge"}, "there is no mode 'Merge': did you mean 'merge'?"),
    "strategy as mode": (
        {"mode": "upsert"},
        "upsert is a strategy, not a mode; choose mode merge with strategy upsert",
    ),
    "empty mode": ({"mode": ""}, "there is no mode '': it may be one of append, replace, merge"),
    "strategy": (
        {"mode": "merge", "strategy": "foo"},
        "there is no strategy 'foo': it may be one of delete-insert, upsert, insert-only, scd2",
    ),
    "strategy without merge": (
        {"mode": "append", "strategy": "upsert"},
        STRATEGY_WITHOUT_MERGE,
    ),
    "keys": ({"keys": [1]}, "keys takes the name of a column or a list of them, not [1]"),
    "merge keys": ({"merge_keys": 1}, "merge_keys takes the name of a column or a list of them, not 1"),
    "columns": ({"columns": ["a"]}, "columns takes columns of trellis.schema.model, not 'a'"),
    "negative nesting": ({"max_nesting": -1}, "max_nesting takes a whole number, 0 or more, not -1"),
    "nesting as text": ({"max_nesting": "2"}, "max_nesting takes a whole number, 0 or more, not '2'"),
    "load id": ({"load_id": 3}, "load_id takes text, not 3"),
    "option": ({"key": "id"}, "load takes no option 'key': did you mean 'keys'?"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_wrong_option_is_refused_and_nothing_is_written(shop: Pipeline, name: str) -> None:
    options, sentence = REFUSED[name]
    with pytest.raises(UsageError) as bad:
        shop.load(ROWS, table="orders", **options)
    assert str(bad.value) == sentence
    assert shop.load(ROWS, table="orders").tables[0].created


def test_keys_may_be_one_name(shop: Pipeline) -> None:
    shop.load(ROWS[1:], table="orders", mode="merge", keys="id")
    shop.load([{"id": 2, "qty": 9}], table="orders", mode="merge", keys=["id"])
    with duckdb.connect(shop.to.removeprefix("duckdb:")) as db:
        rows = db.execute('SELECT id, qty FROM "main"."orders" ORDER BY id').fetchall()
    assert rows == [(1, 2), (2, 9)]


@pytest.fixture
def spoiled(shop: Pipeline) -> Pipeline:
    """A dataset whose table has a write disposition and a strategy that do not exist."""
    shop.load(ROWS, table="orders")
    hints = {"write_disposition": "Merge", "x-merge-strategy": "foo"}
    schema = shop.schema.with_tables(shop.schema.tables["orders"].with_hints(**hints))
    with duckdb.connect(shop.to.removeprefix("duckdb:")) as db:
        db.execute(
            'UPDATE "main"."_dlt_version" SET schema = ?, version_hash = ?, version = version + 1',
            [to_json(schema), bump(schema).stored_hash],
        )
    return shop


def test_a_stored_schema_with_an_unknown_mode_is_read(spoiled: Pipeline) -> None:
    assert spoiled.schema.tables["orders"].hints["write_disposition"] == "Merge"
    assert spoiled.load([{"id": 1}], table="others").rows.loaded == 1


def test_a_table_with_an_unknown_mode_says_the_way_out_and_takes_it(spoiled: Pipeline) -> None:
    with pytest.raises(SchemaError) as bad:
        spoiled.load(ROWS, table="orders")
    assert str(bad.value) == (
        f"{spoiled.to}, schema shop: tables.orders.write_disposition: no such value 'Merge': did you mean "
        "'merge'?; tables.orders.x-merge-strategy: no such value 'foo': it may be one of delete-insert, "
        "upsert, insert-only, scd2; give the load a mode and a strategy that exist, or correct the schema "
        "with schema export and schema import"
    )
    spoiled.load([{"id": 2, "qty": 9}], table="orders", mode="merge", strategy="upsert", keys="id")
    assert spoiled.schema.tables["orders"].hints["write_disposition"] == "merge"
    assert spoiled.load([{"id": 3, "qty": 1}], table="orders").rows.loaded == 1


def test_a_schema_that_could_not_be_read_back_is_refused(shop: Pipeline) -> None:
    document = Schema("shop", {"orders": Table("orders").with_hints(write_disposition="Merge")})
    with pytest.raises(SchemaError, match=r"orders\.write_disposition: no such value 'Merge'"):
        shop.load(ROWS, table="orders", schema=document)
    assert shop.schema.stored_hash is None
