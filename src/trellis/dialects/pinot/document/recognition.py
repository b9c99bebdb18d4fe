"""Which document of Pinot a JSON object is: a schema or a table config (spec pinot.md, sections 1 and 12)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trellis.dialects.pinot.document import keys


def is_schema(document: Any) -> bool:
    """
    >>> is_schema({"schemaName": "rides"}), is_schema({"metricFieldSpecs": []}), is_schema({"name": "rides"})
    (True, True, False)
    """
    named = isinstance(document, Mapping) and not {"tableName", "tableType"} & document.keys()
    return named and bool({"schemaName", "timeFieldSpec", *keys.LISTS} & document.keys())


def is_table_config(document: Any) -> bool:
    """
    >>> is_table_config({"tableName": "rides", "tableType": "OFFLINE"}), is_table_config({"name": "rides"})
    (True, False)
    """
    if not isinstance(document, Mapping) or {"schemaName", *keys.LISTS} & document.keys():
        return False
    return bool({"tableName", "tableType", "segmentsConfig", "ingestionConfig"} & document.keys())
