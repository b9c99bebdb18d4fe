"""Schemas of stored tables changed without their data."""

from __future__ import annotations

from typing import Any

from trellis.dialects.ytsaurus.alter.changes import AlterPlan, check_alter
from trellis.dialects.ytsaurus.errors import YtError
from trellis.dialects.ytsaurus.paths.rich_path import parse_path
from trellis.dialects.ytsaurus.schema.document import parse_schema
from trellis.dialects.ytsaurus.store.store import Store


def plan_alter(store: Store, path: str, schema: Any) -> AlterPlan:
    """What an alter would do. Raises YtError with the code 314 for a schema that is not valid."""
    return _plan(store, parse_path(path, store.switches).path, schema)


def alter_table(store: Store, path: str, schema: Any) -> AlterPlan:
    """Raises YtError with the code 316 if the change needs data; the table stays as it was then."""
    name = parse_path(path, store.switches).path
    with store.catalog.transaction():
        table = store.lock(store.table(name), "alter")
        plan = _plan(store, name, schema)
        plan.check()
        store.catalog.put_table(table.node.id, plan.new, "strong", table.optimize_for)
        return plan


def _plan(store: Store, path: str, schema: Any) -> AlterPlan:
    table = store.table(path)
    is_empty = store.catalog.last_slice(table.node.id) is None
    try:
        new = parse_schema(schema, store.switches)
    except YtError as error:
        raise error.at_path(path) from None
    return check_alter(table.schema, new, is_empty=is_empty, switches=store.switches, path=path)
