"""Columns of Arrow as fields of Pinot."""

from __future__ import annotations

import re
from typing import Final

from trellis.dialects.pinot.document.fields import FieldSpec
from trellis.dialects.pinot.document.types import FieldType, PinotType
from trellis.dialects.pinot.stored_schema import arrow_name

_NESTED: Final = re.compile(
    r"(?:large_)?list<(?:\w+: )?(?P<element>\w+)>|map<string, (?P<value>\w+)(?: \('\w+'\))?>"
)
_PINOT_TYPES: Final = {
    arrow_name(data_type): data_type
    for data_type in PinotType
    if data_type not in (PinotType.BIG_DECIMAL, PinotType.JSON, PinotType.TIMESTAMP)
} | {"int8": PinotType.INT, "int16": PinotType.INT, "large_string": PinotType.STRING}


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
