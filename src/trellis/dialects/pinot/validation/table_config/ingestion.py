"""Aggregations, as rows arrive and in star-trees, and prefixes that are renamed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final

from trellis.dialects.pinot.document.faults import Fault
from trellis.dialects.pinot.document.types import FieldType, PinotType
from trellis.dialects.pinot.validation.table_config.checked_table import TREES, CheckedTable, Rule, words
from trellis.dialects.pinot.validation.table_config.indexes import indexed_columns

_NO_MAP: Final = "a star-tree cannot be built on a MAP column"
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


def star_trees(table: CheckedTable) -> Iterator[Fault]:
    columns = indexed_columns(table)
    for place, name in table.names(f"{TREES}/*/dimensionsSplitOrder/*"):
        column = columns.get(name)
        if column is not None and not column.dictionary:
            yield Fault(place, "a dimension of a star-tree needs a dictionary, and the column has none", name)
        elif column is not None and not column.spec.single_value:
            yield Fault(place, "a dimension of a star-tree has one value per row", name)
        elif column is not None and column.spec.data_type is PinotType.MAP:
            yield Fault(place, _NO_MAP, name)
    for place, tree in table.objects(f"{TREES}/*"):
        for name in tree.get("skipStarNodeCreationForDimensions") or ():
            if name not in (tree.get("dimensionsSplitOrder") or ()):
                at = f"{place}/skipStarNodeCreationForDimensions"
                yield Fault(at, f"{name} is not in dimensionsSplitOrder")
        if bool(tree.get("functionColumnPairs")) == bool(tree.get("aggregationConfigs")):
            yield Fault(place, "a star-tree needs functionColumnPairs or aggregationConfigs, and not both")
        else:
            yield from _function_faults(table, place)


def _function_faults(table: CheckedTable, place: str) -> Iterator[Fault]:
    known: set[tuple[str, str]] = set()
    for at, function, column in _functions(table, place):
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
            yield Fault(at, _NO_MAP, column)
        known.add(pair)


def _functions(table: CheckedTable, place: str) -> Iterator[tuple[str, str, str]]:
    """The functions of a star-tree: the place, the name and the column of each."""
    for at, text in table.names(f"{place}/functionColumnPairs/*"):
        function, _, column = text.partition("__")
        yield at, function, column
    for at, config in table.objects(f"{place}/aggregationConfigs/*"):
        if {"aggregationFunction", "columnName"} <= config.keys():
            yield at, str(config["aggregationFunction"]), str(config["columnName"])


_AGGREGATIONS: Final = "/ingestionConfig/aggregationConfigs"
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


def renamed_prefixes(table: CheckedTable) -> Iterator[Fault]:
    for place, prefix in table.keys("/ingestionConfig/complexTypeConfig/prefixesToRename"):
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
    if not configs:
        return
    if table.flag("/tableIndexConfig/aggregateMetrics"):
        yield Fault(_AGGREGATIONS, "aggregationConfigs and aggregateMetrics exclude each other")
    counts = Counter(str(config["columnName"]) for _, config in configs)
    for column, count in counts.items():
        if count > 1:
            yield Fault(_AGGREGATIONS, f"column {column} is aggregated twice")
    for place, config in configs:
        yield from _aggregation(table, place, config)
    for name, spec in table.columns.items():
        if spec.field_type is FieldType.METRIC and name not in counts:
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


RULES: Final[tuple[Rule, ...]] = (star_trees, renamed_prefixes, aggregations)
