"""Types of columns as Spark has them, and back. What Spark's types cannot say stands in the metadata."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from pyspark.sql import types as spark

from trellis.dialects.ytsaurus.errors import ErrorCode, YtError
from trellis.dialects.ytsaurus.schema.model import Column, TableSchema
from trellis.dialects.ytsaurus.types.document import parse_type, type_document
from trellis.dialects.ytsaurus.types.model import (
    ANY,
    YSON,
    Decimal,
    Dict,
    List,
    Member,
    Optional,
    Primitive,
    Struct,
    Tagged,
    Tuple,
    Type,
    Variant,
    is_nullable,
)
from trellis.dialects.ytsaurus.types.simple import simple_type
from trellis.dialects.ytsaurus.values.primitives import wire_kind
from trellis.dialects.ytsaurus.yson.parser import loads
from trellis.dialects.ytsaurus.yson.writer import dumps

TYPE_V3: Final = "type_v3"
"""The key of a field's metadata with the type of its column, in YSON."""
NESTED_OPTIONAL: Final = "_optional"
"""The one field of a value of an optional that is in another one."""
VARIANT: Final = "_v"
"""What the fields of a variant begin with."""
MAX_DECIMAL: Final = 38

_SPARK_TYPES: Final[Mapping[str, spark.DataType]] = {
    "int8": spark.ByteType(),
    "int16": spark.ShortType(),
    "int32": spark.IntegerType(),
    "int64": spark.LongType(),
    "uint8": spark.ShortType(),
    "uint16": spark.IntegerType(),
    "uint32": spark.LongType(),
    "uint64": spark.DecimalType(20, 0),
    "float": spark.FloatType(),
    "double": spark.DoubleType(),
    "bool": spark.BooleanType(),
    "utf8": spark.StringType(),
    "json": spark.StringType(),
    "date": spark.DateType(),
    "date32": spark.DateType(),
    "datetime": spark.TimestampType(),
    "datetime64": spark.TimestampType(),
    "timestamp": spark.TimestampType(),
    "timestamp64": spark.TimestampType(),
    "interval": spark.LongType(),
    "interval64": spark.LongType(),
    "null": spark.BooleanType(),
    "void": spark.BooleanType(),
}
"""Types that are not here are bytes."""
_TYPES: Final[Mapping[str, str]] = {
    "byte": "int8",
    "short": "int16",
    "integer": "int32",
    "long": "int64",
    "float": "float",
    "double": "double",
    "boolean": "bool",
    "string": "utf8",
    "binary": "string",
    "date": "date32",
    "timestamp": "timestamp64",
    "timestamp_ntz": "timestamp64",
    "void": "null",
}
_KINDS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("byte", "short", "integer", "long"), "int64"),
    **dict.fromkeys(("float", "double"), "double"),
    **dict.fromkeys(("timestamp", "timestamp_ntz"), "timestamp"),
    **{name: name for name in ("boolean", "string", "binary", "date")},
}
"""What types of Spark hold."""


@dataclass(frozen=True)
class TypeOptions:
    """`string_to_utf8`: strings are text in Spark, and text is strings."""

    string_to_utf8: bool = False
    null_type_allowed: bool = False
    """Whether columns of the type null have no type in Spark, either; else they are booleans."""
    parsing_type_v3: bool = True
    """Whether composite columns of tables have types of Spark; else they are read as any."""
    write_type_v3: bool = True
    """Whether composite columns of frames have types in tables; else they are written as any."""

    @classmethod
    def parse(cls, options: Mapping[str, Any]) -> TypeOptions:
        """Those among the options of a reader or writer."""
        return cls(
            parse_flag(options, "string_to_utf8"),
            parse_flag(options, "null_type_allowed"),
            parse_flag(options, "parsing_type_v3", True),
            parse_flag(options, "write_type_v3", True),
        )


def parse_flag(options: Mapping[str, Any], name: str, default: bool = False) -> bool:
    return str(options.get(name, default)).lower() == "true"


def is_composite(type: Type) -> bool:
    """Whether `type_v3` alone has the type: `type` is any."""
    return type != ANY and simple_type(type).name == "any"


def spark_schema(schema: TableSchema, options: TypeOptions) -> spark.StructType:
    """The declared columns of a table as fields."""
    return spark.StructType(
        [
            spark.StructField(
                column.name,
                spark_type(column.type, options),
                not column.required,
                {TYPE_V3: dumps(type_document(column.type)).decode()},
            )
            for column in schema.columns
        ]
    )


def table_schema(fields: spark.StructType, options: TypeOptions) -> TableSchema:
    """The columns of a table for the fields of a frame: the types that these were read from, or like them."""
    return TableSchema(tuple(Column(field.name, field_type(field, options)) for field in fields))


def spark_type(type: Type, options: TypeOptions) -> spark.DataType:
    match type:
        case Primitive("string") if options.string_to_utf8:
            return spark.StringType()
        case Primitive("null" | "void") if options.null_type_allowed:
            return spark.NullType()
        case Primitive(name):
            return _SPARK_TYPES.get(name, spark.BinaryType())
        case Decimal(precision, scale) if precision <= MAX_DECIMAL:
            return spark.DecimalType(precision, scale)
        case Optional(item) if item != YSON and is_nullable(item):
            return spark.StructType([spark.StructField(NESTED_OPTIONAL, spark_type(item, options))])
        case Optional(item) | Tagged(_, item):
            return spark_type(item, options)
        case List(item):
            return spark.ArrayType(spark_type(item, options), is_nullable(item))
        case Struct(members):
            return _struct([(member.name, member.type) for member in members], options)
        case Tuple(elements):
            return _struct([(f"_{index}", part) for index, part in enumerate(elements, 1)], options)
        case Variant():
            return spark.StructType(
                [
                    spark.StructField(name, spark_type(part, options))
                    for name, part in zip(variant_fields(type), type.types, strict=True)
                ]
            )
        case Dict(key, value):
            return spark.MapType(spark_type(key, options), spark_type(value, options), is_nullable(value))
    return spark.BinaryType()


def takes_values(type: Type, values: spark.DataType) -> bool:
    """Whether a column takes values of a type of Spark, some of which may still be beyond its range.

    As in YTsaurus no kind of value is converted into another: neither numbers into text, nor integers into
    doubles.
    """
    match type:
        case _ if isinstance(values, spark.NullType):
            return True
        case Tagged(_, item):
            return takes_values(item, values)
        case Optional(item) if item != YSON and is_nullable(item):
            return _takes_fields({NESTED_OPTIONAL: item}, values)
        case Optional(item):
            return takes_values(item, values)
        case Primitive(name):
            return kind_in_spark(values) in _taken_kinds(name)
        case Decimal(precision) if precision <= MAX_DECIMAL:
            return isinstance(values, spark.DecimalType)
        case List(item):
            return isinstance(values, spark.ArrayType) and takes_values(item, values.elementType)
        case Struct(members):
            return _takes_fields({member.name: member.type for member in members}, values)
        case Tuple(elements):
            return _takes_fields({f"_{index}": part for index, part in enumerate(elements, 1)}, values)
        case Variant():
            return _takes_fields(dict(zip(variant_fields(type), type.types, strict=True)), values)
        case Dict(key, value) if isinstance(values, spark.MapType):
            return takes_values(key, values.keyType) and takes_values(value, values.valueType)
    return isinstance(type, Decimal) and isinstance(values, spark.BinaryType)


def _takes_fields(parts: Mapping[str, Type], values: spark.DataType) -> bool:
    return (
        isinstance(values, spark.StructType)
        and parts.keys() == {*values.names}
        and all(takes_values(part, values[name].dataType) for name, part in parts.items())
    )


def kind_in_spark(values: spark.DataType) -> str | None:
    """The kind that values of a type of Spark have; `int64` is that of all integers."""
    is_integer = isinstance(values, spark.DecimalType) and values.scale == 0
    return "int64" if is_integer else _KINDS.get(values.typeName())


def _taken_kinds(name: str) -> tuple[str, ...]:
    """The kinds of values in Spark that may be those of a primitive type."""
    match name:
        case "yson":
            return ("binary",)
        case "null" | "void":
            return ("boolean",)
        case "date" | "date32":
            return ("date", "int64")
        case "timestamp" | "timestamp64":
            return ("timestamp", "int64")
        case "datetime" | "datetime64":
            return ("timestamp",)
    kind = wire_kind(name)
    return ("string", "binary") if kind == "string" else ("int64" if kind == "uint64" else kind,)


def variant_fields(type: Variant) -> list[str]:
    """The fields of a variant in Spark, of which one has a value: `_vname`, or `_v_1` for numbers."""
    return [
        f"{VARIANT}{item.name}" if isinstance(item, Member) else f"{VARIANT}_{index}"
        for index, item in enumerate(type.alternatives, 1)
    ]


def _struct(parts: list[tuple[str, Type]], options: TypeOptions) -> spark.StructType:
    return spark.StructType(
        [spark.StructField(name, spark_type(part, options), is_nullable(part)) for name, part in parts]
    )


def declared_type(field: spark.StructField, options: TypeOptions) -> Type | None:
    """The type that a field had in a table; None where it comes from none, or was cast."""
    document = (field.metadata or {}).get(TYPE_V3)
    type = None if document is None else parse_type(loads(document))
    fits = type is not None and _shape(spark_type(type, options)) == _shape(field.dataType)
    return type if fits else None


def field_type(field: spark.StructField, options: TypeOptions) -> Type:
    declared = declared_type(field, options)
    if declared is not None:
        return declared
    type = _derive(field.name, field.dataType, options)
    return type if is_nullable(type) else Optional(type)


def _shape(type: spark.DataType) -> str:
    """A type without what Spark says of nulls, which a plan may loosen."""
    return type.simpleString()


def _derive(place: str, type: spark.DataType, options: TypeOptions) -> Type:
    name = type.typeName()
    if isinstance(type, spark.StringType) and options.string_to_utf8:
        return Primitive("string")
    if isinstance(type, spark.DecimalType):
        return Decimal(type.precision, type.scale)
    if isinstance(type, spark.ArrayType):
        return List(_part(f"{place}[]", type.elementType, type.containsNull, options))
    if isinstance(type, spark.MapType):
        key = _derive(f"{place}.key", type.keyType, options)
        return Dict(key, _part(f"{place}.value", type.valueType, type.valueContainsNull, options))
    if isinstance(type, spark.StructType):
        return Struct(
            tuple(
                Member(field.name, _part(f"{place}.{field.name}", field.dataType, field.nullable, options))
                for field in type
            )
        )
    if name not in _TYPES:
        raise YtError(
            f"column {place}: no type of YTsaurus holds Spark's {type.simpleString()}; cast it",
            ErrorCode.INVALID_SCHEMA,
        )
    return Primitive(_TYPES[name])


def _part(place: str, type: spark.DataType, nullable: bool, options: TypeOptions) -> Type:
    part = _derive(place, type, options)
    return Optional(part) if nullable and not is_nullable(part) else part


def parse_hint(hint: Mapping[str, Any]) -> dict[str, Type]:
    """The types of a hint: by their names, as documents, or as types of Spark."""
    types: dict[str, Type] = {}
    for name, value in hint.items():
        if isinstance(value, spark.DataType):
            types[name] = Optional(_derive(name, value, TypeOptions()))
            continue
        type = ANY if value in ("any", "yson") else parse_type(value)
        types[name] = type if is_nullable(type) else Optional(type)
    return types
