"""The properties of indexes in `fieldConfigList`, and the codec of the forward index."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from trellis.dialects.pinot.document.faults import Fault
from trellis.dialects.pinot.document.json_object import shown
from trellis.dialects.pinot.document.types import PinotType
from trellis.dialects.pinot.validation.table_config.checked_table import (
    FIELDS,
    CheckedTable,
    Rule,
    is_flag,
    is_integer,
    words,
)
from trellis.dialects.pinot.validation.table_config.indexes import IndexedColumn, indexed_columns

Form = tuple[Callable[[Any], bool], str]
"""What the value of a property must be: a check, and its name in a sentence."""


def _is_resolution(value: Any) -> bool:
    if isinstance(value, list):
        return all(map(is_integer, value))
    return isinstance(value, int) and not isinstance(value, bool)


_INTEGER: Final[Form] = (is_integer, "a whole number")
_FLAG: Final[Form] = (is_flag, "true or false")
_AUTOMATON: Final[Form] = (("LUCENE", "NATIVE").__contains__, "LUCENE or NATIVE")


def _of(form: Form, names: str) -> dict[str, Form]:
    return dict.fromkeys(names.split(), form)


PROPERTIES: Final[Mapping[str, Mapping[str, Form]]] = {
    "forward": _of(_INTEGER, "rawIndexWriterVersion targetDocsPerChunk")
    | _of(_FLAG, "deriveNumDocsPerChunk"),
    "dictionary": _of(_FLAG, "onHeap useVarLengthDictionary"),
    "bloom": _of(_INTEGER, "maxSizeInBytes") | _of(_FLAG, "loadOnHeap"),
    "json": _of(_INTEGER, "maxLevels maxValueLength maxBytesSize")
    | _of(_FLAG, "excludeArray disableCrossArrayUnnest skipInvalidJson"),
    "text": _of(_INTEGER, "luceneMaxBufferSizeMB luceneNRTCachingDirectoryMaxBufferSizeMB")
    | _of(_FLAG, "queryCache useANDForMultiTermQueries luceneUseCompoundFile reuseMutableIndex caseSensitive")
    | _of(_AUTOMATON, "fst"),
    "range": _of(_INTEGER, "version"),
    "fst": _of(_AUTOMATON, "type"),
    "ifst": _of(_AUTOMATON, "type"),
    "vector": _of(_INTEGER, "vectorDimension version"),
    "h3": _of((_is_resolution, "a number or a list of numbers"), "resolution"),
    "inverted": {},
}
"""The properties of `indexes`; all have `disabled` besides."""


def property_forms(table: CheckedTable) -> Iterator[Fault]:
    for index, forms in PROPERTIES.items():
        for place, config in table.objects(f"{FIELDS}/indexes/{index}"):
            for key, (is_valid, form) in {**forms, "disabled": _FLAG}.items():
                value = config.get(key)
                if value is not None and not is_valid(value):
                    yield Fault(f"{place}/{key}", f"{key} is {form}, not {shown(value)}")


_OLD_PROPERTIES: Final[Mapping[str, tuple[str, ...]]] = {
    "H3": ("resolutions",),
    "VECTOR": ("vectorIndexType", "vectorDimension"),
}


def index_properties(table: CheckedTable) -> Iterator[Fault]:
    """H3 and VECTOR of `indexTypes` are described by `properties`."""
    for place, field in table.objects(FIELDS):
        properties = field.get("properties") or {}
        types = field.get("indexTypes") or [field.get("indexType")]
        for kind, keys in _OLD_PROPERTIES.items():
            for key in keys if kind in types else ():
                if key not in properties:
                    yield Fault(place, f"{kind} needs {key} in properties", field.get("name"))


def vector_type(table: CheckedTable) -> Iterator[Fault]:
    for place, config in (
        *table.objects(f"{FIELDS}/indexes/vector"),
        *((place, old) for place, old in table.objects(f"{FIELDS}/properties") if "vectorIndexType" in old),
    ):
        kind = config.get("vectorIndexType")
        if kind != "HNSW" and not table.flag(f"{place}/disabled"):
            yield Fault(
                f"{place}/vectorIndexType", f"unknown vectorIndexType {shown(kind)}: Pinot has HNSW only"
            )


def bloom_probability(table: CheckedTable) -> Iterator[Fault]:
    for pattern in ("/tableIndexConfig/bloomFilterConfigs/*/fpp", f"{FIELDS}/indexes/bloom/fpp"):
        for place, probability in table.values(pattern):
            if probability != "" and not _is_probability(probability):
                yield Fault(place, f"fpp is a probability between 0 and 1, not {probability}")


def _is_probability(value: Any) -> bool:
    try:
        return not isinstance(value, bool) and 0 <= float(value) < 1
    except (ValueError, TypeError):
        return False


_RAW_CODECS: Final = words("PASS_THROUGH SNAPPY ZSTANDARD LZ4 GZIP")
_DELTA_CODECS: Final = words("DELTA DELTADELTA")
_LOG_CODECS: Final = words("CLP CLPV2 CLPV2_ZSTD CLPV2_LZ4")


_CODEC_KEYS: Final = (
    "/compressionCodec",
    "/indexes/forward/compressionCodec",
    "/indexes/forward/chunkCompressionType",
    "/indexes/forward/dictIdCompressionType",
)
"""Where the codec of a column is declared: the first that is set counts."""


def two_codecs(table: CheckedTable) -> Iterator[Fault]:
    for place, config in table.objects(f"{FIELDS}/indexes/forward"):
        if {"chunkCompressionType", "dictIdCompressionType"} <= {
            *config
        } and "compressionCodec" not in config:
            yield Fault(place, "chunkCompressionType and dictIdCompressionType exclude each other")


def compression(table: CheckedTable) -> Iterator[Fault]:
    columns = indexed_columns(table)
    for place, field in table.objects(FIELDS):
        column = columns.get(str(field.get("name")))
        codecs = [(f"{place}{key}", table.value(f"{place}{key}")) for key in _CODEC_KEYS]
        at, codec = next(((at, codec) for at, codec in codecs if codec is not None), ("", None))
        if codec is not None and column is not None and column.forward:
            problem = _codec_problem(str(codec), column)
            if problem:
                yield Fault(at, f"{codec} {problem}", column.spec.name)


def _codec_problem(codec: str, column: IndexedColumn) -> str:
    if codec in _DELTA_CODECS:
        if not column.spec.single_value or column.stored not in (PinotType.INT, PinotType.LONG):
            return "needs an INT or LONG column of one value per row"
        return "is not applicable: Pinot 1.5 knows it and refuses it for every column"
    if column.dictionary:
        return "" if codec == "MV_ENTRY_DICT" else "needs encodingType RAW: the column has a dictionary"
    if codec in _LOG_CODECS:
        return "" if column.stored is PinotType.STRING else "needs a column that is stored as STRING"
    return "" if codec in _RAW_CODECS else "needs a dictionary, and the column has none"


RULES: Final[tuple[Rule, ...]] = (
    property_forms,
    index_properties,
    vector_type,
    bloom_probability,
    two_codecs,
    compression,
)
