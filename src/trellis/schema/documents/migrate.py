"""Bring a document of an older engine up to the current one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from trellis.errors import SchemaError
from trellis.schema.dict_form import Document, mappings, plain

ENGINE = 11
Upgrade = Callable[[Document, int], bool]
"""Writes a document of that engine, in place, as the current one writes it; whether it knows how."""


def no_upgrade(document: Document, engine: int) -> bool:
    return False


def migrate(document: Mapping[str, Any], where: str = "schema", upgrade: Upgrade = no_upgrade) -> Document:
    """A copy of the document, written as the current engine writes it.

    >>> migrate({"engine_version": 99, "name": "shop"})
    Traceback (most recent call last):
    ...
    trellis.errors.SchemaError: schema: no upgrade path from engine 99 to 11: a newer program wrote it
    """
    migrated: Document = plain(document)
    engine = migrated.get("engine_version", ENGINE)
    if type(engine) is not int or engine < 1:
        raise SchemaError(f"{where}: engine_version is a whole number from 1 to {ENGINE}, not {engine!r}")
    path = f"{where}: no upgrade path from engine {engine} to {ENGINE}"
    if engine > ENGINE:
        raise SchemaError(f"{path}: a newer program wrote it, upgrade Trellis")
    try:
        if engine < ENGINE and not upgrade(migrated, engine):
            raise SchemaError(f"{path}: no dialect that is installed knows it; install the one that wrote it")
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise SchemaError(f"{where}: not a valid document of engine {engine} ({error!r})") from error
    migrated["engine_version"] = ENGINE
    _drop_null_columns(migrated)
    return migrated


def _drop_null_columns(document: Document) -> None:
    """Remove columns that mean "only nulls so far": the current engine keeps none."""
    for table in mappings(document.get("tables")):
        columns = table.get("columns")
        if not isinstance(columns, dict):
            continue
        table["columns"] = {name: column for name, column in columns.items() if not _is_null_column(column)}
        for column in mappings(columns):
            hints = column.get("x-normalizer")
            if isinstance(hints, dict) and hints.pop("seen-null-first", None) and not hints:
                del column["x-normalizer"]


def _is_null_column(column: Any) -> bool:
    hints = column.get("x-normalizer") if isinstance(column, dict) and "data_type" not in column else None
    return isinstance(hints, dict) and bool(hints.get("seen-null-first"))
