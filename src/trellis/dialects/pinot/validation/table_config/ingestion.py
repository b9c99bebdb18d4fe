"""The ingestion config (batches, aggregations, enrichers, flattening, extra fields), and star-trees."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final

from trellis.dialects.pinot.document.faults import Fault
from trellis.dialects.pinot.document.types import FieldType, PinotType
from trellis.dialects.pinot.validation.table_config.checked_table import CheckedTable, Rule, words
from trellis.dialects.pinot.validation.table_config.indexes import indexed_columns
from trellis.errors import nearest

_TREES: Final = "/tableIndexConfig/starTreeIndexConfigs/*"
_PERCENTILE: Final = re.compile(r"PERCENTILE(RAW)?(EST|TDIGEST|KLL)?\d*(MV)?")
AGGREGATIONS: Final = words(
    "COUNT MIN MAX MINSTRING MAXSTRING MINLONG MAXLONG SUM SUM0 SUMINT SUMLONG SUMPRECISION AVG MODE "
    "ANYVALUE FIRSTWITHTIME LASTWITHTIME MINMAXRANGE DISTINCTCOUNT DISTINCTCOUNTOFFHEAP DISTINCTSUM "
    "DISTINCTAVG DISTINCTCOUNTBITMAP SEGMENTPARTITIONEDDISTINCTCOUNT DISTINCTCOUNTHLL "
    "DISTINCTCOUNTRAWHLL DISTINCTCOUNTSMARTHLL DISTINCTCOUNTSMARTHLLPLUS DISTINCTCOUNTHLLPLUS "
    "DISTINCTCOUNTRAWHLLPLUS DISTINCTCOUNTULL DISTINCTCOUNTRAWULL DISTINCTCOUNTSMARTULL "
    "DISTINCTCOUNTTHETASKETCH DISTINCTCOUNTRAWTHETASKETCH DISTINCTCOUNTTUPLESKETCH "
    "DISTINCTCOUNTRAWINTEGERSUMTUPLESKETCH SUMVALUESINTEGERSUMTUPLESKETCH "
    "AVGVALUEINTEGERSUMTUPLESKETCH DISTINCTCOUNTCPCSKETCH DISTINCTCOUNTRAWCPCSKETCH "
    "PERCENTILESMARTTDIGEST IDSET HISTOGRAM COVARPOP COVARSAMP VARPOP VARSAMP STDDEVPOP STDDEVSAMP "
    "SKEWNESS KURTOSIS FOURTHMOMENT FREQUENTSTRINGSSKETCH FREQUENTLONGSSKETCH STUNION BOOLAND BOOLOR "
    "EXPRMIN EXPRMAX ARRAYAGG LISTAGG SUMARRAYLONG SUMARRAYDOUBLE FUNNELMAXSTEP FUNNELCOMPLETECOUNT "
    "FUNNELSTEPDURATIONSTATS FUNNELMATCHSTEP FUNNELEVENTSFUNCTIONEVAL FUNNELCOUNT COUNTMV MINMV MAXMV "
    "SUMMV AVGMV MINMAXRANGEMV DISTINCTCOUNTMV DISTINCTSUMMV DISTINCTAVGMV DISTINCTCOUNTBITMAPMV "
    "DISTINCTCOUNTHLLMV DISTINCTCOUNTRAWHLLMV DISTINCTCOUNTHLLPLUSMV DISTINCTCOUNTRAWHLLPLUSMV "
    "TIMESERIESAGGREGATE"
)


def aggregation_name(function: str) -> str:
    """The name of an aggregation as Pinot compares it; empty for an unknown one.

    >>> aggregation_name("distinct_count_hll"), aggregation_name("total")
    ('DISTINCTCOUNTHLL', '')
    """
    name = function.replace("_", "").replace("$", "").upper()
    return name if name in AGGREGATIONS or _PERCENTILE.fullmatch(name) else ""


def dimensions(table: CheckedTable) -> Iterator[Fault]:
    columns = indexed_columns(table)
    for place, name in table.names(f"{_TREES}/dimensionsSplitOrder/*"):
        column = columns.get(name)
        if column is None:
            yield Fault(place, f"column {name} is not in the schema")
        elif not column.dictionary:
            yield Fault(place, "a dimension of a star-tree needs a dictionary, and the column has none", name)
        elif not column.spec.single_value:
            yield Fault(place, "a dimension of a star-tree has one value per row", name)
        elif column.spec.data_type is PinotType.MAP:
            yield Fault(place, "a star-tree cannot be built on a MAP column", name)


def skipped_dimensions(table: CheckedTable) -> Iterator[Fault]:
    for place, tree in table.objects(_TREES):
        order = tree.get("dimensionsSplitOrder") or ()
        for name in tree.get("skipStarNodeCreationForDimensions") or ():
            if name not in order:
                at = f"{place}/skipStarNodeCreationForDimensions"
                yield Fault(at, f"{name} is not in dimensionsSplitOrder")


def functions(table: CheckedTable) -> Iterator[Fault]:
    for place, tree in table.objects(_TREES):
        pairs, configs = tree.get("functionColumnPairs"), tree.get("aggregationConfigs")
        if bool(pairs) == bool(configs):
            yield Fault(place, "a star-tree needs functionColumnPairs or aggregationConfigs, and not both")
            continue
        known: set[tuple[str, str]] = set()
        for at, function, column in _pairs(place, pairs, configs):
            name = aggregation_name(function)
            pair = (name, "*" if name == "COUNT" else column)
            if not name or not column:
                yield Fault(at, f"'{function}__{column}' is not FUNCTION__column of a known function")
            elif pair in known:
                yield Fault(at, f"{name} of {column} is computed twice")
            elif pair[1] == "*" and name != "COUNT":
                yield Fault(at, f"{name} needs a column: only COUNT takes *")
            elif pair[1] != "*" and column not in table.columns:
                yield Fault(at, f"column {column} is not in the schema")
            elif pair[1] != "*" and table.columns[column].data_type is PinotType.MAP:
                yield Fault(at, "a star-tree cannot be built on a MAP column", column)
            known.add(pair)


def _pairs(place: str, pairs: Any, configs: Any) -> Iterator[tuple[str, str, str]]:
    for index, text in enumerate(pairs if isinstance(pairs, list) else ()):
        function, _, column = str(text).partition("__")
        yield f"{place}/functionColumnPairs/{index}", function, column
    for index, config in enumerate(configs if isinstance(configs, list) else ()):
        function, column = config.get("aggregationFunction"), config.get("columnName")
        if function is not None and column is not None:
            yield f"{place}/aggregationConfigs/{index}", str(function), str(column)


_INGESTION: Final = "/ingestionConfig"
_AGGREGATIONS: Final = f"{_INGESTION}/aggregationConfigs"
_CONFORMING: Final = f"{_INGESTION}/schemaConformingTransformerConfig"
_FORMATS: Final = (
    "AVRO",
    "GZIPPED_AVRO",
    "CSV",
    "JSON",
    "PINOT",
    "THRIFT",
    "PARQUET",
    "ORC",
    "PROTO",
    "OTHER",
    "PROTOBUF",
)
_ENRICHERS: Final = ("generateColumn", "clpEnricher")
_FIXED_SIZE: Final = words(
    "COUNT COUNTMV MIN MAX SUM SUMMV SUMPRECISION AVG AVGMV MINMAXRANGE DISTINCTCOUNTHLL DISTINCTCOUNTRAWHLL "
    "DISTINCTCOUNTHLLPLUS DISTINCTCOUNTRAWHLLPLUS DISTINCTCOUNTULL DISTINCTCOUNTRAWULL "
    "DISTINCTCOUNTTUPLESKETCH DISTINCTCOUNTRAWINTEGERSUMTUPLESKETCH AVGVALUEINTEGERSUMTUPLESKETCH "
    "SUMVALUESINTEGERSUMTUPLESKETCH DISTINCTCOUNTCPCSKETCH"
)
_ARGUMENTS: Final[Mapping[str, range]] = {
    "DISTINCTCOUNTHLL": range(1, 3),
    "DISTINCTCOUNTHLLPLUS": range(1, 4),
    "SUMPRECISION": range(2, 4),
}
"""How many arguments an aggregation takes; all others take one."""
_RESULTS: Final[Mapping[str, tuple[PinotType, ...]]] = {
    "DISTINCTCOUNTHLL": (PinotType.BYTES,),
    "DISTINCTCOUNTHLLPLUS": (PinotType.BYTES,),
    "SUMPRECISION": (PinotType.BIG_DECIMAL, PinotType.BYTES),
}
_CALL: Final = re.compile(r"\s*(\w+)\s*\(([^()]*)\)\s*")
_COLUMN: Final = re.compile(r'[A-Za-z_$][\w$.]*|"[^"]+"|\*')


def batches(table: CheckedTable) -> Iterator[Fault]:
    for place, batch in table.objects(f"{_INGESTION}/batchIngestionConfig/batchConfigMaps/*"):
        form, uploaded = batch.get("inputFormat"), batch.get("segment.uploadTimeMs")
        if form is not None and str(form).upper() not in _FORMATS:
            suggestion = nearest(str(form).upper(), _FORMATS)
            yield Fault(f"{place}/inputFormat", f"unknown inputFormat '{form}'{suggestion}")
        if uploaded is not None and not str(uploaded).isdecimal():
            yield Fault(place, f"segment.uploadTimeMs is a number of milliseconds, not '{uploaded}'")


def enrichers(table: CheckedTable) -> Iterator[Fault]:
    for place, config in table.objects(f"{_INGESTION}/enrichmentConfigs/*"):
        kind = config.get("enricherType")
        if kind not in _ENRICHERS:
            suggestion = nearest(str(kind), _ENRICHERS)
            yield Fault(place, f"unknown enricherType '{kind}'{suggestion}")


def renamed_prefixes(table: CheckedTable) -> Iterator[Fault]:
    for place, prefix in table.keys(f"{_INGESTION}/complexTypeConfig/prefixesToRename"):
        for column in table.columns:
            if column.startswith(prefix):
                yield Fault(place, f"begins with '{prefix}', which is renamed: use the new name", column)


def aggregations(table: CheckedTable) -> Iterator[Fault]:
    """Metrics that a REALTIME table adds up as rows arrive."""
    configs = [
        (place, config)
        for place, config in table.objects(f"{_AGGREGATIONS}/*")
        if config.get("columnName") is not None and config.get("aggregationFunction") is not None
    ]
    if configs and table.flag("/tableIndexConfig/aggregateMetrics"):
        yield Fault(_AGGREGATIONS, "aggregationConfigs and aggregateMetrics exclude each other")
    counts = Counter(str(config.get("columnName")) for _, config in configs)
    for column, count in counts.items():
        if count > 1:
            yield Fault(_AGGREGATIONS, f"column {column} is aggregated twice")
    for place, config in configs:
        yield from _aggregation(table, place, config)
    metrics = {name for name, spec in table.columns.items() if spec.field_type is FieldType.METRIC}
    for name in sorted(metrics - counts.keys()) if configs else ():
        yield Fault(_AGGREGATIONS, "every metric must be aggregated, and this one is not", name)


def _aggregation(table: CheckedTable, place: str, config: Mapping[str, Any]) -> Iterator[Fault]:
    name, text = str(config["columnName"]), str(config["aggregationFunction"])
    column = indexed_columns(table).get(name)
    if column is None or column.spec.field_type is not FieldType.METRIC:
        yield Fault(f"{place}/columnName", f"{name} must be a metric of the schema")
    elif column.dictionary:
        yield Fault(f"{place}/columnName", "an aggregated column must be in noDictionaryColumns", name)
    called, arguments = aggregation_call(text)
    function = aggregation_name(called)
    types = _RESULTS.get(function)
    problem = ""
    if not function:
        problem = "is not a call of an aggregation, such as SUM(x)"
    elif len(arguments) not in _ARGUMENTS.get(function, (1,)):
        problem = "has the wrong number of arguments"
    elif not _COLUMN.fullmatch(arguments[0]):
        problem = "must name a column as first argument"
    elif not all(argument.strip("'").isdecimal() for argument in arguments[1:]):
        problem = "must have whole numbers after the column"
    elif function not in _FIXED_SIZE:
        problem = "has no value of fixed size, so it cannot be aggregated as rows arrive"
    elif types and column is not None and column.spec.data_type not in types:
        problem = f"needs a column of {' or '.join(data_type.value for data_type in types)}"
    if problem:
        yield Fault(f"{place}/aggregationFunction", f"'{text}' {problem}", name)


def aggregation_call(text: str) -> tuple[str, list[str]]:
    """The function and the arguments of an aggregation; empty ones for another text.

    >>> aggregation_call("DISTINCTCOUNTHLL(user, 12)")
    ('DISTINCTCOUNTHLL', ['user', '12'])
    """
    call = _CALL.fullmatch(text)
    return (call[1], [argument.strip() for argument in call[2].split(",")]) if call else ("", [])


def extra_fields(table: CheckedTable) -> Iterator[Fault]:
    """The columns for fields that have none (`SchemaConformingTransformer.validateSchema`)."""
    if table.value(_CONFORMING) is None:
        return
    column = table.text(f"{_CONFORMING}/indexableExtrasField", "json_data")
    spec = table.columns.get(column)
    if spec is None:
        yield Fault(_CONFORMING, f"indexableExtrasField {column} is not in the schema")
    elif spec.data_type not in (PinotType.JSON, PinotType.STRING):
        yield Fault(
            _CONFORMING, f"indexableExtrasField is JSON or STRING, not {spec.data_type.value}", column
        )
    suffix = table.text(f"{_CONFORMING}/unindexableFieldSuffix", "_noindex")
    for name in table.columns:
        if name.endswith(suffix):
            yield Fault(_CONFORMING, f"ends in '{suffix}', the suffix of fields without an index", name)


def extra_field_paths(table: CheckedTable) -> Iterator[Fault]:
    if table.value(_CONFORMING) is None:
        return
    paths = dict(table.names(f"{_CONFORMING}/columnNameToJsonKeyPathMap/*"))
    for place, column in table.keys(f"{_CONFORMING}/columnNameToJsonKeyPathMap"):
        if column not in table.columns:
            yield Fault(place, f"column {column} is not in the schema")
    for place, path in table.names(f"{_CONFORMING}/fieldPathsToDrop/*"):
        if path in table.columns:
            yield Fault(place, f"{path} is a column of the schema: it cannot be dropped")
    for place, path in table.names(f"{_CONFORMING}/fieldPathsToKeepSameAsInput/*"):
        if path not in table.columns and path not in paths.values():
            message = f"{path} is neither a column nor a path of columnNameToJsonKeyPathMap"
            yield Fault(place, message)
    for path in (*table.columns, *paths.values()):
        if "" in path.removesuffix(".").split(".") and not path.endswith(".."):
            yield Fault(_CONFORMING, f"'{path}' has an empty key between its dots")


RULES: Final[tuple[Rule, ...]] = (
    dimensions,
    skipped_dimensions,
    functions,
    batches,
    enrichers,
    renamed_prefixes,
    aggregations,
    extra_fields,
    extra_field_paths,
)
