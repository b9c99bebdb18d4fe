"""The schema is the user's: how it is read and taken over, and what a load may ask of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from trellis.dialects.pinot.document.faults import SchemaFaults
from trellis.dialects.pinot.document.fields import PinotSchema
from trellis.dialects.pinot.document.reader import parse, read_schema
from trellis.dialects.pinot.options import TABLE_CONFIG
from trellis.dialects.pinot.schema_changes.changes import incompatibilities, stored_as
from trellis.dialects.pinot.stored_schema import METADATA, PREFIX, Authored, authored_of, with_authored
from trellis.dialects.pinot.table.config import table_config
from trellis.dialects.pinot.table.row_versions import row_choice
from trellis.dialects.pinot.validation.schema_rules import faults_of
from trellis.errors import SchemaError, UsageError
from trellis.evolution.dialect.defaults import DefaultSchemas
from trellis.evolution.dialect.own_metadata import new_schema
from trellis.evolution.dialect.schemas import TableRequest
from trellis.schema.model import Schema
from trellis.schema.naming import Naming

_GIVEN: Final = "given"


class PinotSchemas(DefaultSchemas):
    metadata = METADATA
    prefix = PREFIX

    def parse_document(self, text: str, where: str) -> Schema | None:
        """Every fault of the document at once; unknown keys are left to `lint`."""
        document = read_schema(text, where)
        if not document.name:
            raise SchemaError(f"{where}: schemaName is missing; it is the name of the table")
        return with_authored(new_schema(_GIVEN, METADATA), Authored(document))

    def merge_user_schema(
        self, schema: Schema, user_schema: Schema, naming_of: Callable[[Schema], Naming]
    ) -> Schema:
        known, brought = authored_of(schema), authored_of(user_schema)
        new = brought.schema
        if brought.table.document and not known.table.document:
            known = replace(known, table=brought.table)
        if new is None and not user_schema.tables:
            return schema  # a source that declares nothing
        if new is None:
            raise SchemaError(
                f"schema {user_schema.name} is not a Pinot schema; give the schema document that Pinot has "
                "of it"
            )
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
        chosen = {name: value for name, value in settings.items() if name != TABLE_CONFIG}
        options, table = known.options.over(chosen), known.table
        if known.schema is not None and options.view != known.options.view:
            raise UsageError(
                f"option view={options.view}: table {known.schema.name} holds rows of the view "
                f"{known.options.view}; load into another dataset, or leave it out"
            )
        if settings.get(TABLE_CONFIG) is not None:
            document, place = settings[TABLE_CONFIG], f"option {TABLE_CONFIG}"
            if isinstance(document, str):
                document = parse(document, place, "table config")
            table = table_config(document, place)
        configured = Authored(known.schema, table, options)
        if known.schema is not None and configured != known:
            _refuse_faulty(known.schema, configured)
        return schema if configured == known else with_authored(schema, configured)

    def apply_request(self, schema: Schema, request: TableRequest, naming: Naming) -> Schema:
        hints = request.hints_in_words() or (request.contract and "a contract")
        if hints:
            raise UsageError(f"{hints}: a table of Pinot has its own from its schema; leave it out")
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
        merges = request.mode in (None, "merge") and row_choice(authored.schema, authored.table) is not None
        if merges and not authored.schema.primary_key:
            raise UsageError(
                f"upsertConfig, dedupConfig: the schema of {authored.schema.name} has no primaryKeyColumns "
                "to merge by"
            )
        return schema


def _refuse_faulty(schema: PinotSchema, authored: Authored) -> None:
    """Raises SchemaFaults for what is wrong with a schema, or with it and the table config."""
    faults = faults_of(schema, authored.table.document or None)
    if authored.options.pinot_jars:
        faults = tuple(fault for fault in faults if not fault.is_unsupported_function)
    if faults:
        raise SchemaFaults(f"schema {schema.name}", faults)
