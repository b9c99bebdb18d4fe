"""What a document says that cannot be true together: right in every key, and yet no load can use it.

For people who write documents. A stored schema is not held to it, since it may be completed by a load.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trellis.errors import nearest
from trellis.schema.documents.validate import faults
from trellis.schema.documents.value_checks import Fault
from trellis.schema.history import HistoryColumns
from trellis.schema.naming import CONVENTIONS

KEYED = ("upsert", "insert-only")
UNIQUE_HINTS = ("dedup_sort", "hard_delete", "x-valid-from", "x-valid-to", "x-row-version")
"""Hints that one column of a table has."""

Keys = Mapping[str, Any]


def all_faults(document: Any, history: HistoryColumns | None = None) -> tuple[Fault, ...]:
    """All that is wrong with a document, key by key and between keys.

    `history` are the columns of a table with the strategy scd2 that names none.

    >>> up = {"write_disposition": "merge", "x-merge-strategy": "upsert"}
    >>> [str(each) for each in all_faults({"name": "shop", "tables": {"t": up}})]
    ['tables.t.x-merge-strategy: upsert needs a primary key: give a column primary_key: true']
    """
    return (*faults(document), *_contradictions(document, history))


def _contradictions(document: Any, history: HistoryColumns | None) -> Iterator[Fault]:
    if not isinstance(document, Mapping):
        return
    yield from _naming(_mapping(document.get("normalizers")))
    tables = {name: _mapping(table) for name, table in _mapping(document.get("tables")).items()}
    for name, table in tables.items():
        columns = {
            str(column_name): _mapping(keys) for column_name, keys in _mapping(table.get("columns")).items()
        }
        at = ("tables", str(name))
        yield from _repeated_hints(at, columns)
        yield from _untyped_required(at, table, columns)
        yield from _scales(at, columns)
        yield from _reference_columns(at, table, columns)
        if not table.get("parent") and table.get("write_disposition") == "merge":
            yield from _strategy(at, table, columns, history)


def _mapping(value: Any) -> Keys:
    return value if isinstance(value, Mapping) else {}


def _naming(normalizers: Keys) -> Iterator[Fault]:
    name = normalizers.get("names")
    if isinstance(name, str) and "." not in name and name not in CONVENTIONS:
        yield Fault(("normalizers", "names"), f"no naming convention {name!r}{nearest(name, CONVENTIONS)}")


def _repeated_hints(at: tuple[str, ...], columns: Mapping[str, Keys]) -> Iterator[Fault]:
    for hint in UNIQUE_HINTS:
        first, *others = [name for name, keys in columns.items() if keys.get(hint)] or [""]
        for name in others:
            yield Fault((*at, "columns", name, hint), f"column {first} has it already: one column has {hint}")


def _untyped_required(at: tuple[str, ...], table: Keys, columns: Mapping[str, Keys]) -> Iterator[Fault]:
    """A table that got rows has values, and so a type, in all that is required."""
    if not _mapping(table.get("x-normalizer")).get("seen-data"):
        return
    for name, keys in columns.items():
        if keys.get("nullable") is False and keys.get("data_type") is None:
            says = "the table has rows and the column must not be NULL, but it has no data_type: give it one"
            yield Fault((*at, "columns", name, "nullable"), says)


def _scales(at: tuple[str, ...], columns: Mapping[str, Keys]) -> Iterator[Fault]:
    for name, keys in columns.items():
        precision, scale = keys.get("precision"), keys.get("scale")
        if type(precision) is int and type(scale) is int and scale > precision:
            says = (
                f"{scale} digits behind the point, and {precision} in all: the scale is at most the precision"
            )
            yield Fault((*at, "columns", name, "scale"), says)


def _reference_columns(at: tuple[str, ...], table: Keys, columns: Mapping[str, Keys]) -> Iterator[Fault]:
    references = table.get("references")
    for index, reference in enumerate(references if isinstance(references, list) else ()):
        column_names = _mapping(reference).get("columns")
        for position, name in enumerate(column_names if isinstance(column_names, list) else ()):
            if columns and isinstance(name, str) and name not in columns:
                path = (*at, "references", str(index), "columns", str(position))
                yield Fault(path, f"the table has no column {name!r}{nearest(name, columns)}")


def _strategy(
    at: tuple[str, ...], table: Keys, columns: Mapping[str, Keys], history: HistoryColumns | None
) -> Iterator[Fault]:
    strategy, path = table.get("x-merge-strategy"), (*at, "x-merge-strategy")
    if strategy in KEYED and not any(keys.get("primary_key") for keys in columns.values()):
        yield Fault(path, f"{strategy} needs a primary key: give a column primary_key: true")
    if strategy != "scd2":
        return
    valid_from, valid_to = history[:2] if history else (None, None)
    for hint, usual in (("x-valid-from", valid_from), ("x-valid-to", valid_to)):
        name = next((column_name for column_name, keys in columns.items() if keys.get(hint)), usual)
        if name is None or name not in columns:
            says = f"scd2 needs a column with {hint}: add {usual or 'one'} with it, of type timestamp"
            yield Fault(path, says)
        elif columns[name].get("data_type") != "timestamp":
            data_type = columns[name].get("data_type")
            says = f"a column with {hint} is a timestamp, not {data_type or 'without a type'}"
            yield Fault((*at, "columns", name, "data_type" if data_type else hint), says)
