"""What is in a dataset, in a form in which two of them can be compared."""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dlt.common.normalizers.json.helpers import get_nested_row_hash

RANDOM_KEY = re.compile(r"[A-Za-z0-9+/]{14}").fullmatch
SYSTEM = ("_dlt_load_id", "_dlt_root_id", "_dlt_parent_id", "_dlt_list_idx", "_dlt_id")
VALIDITY = ("_dlt_valid_from", "_dlt_valid_to")

Ask = Callable[[str], Sequence[tuple[Any, ...]]]
"""Runs a query and gives its rows."""


@dataclass(frozen=True)
class Stored:
    """One table as it really is: its columns with their types, and its rows."""

    types: Mapping[str, str]
    rows: list[dict[str, Any]] = field(default_factory=list)


def document(text: str) -> dict[str, Any]:
    """A stored schema; long ones are stored compressed."""
    if not text.startswith("{"):
        text = zlib.decompress(base64.b64decode(text)).decode()
    schema_document: dict[str, Any] = json.loads(text)
    return schema_document


def newest(ask: Ask, dataset: str, name: str) -> dict[str, Any] | None:
    """The newest schema of that name."""
    quoted = name.replace("'", "''")
    rows = ask(
        f"SELECT schema FROM {dataset}._dlt_version WHERE schema_name = '{quoted}' "
        "ORDER BY inserted_at DESC, version DESC LIMIT 1"
    )
    return document(rows[0][0]) if rows else None


def tables_of(schema: Mapping[str, Any], mark: str) -> dict[str, Any]:
    """The tables of a schema whose names have the mark."""
    return {name: table for name, table in schema["tables"].items() if mark in name}


def plain(value: Any) -> Any:
    """A value of which equal ones look equal and different ones do not: 1, 1.0 and true are three."""
    if isinstance(value, float):
        return f"double {value!r}"
    if isinstance(value, bool) or value is None or isinstance(value, (int, str)):
        return value
    return f"{type(value).__name__} {value}"


class Trees:
    """Rows as trees, without what is random: what a reader sees who follows the links."""

    def __init__(
        self,
        tables: Mapping[str, Stored],
        parents: Mapping[str, str | None],
        loads: Mapping[str, int],
        hidden: frozenset[tuple[str, str]] = frozenset(),
    ) -> None:
        self.tables = tables
        self.parents = parents
        self.loads = loads
        self.hidden = hidden
        self.owners = {
            row["_dlt_id"]: name for name, table in tables.items() for row in table.rows if "_dlt_id" in row
        }
        self.children = {
            name: [child for child, parent in parents.items() if parent == name and child in tables]
            for name in tables
        }
        self.by_parent: dict[str, dict[Any, list[dict[str, Any]]]] = {}
        for name, stored in tables.items():
            if parents.get(name):
                children = self.by_parent.setdefault(name, {})
                for row in stored.rows:
                    children.setdefault(row.get("_dlt_parent_id"), []).append(row)

    def of(self, root: str) -> list[str]:
        """The trees of a root table, sorted, as text."""
        return sorted(repr(self._tree(root, row, None, row)) for row in self.tables[root].rows)

    def orphans(self) -> Iterator[tuple[str, Any]]:
        """Nested rows whose parents are not there."""
        for name, children in self.by_parent.items():
            parent = self.parents[name]
            known = (
                {row.get("_dlt_id") for row in self.tables[parent].rows} if parent in self.tables else set()
            )
            for key in children:
                if key not in known:
                    yield name, key

    def _tree(
        self, name: str, row: Mapping[str, Any], parent: Mapping[str, Any] | None, root: Mapping[str, Any]
    ) -> Any:
        values = {
            column: plain(value)
            for column, value in sorted(row.items())
            if column not in SYSTEM and (name, column) not in self.hidden
        }
        if "_dlt_load_id" in row:
            values["load"] = self.loads.get(row["_dlt_load_id"], row["_dlt_load_id"])
        values["id"] = self._id(name, row, parent)
        if parent is not None:
            values["place"] = row.get("_dlt_list_idx")
        if "_dlt_root_id" in row:
            key = row["_dlt_root_id"]
            values["root"] = "ok" if key == root.get("_dlt_id") else f"of {self.owners.get(key, 'no table')}"
        below = {}
        for child in self.children[name]:
            rows = self.by_parent.get(child, {}).get(row.get("_dlt_id"), [])
            if rows:
                placed = sorted(
                    rows, key=lambda child_row: (child_row.get("_dlt_list_idx") or 0, repr(child_row))
                )
                below[child] = [self._tree(child, child_row, row, root) for child_row in placed]
        return values, below

    def _id(self, name: str, row: Mapping[str, Any], parent: Mapping[str, Any] | None) -> Any:
        key = row.get("_dlt_id")
        list_idx = row.get("_dlt_list_idx") or 0
        if parent is not None and key == get_nested_row_hash(row["_dlt_parent_id"], name, list_idx):
            return "of its place"
        return "random" if isinstance(key, str) and RANDOM_KEY(key) else key
