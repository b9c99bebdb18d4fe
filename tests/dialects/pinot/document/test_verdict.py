"""Faults of reading and of validity together, and what is wrong with a table config."""

from __future__ import annotations

from typing import Any

import pytest

from trellis.dialects.pinot.cluster.document_check import check, config_faults, schema_faults
from trellis.dialects.pinot.document.faults import SchemaFaults
from trellis.dialects.pinot.document.reader import examine, read_schema
from trellis.dialects.pinot.table.config import table_config
from trellis.dialects.pinot.table.known_keys import misspelt_keys
from trellis.dialects.pinot.validation.table_rules import table_faults
from trellis.errors import SchemaError

DAY = {
    "name": "day",
    "dataType": "STRING",
    "format": "SIMPLE_DATE_FORMAT|yyyy-MM-dd",
    "granularity": "1:DAYS",
}
BAD = {
    "schemaName": "a__b",
    "dimensionFieldSpecs": [
        3,
        {"name": "x y", "dataType": "STRNG"},
        {"name": "n", "dataType": "INT", "defaultNullValue": "q"},
        {"name": "N", "dataType": "INT"},
    ],
    "metricFieldSpecs": [
        {"name": "m", "dataType": "INT", "singleValueField": False},
        {"name": "f", "dataType": "STRING"},
    ],
    "dateTimeFieldSpecs": [{**DAY, "format": "SIMPLE_DATE_FORMAT|MM-dd-yyyy"}],
}
LOWER = {"columnName": "z", "transformFunction": "lower(x)"}
WHERE = [
    "/dimensionFieldSpecs/0",
    "/dimensionFieldSpecs/1/dataType",
    "/dimensionFieldSpecs/2/defaultNullValue",
    "/metricFieldSpecs/0/singleValueField",
]


def found(**keys: Any) -> list[str]:
    schema, report = examine({"schemaName": "s", **keys})
    return [schema_fault.pointer for schema_fault in schema_faults(schema, report)]


def in_table(transforms: dict[str, str], filter: str | None = None, **keys: Any) -> list[tuple[str, str]]:
    columns = [{"name": name, "dataType": "STRING"} for name in ("a", "b", "c")]
    schema, report = examine({"schemaName": "s", "dimensionFieldSpecs": columns, **keys})
    ingestion = {
        "transformConfigs": [
            {"columnName": column, "transformFunction": text} for column, text in transforms.items()
        ],
        "filterConfig": {"filterFunction": filter},
    }
    assert not report.faults
    faults = table_faults(schema, {"tableName": "s", "ingestionConfig": ingestion})
    return [(fault.pointer, fault.message) for fault in faults]


def test_every_fault_of_reading_is_told_at_once() -> None:
    assert found(**BAD) == WHERE
    with pytest.raises(SchemaFaults) as raised:
        read_schema(BAD)
    assert [fault.pointer for fault in raised.value.faults] == WHERE


def test_rules_are_checked_where_all_could_be_read() -> None:
    readable = {
        "schemaName": "a__b",
        "dimensionFieldSpecs": [{"name": "x y", "dataType": "STRING"}],
        "metricFieldSpecs": [{"name": "f", "dataType": "STRING"}],
        "dateTimeFieldSpecs": [{**DAY, "format": "SIMPLE_DATE_FORMAT|MM-dd-yyyy"}],
        "primaryKeyColumns": ["z"],
    }
    assert found(**readable) == [
        "/schemaName",
        "/dimensionFieldSpecs/0/name",
        "/metricFieldSpecs/0/dataType",
        "/dateTimeFieldSpecs/0/format",
        "/primaryKeyColumns/0",
    ]


@pytest.mark.parametrize(
    ("document", "pointers"),
    [
        ({"primaryKeyColumns": ["a"], "dimensionFieldSpecs": [{"name": "a"}]}, ["/dimensionFieldSpecs/0"]),
        (
            {"primaryKeyColumns": ["z"], "dimensionFieldSpecs": [{"name": "a"}]},
            ["/dimensionFieldSpecs/0"],
        ),
        (
            {"primaryKeyColumns": ["a"], "dimensionFieldSpecs": [{"dataType": "INT"}]},
            ["/dimensionFieldSpecs/0"],
        ),
        ({"primaryKeyColumns": ["a"], "dimensionFieldSpecs": {}}, ["/dimensionFieldSpecs"]),
        ({"schemaName": {}}, ["/schemaName"]),
        ({"dateTimeFieldSpecs": [{**DAY, "format": []}]}, ["/dateTimeFieldSpecs/0/format"]),
        ({"dateTimeFieldSpecs": [{"name": "d"}]}, ["/dateTimeFieldSpecs/0"]),
        ({"metricFieldSpecs": [{"name": "m", "dataType": "BOOLEAN"}]}, ["/metricFieldSpecs/0/dataType"]),
        (
            {"dimensionFieldSpecs": [{"name": "a", "dataType": "INT"}] * 2},
            ["/dimensionFieldSpecs/1/name"],
        ),
    ],
)
def test_what_follows_from_another_fault_is_not_told(document: dict[str, Any], pointers: list[str]) -> None:
    assert found(**document) == pointers


def test_every_bad_function_of_a_table_config_is_told() -> None:
    start = "/ingestionConfig/transformConfigs"
    error = {"a": "lowr(x)", "b": "lower(x, y)", "c": "Groovy({x + y}, x, y)"}
    assert in_table(error, "x = = 3") == [
        (
            f"{start}/0/transformFunction",
            ("Invalid transform function 'lowr(x)': unknown function lowr: did you mean 'lower'?"),
        ),
        (
            f"{start}/1/transformFunction",
            "Invalid transform function 'lower(x, y)': lower takes 1 argument, not 2",
        ),
        (
            f"{start}/2/transformFunction",
            (
                "transform function 'Groovy({x + y}, x, y)': Trellis does not carry out Pinot's function"
                " Groovy: let Pinot's own classes do it with --option functions=pinot-jars, or compute its"
                " result before the load"
            ),
        ),
        (
            "/ingestionConfig/filterConfig/filterFunction",
            (
                "Invalid filter function 'x = = 3': a column, a literal or a function is expected, "
                "not '=', at column 5 of 'x = = 3'"
            ),
        ),
    ]


def test_a_cycle_of_a_table_config_is_told() -> None:
    assert in_table({"a": "lower(b)", "b": "lower(a)"}) == [
        (
            "/ingestionConfig/transformConfigs",
            "Expression cycle found for column 'a' in Ingestion Transform Function definitions: a <- b <- a",
        )
    ]


def test_an_unknown_function_of_a_filter_is_told() -> None:
    ((pointer, message),) = in_table({"a": "lower(x)"}, "substrin(x) > 3")
    assert pointer == "/ingestionConfig/filterConfig/filterFunction"
    assert message.endswith("unknown function substrin: did you mean 'substring'?")


def test_a_time_column_that_could_not_be_read_is_not_called_missing() -> None:
    table = {"segmentsConfig": {"timeColumnName": "day"}}
    schema, report = examine({"schemaName": "s", "dateTimeFieldSpecs": [{**DAY, "dataType": "STRNG"}]})
    assert config_faults(schema, report, table) == ()
    schema, report = examine({"schemaName": "s", "dateTimeFieldSpecs": 1})
    assert config_faults(schema, report, table) == ()


def test_keys_of_a_table_config_that_are_nearly_right() -> None:
    table = {
        "tableNmae": "t",
        "notes": {},
        "segmentsConfig": {"timeColumnname": "t", "replication": "1"},
        "tableIndexConfig": {"nullHandlingEnable": True},
        "ingestionConfig": {
            "continueOnErorr": True,
            "filterConfig": {"filterFuncton": "x"},
            "complexTypeConfig": {"fieldToUnnest": [], "delimiter": "."},
            "transformConfigs": [{"columnName": "a", "tranformFunction": "b"}],
        },
    }
    assert [f"{misspelling.pointer} {misspelling.nearest}" for misspelling in misspelt_keys(table)] == [
        "/tableNmae tableName",
        "/segmentsConfig/timeColumnname timeColumnName",
        "/tableIndexConfig/nullHandlingEnable nullHandlingEnabled",
        "/ingestionConfig/continueOnErorr continueOnError",
        "/ingestionConfig/complexTypeConfig/fieldToUnnest fieldsToUnnest",
        "/ingestionConfig/filterConfig/filterFuncton filterFunction",
        "/ingestionConfig/transformConfigs/0/tranformFunction transformFunction",
    ]


def faults_of_table(table: Any, schema: str = '{"schemaName": "s"}') -> list[tuple[str, str]]:
    actual = check(schema, "s", [] if table is None else [table]).findings
    return [(value.pointer, value.message) for value in actual if value.level == "fault"]


def test_every_fault_of_reading_a_table_config_is_told_at_once() -> None:
    table = {
        "tableName": "t_OFFLINE",
        "tableType": "OFLINE",
        "isDimTable": True,
        "segmentsConfig": {"replication": [], "timeColumnName": "nope"},
        "tableIndexConfig": {
            "sortedColumn": "a",
            "nullHandlingEnabled": "yes",
            "rangeIndexVersion": "x",
            "noDictionarySizeRatioThreshold": "0.85",
            "noDictionaryConfig": {"a": {}},
        },
        "ingestionConfig": {
            "filterConfig": {"filterFunction": "lower("},
            "transformConfigs": [
                7,
                {"columnName": "b", "transformFunction": "lowr(a)"},
                {"columnName": "c", "transformFunction": {}},
                {"columnName": "d"},
                {"columnName": "b", "transformFunction": "lower(a)"},
            ],
        },
        "quota": "x",
    }
    assert faults_of_table(table) == [
        ("/quota", "quota is an object, not 'x'"),
        ("/segmentsConfig/replication", "replication is text, not a list"),
        ("/tableIndexConfig/sortedColumn", "sortedColumn is a list, not 'a'"),
        ("/tableIndexConfig/nullHandlingEnabled", "nullHandlingEnabled is true or false, not 'yes'"),
        ("/tableIndexConfig/rangeIndexVersion", "rangeIndexVersion is an integer of 32 bits, not 'x'"),
        ("/tableIndexConfig/noDictionaryConfig/a", "a is text, not an object"),
        ("/ingestionConfig/transformConfigs/0", "an element of transformConfigs is an object, not 7"),
        (
            "/ingestionConfig/transformConfigs/2/transformFunction",
            "transformFunction is text, not an object",
        ),
        (
            "/ingestionConfig/transformConfigs/3",
            "a transform needs both columnName and transformFunction",
        ),
        (
            "/ingestionConfig/transformConfigs/4",
            "Cannot set more than one transform function on column: b.",
        ),
        ("/tableType", "unknown tableType 'OFLINE': did you mean 'OFFLINE'?"),
    ]


@pytest.mark.parametrize(
    ("table", "pointers"),
    [
        ({"tableType": "REALTIME", "segmentsConfig": "x"}, ["/segmentsConfig"]),
        (
            {"tableType": "REALTIME", "segmentsConfig": {"timeColumnName": {}}},
            ["/segmentsConfig/timeColumnName"],
        ),
        (
            {"ingestionConfig": {"aggregationConfigs": "x", "transformConfigs": [LOWER]}},
            ["/ingestionConfig/aggregationConfigs"],
        ),
        ({"ingestionConfig": {"transformConfigs": [LOWER, 1]}}, ["/ingestionConfig/transformConfigs/1"]),
        ({"upsertConfig": "x", "dedupConfig": [1]}, ["/upsertConfig", "/dedupConfig"]),
        ({"tableIndexConfig": "x"}, ["/tableIndexConfig"]),
        ({"ingestionConfig": [1]}, ["/ingestionConfig"]),
        ([], [""]),
    ],
)
def test_what_follows_from_a_fault_of_reading_a_table_config_is_not_told(
    table: Any, pointers: list[str]
) -> None:
    assert [pointer for pointer, _ in faults_of_table(table)] == pointers


def test_a_table_config_that_a_load_is_given_is_refused_with_all_its_faults() -> None:
    with pytest.raises(SchemaFaults) as raised:
        table_config({"tableType": 1, "segmentsConfig": []}, "t")
    assert str(raised.value) == (
        "t: 2 faults\n  /segmentsConfig: segmentsConfig is an object, not a list\n"
        "  /tableType: unknown tableType 1: it may be one of OFFLINE, REALTIME"
    )


def test_one_document_for_the_other_is_told_in_one_sentence() -> None:
    with pytest.raises(SchemaError, match=r"^t: this is a schema, not a table config: pass the document"):
        table_config({"schemaName": "s"}, "t")
    with pytest.raises(SchemaError, match=r"^s: this is a table config, not a schema: pass the document"):
        read_schema({"tableName": "s", "tableType": "OFFLINE"}, where="s")
