"""Personal data: masks on load, and the tag in comments and documents."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable

import trellis
from trellis.errors import SchemaError
from trellis.exchange.catalog import format_of
from trellis.exchange.export import documents_of
from trellis.exchange.losses import losses_of
from trellis.pipelines.pipeline import Pipeline
from trellis.schema.documents.yaml_text import read as read_yaml
from trellis.schema.model import Column, Schema, Table
from trellis.schema.personal_data import PII
from trellis.site.content import read_pages

COLUMNS: dict[str, Any] = {
    "name": {"data_type": "text", "pii": "mask"},
    "email": {"data_type": "text", "pii": "hash", "description": "Where to write to"},
    "age": {"data_type": "bigint", "pii": "drop"},
    "city": {"pii": True},
}
USERS = [
    {"id": 1, "name": "Ada", "email": "ada@example.org", "age": 36, "city": "London"},
    {"id": 2, "name": None, "email": None, "age": "old", "city": None},
]
HASH = hashlib.sha256(b"ada@example.org").hexdigest()


@pytest.fixture
def crm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Pipeline:
    monkeypatch.chdir(tmp_path)
    return trellis.pipeline("crm", "duckdb:crm.duckdb", engine="inline")


def stored(crm: Pipeline, table: str, *names: str) -> list[tuple[Any, ...]]:
    return [tuple(row[name] for name in names) for row in crm.destination.query("main", table)]


@pytest.mark.parametrize("rows", [USERS, pa.Table.from_pylist(USERS[:1])], ids=["records", "arrow"])
def test_values_are_masked_before_they_are_stored(rows: Any, crm: Pipeline) -> None:
    crm.run(rows, table_name="users", columns=COLUMNS)
    assert stored(crm, "users", "name", "email", "age", "city")[0] == ("***", HASH, None, "London")
    database = Path("crm.duckdb").read_bytes()
    assert b"ada@example.org" not in database and b"Ada" not in database


def test_a_variant_is_masked_with_its_column(crm: Pipeline) -> None:
    crm.run(USERS, table_name="users", columns=COLUMNS)
    assert stored(crm, "users", "age", "age__v_text") == [(None, None), (None, None)]


def test_discards_and_rejects_keep_no_record(crm: Pipeline) -> None:
    crm.run([{"id": 0, "name": "x", "qty": 1}], table_name="users", columns=COLUMNS)
    lines = ['{"id": 1, "email": "ada@example.org", "qty": "many"}', "ada@example.org", '{"id": 2}']
    Path("users.jsonl").write_text("\n".join(lines))
    report = crm.load("users.jsonl", "users", contract={"data_type": "discard_row"})
    assert (report.rows.loaded, report.rows.rejected, report.rows.dropped) == (1, 1, 1)
    assert stored(crm, "_trellis_discards", "column_name", "value", "row") == [("qty", "many", None)]
    assert stored(crm, "_trellis_rejects", "text") == [("(not kept, as the schema masks personal data)",)]


@pytest.mark.parametrize(
    ("hints", "sentence"),
    [
        (
            {"data_type": "bigint", "pii": "hash"},
            "table users, column id: pii: hash is for text, and the column is bigint; use pii: drop",
        ),
        (
            {"data_type": "text", "pii": "drop", "nullable": False},
            "table users, column id: pii: drop leaves no value, and the column is required; use pii: hash",
        ),
        (
            {"data_type": "text", "pii": "mask", "primary_key": True},
            "table users, column id: pii: mask makes all rows equal, and the column is a key; use pii: hash",
        ),
        (
            {"pii": "hide"},
            ("resource users: column id.x-pii: expected true, or one of mask, hash, drop, found 'hide'"),
        ),
    ],
)
def test_masks_that_a_column_cannot_have(hints: Any, sentence: str, crm: Pipeline) -> None:
    with pytest.raises(SchemaError) as bad:
        crm.run(trellis.resource([{"id": "a"}], name="users", columns={"id": hints}))
    assert str(bad.value) == sentence


def test_the_tag_is_in_comments_and_pages(tmp_path: Path) -> None:
    lake = trellis.pipeline("crm", f"delta:{tmp_path}/lake", engine="inline")
    lake.run(USERS[:1], table_name="users", columns=COLUMNS)
    (location,) = (tmp_path / "lake").rglob("users")
    fields = json.loads(DeltaTable(str(location)).schema().to_json())["fields"]
    comments = {field["name"]: field["metadata"].get("comment") for field in fields}
    assert comments["email"] == "Where to write to (personal data)"
    assert (comments["city"], comments["id"]) == ("Personal data", None)
    pages = read_pages(lake, 0)
    (users,) = (table for table in pages.tables if table.name == "users")
    assert [column.name for column in users.columns if "personal data" in column.marks] == [*COLUMNS]


def test_the_tag_is_in_documents() -> None:
    email = Column("email", "text", nullable=True, description="Where to write to")
    schema = Schema("crm", {"users": Table("users", {"email": email.with_hints(**{PII: "hash"})})})

    def written(name: str) -> str:
        (document,) = documents_of(schema, format_of(name)).values()
        return document if isinstance(document, str) else document.decode()

    (source,) = read_yaml(written("dbt"), "dbt")[0]["sources"]
    assert source["tables"][0]["columns"][0]["meta"] == {"pii": "hash"}
    contract = read_yaml(written("odcs"), "odcs")[0]
    assert contract["schema"][0]["properties"][0]["classification"] == "pii"
    read = format_of("odcs").read
    assert read is not None
    assert read(contract, "crm").schema.tables["users"].columns["email"].hint(PII) is True
    fields = json.loads(written("spark"))["fields"]
    assert fields[0]["metadata"] == {"comment": "Where to write to (personal data)"}
    losses = losses_of(schema, format_of("sql:duckdb"))
    assert [loss.what for loss in losses] == ["description, personal data"]
