"""What the folder of this dialect brings, for the registry of dialects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trellis.dialects.registration import BroughtDestination, ProposedSchema, Registration

if TYPE_CHECKING:
    import typer

    from trellis.evolution.dialect import Dialect
    from trellis.schema.documents.schema_format import SchemaFormat
    from trellis.schema.model import Schema


def _dialect() -> Dialect:
    from trellis.dialects.ytsaurus.dialect import YTsaurus

    return YTsaurus()


def _add_commands(app: typer.Typer) -> None:
    from trellis.dialects.ytsaurus.commands.jobs import add_job_commands
    from trellis.dialects.ytsaurus.commands.table import tables

    add_job_commands(tables)
    app.add_typer(tables, name="table")


def _error_form(error: Exception, document: Mapping[str, Any]) -> Mapping[str, Any]:
    from trellis.dialects.ytsaurus.errors import error_document

    return error_document(error, document)


def _schema_formats() -> Sequence[SchemaFormat]:
    from trellis.dialects.ytsaurus.exchange import YTSAURUS

    return (YTSAURUS,)


def _open(url: str) -> object:
    from trellis.dialects.ytsaurus.destination.destination import open_yt

    return open_yt(url)


def _propose_schema(
    files: Sequence[str | Path], settings: Mapping[str, Any], known: tuple[Schema, str] | None
) -> ProposedSchema | None:
    from trellis.dialects.ytsaurus.destination.proposal import propose_schema

    return propose_schema(files, settings, known)


registration = Registration(
    dialect=_dialect,
    add_commands=_add_commands,
    error_forms={"table": _error_form},
    schema_formats=_schema_formats,
    propose_schema=_propose_schema,
    destinations={"yt": BroughtDestination(_open, "yt:FOLDER")},
)
"""The YTsaurus dialect: tables with schemas, and their operations."""
