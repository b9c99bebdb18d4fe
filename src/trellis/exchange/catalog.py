"""All formats by name: those of this package, and those of dialects."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from trellis.dialects import registrations
from trellis.errors import UsageError, nearest
from trellis.exchange.formats.arrow import ARROW
from trellis.exchange.formats.avro import AVRO
from trellis.exchange.formats.dbml import DBML
from trellis.exchange.formats.dbt import DBT
from trellis.exchange.formats.document import JSON, YAML
from trellis.exchange.formats.iceberg import ICEBERG
from trellis.exchange.formats.json_schema import JSON_SCHEMA
from trellis.exchange.formats.mermaid import MERMAID
from trellis.exchange.formats.odcs import ODCS
from trellis.exchange.formats.spark import SPARK, SPARK_DDL
from trellis.exchange.formats.sql import SQL
from trellis.schema.documents.schema_format import SchemaFormat


@cache
def formats() -> Mapping[str, SchemaFormat]:
    general = (YAML, JSON, JSON_SCHEMA, SPARK, SPARK_DDL, AVRO, ARROW, ICEBERG, DBT, ODCS, MERMAID, DBML)
    of_dialects = (format_ for other in registrations().values() for format_ in other.schema_formats())
    return {format_.name: format_ for format_ in (*general, *SQL, *of_dialects)}


def format_of(name: str) -> SchemaFormat:
    """The format of that name. Raises UsageError."""
    known = formats()
    if name not in known:
        raise UsageError(f"there is no format {name!r}{nearest(name, known)}")
    return known[name]


def recognized_format(document: Any) -> SchemaFormat | None:
    """The format of a parsed document that can be read; None where none is known."""
    return next((format_ for format_ in formats().values() if format_.recognizes(document)), None)
