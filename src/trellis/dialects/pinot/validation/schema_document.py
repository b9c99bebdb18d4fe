"""A schema document that Pinot loads, or every fault of it at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from trellis.dialects.pinot.document.faults import SchemaFaults
from trellis.dialects.pinot.document.fields import PinotSchema
from trellis.dialects.pinot.document.json_object import Unknown
from trellis.dialects.pinot.document.reader import examine
from trellis.dialects.pinot.document.types import BASE, Profile
from trellis.dialects.pinot.validation.all_rules import schema_faults


@dataclass(frozen=True)
class SchemaResult:
    """A schema, and the keys of its document that Pinot ignores."""

    schema: PinotSchema
    unknown: tuple[Unknown, ...] = ()


def read_schema(
    document: str | bytes | Mapping[str, Any], profile: Profile = BASE, where: str = "schema"
) -> SchemaResult:
    """The schema of a document, JSON text or its object.

    Raises SchemaFaults for a document that Pinot does not load, with all other faults too; SchemaError where
    the text is not JSON. `schema_rules.faults_of` finds the faults of a schema that loads.

    >>> result = read_schema('{"schemaName": "s", "metricFieldSpec": []}')
    >>> result.schema.name, [str(unknown) for unknown in result.unknown]
    ('s', ["/metricFieldSpec is ignored: did you mean 'metricFieldSpecs'?"])
    """
    schema, report = examine(document, profile, where)
    if report.faults:
        followed = (profile, BASE) if profile.extended else (profile,)
        raise SchemaFaults(where, schema_faults(schema, report, *followed))
    return SchemaResult(schema, tuple(report.unknown))
