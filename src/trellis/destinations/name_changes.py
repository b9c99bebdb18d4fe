"""Alterations of a commit that concern names, where no statements make them in a transaction.

What an earlier try of the same change has done already is passed over.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from trellis.destinations.base import CatalogTable
from trellis.destinations.catalog import changed_catalog
from trellis.errors import SchemaError
from trellis.warehouses.alterations import Alteration


@dataclass
class NameChanges:
    """`tables` has the new names of tables, by those before; columns are by the names of tables after.

    `catalog` has the tables as they are then.
    """

    catalog: Mapping[str, CatalogTable]
    tables: dict[str, str] = field(default_factory=dict)
    dropped: list[str] = field(default_factory=list)
    renamed_columns: dict[str, dict[str, str]] = field(default_factory=dict)
    dropped_columns: dict[str, list[str]] = field(default_factory=dict)

    @staticmethod
    def of(alterations: Sequence[Alteration], catalog: Mapping[str, CatalogTable]) -> NameChanges:
        """Raises SchemaError for a new name that is taken.

        >>> orders = CatalogTable("orders", {"id": "BIGINT", "qty": "BIGINT", "note": "STRING"})
        >>> rename = Alteration("rename column", "orders", "qty", "n")
        >>> drop = Alteration("drop column", "orders", "note")
        >>> changes = NameChanges.of([rename, drop], {"orders": orders})
        >>> changes.catalog["orders"].columns, changes.stored_column("orders", "n")
        ({'id': 'BIGINT', 'n': 'BIGINT'}, 'qty')
        """
        changes = NameChanges(catalog)
        for alteration in alterations:
            changes._add(alteration)
        return changes

    def stored_table(self, table: str) -> str:
        """The name of a table before."""
        return _before(self.tables, table)

    def stored_column(self, table: str, column: str) -> str:
        """The name of a column before."""
        return _before(self.renamed_columns.get(table, {}), column)

    def _add(self, alteration: Alteration) -> None:
        name = alteration.table
        table = self.catalog.get(name)
        if table is None:
            return
        match alteration.kind:
            case "rename table":
                _refuse_taken(f"table {alteration.name}", alteration.name, self.catalog)
                renamed = {alteration.name: replace(table, name=alteration.name)}
                self.catalog = changed_catalog(self.catalog, (name,), renamed)
                self.tables[name] = alteration.name
            case "drop table":
                self.catalog = changed_catalog(self.catalog, (name,))
                self.dropped.append(name)
            case "rename column" if alteration.column in table.columns:
                place = f"table {name}, column {alteration.name}"
                _refuse_taken(place, alteration.name, table.columns)
                self.renamed_columns.setdefault(name, {})[alteration.column] = alteration.name
                names = {column: column for column in table.columns} | {alteration.column: alteration.name}
                self._change_columns(table, names)
            case "drop column" if alteration.column in table.columns:
                self.dropped_columns.setdefault(name, []).append(alteration.column)
                names = {column: column for column in table.columns if column != alteration.column}
                self._change_columns(table, names)
            case _:
                pass

    def _change_columns(self, table: CatalogTable, names: Mapping[str, str]) -> None:
        self.catalog = changed_catalog(self.catalog, changed={table.name: _with_columns(table, names)})


def _with_columns(table: CatalogTable, names: Mapping[str, str]) -> CatalogTable:
    """The table with these of its columns, which get other names."""
    required, comments = table.required, table.comments
    kept = {"": "", **names}
    return replace(
        table,
        columns={new: table.columns[old] for old, new in names.items()},
        types={new: table.types[old] for old, new in names.items() if old in table.types},
        required=None if required is None else [new for old, new in names.items() if old in required],
        comments=None if comments is None else {kept[c]: text for c, text in comments.items() if c in kept},
    )


def _refuse_taken(place: str, name: str, known: Mapping[str, object]) -> None:
    if name in known:
        raise SchemaError(f"{place}: there is one of that name already; choose another one")


def _before(names: Mapping[str, str], name: str) -> str:
    return next((old for old, new in names.items() if new == name), name)
