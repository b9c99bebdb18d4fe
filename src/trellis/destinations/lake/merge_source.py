"""A MERGE of Spark and its source: rows to insert, and keys of rows to delete or to update."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from trellis.destinations.sql.names import quoted

MERGE_METRICS: Final = ("num_inserted_rows", "num_updated_rows", "num_deleted_rows")
"""The columns in which a MERGE says what it did, where it does: with Delta."""


@dataclass
class MergeSource:
    """The source of a MERGE. `keys` are columns of the table, `columns` those that rows are inserted with."""

    keys: Sequence[str]
    columns: Sequence[str]
    reads_tables: bool = True
    """Whether the queries read tables that other loads may change meanwhile, and not only staged rows."""
    inserted: str = ""
    """A query of rows with `columns`."""
    deleted: str = ""
    """A query of the keys of rows that go."""
    deletes_once: bool = False
    """Whether `deleted` has each key once; otherwise the statement sees to it."""
    ended: str = ""
    """A query of the keys of rows that get the values in `assignments`, if `is_ended` holds for them, too."""
    is_ended: str = "TRUE"
    assignments: Mapping[str, str] = field(default_factory=dict)
    upserted: str = ""
    """A query of rows with `columns`, one for a key, that update those of their key or are inserted."""

    @property
    def is_empty(self) -> bool:
        return not (self.inserted or self.deleted or self.ended or self.upserted)

    @property
    def only_upserts(self) -> bool:
        """Whether all rows of the source are alike, so that none needs to say what is to be done with it."""
        return not (self.inserted or self.deleted or self.ended)

    def statement(self, table: str, q: str) -> str:
        """The statement; every name that it adds begins with `q`."""
        if self.only_upserts:
            return (
                f"MERGE INTO {table} AS {q}current USING ({self.upserted}) AS {q}source "
                f"ON {_equal(q, self.keys, map(quoted, self.keys))} {' '.join(self._upserts(q))}"
            )
        return (
            f"MERGE INTO {table} AS {q}current USING ({' UNION ALL '.join(self._rows(q))}) AS {q}source "
            f"ON {self._is_same(q)} {' '.join(self._clauses(q))}"
        )

    def counts_query(self, table: str, q: str) -> str:
        """A query of how many rows the statement would insert, update and delete: `MERGE_METRICS`."""
        action, is_known = f"{q}source.{q}action", f"{q}current.{q}known IS NOT NULL"
        updates = f"({action} = 'upsert' OR ({action} = 'end' AND {self.is_ended}))"
        conditions = (
            f"{action} IN ('insert', 'upsert') AND NOT {is_known}",
            f"{updates} AND {is_known}",
            f"{action} = 'delete' AND {is_known}",
        )
        pairs = zip(conditions, MERGE_METRICS, strict=True)
        counts = ", ".join(f"count(CASE WHEN {condition} THEN 1 END) AS {name}" for condition, name in pairs)
        return (
            f"SELECT {counts} FROM ({' UNION ALL '.join(self._rows(q))}) AS {q}source "
            f"LEFT JOIN (SELECT *, TRUE AS {q}known FROM {table}) AS {q}current ON {self._is_same(q)}"
        )

    def _is_same(self, q: str) -> str:
        return _equal(q, self.keys, self._key_columns(q))

    def _rows(self, q: str) -> Iterator[str]:
        """Queries of the rows of the source: what to do, the keys to look for, the values."""
        names, keys = [quoted(name) for name in self.columns], self._key_columns(q)
        nulls = [f"NULL AS {name}" for name in names]
        if self.inserted:
            selected = ", ".join((f"'insert' AS {q}action", *(f"NULL AS {key}" for key in keys), *names))
            yield f"SELECT {selected} FROM ({self.inserted}) AS {q}new"
        searched = [f"{quoted(name)} AS {key}" for name, key in zip(self.keys, keys, strict=True)]
        if self.upserted:
            selected = ", ".join((f"'upsert' AS {q}action", *searched, *names))
            yield f"SELECT {selected} FROM ({self.upserted}) AS {q}new"
        for action, query in (("delete", self.deleted), ("end", self.ended)):
            if query:
                selected = ", ".join((f"'{action}' AS {q}action", *keys, *nulls))
                once = "" if action == "delete" and self.deletes_once else "DISTINCT "
                yield f"SELECT {once}{selected} FROM ({query}) AS {q}old({', '.join(keys)})"

    def _clauses(self, q: str) -> Iterator[str]:
        action = f"{q}source.{q}action"
        if self.deleted:
            yield f"WHEN MATCHED AND {action} = 'delete' THEN DELETE"
        if self.ended:
            is_ended = f"{action} = 'end' AND {self.is_ended}"
            yield f"WHEN MATCHED AND {is_ended} THEN UPDATE SET {_set(self.assignments)}"
        if self.upserted or self.inserted:
            yield from self._upserts(q, f" AND {action} = 'upsert'", f" AND {action} IN ('insert', 'upsert')")

    def _upserts(self, q: str, is_upsert: str = "", is_new: str = "") -> Iterator[str]:
        values = {name: f"{q}source.{quoted(name)}" for name in self.columns}
        changed = {name: value for name, value in values.items() if name not in self.keys}
        if self.upserted and changed:
            yield f"WHEN MATCHED{is_upsert} THEN UPDATE SET {_set(changed)}"
        listed = ", ".join(map(quoted, values))
        yield f"WHEN NOT MATCHED{is_new} THEN INSERT ({listed}) VALUES ({', '.join(values.values())})"

    def _key_columns(self, q: str) -> list[str]:
        return [f"{q}key_{at}" for at in range(len(self.keys))]


def _equal(q: str, keys: Iterable[str], columns: Iterable[str]) -> str:
    """A condition on a row of the table and one of the source, whose `columns` have the keys."""
    pairs = zip(keys, columns, strict=True)
    return " AND ".join(f"{q}current.{quoted(key)} = {q}source.{column}" for key, column in pairs) or "FALSE"


def _set(values: Mapping[str, str]) -> str:
    return ", ".join(f"{quoted(name)} = {value}" for name, value in values.items())
