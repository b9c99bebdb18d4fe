"""Which of the rows with equal primary keys a table keeps: `upsertConfig` and `dedupConfig`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from trellis.dialects.pinot.document.fields import PinotSchema, columns
from trellis.dialects.pinot.document.types import PinotType
from trellis.dialects.pinot.table.config import TableConfig
from trellis.errors import UsageError
from trellis.evolution.table_writes import OnMatch

_REMEDY: Final = "load with --mode append to keep every row"
_IN_CLUSTER: Final = ("deleteRecordColumn", "outOfOrderRecordColumn")


@dataclass(frozen=True)
class RowChoice:
    """The row of a key that stays: that with the greatest value of `latest`, or as `on_match` says."""

    latest: str | None
    on_match: OnMatch


def row_choice(schema: PinotSchema, table: TableConfig) -> RowChoice | None:
    """The choice of a table; None without upsert and dedup.

    Raises UsageError for the parts of an upsert that only a cluster carries out.

    >>> schema = PinotSchema("s", primary_key=("id",))
    >>> row_choice(schema, TableConfig(document={"dedupConfig": {"dedupEnabled": True}}))
    RowChoice(latest=None, on_match='first')
    """
    upsert, dedup = (table.document.get(key) for key in ("upsertConfig", "dedupConfig"))
    if isinstance(dedup, Mapping) and str(dedup.get("dedupEnabled", True)).lower() == "true":
        return RowChoice(None, "first")
    mode = upsert.get("mode") or "FULL" if isinstance(upsert, Mapping) else "NONE"
    if not isinstance(upsert, Mapping) or mode == "NONE":
        return None
    if mode != "FULL":
        raise UsageError(f"upsertConfig: mode {mode} merges columns, which only Pinot does: {_REMEDY}")
    for key in _IN_CLUSTER:
        if upsert.get(key):
            raise UsageError(f"upsertConfig: {key} is carried out by Pinot only: {_REMEDY}")
    return RowChoice(_comparison_column(schema, table, upsert), "newer")


def _comparison_column(schema: PinotSchema, table: TableConfig, upsert: Mapping[str, Any]) -> str | None:
    named = upsert.get("comparisonColumns") or [upsert.get("comparisonColumn") or table.time_column]
    if len(named) > 1:
        raise UsageError(f"upsertConfig: several comparisonColumns are compared by Pinot only: {_REMEDY}")
    name = named[0]
    if name is None:
        return None
    spec = columns(schema).get(str(name))
    if spec is None or not spec.single_value or spec.data_type in (PinotType.BIG_DECIMAL, PinotType.JSON):
        raise UsageError(
            f"upsertConfig: rows cannot be compared by {name}: name a column of one number, time or text"
        )
    return spec.name
