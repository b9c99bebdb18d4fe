"""The write policy of each table, by warehouse."""

from __future__ import annotations

from collections.abc import Collection

from trellis.dialects.rudderstack.identifiers.standard import DISCARDS, MERGE_RULES, USERS
from trellis.dialects.rudderstack.identifiers.standard_names import StandardNames
from trellis.dialects.rudderstack.options import Options
from trellis.dialects.rudderstack.schema_document import IDENTIFIES
from trellis.evolution.table_writes import KeyedWrite, Load, Mode, OnMatch, TableTreeWrite

_ETL = ("cloud", "singer-protocol")


def table_loads(options: Options, touched: Collection[str], mode: Mode | None) -> tuple[Load, ...]:
    """The loads of the tables that a load touches; identifies before users."""
    named = StandardNames.of(options)
    first = named.table(IDENTIFIES)
    order = sorted(touched, key=lambda table: table != first)
    if mode == "replace":
        return tuple(TableTreeWrite(table, "replace") for table in order)
    return tuple(_load(options, named, table, mode) for table in order)


def _load(options: Options, named: StandardNames, table: str, mode: Mode | None) -> KeyedWrite:
    policy, latest = options.warehouse.policy, named.column("received_at")
    if table == named.table(MERGE_RULES):
        return KeyedWrite(table, named.rule_columns, None, "keep")
    if table == named.table(USERS):
        return _users(options, named, table)
    keys = named.discard_keys if table == named.table(DISCARDS) else named.columns(*policy.keys)
    if _appends(options, mode) and policy.append != "merge":
        return KeyedWrite(table, keys if policy.append == "survivors" else (), latest, "append")
    on_match: OnMatch = policy.on_match
    if policy.overwrites_for_etl and options.source_category in _ETL:
        on_match = "replace"
    return KeyedWrite(table, () if on_match == "append" else keys, latest, on_match)


def _users(options: Options, named: StandardNames, table: str) -> KeyedWrite:
    keys, latest = named.columns("id"), named.column("received_at")
    if options.warehouse.policy.users == "append":
        return KeyedWrite(table, (), latest, "append")
    on_match: OnMatch = "newer" if options.users_merge == "latest_row" else "coalesce_latest"
    return KeyedWrite(table, keys, latest, on_match, needs_keys=True)


def _appends(options: Options, mode: Mode | None) -> bool:
    """Whether rows are appended without a lookup."""
    if mode is not None:
        return mode == "append"
    prefers = options.prefer_append
    prefers_append = options.warehouse.policy.prefer_append if prefers is None else prefers
    return prefers_append and options.source_category not in (*_ETL, "etl", "replay")
