"""Star-tree indexes: dimensions with a dictionary, and functions of columns."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from trellis.dialects.pinot.document.faults import Fault
from trellis.dialects.pinot.document.types import PinotType
from trellis.dialects.pinot.validation.table_config.checked_table import CheckedTable, Rule, words
from trellis.dialects.pinot.validation.table_config.indexes import indexed_columns

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


RULES: Final[tuple[Rule, ...]] = (dimensions, skipped_dimensions, functions)
