"""Schemas, values and documents that are wrong, large or odd."""

from __future__ import annotations

import gzip
import math
from pathlib import Path
from typing import Any

import pytest

from dialects.ytsaurus.schemas import document
from dialects.ytsaurus.test_loads import load
from dialects.ytsaurus.test_tables import ROWS, T, code_of, create, read, write
from trellis.dialects.ytsaurus.errors import YtError
from trellis.dialects.ytsaurus.formats.format import Format
from trellis.dialects.ytsaurus.schema.document import check_schema, parse_schema
from trellis.dialects.ytsaurus.store.reading import open_source
from trellis.dialects.ytsaurus.store.row_formats.formatting import format_rows
from trellis.dialects.ytsaurus.store.store import Store
from trellis.dialects.ytsaurus.store.writing import parse_rows, write_rows
from trellis.dialects.ytsaurus.types.document import parse_type
from trellis.dialects.ytsaurus.types.model import PRIMITIVES
from trellis.dialects.ytsaurus.values import rows as row_limits
from trellis.dialects.ytsaurus.values.validation import validate_value
from trellis.dialects.ytsaurus.yson.parser import loads
from trellis.dialects.ytsaurus.yson.values import Attributed, Uint64
from trellis.errors import TrellisError

A = "//tmp/a"
ROW_BYTES = 2_000_000
"""`make test-yt` takes a row of 100 MB through the client."""
FORMATS = ("yson", "<format=text>yson", "json", "dsv", "yaml", "arrow", "parquet")


def written(store: Store, form: str, path: str = T) -> bytes:
    return b"".join(format_rows(open_source(store, path), Format.parse(form), {}))


def write_bytes(store: Store, form: str, data: bytes, path: str = T) -> None:
    parsed = Format.parse(form)
    write_rows(store, path, parse_rows(parsed, data), parsed.forms)


# --- Schemas ---------------------------------------------------------------------------------------------

LONG_NAME = "n" * 257
FAULTY_COLUMNS: dict[str, tuple[str, list[str]]] = {
    "no map": ("7", ["column #0: a column is a map, such as {name=k; type=int64}"]),
    "no name": ("{type=int64}", ["column #1: the column has no name"]),
    "empty name": ('{name="";type=int64}', ["column #2: the name is empty"]),
    "long name": (
        f"{{name={LONG_NAME};type=int64}}",
        [f"column {LONG_NAME}: the name has 257 bytes; at most 256 are allowed"],
    ),
    "at": ('{name="@a";type=int64}', ["column @a: the name begins with @, which is for system columns"]),
    "dollar": ('{name="$a";type=int64}', ["column $a: the name begins with $, which is for system columns"]),
    "twice": ("{name=two;type=int64};{name=two;type=int64}", ["column two: 2 columns have this name"]),
    "no type": ("{name=t1}", ["column t1: the column has neither type nor type_v3"]),
    "type": (
        "{name=t2;type=bool}",
        ["column t2: there is no type 'bool'; it is a name of type_v3, in `type` it is boolean"],
    ),
    "type_v3": ("{name=t3;type_v3=any}", ["column t3: any is a name of `type`; in type_v3 it is yson"]),
    "both": (
        "{name=t4;type=double;type_v3=string}",
        ["column t4: type is double and type_v3 is string, whose type is string"],
    ),
    "required": (
        "{name=r1;type=any;required=%true}",
        ["column r1: a column of the type any cannot be required"],
    ),
    "requiredness": (
        "{name=r2;type_v3=int64;required=%false}",
        ["column r2: required is %false and type_v3 is int64, which holds no null"],
    ),
    "flag": ("{name=r3;type=int64;required=5}", ["column r3: required is not a boolean"]),
    "order": ("{name=o1;type=int64;sort_order=up}", ["column o1: sort_order is 'up'; expected ascending"]),
    "descending": (
        "{name=o2;type=int64;sort_order=descending}",
        [
            (
                "column o2: sort_order is descending; expected ascending (the switch enable_descending "
                "allows both)"
            ),
            f"column o2: a key column after {LONG_NAME}, which is not key; keys come first",
        ],
    ),
    "no key": (
        "{name=o3;type=json;sort_order=ascending}",
        ["column o3: the type optional<json> has no order, so the column cannot be key"],
    ),
    "expression": (
        "{name=e1;type=int64;expression=e1}",
        [
            "column e1: only key columns may be computed (the switch allow_nonkey_computed allows others)",
            "column e1: the expression reads the column itself",
        ],
    ),
    "aggregate": (
        "{name=g1;type=int64;aggregate=avg}",
        [
            "column g1: there is no aggregate 'avg'; expected one of sum, min, max, first, xdelta, dict_sum",
        ],
    ),
    "lock": ('{name=l1;type=int64;lock=""}', ["column l1: the lock is empty"]),
    "group": ('{name=l2;type=int64;group=""}', ["column l2: the group is empty"]),
    "stable name": (
        f"{{name=s1;type=int64;stable_name={LONG_NAME}s}}",
        ["column s1: the stable name has 258 bytes; at most 256 are allowed"],
    ),
    "hunk": (
        "{name=h1;type=string;max_inline_hunk_size=0}",
        ["column h1: max_inline_hunk_size must be positive"],
    ),
    "materialized": (
        "{name=h2;type=int64;materialized=%true}",
        ["column h2: materialized is for computed columns"],
    ),
    "yson": (
        "{name=v1;type_v3=yson}",
        ["column v1: yson may be null, so it is {type_name=optional; item=yson}"],
    ),
}


def test_b01_every_fault_of_a_schema_is_listed_at_once() -> None:
    columns = ";".join(text for text, _ in FAULTY_COLUMNS.values())
    faults = [str(fault) for fault in check_schema(loads(f"<unique_keys=maybe;strict=5>[{columns}]"))]
    for _, messages in FAULTY_COLUMNS.values():
        assert [message for message in messages if message not in faults] == []
    assert {"strict is not a boolean", "unique_keys is not a boolean"} <= {*faults}
    assert len(faults) == sum(len(messages) for _, messages in FAULTY_COLUMNS.values()) + 2
    assert not check_schema(loads("[{name=k;type=int64;sort_order=ascending};{name=v;type=any}]"))
    code, message = code_of(parse_schema, loads(f"[{columns}]"))
    assert code == 314
    assert message.count("column ") >= len(FAULTY_COLUMNS)


def test_b02_b03_b04_schemas_beyond_their_limits(store: Store) -> None:
    keys = [{"name": f"k{number}", "type": "int64", "sort_order": "ascending"} for number in range(257)]
    columns = [{"name": f"c{number}", "type": "int64"} for number in range(32_001)]
    deep: Any = "int64"
    for _ in range(33):
        deep = {"type_name": "list", "item": deep}
    for number, (items, code, message) in enumerate(
        [
            (columns, 314, "32001 columns; at most 32000 are allowed"),
            (keys, 320, "257 key columns; at most 256 are allowed"),
            (
                [{"name": "a", "type_v3": deep}],
                314,
                "column a: the type is nested 33 levels deep; at most 32 are allowed",
            ),
        ]
    ):
        path = f"//tmp/t{number}"
        error = code_of(lambda: store.create("table", path, {"schema": items}))  # noqa: B023 - called at once
        assert error == (code, f"{path}: the schema is not valid: {message}")
        assert store.find(path) is None
    store.create("table", T, {"schema": columns[:-1]})
    write_rows(store, T, [{"c0": 1, "c31999": 2}])
    assert read(store, f"{T}{{c0,c31999}}") == "{c0=1;c31999=2}"


# --- Values ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMATS)
def test_b05_a_large_row(store: Store, form: str) -> None:
    value = b"x" * ROW_BYTES
    store.create("table", T, {"schema": document("[v:string]")})
    write_rows(store, T, [{"v": value}])
    data = written(store, form)
    store.create("table", A, {"schema": document("[v:string]")})
    write_bytes(store, form, data, A)
    (row,) = open_source(store, A).read_rows()
    assert row["v"] == value


def test_b05_rows_beyond_the_limit(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_limits, "MAX_ROW_WEIGHT", 1000)
    create(store, "[k:string^, v:string]", rows="{k=a}")
    assert code_of(write, store, f"<append=%true>{T}", f"{{k=b;v={'x' * 998}}};{{k=b;v={'x' * 1000}}}") == (
        1,
        "//tmp/t: row 1: 1002 bytes of data; at most 1000 are allowed",
    )
    assert code_of(write, store, f"<append=%true>{T}", f"{{k={'k' * 262_145}}}")[1].startswith(
        "//tmp/t: row 0: "
    )
    assert read(store) == "{k=a}"


INTEGERS = frozenset(
    [
        *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "date", "datetime"),
        *("timestamp", "interval", "date32", "datetime64", "timestamp64", "interval64"),
    ]
)
KINDS: dict[str, tuple[Any, frozenset[str]]] = {
    "int64": (5, INTEGERS),
    "uint64": (Uint64(5), INTEGERS),
    "double": (0.5, frozenset(("float", "double"))),
    "boolean": (True, frozenset(("bool",))),
    "string": (b"[1]", frozenset(("string", "utf8", "json"))),
    "list": ([1], frozenset()),
    "map": ({"a": 1}, frozenset()),
}
"""A value of each kind, and the primitive types that take it."""
STRINGS = frozenset(name for name in PRIMITIVES if name.startswith("tz_")) | {"uuid"}
COMPOSITES: dict[str, tuple[Any, str]] = {
    "list": ("{type_name=list;item=int64}", "list"),
    "struct": ("{type_name=struct;members=[{name=a;type=int64}]}", "map"),
    "tuple": ("{type_name=tuple;elements=[{type=int64}]}", "list"),
    "variant": ("{type_name=variant;elements=[{type=int64}]}", ""),
    "dict": ("{type_name=dict;key=string;value=int64}", ""),
    "decimal": ("{type_name=decimal;precision=5;scale=2}", ""),
    "optional": ("{type_name=optional;item={type_name=optional;item=int64}}", "list"),
    "tagged": ("{type_name=tagged;tag=t;item=int64}", "int64"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_b06_each_kind_into_each_type(kind: str) -> None:
    value, takers = KINDS[kind]
    for name in sorted(PRIMITIVES - {"yson"}):
        code, message = _outcome(name, value)
        if name in takers:
            assert (code, message) == (0, ""), name
        elif kind == "string" and name in STRINGS:
            assert (code, " bytes, not 3" in message) == (307, True), name
        else:
            assert (code, message.startswith(f"expected {name}, not {kind} ")) == (307, True), (name, message)
    assert _outcome("{type_name=optional;item=yson}", value) == (0, "")
    for type, taken in COMPOSITES.values():
        fits = kind == taken or (taken == "int64" and kind == "uint64")
        assert _outcome(type, value)[0] == (0 if fits else 307), type


@pytest.mark.parametrize("name", sorted(PRIMITIVES - {"yson", "null", "void"}))
def test_b06_null_and_attributes_into_each_type(name: str) -> None:
    assert _outcome(f"{{type_name=optional;item={name}}}", None) == (0, "")
    assert _outcome(name, None) == (307, f"null in a required column of the type {name}")
    assert _outcome(name, Attributed(5, {"x": 1})) == (307, f"a value of {name} has attributes")


def _outcome(type: str, value: Any) -> tuple[int, str]:
    """The code and message of the error, if a type does not take a value."""
    try:
        validate_value(parse_type(loads(type)), value)
    except YtError as error:
        return int(error.code), error.message
    return 0, ""


ODD_VALUES: dict[str, tuple[str, Any]] = {
    "nan": ("d", math.nan),
    "infinity": ("d", -math.inf),
    "negative zero": ("d", -0.0),
    "largest": ("u", Uint64(2**64 - 1)),
    "smallest": ("i", -(2**63)),
    "NUL": ("s", b"a\0b"),
    "NUL in text": ("t", b"a\0b"),
    "bytes": ("s", b"\xff\xfe\xc3\x28"),
    "any bytes": ("x", [b"\0\xff", {"\udcff": Uint64(2**64 - 1)}, -0.0]),
}
ODD_SCHEMA = "[d:double, u:uint64, i, s:string, t:utf8, x:any]"
DSV_HAS_NONE = {"dsv": {"any bytes"}, "json": {"nan", "infinity"}}


@pytest.mark.parametrize("name", ODD_VALUES)
@pytest.mark.parametrize("form", FORMATS)
def test_b07_odd_values_come_back(store: Store, form: str, name: str) -> None:
    column, value = ODD_VALUES[name]
    store.create("table", T, {"schema": document(ODD_SCHEMA)})
    write_rows(store, T, [{column: value}])
    if name in DSV_HAS_NONE.get(form, ()):
        with pytest.raises(YtError, match=r"which (dsv|JSON) does not have"):
            written(store, form)
        return
    store.create("table", A, {"schema": document(ODD_SCHEMA)})
    write_bytes(
        store,
        "<enable_string_to_all_conversion=%true>dsv" if form == "dsv" else form,
        written(store, form),
        A,
    )
    (row,) = open_source(store, A).read_rows()
    assert repr(row[column]) == repr(value)


def test_b07_text_that_is_no_utf8(store: Store) -> None:
    create(store, "[t:utf8]", rows="{t=a}")
    for form, data in (("yson", b'{t="\\xff"}'), ("json", '{"t":"ÿ"}'.encode()), ("dsv", b"t=\xff\n")):
        code, message = code_of(write_bytes, store, form, data)
        assert (code, message.endswith("is not utf8: byte 0 is not UTF-8")) == (307, True), message
    assert read(store) == "{t=a}"


@pytest.mark.parametrize("name", ["\0", "a\0b", "\udcff", "ä"])
def test_b07_odd_names_of_columns(store: Store, name: str) -> None:
    store.create("table", T, {"schema": [{"name": name, "type": "int64"}]})
    store.create("table", A)
    for path in (T, A):
        write_rows(store, path, [{name: 1}])
        assert [*open_source(store, path).read_rows()] == [{name: 1}]


@pytest.mark.parametrize("name", ["\0", "\udcff"])
def test_b07_odd_names_of_nodes(store_url: str, name: str) -> None:
    path = f"//tmp/{name}"
    with Store.open(store_url) as store:
        for verb in (
            lambda: store.create("table", path),
            lambda: store.find(path),
            lambda: read(store, path),
        ):
            assert code_of(verb) == (
                1,
                f"the path {path!r} is not valid; a name of a node is text in UTF-8 without NUL",
            )


# --- Documents -------------------------------------------------------------------------------------------

DOCUMENTS: dict[str, tuple[bytes, tuple[int, ...]]] = {
    "yson": (b'{a=1};{a=22;b="x"};', (0, 5, 6, 18, 19)),
    "<format=binary>yson": (b"{\x01\x02a=\x02\x02};{\x01\x02a=\x01\x06xyz};", (0, 8, 9, 20, 21)),
    "json": (b'{"a":1}\n{"a":22}\n', (0, 7, 8, 16, 17)),
}
"""Rows of each format, and where they may be cut so that whole rows are left."""


@pytest.mark.parametrize("form", DOCUMENTS)
def test_b08_truncated_rows(form: str) -> None:
    data, borders = DOCUMENTS[form]
    whole = [*parse_rows(Format.parse(form), data)]
    for size in range(len(data)):
        try:
            parsed = [*parse_rows(Format.parse(form), data[:size])]
        except YtError:
            assert size not in borders
        else:
            assert (size in borders, parsed) == (True, whole[: len(parsed)]), size


@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_b08_truncated_columns(store: Store, form: str) -> None:
    create(store, "[k:string^, v]", rows=ROWS)
    data = written(store, form)
    whole = [*parse_rows(Format.parse(form), data)]
    ends = []
    for size in range(len(data)):
        try:
            assert [*parse_rows(Format.parse(form), data[:size])] in ([], whole)
            ends.append(size)
        except YtError as error:
            assert f"the rows are not a{'n Arrow stream' if form == 'arrow' else ' Parquet file'}" in str(
                error
            )
    # A stream of Arrow need not have a mark at its end, so it may stop after the schema and after each batch.
    assert len(ends) == (0 if form == "parquet" else 2), ends


def test_b08_truncated_files_of_a_load(tmp_path: Path) -> None:
    url, file = f"yt:{tmp_path}/store", tmp_path / "events.jsonl.gz"
    file.write_bytes(gzip.compress(b'{"k":1}\n' * 1000)[:-9])
    with pytest.raises(TrellisError, match=r"events\.jsonl\.gz"):
        load(url, str(file))
    with Store.open(url) as store:
        assert store.find("//home/events") is None
