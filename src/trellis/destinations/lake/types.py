"""Types of tables in a lake, in the words of Spark SQL: from Arrow, to Arrow and from a column."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

import pyarrow as pa

from trellis.engine.arrow.nested_types import is_list, nested_type, parse_type
from trellis.schema.model import Column, DataType
from trellis.warehouses.warehouse import Warehouse

_ARROW: Final[Mapping[str, pa.DataType]] = {
    "STRING": pa.string(),
    "DOUBLE": pa.float64(),
    "FLOAT": pa.float32(),
    "BOOLEAN": pa.bool_(),
    "TINYINT": pa.int8(),
    "SMALLINT": pa.int16(),
    "INT": pa.int32(),
    "BIGINT": pa.int64(),
    "TIMESTAMP": pa.timestamp("us", "UTC"),
    "TIMESTAMP_NTZ": pa.timestamp("us"),
    "DATE": pa.date32(),
    "BINARY": pa.binary(),
}
_NAMES: Final = {type_: name for name, type_ in _ARROW.items()}
_INTEGERS = ("TINYINT", "SMALLINT", "INT", "BIGINT")
_DIGITS = {"TINYINT": 10, "SMALLINT": 10, "INT": 10, "BIGINT": 20}
"""The digits before the point of decimals that hold integers of a type, as Delta counts them."""
_DECIMAL = re.compile(r"DECIMAL\((\d+), ?(\d+)\)")


def arrow_type_of(name: str) -> pa.DataType | None:
    """The Arrow type of the values of a column; None for a type that no load writes.

    >>> arrow_type_of("DECIMAL(10,2)"), arrow_type_of("ARRAY<INT>"), arrow_type_of("VARIANT")
    (Decimal128Type(decimal128(10, 2)), ListType(list<element: int32>), None)
    """
    try:
        return parse_type(name, _scalar)
    except ValueError:
        return None


def _scalar(name: str) -> pa.DataType:
    if size := decimal_size(name):
        return pa.decimal128(*size)
    if name not in _ARROW:
        raise ValueError(name)
    return _ARROW[name]


def decimal_size(name: str) -> tuple[int, int] | None:
    """Precision and scale of a decimal; None for another type.

    >>> decimal_size("DECIMAL(10,2)"), decimal_size("BIGINT")
    ((10, 2), None)
    """
    digits = _DECIMAL.fullmatch(name)
    return (int(digits[1]), int(digits[2])) if digits else None


def missing_fields(stored: pa.DataType, grown: pa.DataType) -> Iterator[tuple[tuple[str, ...], str]]:
    """The fields that a stored type lacks, each with its path and the name of its type.

    >>> stored = pa.list_(pa.struct({"a": pa.int64()}))
    >>> list(missing_fields(stored, pa.list_(pa.struct({"a": pa.int64(), "b": pa.string()}))))
    [(('element', 'b'), 'STRING')]
    """
    if is_list(grown):
        inner = missing_fields(stored.value_type, grown.value_type)
        yield from ((("element", *path), type_) for path, type_ in inner)
    elif pa.types.is_struct(grown):
        for field in grown:
            at = stored.get_field_index(field.name)
            if at < 0:
                yield (field.name,), name_of(field.type)
            else:
                deeper = missing_fields(stored.field(at).type, field.type)
                yield from (((field.name, *path), type_) for path, type_ in deeper)


def declared_type(column: Column, warehouse: Warehouse, native: Mapping[DataType, str]) -> str:
    """The name of the type that a schema gives a column. Raises SchemaError where none is wide enough."""
    nested = nested_type(column)
    return warehouse.type_of(column, names=native).upper() if nested is None else name_of(nested)


def name_of(type_: pa.DataType) -> str:
    """The name of an Arrow type; Arrow's own one for a type that no load writes.

    >>> name_of(pa.timestamp("us", "UTC")), name_of(pa.list_(pa.decimal128(10, 2))), name_of(pa.uint8())
    ('TIMESTAMP', 'ARRAY<DECIMAL(10,2)>', 'uint8')
    """
    if is_list(type_):
        return f"ARRAY<{name_of(type_.value_type)}>"
    if pa.types.is_struct(type_):
        return f"STRUCT<{', '.join(f'{field.name}: {name_of(field.type)}' for field in type_)}>"
    if pa.types.is_decimal128(type_):
        return f"DECIMAL({type_.precision},{type_.scale})"
    if pa.types.is_large_string(type_) or pa.types.is_string_view(type_):
        return "STRING"
    if pa.types.is_large_binary(type_) or pa.types.is_binary_view(type_):
        return "BINARY"
    return _NAMES.get(type_, str(type_))


def widens_in_iceberg(before: str, after: str) -> bool:
    """Whether Iceberg promotes a type to another.

    >>> widens_in_iceberg("INT", "BIGINT"), widens_in_iceberg("DECIMAL(9,2)", "DECIMAL(12,2)")
    (True, True)
    >>> widens_in_iceberg("BIGINT", "DOUBLE"), widens_in_iceberg("DECIMAL(9,2)", "DECIMAL(12,4)")
    (False, False)
    """
    old, new = decimal_size(before), decimal_size(after)
    if old and new:
        return new[1] == old[1] and new[0] >= old[0]
    return (before, after) in (("INT", "BIGINT"), ("FLOAT", "DOUBLE"))


def widens_in_delta(before: str, after: str) -> bool:
    """Whether Delta widens a type to another in a table with type widening.

    >>> widens_in_delta("SMALLINT", "BIGINT"), widens_in_delta("BIGINT", "DECIMAL(38,9)")
    (True, True)
    >>> widens_in_delta("DECIMAL(9,2)", "DECIMAL(12,4)"), widens_in_delta("BIGINT", "DOUBLE")
    (True, False)
    """
    old, new = decimal_size(before), decimal_size(after)
    if new:
        digits, scale = (old[0] - old[1], old[1]) if old else (_DIGITS.get(before), 0)
        return digits is not None and new[0] - new[1] >= digits and new[1] >= scale
    if before in _INTEGERS and after in _INTEGERS:
        return _INTEGERS.index(before) < _INTEGERS.index(after)
    small = (*_INTEGERS[:3], "FLOAT")
    return (before in small and after == "DOUBLE") or (before, after) == ("DATE", "TIMESTAMP_NTZ")
