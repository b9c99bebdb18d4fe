"""The authored Pinot schema inside the stored schema, and the tables that follow from it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Final

import orjson

from trellis.dialects.pinot.document.fields import FieldSpec, PinotSchema
from trellis.dialects.pinot.document.reader import read_schema
from trellis.dialects.pinot.document.types import PinotType
from trellis.dialects.pinot.document.writer import write_schema
from trellis.dialects.pinot.options import Options
from trellis.dialects.pinot.table.config import TableConfig, table_config
from trellis.evolution.dialect.own_metadata import own_tables
from trellis.schema.model import NESTED_TYPE, Column, DataType, Schema, Table, is_single
from trellis.schema.system import OURS

PREFIX: Final = OURS
METADATA: Final = own_tables(f"{OURS}_pinot")
AUTHORED: Final = "x-pinot"
"""The key of the schema document that holds the authored schema, the table config and the options."""


@dataclass(frozen=True)
class Authored:
    """The documents of the user: a schema, perhaps a table config, and options."""

    schema: PinotSchema | None = None
    table: TableConfig = field(default_factory=TableConfig)
    options: Options = field(default_factory=Options)

    def to_document(self) -> dict[str, Any]:
        document: dict[str, Any] = {"options": self.options.to_document()}
        if self.schema is not None:
            document["schema"] = orjson.loads(write_schema(self.schema, pretty=False))
        if self.table.document:
            document["table"] = orjson.loads(orjson.dumps(self.table.document, default=dict))
        return document


def authored_of(schema: Schema) -> Authored:
    """The authored documents inside a stored schema."""
    return _authored(orjson.dumps(schema.extra.get(AUTHORED) or {}, default=dict))


@lru_cache(maxsize=64)
def _authored(document: bytes) -> Authored:
    stored = orjson.loads(document)
    options = Options().over(stored.get("options") or {})
    schema = read_schema(stored["schema"]) if "schema" in stored else None
    return Authored(schema, table_config(stored.get("table")), options)


def with_authored(schema: Schema, authored: Authored) -> Schema:
    """The stored schema with these documents, and with the table that follows from them."""
    extra = {**schema.extra, AUTHORED: authored.to_document()}
    kept = replace(schema, extra=extra)
    if authored.schema is None:
        return kept
    name = table_name(authored.schema)
    old = schema.tables.get(name) or Table(name).with_hints(write_disposition="append", resource=name)
    columns = {spec.name: column_of(spec) for spec in columns_of(authored.schema)}
    return kept.with_tables(replace(old, columns=columns, description=authored.schema.description))


def columns_of(schema: PinotSchema) -> list[FieldSpec]:
    """The columns that are stored, in the order of the document."""
    return [spec for spec in schema.specs() if not spec.virtual]


def table_name(schema: PinotSchema) -> str:
    return schema.name or ""


def pinot_column_name(name: str) -> str:
    """The name of a column in Pinot: those that it computes begin with a dollar sign."""
    return re.sub(r"\s", "_", name).lstrip("$") or "_"


def column_of(spec: FieldSpec) -> Column:
    """The column as a table holds it. Decimals of any scale and JSON are text; lists and maps are nested."""
    name = nested_name(spec)
    if name is not None:
        return Column(spec.name, "json", nullable=True).with_hints(**{NESTED_TYPE: f"arrow:{name}"})
    data_type, precision, _ = _STORAGE.get(spec.data_type, ("json", None, ""))
    return Column(spec.name, data_type, nullable=True, precision=precision)


def type_for(column: Column) -> PinotType | None:
    """The type that holds every value of a column of Trellis; None where Pinot has none.

    >>> type_for(Column("n", "bigint", precision=32)), type_for(Column("day", "date"))
    (<PinotType.INT: 'INT'>, <PinotType.STRING: 'STRING'>)
    """
    if column.data_type == "double" and is_single(column):
        return PinotType.FLOAT
    if column.data_type == "bigint" and column.precision is not None and not 32 < column.precision <= 64:
        return PinotType.INT if column.precision <= 32 else PinotType.BIG_DECIMAL
    return None if column.data_type is None else _PINOT_TYPES.get(column.data_type)


def nested_name(spec: FieldSpec) -> str | None:
    """The nested type of a column with several values, or of a map; None for others."""
    if spec.data_type is PinotType.MAP:
        child = spec.children.get("value")
        inner = None if child is None else arrow_name(child.data_type)
        return None if inner is None else f"map<string, {inner}>"
    inner = arrow_name(spec.data_type)
    return None if spec.single_value or inner is None else f"list<{inner}>"


def arrow_name(data_type: PinotType) -> str | None:
    """The type of Arrow for single values; None for maps, lists and structs."""
    return _STORAGE[data_type][2] if data_type in _STORAGE else None


_STORAGE: Final[Mapping[PinotType, tuple[DataType, int | None, str]]] = {
    PinotType.INT: ("bigint", 32, "int32"),
    PinotType.LONG: ("bigint", None, "int64"),
    PinotType.FLOAT: ("double", 24, "float"),
    PinotType.DOUBLE: ("double", None, "double"),
    PinotType.BIG_DECIMAL: ("text", None, "string"),
    PinotType.BOOLEAN: ("bool", None, "bool"),
    PinotType.TIMESTAMP: ("timestamp", 3, "timestamp[ms, UTC]"),
    PinotType.STRING: ("text", None, "string"),
    PinotType.JSON: ("text", None, "string"),
    PinotType.BYTES: ("binary", None, "binary"),
}
"""Type and precision of a column of single values, and the type of Arrow that lists and maps hold."""
_PINOT_TYPES: Final[Mapping[DataType, PinotType]] = {
    "text": PinotType.STRING,
    "double": PinotType.DOUBLE,
    "bool": PinotType.BOOLEAN,
    "timestamp": PinotType.TIMESTAMP,
    "date": PinotType.STRING,
    "time": PinotType.STRING,
    "bigint": PinotType.LONG,
    "binary": PinotType.BYTES,
    "json": PinotType.JSON,
    "decimal": PinotType.BIG_DECIMAL,
    "wei": PinotType.BIG_DECIMAL,
}
TIME_FORMATS: Final[Mapping[DataType, tuple[str, str]]] = {
    "timestamp": ("TIMESTAMP", "1:MILLISECONDS"),
    "date": ("SIMPLE_DATE_FORMAT|yyyy-MM-dd", "1:DAYS"),
}
"""Format and granularity of columns of times."""
