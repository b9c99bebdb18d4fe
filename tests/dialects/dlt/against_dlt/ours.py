"""Streams through Trellis: each into a DuckDB file of its own."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import duckdb

import trellis
from dialects.dlt.against_dlt.streams import PROFILES, Stream
from trellis.schema.dict_form import column_of
from trellis.schema.model import Schema, Settings, Table


def schema_of(profile: str, table: str) -> Schema:
    """The settings of a profile for one root table, as a schema to hand over."""
    profile_settings = PROFILES[profile]
    normalizers: dict[str, Any] = {}
    config: dict[str, Any] = {}
    if "naming" in profile_settings:
        normalizers["names"] = profile_settings["naming"]
    if "normalizer" in profile_settings:
        normalizers["json"] = {"module": f"dlt.common.normalizers.json.{profile_settings['normalizer']}"}
    if "max_nesting" in profile_settings:
        config["max_nesting"] = profile_settings["max_nesting"]
    if "root_key" in profile_settings:
        config["root_key_propagation"] = profile_settings["root_key"]
    if "propagation" in profile_settings:
        config["propagation"] = profile_settings["propagation"]
    if config:
        normalizers.setdefault("json", {})["config"] = config
    settings = Settings(
        detections=tuple(profile_settings["detections"]) if "detections" in profile_settings else None,
        default_hints=profile_settings.get("default_hints"),
        preferred_types=profile_settings.get("preferred_types"),
        schema_contract=profile_settings.get("schema_contract"),
    )
    hints = (
        {"filters": profile_settings["filters"], "resource": table} if "filters" in profile_settings else {}
    )
    tables = {table: Table(table, hints=hints)} if hints else {}
    return Schema(profile, tables, settings=settings, normalizers=normalizers)


def options_of(options: Mapping[str, Any]) -> dict[str, Any]:
    columns = tuple(column_of(name, keys) for name, keys in (options.get("columns") or {}).items())
    return {**options, "columns": columns}


def run(file: Path, table: str, stream: Stream, folder: Path | None = None) -> str:
    """All loads of a stream; the error if one fails. With a folder items go there first, as JSON lines."""
    pipeline = trellis.pipeline(stream.profile, to=f"duckdb:{file}", dataset="shop")
    held = None
    try:
        for number, load in enumerate(stream.loads):
            source: Any = load.items
            if folder is not None:
                path = folder / f"{file.stem}-{number}.jsonl"
                path.write_text("".join(f"{json.dumps(item)}\n" for item in load.items))
                source = str(path)
            try:
                pipeline.load(
                    source, table=table, schema=schema_of(stream.profile, table), **options_of(load.options)
                )
            except Exception as bad:
                return f"load {number}: {type(bad).__name__}: {bad}"
            held = held or duckdb.connect(str(file))  # while it is held, opening it again is quick
    finally:
        if held is not None:
            held.close()
    return ""
