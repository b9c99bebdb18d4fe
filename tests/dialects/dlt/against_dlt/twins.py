"""One dataset, loaded by dlt and by Trellis in turns, and what stands in it afterwards."""

from __future__ import annotations

import copy
import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

os.environ.setdefault("RUNTIME__DLTHUB_TELEMETRY", "false")
os.environ.setdefault("RUNTIME__LOG_LEVEL", "CRITICAL")

import dlt
import duckdb
import psycopg
from psycopg.rows import dict_row

import trellis
from dialects.dlt.against_dlt.compare import Picture, differences
from dialects.dlt.against_dlt.datasets import VALIDITY, Ask, Stored, document
from dialects.dlt.against_dlt.ours import options_of
from dialects.dlt.against_dlt.sources import Make
from dialects.dlt.against_dlt.theirs import hints_of

NAME = "shop"


@dataclass(frozen=True)
class Step:
    """One load into one table."""

    table: str
    items: Sequence[Any]
    options: Mapping[str, Any] = field(default_factory=dict)


class Place:
    """A dataset in one destination. `url` is Trellis' name of it, `theirs` makes dlt's."""

    def __init__(self, url: str, folder: Path, dataset: str = "shop_data") -> None:
        self.url = url
        self.folder = folder
        self.dataset = dataset

    @property
    def theirs(self) -> Any:
        if self.url.startswith("duckdb:"):
            return dlt.destinations.duckdb(self.url.removeprefix("duckdb:"))
        return dlt.destinations.postgres(self.url)

    def dlt(self, home: str = "home", name: str = NAME) -> Any:
        """A pipeline of dlt; another `home` is a machine on which it never ran."""
        return dlt.pipeline(
            name,
            destination=self.theirs,
            dataset_name=self.dataset,
            pipelines_dir=str(self.folder / home),
        )

    def trellis(self, name: str = NAME) -> trellis.Pipeline:
        return trellis.pipeline(name, to=self.url, dataset=self.dataset)

    def load(self, who: str, step: Step, home: str = "home") -> None:
        """`who` is "d" for dlt, "t" for Trellis."""
        if who == "d":
            items = copy.deepcopy(list(step.items))
            self.dlt(home).run(dlt.resource(items, name=step.table, **hints_of(step.options)))
        else:
            self.trellis().load(list(step.items), table=step.table, **options_of(step.options))

    def run(self, who: str, make: Make, batch: int, refresh: str | None = None) -> None:
        """`who` runs a batch of a source, on a machine on which nobody ran before."""
        if who == "d":
            self.dlt(f"home{batch}").run(make(dlt, batch), refresh=refresh)
        else:
            self.trellis().run(make(trellis, batch), refresh=refresh)

    def read(self) -> Content:
        """Everything that stands in the dataset."""
        if self.url.startswith("duckdb:"):
            with closing(duckdb.connect(self.url.removeprefix("duckdb:"))) as db:
                db.execute("SET TimeZone = 'UTC'")
                return Content.of(
                    lambda sql: db.execute(sql).fetchall(),
                    lambda sql: db.sql(sql).to_arrow_table().to_pylist(),
                    self.dataset,
                )
        with psycopg.connect(self.url, row_factory=dict_row) as server:
            server.execute("SET TIME ZONE 'UTC'")
            server.execute("SET datestyle = 'ISO'")
            return Content.of(
                lambda sql: [tuple(row.values()) for row in server.execute(sql.encode()).fetchall()],
                lambda sql: server.execute(sql.encode()).fetchall(),
                self.dataset,
            )


def _ranked(tables: dict[str, Stored]) -> dict[str, Stored]:
    """The tables with times of validity as numbers: the first, the second, ..."""
    times = sorted(
        {row[name] for table in tables.values() for row in table.rows for name in VALIDITY if row.get(name)}
    )
    for table in tables.values():
        for row in table.rows:
            row.update({name: times.index(row[name]) for name in VALIDITY if row.get(name)})
    return tables


@dataclass(frozen=True)
class Content:
    """The tables of a dataset, the versions of its schemas and its loads, in order."""

    tables: Mapping[str, Stored]
    versions: Sequence[tuple[int, str, str]]
    documents: Sequence[Mapping[str, Any]]
    loads: Sequence[tuple[str, str, int, str]]
    states: Sequence[tuple[str, int, int]]
    memories: Sequence[tuple[int, Mapping[str, Any]]]

    @staticmethod
    def of(ask: Ask, rows: Callable[[str], list[dict[str, Any]]], dataset: str) -> Content:
        types: dict[str, dict[str, str]] = {}
        for table, column, data_type in ask(
            "SELECT table_name, column_name, data_type FROM information_schema.columns "
            f"WHERE table_schema = '{dataset}' ORDER BY table_name, ordinal_position"
        ):
            types.setdefault(table, {})[column] = data_type
        versions = ask(
            "SELECT version, version_hash, schema_name, schema "
            f"FROM {dataset}._dlt_version ORDER BY inserted_at, version"
        )
        loads = ask(
            "SELECT load_id, schema_name, status, schema_version_hash "
            f"FROM {dataset}._dlt_loads ORDER BY inserted_at"
        )
        states = ask(
            "SELECT pipeline_name, version, engine_version, state "
            f"FROM {dataset}._dlt_pipeline_state ORDER BY created_at"
        )
        tables = {
            name: Stored(data_types, rows(f'SELECT * FROM {dataset}."{name}"'))
            for name, data_types in types.items()
            if not name.startswith("_dlt") and not name.startswith("_trellis")
        }
        system = {name: Stored(data_types) for name, data_types in types.items() if name.startswith("_dlt")}
        return Content(
            {**_ranked(tables), **system},
            [(version, version_hash, name) for version, version_hash, name, _ in versions],
            [document(text) for *_, text in versions],
            [tuple(row) for row in loads],  # type: ignore[misc]
            [(name, version, engine) for name, version, engine, _ in states],
            [(version, _memory(document(text))) for _, version, _, text in states],
        )

    @property
    def picture(self) -> Picture:
        return Picture(
            self.documents[-1]["tables"] if self.documents else {},
            self.tables,
            {load_id: number for number, (load_id, *_) in enumerate(self.loads)},
        )

    def hash_of_load(self) -> list[int | None]:
        """For each load the place of the schema version that it names, among those that are there."""
        order = [version_hash for _, version_hash, _ in self.versions]
        return [order.index(version) if version in order else None for *_, version in self.loads]


def _memory(state: Mapping[str, Any]) -> dict[str, Any]:
    """What a state says of sources and schemas; the rest names the destination and the moment."""
    sources = copy.deepcopy(state.get("sources") or {})
    for source in sources.values():
        for resource in (source.get("resources") or {}).values():
            for cursor in (resource.get("incremental") or {}).values():
                cursor["unique_hashes"].sort()  # dlt keeps a set
    return {"sources": sources, **{key: state.get(key) for key in ("default_schema_name", "schema_names")}}


def disagreements(theirs: Content, ours: Content, numbers: bool = True, states: bool = True) -> list[str]:
    """Where a dataset that both loaded differs from one that dlt loaded alone.

    Not compared, unless asked: the numbers of versions of schemas, and of states.
    """
    difference_texts = [str(difference) for difference in differences(theirs.picture, ours.picture)]
    for name in sorted({*theirs.tables} & {*ours.tables}):
        one, two = ([*side.tables[name].types] for side in (theirs, ours))
        if one != two:
            difference_texts.append(f"order of columns in {name}\n      dlt:     {one}\n      Trellis: {two}")
    pairs: list[tuple[str, Any, Any]] = [
        ("status", Counter(load[1:3] for load in theirs.loads), Counter(load[1:3] for load in ours.loads)),
        ("settings", *(side.documents[-1]["settings"] for side in (theirs, ours))),
        ("normalizers", *(side.documents[-1]["normalizers"] for side in (theirs, ours))),
    ]
    pairs.append(
        ("memory", *([m for m, _ in groupby(m for _, m in side.memories)] for side in (theirs, ours)))
    )
    pairs.append(("hashes", [h for _, h, _ in theirs.versions], [h for _, h, _ in ours.versions]))
    pairs.append(("loads", theirs.hash_of_load(), ours.hash_of_load()))
    if states:
        pairs.append(("states", *([v for v, _ in side.memories] for side in (theirs, ours))))
    if numbers:
        pairs.append(("versions", [v for v, _, _ in theirs.versions], [v for v, _, _ in ours.versions]))
        pairs.append(
            ("history", *([d["previous_hashes"] for d in side.documents] for side in (theirs, ours)))
        )
    difference_texts += [f"{what}\n      dlt:     {a}\n      Trellis: {b}" for what, a, b in pairs if a != b]
    return difference_texts
