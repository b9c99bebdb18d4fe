"""The parts of a table config that shape the rows, and those that Trellis does not carry out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, cast, get_args

from trellis.dialects.pinot.document.faults import Fault, SchemaFaults
from trellis.dialects.pinot.document.json_object import ReadReport, shown
from trellis.dialects.pinot.document.known_keys import is_schema
from trellis.dialects.pinot.table.known_keys import TableConfigObject, check_value_kinds, values_at
from trellis.errors import SchemaError

_IN_PINOT: Final = "is carried out by Pinot only: a load needs a table config without it"
COMPUTED_FIELDS: Final = "generateColumn"
"""The enricher that Trellis carries out: it computes fields by functions."""


def unsupported_parts(document: Mapping[str, Any]) -> Iterator[Fault]:
    """A fault for each such part: a load refuses it, though Pinot takes it.

    >>> config = {"ingestionConfig": {"aggregationConfigs": [{"columnName": "n"}]}}
    >>> [fault.pointer for fault in unsupported_parts(config)]
    ['/ingestionConfig/aggregationConfigs']
    """
    for key in (
        "aggregationConfigs",
        "schemaConformingTransformerConfig",
        "schemaConformingTransformerV2Config",
    ):
        for place, part in values_at(document, f"/ingestionConfig/{key}"):
            if part not in ([], ()):
                yield Fault(place, f"{key} {_IN_PINOT}")
    for place, enricher in values_at(document, "/ingestionConfig/enrichmentConfigs/*"):
        kind = enricher.get("enricherType") if isinstance(enricher, Mapping) else None
        if kind != COMPUTED_FIELDS:
            yield Fault(place, f"the enricher {kind} {_IN_PINOT}")


TableKind = Literal["OFFLINE", "REALTIME"]
CollectionMode = Literal["NONE", "NON_PRIMITIVE", "ALL"]
SUFFIXES: Final = ("_OFFLINE", "_REALTIME")


@dataclass(frozen=True)
class ComplexTypeConfig:
    """`complexTypeConfig`: how nested values become columns and rows."""

    delimiter: str = "."
    unnest: tuple[str, ...] = ()
    to_json: CollectionMode = "NON_PRIMITIVE"
    rename: Mapping[str, str] = field(default_factory=dict)

    def to_text(self, values: Sequence[Any]) -> bool:
        """Whether a list that is not unnested becomes JSON text.

        >>> [ComplexTypeConfig().to_text(value) for value in ([], [1, {}], [{}], [[1]])]
        [False, False, True, True]
        """
        if self.to_json == "NON_PRIMITIVE":
            return bool(values) and isinstance(values[0], (Mapping, list, tuple))
        return self.to_json == "ALL"


@dataclass(frozen=True)
class EnricherConfig:
    """One of `enrichmentConfigs`: functions of fields, computed before or after flattening."""

    functions: tuple[tuple[str, str], ...]
    before_flattening: bool = False


@dataclass(frozen=True)
class TableConfig:
    """The parts of a table config that concern rows. `document` is all of it."""

    name: str = ""
    kind: TableKind = "OFFLINE"
    time_column: str | None = None
    transforms: tuple[tuple[str, str], ...] = ()
    filter: str | None = None
    complex: ComplexTypeConfig | None = None
    continue_on_error: bool = False
    row_time_check: bool = False
    segment_time_check: bool = True
    document: Mapping[str, Any] = field(default_factory=dict)
    enrichers: tuple[EnricherConfig, ...] = ()


def table_config(document: Mapping[str, Any] | None, where: str = "table config") -> TableConfig:
    """Read a table config. Raises SchemaError with every fault and its place."""
    if document is None:
        return TableConfig()
    refuse_schema(document, where)
    config, faults = examine(document)
    if faults:
        raise SchemaFaults(where, faults)
    return config


def refuse_schema(document: Any, where: str) -> None:
    """Raises SchemaError for a schema in place of a table config."""
    if is_schema(document):
        raise SchemaError(
            f"{where}: this is a schema, not a table config: pass the document that has tableName"
        )


def examine(document: Any) -> tuple[TableConfig, tuple[Fault, ...]]:
    """As much of a table config as could be read, with a fault for everything else."""
    if not isinstance(document, Mapping):
        return TableConfig(), (Fault("", f"an object is expected, not {shown(document)}"),)
    report = ReadReport()
    check_value_kinds(document, report)
    top = TableConfigObject(document, "", report)
    ingestion = top.child_object("ingestionConfig")
    transforms = _transforms(ingestion)
    realtime = top.choice("tableType", get_args(TableKind), ignore_case=True) == "REALTIME"
    config = TableConfig(
        name_of(top.text("tableName") or ""),
        "REALTIME" if realtime else "OFFLINE",
        top.child_object("segmentsConfig").text("timeColumnName") or None,
        tuple(transforms.items()),
        ingestion.child_object("filterConfig").text("filterFunction") or None,
        _complex(ingestion),
        ingestion.flag("continueOnError"),
        ingestion.flag("rowTimeValueCheck"),
        ingestion.flag("segmentTimeValueCheck", default=True),
        document,
        tuple(_enrichers(ingestion)),
    )
    return config, tuple(dict.fromkeys(report.faults))


def name_of(table: str) -> str:
    """The name of a table without its type, which is the name of its schema.

    >>> name_of("rides_OFFLINE"), name_of("rides")
    ('rides', 'rides')
    """
    for suffix in SUFFIXES:
        table = table.removesuffix(suffix)
    return table


def pinot_table_name(name: str) -> str:
    """The name that a table gets in Pinot, where two underscores end it in a topic or segment.

    >>> pinot_table_name("my rides__2024_OFFLINE"), pinot_table_name("42")
    ('my_rides_2024', '42')
    """
    return re.sub(r"_{2,}", "_", re.sub(r"\W", "_", name_of(name))).strip("_") or "records"


def _transforms(ingestion: TableConfigObject) -> dict[str, str]:
    """The functions by column."""
    transforms: dict[str, str] = {}
    for transform in ingestion.objects("transformConfigs"):
        column, function = transform.text("columnName"), transform.text("transformFunction")
        if column and function and column not in transforms:
            transforms[column] = function
        elif column and function:
            transform.fault(f"Cannot set more than one transform function on column: {column}.")
        elif not any(isinstance(value, Mapping | list) for value in transform.document.values()):
            transform.fault("a transform needs both columnName and transformFunction")
    return transforms


def _enrichers(ingestion: TableConfigObject) -> Iterator[EnricherConfig]:
    for enricher in ingestion.objects("enrichmentConfigs"):
        if enricher.text("enricherType") == COMPUTED_FIELDS:
            functions = enricher.child_object("properties").mapping("fieldToFunctionMap")
            yield EnricherConfig(tuple(functions.items()), enricher.flag("preComplexTypeTransform"))


def _complex(ingestion: TableConfigObject) -> ComplexTypeConfig | None:
    if ingestion.raw_value("complexTypeConfig") is None:
        return None
    config = ingestion.child_object("complexTypeConfig")
    delimiter = config.text("delimiter")
    mode = config.choice("collectionNotUnnestedToJson", get_args(CollectionMode)) or "NON_PRIMITIVE"
    return ComplexTypeConfig(
        "." if delimiter is None else delimiter,
        tuple(sorted(config.text_list("fieldsToUnnest"))),
        cast(CollectionMode, mode),
        config.mapping("prefixesToRename"),
    )
