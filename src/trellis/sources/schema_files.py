"""Schema files of sources: given by path, or beside the module of the source."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from trellis.dialects.documents import from_json, from_yaml
from trellis.errors import SchemaError, UsageError
from trellis.schema.documents.document import PROCESSING
from trellis.schema.model import Extra, Schema, Table

ENDINGS = (".schema.yaml", ".schema.yml", ".schema.json")


def schema_beside(function: Callable[..., Any], name: str) -> Schema | None:
    """The schema in NAME.schema.yaml or NAME.schema.json beside the function's module; None without one."""
    try:
        module = inspect.getsourcefile(inspect.unwrap(function))
    except TypeError:
        return None
    for ending in ENDINGS if module else ():
        path = Path(str(module)).parent / f"{name}{ending}"
        if path.is_file():
            schema = schema_at(path)
            if schema.name != name:
                raise SchemaError(
                    f"{path}: the schema inside is called {schema.name!r}, but it lies beside the source"
                    f" {name!r}: write name: {name} into it, or rename the file"
                )
            return schema
    return None


def schema_at(path: Path) -> Schema:
    """The schema in a file, without the notes of processing."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as why:
        raise UsageError(f"{path}: the schema cannot be read: {why}") from why
    read = from_json if path.suffix == ".json" else from_yaml
    schema = read(text, str(path))
    return replace(schema, tables={name: _clean(table) for name, table in schema.tables.items()})


def _clean(table: Table) -> Table:
    columns = {name: replace(column, hints=_kept(column.hints)) for name, column in table.columns.items()}
    return replace(table, columns=columns, hints=_kept(table.hints))


def _kept(hints: Extra) -> Extra:
    return {key: value for key, value in hints.items() if key not in PROCESSING}
