"""What the folder of this dialect brings, for the registry of dialects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from trellis.dialects.registration import ProposedSchema, Registration

if TYPE_CHECKING:
    import typer

    from trellis.evolution.dialect import Dialect
    from trellis.schema.documents.schema_format import SchemaFormat
    from trellis.schema.model import Schema


def _dialect() -> Dialect:
    from trellis.dialects.pinot.dialect import Pinot

    return Pinot()


def _add_commands(app: typer.Typer) -> None:
    from trellis.dialects.pinot.commands.app import pinot

    app.add_typer(pinot, name="pinot")


def _rides(rows: int, random: Random, columns: int) -> Iterator[bytes]:
    from trellis.dialects.pinot.sample_rides import rides

    return rides(rows, random, columns)


def _propose_schema(
    files: Sequence[str | Path], settings: Mapping[str, Any], known: tuple[Schema, str] | None
) -> ProposedSchema | None:
    if known is not None:
        return None
    from trellis.dialects.pinot.cluster.schema_inference import authored_for

    note = "there was no schema, so one was proposed from all records; `trellis pinot infer` explains it"
    return ProposedSchema(authored_for(files), note)


def _schema_formats() -> Sequence[SchemaFormat]:
    from trellis.dialects.pinot.exchange import PINOT

    return (PINOT,)


registration = Registration(
    dialect=_dialect,
    add_commands=_add_commands,
    schema_formats=_schema_formats,
    profiles={"rides": _rides},
    propose_schema=_propose_schema,
)
