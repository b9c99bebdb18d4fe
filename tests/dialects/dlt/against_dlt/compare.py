"""Where two ways of loading one stream differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb

from dialects.dlt.against_dlt.datasets import (
    SYSTEM,
    VALIDITY,
    Stored,
    Trees,
    newest,
    plain,
    tables_of,
)


@dataclass(frozen=True)
class Difference:
    """One thing that differs. `sort` is what is compared; table and column where it is about one."""

    sort: str
    table: str = ""
    column: str = ""
    theirs: Any = None
    ours: Any = None

    def __str__(self) -> str:
        place = ".".join(part for part in (self.table, self.column) if part)
        theirs, ours = str(self.theirs)[:900], str(self.ours)[:900]
        return f"{self.sort} {place}\n      dlt:     {theirs}\n      Trellis: {ours}"


@dataclass(frozen=True)
class Picture:
    """A stream as it stands in a dataset."""

    schema: Mapping[str, Any] = field(default_factory=dict)
    stored: Mapping[str, Stored] = field(default_factory=dict)
    loads: Mapping[str, int] = field(default_factory=dict)


class Reader:
    """A DuckDB file, read many times."""

    def __init__(self, file: Path, dataset: str = "shop") -> None:
        self.db = duckdb.connect(str(file))
        self.db.execute("SET TimeZone = 'UTC'")
        self.dataset = dataset
        self.schemas: dict[str, Any] = {}
        self.catalog: dict[str, dict[str, str]] = {}
        names = self.db.execute(
            "SELECT table_name, column_name, data_type FROM information_schema.columns "
            "WHERE table_schema = ? ORDER BY table_name, ordinal_position",
            [dataset],
        ).fetchall()
        for table, column, data_type in names:
            self.catalog.setdefault(table, {})[column] = data_type

    def schema(self, name: str) -> Mapping[str, Any] | None:
        if name not in self.schemas:
            newest_row = newest(lambda sql: self.db.execute(sql).fetchall(), self.dataset, name)
            self.schemas[name] = newest_row if "_dlt_version" in self.catalog else None
        found_schema: Mapping[str, Any] | None = self.schemas[name]
        return found_schema

    def picture(self, name: str, mark: str) -> Picture:
        if "_dlt_version" not in self.catalog:
            return Picture()
        schema = self.schema(name)
        stored = {
            table: Stored(types, self._rows(table)) for table, types in self.catalog.items() if mark in table
        }
        _rank(stored)
        loads = self.db.execute(
            f"SELECT load_id FROM {self.dataset}._dlt_loads WHERE schema_name = ? ORDER BY inserted_at",
            [name],
        ).fetchall()
        return Picture(
            tables_of(schema, mark) if schema else {},
            stored,
            {load_id: number for number, (load_id,) in enumerate(loads)},
        )

    def _rows(self, table: str) -> list[dict[str, Any]]:
        name = table.replace('"', '""')
        rows: list[dict[str, Any]] = (
            self.db.sql(f'SELECT * FROM {self.dataset}."{name}"').to_arrow_table().to_pylist()
        )
        return rows

    def close(self) -> None:
        self.db.close()


def _rank(tables: Mapping[str, Stored]) -> None:
    """Times of validity as numbers: the first, the second, ..."""
    times = sorted(
        {row[name] for table in tables.values() for row in table.rows for name in VALIDITY if row.get(name)}
    )
    for table in tables.values():
        for row in table.rows:
            row.update({name: times.index(row[name]) for name in VALIDITY if row.get(name)})


Hidden = frozenset[tuple[str, str]]
ORDER = "*order*"
ALL = ("", "*")
FLAGGED = ("", "gone")
"""Root rows with a true `gone`, and what is below them."""
ORPHANS = ("", "nested")
"""The rows of nested tables."""


def differences(theirs: Picture, ours: Picture, hidden: Hidden = frozenset()) -> Iterator[Difference]:
    """Everything that differs, but for what is hidden: a column of a table, or (column "") a whole table."""
    gone = {table for table, column in hidden if table and not column}
    if FLAGGED in hidden:
        theirs, ours = _unflagged(theirs), _unflagged(ours)
    yield from _schemas(_visible(theirs.schema, gone), _visible(ours.schema, gone), hidden)
    yield from _catalogs(_visible(theirs.stored, gone), _visible(ours.stored, gone), hidden)
    if ORPHANS in hidden:
        gone |= {name for name, table in theirs.schema.items() if table.get("parent")}
    yield from _rows(theirs, ours, gone, hidden)


def _unflagged(picture: Picture) -> Picture:
    kept: dict[str, Stored] = {}
    for name in sorted(picture.stored, key=lambda name: name.count("__")):
        stored, parent = picture.stored[name], (picture.schema.get(name) or {}).get("parent")
        known = {row["_dlt_id"] for row in kept[parent].rows} if parent in kept else None
        rows = [
            row
            for row in stored.rows
            if not row.get("gone") and (known is None or row["_dlt_parent_id"] in known)
        ]
        kept[name] = Stored(stored.types, rows)
    return Picture(picture.schema, kept, picture.loads)


def _visible(tables: Mapping[str, Any], gone: set[str]) -> dict[str, Any]:
    return {name: table for name, table in tables.items() if name not in gone}


def _schemas(theirs: Mapping[str, Any], ours: Mapping[str, Any], hidden: Hidden) -> Iterator[Difference]:
    for name in sorted({*theirs, *ours}):
        if name not in theirs or name not in ours:
            yield Difference("schema table", name, "", theirs.get(name), ours.get(name))
            continue
        their, our = theirs[name], ours[name]
        columns = [[c for c in table["columns"] if (name, c) not in hidden] for table in (their, our)]
        for column in sorted({*columns[0], *columns[1]}):
            one, two = their["columns"].get(column), our["columns"].get(column)
            if one != two:
                yield Difference("schema column", name, column, one, two)
        both = [[c for c in names if c in columns[0] and c in columns[1]] for names in columns]
        if both[0] != both[1] and (name, ORDER) not in hidden:
            yield Difference("column order", name, "", both[0], both[1])
        for key in sorted({*their, *our} - {"columns"}):
            if their.get(key) != our.get(key):
                yield Difference(f"table hint {key}", name, "", their.get(key), our.get(key))


def _catalogs(
    theirs: Mapping[str, Stored], ours: Mapping[str, Stored], hidden: Hidden
) -> Iterator[Difference]:
    for name in sorted({*theirs, *ours}):
        if name not in theirs or name not in ours:
            yield Difference("table", name, "", name in theirs, name in ours)
            continue
        one, two = theirs[name].types, ours[name].types
        for column in sorted({*one, *two}):
            if one.get(column) != two.get(column) and (name, column) not in hidden:
                yield Difference("type", name, column, one.get(column), two.get(column))


def _rows(theirs: Picture, ours: Picture, gone: set[str], hidden: Hidden) -> Iterator[Difference]:
    differs = False
    for name in sorted({*theirs.stored} & {*ours.stored} - gone):
        one, two = theirs.stored[name], ours.stored[name]
        if len(one.rows) != len(two.rows):
            differs = True
            yield Difference("rows", name, "", _texts(one), _texts(two))
            continue
        for column in one.types:
            if column in SYSTEM or column not in two.types or (name, column) in hidden:
                continue
            left, right = (Counter(repr(plain(row[column])) for row in side.rows) for side in (one, two))
            if left != right:
                differs = True
                yield Difference("values", name, column, dict(left - right), dict(right - left))
    if differs:
        return
    trees = [
        Trees(
            _visible(side.stored, gone),
            {name: table.get("parent") for name, table in side.schema.items()},
            side.loads,
            hidden,
        )
        for side in (theirs, ours)
    ]
    for name in sorted({*theirs.stored} & {*ours.stored} - gone):
        table = theirs.schema.get(name)
        if table is not None and not table.get("parent"):
            one_of, two_of = (tree.of(name) for tree in trees)
            if one_of != two_of:
                left, right = Counter(one_of), Counter(two_of)
                yield Difference("trees", name, "", [*(left - right)], [*(right - left)])
            elif table.get("x-merge-strategy") in ("upsert", "insert-only", "scd2"):
                ids = [
                    sorted(str(row["_dlt_id"]) for row in side.stored[name].rows) for side in (theirs, ours)
                ]
                if ids[0] != ids[1]:
                    yield Difference("row ids", name, "_dlt_id", ids[0], ids[1])
    orphans = [Counter(name for name, _ in tree.orphans()) for tree in trees]
    if orphans[0] != orphans[1]:
        yield Difference("orphans", "", "", dict(orphans[0]), dict(orphans[1]))


def _texts(stored: Stored) -> list[str]:
    return sorted(
        repr({k: plain(v) for k, v in row.items() if k not in SYSTEM and v is not None})
        for row in stored.rows
    )
