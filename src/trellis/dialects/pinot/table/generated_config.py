"""Table configs generated for a schema: what Pinot requires, and what follows from the schema."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
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
_STREAMS: Final = ("streamIngestionConfig",)
_FILES: Final = ("batchIngestionConfig",)


@dataclass(frozen=True)
class TargetTable:
    """A table config. `declared` is the part that the user decided on: the rest changes no existing table."""

    config: Mapping[str, Any]
    declared: Mapping[str, Any]


def offline_table(
    schema: PinotSchema,
    authored: Mapping[str, Any] | None = None,
    time_column: str | None = None,
    real_nulls: bool = False,
) -> TargetTable:
    """The OFFLINE table for rows that Trellis wrote.

    `authored` is the config of the user: it is kept, except for streams and for what makes or chooses rows.
    `real_nulls`: the rows hold nulls, which stay null. Raises UsageError for a time column that is not a
    dateTime column.

    >>> offline_table(PinotSchema("rides")).config["tableName"]
    'rides'
    """
    main = time_column_of(schema, authored, time_column)
    declared = _declared(schema, authored, main if authored or time_column else None, real_nulls)
    _remove(declared, CHOOSING)
    _remove(declared.get("ingestionConfig"), (*SHAPING, *_STREAMS))
    _remove(declared.get("tableIndexConfig"), ("streamConfigs",))
    defaults = {"segmentsConfig": {"segmentPushType": "APPEND"}, "tableIndexConfig": {"loadMode": "MMAP"}}
    return _target(schema, "OFFLINE", declared, main, defaults)


def has_stream(config: Mapping[str, Any]) -> bool:
    """Whether a config is that of a REALTIME table with its stream."""
    ingestion, indexing = (config.get(key) or {} for key in ("ingestionConfig", "tableIndexConfig"))
    return str(config.get("tableType")).upper() == "REALTIME" and bool(
        ingestion.get("streamIngestionConfig") or indexing.get("streamConfigs")
    )


def realtime_table(
    schema: PinotSchema,
    authored: Mapping[str, Any],
    time_column: str | None = None,
    real_nulls: bool = False,
) -> TargetTable:
    """The REALTIME table of a config with a stream, which creates its rows from raw events. Raises UsageError
    for a time column that is not a dateTime column.
    """
    main = time_column_of(schema, authored, time_column)
    declared = _declared(schema, authored, main, real_nulls)
    _remove(declared.get("segmentsConfig"), ("segmentPushType",))
    _remove(declared.get("ingestionConfig"), _FILES)
    return _target(schema, "REALTIME", declared, main)


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


def _declared(
    schema: PinotSchema, authored: Mapping[str, Any] | None, main: str | None, real_nulls: bool
) -> dict[str, Any]:
    """The parts of the user's config, with its main time column."""
    document = json.loads(json.dumps(dict(authored or {}), default=dict))
    declared = {key: part for key, part in document.items() if part is not None}
    _remove(declared, ("tableName", "tableType"))
    _remove(declared.get("segmentsConfig"), ("timeColumnName",))
    if main is not None:
        declared.setdefault("segmentsConfig", {})["timeColumnName"] = main
    if real_nulls and not schema.column_nulls:
        declared.setdefault("tableIndexConfig", {})["nullHandlingEnabled"] = True
    return declared


def _target(
    schema: PinotSchema,
    kind: TableKind,
    declared: dict[str, Any],
    main: str | None,
    defaults: Mapping[str, Any] = MappingProxyType({}),
) -> TargetTable:
    required = required_config(schema.name, kind, main)
    return TargetTable(merge_config(declared, merge_config(defaults, required)[0])[0], declared)


def required_config(name: str | None, kind: TableKind, time_column: str | None) -> dict[str, Any]:
    """What Pinot requires of every table config."""
    return {
        "tableName": name,
        "tableType": kind,
        "segmentsConfig": {**({"timeColumnName": time_column} if time_column else {}), "replication": "1"},
        "tenants": {},
        "tableIndexConfig": {},
        "metadata": {},
    }


def _remove(document: dict[str, Any] | None, keys: tuple[str, ...]) -> None:
    if document is not None:
        for key in keys:
            document.pop(key, None)


def omitted_parts(authored: Mapping[str, Any] | None) -> tuple[str, ...]:
    """The parts of a config that its OFFLINE table omits, because Trellis has applied them."""
    ingestion = (authored or {}).get("ingestionConfig") or {}
    shaping = tuple(key for key in SHAPING if ingestion.get(key))
    return (*shaping, *(key for key in CHOOSING if (authored or {}).get(key)))
