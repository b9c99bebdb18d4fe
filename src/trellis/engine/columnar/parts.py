"""Records that are built by columns, in parts where some of them need the exact path."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

import numpy as np
import pyarrow as pa

from trellis.engine.columnar.strict import FastPathMiss, Indexes, SpecialRows

Records = TypeVar("Records", pa.Table, pa.RecordBatch)
BuildRows = Callable[[Records, Indexes], Indexes]
"""Builds the rows of records, given with the indexes of their lines; returns the indexes that it leaves out.

Raises FastPathMiss where it builds nothing, SpecialRows where it knows for which of the records.
"""


def build_in_parts(build: BuildRows[Records], records: Records, indexes: Indexes, min_split: int) -> Indexes:
    """Build the rows of as many records as possible; the indexes of those left for the exact path.

    Where special records are known the others are built, else halves; at most `min_split` records are not
    halved any more.
    """
    if not len(indexes):
        return indexes
    ordinary = np.ones(len(indexes), np.bool_)
    try:
        return build(records, indexes)
    except SpecialRows as special:
        ordinary[special.rows] = False
    except FastPathMiss:
        pass
    if not ordinary.all():
        with suppress(pa.ArrowNotImplementedError):  # there are types that Arrow can only slice
            others = records.filter(pa.array(ordinary))
            remaining = build_in_parts(build, others, indexes[ordinary], min_split)
            return np.concatenate([indexes[~ordinary], remaining])
    if len(indexes) <= min_split:
        return indexes
    middle = len(indexes) // 2
    halves = (records.slice(0, middle), indexes[:middle]), (records.slice(middle), indexes[middle:])
    return np.concatenate([build_in_parts(build, *half, min_split) for half in halves])
