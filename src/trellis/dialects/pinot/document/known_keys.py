"""The keys that a schema document may have, for each of its objects."""

from __future__ import annotations

from typing import Final

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
SCHEMA_EXTENDED: Final = frozenset({"description", "tags"})

_COMMON: Final = frozenset(
    {
        "name",
        "dataType",
        "fieldType",
        "singleValueField",
        "notNull",
        "maxLength",
        "maxLengthExceedStrategy",
        "allowTrailingZeros",
        "defaultNullValue",
        "transformFunction",
        "virtualColumnProvider",
    }
)
FIELD: Final = {
    FieldType.DIMENSION: _COMMON,
    FieldType.METRIC: _COMMON,
    FieldType.DATE_TIME: _COMMON | {"format", "granularity", "sampleValue"},
    FieldType.COMPLEX: _COMMON | {"childFieldSpecs"},
}
FIELD_EXTENDED: Final = frozenset({"description", "tags", "fieldId", "aliases", "metadata"})

TIME: Final = frozenset(
    {
        "incomingGranularitySpec",
        "outgoingGranularitySpec",
        "fieldType",
        "singleValueField",
        "defaultNullValue",
        "transformFunction",
    }
)
GRANULE: Final = frozenset({"name", "dataType", "timeType", "timeUnitSize", "timeunitSize", "timeFormat"})
