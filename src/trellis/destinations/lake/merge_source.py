"""A MERGE of Spark and its source: rows to insert, and keys of rows to delete or to update."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from trellis.destinations.sql.names import quoted


@dataclass
class MergeSource:
    """The source of a MERGE. `keys` are columns of the table, `columns` those that rows are inserted with."""

    keys: Sequence[str]
    columns: Sequence[str]
    inserted: str = ""
    """A query of rows with `columns`."""
    deleted: str = ""
    """A query of the keys of rows that go."""
    ended: str = ""
    """A query of the keys of rows that get the values in `assignments`, if `is_ended` holds for them, too."""
    is_ended: str = "TRUE"
    assignments: Mapping[str, str] = field(default_factory=dict)
    upserted: str = ""
    """A query of rows with `columns`, one for a key, that update those of their key or are inserted."""

    kept: str = ""
    """A query of rows with `columns` that are inserted unless their key is there."""

    @property
    def is_empty(self) -> bool:
        return not (self.inserted or self.deleted or self.ended or self.upserted or self.kept)

    def statement(self, table: str, q: str) -> str:
        """The statement; every name that it adds begins with `q`."""
        keys = self._key_columns(q)
        same = " AND ".join(
            f"{q}current.{quoted(name)} = {q}source.{key}" for name, key in zip(self.keys, keys, strict=True)
        )
        return (
            f"MERGE INTO {table} AS {q}current USING ({' UNION ALL '.join(self._rows(q))}) AS {q}source "
            f"ON {same or 'FALSE'} {' '.join(self._clauses(q))}"
        )

    def _rows(self, q: str) -> Iterator[str]:
        """Queries of the rows of the source: what to do, the keys to look for, the values."""
        names, keys = [quoted(name) for name in self.columns], self._key_columns(q)
        nulls = [f"NULL AS {name}" for name in names]
        if self.inserted:
            selected = ", ".join((f"'insert' AS {q}action", *(f"NULL AS {key}" for key in keys), *names))
            yield f"SELECT {selected} FROM ({self.inserted}) AS {q}new"
        searched = [f"{quoted(name)} AS {key}" for name, key in zip(self.keys, keys, strict=True)]
        for action, query in (("upsert", self.upserted), ("keep", self.kept)):
            if query:
                selected = ", ".join((f"'{action}' AS {q}action", *searched, *names))
                yield f"SELECT {selected} FROM ({query}) AS {q}new"
        for action, query in (("delete", self.deleted), ("end", self.ended)):
            if query:
                selected = ", ".join((f"'{action}' AS {q}action", *keys, *nulls))
                yield f"SELECT DISTINCT {selected} FROM ({query}) AS {q}old({', '.join(keys)})"

    def _clauses(self, q: str) -> Iterator[str]:
        action = f"{q}source.{q}action"
        if self.deleted:
            yield f"WHEN MATCHED AND {action} = 'delete' THEN DELETE"
        if self.ended:
            is_ended = f"{action} = 'end' AND {self.is_ended}"
            yield f"WHEN MATCHED AND {is_ended} THEN UPDATE SET {_set(self.assignments)}"
        values = {name: f"{q}source.{quoted(name)}" for name in self.columns}
        changed = {name: value for name, value in values.items() if name not in self.keys}
        if self.upserted and changed:
            yield f"WHEN MATCHED AND {action} = 'upsert' THEN UPDATE SET {_set(changed)}"
        if self.inserted or self.upserted or self.kept:
            listed = ", ".join(map(quoted, values))
            row = ", ".join(values.values())
            is_new = f"{action} IN ('insert', 'upsert', 'keep')"
            yield f"WHEN NOT MATCHED AND {is_new} THEN INSERT ({listed}) VALUES ({row})"

    def _key_columns(self, q: str) -> list[str]:
        return [f"{q}key_{at}" for at in range(len(self.keys))]


def _set(values: Mapping[str, str]) -> str:
    return ", ".join(f"{quoted(name)} = {value}" for name, value in values.items())
