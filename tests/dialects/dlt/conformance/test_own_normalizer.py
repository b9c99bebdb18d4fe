"""Normalizers of users: the class `DataItemNormalizer` of a module that the schema or an option names."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from textwrap import indent
from typing import Any

import pyarrow as pa
import pytest

import trellis
from dialects.dlt.conformance.warehouse import Warehouse
from trellis.cli.app import run
from trellis.dialects.dlt.system_tables import new_schema
from trellis.errors import ContractError, SchemaError, UsageError
from trellis.pipelines.pipeline import Pipeline
from trellis.schema.documents.document import from_yaml
from trellis.schema.model import Schema

LINKED = "dialects.dlt.conformance.linked_normalizer"
ORDERS: list[dict[str, Any]] = [
    {
        "id": 1,
        "shipTo": {"city": "Bern", "tags": ["x"]},
        "Lines": [{"sku": "a", "opts": [1, 2]}, {"sku": "b"}],
    },
    {"id": 2, "Lines": [{"sku": 5}]},
]


def named(module: str, **config: Any) -> Schema:
    normalizer = {"module": module, **({"config": config} if config else {})}
    return Schema("farm", normalizers={"json": normalizer})


def rows(pipe: Pipeline, table: str) -> list[dict[str, Any]]:
    """All of a table but load ids, in the order of its columns."""
    stored = pipe.destination.query(pipe.dataset, table)
    return [{name: value for name, value in row.items() if name != "_dlt_load_id"} for row in stored]


class Module:
    """A module in a folder that Python looks into, new for each test."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder = folder
        self.name = name

    def __call__(self, body: str, head: str = "", name: str | None = None) -> str:
        """The module with this as the body of `normalize_data_item`; its name."""
        method = "    def normalize_data_item(self, item, load_id, table_name):\n" + indent(body, " " * 8)
        start = "    def __init__(self, schema):\n        self.schema = schema\n"
        table_name = name or self.name
        self.write(f"{head}\nclass DataItemNormalizer:\n{start}{method}\n", table_name)
        return table_name

    def write(self, text: str, name: str) -> None:
        (self.folder / f"{name}.py").write_text(text)


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Module:
    folder = tmp_path / "code"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    return Module(folder, f"own_{abs(hash(request.node.nodeid))}")


# --- What it makes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", ["duckdb:{}/farm.duckdb", "parquet:{}/lake"])
@pytest.mark.parametrize("way", ["records", "file", "source", "table"])
@pytest.mark.parametrize("stated_in", ["document", "option"])
def test_seed_d036_other_links_and_nesting_as_json(
    tmp_path: Path, place: str, way: str, stated_in: str
) -> None:
    settings = {"json_normalizer": LINKED} if stated_in == "option" else {}
    pipe = trellis.pipeline("farm", to=place.format(tmp_path), settings=settings)
    document = named(LINKED) if stated_in == "document" else None
    file = tmp_path / "orders.jsonl"
    file.write_text("".join(f"{json.dumps(order)}\n" for order in ORDERS))
    if way == "source":
        resource = trellis.resource(ORDERS, name="orders")
        report = pipe.run(trellis.source(name="farm", schema=document)(lambda: resource)())
    elif way == "table":  # what a struct lacks is null in it
        report = pipe.load(pa.Table.from_pylist([ORDERS[0]]), table="orders", schema=document)
    else:
        report = pipe.load(str(file) if way == "file" else ORDERS, table="orders", schema=document)
    expected = [
        {"id": 1, "ship_to": '{"city":"Bern","tags":["x"]}', "_dlt_id": "orders/1"},
        {"id": 2, "ship_to": None, "_dlt_id": "orders/2"},
    ]
    lines = [
        {"order_id": 1, "no": 0, "_dlt_id": "orders__lines/1/0", "sku": "a", "opts": "[1,2]"},
        {"order_id": 1, "no": 1, "_dlt_id": "orders__lines/1/1", "sku": "b", "opts": None},
        {"order_id": 2, "no": 0, "_dlt_id": "orders__lines/2/0", "sku": "5", "opts": None},
    ]
    count = 1 if way == "table" else 2
    assert rows(pipe, "orders") == expected[:count]
    assert rows(pipe, "orders__lines") == lines[: count + 1]
    assert (report.rows.read, report.rows.loaded, dict(report.discards.by_reason)) == (count, count, {})
    tables = pipe.schema.tables
    assert {n: t.parent for n, t in tables.items() if not n.startswith("_dlt")} == {
        "orders": None,
        "orders__lines": "orders",
    }
    assert [column.data_type for column in tables["orders__lines"].columns.values()] == [
        *("bigint", "bigint", "text", "text", "json")
    ]
    assert pipe.schema.normalizers["json"] == {"module": LINKED}


def test_seed_d036_the_schema_remembers_it(warehouse: Warehouse) -> None:
    warehouse.load(ORDERS[0], table="orders", schema=named(LINKED))
    warehouse.load({"id": 7, "Lines": [{"sku": "z"}]}, table="orders")
    assert warehouse.values("order_id", "orders__lines") == [1, 1, 7]


def test_seed_d036_types_variants_and_later_columns_are_as_always(warehouse: Warehouse) -> None:
    warehouse.load(*ORDERS, table="orders", schema=named(LINKED))
    more = {"id": "x", "shipTo": 5, "paid": True, "at": "2024-05-06T07:08:09Z", "Lines": [{"opts": "no"}]}
    warehouse.load(more, table="orders")
    assert warehouse.columns("orders") == {
        "id": "bigint",
        "ship_to": "json",
        "id__v_text": "text",
        "ship_to__v_bigint": "bigint",
        "paid": "bool",
        "at": "timestamp",
    }
    (line,) = [row for row in warehouse.rows("orders__lines") if row["opts__v_text"]]
    assert line == {
        "order_id": None,
        "no": 0,
        "sku": None,
        "opts": None,
        "order_id__v_text": "x",
        "opts__v_text": "no",
    }


def test_seed_d036_what_is_missing_is_filled_in(warehouse: Warehouse, module: Module) -> None:
    name = module("yield (table_name, None), {'id': item}\nyield ('notes', table_name), {'of': item}\n")
    warehouse.load(1, 2, table="orders", schema=named(name))
    assert warehouse.columns("orders", system=True) == {
        "id": "bigint",
        "_dlt_load_id": "text",
        "_dlt_id": "text",
    }
    assert warehouse.columns("notes", system=True) == {"of": "bigint", "_dlt_id": "text"}
    for mode, left in (("append", [1, 2, 3]), ("replace", [4])):
        warehouse.load(left[-1], table="orders", mode=mode)
        assert (warehouse.values("id", "orders"), warehouse.values("of", "notes")) == (left, left)
    loads = set(warehouse.values("_dlt_load_id", "orders"))
    assert loads == {warehouse.raw("_dlt_loads")[-1]["load_id"]}


def test_seed_d036_row_ids_differ_from_block_to_block(warehouse: Warehouse, module: Module) -> None:
    name = module("yield (table_name, None), {'id': item}")
    warehouse.pipeline.load(range(12_000), table="t", schema=named(name))
    assert len(set(warehouse.values("_dlt_id"))) == 12_000


def test_seed_d036_it_may_have_a_config_and_read_the_schema(warehouse: Warehouse, module: Module) -> None:
    body = """
config = self.schema._normalizers_config["json"]["config"]
known = [*self.schema.get_table_columns("old")]
mine = self.schema.get_preferred_type("mine")
yield (table_name, None), {config["column"]: item, "known": known, "mine": mine}
"""
    name = module(body)
    option = {"json_normalizer": {"module": name, "config": {"column": "price"}}}
    warehouse.load(
        {"a": 5}, table="old", schema=from_yaml("name: farm\nsettings: {preferred_types: {mine: text}}")
    )
    pipe = trellis.pipeline("farm", to=f"duckdb:{warehouse.path}", settings=option)
    pipe.load([9], table="t")
    assert warehouse.rows() == [{"price": 9, "known": '["a","_dlt_load_id","_dlt_id"]', "mine": "text"}]


def test_seed_d036_names_follow_the_convention(warehouse: Warehouse, module: Module) -> None:
    name = module("yield ('My Orders', None), {'createdAt': 1, 'created_at': 2}")
    report = warehouse.load({}, table="t", schema=named(name))
    assert warehouse.tables == {"my_orders"}
    assert warehouse.rows("my_orders") == [{"created_at": 2}]
    assert dict(report.discards.by_reason) == {"collision": 1}


# --- Merging ---------------------------------------------------------------------------------------------

LINKS = """
own = str(item["id"])
yield (table_name, None), {"id": item["id"], "_dlt_id": own}
for value in item["l"]:
    yield ("l", table_name), {"v": value, "_dlt_id": f"{own}/{value}", "_dlt_parent_id": own}
"""


def test_seed_d036_rows_with_links_are_merged(warehouse: Warehouse, module: Module) -> None:
    warehouse.load({"id": 1, "l": [1, 2]}, {"id": 2, "l": [3]}, schema=named(module(LINKS)))
    warehouse.load({"id": 1, "l": [9]}, mode="merge", keys=("id",))
    assert sorted(warehouse.values("id")) == [1, 2]
    assert sorted(warehouse.values("v", "l")) == [3, 9]


def test_seed_d036_rows_without_links_are_not(warehouse: Warehouse) -> None:
    with pytest.raises(SchemaError, match=r"neither _dlt_root_id nor _dlt_parent_id .* a table of its own"):
        warehouse.load(*ORDERS, table="orders", schema=named(LINKED), mode="merge", keys=("id",))
    assert warehouse.tables == set()


def test_seed_d036_tables_of_their_own_are_merged_by_their_own_keys(
    warehouse: Warehouse, module: Module
) -> None:
    name = module(
        "yield (table_name, None), {'id': 1}\nfor x in item: yield ('lines', None), {'k': x, 'v': 1}\n"
    )
    text = f"name: farm\nnormalizers: {{json: {{module: {name}}}}}\ntables:\n  lines:\n"
    text += "    write_disposition: merge\n"
    text += "    columns: {k: {data_type: bigint, primary_key: true, nullable: false}}\n"
    document = from_yaml(text)
    for items in ([1, 2], [2, 3]):
        warehouse.load(items, schema=document)
    assert sorted(warehouse.values("k", "lines")) == [1, 2, 3]
    assert warehouse.values("id") == [1, 1]


# --- Contracts -------------------------------------------------------------------------------------------


def test_seed_d036_contracts_hold(warehouse: Warehouse) -> None:
    warehouse.load(*ORDERS, table="orders", schema=named(LINKED))
    with pytest.raises(ContractError, match="paid"):
        warehouse.load({"id": 3, "paid": True}, table="orders", contract={"columns": "freeze"})
    assert warehouse.values("id", "orders") == [1, 2]


def test_seed_d036_it_learns_that_a_row_was_dropped(warehouse: Warehouse) -> None:
    warehouse.load(*ORDERS, table="orders", schema=named(LINKED))
    contract = {"columns": "discard_row"}
    new = ({"id": 3, "paid": True, "Lines": [{"gift": 1}]}, {"id": 4, "Lines": [{"sku": "q"}]})
    report = warehouse.load(*new, table="orders", contract=contract)
    assert (report.rows.loaded, report.rows.dropped) == (1, 1)
    assert warehouse.values("id", "orders") == [1, 2, 4]
    assert warehouse.values("order_id", "orders__lines") == [1, 1, 2, 4]
    assert "gift" not in warehouse.columns("orders__lines")


def test_seed_d036_new_tables_may_be_refused(warehouse: Warehouse) -> None:
    warehouse.load({"id": 1}, table="orders", schema=named(LINKED))
    report = warehouse.load(*ORDERS, table="orders", contract={"tables": "discard_row"})
    assert warehouse.tables == {"orders"}
    assert dict(report.discards.by_reason) == {"contract on tables": 3}


def test_seed_d036_a_record_without_a_row_is_kept(warehouse: Warehouse, module: Module) -> None:
    name = module("if item['id']: yield (table_name, None), item")
    report = warehouse.load({"id": 0, "a": 5}, {"id": 1}, schema=named(name))
    assert (report.rows.read, report.rows.loaded, report.rows.dropped) == (2, 1, 1)
    (kept,) = warehouse.raw("_trellis_discards")
    assert (kept["value"], kept["reason"]) == (
        '{"id":0,"a":5}',
        "no row: the normalizer made none of the record",
    )


def test_seed_d036_keys_that_stand_twice_are_kept(tmp_path: Path, warehouse: Warehouse) -> None:
    file = tmp_path / "t.jsonl"
    file.write_text('{"id": 1, "a": 2, "a": 3}\n{"id": 2, "Lines": [{"sku": "a"}]}\n')
    report = warehouse.pipeline.load(str(file), table="t", schema=named(LINKED))
    assert (warehouse.values("a"), dict(report.discards.by_reason)) == ([3, None], {"duplicate key": 1})


# --- Faults ----------------------------------------------------------------------------------------------


def test_seed_d036_a_fault_in_its_code_stops_the_load(
    tmp_path: Path, warehouse: Warehouse, module: Module
) -> None:
    file = tmp_path / "orders.jsonl"
    file.write_text('{"id": 1}\n{}\n')
    name = module("yield (table_name, None), {'id': item['id']}")
    with pytest.raises(UsageError) as raised:
        warehouse.pipeline.load(str(file), table="orders", schema=named(name))
    assert str(raised.value) == (
        f"{file}, record 2, table orders: normalizer {name} failed with KeyError: 'id' "
        f"({module.folder}/{name}.py, line 6, in normalize_data_item); nothing was loaded"
    )
    assert warehouse.tables == set()


@pytest.mark.parametrize(
    "body",
    [
        "yield item",
        "yield table_name, item",
        "yield (table_name, None), [1]",
        "yield ('', None), item",
        "yield (table_name, 5), item",
        "yield (table_name, None), {1: 2}",
        "return [((table_name, None), 5)]",
    ],
)
def test_seed_d036_what_is_no_row_is_told(body: str, warehouse: Warehouse, module: Module) -> None:
    name = module(body)
    message = rf"record 1, table t: normalizer {name} yielded .*; it has to yield \(\(table, parent\), row\)"
    with pytest.raises(UsageError, match=message):
        warehouse.load({"a": 1}, schema=named(name))


def test_seed_d036_a_list_of_rows_will_do(warehouse: Warehouse, module: Module) -> None:
    warehouse.load({"a": 1}, schema=named(module("return [((table_name, None), item)]")))
    assert warehouse.rows() == [{"a": 1}]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("yield ('x', 'nowhere'), item", "rows of table x below nowhere, and there is no table nowhere"),
        ("yield ('x', 'x'), item", "table x is below x, which is below x"),
    ],
)
def test_seed_d036_a_parent_has_to_be_there(
    body: str, message: str, warehouse: Warehouse, module: Module
) -> None:
    with pytest.raises((SchemaError, UsageError), match=message):
        warehouse.load({"a": 1}, schema=named(module(body)))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("import nothing_of_that_name\n", "it needs the module 'nothing_of_that_name', which is not there"),
        ("1 / 0\n", r"importing it failed with ZeroDivisionError: .*line 1"),
        ("x = 1\n", "the module has no class DataItemNormalizer with a method normalize_data_item"),
        ("class DataItemNormalizer: pass\n", "the module has no class DataItemNormalizer with a method"),
    ],
)
def test_seed_d036_a_module_that_is_none(
    text: str, message: str, warehouse: Warehouse, module: Module
) -> None:
    name = f"{module.name}_{len(text)}"
    module.write(text, name)
    with pytest.raises(SchemaError, match=rf"normalizers.json.module: '{name}' is not run here.*{message}"):
        warehouse.load({"a": 1}, schema=named(name))


def test_seed_d036_a_class_that_cannot_be_made(warehouse: Warehouse, module: Module) -> None:
    module.write(
        "class DataItemNormalizer:\n    def __init__(self):\n        ...\n"
        "    def normalize_data_item(self, *_):\n        ...\n",
        module.name,
    )
    with pytest.raises(SchemaError, match=f"normalizer {module.name} cannot be made: TypeError"):
        warehouse.load({"a": 1}, schema=named(module.name))


@pytest.mark.parametrize("option", [5, {"config": {}}])
def test_seed_d036_an_option_that_names_none(tmp_path: Path, option: Any) -> None:
    pipe = trellis.pipeline("farm", to=f"duckdb:{tmp_path}/f.duckdb", settings={"json_normalizer": option})
    with pytest.raises(UsageError, match=r"json_normalizer is .*; write the name of a module"):
        pipe.load([{"a": 1}], table="t")


# --- Where it is named -----------------------------------------------------------------------------------


def test_seed_d036_in_the_folder_of_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: Module
) -> None:
    name = module("yield (table_name, None), {'whole': item}")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(module.folder)
    Path("orders.jsonl").write_text('{"a": {"b": 1}}\n')
    Path("trellis.yaml").write_text(f"to: duckdb:shop.duckdb\noptions: {{json_normalizer: {name}}}\n")
    assert run(["load", "orders.jsonl"]) == 0
    pipe = trellis.pipeline("shop", to="duckdb:shop.duckdb")
    assert [row["whole"] for row in rows(pipe, "orders")] == ['{"a":{"b":1}}']


def test_seed_d036_an_option_wins_over_the_schema_that_is_stored(
    warehouse: Warehouse, module: Module
) -> None:
    name = module("yield (table_name, None), {'whole': item}")
    warehouse.load({"a": {"b": 1}})
    pipe = trellis.pipeline("farm", to=f"duckdb:{warehouse.path}", settings={"json_normalizer": name})
    pipe.load([{"a": {"b": 2}}], table="t")
    assert warehouse.rows() == [{"a__b": 1, "whole": None}, {"a__b": None, "whole": '{"a":{"b":2}}'}]
    schema = replace(new_schema("farm"), normalizers={"json": {"module": "relational"}})
    warehouse.load({"a": {"b": 3}}, schema=schema)
    assert warehouse.values("a__b") == [1, None, 3]
