"""Enrichers, and what of a table config shapes rows in Pinot only."""

from __future__ import annotations

from typing import Any, Final

import pytest

from dialects.pinot.oracle.client import Oracle
from dialects.pinot.row.rows import column, config, document, pipeline, rows, several
from trellis.dialects.pinot.document.faults import SchemaFaults


def computed(before: bool, **functions: str) -> dict[str, Any]:
    return {
        "enricherType": "generateColumn",
        "properties": {"fieldToFunctionMap": functions},
        "preComplexTypeTransform": before,
    }


UNNESTED: Final = config(
    enrichmentConfigs=[
        computed(True, lines="jsonPathArray(text, '$[*]')", city="upper(city)"),
        computed(False, label="concat(city, sku, '-')"),
    ],
    complexTypeConfig={"fieldsToUnnest": ["lines"], "prefixesToRename": {"lines.": ""}},
)
COLUMNS: Final = document([column("city", "STRING"), column("sku", "STRING"), column("label", "STRING")])
RECORD: Final = {"city": "Bern", "text": '[{"sku": "p"}, {"sku": "q"}, {"sku": null}]'}
ROWS: Final = [
    {"city": "BERN", "sku": "p", "label": "BERN-p"},
    {"city": "BERN", "sku": "q", "label": "BERN-q"},
    {"city": "BERN", "sku": "null", "label": "null"},
]


def test_fields_are_computed_before_and_after_flattening() -> None:
    assert [row.values for row in rows(pipeline(COLUMNS, UNNESTED), RECORD)] == ROWS


@pytest.mark.pinot
def test_pinot_computes_the_same_fields(pinot: Oracle) -> None:
    answer = pinot.ask("rows", schema=COLUMNS, table=UNNESTED, rows=[RECORD])
    stored = [
        {name: value["value"] for name, value in row["values"].items() if name in ROWS[0]}
        for row in answer["rows"]
    ]
    assert stored == ROWS


def test_a_field_is_computed_over_what_the_record_has() -> None:
    table = config(enrichmentConfigs=[computed(False, tags="split(city, ' ')", city="lower(city)")])
    (row,) = rows(
        pipeline(document([column("city", "STRING"), several("tags", "STRING")]), table),
        {"city": "La Paz", "tags": ["old"]},
    )
    assert row.values == {"city": "la paz", "tags": ["La", "Paz"]}


CONFORMING: Final = "schemaConformingTransformerConfig"
ONLY: Final = "is carried out by Pinot only: a load needs a table config without it"


@pytest.mark.parametrize(
    ("ingestion", "fault"),
    [
        (
            {"enrichmentConfigs": [{"enricherType": "clpEnricher", "properties": {"fields": ["a"]}}]},
            f"/ingestionConfig/enrichmentConfigs/0: the enricher clpEnricher {ONLY}",
        ),
        (
            {"aggregationConfigs": [{"columnName": "n", "aggregationFunction": "SUM(m)"}]},
            f"/ingestionConfig/aggregationConfigs: aggregationConfigs {ONLY}",
        ),
        ({CONFORMING: {}}, f"/ingestionConfig/{CONFORMING}: {CONFORMING} {ONLY}"),
    ],
)
def test_what_only_pinot_does_is_refused_by_name(ingestion: dict[str, Any], fault: str) -> None:
    columns = document(
        [column("a", "STRING"), column("json_data", "JSON"), column("b", "STRING")],
        [column("n", "LONG")],
    )
    table = config(**ingestion)
    with pytest.raises(SchemaFaults) as refused:
        pipeline(columns, table)
    assert str(refused.value) == f"table config: {fault}"
