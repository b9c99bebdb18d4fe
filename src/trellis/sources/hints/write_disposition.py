"""What `write_disposition=` says of a table: a word, or a dict of a word and its particulars. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any

from trellis.dialects import history_columns
from trellis.errors import SchemaError, nearest
from trellis.schema.history import HistoryColumns, versioned
from trellis.schema.model import Table

DISPOSITIONS = ("append", "replace", "merge", "skip")
MERGE_STRATEGIES = ("delete-insert", "upsert", "insert-only", "scd2")
REPLACE_STRATEGIES = ("truncate-and-insert", "insert-from-staging", "staging-optimized")

HISTORY_KEYS = (
    *("validity_column_names", "active_record_timestamp", "boundary_timestamp", "row_version_column_name"),
)
KEYS: Mapping[str, tuple[str, ...]] = {
    "append": (),
    "skip": (),
    "replace": ("strategy", "replace_strategy"),
    "merge": ("strategy", "deduplicated", *HISTORY_KEYS),
}


def disposition(table: Table, declared: str | Mapping[str, Any]) -> Table:
    """The table with what is said of how its rows are written. Raises SchemaError.

    The strategy scd2 adds the columns of validity and of the row version, behind the declared ones; where
    they are declared already they keep their place and what is said of them.

    >>> disposition(Table("t"), {"disposition": "merge", "strategy": "upsert"}).hints["x-merge-strategy"]
    'upsert'
    """
    where = f"table {table.name}: write_disposition"
    if isinstance(declared, str):
        return table.with_hints(write_disposition=_one_of(declared, DISPOSITIONS, where))
    if not isinstance(declared, Mapping) or "disposition" not in declared:
        raise SchemaError(
            f"{where} is {declared!r}: write one of {', '.join(DISPOSITIONS)}, or a dict with the key"
            " 'disposition'"
        )
    word = _one_of(declared["disposition"], DISPOSITIONS, f"{where}.disposition")
    known = ("disposition", *KEYS[word])
    for key in declared:
        if key not in known:
            raise SchemaError(f"{where}: {word} takes no key {key!r}{nearest(str(key), known)}")
    return _WAYS[word](table.with_hints(write_disposition=word), declared, where)


def _as_it_is(table: Table, declared: Mapping[str, Any], where: str) -> Table:
    return table


def _replace(table: Table, declared: Mapping[str, Any], where: str) -> Table:
    for key in KEYS["replace"]:
        if declared.get(key) is not None:
            strategy = _one_of(declared[key], REPLACE_STRATEGIES, f"{where}.{key}")
            table = table.with_hints(**{"x-replace-strategy": strategy})
    return table


def _merge(table: Table, declared: Mapping[str, Any], where: str) -> Table:
    strategy = declared.get("strategy")
    if strategy is not None:
        _one_of(strategy, MERGE_STRATEGIES, f"{where}.strategy")
        table = table.with_hints(**{"x-merge-strategy": strategy})
    if declared.get("deduplicated"):
        table = table.with_hints(**{"x-stage-data-deduplicated": True})
    if strategy == "scd2":
        return _history(table, declared, where)
    if keys := [key for key in HISTORY_KEYS if declared.get(key) is not None]:
        raise SchemaError(f"{where}: {', '.join(keys)} goes with the strategy scd2; say 'strategy': 'scd2'")
    return table


def _history(table: Table, declared: Mapping[str, Any], where: str) -> Table:
    usual = history_columns()
    if usual is None:
        raise SchemaError(f"{where}: no dialect that is installed keeps versions of rows; leave scd2 out")
    names = declared.get("validity_column_names") or usual[:2]
    if isinstance(names, str) or not isinstance(names, Sequence) or len(names) != 2:
        raise SchemaError(f"{where}.validity_column_names is {names!r}: name two columns, from and to")
    active = _moment(declared.get("active_record_timestamp"), f"{where}.active_record_timestamp")
    if "boundary_timestamp" in declared:
        boundary = _moment(declared["boundary_timestamp"], f"{where}.boundary_timestamp")
        table = table.with_hints(**{"x-boundary-timestamp": boundary})
    version = declared.get("row_version_column_name") or usual.version
    return versioned(table, HistoryColumns(names[0], names[1], version), active)


def _one_of(word: Any, choices: Sequence[str], where: str) -> str:
    if word not in choices:
        raise SchemaError(f"{where}: there is no {word!r}{nearest(str(word), choices)}")
    return str(word)


def _moment(value: Any, where: str) -> str | None:
    """A time as a document holds it."""
    if value is None:
        return None
    if isinstance(value, date):
        return value.isoformat()
    try:
        datetime.fromisoformat(str(value).replace("Z", "+00:00"))
    except ValueError:
        raise SchemaError(
            f"{where} is {str(value)[:60]!r}; write a time such as 2026-01-31T00:00:00Z"
        ) from None
    return str(value)


_WAYS = {"append": _as_it_is, "skip": _as_it_is, "replace": _replace, "merge": _merge}
