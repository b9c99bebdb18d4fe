"""Star-trees: their dimensions, and the functions that they precompute."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from trellis.dialects.pinot.document.faults import Fault
from trellis.dialects.pinot.document.types import PinotType
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


RULES: Final[tuple[Rule, ...]] = (star_trees,)
