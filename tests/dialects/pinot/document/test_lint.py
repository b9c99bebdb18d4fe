"""What is valid and still likely to surprise."""

from __future__ import annotations

from typing import Any

import pytest

from trellis.dialects.pinot.document.reader import read_schema
from trellis.dialects.pinot.validation.lints import lints_of
from trellis.dialects.pinot.validation.schema_rules import faults_of

KEY = {"name": "key", "dataType": "STRING", "fieldType": "DIMENSION"}
VALUE = {"name": "value", "dataType": "INT", "fieldType": "METRIC"}


def lints(table_config: dict[str, Any] | None = None, **keys: Any) -> list[tuple[str, str]]:
    schema = read_schema({"schemaName": "s", **keys})
    assert faults_of(schema) == ()
    return [(lint.pointer, lint.message) for lint in lints_of(schema, table_config=table_config)]


def dimension(kind: str = "STRING", **keys: Any) -> dict[str, Any]:
    return {"dimensionFieldSpecs": [{"name": "a", "dataType": kind, **keys}]}


def instant(kind: str, format_: str) -> dict[str, Any]:
    return {
        "dateTimeFieldSpecs": [{"name": "t", "dataType": kind, "format": format_, "granularity": "1:DAYS"}]
    }


def complex_field(**keys: Any) -> dict[str, Any]:
    return {"complexFieldSpecs": [{"name": "m", "dataType": "MAP", **keys}]}


@pytest.mark.parametrize(
    ("document", "pointer", "message"),
    [
        pytest.param(
            dimension("BIG_DECIMAL"),
            "/dimensionFieldSpecs/0/dataType",
            "a BIG_DECIMAL dimension is not documented: Pinot takes it",
            id="seed_p16",
        ),
        pytest.param(
            instant("DOUBLE", "EPOCH"),
            "/dateTimeFieldSpecs/0/dataType",
            "DOUBLE is not documented for dateTime fields: use STRING, INT, LONG, TIMESTAMP",
            id="seed_p42",
        ),
        (
            instant("STRING", "SIMPLE_DATE_FORMAT|yyyy-MM-dd|Mars/Base"),
            "/dateTimeFieldSpecs/0/format",
            "Pinot does not know the time zone Mars/Base and takes UTC: use an id like Asia/Kolkata",
        ),
        (
            instant("INT", "EPOCH"),
            "/dateTimeFieldSpecs/0/dataType",
            "an INT cannot hold today's count of 1 MILLISECONDS: use LONG",
        ),
        pytest.param(
            complex_field(childFieldSpecs={"value": VALUE}),
            "/complexFieldSpecs/0",
            "a MAP needs the child 'key' in childFieldSpecs before it can be used",
            id="seed_p39",
        ),
        pytest.param(
            complex_field(childFieldSpecs={"key": {**KEY, "dataType": "INT"}, "value": VALUE}),
            "/complexFieldSpecs/0/childFieldSpecs",
            "the key of a MAP is STRING, not INT",
            id="seed_p40",
        ),
        pytest.param(
            complex_field(childFieldSpecs={"key": KEY, "value": {**KEY, "dataType": "JSON"}}),
            "/complexFieldSpecs/0/childFieldSpecs",
            "the value of a MAP is one of STRING, INT, LONG, FLOAT, DOUBLE, not JSON",
            id="seed_p41",
        ),
        pytest.param(
            complex_field(dataType="LIST"),
            "/complexFieldSpecs/0/dataType",
            "LIST is not for users: use MAP or JSON",
            id="seed_p38",
        ),
        (
            dimension(transformFunction="lower(b)"),
            "/dimensionFieldSpecs/0/transformFunction",
            "transformFunction in a schema is deprecated: move it to transformConfigs of the table config",
        ),
        (
            dimension(notNull=True),
            "/dimensionFieldSpecs/0/notNull",
            "notNull has no effect unless enableColumnBasedNullHandling is true",
        ),
        (
            {**dimension(notNull=True), "enableColumnBasedNullHandling": True},
            "/dimensionFieldSpecs/0/notNull",
            "notNull does not refuse nulls: the default is stored and counts as a value",
        ),
        (dimension("INT", maxLength=5), "/dimensionFieldSpecs/0/maxLength", "maxLength has no effect on INT"),
        (
            {
                "timeFieldSpec": {
                    "incomingGranularitySpec": {"name": "t", "dataType": "INT", "timeType": "DAYS"}
                }
            },
            "/timeFieldSpec",
            "timeFieldSpec is deprecated: migrate it to a field of dateTimeFieldSpecs",
        ),
        pytest.param(
            {"schemaName": "s_OFFLINE"},
            "/schemaName",
            "schemaName s_OFFLINE ends in the type of a table: name it s",
            id="seed_p01",
        ),
    ],
)
def test_a_lint_names_its_place(document: dict[str, Any], pointer: str, message: str) -> None:
    assert lints(**document) == [(pointer, message)]


def test_the_flag_of_the_table_is_ignored_where_columns_say_it() -> None:
    config = {"tableIndexConfig": {"nullHandlingEnabled": True}}
    message = "enableColumnBasedNullHandling is true, so nullHandlingEnabled of the table is ignored"
    assert lints(config, enableColumnBasedNullHandling=True) == [("/enableColumnBasedNullHandling", message)]
    assert lints(config) == []


@pytest.mark.parametrize(
    "document",
    [
        dimension(),
        dimension("JSON", maxLength=2, defaultNullValue="abc"),
        instant("INT", "EPOCH|SECONDS"),
        instant("STRING", "SIMPLE_DATE_FORMAT|yyyy-MM-dd|IST"),
        complex_field(childFieldSpecs={"key": KEY, "value": VALUE}),
    ],
)
def test_what_is_usual_has_no_lint(document: dict[str, Any]) -> None:
    assert lints(**document) == []
