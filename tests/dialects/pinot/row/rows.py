"""Schemas, table configs and records for tests of the row pipeline."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from typing import Any, Final

from trellis.dialects.pinot.conversion.settings import PINOT_DEFAULTS, Settings
from trellis.dialects.pinot.document.fields import PinotSchema
from trellis.dialects.pinot.document.reader import read_schema
from trellis.dialects.pinot.row.pipeline import Pipeline
from trellis.dialects.pinot.row.row import Row
from trellis.dialects.pinot.table.config import table_config

NOW: Final = datetime(2026, 1, 2, 3, 4, 5, 678_901, timezone.utc)
NOW_MILLIS: Final = 1_767_323_045_678


def column(name: str, data_type: str, **others: Any) -> dict[str, Any]:
    return {"name": name, "dataType": data_type, **others}


def several(name: str, data_type: str, **others: Any) -> dict[str, Any]:
    return column(name, data_type, singleValueField=False, **others)


def time(name: str, data_type: str, form: str, **others: Any) -> dict[str, Any]:
    return column(name, data_type, format=form, granularity="1:DAYS", **others)


def map_column(name: str, value: str, **others: Any) -> dict[str, Any]:
    children = {
        "key": column("key", "STRING", fieldType="DIMENSION"),
        "value": column("value", value, fieldType="DIMENSION"),
    }
    return column(name, "MAP", childFieldSpecs=children, **others)


def document(
    dimensions: Sequence[Mapping[str, Any]] = (),
    metrics: Sequence[Mapping[str, Any]] = (),
    times: Sequence[Mapping[str, Any]] = (),
    maps: Sequence[Mapping[str, Any]] = (),
    **others: Any,
) -> dict[str, Any]:
    """A schema document."""
    return {
        "schemaName": "t",
        "dimensionFieldSpecs": list(dimensions),
        "metricFieldSpecs": list(metrics),
        "dateTimeFieldSpecs": list(times),
        "complexFieldSpecs": list(maps),
        **others,
    }


def config(time_column: str | None = None, **ingestion: Any) -> dict[str, Any]:
    """A table config that Pinot reads too."""
    segments: dict[str, Any] = {"replication": "1"}
    if time_column is not None:
        segments["timeColumnName"] = time_column
    return {
        "tableName": "t_OFFLINE",
        "tableType": "OFFLINE",
        "segmentsConfig": segments,
        "tenants": {},
        "tableIndexConfig": {},
        "metadata": {},
        "ingestionConfig": ingestion,
    }


def pipeline(
    schema_document: Mapping[str, Any],
    table: Mapping[str, Any] | None = None,
    settings: Settings = PINOT_DEFAULTS,
    continue_on_error: bool | None = None,
    now: datetime = NOW,
) -> Pipeline:
    schema: PinotSchema = read_schema(json.dumps(schema_document))
    return Pipeline(schema, table_config(table), settings, now, continue_on_error)


def rows(pipe: Pipeline, *records: Mapping[str, Any]) -> list[Row]:
    return [row for record in records for row in pipe.rows(record).rows]


def values(pipe: Pipeline, *records: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [row.values for row in rows(pipe, *records)]


def flattened(**complex_type: Any) -> dict[str, Any]:
    """A table config with a complexTypeConfig."""
    return config(complexTypeConfig=complex_type)
