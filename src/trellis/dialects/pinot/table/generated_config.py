"""Table configs generated for a schema: what Pinot requires, and what follows from the schema."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from trellis.dialects.pinot.document.fields import PinotSchema
from trellis.dialects.pinot.table.config import TableKind, table_config
from trellis.errors import UsageError, nearest

SHAPING: Final = (
    "enrichmentConfigs",
    "complexTypeConfig",
    "transformConfigs",
    "schemaConformingTransformerConfig",
    "filterConfig",
    "aggregationConfigs",
)
"""The parts of `ingestionConfig` that make the values of rows: Trellis has applied them already."""
CHOOSING: Final = ("upsertConfig", "dedupConfig")
"""The parts that choose a row for each key: applied too, and only a stream needs them."""
NO_TIME: Final = "none"
"""The choice of no main time column."""
_OMITTED: Final[Mapping[TableKind, Mapping[str, tuple[str, ...]]]] = {
    "OFFLINE": {
        "ingestionConfig": (*SHAPING, "streamIngestionConfig"),
        "tableIndexConfig": ("streamConfigs",),
    },
    "REALTIME": {"segmentsConfig": ("segmentPushType",), "ingestionConfig": ("batchIngestionConfig",)},
}
"""What a table of each kind does not take over from the config of the user, by its part."""


@dataclass(frozen=True)
class TargetTable:
    """A table config. `declared` is the part that the user decided on: the rest changes no existing table."""

    config: Mapping[str, Any]
    declared: Mapping[str, Any]


def target_table(
    kind: TableKind,
    schema: PinotSchema,
    authored: Mapping[str, Any] | None = None,
    time_column: str | None = None,
    real_nulls: bool = False,
) -> TargetTable:
    """The OFFLINE table for rows that Trellis wrote, or the REALTIME table that makes its rows of raw events.

    `authored` is the config of the user: it is kept, except for what belongs to the other kind, and in an
    OFFLINE table for what makes or chooses rows. `real_nulls`: the rows hold nulls, which stay null. Raises
    UsageError for a time column that is not a dateTime column.

    >>> target_table("OFFLINE", PinotSchema("rides")).config["tableName"]
    'rides'
    """
    main = time_column_of(schema, authored, time_column)
    omitted = {"tableName", "tableType", *(CHOOSING if kind == "OFFLINE" else ())}
    document = json.loads(json.dumps(dict(authored or {}), default=dict))
    declared = {key: part for key, part in document.items() if part is not None and key not in omitted}
    for name, keys in _OMITTED[kind].items():
        if name in declared:
            declared[name] = {key: part for key, part in declared[name].items() if key not in keys}
    if "segmentsConfig" in declared:
        declared["segmentsConfig"].pop("timeColumnName", None)
    if main is not None and (authored or time_column):
        declared.setdefault("segmentsConfig", {})["timeColumnName"] = main
    if real_nulls and not schema.column_nulls:
        declared.setdefault("tableIndexConfig", {})["nullHandlingEnabled"] = True
    return TargetTable(merge_config(declared, required_config(schema.name, kind, main))[0], declared)


def has_stream(config: Mapping[str, Any]) -> bool:
    """Whether a config is that of a REALTIME table with its stream."""
    ingestion, indexing = (config.get(key) or {} for key in ("ingestionConfig", "tableIndexConfig"))
    return str(config.get("tableType")).upper() == "REALTIME" and bool(
        ingestion.get("streamIngestionConfig") or indexing.get("streamConfigs")
    )


def time_column_of(
    schema: PinotSchema, authored: Mapping[str, Any] | None = None, choice: str | None = None
) -> str | None:
    """The main time column: the choice, that of the config, or without a config the first dateTime column."""
    times = [spec.name for spec in schema.date_times]
    if choice == NO_TIME and choice not in times:
        return None
    if choice is not None and choice not in times:
        raise UsageError(
            f"time column {choice!r} is not a dateTime column of {schema.name}{nearest(choice, times)}"
        )
    if choice is not None or authored:
        return choice or table_config(authored).time_column
    return next(iter(times), None)


def merge_config(
    config: Mapping[str, Any], existing: Mapping[str, Any], place: str = ""
) -> tuple[dict[str, Any], list[str]]:
    """A config merged over another, whose other keys are kept, and the paths that differ.

    >>> merge_config({"a": {"x": 1}, "b": 4}, {"a": {"x": 2, "y": 3}, "b": "4"})
    ({'a': {'x': 1, 'y': 3}, 'b': '4'}, ['a.x'])
    """
    merged, paths = dict(existing), list[str]()
    for key, value in config.items():
        before = existing.get(key)
        if isinstance(value, Mapping):
            inner = before if isinstance(before, Mapping) else {}
            merged[key], inner_paths = merge_config(value, inner, f"{place}{key}.")
            paths += inner_paths
        elif str(before) != str(value):
            merged[key] = value
            paths.append(f"{place}{key}")
    return merged, paths


def required_config(name: str | None, kind: TableKind, time_column: str | None) -> dict[str, Any]:
    """What Pinot requires of every table config, and how segments of files are pushed and read."""
    is_offline = kind == "OFFLINE"
    return {
        "tableName": name,
        "tableType": kind,
        "segmentsConfig": {
            **({"timeColumnName": time_column} if time_column else {}),
            "replication": "1",
            **({"segmentPushType": "APPEND"} if is_offline else {}),
        },
        "tenants": {},
        "tableIndexConfig": {"loadMode": "MMAP"} if is_offline else {},
        "metadata": {},
    }


def omitted_parts(authored: Mapping[str, Any] | None) -> tuple[str, ...]:
    """The parts of a config that its OFFLINE table omits, because Trellis has applied them."""
    ingestion = (authored or {}).get("ingestionConfig") or {}
    shaping = tuple(key for key in SHAPING if ingestion.get(key))
    return (*shaping, *(key for key in CHOOSING if (authored or {}).get(key)))
