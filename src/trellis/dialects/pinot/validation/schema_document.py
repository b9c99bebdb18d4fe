"""All faults of a schema document and its table config: of reading, or else of the rules of Pinot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from trellis.dialects.pinot.document.faults import Fault, SchemaFaults
from trellis.dialects.pinot.document.fields import PinotSchema
from trellis.dialects.pinot.document.json_object import ReadReport, Unknown
from trellis.dialects.pinot.document.reader import examine
from trellis.dialects.pinot.table.config import examine as examine_config
from trellis.dialects.pinot.validation.schema_rules import faults_of
from trellis.dialects.pinot.validation.table_config.all_rules import cluster_faults
from trellis.dialects.pinot.validation.table_rules import table_faults


def schema_faults(schema: PinotSchema, report: ReadReport) -> tuple[Fault, ...]:
    """The faults of reading a schema, or else of its rules."""
    return tuple(dict.fromkeys(report.faults or faults_of(schema)))


def config_faults(schema: PinotSchema, report: ReadReport, table: Any) -> tuple[Fault, ...]:
    """The faults of reading a table config, or else of its rules if the schema could be read."""
    read = examine_config(table)
    if report.faults or read.faults:
        return read.faults
    return (*table_faults(schema, table), *cluster_faults(schema, table))


@dataclass(frozen=True)
class SchemaResult:
    """A schema, and the keys of its document that Pinot ignores."""

    schema: PinotSchema
    unknown: tuple[Unknown, ...] = ()


def read_schema(document: str | bytes | Mapping[str, Any], where: str = "schema") -> SchemaResult:
    """The schema of a document, JSON text or its object.

    Raises SchemaFaults for a document that Pinot does not load, SchemaError where the text is not JSON.
    `schema_rules.faults_of` finds the faults of a schema that loads.

    >>> result = read_schema('{"schemaName": "s", "metricFieldSpec": []}')
    >>> result.schema.name, [str(unknown) for unknown in result.unknown]
    ('s', ["/metricFieldSpec is ignored: did you mean 'metricFieldSpecs'?"])
    """
    schema, report = examine(document, where)
    if report.faults:
        raise SchemaFaults(where, schema_faults(schema, report))
    return SchemaResult(schema, tuple(report.unknown))
