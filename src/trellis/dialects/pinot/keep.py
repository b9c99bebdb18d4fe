"""The schema is the user's: how it is taken over, and what is kept with it (spec pinot.md, 7, 8)."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from trellis.dialects.pinot.document.comparison.compatibility import incompatibilities, stored_as
from trellis.dialects.pinot.document.comparison.migration_plan import Step, plan
from trellis.dialects.pinot.document.faults import SchemaFaults
from trellis.dialects.pinot.document.fields import PinotSchema
from trellis.dialects.pinot.document.reader import read_schema
from trellis.dialects.pinot.document.types import EXTENDED_PROFILE
from trellis.dialects.pinot.document.validation.schema_rules import faults_of
from trellis.dialects.pinot.document.writer import document_of
from trellis.dialects.pinot.options import OPTIONS, TABLE_CONFIG
from trellis.dialects.pinot.row_transform import program_of
from trellis.dialects.pinot.stored_schema import (
    JOURNAL,
    PREFIX,
    Authored,
    authored_of,
    table_name,
    with_authored,
)
from trellis.dialects.pinot.table.config import TableConfig, table_config
from trellis.errors import SchemaError, UsageError
from trellis.evolution.dialect import Journal, Request, State
from trellis.evolution.journal import load_records, new_schema
from trellis.evolution.loading import ChainLoad, KeyedLoad, Load, Mode
from trellis.evolution.quiet import QuietKeep, asked_of
from trellis.schema.model import Schema, Table
from trellis.schema.naming import Naming

_GIVEN: Final = "given"


class PinotKeep(QuietKeep):
    prefix = PREFIX
    options: tuple[str, ...] = OPTIONS
    files: tuple[str, ...] = (TABLE_CONFIG,)

    def new_schema(self, name: str) -> Schema:
        return new_schema(name, JOURNAL)

    def document(self, text: str, where: str) -> Schema | None:
        """Every fault of the document at once; unknown keys are left to `lint`."""
        found = read_schema(text, EXTENDED_PROFILE, where).schema
        if not found.name:
            raise SchemaError(f"{where}: schemaName is missing; it is the name of the table")
        return with_authored(new_schema(_GIVEN, JOURNAL), Authored(found))

    def taken(self, schema: Schema, given: Schema, naming_of: Callable[[Schema], Naming]) -> Schema:
        known, brought = authored_of(schema), authored_of(given)
        new = brought.schema
        if brought.table.document and not known.table.document:
            known = replace(known, table=brought.table)
        if new is None:
            raise SchemaError(f"schema {given.name} is none of Pinot; give the document that Pinot has of it")
        _refuse_faulty(new, known)
        if known.schema is not None:
            if known.schema.name != new.name:
                raise SchemaError(
                    f"the dataset holds table {known.schema.name}, the schema given is that of {new.name}; "
                    "load it into another dataset"
                )
            if problems := incompatibilities(known.schema, new):
                raise SchemaError(
                    f"Backward incompatible schema {new.name}. Reason: {'; '.join(problems)}. "
                    "`trellis pinot plan` shows what a new table and a backfill would take"
                )
            new = stored_as(known.schema, new)
        return with_authored(schema, replace(known, schema=new))

    def configure(self, schema: Schema, settings: Mapping[str, Any], family: str) -> Schema:
        known = authored_of(schema)
        said = {name: value for name, value in settings.items() if name != TABLE_CONFIG}
        options, table = known.options.over(said), known.table
        if known.schema is not None and options.view != known.options.view:
            raise UsageError(
                f"option view={options.view}: table {known.schema.name} holds rows of the view "
                f"{known.options.view}; load into another dataset, or leave it out"
            )
        if settings.get(TABLE_CONFIG) is not None:
            table = table_config(_object(settings[TABLE_CONFIG]), f"option {TABLE_CONFIG}")
        made = Authored(known.schema, table, options)
        if known.schema is not None and made != known:
            _refuse_faulty(known.schema, made)
        return schema if made == known else with_authored(schema, made)

    def prepare(self, schema: Schema, request: Request, naming: Naming) -> Schema:
        asked = asked_of(request) or (request.contract and "a contract")
        if asked:
            raise UsageError(f"{asked}: a table of Pinot has its own from its schema; leave it out")
        authored = authored_of(schema)
        if authored.schema is None:
            raise UsageError(
                "there is no Pinot schema yet: give one with --schema FILE, or have one made by "
                "`trellis pinot infer SOURCE`"
            )
        if request.mode == "merge" and not authored.schema.primary_key:
            raise UsageError(
                f"mode merge: the schema of {authored.schema.name} has no primaryKeyColumns to merge by"
            )
        return schema

    def new_table(self, schema: Schema, name: str, parent: str | None) -> Table:
        return Table(name).with_hints(write_disposition="append", resource=name)

    def complete(self, before: Schema, after: Schema, touched: Collection[str]) -> Schema:
        return after.with_tables(
            *(self.saw_data(after.tables[name]) for name in touched if name in after.tables)
        )

    def loads(
        self,
        schema: Schema,
        roots: Sequence[str],
        touched: Collection[str],
        mode: Mode | None,
        now: datetime,
    ) -> tuple[Load, ...]:
        authored = authored_of(schema).schema
        if authored is None:
            return ()
        name = table_name(authored)
        if mode == "replace":
            return (ChainLoad(name, "replace"),)
        if name not in touched:
            return ()
        if mode == "merge":
            return (KeyedLoad(name, authored.primary_key, None, "replace"),)
        return (KeyedLoad(name),)

    def filled(self, schema: Schema, now: datetime) -> Mapping[str, Mapping[str, Any]]:
        """The defaults, as a reload of Pinot fills them in (spec pinot.md, 7)."""
        program = program_of(authored_of(schema), now)
        return {} if program is None else {program.table: program.defaults()}

    def ddl(
        self, before: Schema, after: Schema, dataset: str, family: str, settings: Mapping[str, Any]
    ) -> tuple[str, Sequence[str]] | None:
        """What a cluster is asked to do, in its order."""
        old, new = authored_of(before).schema, authored_of(after)
        return None if new.schema is None else ("PINOT", _commands(old, new.schema, new.table))

    def journal(self) -> Journal:
        return JOURNAL

    def records(
        self, schema: Schema, load_id: str, now: datetime, *, fresh: bool, state: State | None
    ) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        return load_records(schema, JOURNAL, load_id, now, fresh=fresh)


def _refuse_faulty(schema: PinotSchema, authored: Authored) -> None:
    """Raises SchemaFaults for what is wrong with a schema, or with it and the table config."""
    if faults := faults_of(schema, authored.options.followed, authored.table.document or None):
        raise SchemaFaults(f"schema {schema.name}", faults)


def _commands(old: PinotSchema | None, new: PinotSchema, table: TableConfig) -> list[str]:
    tables = [table.document] if table.document else []
    if old is None:
        found = [Step("make the schema", "POST", "/schemas", document_of(new))]
        found += [Step("make the table", "POST", "/tables", dict(each)) for each in tables]
    else:
        found = list(plan(old, new, tables).steps)
    return [f"# {each.description}\n{each.curl() or ''}".rstrip() for each in found]


def _object(said: Any) -> Any:
    if not isinstance(said, str):
        return said
    try:
        return json.loads(said)
    except json.JSONDecodeError as error:
        raise UsageError(
            f"option {TABLE_CONFIG}: not JSON: {error.msg} in line {error.lineno}, column {error.colno}"
        ) from None
