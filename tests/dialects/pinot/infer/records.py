"""Records of all sorts, for laws: columns that keep to a sort, and columns that mix them."""

from __future__ import annotations

from typing import Any, Final

from hypothesis import strategies as st

KEYS: Final = (
    "id",
    "ts",
    "created_at",
    "a",
    "b",
    "A",
    "first name",
    "m",
    "x.y",
    "date",
    "fare",
    "",
    "t__KEYS",
)
NUMBERS: Final = (0, 1, -5, 7, 2**31, -(2**31) - 1, 2**40, 1700000000, 1700000000123, 20231114)
TEXTS: Final = (
    "x", "", "2023-11-14", "2023-11-14T22:13:20Z", '{"a":1}', "5 apples", "1700000000", "12.50",
    "\N{GRINNING FACE}" * 400, "31/12/2023", "2023-11-14 10:00:00", "null", "[1] x", '"q" r', "true",
)  # fmt: skip

SORTS: Final = (
    st.sampled_from(NUMBERS),
    st.booleans(),
    st.sampled_from((1.5, -0.25, 1e20, 0.1, 3.0, 5e-324)),
    st.sampled_from((2**70, -(10**25), 5)),
    st.sampled_from(TEXTS),
    st.sampled_from(("2023-11-14T22:13:20Z", "2024-02-29T22:13:20.125Z")),
    st.sampled_from(("2023-11-14", "2024-02-29")),
    st.sampled_from(("13/01/2023", "05/06/2023")),
    st.none(),
)


def _nested(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4)


ANY: Final = st.recursive(st.one_of(*SORTS), _nested, max_leaves=8)
COLUMN: Final = st.lists(st.sampled_from((*SORTS, ANY)), min_size=1, max_size=2).map(
    lambda some: st.one_of(*some)
)


@st.composite
def tables(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Some records of the same columns, each of which may be missing."""
    columns = {name: draw(COLUMN) for name in draw(st.sets(st.sampled_from(KEYS), min_size=1, max_size=5))}
    count = draw(st.integers(1, 6))
    return [
        {name: draw(values) for name, values in columns.items() if draw(st.integers(0, 9))}
        for _ in range(count)
    ]
