"""A proposed schema and table config, with a reason for every column."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from trellis.dialects.pinot.document.fields import FieldSpec, PinotSchema
from trellis.dialects.pinot.document.writer import write_schema


@dataclass(frozen=True)
class ProposedColumn:
    """One column and its reason. `reads` is the function that computes it, unless a field has its name."""

    spec: FieldSpec
    why: str
    reads: str | None = None

    @property
    def type_name(self) -> str:
        """The type, with `[]` for several values.

        >>> from trellis.dialects.pinot.document.types import PinotType
        >>> ProposedColumn(FieldSpec("tags", PinotType.STRING, single_value=False), "").type_name
        'STRING[]'
        """
        return self.spec.data_type.value + ("" if self.spec.single_value else "[]")

    def to_dict(self) -> dict[str, Any]:
        document = {
            "column": self.spec.name,
            "type": self.type_name,
            "role": self.spec.field_type.value,
            "format": self.spec.format,
            "reads": self.reads,
            "why": self.why,
        }
        return {key: value for key, value in document.items() if value is not None}


@dataclass(frozen=True)
class Note:
    """What is uncertain; `column` may be one that is left out."""

    column: str
    message: str


@dataclass(frozen=True)
class Proposal:
    """A schema and a table config (as a JSON object), with the reasons. `rows`: how many were read."""

    schema: PinotSchema
    table: Mapping[str, Any]
    columns: tuple[ProposedColumn, ...]
    notes: tuple[Note, ...]
    rows: int

    @property
    def document(self) -> str:
        """The schema document for the controller."""
        return write_schema(self.schema)

    def to_dict(self) -> dict[str, Any]:
        return {
            "rows": self.rows,
            "schema": json.loads(self.document),
            "table": dict(self.table),
            "columns": [column.to_dict() for column in self.columns],
            "notes": [asdict(note) for note in self.notes],
        }
