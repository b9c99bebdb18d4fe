"""Formats that need the schema of the table, or bring their own: arrow, parquet, skiff; and yaml."""

from __future__ import annotations

import io
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yt.skiff
from hypothesis import given
from hypothesis import strategies as st

from dialects.ytsaurus.test_formats import write
from dialects.ytsaurus.test_tables import T, code_of, create
from trellis.dialects.ytsaurus.computed.farm_hash import farm_hash
from trellis.dialects.ytsaurus.errors import YtError
from trellis.dialects.ytsaurus.formats.format import Format, TablePart
from trellis.dialects.ytsaurus.store.altering import alter_table
from trellis.dialects.ytsaurus.store.reading import open_source
from trellis.dialects.ytsaurus.store.row_formats.formatting import format_rows
from trellis.dialects.ytsaurus.store.store import Store
from trellis.dialects.ytsaurus.store.writing import parse_rows, write_rows
from trellis.dialects.ytsaurus.yson.parser import loads
from trellis.dialects.ytsaurus.yson.values import Uint64


def read(form: str, data: bytes) -> list[dict[str, Any]]:
    return list(parse_rows(Format.parse(form), data))


def error_of(form: str, data: bytes) -> str:
    with pytest.raises(YtError) as error:
        read(form, data)
    return error.value.message


SCHEMA = "[k:string^, n:int64, u:uint8, d:double, b:boolean, t:utf8, x:any]"
ROWS = (
    '{k=b;n=#;u=#;d=%nan;b=%false;t=z;x=plain};{k="\\xff";n=-1;u=5u;d=1.5;b=%true;t="\\u00e4";x={a=[1;2u]}};'
)


@pytest.fixture
def table(store: Store) -> Store:
    create(store, SCHEMA, rows=ROWS)
    return store


def formatted(store: Store, path: str, form: str, **controls: bool) -> bytes:
    return b"".join(format_rows(open_source(store, path), Format.parse(form), controls))


@pytest.mark.parametrize("form", ["arrow", "parquet"])
def test_columns_of_arrow(table: Store, form: str) -> None:
    data = formatted(table, f"{T}{{k,n,u,t,x}}", form)
    read_table: Any = pq.read_table if form == "parquet" else lambda file: pa.ipc.open_stream(file).read_all()
    columns = read_table(io.BytesIO(data))
    assert [f"{field.name}:{field.type}" for field in columns.schema] == [
        "k:binary",
        "n:int64",
        "u:uint8",
        "t:string",
        "x:binary",
    ]
    assert columns.column("n").to_pylist() == [None, -1]
    assert [loads(value) for value in columns.column("x").to_pylist()] == ["plain", {"a": [1, Uint64(2)]}]


@pytest.mark.parametrize("form", ["arrow", "parquet", "yson", "yaml", "json"])
def test_rows_come_back_in_a_table(table: Store, form: str) -> None:
    create(table, SCHEMA, "//tmp/u")
    parsed = Format.parse(form)
    rows = T if form != "json" else f"{T}{{k,n,u,b,t}}"
    write_rows(table, "//tmp/u", parse_rows(parsed, formatted(table, rows, form)), parsed.forms)
    assert formatted(table, rows.replace(T, "//tmp/u"), "yson") == formatted(table, rows, "yson")


def test_empty_tables_have_columns(store: Store) -> None:
    create(store, "[k:string]")
    assert pa.ipc.open_stream(formatted(store, T, "arrow")).read_all().schema.names == ["k"]
    assert pq.read_table(io.BytesIO(formatted(store, T, "parquet"))).num_rows == 0
    assert read("arrow", formatted(store, T, "arrow")) == []


def test_columns_that_are_not_declared(store: Store) -> None:
    create(store, "~[k:string]", rows="{k=a;z=5u}")
    assert code_of(formatted, store, T, "arrow") == (
        1,
        (
            "//tmp/t: a row has the column z, which the schema does not declare; arrow has its columns "
            "alone; choose columns in braces, such as //home/t{z}"
        ),
    )
    assert read("arrow", formatted(store, f"{T}{{z}}", "arrow")) == [{"z": Uint64(5)}]


def test_arrow_of_others() -> None:
    columns = pa.table(
        {
            "d": pa.array([1, None], pa.date32()),
            "t": pa.array([5, 6], pa.timestamp("ms")),
            "s": pa.array(["x", "y"]).dictionary_encode(),
            "l": pa.array([[{"a": "z"}], []], pa.list_(pa.struct([("a", pa.string())]))),
        }
    )
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, columns.schema) as writer:
        writer.write_table(columns)
    assert read("arrow", sink.getvalue()) == [
        {"d": 1, "t": 5000, "s": b"x", "l": [{"a": b"z"}]},
        {"t": 6000, "s": b"y", "l": []},
    ]
    assert error_of("arrow", b"no stream").startswith("the rows are not an Arrow stream: ")
    assert error_of("parquet", b"no file").startswith("the rows are not a Parquet file: ")


def test_yaml() -> None:
    row = {"k": b"a", "raw": b"\xff", "u": Uint64(5), "n": -1, "none": None, "d": 1.5, "l": [1, {"x": b"y"}]}
    assert write("yaml", row) == (
        b"---\nd: 1.5\nk: a\nl:\n- 1\n- x: y\nn: -1\nnone: null\nraw: !!binary |\n  /w==\nu: !u 5\n"
    )
    assert read("yaml", write("yaml", row, {"k": b"5"}, {})) == [row, {"k": b"5"}, {}]
    assert read("yaml", b"k: 2024-01-31\nn: 18446744073709551615\n") == [
        {"k": b"2024-01-31", "n": Uint64(2**64 - 1)}
    ]
    assert error_of("yaml", b"- 1\n") == "document 1: expected a row, which is a map such as 'k: 1'"
    message = error_of("yaml", b"k: [1\n")
    assert message.startswith("document 1 is not YAML: while parsing a flow sequence")
    assert "\n" not in message
    assert (Format("yaml").loads(b"[1, a]"), Format("yaml").dumps({"a": Uint64(1)})) == (
        [1, b"a"],
        b"a: !u 1\n",
    )


# --- Skiff -----------------------------------------------------------------------------------------------


def optional(wire: str) -> str:
    return f"wire_type=variant8;children=[{{wire_type=nothing}};{{wire_type={wire}}}]"


COLUMNS = [
    "name=k;wire_type=string32",
    f"name=n;{optional('int64')}",
    f"name=u;{optional('uint64')}",
    "name=d;wire_type=double",
    "name=b;wire_type=boolean",
    "name=x;wire_type=yson32",
]


def skiff(*columns: str) -> str:
    children = "".join(f"{{{column}}};" for column in columns)
    return f"<table_skiff_schemas=[{{wire_type=tuple;children=[{children}]}}]>skiff"


def binding(*columns: str) -> Any:
    document = loads(f"{{wire_type=tuple;children=[{''.join(f'{{{column}}};' for column in columns)}]}}")
    return yt.skiff.SkiffSchema([document], {}, "@range_index", "@row_index")


def test_skiff_is_read_by_the_client(table: Store) -> None:
    columns = [*COLUMNS[1:5], f"name=t;{optional('string32')}"]
    schema = binding(*columns)
    records = yt.skiff.load(
        io.BytesIO(formatted(table, T, skiff(*columns))), [schema], "@range_index", "@row_index"
    )
    rows = [{name: record[name] for name in ("n", "u", "b", "t")} for record in records]
    assert rows == [
        {"n": None, "u": None, "b": False, "t": "z"},
        {"n": -1, "u": 5, "b": True, "t": "ä"},
    ]


def test_skiff_of_the_client_is_read() -> None:
    schema = binding(*COLUMNS[:5])
    record = schema.create_record()
    for name, value in {"k": b"a", "n": None, "u": 7, "d": 0.5, "b": True}.items():
        record[name] = value
    sink = io.BytesIO()
    yt.skiff.dump([record], [sink], [schema])
    assert read(skiff(*COLUMNS[:5]), sink.getvalue()) == [
        {"k": b"a", "n": None, "u": Uint64(7), "d": 0.5, "b": True}
    ]


def test_other_and_sparse_columns(table: Store) -> None:
    form = skiff(
        "name=k;wire_type=string32",
        '"name"="$sparse_columns";wire_type=repeated_variant16;children=[{name=n;wire_type=int64};'
        "{name=t;wire_type=string32}]",
        '"name"="$other_columns";wire_type=yson32',
    )
    rows = read(form, formatted(table, T, form))
    assert [row["k"] for row in rows] == [b"b", b"\xff"]
    assert ("n" in rows[0], rows[1]["n"], rows[1]["x"], rows[0]["b"]) == (
        False,
        -1,
        {"a": [1, Uint64(2)]},
        False,
    )


def test_numbers_of_rows_in_skiff(table: Store) -> None:
    form = skiff(
        "name=b;wire_type=boolean",
        f'"name"="$row_index";{optional("int64")}',
        f'"name"="$range_index";{optional("int64")}',
    )
    assert formatted(table, f"{T}[#1,#0:#2]", form) == (
        b"\0\0\1" + b"\1" + b"\1\0\0\0\0\0\0\0" + b"\1" + b"\0" * 8
        + b"\0\0\0" + b"\1" + b"\0" * 8 + b"\1\1\0\0\0\0\0\0\0"
        + b"\0\0\1\0\0"
    )  # fmt: skip


def test_composite_values_in_skiff() -> None:
    inner = "{name=a;wire_type=int64};{name=b;wire_type=string32}"
    form = skiff(
        f"name=s;wire_type=tuple;children=[{inner}]",
        f"name=l;wire_type=repeated_variant8;children=[{{{optional('int64')}}}]",
        "name=v;wire_type=variant8;children=[{name=i;wire_type=int64};{name=t;wire_type=string32}]",
        "name=m;wire_type=int32",
        f"name=o;wire_type=variant8;children=[{{wire_type=nothing}};{{{optional('int64')}}}]",
    )
    row = {
        "s": {"a": 1, "b": b"x"},
        "l": [1, None],
        "v": [b"t", b"y"],
        "m": bytes.fromhex("800004d2"),
        "o": [None],
    }
    data = b"".join(Format.parse(form).write_parts([TablePart(0, 0, [row])], {}))
    assert read(form, data) == [{**row, "v": ["t", b"y"], "m": 1234}]


def test_skiff_that_does_not_fit(table: Store) -> None:
    assert code_of(formatted, table, T, skiff("name=n;wire_type=int64")) == (
        1,
        "//tmp/t: the column n cannot be written as int64: it is null",
    )
    assert code_of(formatted, table, T, "skiff") == (
        1,
        "//tmp/t: skiff needs table_skiff_schemas, a list with the schema of the table",
    )
    assert code_of(formatted, table, T, skiff("name=n;wire_type=int65"))[1].startswith(
        "//tmp/t: there is no wire_type 'int65'; expected one of int8, int16"
    )
    assert error_of(skiff("name=k;wire_type=string32"), b"\0\0\5\0\0\0ab") == (
        'row 0, column "k": the data ends in the middle of a row; expected 5 bytes, not 2'
    )


@given(st.binary(max_size=40))
def test_any_bytes_are_rows_or_an_error(data: bytes) -> None:
    for form in (skiff(*COLUMNS), "arrow", "parquet", "yaml"):
        try:
            read(form, data)
        except Exception as error:
            assert type(error).__name__ in ("YtError", "YsonError"), (form, repr(error))


def test_control_attributes_of_formats_without(table: Store) -> None:
    for form in ("arrow", "parquet", "dsv", "yaml"):
        with pytest.raises(Exception, match=f"the format {form} has no control attributes"):
            list(format_rows(open_source(table, T), Format.parse(form), {"enable_row_index": True}))


# --- Strict tables, of which no rows are made ------------------------------------------------------------

STRUCT = {"type_name": "struct", "members": [{"name": "a", "type": "int64"}]}
LONGER = {"type_name": "optional", "item": "utf8"}
OLD_SCHEMA = [
    {"name": "h", "type": "uint64", "sort_order": "ascending", "expression": "farm_hash(k)"},
    {"name": "k", "type": "int64", "sort_order": "ascending"},
    {"name": "n", "type": "int8"},
    {"name": "f", "type": "float"},
    {"name": "s", "type_v3": STRUCT},
]
NEW_SCHEMA = [
    *OLD_SCHEMA[:2],
    {"name": "renamed", "stable_name": "n", "type": "int32"},
    OLD_SCHEMA[3],
    {"name": "s", "type_v3": {**STRUCT, "members": [*STRUCT["members"], {"name": "b", "type": LONGER}]}},
    {"name": "x", "type": "any"},
]


@pytest.mark.parametrize("form", ["arrow", "parquet"])
@pytest.mark.parametrize(
    "path",
    [T, f"{T}[#1:#3]", f"{T}{{renamed,k}}[#4,#0:#2]", f"{T}{{s}}", f"{T}{{h,zz}}", f"{T}{{}}",
     f"<rename_columns={{k=key}}>{T}"],
)  # fmt: skip
def test_columns_are_those_of_the_rows(store: Store, form: str, path: str) -> None:
    store.create("table", T, {"schema": OLD_SCHEMA})
    by_hash = sorted(range(5), key=farm_hash)
    old = [{"k": k, "n": k, "f": k / 2, "s": {"a": k}} for k in by_hash[:3]]
    write_rows(store, T, old)
    alter_table(store, T, NEW_SCHEMA)
    new = [{"k": k, "renamed": None, "s": {"a": k, "b": b"b"}, "x": [k, None]} for k in by_hash[3:]]
    write_rows(store, f"<append=%true>{T}", new)
    rows = [*open_source(store, path).read_rows()]
    assert len(rows) == {"[#1:#3]": 2, "{renamed,k}[#4,#0:#2]": 3}.get(path.removeprefix(T), 5)
    expected = [{name: value for name, value in row.items() if value is not None} for row in rows]
    if (form, path) == ("parquet", f"{T}{{}}"):
        assert code_of(formatted, store, path, form) == (
            1,
            f"{T}: parquet has no rows without columns; name a column, or read them as arrow",
        )
        return
    assert read(form, formatted(store, path, form)) == expected
