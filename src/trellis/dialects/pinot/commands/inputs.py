"""The inputs of the commands of `trellis pinot`: documents, a controller."""

from __future__ import annotations

import base64
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from trellis.dialects.pinot.cluster.controller import Controller
from trellis.dialects.pinot.cluster.http import TOKEN, USER, Http
from trellis.dialects.pinot.document.fields import PinotSchema
from trellis.dialects.pinot.document.reader import parse, read_schema
from trellis.dialects.pinot.options import Options
from trellis.dialects.pinot.stored_schema import Authored
from trellis.dialects.pinot.table.config import TableConfig, refuse_schema, table_config
from trellis.errors import UsageError
from trellis.pipelines.config import read_text


def connection(url: str | None) -> Controller | None:
    """The controller of --controller, with the credentials of the environment. Raises UsageError."""
    if url is None:
        return None
    token, user = (os.environ.get(name) for name in (TOKEN, USER))
    if token:
        return Controller(Http.of(url, f"Bearer {token}"))
    basic = f"Basic {base64.b64encode(user.encode()).decode()}" if user else None
    return Controller(Http.of(url, basic))


def authored_files(schema: str | None, tables: Sequence[str]) -> Authored | None:
    """The documents of --schema and --table-config; None without them. Raises UsageError, SchemaError."""
    if schema is None:
        if tables:
            raise UsageError("--table-config requires --schema FILE")
        return None
    if len(tables) > 1:
        raise UsageError("--table-config: pass one: a delivery makes both halves of a table")
    table = table_config(table_document(tables[0]), tables[0]) if tables else TableConfig()
    return Authored(schema_document(schema), table, Options(view="nullable"))


def schema_document(file: str) -> PinotSchema:
    return read_schema(read_text(Path(file)), file)


def table_document(file: str) -> Mapping[str, Any]:
    """The object of a table config. Raises UsageError, SchemaError."""
    document = parse(read_text(Path(file)), file, "table config")
    refuse_schema(document, file)
    return document
