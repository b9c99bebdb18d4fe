"""`trellis schema export`, `import` and `convert` with formats of other programs."""

from __future__ import annotations

import json

import pytest

from trellis.cli.commands.schema_documents import FORMAT_HELP
from trellis.dialects import registrations
from trellis.exchange.catalog import formats

TO = ("--to", "duckdb:shop.duckdb")
CONTRACT = {
    "type": "record",
    "name": "orders",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "note", "type": ["null", "string"], "default": None},
        {"name": "kind", "type": {"type": "enum", "name": "Kind", "symbols": ["gift"]}},
    ],
}


@pytest.fixture
def shop(trellis, lines):
    lines("orders.jsonl", '{"id":1,"price":2.5,"items":[{"sku":"a"}]}')
    assert trellis("load", "orders.jsonl", *TO).code == 0
    return trellis


def test_the_help_names_every_format():
    general = [name for name in formats() if name not in registrations() and not name.startswith("sql:")]
    listed = FORMAT_HELP.replace("sql:WAREHOUSE, ", "").split(", ")
    assert listed == general


def test_export_to_a_folder_writes_a_document_for_each_table(shop, folder):
    ran = shop("schema", "export", *TO, "--format", "avro", "--out", "contracts/")
    assert (ran.code, ran.out) == (0, "")
    assert ran.err == (
        "schema shop, version 2, is in contracts/orders.avsc\n"
        "schema shop, version 2, is in contracts/orders__items.avsc"
    )
    record = json.loads((folder / "contracts/orders__items.avsc").read_text())
    assert [field["name"] for field in record["fields"]] == [
        "sku",
        "_dlt_parent_id",
        "_dlt_list_idx",
        "_dlt_id",
    ]


def test_a_format_of_one_table_needs_one(shop):
    ran = shop("schema", "export", *TO, "--format", "avro")
    assert ran.code == 2
    assert ran.err == (
        "error: Avro takes one table in a document, and the schema has 2; choose one with --table NAME, or "
        "write all into a folder with --out DIR/"
    )
    ran = shop("schema", "export", *TO, "--format", "avro", "--table", "order")
    assert ran.err == "error: schema shop has no table 'order': did you mean 'orders'?"


def test_the_name_of_a_file_shows_the_format(shop, folder):
    assert shop("schema", "export", *TO, "--out", "shop.dbml").code == 0
    assert (folder / "shop.dbml").read_text().startswith('Table "orders" {\n')
    assert shop("schema", "export", *TO, "--out", "orders.avsc", "--table", "orders").code == 0
    assert json.loads((folder / "orders.avsc").read_text())["name"] == "orders"
    ran = shop("schema", "export", *TO, "--out", "shop.sql")
    assert ran.err.startswith(
        "error: --out shop.sql: its name does not show a format; choose one with --format: sql:duckdb, sql:"
    )


def test_export_of_sql(shop):
    ran = shop("schema", "export", *TO, "--format", "sql:snowflake", "--table", "orders")
    assert ran.out == (
        'CREATE SCHEMA IF NOT EXISTS "SHOP";\n'
        'CREATE TABLE "SHOP"."ORDERS" ("ID" NUMBER(19,0), "PRICE" FLOAT, "_DLT_LOAD_ID" VARCHAR NOT NULL, '
        '"_DLT_ID" VARCHAR NOT NULL);'
    )


def test_convert_lists_what_is_lost(trellis, lines):
    lines(
        "shop.yaml",
        "name: shop",
        "tables:",
        "  orders:",
        "    columns:",
        "      id: {data_type: bigint, nullable: false, primary_key: true}",
        "      _dlt_id: {data_type: text, nullable: false, unique: true}",
        "      at: {data_type: timestamp, partition: true}",
    )
    ran = trellis("schema", "convert", "shop.yaml", "--to", "spark-ddl")
    assert (ran.code, ran.out) == (0, "`id` BIGINT NOT NULL,\n`at` TIMESTAMP")
    assert (
        ran.err
        == """\

2 details lost in Spark
  Table   Column  Lost         Why
  orders  id      primary key  Spark has no primary keys
  orders  at      partition    Spark has no partitions"""
    )
    printed = trellis("schema", "convert", "shop.yaml", "--to", "spark-ddl", "--json").json
    assert printed == {
        "documents": {"orders.ddl": "`id` BIGINT NOT NULL,\n`at` TIMESTAMP\n"},
        "losses": [
            {
                "table": "orders",
                "column": "id",
                "lost": "primary key",
                "reason": "Spark has no primary keys",
            },
            {
                "table": "orders",
                "column": "at",
                "lost": "partition",
                "reason": "Spark has no partitions",
            },
        ],
    }


def test_convert_of_a_stored_schema(shop):
    ran = shop("schema", "convert", "--at", TO[1], "--to", "mermaid")
    assert (
        ran.out
        == """\
erDiagram
    "orders" {
        bigint id
        double price
    }
    "orders__items" {
        text sku
    }
    "orders" ||--o{ "orders__items" : "contains\""""
    )


def test_a_format_that_is_only_written(trellis, lines):
    lines("t.mmd", "erDiagram")
    ran = trellis("schema", "convert", "t.mmd", "--from", "mermaid", "--to", "avro")
    assert ran.code == 2
    assert ran.err.startswith(
        "error: t.mmd: schemas of the format mermaid are written, not read; these are read: yaml, json, "
    )


def test_an_imported_contract_holds_a_load(trellis, lines, folder):
    (folder / "orders.avsc").write_text(json.dumps(CONTRACT))
    ran = trellis("schema", "import", "orders.avsc", *TO)
    assert ran.code == 0, ran.err
    assert (
        ran.out
        == """\
  +  orders is new, with 3 columns

1 change, none breaking

schema shop is at version 1 in duckdb:shop.duckdb now"""
    )
    assert (
        ran.err
        == """\

1 detail lost in Trellis
  Table   Column  Lost         Why
  orders  kind    its symbols  a column has no rules for its values"""
    )
    lines("orders.jsonl", '{"id":1,"kind":"gift"}')
    assert trellis("load", "orders.jsonl", *TO).code == 0
    lines("orders.jsonl", '{"id":2,"kind":"gift","color":"red"}')
    ran = trellis("load", "orders.jsonl", *TO)
    assert ran.code == 1
    assert ran.err.startswith(
        "error: orders.jsonl:1: shop.orders.color: the data needs a new column for color, first seen with "
        '"red", and the contract has columns: freeze'
    )


def test_the_contract_of_an_import_may_be_another(trellis, lines, folder):
    (folder / "orders.avsc").write_text(json.dumps(CONTRACT))
    assert trellis("schema", "import", "orders.avsc", *TO, "--contract", "columns=evolve").code == 0
    lines("orders.jsonl", '{"id":2,"kind":"gift","color":"red"}')
    assert trellis("load", "orders.jsonl", *TO).code == 0


def test_a_load_takes_a_document_of_another_program_as_its_schema(trellis, lines, folder):
    (folder / "orders.avsc").write_text(json.dumps(CONTRACT))
    lines("orders.jsonl", '{"id":2,"kind":"gift"}')
    assert trellis("load", "orders.jsonl", *TO, "--schema", "orders.avsc").code == 0
    lines("orders.jsonl", '{"id":3,"kind":"gift","color":"red"}')
    ran = trellis("load", "orders.jsonl", *TO)
    assert ran.code == 1
    assert ran.err.startswith("error: orders.jsonl:1: shop.orders.color: ")


def test_show_and_diff_take_documents_of_other_programs(trellis, folder):
    (folder / "a.avsc").write_text(json.dumps(CONTRACT))
    (folder / "b.avsc").write_text(json.dumps({**CONTRACT, "fields": CONTRACT["fields"][:2]}))
    assert (
        trellis("schema", "diff", "a.avsc", "b.avsc").out
        == """\
  -  orders.kind is gone  BREAKING

1 change, 1 breaking"""
    )
    assert "  kind    text    required" in trellis("schema", "show", "a.avsc").out
