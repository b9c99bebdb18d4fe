"""A JSON Schema of trellis.yaml, from which editors complete and check it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, get_args

from trellis.dialects import names as dialects
from trellis.evolution.contract import ENTITIES, MODES
from trellis.evolution.table_writes import Mode, Strategy
from trellis.pipelines.streaming.options import OnViolation

_TEXT: Mapping[str, Any] = {"type": "string"}
_NAMES: Mapping[str, Any] = {
    "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}],
}
_MAPPING: Mapping[str, Any] = {"type": "object"}


def _choice(values: Sequence[str]) -> Mapping[str, Any]:
    """One of some words, or a text with a variable."""
    return {"anyOf": [{"enum": [*values]}, {"type": "string", "pattern": r"\$\{"}]}


def _rules_schema() -> Mapping[str, Any]:
    bound = {"type": ["number", "string"]}
    rules = {
        "accepted_values": {"type": "array"},
        "minimum": bound,
        "maximum": bound,
        "pattern": _TEXT,
        "not_null": {"type": "boolean"},
    }
    column = {"type": "object", "properties": rules, "additionalProperties": False}
    return {"type": "object", "additionalProperties": column}


def settings_schemas() -> Mapping[str, Mapping[str, Any]]:
    """The schema of each key."""
    contract = {
        "anyOf": [
            _choice(MODES),
            {"type": "string", "description": "A file with a contract."},
            {"type": "object", "properties": {entity: _choice(MODES) for entity in ENTITIES}},
        ]
    }
    return {
        "to": _described(_TEXT, "The destination, such as duckdb:shop.duckdb or postgresql://host/db."),
        "dataset": _described(_TEXT, "The dataset (schema) in the destination."),
        "dialect": _described(_choice(dialects()), "The schema language."),
        "name": _described(_TEXT, "The name of the schema, default after the destination."),
        "table": _described(_TEXT, "The root table, default the name of the first file."),
        "mode": _described(_choice(get_args(Mode)), "What happens to the rows that are there."),
        "strategy": _described(_choice(get_args(Strategy)), "How to merge."),
        "keys": _described(_NAMES, "The columns of the primary key to merge by."),
        "merge_keys": _described(_NAMES, "The columns of the merge key."),
        "schema": _described(_TEXT, "A schema document to start from."),
        "rules": _described(_rules_schema(), "What values may be, by column or table.column."),
        "contract": _described(contract, "What may change: a mode, a mode per entity, or a file."),
        "options": _described(_MAPPING, "Options of the dialect."),
        "master": _described(_TEXT, "The master of Spark, such as local[4] or yarn."),
        "remote": _described(_TEXT, "A Spark Connect server, such as sc://host."),
        "engine": _described(_choice(("spark", "inline")), "Where the tasks run."),
        "staging": _described(_TEXT, "A folder or URL where rows wait for their commit."),
        "format": _described(_TEXT, "The format of the sources, such as csv or avro."),
        "read_options": _described(_MAPPING, "Options of Spark's reader for the format."),
        "max_rejected": _described(
            {"anyOf": [{"type": "integer", "minimum": 0}, {"type": "string"}]},
            "How many records may be rejected: a number, or a share such as 5%.",
        ),
        "payload": _described(_TEXT, "The column that holds the records as JSON."),
        "trigger": _described(_TEXT, "Of a stream: available-now, or the time between batches."),
        "checkpoint": _described(_TEXT, "Of a stream: where Spark keeps how far it is."),
        "on_violation": _described(
            _choice(get_args(OnViolation)), "Of a stream: what a record does that breaks a contract."
        ),
        "kafka_columns": _described(_NAMES, "What is loaded of a topic beside the values."),
    }


def config_schema() -> dict[str, Any]:
    """The JSON Schema of a whole trellis.yaml."""
    settings = settings_schemas()
    profiles = {
        "type": "object",
        "description": "Settings that win over the others where --profile or TRELLIS_PROFILE names them.",
        "additionalProperties": {
            "type": "object",
            "properties": {key: {"$ref": f"#/properties/{key}"} for key in settings},
            "additionalProperties": False,
        },
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "trellis.yaml",
        "description": "Settings of loads. ${NAME} in a value is an environment variable.",
        "type": ["object", "null"],
        "properties": {**settings, "profiles": profiles},
        "additionalProperties": False,
    }


def _described(schema: Mapping[str, Any], description: str) -> Mapping[str, Any]:
    return {**schema, "description": description}
