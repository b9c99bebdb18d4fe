"""Rich paths, also beside the client of YTsaurus."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from yt.ypath import parse_ypath
from yt.yson import YsonEntity

from trellis.dialects.ytsaurus.errors import YtError
from trellis.dialects.ytsaurus.paths.parser import split_path
from trellis.dialects.ytsaurus.paths.ranges import MAX, MIN, Limit, RowRange
from trellis.dialects.ytsaurus.paths.rich_path import parse_path
from trellis.dialects.ytsaurus.schema.model import SortColumn
from trellis.dialects.ytsaurus.yson.parser import loads


def error_of(path: Any) -> str:
    with pytest.raises(YtError) as error:
        parse_path(path)
    return error.value.message


def test_c05_columns_and_rows() -> None:
    path = parse_path("//t{v}[#1:#3]")
    assert (path.path, path.columns) == ("//t", ("v",))
    assert path.ranges == (RowRange(Limit(row_index=1), Limit(row_index=3)),)


def test_c06_columns_come_before_ranges() -> None:
    assert error_of("//t[#1:#3]{v}") == (
        "the path //t[#1:#3]{v} is not valid: not YSON at byte 10: '{v}'; expected the end; columns "
        "come before "
        "ranges: //t{a}[#0:#2]"
    )


def test_limits() -> None:
    assert parse_path("//t[a:(c,1), #5, (), :, (b,#,%true,5u,-1.5):]").ranges == (
        RowRange(Limit(key=("a",)), Limit(key=("c", 1))),
        RowRange(exact=Limit(row_index=5)),
        RowRange(exact=Limit(key=())),
        RowRange(),
        RowRange(Limit(key=("b", None, True, 5, -1.5))),
    )
    assert parse_path("//t{a,}[(a,)]").columns == ("a",)
    assert parse_path("//t[#0:c]").ranges == (RowRange(Limit(row_index=0), Limit(key=("c",))),)


def test_ranges_as_attributes() -> None:
    path = parse_path("<ranges=[{lower_limit={key=[<type=min>#;a]}; upper_limit={key=[<type=max>#]}}]>//t")
    assert path.ranges == (RowRange(Limit(key=(MIN, "a")), Limit(key=(MAX,))),)
    assert parse_path("<lower_limit={row_index=5}>//t").ranges == (RowRange(Limit(row_index=5)),)
    assert error_of("<lower_limit={row_index=5};ranges=[]>//t") == (
        "//t: there are ranges and lower_limit; expected one of them"
    )
    assert error_of("<ranges=[{exact={row_index=5};lower_limit={}}]>//t") == (
        "//t: a range has exact and another limit; expected one of them"
    )


def test_attributes() -> None:
    path = parse_path(
        "<append=true; sorted_by=[a;{name=b;sort_order=ascending}]; rename_columns={x=y}; "
        'optimize_for=scan; create="true"; '
        "note=1>main://t"
    )
    assert (path.path, path.append, path.create, path.optimize_for) == ("//t", True, True, "scan")
    assert path.sorted_by == (SortColumn("a"), SortColumn("b"))
    assert path.rename_columns == {"x": "y"}
    assert (path.attributes["note"], path.attributes["cluster"]) == (1, "main")


def test_a_path_with_attributes_of_yson() -> None:
    path = parse_path(loads('<append=%true>"//t{a}"'))
    assert (path.path, path.append, path.columns) == ("//t", True, ("a",))
    assert str(path) == '<append=%true;columns=["a";];>//t'


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("", "the path  is not valid: not YSON at byte 0: the end; expected a path such as //home/t"),
        (5, "5 is not a path; expected a string such as //home/t"),
        (
            "//t[#a]",
            "the path //t[#a] is not valid: not YSON at byte 5: 'a]'; expected the number of a row after '#'",
        ),
        ("<append=5>//t", "//t: append is 5; expected %true or %false"),
        ("<columns=5>//t", "//t: columns is 5; expected a list of names"),
        (
            "<rename_columns=[a]>//t",
            "//t: rename_columns is ['a']; expected a map of names such as {old=new}",
        ),
        ("<row_count_limit=x>//t", "//t: row_count_limit is 'x'; expected a number of rows"),
        ("<ranges=5>//t", "//t: ranges is 5; expected a list such as [{lower_limit={row_index=0}}]"),
        ("<ranges=[5]>//t", "//t: a range is 5; expected {lower_limit=...; upper_limit=...} or {exact=...}"),
        (
            "<lower_limit={rowindex=1}>//t",
            "//t: lower_limit has the key 'rowindex': did you mean 'row_index'?",
        ),
        (
            "<ranges=[{lower={row_index=1}}]>//t",
            "//t: a range has the key 'lower': did you mean 'lower_limit'?",
        ),
        ("<lower_limit={row_index=a}>//t", "//t: row_index of lower_limit is 'a'; expected an integer"),
        ("<lower_limit={key=a}>//t", "//t: key of lower_limit is 'a'; expected a list of values"),
        ("<optimize_for=fast>//t", "//t: optimize_for is 'fast'; expected lookup or scan"),
    ],
)
def test_errors(path: Any, message: str) -> None:
    assert error_of(path) == message


NAMES = st.text(alphabet="ab_0/ ", min_size=1, max_size=6).map("//{}".format)
KEYS = st.sampled_from(
    ["a", '"b c"', "5", "5u", "-1.5", "%true", "(a,1)", "(a,)", "(#,b)", "()", "#5", "#0", ""]
)
RANGES = st.lists(st.tuples(KEYS, st.sampled_from([":", ""]), KEYS), min_size=1, max_size=3).map(
    lambda parts: "[" + ",".join(f"{low}{colon}{high if colon else ''}" for low, colon, high in parts) + "]"
)
COLUMNS = st.sampled_from(["", "{}", "{a}", '{a,"b c",a}', "{a,}"])
ATTRIBUTES = st.sampled_from(["", "<append=%true>", "<a={b=[1;2u]};c=x> "])


def plain(value: Any) -> Any:
    """The value of the client's types in Python's."""
    if isinstance(value, YsonEntity):
        return None
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    return value


@given(ATTRIBUTES, NAMES, COLUMNS, RANGES | st.just(""))
def test_paths_are_those_of_the_client(attributes: str, name: str, columns: str, ranges: str) -> None:
    text = f"{attributes}{name}{columns}{ranges}"
    expected = parse_ypath(text)
    assert split_path(text) == (str(expected), plain(expected.attributes))


@given(st.text(alphabet='<>ab=/\\{}[]#:,()" 1u', max_size=10).map("//t{}".format))
def test_the_client_refuses_what_is_refused(text: str) -> None:
    try:
        expected = parse_ypath(text)
    except Exception:  # the client raises errors of many kinds
        with pytest.raises(YtError):
            split_path(text)
    else:
        assert split_path(text) == (str(expected), plain(expected.attributes))
