"""A proposed schema and table config, with a reason for every column."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from trellis.dialects.pinot.document.fields import FieldSpec, PinotSchema
from trellis.dialects.pinot.document.types import FieldType, PinotType
from trellis.dialects.pinot.document.writer import write_schema
from trellis.dialects.pinot.infer.roles import role_of_number
from trellis.dialects.pinot.table.config import pinot_table_name
from trellis.dialects.pinot.table.generated_config import required_config


@dataclass(frozen=True)
class ProposedColumn:
    """One column and its reason. `reads` is the function that computes it, unless a field has its name."""

    spec: FieldSpec
    why: str
    reads: str | None = None

    @property
    def type_name(self) -> str:
        """The type, with `[]` for several values.

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

    def to_dict(self) -> dict[str, str]:
        return {"column": self.column, "said": self.message}


@dataclass(frozen=True)
class Proposal:
    """A schema and a table config (as a JSON object), with the reasons. `rows`: how many were read."""

    schema: PinotSchema
    table: Mapping[str, Any]
    columns: tuple[ProposedColumn, ...]
    notes: tuple[Note, ...] = ()
    rows: int = 0

    @property
    def time_column(self) -> str | None:
        """The main time of the table."""
        name: str | None = self.table["segmentsConfig"].get("timeColumnName")
        return name

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
            "lints": [note.to_dict() for note in self.notes],
        }


@dataclass
class ProposalBuilder:
    """Collects columns: gives each a name that Pinot takes and a role, and chooses the main time."""

    columns: list[ProposedColumn] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    """The names of the columns by the paths of their values."""
    _lower_names: set[str] = field(default_factory=set)

    def add(self, spec: FieldSpec, why: str, role: tuple[FieldType, str] | None = None) -> None:
        """Add a column that is named by the path of its values. A number gets the `role`, with its reason, or
        else one by its name.
        """
        path, reads = spec.name, None
        if path in self.names:
            self.note(path, "another path has this name too: only the first is a column")
            return
        if spec.field_type is FieldType.DIMENSION and spec.single_value:
            role = role or (role_of_number(spec) if spec.data_type.numeric else None)
            if role is not None:
                spec, why = replace(spec, field_type=role[0]), f"{why}; {role[1]}"
        if spec.field_type is FieldType.DIMENSION and spec.data_type is PinotType.BIG_DECIMAL:
            spec, why = replace(spec, data_type=PinotType.STRING), f"{why}, as text"
        name = self._unused_name(path)
        if name != path:
            reads = quoted(path)
            message = "names hold no blanks and differ by more than case"
            self.note(path, f"the column is named {name}: {message}")
        self.names[path] = name
        self.columns.append(ProposedColumn(replace(spec, name=name), why, reads))

    def note(self, column: str, message: str) -> None:
        self.notes.append(Note(column, message))

    def build(
        self, schema: PinotSchema, time: str | None = None, ingestion: Mapping[str, Any] | None = None
    ) -> Proposal:
        """The proposal with the name, key and description of this schema, and the main time at this path."""
        name = pinot_table_name(schema.name or "")
        main = None if time is None else self.names[time]
        self.columns = [
            replace(column, why=f"{column.why}; main time") if column.spec.name == main else column
            for column in self.columns
        ]
        if main is None and self.columns:
            self.note(name, "no main time column")
        has_nulls = any(not column.spec.not_null for column in self.columns)
        specs = [
            column.spec if has_nulls else replace(column.spec, not_null=False) for column in self.columns
        ]
        return Proposal(
            replace(schema, name=name, column_nulls=has_nulls).with_fields(specs),
            table_document(name, main, self._transforms() | dict(ingestion or {})),
            tuple(replace(column, spec=spec) for column, spec in zip(self.columns, specs, strict=True)),
            tuple(self.notes),
        )

    def _transforms(self) -> dict[str, Any]:
        configs = [
            {"columnName": column.spec.name, "transformFunction": column.reads}
            for column in self.columns
            if column.reads is not None
        ]
        return {"transformConfigs": configs} if configs else {}

    def _unused_name(self, path: str) -> str:
        base = re.sub(r"\s", "_", path)
        name, number = base, 1
        while name.lower() in self._lower_names:
            number += 1
            name = f"{base}_{number}"
        self._lower_names.add(name.lower())
        return name


def table_document(name: str, time_column: str | None, ingestion: Mapping[str, Any]) -> dict[str, Any]:
    """The config of an OFFLINE table. Without a time new segments replace the old ones."""
    document = required_config(name, "OFFLINE", time_column)
    document["segmentsConfig"]["segmentPushType"] = "APPEND" if time_column else "REFRESH"
    document["tableIndexConfig"]["loadMode"] = "MMAP"
    return document | {"ingestionConfig": dict(ingestion)} if ingestion else document


def quoted(path: str) -> str:
    """A field name quoted for Pinot's functions.

    >>> quoted('a "b"')
    '"a ""b""\"'
    """
    return '"' + path.replace('"', '""') + '"'
