"""The indexes and codecs of a table: columns that must exist, and what each index asks of its column."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from trellis.dialects.pinot.document.faults import Fault
from trellis.dialects.pinot.document.fields import FieldSpec
from trellis.dialects.pinot.document.types import PinotType
from trellis.dialects.pinot.validation.table_config.checked_table import (
    FIELDS,
    PARTITIONS,
    UPSERT,
    CheckedTable,
    Rule,
    unchecked_part,
    words,
)

_INDEXING: Final = "/tableIndexConfig"
_LISTS: Final[Mapping[str, str]] = {
    "bloomFilterColumns": "bloom",
    "invertedIndexColumns": "inverted",
    "jsonIndexColumns": "json",
    "noDictionaryColumns": "dictionary",
    "onHeapDictionaryColumns": "dictionary",
    "rangeIndexColumns": "range",
    "varLengthDictionaryColumns": "dictionary",
}
"""The lists of columns in `tableIndexConfig`, and the index that each declares."""
_MAPS: Final[Mapping[str, str]] = {
    "bloomFilterConfigs": "bloom",
    "jsonIndexConfigs": "json",
    "noDictionaryConfig": "dictionary",
}
NAMED_INDEXES: Final = ("inverted", "text", "fst", "ifst", "h3", "json", "vector", "range")
"""The indexes that `indexTypes` of a field config declares under their names in upper case."""


@dataclass(frozen=True)
class Declaration:
    """An index of a column, the place that declares it, and whether that is `indexes` of a field config."""

    place: str
    column: str
    index: str
    disabled: bool = False
    in_indexes: bool = False


def declarations(table: CheckedTable) -> Iterator[Declaration]:
    for key, index in _LISTS.items():
        for place, column in table.names(f"{_INDEXING}/{key}/*"):
            yield Declaration(place, column, index, key == "noDictionaryColumns")
    for key, index in _MAPS.items():
        for place, column in table.keys(f"{_INDEXING}/{key}"):
            yield Declaration(place, column, index, index == "dictionary" or table.flag(f"{place}/disabled"))
    for place, column in table.names(f"{FIELDS}/name"):
        yield from _field_declarations(table, place.removesuffix("/name"), column)


def _field_declarations(table: CheckedTable, place: str, column: str) -> Iterator[Declaration]:
    if table.text(f"{place}/encodingType") == "RAW":
        yield Declaration(f"{place}/encodingType", column, "dictionary", disabled=True)
    types = [*table.names(f"{place}/indexTypes/*")] or [*table.names(f"{place}/indexType")]
    for _, name in types:
        if name.lower() in NAMED_INDEXES:
            yield Declaration(place, column, name.lower())
    forward_disabled = table.flag(f"{place}/properties/forwardIndexDisabled")
    if table.has(f"{place}/compressionCodec") or forward_disabled:
        yield Declaration(place, column, "forward", forward_disabled)
    for at, index in table.keys(f"{place}/indexes"):
        yield Declaration(at, column, index, table.flag(f"{at}/disabled"), in_indexes=True)


@dataclass(frozen=True)
class IndexedColumn:
    """A column with the indexes that are in force, each with the place that declares it."""

    spec: FieldSpec
    indexes: Mapping[str, str]
    dictionary: bool
    forward: bool

    @property
    def stored(self) -> PinotType:
        return self.spec.data_type.stored


def indexed_columns(table: CheckedTable) -> Mapping[str, IndexedColumn]:
    """Every column of the schema with its indexes; what is declared first for an index counts."""
    first: dict[tuple[str, str], Declaration] = {}
    for entry in declarations(table):
        key = (entry.column, entry.index)
        if key not in first or (entry.index == "dictionary" and entry.disabled):
            first[key] = entry
    indexes: dict[str, dict[str, str]] = {name: {} for name in table.columns}
    for (column, index), entry in first.items():
        if column in indexes and not entry.disabled:
            indexes[column][index] = entry.place
    disabled = {key for key, entry in first.items() if entry.disabled}
    return {
        name: IndexedColumn(
            spec, indexes[name], (name, "dictionary") not in disabled, (name, "forward") not in disabled
        )
        for name, spec in table.columns.items()
    }


def missing_columns(table: CheckedTable) -> Iterator[Fault]:
    """Columns that an index, a field config, sorting or partitioning names, and the schema does not have."""
    places = {
        entry.place: entry.column
        for entry in declarations(table)
        if not entry.place.startswith("/fieldConfigList/")
    }
    places |= dict(table.names(f"{FIELDS}/name"))
    places |= dict(table.names(f"{_INDEXING}/sortedColumn/*"))
    places |= dict(table.keys(PARTITIONS))
    for key in ("comparisonColumns/*", "comparisonColumn") if table.upsert else ():
        places |= dict(table.names(f"{UPSERT}/{key}"))
    for place, column in places.items():
        if column not in table.columns:
            yield Fault(place, f"column {column} is not in the schema")


def declared_twice(table: CheckedTable) -> Iterator[Fault]:
    """`indexes` of a field config and an older key for the same index: Pinot refuses to choose."""
    counts = Counter({(entry.column, entry.index) for entry in declarations(table) if not entry.in_indexes})
    for entry in declarations(table):
        if entry.in_indexes and counts[entry.column, entry.index]:
            message = f"the {entry.index} index of {entry.column} is declared in two ways: keep one"
            yield Fault(entry.place, message, entry.column)


def encoding_conflict(table: CheckedTable) -> Iterator[Fault]:
    raw = {column for _, column in table.names(f"{_INDEXING}/noDictionaryColumns/*")}
    raw |= {column for _, column in table.keys(f"{_INDEXING}/noDictionaryConfig")}
    for place, column in table.names(f"{FIELDS}/name"):
        field = place.removesuffix("/name")
        if column in raw and table.text(f"{field}/encodingType") != "RAW":
            message = "the column is listed without dictionary in tableIndexConfig: set encodingType RAW"
            yield Fault(field, message, column)


class Demand(NamedTuple):
    """What an index asks of its column, as a check and as the end of a sentence."""

    is_met: Callable[[IndexedColumn], bool]
    sentence: str


def _stored_as(*types: PinotType) -> Callable[[IndexedColumn], bool]:
    return lambda column: column.stored in types


_ONE_VALUE: Final = Demand(
    lambda column: column.spec.single_value, "takes one value per row, and the column has several"
)
_DICTIONARY: Final = Demand(lambda column: column.dictionary, "needs a dictionary, and the column has none")
_OF_TEXT: Final = Demand(_stored_as(PinotType.STRING), "needs a column that is stored as STRING")
_NO_MAP: Final = Demand(lambda column: column.stored is not PinotType.MAP, "cannot be built on a MAP column")
_NUMBER: Final = Demand(
    lambda column: column.stored.numeric or column.dictionary,
    "needs a number or a dictionary, and the column has neither",
)
_JSON: Final = Demand(_stored_as(PinotType.STRING, PinotType.MAP), "needs a STRING, JSON or MAP column")
_NO_BOOLEAN: Final = Demand(
    lambda column: column.spec.data_type is not PinotType.BOOLEAN, "cannot be built on a BOOLEAN column"
)
DEMANDS: Final[Mapping[str, tuple[Demand, ...]]] = {
    "json": (_ONE_VALUE, _JSON),
    "fst": (_DICTIONARY, _ONE_VALUE, _OF_TEXT),
    "ifst": (_DICTIONARY, _ONE_VALUE, _OF_TEXT),
    "text": (_OF_TEXT,),
    "h3": (_ONE_VALUE, Demand(_stored_as(PinotType.BYTES), "needs a BYTES column")),
    "range": (_NUMBER, _NO_MAP),
    "inverted": (_NO_MAP,),
    "bloom": (_NO_MAP, _NO_BOOLEAN),
}


def index_demands(table: CheckedTable) -> Iterator[Fault]:
    for name, column in indexed_columns(table).items():
        if "vector" in column.indexes:
            yield unchecked_part(column.indexes["vector"], "the vector index")
        for index, demands in DEMANDS.items():
            for demand in demands if index in column.indexes else ():
                if not demand.is_met(column):
                    yield Fault(column.indexes[index], f"the {index} index {demand.sentence}", name)


def timestamp_index(table: CheckedTable) -> Iterator[Fault]:
    for place, _ in table.values(f"{FIELDS}/timestampConfig"):
        spec = table.columns.get(table.text(place.replace("/timestampConfig", "/name")))
        if spec is not None and (spec.data_type.stored is not PinotType.LONG or not spec.single_value):
            message = "a timestamp index needs a TIMESTAMP or LONG column of one value per row"
            yield Fault(place, message, spec.name)


def single_values(table: CheckedTable) -> Iterator[Fault]:
    """Segments are sorted and partitioned by columns of one value per row."""
    sorting, partitioning = table.names(f"{_INDEXING}/sortedColumn/*"), table.keys(PARTITIONS)
    for verb, places in (("sort", sorting), ("partition", partitioning)):
        for place, column in places:
            if column in table.columns and not table.columns[column].single_value:
                yield Fault(place, f"cannot {verb} by a multi-value column", column)


def h3_resolutions(table: CheckedTable) -> Iterator[Fault]:
    """An H3 index of `indexTypes` is described by `properties`."""
    for entry in declarations(table):
        is_named = entry.index == "h3" and not entry.in_indexes
        if is_named and not table.has(f"{entry.place}/properties/resolutions"):
            yield Fault(entry.place, "H3 needs resolutions in properties", entry.column)


_RAW_CODECS: Final = words("PASS_THROUGH SNAPPY ZSTANDARD LZ4 GZIP")
_DICTIONARY_CODEC: Final = "MV_ENTRY_DICT"
_UNCHECKED_CODECS: Final = words("CLP CLPV2 CLPV2_ZSTD CLPV2_LZ4 DELTA DELTADELTA")


def codecs(table: CheckedTable) -> Iterator[Fault]:
    """Raw values and the ids of a dictionary are compressed by codecs of their own."""
    columns = indexed_columns(table)
    for place, name in table.names(f"{FIELDS}/name"):
        field, column = place.removesuffix("/name"), columns.get(name)
        declared = [
            codec
            for key in ("compressionCodec", "indexes/forward/compressionCodec")
            for codec in table.names(f"{field}/{key}")
        ]
        if column is None or not column.forward or not declared:
            continue
        at, codec = declared[0]
        if codec in _UNCHECKED_CODECS:
            yield unchecked_part(at)
        elif column.dictionary and codec in _RAW_CODECS:
            yield Fault(at, f"{codec} needs encodingType RAW: the column has a dictionary", name)
        elif not column.dictionary and codec == _DICTIONARY_CODEC:
            yield Fault(at, f"{codec} needs a dictionary, and the column has none", name)


RULES: Final[tuple[Rule, ...]] = (
    missing_columns,
    declared_twice,
    encoding_conflict,
    index_demands,
    timestamp_index,
    single_values,
    h3_resolutions,
    codecs,
)
