"""Pinot's own classes beside Trellis: functions, checks, and segments of every type. `make test-pinot`."""

from __future__ import annotations

import json
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from dialects.pinot import every_type
from trellis import Pipeline
from trellis.cli.app import run
from trellis.cli.settings import document_of
from trellis.dialects.pinot.expression.compiler import compile_expression
from trellis.dialects.pinot.functions.registry import FunctionError
from trellis.dialects.pinot.grammar.parser import parse
from trellis.dialects.pinot.grammar.tokens import ExpressionError
from trellis.dialects.pinot.jars.gateway import pinot_classes, pinot_expression
from trellis.dialects.pinot.value.numbers import float_text

pytestmark = [pytest.mark.pinot, pytest.mark.usefixtures("pinot_jars")]


# --- functions -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expression", "row", "value"),
    [
        ("urlDomain(url)", {"url": "https://a.example.com/x?y=1"}, "a.example.com"),
        ("urlDomain(url)", {"url": None}, None),
        ("levenshteinDistance(a, b)", {"a": "kitten", "b": "sitting"}, 3),
        ("arrayUnionString(a, b)", {"a": ["x", "y"], "b": ["y", "z"]}, ["x", "y", "z"]),
        ("log2(n)", {"n": 8}, 3.0),
        ("toAscii(s)", {"s": "abc"}, b"abc"),
        ("bigDecimalToBytes(d)", {"d": 10**30}, bytes.fromhex("00000c9f2c9cd04674edea40000000")),
        ("jsonExtractKey(j, '$.*')", {"j": '{"a": 1, "b": 2}'}, ["$['a']", "$['b']"]),
        ("repeat(s, 2)", {"s": "é\n😀"}, "é\n😀é\n😀"),
    ],
)
def test_pinot_computes_what_is_not_implemented(expression: str, row: dict[str, Any], value: Any) -> None:
    assert pinot_expression(expression)(row) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("jsonPathString(js, '$.a[?(@.b > 1)].c', 'x')", '["q"]'),
        ("jsonPathLong(js, '$.a.length()')", 2),
        ("dateTimeConvert(ts, 'EPOCH', 'SIMPLE_DATE_FORMAT|yyyy-MM-dd', '1:DAYS')", "2023-11-14"),
        ("toIso8601(ts)", "2023-11-14T22:13:20.123Z"),
        ("lpad(s, 5, '.')", "..abc"),
        ("pow(2, 10)", 1024.0),
        ("arrayElementAtString(l, 2)", "q"),
    ],
)
def test_what_python_no_longer_computes(text: str, value: Any) -> None:
    row = {
        "js": '{"a":[{"b":1,"c":"p"},{"b":2,"c":"q"}]}',
        "ts": 1_700_000_000_123,
        "s": "abc",
        "l": ["p", "q"],
    }
    assert compile_expression(parse(text), text, pinot_jars=True)(row) == value


def test_a_row_that_pinot_fails_is_a_fault_of_the_row() -> None:
    with pytest.raises(FunctionError, match='For input string: "q"'):
        pinot_expression("arraySumInt(x)")({"x": ["q"]})
    assert pinot_expression("arraySumInt(x)")({"x": [1, 2]}) == 3


def test_an_expression_that_pinot_cannot_read_is_refused() -> None:
    with pytest.raises(ExpressionError, match="Unsupported function: lowr"):
        pinot_expression("lowr(x)")


@pytest.mark.spark
@pytest.mark.parametrize("engine", ["inline", "spark"])
def test_a_load_with_a_function_that_is_not_implemented(tmp_path: Path, engine: Any) -> None:
    schema = {
        "schemaName": "visits",
        "dimensionFieldSpecs": [
            {"name": "url", "dataType": "STRING"},
            {"name": "domain", "dataType": "STRING"},
        ],
    }
    config = {
        "tableName": "visits",
        "tableType": "OFFLINE",
        "ingestionConfig": {
            "transformConfigs": [{"columnName": "domain", "transformFunction": "urlDomain(url)"}],
            "filterConfig": {"filterFunction": "levenshteinDistance(url, 'bad') < 2"},
        },
    }
    source = tmp_path / "rows.jsonl"
    source.write_text('{"url": "https://a.b/x"}\n{"url": "bid"}\n{"url": null}\n', encoding="utf-8")
    settings = {"table_config": config, "functions": "pinot-jars", "view": "nullable"}
    pipeline = Pipeline("v", f"parquet:{tmp_path}/lake", dialect="pinot", settings=settings, engine=engine)
    report = pipeline.load(str(source), schema=document_of_text(tmp_path, schema))
    assert (report.rows.loaded, report.rows.dropped) == (2, 1)
    rows = [(row["url"], row["domain"]) for row in pipeline.destination.query("", "visits")]
    assert sorted(rows, key=str) == [("https://a.b/x", "a.b"), (None, None)]


# --- checks ----------------------------------------------------------------------------------------------


def test_pinot_checks_the_table_config(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = {
        "tableName": "visits", "tableType": "OFFLINE", "segmentsConfig": {"replication": "1"}, "tenants": {},
        "tableIndexConfig": {}, "metadata": {},
        "ingestionConfig": {"transformConfigs": [{"columnName": "d", "transformFunction": "urlDomain(s)"}]},
    }  # fmt: skip
    schema = {
        "schemaName": "visits",
        "dimensionFieldSpecs": [{"name": name, "dataType": "STRING"} for name in "sd"],
    }
    (tmp_path / "schema.json").write_text(json.dumps(schema))
    (tmp_path / "table.json").write_text(json.dumps(config))
    command = [
        "pinot",
        "validate",
        str(tmp_path / "schema.json"),
        "--table-config",
        str(tmp_path / "table.json"),
    ]
    assert run([*command, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["valid"] is None
    assert run([*command, "--pinot-jars", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["valid"] is True
    config["tierConfigs"] = [{"name": "t", "segmentSelectorType": "nothing", "storageType": "pinot_server"}]
    (tmp_path / "table.json").write_text(json.dumps(config))
    assert run([*command, "--pinot-jars", "--json"]) == 2
    findings = json.loads(capsys.readouterr().out)["findings"]
    assert findings[-1] == {
        "level": "fault",
        "source": "table config",
        "pointer": "",
        "column": None,
        "message": "Unsupported segmentSelectorType: nothing in tier: t",
    }


# --- segments --------------------------------------------------------------------------------------------


@pytest.mark.spark
@pytest.mark.parametrize("engine", ["inline", "spark"])
@pytest.mark.parametrize("format", ["parquet", "json"])
def test_a_segment_of_every_type_is_the_stored_view(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], engine: str, format: str
) -> None:
    rows, schema = every_type.records(90), every_type.schema("every")
    source = tmp_path / "rows.jsonl"
    source.write_text(every_type.lines(rows), encoding="utf-8")
    place = f"parquet:{tmp_path}/lake"
    pipeline = Pipeline("lake", place, dialect="pinot")
    pipeline.load(str(source), schema=document_of_text(tmp_path, schema))
    out = tmp_path / "out"
    assert (
        run(["pinot", "deliver", "--at", place, "--out", str(out), "--format", format, "--rows", "40"]) == 0
    )
    capsys.readouterr()
    assert run(["pinot", "segments", str(out), "--engine", engine, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert [(segment["name"], segment["rows"]) for segment in report["segments"]] == [
        ("every_part-00000", 40),
        ("every_part-00001", 40),
        ("every_part-00002", 10),
    ]
    stored = {row["id"]: row for row in pipeline.destination.query("", "every")}
    read = {row["id"]: row for segment in report["segments"] for row in rows_of(tmp_path, segment["path"])}
    assert len(read) == 90
    for number, row in read.items():
        expected = {name: as_pinot_stores(name, stored[number][name]) for name in row}
        assert row == expected


def document_of_text(folder: Path, schema: dict[str, Any]) -> Any:
    path = folder / "schema.json"
    path.write_text(json.dumps(schema), encoding="utf-8")
    return document_of(str(path), "pinot")


def rows_of(folder: Path, tar: str) -> list[dict[str, Any]]:
    """The rows of a segment, by Pinot's own reader."""
    classes = pinot_classes()
    file_class = classes.gateway.jvm.java.io.File
    with classes.calls() as pinot:
        unpacked = pinot.common.utils.TarCompressionUtils.untar(
            file_class(tar), file_class(str(folder / "read"))
        )
        reader = pinot.segment.local.segment.readers.PinotSegmentRecordReader()
        reader.init(unpacked[0], None, None)
        rows = []
        while reader.hasNext():
            rows.append(classes.from_java(reader.next().getFieldToValueMap()))
        reader.close()
    return rows


def as_pinot_stores(name: str, value: Any) -> Any:
    """A value of the dataset as Pinot's reader has it: times in milliseconds, truth values as 0 and 1, floats
    with the digits of 32 bits.
    """
    if name.startswith("map_"):
        return {key: as_pinot_stores(name.removeprefix("map_"), element) for key, element in value}
    if isinstance(value, list):
        return [as_pinot_stores(name, element) for element in value]
    if name.endswith("float"):
        return float(float_text(value))
    if name.endswith("big_decimal"):
        return Decimal(value)
    return round(value.timestamp() * 1000) if isinstance(value, datetime) else value
