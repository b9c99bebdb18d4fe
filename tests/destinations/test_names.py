"""Names that the SQL of a merge could trip over, and values that the tables refuse."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import trellis
from destinations.conftest import LAKES, merging
from trellis.errors import ContractError, DestinationError, SchemaError, UsageError
from trellis.pipelines.pipeline import Pipeline, pipeline
from trellis.schema.model import Column, Schema, Table

RowsOf = Callable[..., list[dict[str, Any]]]
NASTY = (
    "staged_file", "file_row_number", "staged_at", "rank_of_key", "id", "place", "turn", "link", "row_id",
    "key_0", "key_1", "sort_by", "flag", "filename", "file_index", "rowid", "leaving", "coming", "places",
    "d", "s", "x", "order", "select", "run", "temp", "main", "number", "position",
)  # fmt: skip


def anew(pipe: Pipeline, key: str = "id") -> Any:
    """How the rows of a load take the place of those with their key, or of all where nothing merges."""
    merges = pipe.destination.abilities.no_merge is None
    return {"mode": "merge", "keys": (key,)} if merges else {"mode": "replace"}


@merging
@pytest.mark.parametrize("strategy", ["delete-insert", "upsert"])
@pytest.mark.parametrize("key", ["place", "id", "file_row_number", "s", "rowid"])
def test_columns_named_like_helpers(shop: Pipeline, rows_of: RowsOf, key: str, strategy: Any) -> None:
    def record(n: int, v: int, **more: Any) -> dict[str, Any]:
        return {**dict.fromkeys(NASTY, v), **more, key: n, "k": [dict.fromkeys(NASTY, v)]}

    sort = next(name for name in ("turn", "flag") if name != key)
    options: Any = {"mode": "merge", "strategy": strategy, "keys": (key,)}
    if strategy == "delete-insert":
        options["columns"] = (Column(sort).with_hints(dedup_sort="desc"),)
    shop.load([record(1, 1), record(2, 2)], table="t", **options)
    again = (
        [record(2, 20)] if strategy == "upsert" else [record(2, 20, **{sort: 0}), record(2, 21, **{sort: 9})]
    )
    shop.load([*again, record(3, 3)], table="t", **options)
    chosen = 20 if strategy == "upsert" else 21
    kept = [row["select"] for row in rows_of(shop, "t")]
    assert sorted(kept) == [1, 3, chosen]
    assert sorted(row["place"] for row in rows_of(shop, "t__k")) == [1, 3, chosen]
    assert len(rows_of(shop, "t")[0]) == len(NASTY)


@pytest.mark.parametrize("dataset", ["shop", "lake", "temp", "system", "main", "information_schema2"])
def test_datasets_named_like_databases(destination_url: str, rows_of: RowsOf, dataset: str) -> None:
    pipe = pipeline("shop", to=destination_url, dataset=dataset)
    pipe.load([{"id": 1, "k": [1]}], table="t", **anew(pipe))
    pipe.load([{"id": 1, "k": [2], "new": 1}], table="t", **anew(pipe))
    assert rows_of(pipe, "t") == [{"id": 1, "new": 1}]
    assert len(pipe.destination.history(dataset, pipe._dialect.metadata.tables())) == 2
    assert pipe.destination.row_counts(dataset)["t__k"] == 1


@pytest.mark.parametrize("table", ["leaving", "coming", "places", "_trellis", "select", "x" * 200])
def test_tables_named_like_helpers(shop: Pipeline, rows_of: RowsOf, table: str) -> None:
    shop.load([{"id": 1, "v": 1, "k": [1]}], table=table, **anew(shop))
    shop.load([{"id": 1, "v": 2, "k": [2]}], table=table, **anew(shop))
    name = shop.load([{"id": 3}], table=table, mode="append").tables[0].name
    assert rows_of(shop, name) == [{"id": 1, "v": 2}, {"id": 3, "v": None}]


@pytest.mark.parametrize("destination_url", ["duckdb", "parquet", "postgres"], indirect=True)
def test_names_and_paths_are_quoted(destination_url: str, tmp_path: Path, rows_of: RowsOf) -> None:
    folder = tmp_path / 'it\'s [a] *star* "quoted" ?{b,c} run=1'
    folder.mkdir()
    if destination_url.startswith("duckdb:"):
        folder = folder.rename(
            str(folder).replace("?", "")
        )  # which DuckDB takes for the end of the file's name
    url = destination_url.replace(str(tmp_path), str(folder))
    pipe = pipeline("shop", to=url, dataset='a\'b "c" [d]')
    schema = Schema("shop", {})
    schema = replace(schema, normalizers={"names": "direct", "json": {}})
    name = 'it\'s; "DROP" ../x'
    for load_id in ("../1/a", "b'c*"):
        row = {'the "key"': 1, "v'": load_id, "k": [1]}
        report = pipe.load([row], table=name, load_id=load_id, schema=schema, **anew(pipe, 'the "key"'))
    table = report.tables[0].name
    assert list(rows_of(pipe, table)[0].values()) == [1, "b'c*"]
    assert pipe.destination.has_load(pipe.dataset, "../1/a", pipe._dialect.metadata.tables())
    assert {path.name for path in tmp_path.iterdir()} == {folder.name}


@pytest.mark.parametrize("destination_url", LAKES, indirect=True)
def test_tables_of_a_lake_are_folders_of_any_name(
    destination_url: str, rows_of: RowsOf, tmp_path: Path
) -> None:
    pipe = pipeline(
        "shop", to=destination_url.replace(str(tmp_path), f"{tmp_path}/it's [a] lake {{b,c}} #1?")
    )
    schema = Schema("shop", {}, normalizers={"names": "direct", "json": {}})
    for name in ("Bestell\u00fcbersicht 1.5", "a#b?c=d:e", "[x]*{y}`", "select", ".hidden", "x" * 200):
        for v in (1, 2):
            options: dict[str, Any] = {"table": name, "mode": "merge", "keys": ("id",), "schema": schema}
            table = pipe.load([{"id": 1, "v": v, "k": [v]}], **options).tables[0].name
        assert table == name
        assert rows_of(pipe, table) == [{"id": 1, "v": 2}]
        assert trellis.read(pipe.destination.url, table).spark().select("v").collect() == [(2,)]


@pytest.mark.parametrize("destination_url", LAKES, indirect=True)
@pytest.mark.parametrize("name", ["../x", "..", "\u00fc" * 200])
def test_a_table_that_no_folder_can_be_called_after_is_refused(
    shop: Pipeline, rows_of: RowsOf, name: str
) -> None:
    """The next load of other tables is not hindered by it."""
    schema = Schema("shop", {}, normalizers={"names": "direct", "json": {}})
    with pytest.raises(SchemaError, match=r"is no name of a folder, which every table of \w+ has; rename it"):
        shop.load([{"id": 1}], table=name, schema=schema)
    assert shop.destination.catalog(shop.dataset) == {}
    shop.load([{"id": 1}], table="t", schema=schema)
    assert rows_of(shop, "t") == [{"id": 1}]


@merging
def test_own_row_ids_that_stand_twice(shop: Pipeline, rows_of: RowsOf) -> None:
    """A key that comes twice with one `_dlt_id` goes in once, and so do its nested rows."""
    rows = [{"id": 1, "v": v, "_dlt_id": "mine", "k": [{"a": 1}, {"a": 2}]} for v in ("first", "second")]
    columns = (Column("v").with_hints(dedup_sort="desc"),)
    shop.load(rows, table="t", mode="merge", keys=("id",), columns=columns)
    assert rows_of(shop, "t") == [{"id": 1, "v": "second"}]
    assert rows_of(shop, "t__k") == [{"a": 1}, {"a": 2}]


@merging
def test_null_keys_are_equal_to_nothing(shop: Pipeline, rows_of: RowsOf) -> None:
    columns = (Column("id", nullable=True),)
    rows = [{"id": None, "v": 1}, {"id": None, "v": 2}, {"id": 7, "v": 3}, {"id": 7, "v": 4}]
    for _ in range(2):
        shop.load(rows, table="t", mode="merge", keys=("id",), columns=columns)
    assert [row["v"] for row in rows_of(shop, "t")] == [1, 1, 2, 2, 3]


def test_required_value_missing(shop: Pipeline, rows_of: RowsOf) -> None:
    shop.load([{"a": 1, "b": 1}], table="t", columns=(Column("b", "bigint", nullable=False),))
    with pytest.raises(ContractError, match="b"):
        shop.load([{"a": 2}], table="t")
    assert rows_of(shop, "t") == [{"a": 1, "b": 1}]


def test_column_of_another_type(shop: Pipeline, destination_url: str, rows_of: RowsOf) -> None:
    """Two pipelines, one table: the second one says text where the first one wrote numbers."""
    shop.load([{"a": 1, "b": 1}], table="t")
    other = pipeline("other", to=destination_url)
    with pytest.raises(SchemaError, match=r"table t, column b: it is \w+ in the destination, but \w+ in the"):
        other.load([{"a": 2, "b": "word"}], table="t")
    assert rows_of(shop, "t") == [{"a": 1, "b": 1}]


@merging
def test_two_columns_marked_for_one_purpose(shop: Pipeline) -> None:
    columns = tuple(Column(name).with_hints(dedup_sort="asc") for name in "ab")
    with pytest.raises(SchemaError, match="columns a and b are all marked dedup_sort"):
        shop.load([{"id": 1, "a": 1, "b": 1}], table="t", mode="merge", keys=("id",), columns=columns)


def test_names_that_differ_only_in_case(shop: Pipeline, rows_of: RowsOf) -> None:
    table = Table("t", {name: Column(name, "bigint") for name in ("foo", "Foo")})
    schema = Schema("shop", {"t": table}, normalizers={"names": "direct", "json": {}})
    if shop.destination.abilities.case_sensitive:
        shop.load([{"foo": 1, "Foo": 2}], table="t", schema=schema)
        assert rows_of(shop, "t") == [{"foo": 1, "Foo": 2}]
        return
    with pytest.raises(SchemaError, match="foo and Foo"):
        shop.load([{"foo": 1, "Foo": 2}], table="t", schema=schema)


def test_no_such_table(shop: Pipeline) -> None:
    with pytest.raises(UsageError, match="nothing was loaded there yet"):
        shop.destination.query(shop.dataset, "orders")
    shop.load([{"a": 1}], table="orders")
    with pytest.raises(UsageError, match="did you mean 'orders'"):
        shop.destination.query(shop.dataset, "order")


def test_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for url in (
        f"parquet:{tmp_path}/file",
        f"parquet:{tmp_path}/file/lake",
        f"duckdb:{tmp_path}/file/shop.duckdb",
    ):
        with pytest.raises(DestinationError, match=r"is (it is )?a file, not a folder|it is a file"):
            pipeline("shop", to=url).load([{"a": 1}], table="t")


def test_plan_says_what_it_would_do_and_does_nothing(shop: Pipeline, destination_url: str) -> None:
    statements = " ".join(shop.plan([{"a": 1, "k": [1]}], table="t").statements)
    assert "CREATE TABLE" in statements
    assert "t__k" in statements
    assert dict(shop.destination.catalog(shop.dataset)) == {}
    shop.load([{"a": 1}], table="t")
    assert shop.plan([{"a": 2}], table="t").statements == ()
    (statement,) = shop.plan([{"b": "x"}], table="t").statements
    endings = {
        "duckdb": 'ADD COLUMN "b" VARCHAR',
        "parquet": 'ADD COLUMN "b" string',
        "postgresql": 'ADD COLUMN "b" varchar',
        "delta": "ADD COLUMNS (`b` STRING)",
        "iceberg": "ADD COLUMNS (`b` STRING)",
    }
    assert statement.endswith(endings[destination_url.partition(":")[0]])
