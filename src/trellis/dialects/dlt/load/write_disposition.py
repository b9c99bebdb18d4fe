"""How the tables of a load go in, from their hints."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime, timezone

from trellis.dialects.dlt.load.typed_tables import keyed_load, without_ids
from trellis.dialects.dlt.system_tables import HISTORY, PREFIX, ROW_ID
from trellis.errors import SchemaError
from trellis.evolution.table_writes import History, Load, Mode, Strategy, TableTreeWrite
from trellis.schema.model import Schema, Table


def table_writes_of(
    schema: Schema, roots: Sequence[str], touched: Collection[str], now: datetime
) -> tuple[Load, ...]:
    """One per root table that the user named or that got rows, in that order."""
    others = [name for name in touched if not name.startswith(PREFIX) and schema.tables[name].parent is None]
    loads: list[Load] = []
    for name in dict.fromkeys((*roots, *others)):
        table = schema.tables[name]
        mode: Mode = table.hints.get("write_disposition") or "append"
        strategy = strategy_of(table) or "delete-insert"
        if mode == "merge" and without_ids(table):
            loads.append(keyed_load(schema, table, strategy))
            continue
        history = history_of(table, now) if mode == "merge" and strategy == "scd2" else None
        loads.append(TableTreeWrite(name, mode, strategy, history))
    return tuple(loads)


def strategy_of(table: Table) -> Strategy | None:
    strategy: Strategy | None = table.hints.get("x-merge-strategy")
    return strategy


def version_column(table: Table) -> str | None:
    """The column that tells versions of a row apart, where the table keeps them."""
    keeps = table.hints.get("write_disposition") == "merge" and strategy_of(table) == "scd2"
    return (table.column_with("x-row-version") or ROW_ID) if keeps else None


def history_of(table: Table, now: datetime) -> History:
    """How a table with the strategy scd2 keeps its versions. Raises SchemaError."""
    valid_from = table.column_with("x-valid-from") or HISTORY.valid_from
    valid_to = table.column_with("x-valid-to") or HISTORY.valid_to
    active = table.columns[valid_to].hint("x-active-record-timestamp") if valid_to in table.columns else None
    return History(
        version=version_column(table) or ROW_ID,
        valid_from=valid_from,
        valid_to=valid_to,
        at=_moment(table.name, "x-boundary-timestamp", table.hints.get("x-boundary-timestamp")) or now,
        open=_moment(table.name, "x-active-record-timestamp", active),
    )


def _moment(table: str, hint: str, value: object) -> datetime | None:
    if value is None or isinstance(value, datetime):
        moment = value
    else:
        try:
            moment = datetime.fromisoformat(str(value).replace("Z", "+00:00"))
        except ValueError:
            raise SchemaError(
                f"table {table}: {hint} is {str(value)[:60]!r}; write a time such as 2026-01-31T00:00:00Z"
            ) from None
    if moment is None:
        return None
    return moment.replace(tzinfo=timezone.utc) if moment.tzinfo is None else moment.astimezone(timezone.utc)
