"""Which rows of a root table leave, end and come in a merge, as SQL (spec dlt.md, 14).

Users name their columns as they like, so a query here never adds a column beside those of a table:
what it needs is renamed in a subquery that shows nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from trellis.destinations.sql.names import quoted
from trellis.destinations.sql.versions import Versions
from trellis.errors import SchemaError
from trellis.evolution.loading import ChainLoad, Strategy
from trellis.schema.model import Column, Table
from trellis.warehouses.catalog.databases import DUCKDB

LEAVING = "temp.main.leaving"
COMING = "temp.main.coming"
_HINTS: Mapping[Strategy, tuple[str, ...]] = {
    "delete-insert": ("primary_key", "merge_key", "dedup_sort", "hard_delete"),
    "upsert": ("primary_key", "hard_delete"),
    "insert-only": ("primary_key", "hard_delete"),
    "scd2": ("merge_key",),
}
"""The hints that a strategy looks at."""


@dataclass(frozen=True)
class Words:
    """How a destination calls the relations LEAVING and COMING, the place of a staged row `s`, and types."""

    leaving: str = LEAVING
    coming: str = COMING
    place: str = "row_number() OVER ()"
    type_of: Callable[[Column], str] = DUCKDB.type_of


@dataclass(frozen=True)
class Roots:
    """A root table as SQL relations: what is there now, what is staged; `row_id` is a column of both.

    NULL in a key or a version is equal to nothing.
    """

    table: Table
    load: ChainLoad
    row_id: str
    current: str
    staged: str
    words: Words = field(default_factory=Words)

    @property
    def versions(self) -> Versions | None:
        return Versions(self.table, self.load.history, self.words.type_of) if self.load.history else None

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

    def leaving(self) -> str:
        """A query of the ids of rows that the load removes or replaces."""
        hints = ("primary_key", "merge_key") if self.load.strategy == "delete-insert" else ("primary_key",)
        conditions = [self._staged_like(hint, of("d")) for hint in hints if self.table.columns_with(hint)]
        rows = f"SELECT d.{quoted(self.row_id)} AS id FROM {self.current} d"
        return " UNION ".join(f"{rows} WHERE {where}" for where in conditions or ["FALSE"])

    def coming(self) -> str:
        """A query of the staged rows that go in: none marked deleted, none that is there and stays.

        With delete-insert one per primary key goes in.
        """
        columns, conditions = {"id": self.row_id}, []
        keys = {f"key_{number}": name for number, name in enumerate(self._columns("primary_key"))}
        columns |= keys
        for name in self._columns("hard_delete"):
            columns["flag"] = name
            is_bool = self.table.columns[name].data_type == "bool"
            conditions.append("flag IS NOT TRUE" if is_bool else "flag IS NULL")
        for name in self._columns("dedup_sort"):
            columns["sort_by"] = name
        if self.load.strategy == "insert-only":
            conditions.append(f"NOT {self._is_known('rows')}")
        if self.versions:
            columns["version"] = self.versions.history.version
            conditions.append(f"NOT {self._is_active(self.versions, 'rows.version')}")
        source = placed(self.staged, self.words.place, columns)
        if keys and self._takes_one:
            turn = f"row_number() OVER (PARTITION BY {', '.join(keys)} ORDER BY {self._preference()}) AS turn"
            source = f"SELECT *, {turn} FROM ({source}) AS keyed"
            unknown = " OR ".join(f"{key} IS NULL" for key in keys)
            conditions.append(f"(turn = 1 OR {unknown})")
        return f"SELECT id, place FROM ({source}) AS rows WHERE {' AND '.join(conditions) or 'TRUE'}"

    def double_keys(self) -> str:
        """A query of how many primary keys stand twice among the staged rows."""
        columns = self._columns("primary_key")
        by = ", ".join(f"s.{quoted(key)}" for key in columns)
        known = " AND ".join(f"s.{quoted(key)} IS NOT NULL" for key in columns)
        source = f"{self.staged} s WHERE {known}"
        return f"SELECT count(*) FROM (SELECT 1 FROM {source} GROUP BY {by} HAVING count(*) > 1) AS twice"

    def retiring(self, versions: Versions) -> str:
        """A condition on a current row `d`: its time ends."""
        return self._retiring(versions, of("d"))

    def places_retiring(self, versions: Versions) -> str:
        """A query of the places, from 1, of the current rows whose time ends."""
        shown = {name: f"of_{number}" for number, name in enumerate(sorted(needed(self.table, self.load)))}
        rows = placed(self.current, "row_number() OVER ()", {there: name for name, there in shown.items()})
        ends = self._retiring(versions, lambda name: f"placed.{shown[name]}")
        return f"SELECT place FROM ({rows}) AS placed WHERE {ends}"

    @property
    def _takes_one(self) -> bool:
        """Whether of staged rows with one primary key only one goes in."""
        given = self.table.hints.get("x-stage-data-deduplicated")
        return self.load.strategy == "delete-insert" and not given

    def _preference(self) -> str:
        """An order of the staged rows with one key; the first goes in."""
        for name in self._columns("dedup_sort"):
            column = self.table.columns[name]
            sort_by = 'sort_by COLLATE "C"' if column.data_type == "text" else "sort_by"
            direction = "DESC" if column.hint("dedup_sort") == "desc" else "ASC"
            return f"{sort_by} {direction} NULLS LAST, place"
        return "place"

    def _retiring(self, versions: Versions, names: Callable[[str], str]) -> str:
        version = versions.history.version
        brought = f"SELECT 1 FROM {self.staged} s WHERE s.{quoted(version)} = {names(version)}"
        conditions = [versions.active(names), f"NOT EXISTS ({brought})"]
        if self.table.columns_with("merge_key"):
            conditions.append(self._staged_like("merge_key", names))
        return " AND ".join(conditions)

    def _is_active(self, versions: Versions, version: str) -> str:
        same = f"d.{quoted(versions.history.version)} = {version} AND {versions.active(of('d'))}"
        return f"EXISTS (SELECT 1 FROM {self.current} d WHERE {same})"

    def _staged_like(self, hint: str, names: Callable[[str], str]) -> str:
        """A condition on a current row: a staged one has its values in the columns with this hint."""
        same = _equal((f"s.{quoted(name)}", names(name)) for name in self._comparable(hint))
        return f"EXISTS (SELECT 1 FROM {self.staged} s WHERE {same})"

    def _is_known(self, row: str) -> str:
        """A condition on a staged row with the primary key key_0, key_1: a current one has it."""
        columns = enumerate(self._comparable("primary_key"))
        same = _equal((f"d.{quoted(name)}", f"{row}.key_{number}") for number, name in columns)
        return f"EXISTS (SELECT 1 FROM {self.current} d WHERE {same})"

    def _comparable(self, hint: str) -> tuple[str, ...]:
        """The columns with a hint; none if one of them has no type, as that is NULL everywhere."""
        names = self.table.columns_with(hint)
        return names if all(self.table.columns[name].complete for name in names) else ()

    def _columns(self, hint: str) -> tuple[str, ...]:
        """The columns with a hint, if the strategy looks at it."""
        marked = self.table.columns_with(hint) if hint in _HINTS[self.load.strategy] else ()
        return tuple(name for name in marked if self.table.columns[name].complete)


def needed(table: Table, load: ChainLoad) -> set[str]:
    """The columns of a root table that are read beside its row id."""
    history = load.history
    names = {name for hint in _HINTS[load.strategy] for name in table.columns_with(hint)}
    return {*names, *((history.version, history.valid_to) if history else ())}


def of(row: str) -> Callable[[str], str]:
    """How the columns of a row are called."""
    return lambda name: f"{row}.{quoted(name)}"


def placed(relation: str, place: str, columns: Mapping[str, str]) -> str:
    """A query of the places of the rows and of these columns, under the names in front of them."""
    picked = "".join(f", s.{quoted(column)} AS {shown}" for shown, column in columns.items())
    return f"SELECT {place} AS place{picked} FROM {relation} s"


def _equal(pairs: Iterable[tuple[str, str]]) -> str:
    return " AND ".join(f"{one} = {other}" for one, other in pairs) or "FALSE"
