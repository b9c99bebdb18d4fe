"""Tables of any schema as schemas of Pinot, and back."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from trellis.dialects.pinot.document.fields import FieldSpec, PinotSchema
from trellis.dialects.pinot.document.reader import read_schema
from trellis.dialects.pinot.document.types import FieldType, PinotType
from trellis.dialects.pinot.document.writer import write_schema
from trellis.dialects.pinot.infer.fields import arrow_field
from trellis.dialects.pinot.stored_schema import (
    TIME_FORMATS,
    column_of,
    columns_of,
    pinot_column_name,
    type_for,
)
from trellis.dialects.pinot.table.config import pinot_table_name
from trellis.errors import SchemaError
from trellis.schema.documents.schema_format import Loss, Reading, SchemaFormat
from trellis.schema.model import NESTED_TYPE, Column, Schema, Table


def _write(schema: Schema) -> str:
    (table,) = schema.tables.values()
    document = PinotSchema(
        pinot_table_name(table.name),
        primary_key=tuple(map(pinot_column_name, table.columns_with("primary_key"))),
        column_nulls=True,
        description=table.description,
    )
    return write_schema(document.with_fields(map(_field, table.complete_columns))) + "\n"


def _field(column: Column) -> FieldSpec:
    """The field that holds every value of a column.

    >>> _field(Column("day", "date")).format
    'SIMPLE_DATE_FORMAT|yyyy-MM-dd'
    """
    name = pinot_column_name(column.name)
    nested = arrow_field(name, str(column.hint(NESTED_TYPE) or "").removeprefix("arrow:"))
    data_type = type_for(column) if nested is None else nested.data_type
    if data_type is None or column.data_type is None:
        raise SchemaError(f"column {column.name} has no type yet")
    time_format, granularity = TIME_FORMATS.get(column.data_type, (None, None))
    role = FieldType.DIMENSION if nested is None else nested.field_type
    return FieldSpec(
        name,
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


def _read(document: Any, name: str) -> Reading:
    read = read_schema(json.dumps(document), name)
    if not read.name:
        raise SchemaError(f"{name}: schemaName is missing; it is the name of the table")
    columns = {spec.name: _column(read, spec) for spec in columns_of(read)}
    table = Table(read.name, columns, description=read.description).with_defaults()
    return Reading(Schema(name, {table.name: table}), tuple(_losses(read)))


def _column(schema: PinotSchema, spec: FieldSpec) -> Column:
    """The column as other programs have it, whatever its rows say for null."""
    is_key = spec.name in schema.primary_key
    column = replace(column_of(spec), nullable=not (spec.not_null or is_key), description=spec.description)
    if spec.single_value and spec.data_type is PinotType.JSON:
        column = replace(column, data_type="json")
    if column.data_type == "text":
        column = replace(column, precision=spec.max_length)
    return column.with_hints(primary_key=True) if is_key else column


def _losses(schema: PinotSchema) -> Iterator[Loss]:
    for spec in columns_of(schema):
        place = (schema.name or "", spec.name)
        if spec.transform:
            yield Loss(*place, f"transformFunction {spec.transform}", "a column has no expression")
        if spec.default is not None:
            yield Loss(*place, "defaultNullValue", "a column has no default")
        if spec.field_type is FieldType.METRIC:
            yield Loss(*place, "that it is a metric", "a column has no role")


PINOT: Final = SchemaFormat(
    "pinot",
    "Pinot",
    ".pinot.json",
    _write,
    keeps=frozenset({"required", "primary key", "description"}),
    sizes=frozenset({"text", "double"}),
    other_types={
        "timestamp": "milliseconds",
        **dict.fromkeys(("date", "time"), "STRING"),
        **dict.fromkeys(("decimal", "wei"), "BIG_DECIMAL"),
    },
    one_table=True,
    rename_table=pinot_table_name,
    rename_column=pinot_column_name,
    read=_read,
    recognizes=lambda document: isinstance(document, dict) and "schemaName" in document,
)
