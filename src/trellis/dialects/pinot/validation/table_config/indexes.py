"""The indexes of a table: columns that must exist, and what each index asks of its column."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Final

from trellis.dialects.pinot.document.faults import Fault
from trellis.dialects.pinot.document.fields import FieldSpec
from trellis.dialects.pinot.document.types import PinotType
from trellis.dialects.pinot.validation.table_config.checked_table import FIELDS, CheckedTable, Rule, words

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
    in_indexes: bool = False
    disabled: bool = False


def declarations(table: CheckedTable) -> Iterator[Declaration]:
    for key, index in _LISTS.items():
        for place, column in table.names(f"{_INDEXING}/{key}/*"):
            yield Declaration(place, column, index, disabled=key == "noDictionaryColumns")
    for key, index in _MAPS.items():
        for place, column in table.keys(f"{_INDEXING}/{key}"):
            disabled = index == "dictionary" or table.flag(f"{place}/disabled")
            yield Declaration(place, column, index, disabled=disabled)
    for place, field in table.objects(FIELDS):
        if field.get("name") is not None:
            yield from _field_declarations(place, field)


def _field_declarations(place: str, field: Mapping[str, Any]) -> Iterator[Declaration]:
    column = str(field.get("name"))
    if field.get("encodingType") == "RAW":
        yield Declaration(f"{place}/encodingType", column, "dictionary", disabled=True)
    types = field.get("indexTypes")
    for name in types if isinstance(types, list) else [field.get("indexType")]:
        if str(name).lower() in NAMED_INDEXES:
            yield Declaration(place, column, str(name).lower())
    if field.get("compressionCodec") is not None or _forward_disabled(field):
        yield Declaration(place, column, "forward", disabled=_forward_disabled(field))
    indexes = field.get("indexes")
    for name, config in indexes.items() if isinstance(indexes, Mapping) else ():
        disabled = isinstance(config, Mapping) and str(config.get("disabled", "false")).lower() == "true"
        yield Declaration(f"{place}/indexes/{name}", column, str(name), in_indexes=True, disabled=disabled)


def _forward_disabled(field: Mapping[str, Any]) -> bool:
    properties = field.get("properties")
    return (
        isinstance(properties, Mapping)
        and str(properties.get("forwardIndexDisabled", "false")).lower() == "true"
    )


@dataclass(frozen=True)
class IndexedColumn:
    """A column with the indexes that are in force."""

    spec: FieldSpec
    indexes: Collection[str]
    dictionary: bool
    var_length: bool
    forward: bool

    @property
    def stored(self) -> PinotType:
        return self.spec.data_type.stored


def indexed_columns(table: CheckedTable) -> Mapping[str, IndexedColumn]:
    """Every column of the schema with its indexes; what is declared first for an index counts."""
    first: dict[tuple[str, str], Declaration] = {}
    for declaration in declarations(table):
        known = first.get((declaration.column, declaration.index))
        if known is None or (declaration.index == "dictionary" and declaration.disabled):
            first[declaration.column, declaration.index] = declaration
    var_length = {column for _, column in table.names(f"{_INDEXING}/varLengthDictionaryColumns/*")}
    var_length |= {
        str(field.get("name"))
        for place, field in table.objects(FIELDS)
        if table.flag(f"{place}/indexes/dictionary/useVarLengthDictionary")
    }
    active: dict[str, set[str]] = {}
    for (column, index), declaration in first.items():
        if not declaration.disabled:
            active.setdefault(column, set()).add(index)
    disabled = {key for key, declaration in first.items() if declaration.disabled}
    return {
        name: IndexedColumn(
            spec,
            active.get(name, ()),
            (name, "dictionary") not in disabled,
            name in var_length,
            (name, "forward") not in disabled,
        )
        for name, spec in table.columns.items()
    }


def missing_columns(table: CheckedTable) -> Iterator[Fault]:
    """Columns that an index, a field config, sorting or partitioning names, and the schema does not have."""
    places = {declaration.place: declaration.column for declaration in declarations(table)}
    places |= dict(table.names(f"{FIELDS}/name"))
    places |= dict(table.names(f"{_INDEXING}/sortedColumn/*"))
    places |= dict(table.keys(f"{_INDEXING}/segmentPartitionConfig/columnPartitionMap"))
    reported: set[str] = set()
    for place, column in places.items():
        in_field = place.startswith("/fieldConfigList/")
        where = "/".join(place.split("/")[:3]) + "/name" if in_field else place
        if column not in table.columns and where not in reported:
            reported.add(where)
            yield Fault(where, f"column {column} is not in the schema")


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
    for place, field in table.objects(FIELDS):
        if field.get("name") in raw and field.get("encodingType") != "RAW":
            yield Fault(
                place,
                "the column is listed without dictionary in tableIndexConfig: set encodingType RAW",
                str(field["name"]),
            )


@dataclass(frozen=True)
class Demand:
    """What an index asks of its column: `index` is named in the sentence."""

    index: str
    is_met: Callable[[IndexedColumn], bool]
    sentence: str


def _stored_as(*types: PinotType) -> Callable[[IndexedColumn], bool]:
    return lambda column: column.stored in types


_SINGLE_VALUE: Final = attrgetter("spec.single_value")
_DICTIONARY: Final = attrgetter("dictionary")
_ONE_VALUE: Final = "takes one value per row, and the column has several"
_OF_TEXT: Final = "needs a column that is stored as STRING"
_NO_MAP: Final = "cannot be built on a MAP column"
DEMANDS: Final = (
    Demand("json", _SINGLE_VALUE, _ONE_VALUE),
    Demand("json", _stored_as(PinotType.STRING, PinotType.MAP), "needs a STRING, JSON or MAP column"),
    *(
        demand
        for index in ("fst", "ifst")
        for demand in (
            Demand(index, _DICTIONARY, "needs a dictionary, and the column has none"),
            Demand(index, _SINGLE_VALUE, _ONE_VALUE),
            Demand(index, _stored_as(PinotType.STRING), _OF_TEXT),
        )
    ),
    Demand("text", _stored_as(PinotType.STRING), _OF_TEXT),
    Demand("h3", _SINGLE_VALUE, _ONE_VALUE),
    Demand("h3", _stored_as(PinotType.BYTES), "needs a BYTES column"),
    Demand("vector", lambda column: not column.spec.single_value, "needs a multi-value column"),
    Demand("vector", _stored_as(PinotType.FLOAT), "needs a FLOAT column"),
    Demand(
        "range",
        lambda column: column.stored.numeric or column.dictionary,
        "needs a number or a dictionary, and the column has neither",
    ),
    Demand("range", lambda column: column.stored is not PinotType.MAP, _NO_MAP),
    Demand("inverted", lambda column: column.spec.data_type is not PinotType.MAP, _NO_MAP),
    Demand("bloom", lambda column: column.spec.data_type is not PinotType.MAP, _NO_MAP),
    Demand(
        "bloom",
        lambda column: column.spec.data_type is not PinotType.BOOLEAN,
        "cannot be built on a BOOLEAN column",
    ),
)


def index_demands(table: CheckedTable) -> Iterator[Fault]:
    places: dict[tuple[str, str], str] = {}
    for entry in declarations(table):
        places.setdefault((entry.column, entry.index), entry.place)
    for name, column in indexed_columns(table).items():
        for demand in DEMANDS:
            if demand.index in column.indexes and not demand.is_met(column):
                sentence = f"the {demand.index} index {demand.sentence}"
                yield Fault(places[name, demand.index], sentence, name)
        if column.var_length and column.dictionary and column.spec.data_type.width is not None:
            place = places[name, "dictionary"]
            yield Fault(place, f"a var-length dictionary cannot hold {column.stored.value}", name)


def disabled_forward_index(table: CheckedTable) -> Iterator[Fault]:
    indexing = [
        key
        for key in ("optimizeDictionary", "optimizeDictionaryForMetrics")
        if table.flag(f"{_INDEXING}/{key}")
    ]
    version = table.number(f"{_INDEXING}/rangeIndexVersion") or 2
    for name, column in indexed_columns(table).items():
        if column.forward:
            continue
        problems = [f"does not go with {key}" for key in indexing]
        if table.realtime:
            problems.append("is not possible in a REALTIME table")
        if "range" in column.indexes and not (column.spec.single_value and version == 2):
            problems.append("needs a range index of version 2 on one value per row, or none")
        for problem in problems:
            yield Fault("/fieldConfigList", f"a column without forward index {problem}", name)


def timestamp_index(table: CheckedTable) -> Iterator[Fault]:
    for place, field in table.objects(FIELDS):
        spec = table.columns.get(str(field.get("name")))
        if field.get("timestampConfig") is None or spec is None:
            continue
        if spec.data_type.stored is not PinotType.LONG or not spec.single_value:
            yield Fault(
                f"{place}/timestampConfig",
                "a timestamp index needs a TIMESTAMP or LONG column of one value per row",
                spec.name,
            )


def multi_column_text(table: CheckedTable) -> Iterator[Fault]:
    place = f"{_INDEXING}/multiColumnTextIndexConfig"
    counts = Counter(column for _, column in table.names(f"{place}/columns/*"))
    for column, count in counts.items():
        if count > 1:
            yield Fault(f"{place}/columns", f"column {column} is listed twice")
    for at, key in table.keys(f"{place}/properties"):
        if key not in _SHARED_PROPERTIES:
            yield Fault(at, f"{key} is not a property that columns share")
    for at, column in table.keys(f"{place}/perColumnProperties"):
        if column not in counts:
            yield Fault(at, f"column {column} is not one of this text index")
    for at, key in table.keys(f"{place}/perColumnProperties/*"):
        if key not in _COLUMN_PROPERTIES:
            yield Fault(at, f"{key} is not a property of a single column")


_COLUMN_PROPERTIES: Final = words(
    "useANDForMultiTermTextIndexQueries enablePrefixSuffixMatchingInPhraseQueries stopWordInclude "
    "stopWordExclude caseSensitive luceneAnalyzerClass luceneAnalyzerClassArgs "
    "luceneAnalyzerClassArgTypes luceneQueryParserClass"
)
_SHARED_PROPERTIES: Final = _COLUMN_PROPERTIES | words(
    "fstType enableQueryCacheForTextIndex luceneUseCompoundFile luceneMaxBufferSizeMB reuseMutableIndex "
    "luceneNRTCachingDirectoryMaxBufferSizeMB luceneUseLogByteSizeMergePolicy "
    "luceneDocIdTranslatorMode"
)


def single_values(table: CheckedTable) -> Iterator[Fault]:
    """Segments are sorted and partitioned by columns of one value per row."""
    partitions = f"{_INDEXING}/segmentPartitionConfig/columnPartitionMap"
    for verb, places in (
        ("sort", table.names(f"{_INDEXING}/sortedColumn/*")),
        ("partition", table.keys(partitions)),
    ):
        for place, column in places:
            if column in table.columns and not table.columns[column].single_value:
                yield Fault(place, f"cannot {verb} by a multi-value column", column)


RULES: Final[tuple[Rule, ...]] = (
    missing_columns,
    declared_twice,
    encoding_conflict,
    index_demands,
    disabled_forward_index,
    timestamp_index,
    multi_column_text,
    single_values,
)
