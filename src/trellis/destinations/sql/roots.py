"""Which rows of a root table a merge deletes, ends and inserts, as SQL.

Users name their columns as they like, so every name that a query adds begins with the prefix in `MergeNames`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from trellis.destinations.sql.names import RowAliases, quoted
from trellis.destinations.sql.versions import VersionColumns
from trellis.errors import SchemaError
from trellis.evolution.table_writes import Strategy, TableTreeWrite
from trellis.schema.model import Column, Table

_HINTS: Mapping[Strategy, tuple[str, ...]] = {
    "delete-insert": ("primary_key", "merge_key", "dedup_sort", "hard_delete"),
    "upsert": ("primary_key", "hard_delete"),
    "insert-only": ("primary_key", "hard_delete"),
    "scd2": ("merge_key",),
}
"""The hints that a strategy looks at."""


@dataclass(frozen=True)
class MergeNames(RowAliases):
    """The names of temporary tables and aliases, the position of a row and the types of columns.

    Every name that a statement adds begins with `prefix`, and no column of its tables does; `temp` is
    the qualifier of temporary tables. `place` is an expression over a row called `staged_row`.
    """

    prefix: str
    type_of: Callable[[Column], str]
    temp: str = "temp.main."
    place: str = "row_number() OVER ()"

    @property
    def rows_to_delete(self) -> str:
        """The temporary table of the ids of root rows to delete."""
        return f"{self.temp}{self.prefix}rows_to_delete"

    @property
    def rows_to_insert(self) -> str:
        """The temporary table of the ids and positions of root rows to insert."""
        return f"{self.temp}{self.prefix}rows_to_insert"


@dataclass(frozen=True)
class RootStatements:
    """A root table as SQL relations: the current rows and the staged ones; `row_id` is a column of both.

    NULL in a key or a version is equal to nothing. `has_unique_keys`: no two staged rows are known to have
    one primary key.
    """

    table: Table
    load: TableTreeWrite
    row_id: str
    current: str
    staged: str
    names: MergeNames
    has_unique_keys: bool = False

    @property
    def versions(self) -> VersionColumns | None:
        return (
            VersionColumns(self.table, self.load.history, self.names.type_of) if self.load.history else None
        )

    def check(self) -> None:
        """Raises SchemaError where the hints of the table do not suit a merge."""
        name, strategy = self.table.name, self.load.strategy
        if strategy in ("upsert", "insert-only") and not self._columns("primary_key"):
            raise SchemaError(f"table {name}: {strategy} needs a primary key; name one with --key COLUMN")
        for hint in ("dedup_sort", "hard_delete"):
            marked = self.table.columns_with(hint)
            if len(marked) > 1:
                raise SchemaError(
                    f"table {name}: columns {' and '.join(marked)} are all marked {hint}; only one may be"
                )
        if self.versions:
            self.versions.check()

    def rows_to_delete(self) -> str:
        """A query of the ids of current rows that the load deletes or replaces."""
        q, current = self.names.prefix, self.names.current_row
        conditions = [self._staged_like(hint, columns_of(current)) for hint in self._keys]
        rows = f"SELECT {current}.{quoted(self.row_id)} AS {q}id FROM {self.current} AS {current}"
        return " UNION ".join(f"{rows} WHERE {where}" for where in conditions or ["FALSE"])

    def staged_ids(self) -> str:
        """A query of the ids of the staged rows."""
        q, staged = self.names.prefix, self.names.staged_row
        return f"SELECT {staged}.{quoted(self.row_id)} AS {q}id FROM {self.staged} AS {staged}"

    def replaced_by(self) -> tuple[str, ...]:
        """The columns whose values in staged rows say which current ones go; none where two keys say that."""
        return self.comparable(self._keys[0]) if len(self._keys) == 1 and not self.versions else ()

    @property
    def replaces_once(self) -> bool:
        """Whether no two staged rows have the same values in the columns of `replaced_by`."""
        return self.has_unique_keys and self._keys == ["primary_key"]

    @property
    def inserts_all(self) -> bool:
        """Whether all staged rows are inserted that are not marked deleted."""
        is_deduplicated = self._columns("primary_key") and self._deduplicates
        return self.load.strategy == "delete-insert" and not is_deduplicated

    @property
    def _keys(self) -> list[str]:
        """The hints with columns that staged rows have in common with the rows that they replace."""
        hints = ("primary_key", "merge_key") if self.load.strategy == "delete-insert" else ("primary_key",)
        return [hint for hint in hints if self.table.columns_with(hint)]

    def rows_to_insert(self) -> str:
        """A query of the staged rows to insert: none marked deleted, none that the table keeps.

        With delete-insert one per primary key is inserted.
        """
        q = self.names.prefix
        source, conditions, unmarked = self._staged_rows()
        where = " AND ".join((*conditions, *unmarked)) or "TRUE"
        return f"SELECT {q}id, {q}place FROM ({source}) AS {q}rows WHERE {where}"

    @property
    def replaces_by_key(self) -> bool:
        """Whether each row that the load deletes has the primary key of one that it inserts."""
        return bool(self.comparable("primary_key")) and self.write_counts() is None

    def write_counts(self) -> str | None:
        """A query of how many inserted rows replace one of their key, and how many rows only mark deletions.

        To be asked before rows are deleted; None where the counts of the other statements tell as much.
        """
        merges_twice = self._columns("primary_key") and self._columns("merge_key")
        if not (self._columns("hard_delete") or merges_twice):
            return None
        q = self.names.prefix
        source, conditions, unmarked = self._staged_rows()
        inserted, known = " AND ".join(unmarked) or "TRUE", self._is_known(f"{q}rows")
        where = " AND ".join(conditions) or "TRUE"
        rows = (
            f"SELECT {inserted} AS {q}inserted, {known} AS {q}known FROM ({source}) AS {q}rows WHERE {where}"
        )
        counts = (
            f"count(*) FILTER (WHERE {q}inserted AND {q}known)",
            f"count(*) FILTER (WHERE NOT {q}inserted)",
        )
        return f"SELECT {', '.join(counts)} FROM ({rows}) AS {q}counted"

    def _staged_rows(self) -> tuple[str, list[str], list[str]]:
        """A query of the staged rows, conditions that one is written, and that it is not marked deleted."""
        q = self.names.prefix
        columns, conditions, unmarked = {f"{q}id": self.row_id}, list[str](), list[str]()
        keys = {f"{q}key_{number}": name for number, name in enumerate(self._columns("primary_key"))}
        columns |= keys
        for name in self._columns("hard_delete"):
            columns[f"{q}flag"] = name
            unmarked.append(self._is_unmarked(name, f"{q}flag"))
        for name in self._columns("dedup_sort"):
            columns[f"{q}sort_by"] = name
        if self.load.strategy == "insert-only":
            conditions.append(f"NOT {self._is_known(f'{q}rows')}")
        if self.versions:
            columns[f"{q}version"] = self.versions.history.version
            conditions.append(f"NOT {self._is_active(self.versions, f'{q}rows.{q}version')}")
        source = positioned_query(self.names, self.staged, self.names.place, columns)
        if keys and self._deduplicates:
            order = f"PARTITION BY {', '.join(keys)} ORDER BY {self._preference()}"
            source = f"SELECT *, row_number() OVER ({order}) AS {q}turn FROM ({source}) AS {q}keyed"
            unknown = " OR ".join(f"{key} IS NULL" for key in keys)
            conditions.append(f"({q}turn = 1 OR {unknown})")
        return source, conditions, unmarked

    def duplicate_keys(self) -> str:
        """A query of how many primary keys occur more than once in the staged rows."""
        q, staged = self.names.prefix, self.names.staged_row
        columns = [f"{staged}.{quoted(key)}" for key in self._columns("primary_key")]
        known = " AND ".join(f"{column} IS NOT NULL" for column in columns)
        grouped = f"WHERE {known} GROUP BY {', '.join(columns)} HAVING count(*) > 1"
        return f"SELECT count(*) FROM (SELECT 1 FROM {self.staged} AS {staged} {grouped}) AS {q}twice"

    def is_unmarked(self) -> str:
        """A condition on a staged row, as `MergeNames` calls it: it is not marked deleted."""
        names = columns_of(self.names.staged_row)
        flags = self._columns("hard_delete")
        return " AND ".join(self._is_unmarked(name, names(name)) for name in flags) or "TRUE"

    def comparable(self, hint: str) -> tuple[str, ...]:
        """The columns with a hint; none if one of them has no type, as that is NULL everywhere."""
        names = self.table.columns_with(hint)
        return names if all(self.table.columns[name].complete for name in names) else ()

    def is_ended(self, versions: VersionColumns) -> str:
        """A condition on a current row, as `MergeNames` calls it: its validity ends."""
        return self._ends(versions, columns_of(self.names.current_row))

    @property
    def _deduplicates(self) -> bool:
        """Whether of staged rows with one primary key only one is inserted."""
        is_deduplicated = self.has_unique_keys or self.table.hints.get("x-stage-data-deduplicated")
        return self.load.strategy == "delete-insert" and not is_deduplicated

    def _preference(self) -> str:
        """An order of the staged rows with one key; the first is inserted."""
        q = self.names.prefix
        for name in self._columns("dedup_sort"):
            column = self.table.columns[name]
            collation = ' COLLATE "C"' if column.data_type == "text" else ""
            direction = "DESC" if column.hint("dedup_sort") == "desc" else "ASC"
            return f"{q}sort_by{collation} {direction} NULLS LAST, {q}place"
        return f"{q}place"

    def _ends(self, versions: VersionColumns, names: Callable[[str], str]) -> str:
        version, staged = versions.history.version, self.names.staged_row
        same = f"{staged}.{quoted(version)} = {names(version)}"
        brought = f"SELECT 1 FROM {self.staged} AS {staged} WHERE {same}"
        conditions = [versions.active(names), f"NOT EXISTS ({brought})"]
        if self.table.columns_with("merge_key"):
            conditions.append(self._staged_like("merge_key", names))
        return " AND ".join(conditions)

    def _is_active(self, versions: VersionColumns, version: str) -> str:
        current = self.names.current_row
        is_active = versions.active(columns_of(current))
        same = f"{current}.{quoted(versions.history.version)} = {version} AND {is_active}"
        return f"EXISTS (SELECT 1 FROM {self.current} AS {current} WHERE {same})"

    def _staged_like(self, hint: str, names: Callable[[str], str]) -> str:
        """A condition on a current row: a staged one has its values in the columns with this hint."""
        staged = self.names.staged_row
        same = _equal((f"{staged}.{quoted(name)}", names(name)) for name in self.comparable(hint))
        return f"EXISTS (SELECT 1 FROM {self.staged} AS {staged} WHERE {same})"

    def _is_known(self, row: str) -> str:
        """A condition on a staged row that shows its primary key as key_0, key_1: a current one has it."""
        key, current = f"{row}.{self.names.prefix}key", self.names.current_row
        columns = enumerate(self.comparable("primary_key"))
        same = _equal((f"{current}.{quoted(name)}", f"{key}_{number}") for number, name in columns)
        return f"EXISTS (SELECT 1 FROM {self.current} AS {current} WHERE {same})"

    def _is_unmarked(self, flag: str, value: str) -> str:
        """A condition on the value of a flag: it does not mark its row deleted."""
        is_bool = self.table.columns[flag].data_type == "bool"
        return f"{value} IS NOT TRUE" if is_bool else f"{value} IS NULL"

    def _columns(self, hint: str) -> tuple[str, ...]:
        """The columns with a hint, if the strategy looks at it."""
        marked = self.table.columns_with(hint) if hint in _HINTS[self.load.strategy] else ()
        return tuple(name for name in marked if self.table.columns[name].complete)


def merge_columns(table: Table, load: TableTreeWrite) -> set[str]:
    """The columns of a root table that are read beside its row id."""
    history = load.history
    names = {name for hint in _HINTS[load.strategy] for name in table.columns_with(hint)}
    return {*names, *((history.version, history.valid_to) if history else ())}


def columns_of(row: str) -> Callable[[str], str]:
    """The qualified names of the columns of a row."""
    return lambda name: f"{row}.{quoted(name)}"


def positioned_query(names: MergeNames, relation: str, place: str, columns: Mapping[str, str]) -> str:
    """A query of the positions of the rows and of columns under other names."""
    row = names.staged_row
    picked = "".join(f", {row}.{quoted(column)} AS {shown}" for shown, column in columns.items())
    return f"SELECT {place} AS {names.prefix}place{picked} FROM {relation} AS {row}"


def _equal(pairs: Iterable[tuple[str, str]]) -> str:
    return " AND ".join(f"{one} = {other}" for one, other in pairs) or "FALSE"
