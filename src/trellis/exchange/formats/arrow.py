"""Arrow: the schema of a table as a stream of Arrow IPC without rows."""

from __future__ import annotations

from typing import Final

import pyarrow as pa

from trellis.engine.arrow.types import arrow_type
from trellis.exchange.fields import only_table
from trellis.schema.documents.schema_format import SchemaFormat
from trellis.schema.model import Column, Schema
from trellis.schema.personal_data import comment_of


def write_arrow(schema: Schema) -> bytes:
    table = only_table(schema)
    fields = pa.schema([_field(column) for column in table.complete_columns], _comment(table.description))
    sink = pa.BufferOutputStream()
    pa.ipc.new_stream(sink, fields).close()
    content: bytes = sink.getvalue().to_pybytes()
    return content


def _field(column: Column) -> pa.Field:
    return pa.field(column.name, arrow_type(column), not column.required, _comment(comment_of(column)))


def _comment(description: str | None) -> dict[str, str] | None:
    return {"description": description} if description else None


ARROW: Final = SchemaFormat(
    "arrow",
    "Arrow",
    ".arrows",
    write_arrow,
    keeps=frozenset({"required", "description", "time zone", "nested types"}),
    sizes=frozenset({"double", "bigint", "timestamp", "time", "decimal", "wei"}),
    other_types={"json": "string", "wei": "decimal"},
    one_table=True,
)
