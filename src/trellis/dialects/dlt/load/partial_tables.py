"""What a user asks of a table, as a partial table of the schema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from trellis.dialects.dlt.system_tables import HISTORY
from trellis.evolution.dialect.schemas import TableRequest
from trellis.schema.history import versioned
from trellis.schema.merge import merge_columns
from trellis.schema.model import NOTHING, Column, Schema, Table
from trellis.schema.naming import Naming


def root_table(schema: Schema, request: TableRequest, naming: Naming) -> Table:
    """All that the request says of its root table, under the table's normalized name."""
    name = naming.table(request.table)
    known = schema.tables.get(name)
    declared = request.declared or Table(name)
    columns = merge_columns(declared.columns, {c.name: c for c in request.columns})
    for hint, keys in (("primary_key", request.keys), ("merge_key", request.merge_keys)):
        columns = with_keys(columns, hint, keys)
    hints = {**declared.hints, **_hints(request)}
    if known is None:
        hints.setdefault("write_disposition", "append")
    if known is None or "resource" not in known.hints:
        hints.setdefault("resource", request.table)
    if request.max_nesting is not None:
        marks = (known.hints.get("x-normalizer") or {}) if known else {}
        hints["x-normalizer"] = {**marks, "max_nesting": request.max_nesting}
    partial = Table(name, columns, description=declared.description, hints=hints or NOTHING)
    return versioned(partial, HISTORY, known=known) if request.strategy == "scd2" else partial


def nested_tables(request: TableRequest, naming: Naming) -> Iterator[Table]:
    """The partial tables below it: nested, or root tables if they have a key of their own."""
    resource = (request.declared.hints.get("resource") if request.declared else None) or request.table
    root = naming.table(request.table)
    for path, table in request.nested:
        fragments = [naming.key(key) for key in path]
        name = naming.join(root, *fragments)
        if _has_own_key(table):
            hints = {"write_disposition": "append", **table.hints, "resource": resource}
            yield replace(table, name=name, parent=None, hints=hints)
        else:
            yield replace(table, name=name, parent=naming.join(root, *fragments[:-1]))


def with_keys(columns: Mapping[str, Column], hint: str, keys: Sequence[str]) -> dict[str, Column]:
    """The columns with a key of these; its columns may not be null unless they say so."""
    if not keys:
        return dict(columns)
    keyed = {
        name: column.with_hints(**{hint: False}) if column.hint(hint) and name not in keys else column
        for name, column in columns.items()
    }
    for key in keys:
        column = keyed.get(key, Column(key))
        keyed[key] = replace(
            column.with_hints(**{hint: True}), nullable=False if column.nullable is None else column.nullable
        )
    return keyed


def _hints(request: TableRequest) -> dict[str, Any]:
    hints = {
        "write_disposition": request.mode,
        "x-merge-strategy": request.strategy,
        "schema_contract": request.contract,
    }
    return {name: value for name, value in hints.items() if value is not None}


def _has_own_key(table: Table) -> bool:
    return any(c.hint("primary_key") or c.hint("merge_key") for c in table.columns.values())
