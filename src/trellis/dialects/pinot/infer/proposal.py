"""A proposed schema: the documents, the names, and the reason for every column."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from trellis.dialects.pinot.document.fields import FieldSpec, PinotSchema
from trellis.dialects.pinot.document.types import FieldType, PinotType
from trellis.dialects.pinot.document.writer import write_schema
from trellis.dialects.pinot.table.config import name_of


@dataclass(frozen=True)
class Choices:
    """The choices of the user. `times` are columns with a format, or None; the first is the main time."""

    name: str = "records"
    dimensions: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    times: Mapping[str, str | None] = field(default_factory=dict)
    unnest: tuple[str, ...] = ()


@dataclass(frozen=True)
class ProposedColumn:
    """One column and its reason. `reads` is the function that computes it, unless a field has its name."""

    spec: FieldSpec
    why: str
    reads: str | None = None

    @property
    def type_said(self) -> str:
        """The type, with `[]` for several values.

        >>> from trellis.dialects.pinot.document.types import PinotType
        >>> ProposedColumn(FieldSpec("tags", PinotType.STRING, single_value=False), "").type_said
        'STRING[]'
        """
        return self.spec.data_type.value + ("" if self.spec.single_value else "[]")

    def to_dict(self) -> dict[str, Any]:
        document = {
            "column": self.spec.name,
            "type": self.type_said,
            "role": self.spec.field_type.value,
            "format": self.spec.format,
            "reads": self.reads,
            "why": self.why,
        }
        return {key: value for key, value in document.items() if value is not None}


@dataclass(frozen=True)
class Lint:
    """A warning; `column` may be one that is left out."""

    column: str
    message: str

    def to_dict(self) -> dict[str, str]:
        return {"column": self.column, "said": self.message}


@dataclass(frozen=True)
class Proposal:
    """A schema and a table config (as JSON objects), with the reasons."""

    schema: PinotSchema
    table: Mapping[str, Any]
    columns: tuple[ProposedColumn, ...]
    lints: tuple[Lint, ...]
    rows: int

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
            "lints": [lint.to_dict() for lint in self.lints],
        }


def map_column(name: str, value: PinotType, why: str, not_null: bool = False) -> ProposedColumn:
    """A MAP with values of one type."""
    role = FieldType.METRIC if value.numeric else FieldType.DIMENSION
    children = {"key": FieldSpec("key", PinotType.STRING), "value": FieldSpec("value", value, role)}
    spec = FieldSpec(name, PinotType.MAP, FieldType.COMPLEX, not_null=not_null, children=children)
    return ProposedColumn(spec, why)


def table_document(name: str, time_column: str | None, ingestion: Mapping[str, Any]) -> dict[str, Any]:
    """The config of an OFFLINE table. Without a time new segments replace the old ones."""
    segments: dict[str, Any] = {"timeColumnName": time_column} if time_column else {}
    segments |= {"replication": "1", "segmentPushType": "APPEND" if time_column else "REFRESH"}
    document: dict[str, Any] = {
        "tableName": name,
        "tableType": "OFFLINE",
        "segmentsConfig": segments,
        "tenants": {},
        "tableIndexConfig": {"loadMode": "MMAP"},
        "metadata": {},
    }
    return document | {"ingestionConfig": dict(ingestion)} if ingestion else document


def transforms(columns: Sequence[ProposedColumn]) -> list[dict[str, str]]:
    """The `transformConfigs` of the computed columns."""
    return [
        {"columnName": column.spec.name, "transformFunction": column.reads}
        for column in columns
        if column.reads is not None
    ]


def schema_of(name: str | None, specs: Iterable[FieldSpec], column_nulls: bool = False) -> PinotSchema:
    """The schema of these fields: each in the list of its role, in their order."""
    parts: dict[FieldType, list[FieldSpec]] = {}
    for spec in specs:
        parts.setdefault(spec.field_type, []).append(spec)
    return PinotSchema(
        name,
        tuple(parts.get(FieldType.DIMENSION, ())),
        tuple(parts.get(FieldType.METRIC, ())),
        tuple(parts.get(FieldType.DATE_TIME, ())),
        tuple(parts.get(FieldType.COMPLEX, ())),
        column_nulls=column_nulls,
    )


def table_name(text: str) -> str:
    """A table name that Pinot accepts.

    >>> table_name("my rides__2024_OFFLINE"), table_name("42")
    ('my_rides_2024', '42')
    """
    return re.sub(r"_{2,}", "_", re.sub(r"\W", "_", name_of(text))).strip("_") or "records"


class ColumnNames:
    """Unique column names without blanks that differ by more than case.

    >>> names = ColumnNames()
    >>> names.claim("id"), names.claim("ID"), names.claim("first name")
    ('id', 'ID_2', 'first_name')
    """

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def claim(self, path: str) -> str:
        base = "".join("_" if sign.isspace() else sign for sign in path) or "empty"
        name, number = base, 1
        while name.lower() in self._taken:
            number += 1
            name = f"{base}_{number}"
        self._taken.add(name.lower())
        return name


def quoted(path: str) -> str:
    """A field name quoted for Pinot's functions.

    >>> quoted('a "b"')
    '"a ""b""\"'
    """
    return '"' + path.replace('"', '""') + '"'
