"""Functions of Pinot that Trellis does not carry out: validation neither takes nor refuses their use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from trellis.dialects.pinot.document.faults import Fault
from trellis.dialects.pinot.document.reader import read_schema
from trellis.dialects.pinot.validation.schema_rules import faults_of

COLUMNS = [
    {"name": "several", "dataType": "INT", "singleValueField": False},
    {"name": "document", "dataType": "JSON"},
    {"name": "city", "dataType": "STRING"},
]
TRANSFORM = "/ingestionConfig/transformConfigs/0/transformFunction"
UNSUPPORTED = "Trellis does not carry out Pinot's function"
LEFT_TO_PINOT = (
    "let Pinot's own classes do it with --option functions=pinot-jars, or compute its result before the load"
)


def faults_with(ingestion: Mapping[str, Any], **column: Any) -> tuple[Fault, ...]:
    columns = [*COLUMNS, column] if column else COLUMNS
    schema = read_schema({"schemaName": "s", "dimensionFieldSpecs": columns})
    return faults_of(
        schema, table_config={"tableName": "s", "tableType": "OFFLINE", "ingestionConfig": ingestion}
    )


def transform_faults(column: str, function: str) -> tuple[Fault, ...]:
    return faults_with({"transformConfigs": [{"columnName": column, "transformFunction": function}]})


@pytest.mark.parametrize(
    ("column", "function", "named"),
    [
        ("city", "urlDomain(url)", "urlDomain"),
        ("city", "lower(url_domain(url))", "urlDomain"),
        ("document", "hourMV(times)", "hourMV"),
        ("several", "arrayLength(hourMV(times))", "hourMV"),
        ("several", "ARRAY[a, b]", "arrayValueConstructor"),
    ],
)
def test_a_transform_that_is_not_carried_out_is_unchecked(column: str, function: str, named: str) -> None:
    message = f"transform function '{function}': {UNSUPPORTED} {named}: {LEFT_TO_PINOT}"
    assert transform_faults(column, function) == (Fault(TRANSFORM, message, column, unchecked=True),)


def test_a_filter_that_is_not_carried_out_is_unchecked() -> None:
    message = f"filter function 'isSubnetOf('10.0.0.0/8', ip)': {UNSUPPORTED} isSubnetOf: {LEFT_TO_PINOT}"
    assert faults_with({"filterConfig": {"filterFunction": "isSubnetOf('10.0.0.0/8', ip)"}}) == (
        Fault("/ingestionConfig/filterConfig/filterFunction", message, unchecked=True),
    )


def test_a_transform_of_a_schema_that_is_not_carried_out_is_unchecked() -> None:
    message = f"transform function 'urlDomain(url)': {UNSUPPORTED} urlDomain: {LEFT_TO_PINOT}"
    assert faults_with({}, name="u", dataType="STRING", transformFunction="urlDomain(url)") == (
        Fault("/dimensionFieldSpecs/3/transformFunction", message, "u", unchecked=True),
    )


@pytest.mark.parametrize(
    ("column", "kind", "effect"),
    [
        ("several", "INT", "the row fails, or the value is null with continueOnError"),
        ("city", "STRING", "the text becomes that of a Java object, such as [I@1f2e3d"),
    ],
)
def test_a_primitive_array_is_a_fault_where_it_cannot_be_stored(column: str, kind: str, effect: str) -> None:
    sentence = (
        f"hourMV returns a primitive array, which Pinot cannot store in a column of {kind}: {effect}."
        " Compute the column before the load"
    )
    message = f"transform function 'hourMV(times)': {sentence}"
    assert transform_faults(column, "hourMV(times)") == (Fault(TRANSFORM, message, column),)
    assert faults_with({}, name="u", dataType=kind, transformFunction="hourMV(times)") == (
        Fault("/dimensionFieldSpecs/3/transformFunction", message, "u"),
    )


def test_what_pinot_refuses_is_a_fault_beside_what_is_unchecked() -> None:
    (fault,) = transform_faults("city", "concat(urlDomain(url), lowr(city2))")
    assert not fault.unchecked
    assert fault.message.endswith("unknown function lowr: did you mean 'lower'?")
    unchecked, itself = transform_faults("city", "urlDomain(city)")
    assert (unchecked.unchecked, itself.unchecked) == (True, False)
    assert itself.message.startswith("Arguments of a transform function 'urlDomain(city)' cannot contain")
