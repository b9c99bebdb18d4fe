"""SQL: the statements that create the tables in each warehouse."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final

from trellis.dialects.documents import naming_of
from trellis.schema.documents.schema_format import Aspect, SchemaFormat
from trellis.schema.model import DATA_TYPES, Column, DataType, Schema
from trellis.warehouses.catalog import WAREHOUSES
from trellis.warehouses.schema_statements import schema_statements
from trellis.warehouses.warehouse import Warehouse


def _write(warehouse: Warehouse, schema: Schema) -> str:
    statements = schema_statements(
        warehouse,
        schema.name,
        Schema(schema.name),
        schema,
        case_sensitive=naming_of(schema).case_sensitive,
    )
    return "".join(f"{statement};\n" for statement in statements)


def _format(warehouse: Warehouse) -> SchemaFormat:
    native_names = {data_type: warehouse.type_of(Column("", data_type)) for data_type in DATA_TYPES}
    return SchemaFormat(
        f"sql:{warehouse.name}",
        f"SQL for {warehouse.title}",
        ".sql",
        partial(_write, warehouse),
        keeps=frozenset(_aspects(warehouse)),
        sizes=frozenset(data_type for data_type in DATA_TYPES if _has_sizes(warehouse, data_type)),
        other_types={
            data_type: name
            for data_type, name in native_names.items()
            if warehouse.data_type(name) != data_type
        },
    )


def _aspects(warehouse: Warehouse) -> Iterator[Aspect]:
    parts = {clause.part for clause in warehouse.syntax.clauses}
    if warehouse.not_null != "never":
        yield "required"
    if any(hint == "unique" for hint, _ in warehouse.syntax.constraints):
        yield "unique"
    if "partition" in parts:
        yield "partition"
    if parts & {"cluster", "sort"}:
        yield "layout"
    if _differs(warehouse, Column("", "timestamp", timezone=False)):
        yield "time zone"


def _differs(warehouse: Warehouse, column: Column) -> bool:
    assert column.data_type is not None
    return warehouse.type_of(column) != warehouse.type_of(Column("", column.data_type))


def _has_sizes(warehouse: Warehouse, data_type: DataType) -> bool:
    """Whether a small size gives another type than none does."""
    precision = 24 if data_type == "double" else 3
    return _differs(warehouse, Column("", data_type, precision=precision))


SQL: Final[tuple[SchemaFormat, ...]] = tuple(
    _format(warehouse) for warehouse in WAREHOUSES.values() if warehouse.syntax.create_schema
)
"""Files take no statements."""
