"""Mermaid: an entity-relationship diagram."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from trellis.exchange.links import links_of
from trellis.schema.documents.schema_format import SchemaFormat
from trellis.schema.model import Column, Schema
from trellis.schema.personal_data import comment_of


def mermaid_name(name: str) -> str:
    """A name of an attribute as Mermaid allows it.

    >>> mermaid_name("unit price"), mermaid_name("_id")
    ('unit_price', '_id')
    """
    plain = re.sub(r"[^A-Za-z0-9_-]", "_", name)
    return f"_{plain}" if not plain or plain[0].isdigit() or plain[0] == "-" else plain


def write_mermaid(schema: Schema) -> str:
    return "".join(f"{line}\n" for line in _lines(schema))


def _lines(schema: Schema) -> Iterator[str]:
    yield "erDiagram"
    links = links_of(schema)
    for table in schema.tables.values():
        linked = {name for link in links if link.table == table.name for name in link.columns}
        yield f"    {_quoted(table.name)} {{"
        yield from (
            f"        {_attribute(column, column.name in linked)}" for column in table.complete_columns
        )
        yield "    }"
    for link in links:
        label = ", ".join(link.columns) or "contains"
        yield f"    {_quoted(link.referenced_table)} ||--o{{ {_quoted(link.table)} : {_quoted(label)}"


def _attribute(column: Column, is_link: bool) -> str:
    keys = [
        key
        for key, is_one in (
            ("PK", column.hint("primary_key")),
            ("FK", is_link),
            ("UK", column.hint("unique")),
        )
        if is_one
    ]
    text = f"{column.data_type} {mermaid_name(column.name)}{' ' if keys else ''}{', '.join(keys)}"
    comment = "; ".join(filter(None, ("required" if column.required else "", comment_of(column))))
    return f"{text} {_quoted(comment)}" if comment else text


def _quoted(text: str) -> str:
    return '"' + " ".join(text.replace('"', "'").split()) + '"'


MERMAID: Final = SchemaFormat(
    "mermaid",
    "Mermaid",
    ".mmd",
    write_mermaid,
    keeps=frozenset({"required", "primary key", "unique", "parent", "references"}),
    rename_column=mermaid_name,
)
