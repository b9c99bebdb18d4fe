"""What of a table config shapes the rows (spec pinot.md, sections 5, 6 and 12)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, Literal

from trellis.dialects.pinot.document.recognition import is_schema
from trellis.errors import SchemaError, nearest

Kind = Literal["OFFLINE", "REALTIME"]
CollectionMode = Literal["NONE", "NON_PRIMITIVE", "ALL"]
MODES: Final = ("NONE", "NON_PRIMITIVE", "ALL")
SUFFIXES: Final = ("_OFFLINE", "_REALTIME")


@dataclass(frozen=True)
class ComplexConfig:
    """`complexTypeConfig`: how nested values become columns and rows (section 5.4)."""

    delimiter: str = "."
    unnest: tuple[str, ...] = ()
    to_json: CollectionMode = "NON_PRIMITIVE"
    rename: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    def to_text(self, values: Sequence[Any]) -> bool:
        """Whether a list that is not unnested becomes JSON text.

        >>> [ComplexConfig().to_text(each) for each in ([], [1, {}], [{}], [[1]])]
        [False, False, True, True]
        """
        if self.to_json == "NON_PRIMITIVE":
            return bool(values) and isinstance(values[0], (Mapping, list, tuple))
        return self.to_json == "ALL"


@dataclass(frozen=True)
class ConformingConfig:
    """`schemaConformingTransformerConfig`: where fields go that are no columns (section 5.5).

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


def table_config(document: Mapping[str, Any] | None, where: str = "table config") -> TableConfig:
    """Read a table config. Raises SchemaError, with the path of what is wrong."""
    if document is None:
        return TableConfig()
    if is_schema(document):
        raise SchemaError(
            f"{where}: this is a schema, not a table config: give the document that has tableName"
        )
    top = _Reader(document, where)
    segments, indexing = top.inner("segmentsConfig"), top.inner("tableIndexConfig")
    ingestion = top.inner("ingestionConfig")
    kind = top.word("tableType", ("OFFLINE", "REALTIME"), "OFFLINE")
    return TableConfig(
        name_of(top.text("tableName") or ""),
        "REALTIME" if kind == "REALTIME" else "OFFLINE",
        segments.text("timeColumnName") or None,
        indexing.flag("nullHandlingEnabled"),
        _transforms(ingestion),
        ingestion.inner("filterConfig").text("filterFunction") or None,
        _complex(ingestion),
        _conforming(ingestion),
        ingestion.flag("continueOnError"),
        ingestion.flag("rowTimeValueCheck"),
        ingestion.flag("segmentTimeValueCheck", default=True),
        document,
    )


def name_of(table: str) -> str:
    """The name of a table without its type, which is that of its schema.

    >>> name_of("rides_OFFLINE"), name_of("rides")
    ('rides', 'rides')
    """
    for suffix in SUFFIXES:
        table = table.removesuffix(suffix)
    return table


def _transforms(ingestion: _Reader) -> tuple[tuple[str, str], ...]:
    made: list[tuple[str, str]] = []
    for each in ingestion.items("transformConfigs"):
        column, function = each.text("columnName"), each.text("transformFunction")
        if not column or not function:
            raise SchemaError(f"{each.where}: a transform needs both columnName and transformFunction")
        if column in dict(made):
            raise SchemaError(
                f"{each.where}: Cannot set more than one transform function on column: {column}."
            )
        made.append((column, function))
    return tuple(made)


def _complex(ingestion: _Reader) -> ComplexConfig | None:
    if ingestion.document.get("complexTypeConfig") is None:
        return None
    said = ingestion.inner("complexTypeConfig")
    mode = said.word("collectionNotUnnestedToJson", MODES, "NON_PRIMITIVE")
    return ComplexConfig(
        "." if (delimiter := said.text("delimiter")) is None else delimiter,
        tuple(sorted(said.texts("fieldsToUnnest"))),
        "NONE" if mode == "NONE" else "ALL" if mode == "ALL" else "NON_PRIMITIVE",
        MappingProxyType(said.mapping("prefixesToRename")),
    )


def _conforming(ingestion: _Reader) -> ConformingConfig | None:
    if ingestion.document.get("schemaConformingTransformerConfig") is None:
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


class _Reader:
    """A JSON object of the config that knows its place."""

    def __init__(self, document: Any, where: str) -> None:
        if not isinstance(document, Mapping):
            raise SchemaError(f"{where}: an object is expected, not {document!r}")
        self.document, self.where = document, where

    def inner(self, key: str) -> _Reader:
        return _Reader(self.document.get(key) or {}, f"{self.where}, {key}")

    def items(self, key: str) -> list[_Reader]:
        found = self.document.get(key) or []
        if not isinstance(found, list):
            raise SchemaError(f"{self.where}, {key}: a list is expected, not {found!r}")
        return [_Reader(each, f"{self.where}, {key}[{at}]") for at, each in enumerate(found)]

    def text(self, key: str) -> str | None:
        found = self.document.get(key)
        if found is not None and not isinstance(found, str):
            raise SchemaError(f"{self.where}, {key}: text is expected, not {found!r}")
        return found

    def texts(self, key: str) -> list[str]:
        found = self.document.get(key) or []
        if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
            raise SchemaError(f"{self.where}, {key}: a list of texts is expected, not {found!r}")
        return found

    def mapping(self, key: str) -> dict[str, str]:
        found = self.document.get(key) or {}
        if not isinstance(found, Mapping) or not all(isinstance(each, str) for each in found.values()):
            raise SchemaError(f"{self.where}, {key}: an object of texts is expected, not {found!r}")
        return dict(found)

    def flag(self, key: str, default: bool = False) -> bool:
        found = self.document.get(key)
        if found is None:
            return default
        if str(found).lower() not in ("true", "false"):
            raise SchemaError(f"{self.where}, {key}: true or false is expected, not {found!r}")
        return str(found).lower() == "true"

    def word(self, key: str, words: tuple[str, ...], default: str) -> str:
        found = self.text(key)
        if found is not None and found not in words:
            raise SchemaError(f"{self.where}, {key}: there is no {found!r}{nearest(found, words)}")
        return found or default
