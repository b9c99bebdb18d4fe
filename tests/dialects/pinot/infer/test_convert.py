"""What Trellis learned in another schema language, as schemas of Pinot."""

from __future__ import annotations

import pytest

from dialects.pinot.infer.proposals import notes, said
from trellis.dialects.pinot.infer.conversion import convert
from trellis.dialects.pinot.infer.proposal import Proposal
from trellis.dialects.pinot.stored_schema import Authored, with_authored
from trellis.dialects.pinot.validation.schema_document import read_schema
from trellis.dialects.pinot.validation.schema_rules import faults_of
from trellis.errors import UsageError
from trellis.schema.model import NESTED_TYPE, Column, Schema, Table


def schema(*columns: Column, **hints: object) -> Schema:
    rides = Table(
        "rides", {column.name: column for column in columns}, description="One ride a row"
    ).with_hints(**hints)
    lines = Table("rides__stops", {"at": Column("at", "text")}, parent="rides")
    loads = Table("_dlt_loads", {"load_id": Column("load_id", "text")})
    return Schema("s", {value.name: value for value in (rides, lines, loads)})


def only(*columns: Column) -> Proposal:
    (proposal,) = convert(schema(*columns))
    assert faults_of(proposal.schema, table_config=proposal.table) == ()
    return proposal


ALL = (
    Column("id", "bigint", nullable=False).with_hints(primary_key=True),
    Column("small", "bigint", precision=32),
    Column("name", "text"),
    Column("body", "text", precision=4000),
    Column("fare", "double"),
    Column("ratio", "double", precision=24),
    Column("ok", "bool"),
    Column("started_at", "timestamp", nullable=False),
    Column("day", "date"),
    Column("at", "time"),
    Column("raw", "binary"),
    Column("extra", "json"),
    Column("price", "decimal", precision=12, scale=2),
    Column("address", "wei"),
    Column("tags", "json").with_hints(**{NESTED_TYPE: "arrow:list<string>"}),
    Column("counts", "json").with_hints(**{NESTED_TYPE: "arrow:map<string, int64>"}),
    Column("_dlt_id", "text", nullable=False),
    Column("pending"),
)


def test_an_integer_beyond_64_bits_is_a_decimal() -> None:
    assert said(only(Column("wide", "bigint", precision=80))) == {"wide": "BIG_DECIMAL metric"}


def test_every_type_of_trellis():
    proposal = only(*ALL)
    assert said(proposal) == {
        "id": "LONG dimension",
        "small": "INT dimension",
        "name": "STRING dimension",
        "body": "STRING dimension",
        "fare": "DOUBLE metric",
        "ratio": "FLOAT metric",
        "ok": "BOOLEAN dimension",
        "started_at": "TIMESTAMP date-time TIMESTAMP",
        "day": "STRING date-time SIMPLE_DATE_FORMAT|yyyy-MM-dd",
        "at": "STRING dimension",
        "raw": "BYTES dimension",
        "extra": "JSON dimension",
        "price": "BIG_DECIMAL metric",
        "address": "BIG_DECIMAL metric",
        "tags": "STRING[] dimension",
        "counts": "MAP complex",
        "_dlt_id": "STRING dimension",
    }
    assert {
        column.spec.name: column.why
        for column in proposal.columns
        if column.spec.name in ("id", "fare", "small", "_dlt_id")
    } == {
        "id": "bigint; a key",
        "small": "bigint; not named like an amount",
        "fare": "double; named like an amount",
        "_dlt_id": "text; bookkeeping of Trellis",
    }
    assert (proposal.time_column, proposal.schema.primary_key) == ("started_at", ("id",))
    assert proposal.schema.description == "One ride a row"
    by_name = {column.spec.name: column.spec for column in proposal.columns}
    assert (by_name["body"].max_length, by_name["name"].max_length) == (4000, None)
    assert proposal.schema.column_nulls
    assert [name for name, spec in by_name.items() if spec.not_null] == ["id", "started_at", "_dlt_id"]
    assert read_schema(proposal.document).schema is not None


def test_what_there_is_to_look_at():
    assert notes(only(*ALL)) == [
        ("at", "Pinot has no times of day: stored as text"),
        ("rides__stops", "a nested table: Pinot has none, so its rows are left out"),
    ]
    proposal = only(
        Column("my col", "text"), Column("x__v_text", "text", variant=True), Column("ts", "timestamp")
    )
    assert notes(proposal) == [
        ("my col", "the column is named my_col: names hold no blanks and differ by more than case"),
        ("x__v_text", "holds values that did not fit into another column"),
        ("rides__stops", "a nested table: Pinot has none, so its rows are left out"),
        ("ts", "the main time may be null: the time of the load is stored then"),
    ]
    assert proposal.table["ingestionConfig"] == {
        "transformConfigs": [{"columnName": "my_col", "transformFunction": '"my col"'}]
    }


def test_one_schema_for_each_root_table():
    two = schema(Column("a", "text")).with_tables(Table("users", {"b": Column("b", "text")}))
    assert [proposal.schema.name for proposal in convert(two)] == ["rides", "users"]
    assert [proposal.schema.name for proposal in convert(two, "users")] == ["users"]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("ride", "--table ride: no such root table: did you mean 'rides'"),
        ("rides__stops", "--table rides__stops: it is nested in rides"),
    ],
)
def test_a_table_that_is_none(table: str, message: str):
    with pytest.raises(UsageError, match=message):
        convert(schema(Column("a", "text")), table)


def test_a_schema_of_pinot_stays_as_it_was_given():
    document = read_schema(
        '{"schemaName": "trips", "metricFieldSpecs": [{"name": "n", "dataType": "INT"}]}'
    ).schema
    (proposal,) = convert(with_authored(Schema("s"), Authored(document)))
    assert (proposal.schema, proposal.columns[0].why) == (document, "as declared")
