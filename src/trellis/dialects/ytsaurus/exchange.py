"""Tables of any schema as schemas of YTsaurus, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from trellis.dialects.ytsaurus.errors import YtError
from trellis.dialects.ytsaurus.schema.document import parse_schema, schema_document
from trellis.dialects.ytsaurus.schema.model import Column as YtColumn
from trellis.dialects.ytsaurus.schema.model import TableSchema
from trellis.dialects.ytsaurus.types.document import MAX_PRECISION
from trellis.dialects.ytsaurus.types.model import (
    SIGNED,
    Decimal,
    Dict,
    List,
    Member,
    Optional,
    Primitive,
    Struct,
    Type,
    is_comparable,
    without_tags,
)
from trellis.dialects.ytsaurus.yson.parser import loads
from trellis.dialects.ytsaurus.yson.values import YsonError
from trellis.dialects.ytsaurus.yson.writer import dumps
from trellis.errors import SchemaError
from trellis.exchange.fields import Field, ListOf, MapOf, Nested, StructOf, fields_of, only_table, tables_of
from trellis.schema.documents.schema_format import Loss, Reading, SchemaFormat
from trellis.schema.model import Column, DataType, Schema, Table, is_single, number_size

_DIGITS: Final = 38
"""Digits of a number that declares none."""
_TYPES: Final[Mapping[DataType, str]] = {
    "text": "utf8",
    "double": "double",
    "bool": "bool",
    "timestamp": "timestamp64",
    "date": "date32",
    "time": "utf8",
    "bigint": "int64",
    "binary": "string",
    "json": "json",
}


def _write(schema: Schema) -> str:
    table = only_table(schema)
    columns = [(field, _column(field)) for field in fields_of(table)]
    keys = [
        replace(column, sort_order="ascending")
        for field, column in columns
        if field.column.hint("primary_key") and is_comparable(column.type)
    ]
    names = {column.name for column in keys}
    others = [column for _, column in columns if column.name not in names]
    document = schema_document(TableSchema((*keys, *others), unique_keys=bool(keys)))
    return dumps(document, yson_format="pretty").decode() + "\n"


def _column(field: Field) -> YtColumn:
    return YtColumn(_column_name(field.name), _type(field))


def _column_name(name: str) -> str:
    """Names of system columns begin with a dollar sign or an at sign."""
    return name.lstrip("$@") or "_"


def _type(field: Field) -> Type:
    type_ = _nested_type(field.nested) if field.nested else _leaf_type(field.column)
    return type_ if field.required else Optional(type_)


def _nested_type(nested: Nested) -> Type:
    match nested:
        case ListOf(element):
            return List(_type(element))
        case MapOf(key, value):
            return Dict(_type(key), _type(value))
        case StructOf(fields):
            return Struct(tuple(Member(field.name, _type(field)) for field in fields))


def _leaf_type(column: Column) -> Type:
    match column.data_type:
        case "bigint":
            bits = column.precision or 64
            name = next((name for name, width in SIGNED.items() if bits <= width), None)
            return Primitive(name) if name else Decimal(_DIGITS, 0)
        case "double" if is_single(column):
            return Primitive("float")
        case "decimal" | "wei":
            default = (_DIGITS, 9 if column.data_type == "decimal" else 0)
            precision, scale = number_size(column, default)
            return Decimal(precision, scale) if precision <= MAX_PRECISION else Primitive("utf8")
        case None:
            raise SchemaError(f"column {column.name} has no type yet")
    return Primitive(_TYPES[column.data_type])


# ---- a schema of a table -> tables


_COLUMNS: Final[Mapping[str, Column]] = {
    **{name: Column("", "bigint", precision=bits if bits < 64 else None) for name, bits in SIGNED.items()},
    "uint8": Column("", "bigint", precision=16),
    "uint16": Column("", "bigint", precision=32),
    "uint32": Column("", "bigint"),
    "uint64": Column("", "decimal", precision=20, scale=0),
    "float": Column("", "double", precision=24),
    "double": Column("", "double"),
    "bool": Column("", "bool"),
    "string": Column("", "binary"),
    **dict.fromkeys(("utf8", "uuid"), Column("", "text")),
    **dict.fromkeys(("date", "date32"), Column("", "date")),
    **dict.fromkeys(("datetime", "datetime64"), Column("", "timestamp", precision=0)),
    **dict.fromkeys(("timestamp", "timestamp64"), Column("", "timestamp")),
    **dict.fromkeys(("interval", "interval64"), Column("", "bigint")),
}


def _parse(text: str, where: str) -> Any:
    try:
        return loads(text.encode())
    except YsonError as error:
        raise SchemaError(f"{where}: not valid YSON: {error}") from None


def _read(document: Any, name: str) -> Reading:
    try:
        schema = parse_schema(document)
    except YtError as error:
        raise SchemaError(f"{name}: {error}") from None
    contract = {"columns": "freeze" if schema.strict else "evolve", "data_type": "freeze"}
    table = Table(name).with_hints(schema_contract=contract)
    fields = [_field(column.name, column.type, is_key=column.is_key) for column in schema.columns]
    tables = {table.name: table.with_defaults() for table in tables_of(table, fields)}
    losses = [
        Loss(name, column.name, f"{what} {value}", "a column has none")
        for column in schema.columns
        for what, value in (("expression", column.expression), ("aggregate", column.aggregate))
        if value
    ]
    return Reading(Schema(name, tables), tuple(losses))


def _field(name: str, type_: Type, *, is_key: bool = False) -> Field:
    plain = without_tags(type_)
    nullable = isinstance(plain, Optional)
    inner = without_tags(plain.item) if isinstance(plain, Optional) else plain
    nested = _nested(inner)
    if isinstance(inner, Decimal):
        leaf = Column("", "decimal", precision=inner.precision, scale=inner.scale)
    else:
        leaf = _COLUMNS.get(str(inner), Column("", "json"))
    column = replace(Column("", "json") if nested else leaf, name=name, nullable=nullable)
    return Field(column.with_hints(primary_key=True) if is_key else column, nested)


def _nested(type_: Type) -> Nested | None:
    match type_:
        case List(item):
            return ListOf(_field("element", item))
        case Dict(key, value):
            return MapOf(_field("key", key), _field("value", value))
        case Struct(members):
            return StructOf(tuple(_field(member.name, member.type) for member in members))
    return None


YTSAURUS: Final = SchemaFormat(
    "ytsaurus",
    "YTsaurus",
    ".yson",
    _write,
    keeps=frozenset({"required", "primary key", "nested types"}),
    sizes=frozenset({"double", "bigint", "decimal", "wei"}),
    other_types={"time": "utf8", "wei": "decimal"},
    one_table=True,
    rename_column=_column_name,
    parse=_parse,
    read=_read,
)
