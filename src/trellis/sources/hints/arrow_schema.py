"""Columns that an Arrow schema declares. Imported when one comes."""

from __future__ import annotations

import pyarrow as pa

from trellis.engine.arrow.nested_types import hint_of, kept_type
from trellis.engine.arrow.types import Unsupported, column_type, is_nested, value_type
from trellis.errors import SchemaError
from trellis.schema.model import NESTED_TYPE, Column


def columns_of_schema(schema: pa.Schema, resource: str) -> dict[str, Column]:
    """One column per field. Raises SchemaError for a type that is no data type, and a name that stands twice.

    Unlike rows with types, a schema says that a timestamp without a zone is to stay without one.
    """
    twice = sorted(name for name in set(schema.names) if schema.names.count(name) > 1)
    if twice:
        raise SchemaError(f"resource {resource}: columns= has two fields {twice[0]!r}; rename one")
    return {field.name: _column(field, resource) for field in schema}


def _column(field: pa.Field, resource: str) -> Column:
    try:
        arrow_type = column_type(field.type)
    except Unsupported:
        raise SchemaError(
            f"resource {resource}: columns= has {field.name} as {field.type}, which no data type takes; give"
            " it another type, or leave it out"
        ) from None
    if arrow_type is None:
        return Column(field.name, nullable=field.nullable)
    stored = value_type(field.type)
    column = Column(
        field.name,
        arrow_type.data_type,
        field.nullable,
        arrow_type.precision,
        arrow_type.scale,
        timezone=False if pa.types.is_timestamp(stored) and stored.tz is None else None,
    )
    if is_nested(field.type) and kept_type(field.type) is not None:
        return column.with_hints(**{NESTED_TYPE: hint_of(field.type)})
    return column
