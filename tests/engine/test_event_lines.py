"""Values of lines that are parsed again: a list that is cut out of its line is the one of the record."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
from hypothesis import example, given
from hypothesis import strategies as st

from trellis.engine.columnar.event_sources import EventLines, Indexes

KEYS = st.sampled_from(["x", "y", 'a"b', "a/b", "é", "]"])
TEXTS = st.sampled_from(["", "x", '"x":[1]', "]", '"x"', "\\", "é"])
VALUES = st.recursive(
    st.none() | st.integers(0, 3) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=12,
)


@given(
    KEYS,
    st.lists(VALUES, max_size=3),
    st.dictionaries(KEYS, VALUES, max_size=4),
    st.booleans(),
    st.booleans(),
)
@example("x", [1], {"y": '"x":[2]'}, True, False)
@example("a/b", [1], {"y": {"a/b": [2]}}, True, True)
def test_a_list_is_that_of_its_path(
    key: str, value: list[Any], around: dict[str, Any], is_compact: bool, escapes_slashes: bool
) -> None:
    record = {"before": around, "properties": {**around, key: value}, "after": around}
    text = json.dumps(record, separators=(",", ":") if is_compact else None, ensure_ascii=False)
    if escapes_slashes:
        text = text.replace("/", "\\/", 1)
    lines = EventLines(pa.array([text.encode() + b"\n"], pa.binary()))
    indexes: Indexes = pa.array([0]).to_numpy()
    assert lines.values(("properties", key), indexes) == [value]
