"""Columns of Trellis, and those of Arrow, as fields of Pinot."""

from __future__ import annotations

import re
from typing import Final

from trellis.dialects.pinot.document.fields import FieldSpec
from trellis.dialects.pinot.document.types import FieldType, PinotType
from trellis.dialects.pinot.stored_schema import TIME_FORMATS, arrow_name, type_for
from trellis.schema.model import NESTED_TYPE, Column

_NESTED: Final = re.compile(
    r"(?:large_)?list<(?:\w+: )?(?P<element>\w+)>|map<string, (?P<value>\w+)(?: \('\w+'\))?>"
)
_PINOT_TYPES: Final = {
    arrow_name(data_type): data_type
    for data_type in PinotType
    if data_type not in (PinotType.BIG_DECIMAL, PinotType.JSON, PinotType.TIMESTAMP)
} | {"int8": PinotType.INT, "int16": PinotType.INT, "large_string": PinotType.STRING}


def field_of(column: Column) -> FieldSpec | None:
    """The field that holds every value of a column of Trellis; None where Pinot has no type.

    >>> field_of(Column("day", "date")).format
    'SIMPLE_DATE_FORMAT|yyyy-MM-dd'
    """
    nested = arrow_field(column.name, str(column.hint(NESTED_TYPE) or "").removeprefix("arrow:"))
    data_type = type_for(column) if nested is None else nested.data_type
    if data_type is None or column.data_type is None:
        return None
    time_format, granularity = TIME_FORMATS.get(column.data_type, (None, None))
    role = FieldType.DIMENSION if nested is None else nested.field_type
    return FieldSpec(
        column.name,
        data_type,
        FieldType.DATE_TIME if time_format else role,
        nested is None or nested.single_value,
        not_null=column.required,
        max_length=column.precision if column.data_type == "text" else None,
        format=time_format,
        granularity=granularity,
        children={} if nested is None else nested.children,
        description=column.description,
    )


def arrow_field(name: str, arrow_type: str) -> FieldSpec | None:
    """The field of a type of Arrow, by its name: of single values and of lists and maps of them; None for
    types that have no counterpart.

    >>> arrow_field("tags", "list<item: string>").single_value, arrow_field("m", "map<string, date32>")
    (False, None)
    """
    nested = _NESTED.fullmatch(arrow_type)
    data_type = _PINOT_TYPES.get(arrow_type if nested is None else nested["element"] or nested["value"])
    if data_type is None:
        return None
    if nested is None or nested["element"]:
        return FieldSpec(name, data_type, single_value=nested is None)
    role = FieldType.METRIC if data_type.numeric else FieldType.DIMENSION
    children = {"key": FieldSpec("key", PinotType.STRING), "value": FieldSpec("value", data_type, role)}
    return FieldSpec(name, PinotType.MAP, FieldType.COMPLEX, children=children)
