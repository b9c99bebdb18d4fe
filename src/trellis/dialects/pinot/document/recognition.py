"""Which document of Pinot a JSON object is: a schema or a table config."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trellis.dialects.pinot.document import known_keys


def is_schema(document: Any) -> bool:
    """
    >>> is_schema({"schemaName": "rides"}), is_schema({"metricFieldSpecs": []}), is_schema({"name": "rides"})
    (True, True, False)
    """
    named = isinstance(document, Mapping) and not {"tableName", "tableType"} & document.keys()
    return named and bool({"schemaName", "timeFieldSpec", *known_keys.LISTS} & document.keys())


def is_table_config(document: Any) -> bool:
    """
    >>> is_table_config({"tableName": "rides", "tableType": "OFFLINE"}), is_table_config({"name": "rides"})
    (True, False)
    """
    if not isinstance(document, Mapping) or {"schemaName", *known_keys.LISTS} & document.keys():
        return False
    return bool({"tableName", "tableType", "segmentsConfig", "ingestionConfig"} & document.keys())


def describe(document: Any, file: str) -> str | None:
    """The kind of a Pinot document in this file, and the command that reads it; None for other documents.

    >>> describe({"schemaName": "rides"}, "r.json")
    'a schema of Pinot, not of Trellis: `trellis pinot validate r.json` checks it'
    """
    if is_schema(document):
        return f"a schema of Pinot, not of Trellis: `trellis pinot validate {file}` checks it"
    if is_table_config(document):
        command = f"trellis pinot validate SCHEMA --table-config {file}"
        return f"a table config of Pinot, no schema: `{command}` checks it"
    return None
