"""A schema for the records of files, all of which are read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from trellis.dialects.registration import ProposedSchema
from trellis.dialects.ytsaurus.inference.learning import ColumnKinds, LearnedSchema, schema_of_kinds
from trellis.dialects.ytsaurus.loads.options import LoadOptions
from trellis.dialects.ytsaurus.loads.schemas import brought_schema
from trellis.dialects.ytsaurus.loads.target import find_target
from trellis.dialects.ytsaurus.yson.values import Kind
from trellis.engine.survey.survey import Survey
from trellis.pipelines.inspect import survey_files
from trellis.schema.model import Schema

_KINDS: Final[Mapping[str, Kind]] = {
    "bool": "boolean",
    "int": "int64",
    "integer beyond 64 bits": "uint64",
    "float": "double",
    "string": "string",
    "object": "map",
    "array": "list",
    "binary": "string",
}
"""Kinds of JSON as YSON has them; times and decimals are text."""


def survey_schema(files: Sequence[str | Path], *, promote_integers: bool = False) -> LearnedSchema:
    """The schema of all records of files, in the order in which columns come up. Raises UsageError."""
    survey = Survey()
    survey_files(survey, files)
    columns = {}
    for name, node in survey.root.keys.items():
        kinds = columns[name] = ColumnKinds()
        for kind, seen in node.kinds.items():
            if kind != "null":
                place = f"{seen.first.file}:{seen.first.line}"
                kinds.add(_KINDS.get(kind, "string"), place, seen.count)
    return schema_of_kinds(columns, survey.records, promote_integers=promote_integers)


def propose_schema(
    files: Sequence[str | Path], settings: Mapping[str, Any], known: tuple[Schema, str] | None
) -> ProposedSchema | None:
    """A strong schema, where the user wants one: that of all records, or the known one with their columns."""
    options = LoadOptions.parse(settings)
    target = None if known is None else find_target(*known)
    is_settled = target is not None and (target.mode == "weak" or not target.schema.strict)
    if options.schema_mode != "strong" or is_settled:
        return None
    learned = survey_schema(files, promote_integers=options.promote_integers)
    if target is None:
        note = "the schema was learned from all records; `trellis table infer` gives the reasons"
        mixed = [
            f"column {item.column.name} is any: {item.reason}" for item in learned.columns if item.is_mixed
        ]
        return ProposedSchema(brought_schema(learned.schema), "; ".join([note, *mixed]))
    added = [item for item in learned.columns if item.column.name not in target.schema.by_name]
    if not added:
        return None
    columns = (*target.schema.columns, *(item.column for item in added))
    note = "; ".join(f"column {item.column.name} was added: {item.reason}" for item in added)
    return ProposedSchema(brought_schema(replace(target.schema, columns=columns)), note)
