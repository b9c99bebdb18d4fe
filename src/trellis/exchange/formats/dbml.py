"""DBML: tables and references for dbdiagram.io and dbdocs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from trellis.exchange.links import links_of
from trellis.exchange.type_names import sized_name
from trellis.schema.documents.schema_format import SchemaFormat
from trellis.schema.model import DATA_TYPES, Column, Schema
from trellis.schema.personal_data import comment_of


def write_dbml(schema: Schema) -> str:
    return "".join(f"{line}\n" for line in _lines(schema))


def _lines(schema: Schema) -> Iterator[str]:
    for table in schema.tables.values():
        keys = table.columns_with("primary_key")
        yield f"Table {_name(table.name)} {{"
        yield from (f"  {_column(column, keys)}" for column in table.complete_columns)
        if len(keys) > 1:
            yield f"  indexes {{\n    ({', '.join(map(_name, keys))}) [pk]\n  }}"
        if table.description:
            yield f"  Note: {_text(table.description)}"
        yield "}"
    for link in links_of(schema):
        if link.columns:
            columns, others = _names(link.columns), _names(link.referenced_columns)
            yield f"Ref: {_name(link.table)}.{columns} > {_name(link.referenced_table)}.{others}"


def _column(column: Column, keys: tuple[str, ...]) -> str:
    settings = ["pk"] if keys == (column.name,) else []
    settings += ["not null"] if column.required else []
    settings += ["unique"] if column.hint("unique") else []
    settings += [f"note: {_text(comment)}"] if (comment := comment_of(column)) else []
    text = f"{_name(column.name)} {sized_name(column)}"
    return f"{text} [{', '.join(settings)}]" if settings else text


def _names(columns: tuple[str, ...]) -> str:
    names = ", ".join(map(_name, columns))
    return names if len(columns) == 1 else f"({names})"


def _name(text: str) -> str:
    return '"' + text.replace('"', "'") + '"'


def _text(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'''{escaped}'''" if "\n" in text else f"'{escaped}'"


DBML: Final = SchemaFormat(
    "dbml",
    "DBML",
    ".dbml",
    write_dbml,
    keeps=frozenset({"required", "primary key", "unique", "description", "parent", "references"}),
    sizes=frozenset(DATA_TYPES),
)
