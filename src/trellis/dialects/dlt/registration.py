"""What the folder of this dialect brings, for the registry of dialects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from trellis.dialects.registration import Registration

if TYPE_CHECKING:
    from trellis.evolution.dialect import Dialect
    from trellis.schema.dict_form import Document
    from trellis.schema.documents.schema_format import SchemaFormat
    from trellis.schema.history import HistoryColumns


def _dialect() -> Dialect:
    from trellis.dialects.dlt.dialect import Dlt

    return Dlt()


def _convention_name(name: str) -> str:
    from trellis.dialects.dlt.naming import convention_name

    return convention_name(name)


def _upgrade_document(document: Document, engine: int) -> bool:
    from trellis.dialects.dlt.document_upgrade import upgrade_document

    return upgrade_document(document, engine)


def _history_columns() -> HistoryColumns:
    from trellis.dialects.dlt.system_tables import HISTORY

    return HISTORY


def _schema_formats() -> Sequence[SchemaFormat]:
    from trellis.exchange.formats.document import YAML

    return (replace(YAML, name="dlt", title="dlt", suffix=".dlt.yaml"),)


registration = Registration(
    dialect=_dialect,
    system_prefix="_dlt",
    option_example="max_nesting=2",
    history_columns=_history_columns,
    schema_formats=_schema_formats,
    convention_name=_convention_name,
    upgrade_document=_upgrade_document,
)
