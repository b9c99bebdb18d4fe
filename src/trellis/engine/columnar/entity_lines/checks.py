"""Which entities are valid for certain, by the columns of their values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from trellis.engine.columnar.strict import Mask
from trellis.evolution.line_projection import ValueCheck
from trellis.evolution.projection import Path

_EXACT_IN_DOUBLE = 2.0**53


def unproven_rows(checks: Sequence[ValueCheck], values: Mapping[Path, pa.Array], have_null: Mask) -> Mask:
    """The rows that the checks do not prove to be valid. `have_null` are those that may hold a null."""
    unproven: Mask = np.zeros(len(have_null), np.bool_)
    for check in checks:
        array, around = values[check.path], values.get(check.path[:-1])
        if array.null_count:
            is_null = _rows(array.is_null())
            if check.is_required:
                unproven |= is_null if around is None else is_null & _rows(around.is_valid())
            if not check.allows_null:
                unproven |= is_null & have_null
        if array.null_count == len(array):
            continue
        for is_proven in _proofs(check, array):
            if not pc.all(is_proven, min_count=0).as_py():
                unproven |= ~_rows(pc.fill_null(is_proven, True))
    return unproven


def _proofs(check: ValueCheck, array: pa.Array) -> list[pa.Array]:
    """Arrays that are all true for a value that is proven."""
    if check.is_unproven:
        return [array.is_null()]
    proofs: list[pa.Array] = []
    if check.min_length is not None or check.max_length is not None:
        length = pc.utf8_length(array)
        if check.min_length is not None:
            proofs.append(pc.greater_equal(length, check.min_length))
        if check.max_length is not None:
            proofs.append(pc.less_equal(length, check.max_length))
    if check.minimum is not None:
        proofs.append(pc.greater_equal(array, check.minimum))
    if check.maximum is not None:
        proofs.append(pc.less_equal(array, check.maximum))
    if proofs and pa.types.is_floating(array.type):
        proofs.append(pc.less(pc.abs(array), _EXACT_IN_DOUBLE))
    if check.choices is not None:
        choices = pa.array([*check.choices], pa.string())
        proofs.append(pc.or_(array.is_null(), pc.is_in(array, choices)))
    if check.pattern is not None:
        proofs.append(pc.match_substring_regex(array, check.pattern))
    return proofs


def _rows(condition: pa.Array) -> Mask:
    return np.array(condition.to_numpy(zero_copy_only=False), np.bool_)
