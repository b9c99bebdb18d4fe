"""Nested values: flattened, unnested into rows, renamed, or kept as JSON (`ComplexTypeTransformer`)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from operator import itemgetter
from typing import Any, Final

from trellis.dialects.pinot.expression.transforms import RowFault
from trellis.dialects.pinot.row.row import Row
from trellis.dialects.pinot.table.config import ComplexTypeConfig
from trellis.dialects.pinot.value.json_text import json_of
from trellis.dialects.pinot.value.source_kinds import CannotConvert

Record = Mapping[str, Any]


class ComplexTypes:
    """Applies one `complexTypeConfig`. `needed` are the fields that columns and expressions name.

    >>> rows = ComplexTypes(ComplexTypeConfig(), ()).rows({"id": 1, "geo": {"lat": 1.5, "box": {"n": 3}}})
    >>> rows[0].values["geo.box.n"], rows[0].values["geo.box"]
    (3, {'n': 3})
    """

    def __init__(self, config: ComplexTypeConfig, needed: Collection[str], zone: str = "UTC") -> None:
        self.config = config
        self.zone = zone
        self._unnested = frozenset(config.unnest)
        self._kept = {field for field in config.unnest if (self._new_name(field) or field) in needed}

    def rows(self, record: Record) -> list[Row]:
        """The rows of one record, in order. A field that cannot be renamed is a fault of its row.

        Raises RowFault for a list that cannot become JSON text.
        """
        kept = {field: record[field] for field in self._kept if field in record}
        flat = dict(record)
        self._flatten(flat)
        rows = [flat]
        for field in self.config.unnest:
            rows = [inner for row in rows for inner in self._unnest(row, field)]
        for row in rows:
            for field, value in kept.items():
                row.setdefault(field, value)
            self._lists_to_json(row)
        return [self._renamed(row) for row in rows] if self.config.rename else list(map(Row, rows))

    def _flatten(self, row: dict[str, Any]) -> None:
        """Add the leaves of maps under dotted names; the maps stay.

        Where a key that holds the delimiter collides with the name of a nested key, the nested one wins.
        """
        stack = _maps(row)
        while stack:
            name, value = stack.pop()
            flattened = {f"{name}{self.config.delimiter}{key}": inner for key, inner in value.items()}
            row.update(flattened)
            stack += _maps(flattened)

    def _unnest(self, row: dict[str, Any], field: str) -> list[dict[str, Any]]:
        elements = row.get(field)
        if not isinstance(elements, _LISTS) or not elements:
            return [row]
        others = {name: value for name, value in row.items() if name != field}
        rows = []
        for element in elements:
            if isinstance(element, Mapping):
                inner = {f"{field}{self.config.delimiter}{key}": value for key, value in element.items()}
                self._flatten(inner)
            else:
                inner = {field: element}
            rows.append({**others, **inner})
        return rows

    def _lists_to_json(self, row: dict[str, Any]) -> None:
        if self.config.to_json == "NONE":
            return
        for name, value in row.items():
            if isinstance(value, _LISTS) and name not in self._unnested and self.config.to_text(value):
                try:
                    row[name] = json_of(value, self.zone)
                except CannotConvert as error:
                    raise RowFault(name, str(error)) from None

    def _new_name(self, name: str) -> str | None:
        """The name after the first prefix that applies; None where none does."""
        for prefix, to in self.config.rename.items():
            if name.startswith(prefix):
                return to + name[len(prefix) :]
        return None

    def _renamed(self, row: dict[str, Any]) -> Row:
        renamed = Row({})
        moved: list[tuple[str, str]] = []
        for name, value in row.items():
            to = self._new_name(name)
            if to is None:
                renamed.values[name] = value
            else:
                moved.append((name, to))
        for name, to in sorted(moved):
            if to and renamed.values.get(to) is None:
                renamed.values[to] = row[name]
                continue
            conflict = f"Name conflict after attempting to rename field {name} to {to or 'an empty name'}"
            renamed.fault(name, row[name], conflict)
        return renamed


def _maps(row: Record) -> list[tuple[str, Record]]:
    """The maps of a row by name: the last ones are flattened first, so that others overwrite them."""
    return sorted((entry for entry in row.items() if isinstance(entry[1], Mapping)), key=itemgetter(0))


_LISTS: Final = (list, tuple)
