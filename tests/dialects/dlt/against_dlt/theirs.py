"""Streams through the real dlt: many in one pipeline, a table each."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import dlt
from dlt.common.json import json
from dlt.common.schema import Schema
from dlt.common.schema.utils import new_table
from dlt.pipeline.exceptions import PipelineStepFailed

from dialects.dlt.against_dlt.streams import PROFILES, Stream, has_lists_under_blank_keys, has_nested_ids

NORMALIZERS = "dlt.common.normalizers"


def schema_of(profile: str, tables: Iterable[str] = ()) -> Schema:
    """A schema with the settings of a profile, for these root tables."""
    profile_settings = PROFILES[profile]
    names = {"names": profile_settings["naming"]} if "naming" in profile_settings else {"names": "snake_case"}
    json: dict[str, Any] = {
        "module": f"{NORMALIZERS}.json.{profile_settings.get('normalizer', 'relational')}"
    }
    if "propagation" in profile_settings:
        json["config"] = {"propagation": profile_settings["propagation"]}
    schema = Schema(profile, normalizers={**names, "json": json})
    if "detections" in profile_settings:
        for detection in schema.settings.get("detections") or []:
            schema.remove_type_detection(detection)
        for detection in profile_settings["detections"]:
            schema.add_type_detection(detection)
    if "preferred_types" in profile_settings:
        schema.update_preferred_types(profile_settings["preferred_types"])
    if "default_hints" in profile_settings:
        schema.merge_hints(profile_settings["default_hints"])
    if "filters" in profile_settings:
        for table in tables:
            schema.update_table(new_table(table, columns=[]) | {"filters": profile_settings["filters"]})
    return schema


def hints_of(options: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a resource, from the options of a load."""
    hints: dict[str, Any] = {}
    if "mode" in options:
        strategy = options.get("strategy")
        mode = options["mode"]
        hints["write_disposition"] = {"disposition": mode, "strategy": strategy} if strategy else mode
    for ours, name in (("keys", "primary_key"), ("merge_keys", "merge_key")):
        if options.get(ours):
            hints[name] = list(options[ours])
    if options.get("columns"):
        hints["columns"] = {name: {"name": name, **keys} for name, keys in options["columns"].items()}
    if "contract" in options:
        hints["schema_contract"] = options["contract"]
    if "max_nesting" in options:
        hints["max_table_nesting"] = options["max_nesting"]
    return hints


def _resource(table: str, items: Sequence[Any], options: Mapping[str, Any]) -> Any:
    def rows() -> Iterator[Any]:
        if items:
            yield copy.deepcopy(list(items))

    return dlt.resource(rows, name=table, **hints_of(options))


def source_of(profile: str, resources: Mapping[str, tuple[Sequence[Any], Mapping[str, Any]]]) -> Any:
    """A source of resources: by table, the items and the options of a load."""
    profile_settings = PROFILES[profile]
    more = {
        name: profile_settings[name] for name in ("schema_contract", "root_key") if name in profile_settings
    }

    def tables() -> Iterator[Any]:
        for table, (items, options) in resources.items():
            yield _resource(table, items, options)

    return dlt.source(
        tables,
        schema=schema_of(profile, resources),
        max_table_nesting=profile_settings.get("max_nesting"),
        **more,
    )()


class Theirs:
    """A pipeline of dlt into a DuckDB file."""

    def __init__(self, folder: Path, name: str) -> None:
        self.file = folder / f"{name}.duckdb"
        self.pipeline = dlt.pipeline(
            f"p_{name}",
            destination=dlt.destinations.duckdb(str(self.file)),
            dataset_name="shop",
            pipelines_dir=str(folder / f"{name}.pipelines"),
        )

    def load(self, number: int, streams: Mapping[str, Stream]) -> None:
        """The load of that number of each stream, by table. Raises PipelineStepFailed."""
        profiles: dict[str, dict[str, tuple[Sequence[Any], Mapping[str, Any]]]] = {}
        for table, stream in streams.items():
            if number < len(stream.loads):
                load = stream.loads[number]
                profiles.setdefault(stream.profile, {})[table] = (load.items, load.options)
        sources = [source_of(profile, members) for profile, members in profiles.items()]
        if sources:
            self.pipeline.run(sources)

    def forget(self) -> None:
        """Give up the load that failed."""
        self.pipeline.abort_packages()


def run(folder: Path, streams: Mapping[str, Stream]) -> tuple[dict[str, Path], dict[str, str]]:
    """All streams: by table the DuckDB file they are in, and the error of those that failed."""
    files: dict[str, Path] = {}
    errors: dict[str, str] = {}
    left, attempt = dict(streams), 0
    for table, stream in streams.items():
        if has_nested_ids(stream) or has_lists_under_blank_keys(stream):  # most of these fail, and late
            files[table], errors[table] = _alone(folder, len(errors), table, left.pop(table))
    while left:
        batch = Theirs(folder, f"all{attempt}")
        attempt += 1
        culprit = _all_loads(batch, left)
        if culprit is None:
            files.update(dict.fromkeys(left, batch.file))
            break
        for table in culprit:
            files[table], errors[table] = _alone(folder, len(errors), table, left.pop(table))
    return files, {table: text for table, text in errors.items() if text}


def _alone(folder: Path, number: int, table: str, stream: Stream) -> tuple[Path, str]:
    """One stream by itself: the file it is in, and the error if it fails."""
    alone = Theirs(folder, f"one{number}")
    for load in range(len(stream.loads)):
        try:
            alone.load(load, {table: stream})
        except PipelineStepFailed as bad:
            alone.forget()
            return alone.file, f"load {load}, {bad.step}: {_reason(bad)}"
    return alone.file, ""


def _all_loads(batch: Theirs, streams: dict[str, Stream]) -> list[str] | None:
    """Load everything, or tell whom to leave out: all that fail before anything of their load is stored."""
    failed: list[str] = []
    for number in range(max(len(stream.loads) for stream in streams.values())):
        while True:
            try:
                batch.load(number, {t: s for t, s in streams.items() if t not in failed})
                break
            except PipelineStepFailed as bad:
                culprit = _culprit(bad, number, {t: s for t, s in streams.items() if t not in failed})
                batch.forget()
                failed.append(culprit)
                if bad.step == "load":
                    return failed
    return failed or None


def _culprit(bad: PipelineStepFailed, number: int, streams: Mapping[str, Stream]) -> str:
    """The table of the stream that an error is about: its mark is in most messages."""
    text = f"{bad} {bad.__cause__!r} {bad.exception!r}"
    for mark in re.findall(r"zz\d+zz", text):
        for table in streams:
            if mark in table:
                return table
    for table, stream in streams.items():
        if number < len(stream.loads) and not _is_carried(stream.loads[number].items):
            return table
    raise RuntimeError(f"cannot tell which stream failed: {text}") from bad


def _is_carried(items: Sequence[Any]) -> bool:
    """Whether dlt can write the items to the files it keeps them in."""
    try:
        json.typed_dumpb(items)
    except TypeError:
        return False
    return True


def _reason(bad: PipelineStepFailed) -> str:
    inner: BaseException = bad
    while inner.__cause__ is not None or inner.__context__ is not None:
        inner = inner.__cause__ or inner.__context__  # type: ignore[assignment]
    outer = str(bad.exception).replace("\n", " ")
    return f"{type(inner).__name__}: {str(inner)[:300]} | {type(bad.exception).__name__}: {outer[:600]}"
