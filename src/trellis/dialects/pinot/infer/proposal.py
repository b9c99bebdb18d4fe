"""A schema that is proposed: the documents, and why every column is as it is."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from trellis.dialects.pinot.document.fields import FieldSpec, PinotSchema
from trellis.dialects.pinot.document.writer import write_schema


@dataclass(frozen=True)
class Asked:
    """What the user decides. `times` are columns with a format, or None; the first is the main time.

    `alone`: the schema has to do without a table config, so objects are not flattened.
    """

    name: str = "records"
    dimensions: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    times: Mapping[str, str | None] = field(default_factory=dict)
    unnest: tuple[str, ...] = ()
    alone: bool = False


@dataclass(frozen=True)
class Proposed:
    """One column and its reason. `reads` is the function that fills it, where no field has its name."""

    spec: FieldSpec
    why: str
    reads: str | None = None

    @property
    def type_said(self) -> str:
        """The type, with `[]` for several values.

        >>> from trellis.dialects.pinot.document.types import PinotType
        >>> Proposed(FieldSpec("tags", PinotType.STRING, single_value=False), "").type_said
        'STRING[]'
        """
        return self.spec.data_type.value + ("" if self.spec.single_value else "[]")

    def to_dict(self) -> dict[str, Any]:
        made = {
            "column": self.spec.name,
            "type": self.type_said,
            "role": self.spec.field_type.value,
            "format": self.spec.format,
            "reads": self.reads,
            "why": self.why,
        }
        return {key: value for key, value in made.items() if value is not None}


@dataclass(frozen=True)
class Lint:
    """What a person should look at; `column` may be one that is left out."""

    column: str
    said: str

    def to_dict(self) -> dict[str, str]:
        return {"column": self.column, "said": self.said}


@dataclass(frozen=True)
class Proposal:
    """A schema and a table config (as JSON objects), with the reasons."""

    schema: PinotSchema
    table: Mapping[str, Any]
    columns: tuple[Proposed, ...]
    lints: tuple[Lint, ...]
    rows: int

    @property
    def time_column(self) -> str | None:
        """The main time of the table."""
        found: str | None = self.table["segmentsConfig"].get("timeColumnName")
        return found

    @property
    def document(self) -> str:
        """The schema as the controller takes it."""
        return write_schema(self.schema)

    def to_dict(self) -> dict[str, Any]:
        return {
            "rows": self.rows,
            "schema": json.loads(self.document),
            "table": dict(self.table),
            "columns": [each.to_dict() for each in self.columns],
            "lints": [each.to_dict() for each in self.lints],
        }


def table_document(name: str, time_column: str | None, ingestion: Mapping[str, Any]) -> dict[str, Any]:
    """The config of an OFFLINE table. Without a time its segments replace those before them."""
    segments: dict[str, Any] = {"timeColumnName": time_column} if time_column else {}
    segments |= {"replication": "1", "segmentPushType": "APPEND" if time_column else "REFRESH"}
    made: dict[str, Any] = {
        "tableName": name,
        "tableType": "OFFLINE",
        "segmentsConfig": segments,
        "tenants": {},
        "tableIndexConfig": {"loadMode": "MMAP"},
        "metadata": {},
    }
    return made | {"ingestionConfig": dict(ingestion)} if ingestion else made


def transforms(columns: Sequence[Proposed]) -> list[dict[str, str]]:
    """The `transformConfigs` of the columns that no field fills."""
    return [
        {"columnName": each.spec.name, "transformFunction": each.reads}
        for each in columns
        if each.reads is not None
    ]
