"""The keys that a schema document may have, and by which it differs from a table config."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from trellis.dialects.pinot.document.types import FieldType

LISTS: Final = {
    "dimensionFieldSpecs": FieldType.DIMENSION,
    "metricFieldSpecs": FieldType.METRIC,
    "dateTimeFieldSpecs": FieldType.DATE_TIME,
    "complexFieldSpecs": FieldType.COMPLEX,
}
SCHEMA: Final = frozenset(
    {"schemaName", "enableColumnBasedNullHandling", *LISTS, "timeFieldSpec", "primaryKeyColumns"}
)


def _keys(names: str) -> frozenset[str]:
    return frozenset(names.split())


_COMMON: Final = _keys("""
    name dataType fieldType singleValueField notNull maxLength maxLengthExceedStrategy allowTrailingZeros
    defaultNullValue transformFunction virtualColumnProvider
""")
FIELD: Final = {
    FieldType.DIMENSION: _COMMON,
    FieldType.METRIC: _COMMON,
    FieldType.DATE_TIME: _COMMON | _keys("format granularity sampleValue"),
    FieldType.COMPLEX: _COMMON | {"childFieldSpecs"},
}
TIME: Final = _keys("""
    incomingGranularitySpec outgoingGranularitySpec fieldType singleValueField defaultNullValue
    transformFunction
""")
GRANULE: Final = _keys("name dataType timeType timeUnitSize timeunitSize timeFormat")


def is_schema(document: Any) -> bool:
    """
    >>> is_schema({"schemaName": "rides"}), is_schema({"metricFieldSpecs": []}), is_schema({"name": "rides"})
    (True, True, False)
    """
    named = isinstance(document, Mapping) and not {"tableName", "tableType"} & document.keys()
    return named and bool({"schemaName", "timeFieldSpec", *LISTS} & document.keys())


def is_table_config(document: Any) -> bool:
    """
    >>> is_table_config({"tableName": "rides", "tableType": "OFFLINE"}), is_table_config({"name": "rides"})
    (True, False)
    """
    if not isinstance(document, Mapping) or {"schemaName", *LISTS} & document.keys():
        return False
    return bool({"tableName", "tableType", "segmentsConfig", "ingestionConfig"} & document.keys())
