"""The parts of a table config that shape the rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType
from typing import Any, Final, Literal

from trellis.dialects.pinot.document.faults import Fault, SchemaFaults
from trellis.dialects.pinot.document.json_object import Ledger, shown
from trellis.dialects.pinot.document.recognition import is_schema
from trellis.dialects.pinot.table.json_object import TableNode
from trellis.dialects.pinot.table.known_keys import look_at_kinds
from trellis.errors import SchemaError

Kind = Literal["OFFLINE", "REALTIME"]
CollectionMode = Literal["NONE", "NON_PRIMITIVE", "ALL"]
SUFFIXES: Final = ("_OFFLINE", "_REALTIME")


class TableType(Enum):
    """What `tableType` may say."""

    OFFLINE = "OFFLINE"
    REALTIME = "REALTIME"


class Collections(Enum):
    """What `collectionNotUnnestedToJson` may say: which lists become JSON text."""

    NONE = "NONE"
    NON_PRIMITIVE = "NON_PRIMITIVE"
    ALL = "ALL"


@dataclass(frozen=True)
class ComplexConfig:
    """`complexTypeConfig`: how nested values become columns and rows."""

    delimiter: str = "."
    unnest: tuple[str, ...] = ()
    to_json: CollectionMode = "NON_PRIMITIVE"
    rename: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    def to_text(self, values: Sequence[Any]) -> bool:
        """Whether a list that is not unnested becomes JSON text.

        >>> [ComplexConfig().to_text(value) for value in ([], [1, {}], [{}], [[1]])]
        [False, False, True, True]
        """
        if self.to_json == "NON_PRIMITIVE":
            return bool(values) and isinstance(values[0], (Mapping, list, tuple))
        return self.to_json == "ALL"


@dataclass(frozen=True)
class ConformingConfig:
    """`schemaConformingTransformerConfig`: where fields go that are no columns.

    A column of the rest that is None is switched off. `dropped` are the paths of fields that go nowhere.
    """

    indexable: str | None = "json_data"
    unindexable: str | None = "json_data_no_idx"
    suffix: str = "_noindex"
    paths: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    dropped: frozenset[str] = frozenset()


@dataclass(frozen=True)
class TableConfig:
    """A table config as far as it concerns rows. `document` is all of it."""

    name: str = ""
    kind: Kind = "OFFLINE"
    time_column: str | None = None
    null_handling: bool = False
    transforms: tuple[tuple[str, str], ...] = ()
    filter: str | None = None
    complex: ComplexConfig | None = None
    conforming: ConformingConfig | None = None
    continue_on_error: bool = False
    row_time_check: bool = False
    segment_time_check: bool = True
    document: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True)
class ReadTable:
    """A table config as far as it could be read, and what could not be.

    `places` are the numbers that its transforms have in the document.
    """

    config: TableConfig
    faults: tuple[Fault, ...]
    places: tuple[int, ...] = ()

    def misread(self, place: str) -> bool:
        """Whether something at or below a place could not be read, or an object that it stands in."""
        return any(each.pointer.startswith(place) or place.startswith(each.pointer) for each in self.faults)


def table_config(document: Mapping[str, Any] | None, where: str = "table config") -> TableConfig:
    """Read a table config. Raises SchemaError, with everything that is wrong and its place."""
    if document is None:
        return TableConfig()
    if is_schema(document):
        raise SchemaError(
            f"{where}: this is a schema, not a table config: give the document that has tableName"
        )
    found = examine(document)
    if found.faults:
        raise SchemaFaults(where, found.faults)
    return found.config


def examine(document: Any) -> ReadTable:
    """Read what can be read of a table config, and note everything else."""
    if not isinstance(document, Mapping):
        return ReadTable(TableConfig(), (Fault("", None, f"an object is expected, not {shown(document)}"),))
    ledger = Ledger()
    look_at_kinds(document, ledger)
    top = TableNode(document, "", ledger)
    ingestion = top.inner("ingestionConfig")
    transforms = _transforms(ingestion)
    config = TableConfig(
        name_of(top.text("tableName") or ""),
        "REALTIME" if top.word("tableType", TableType) is TableType.REALTIME else "OFFLINE",
        top.inner("segmentsConfig").text("timeColumnName") or None,
        top.inner("tableIndexConfig").flag("nullHandlingEnabled"),
        tuple(transforms.values()),
        ingestion.inner("filterConfig").text("filterFunction") or None,
        _complex(ingestion),
        _conforming(ingestion),
        ingestion.flag("continueOnError"),
        ingestion.flag("rowTimeValueCheck"),
        ingestion.flag("segmentTimeValueCheck", default=True),
        document,
    )
    return ReadTable(config, tuple(dict.fromkeys(ledger.faults)), tuple(transforms))


def name_of(table: str) -> str:
    """The name of a table without its type, which is that of its schema.

    >>> name_of("rides_OFFLINE"), name_of("rides")
    ('rides', 'rides')
    """
    for suffix in SUFFIXES:
        table = table.removesuffix(suffix)
    return table


def _transforms(ingestion: TableNode) -> dict[int, tuple[str, str]]:
    """The transforms by their numbers in the document: of each its column and its function."""
    made: dict[int, tuple[str, str]] = {}
    for at, each in ingestion.items("transformConfigs"):
        column, function = each.text("columnName"), each.text("transformFunction")
        if column and function and column not in dict(made.values()):
            made[at] = (column, function)
        elif column and function:
            each.fault(f"Cannot set more than one transform function on column: {column}.")
        elif not any(isinstance(said, Mapping | list) for said in each.document.values()):
            each.fault("a transform needs both columnName and transformFunction")
    return made


def _complex(ingestion: TableNode) -> ComplexConfig | None:
    if ingestion.said("complexTypeConfig") is None:
        return None
    said = ingestion.inner("complexTypeConfig")
    delimiter = said.text("delimiter")
    mode = said.word("collectionNotUnnestedToJson", Collections) or Collections.NON_PRIMITIVE
    return ComplexConfig(
        "." if delimiter is None else delimiter,
        tuple(sorted(said.texts("fieldsToUnnest"))),
        "NONE" if mode is Collections.NONE else "ALL" if mode is Collections.ALL else "NON_PRIMITIVE",
        MappingProxyType(said.mapping("prefixesToRename")),
    )


def _conforming(ingestion: TableNode) -> ConformingConfig | None:
    if ingestion.said("schemaConformingTransformerConfig") is None:
        return None
    said, usual = ingestion.inner("schemaConformingTransformerConfig"), ConformingConfig()
    return ConformingConfig(
        (said.text("indexableExtrasField") or usual.indexable)
        if said.flag("enableIndexableExtras", default=True)
        else None,
        (said.text("unindexableExtrasField") or usual.unindexable)
        if said.flag("enableUnindexableExtras", default=True)
        else None,
        said.text("unindexableFieldSuffix") or usual.suffix,
        MappingProxyType(said.mapping("columnNameToJsonKeyPathMap")),
        frozenset(said.texts("fieldPathsToDrop")),
    )
