"""The steps by which a changed schema reaches a table, in order: schema, table, reload, backfill."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from trellis.dialects.pinot.document.fields import PinotSchema
from trellis.dialects.pinot.document.writer import document_of
from trellis.dialects.pinot.schema_changes.changes import (
    Change,
    Effort,
    changes,
    incompatibilities,
    is_same_schema,
)
from trellis.dialects.pinot.table.config import name_of, table_config
from trellis.dialects.pinot.table.generated_config import target_table
from trellis.dialects.pinot.table.ingestion_job import CONTROLLER
from trellis.dialects.pinot.value.json_text import compact


@dataclass(frozen=True)
class Step:
    """One step; a REST call where the controller does it, with `{jobId}` to fill in."""

    description: str
    method: str | None = None
    path: str | None = None
    body: Any = None

    def curl(self, controller: str = CONTROLLER) -> str | None:
        """The call as a shell command; None for a manual step."""
        if self.method is None:
            return None
        words = ["curl", "-sSf", "-X", self.method, f"{controller}{self.path}"]
        if self.body is not None:
            words += ["-H", "Content-Type: application/json", "-d", compact(self.body)]
        return shlex.join(words)


@dataclass(frozen=True)
class Plan:
    """The changes, the reasons against making them in place, and the steps; empty without a change."""

    changes: tuple[Change, ...]
    problems: tuple[str, ...]
    steps: tuple[Step, ...]

    @property
    def in_place(self) -> bool:
        return not self.problems


def plan(
    old: PinotSchema,
    new: PinotSchema,
    tables: Sequence[Mapping[str, Any]] = (),
) -> Plan:
    """The migration of the tables of a schema from the old to the new one.

    `tables` are the target configs of the tables: one, or the two halves of a hybrid table; without them an
    OFFLINE table named like the schema is assumed. A rename, a drop, another type or number of values needs a
    new table, which is created beside the old one. Raises SchemaError for a table config that cannot be read.

    >>> from trellis.dialects.pinot.document.fields import FieldSpec
    >>> from trellis.dialects.pinot.document.types import PinotType
    >>> migration = plan(PinotSchema("s"), PinotSchema("s", (FieldSpec("n", PinotType.INT),)))
    >>> [f"{step.method} {step.path}" for step in migration.steps][1:3]
    ['PUT /schemas/s?reload=false', 'POST /segments/s/reload?type=OFFLINE']
    """
    transforms = dict(pair for table in tables for pair in table_config(table).transforms)
    differences = changes(old, new, transforms)
    if is_same_schema(old, new):
        return Plan((), (), ())
    problems = incompatibilities(old, new)
    if old.name != new.name:
        problems = (*problems, f"schemaName changed (old: {old.name}, new: {new.name})")
    if problems:
        return Plan(differences, problems, tuple(_new_table_steps(old, new, tables)))
    return Plan(differences, (), tuple(_in_place_steps(new, tables, differences)))


def _in_place_steps(
    new: PinotSchema, tables: Sequence[Mapping[str, Any]], differences: tuple[Change, ...]
) -> Iterator[Step]:
    document, name = document_of(new), new.name
    yield Step("check the new schema", "POST", "/schemas/validate", document)
    yield Step("replace the schema; do not reload yet", "PUT", f"/schemas/{name}?reload=false", document)
    yield from (_table_step(table) for table in tables)
    if any(change.effort is not Effort.NONE for change in differences):
        for kind in _kinds(tables):
            yield Step(
                f"reload the {kind} table at once: until it is done, queries see old and new segments",
                "POST",
                f"/segments/{name}/reload?type={kind}",
            )
        yield Step("wait until every segment is reloaded", "GET", "/segments/segmentReloadStatus/{jobId}")
    backfills = [change for change in differences if change.effort is Effort.BACKFILL]
    if backfills:
        yield Step(
            f"load the old data again, which a reload does not change: {'; '.join(map(str, backfills))}"
        )


def _new_table_steps(
    old: PinotSchema, new: PinotSchema, tables: Sequence[Mapping[str, Any]]
) -> Iterator[Step]:
    name = new.name if new.name != old.name else _next_name(old.name or "")
    beside = replace(new, name=name)
    yield Step("make the new schema beside the old one", "POST", "/schemas", document_of(beside))
    for table in tables or (target_table("OFFLINE", beside).config,):
        new_kind = table_config(table).kind
        document = {**table, "tableName": f"{name}_{new_kind}"}
        yield Step(f"make the new {new_kind} table", "POST", "/tables", document)
    yield Step(f"load all data from the source into {name}")
    yield Step(f"compare the number of rows of {name} with that of {old.name}", "GET", f"/tables/{name}/size")
    yield Step(f"let the queries and the jobs use {name} instead of {old.name}")
    for kind in _kinds(tables):
        yield Step(f"delete the old {kind} table", "DELETE", f"/tables/{old.name}?type={kind.lower()}")
    yield Step("delete the old schema", "DELETE", f"/schemas/{old.name}")


def _table_step(document: Mapping[str, Any]) -> Step:
    config = table_config(document)
    path = f"/tables/{name_of(config.name)}_{config.kind}"
    return Step(f"update the config of the {config.kind} table", "PUT", path, dict(document))


def _kinds(tables: Sequence[Mapping[str, Any]]) -> list[str]:
    return [table_config(table).kind for table in tables] or ["OFFLINE"]


def _next_name(name: str) -> str:
    head, mark, number = name.rpartition("_v")
    return f"{head}_v{int(number) + 1}" if mark and number.isdigit() else f"{name}_v2"
