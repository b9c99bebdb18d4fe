"""All faults of a schema document and its table config at once: of reading, and of what could be read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from trellis.dialects.pinot.document.faults import Fault, SchemaFaults
from trellis.dialects.pinot.document.fields import PinotSchema
from trellis.dialects.pinot.document.json_object import DUPLICATE_FIELD, ReadReport, Unknown
from trellis.dialects.pinot.document.known_keys import LISTS
from trellis.dialects.pinot.document.reader import examine
from trellis.dialects.pinot.table.known_keys import check_value_kinds
from trellis.dialects.pinot.validation.schema_rules import faults_of
from trellis.dialects.pinot.validation.table_config.all_rules import cluster_faults
from trellis.dialects.pinot.validation.table_rules import table_faults

_ORDER: Final = {
    key: position
    for position, key in enumerate(
        ("", "schemaName", *LISTS, "timeFieldSpec", "primaryKeyColumns", "enableColumnBasedNullHandling")
    )
}
_NEED_ALL_COLUMNS: Final = re.compile(
    r"/primaryKeyColumns/\d+|/segmentsConfig/timeColumnName|/ingestionConfig/transformConfigs/\d+"
)
_NEED_KEYS: Final = frozenset({"/isDimTable", "/upsertConfig", "/dedupConfig"})


def schema_faults(schema: PinotSchema, report: ReadReport) -> tuple[Fault, ...]:
    """Every fault of a schema that `examine` read, in the order of the document and without duplicates.

    Consequences of a fault of reading are left out, such as a missing key column where a column could not be
    read.
    """
    unread = {fault.pointer for fault in report.faults}
    faults_in_document = [*report.faults]
    for fault in faults_of(schema):
        moved = replace(fault, pointer=report.pointer_in_document(fault.pointer))
        if not _follows(moved, report) and not (moved.pointer in unread and _is_key(moved.pointer)):
            faults_in_document.append(moved)
    return _sorted(faults_in_document)


def config_faults(schema: PinotSchema, report: ReadReport, table: Mapping[str, Any]) -> tuple[Fault, ...]:
    """The faults of a table config that concern its rows, as far as the schema could be read."""
    return tuple(fault for fault in table_faults(schema, table) if not _follows(fault, report))


def deployment_faults(schema: PinotSchema, report: ReadReport, table: Any) -> tuple[Fault, ...]:
    """The faults for which only a cluster refuses a table config.

    None before all columns and values could be read: most would follow from what is wrong there.
    """
    if report.incomplete or not isinstance(table, Mapping):
        return ()
    table_report = ReadReport()
    check_value_kinds(table, table_report)
    if table_report.faults:
        return ()
    keyless = any(fault.pointer.startswith("/primaryKeyColumns") for fault in report.faults)
    return tuple(
        fault for fault in cluster_faults(schema, table) if not (keyless and fault.pointer in _NEED_KEYS)
    )


def _follows(fault: Fault, report: ReadReport) -> bool:
    if fault.message.startswith("schemaName is required"):
        return any(other.pointer == "/schemaName" for other in report.faults)
    if fault.message.startswith("When enable case insensitive"):
        return any(
            other.column == fault.column and other.message.startswith(DUPLICATE_FIELD)
            for other in report.faults
        )
    return report.incomplete and _NEED_ALL_COLUMNS.fullmatch(fault.pointer) is not None


def _is_key(place: str) -> bool:
    return not place.rpartition("/")[2].isdigit()


def _sorted(faults: Iterable[Fault]) -> tuple[Fault, ...]:
    def place(fault: Fault) -> tuple[int, int]:
        _, key, at, *_ = (*fault.pointer.split("/"), "", "")
        return _ORDER.get(key, len(_ORDER)), int(at) if at.isdigit() else -1

    return tuple(sorted(dict.fromkeys(faults), key=place))


@dataclass(frozen=True)
class SchemaResult:
    """A schema, and the keys of its document that Pinot ignores."""

    schema: PinotSchema
    unknown: tuple[Unknown, ...] = ()


def read_schema(document: str | bytes | Mapping[str, Any], where: str = "schema") -> SchemaResult:
    """The schema of a document, JSON text or its object.

    Raises SchemaFaults for a document that Pinot does not load, with all other faults too; SchemaError where
    the text is not JSON. `schema_rules.faults_of` finds the faults of a schema that loads.

    >>> result = read_schema('{"schemaName": "s", "metricFieldSpec": []}')
    >>> result.schema.name, [str(unknown) for unknown in result.unknown]
    ('s', ["/metricFieldSpec is ignored: did you mean 'metricFieldSpecs'?"])
    """
    schema, report = examine(document, where)
    if report.faults:
        raise SchemaFaults(where, schema_faults(schema, report))
    return SchemaResult(schema, tuple(report.unknown))
