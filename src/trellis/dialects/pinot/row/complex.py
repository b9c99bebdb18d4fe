"""Nested values: flattened into columns, unnested into rows, renamed, or kept as JSON (section 5.4)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from trellis.dialects.pinot.row.marks import RowFault
from trellis.dialects.pinot.table.config import ComplexConfig
from trellis.dialects.pinot.value.json_write import json_of

Record = Mapping[str, Any]


class ComplexTypes:
    """Applies one `complexTypeConfig`. `needed` are the fields that columns and transforms name.

    >>> ComplexTypes(ComplexConfig(), ()).rows({"id": 1, "geo": {"lat": 1.5, "box": {"n":
    3}}})[0]["geo.box.n"] 3
    """

    def __init__(self, config: ComplexConfig, needed: Collection[str]) -> None:
        self.config = config
        self.needed = frozenset(needed)
        self._unnested = frozenset(config.unnest)

    def rows(self, record: Record) -> list[dict[str, Any]]:
        """The rows of one record, in order. Raises RowFault where a renamed field has the name of another."""
        made = dict(record)
        self._flatten(made)
        rows = [made]
        for field in self.config.unnest:
            rows = [inner for row in rows for inner in self._unnest(row, field)]
        for row in rows:
            self._lists_to_json(row)
        return [self._renamed(row) for row in rows] if self.config.rename else rows

    def _flatten(self, row: dict[str, Any]) -> None:
        """Add the leaves of maps under dotted names; the maps stay."""
        stack = list(row.items())
        while stack:
            name, value = stack.pop()
            if isinstance(value, Mapping):
                for key, inner in value.items():
                    full = f"{name}{self.config.delimiter}{key}"
                    row[full] = inner
                    stack.append((full, inner))

    def _unnest(self, row: dict[str, Any], field: str) -> list[dict[str, Any]]:
        found = row.get(field)
        if not isinstance(found, _LISTS) or not found:
            return [row]
        made = []
        for each in found:
            inner = dict(row)
            if isinstance(each, Mapping):
                if field not in self.needed:
                    del inner[field]
                fresh = {f"{field}{self.config.delimiter}{key}": value for key, value in each.items()}
                self._flatten(fresh)
                inner.update(fresh)
            else:
                inner[field] = each
            made.append(inner)
        return made

    def _lists_to_json(self, row: dict[str, Any]) -> None:
        if self.config.to_json == "NONE":
            return
        for name, value in row.items():
            if not isinstance(value, _LISTS) or name in self._unnested:
                continue
            if self.config.to_json == "ALL" or (value and isinstance(value[0], (Mapping, *_LISTS))):
                row[name] = json_of(value)

    def _renamed(self, row: dict[str, Any]) -> dict[str, Any]:
        made: dict[str, Any] = {}
        moved: list[tuple[str, str, Any]] = []
        for name, value in row.items():
            prefix = next((each for each in self.config.rename if name.startswith(each)), None)
            if prefix is None:
                made[name] = value
            else:
                moved.append((name, self.config.rename[prefix] + name[len(prefix) :], value))
        for name, to, value in moved:
            if not to or to in made:
                raise RowFault(
                    name, f"Name conflict after attempting to rename field {name} to {to or 'an empty name'}"
                )
            made[to] = value
        return made


_LISTS = (list, tuple)
