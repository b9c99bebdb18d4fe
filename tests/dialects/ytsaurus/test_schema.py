"""Documents of schemas: what they say, and what is wrong with them."""

from __future__ import annotations

from typing import Any

import pytest

from dialects.ytsaurus.schemas import UPSTREAM, document
from trellis.dialects.ytsaurus.errors import ErrorCode, YtError
from trellis.dialects.ytsaurus.schema.document import (
    check_schema,
    column_document,
    parse_schema,
    read_schema,
    schema_document,
)
from trellis.dialects.ytsaurus.store.columns import arrow_schema
from trellis.dialects.ytsaurus.types.document import parse_type, type_document
from trellis.dialects.ytsaurus.yson.parser import loads


def faults(columns: Any, **column: Any) -> list[str]:
    return [str(fault) for fault in check_schema(columns)]


def column_faults(**column: Any) -> list[str]:
    """What is wrong with a table of one column `a`."""
    return [str(fault) for fault in check_schema([{"name": "a", **column}])]


def read_back(**column: Any) -> dict[str, Any]:
    (read,) = parse_schema([{"name": "a", **column}]).columns
    return column_document(read)


def optional(item: Any) -> dict[str, Any]:
    return {"type_name": "optional", "item": item}


def nested(name: str, *, depth: int) -> Any:
    return "int8" if not depth else {"type_name": name, "item": nested(name, depth=depth - 1)}


def test_c12_what_a_schema_reads() -> None:
    read = schema_document(parse_schema(loads("[{name=a;type=int64}]")))
    assert read.attributes == {"strict": True, "unique_keys": False}
    assert read.value == [{"name": "a", "type": "int64", "required": False, "type_v3": optional("int64")}]


def test_c13_any() -> None:
    assert read_back(type="any") == {
        "name": "a",
        "type": "any",
        "required": False,
        "type_v3": optional("yson"),
    }


def test_c14_a_list() -> None:
    read = read_back(type_v3={"type_name": "list", "item": "utf8"})
    assert (read["type"], read["required"]) == ("any", True)


def test_c15_an_optional_decimal() -> None:
    read = read_back(type_v3=optional({"type_name": "decimal", "precision": 5, "scale": 2}))
    assert (read["type"], read["required"]) == ("string", False)


def test_c16_type_v3_decides_what_required_leaves_open() -> None:
    assert read_back(type="uint32", type_v3="uint32")["required"] is True


def test_c17_type_against_type_v3() -> None:
    assert column_faults(type="double", type_v3="string") == [
        "column a: type is double and type_v3 is string, whose type is string"
    ]


@pytest.mark.parametrize(
    ("column", "fault"),
    [
        ({"type": "any", "required": True}, "a column of the type any cannot be required"),
        ({"type": "null", "required": True}, "a column of the type null cannot be required"),
        (
            {"type_v3": optional(optional("int8")), "required": True},
            "required is %true and type_v3 is optional<optional<int8>>, which holds null",
        ),
        (
            {"type": "int64", "required": True, "sort_order": "ascending", "expression": "1"},
            "a computed column cannot be required",
        ),
    ],
)
def test_c18_what_cannot_be_required(column: dict[str, Any], fault: str) -> None:
    assert column_faults(**column) == [f"column a: {fault}"]


@pytest.mark.parametrize(
    ("column", "fault"),
    [
        ({"type": "bool"}, "there is no type 'bool'; it is a name of type_v3, in `type` it is boolean"),
        ({"type": "yson"}, "there is no type 'yson'; it is a name of type_v3, in `type` it is any"),
        ({"type_v3": "boolean"}, "boolean is a name of `type`; in type_v3 it is bool"),
        ({"type_v3": "any"}, "any is a name of `type`; in type_v3 it is yson"),
        ({"type_v3": "yson"}, "yson may be null, so it is {type_name=optional; item=yson}"),
        ({"type_v3": "list"}, "list has parts, so it is a map: {type_name=list; ...}"),
        ({"type": "int63"}, "there is no type 'int63': did you mean 'int64'?"),
    ],
)
def test_c19_names_of_types(column: dict[str, Any], fault: str) -> None:
    assert column_faults(**column) == [f"column a: {fault}"]


def test_c20_no_type() -> None:
    assert column_faults() == ["column a: the column has neither type nor type_v3"]


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("", "column #0: the name is empty"),
        ("x" * 257, f"column {'x' * 257}: the name has 257 bytes; at most 256 are allowed"),
        ("é" * 129, f"column {'é' * 129}: the name has 258 bytes; at most 256 are allowed"),
        ("@a", "column @a: the name begins with @, which is for system columns"),
        ("$a", "column $a: the name begins with $, which is for system columns"),
    ],
)
def test_c21_names(name: str, fault: str) -> None:
    assert faults([{"name": name, "type": "int64"}]) == [fault]


def test_c21_a_name_of_256_bytes() -> None:
    assert not faults([{"name": "x" * 256, "type": "int64"}])


def test_c22_two_columns_of_one_name() -> None:
    assert faults(document("[a, a]")) == ["column a: 2 columns have this name"]


def test_c23_keys_come_first() -> None:
    assert faults(document("[a, b^]")) == [
        "column b: a key column after a, which is not key; keys come first"
    ]
    assert faults(document("[a]u")) == ["unique_keys=%true needs a key column"]


def test_c24_keys_have_neither_lock_nor_aggregate() -> None:
    assert column_faults(type="int64", sort_order="ascending", lock="l", aggregate="sum") == [
        "column a: a key column cannot have an aggregate",
        "column a: a key column cannot have a lock",
    ]


def test_c25_aggregates() -> None:
    assert not column_faults(type="int64", aggregate="sum")
    assert column_faults(type="int32", aggregate="sum") == [
        "column a: the aggregate sum is for int64, uint64, double, not int32"
    ]
    assert column_faults(type="int64", aggregate="hyperloglog") == [
        (
            "column a: there is no aggregate 'hyperloglog'; expected one of sum, min, max, first, xdelta, "
            "dict_sum"
        )
    ]


def test_c26_b02_columns_are_limited() -> None:
    columns = [{"name": f"c{index}", "type": "int64"} for index in range(32_001)]
    reading = read_schema(columns[:-1])
    assert (reading.faults, [str(warning) for warning in reading.warnings]) == (
        (),
        ["32000 columns; tables of more than 9999 are slow in every operation"],
    )
    assert faults(columns) == ["32001 columns; at most 32000 are allowed"]


def test_c27_b04_types_are_nested_32_levels_deep() -> None:
    assert not column_faults(type_v3=nested("list", depth=32))
    assert column_faults(type_v3=nested("list", depth=33)) == [
        "column a: the type is nested 33 levels deep; at most 32 are allowed"
    ]
    assert column_faults(type_v3=nested("list", depth=900)) == [
        "column a: the type is nested deeper than 32 levels"
    ]


STRUCT = {"type_name": "struct", "members": [{"name": "a", "type": "int8"}]}


@pytest.mark.parametrize(
    ("type", "shown"),
    [
        ("json", "json"),
        (STRUCT, "struct<a:int8>"),
        ({"type_name": "tuple", "elements": [{"type": optional("yson")}]}, "tuple<optional<yson>>"),
        ({"type_name": "dict", "key": "int8", "value": "int8"}, "dict<int8,int8>"),
    ],
)
def test_c28_what_has_no_order_is_no_key(type: Any, shown: str) -> None:
    assert column_faults(type_v3=type, sort_order="ascending") == [
        f"column a: the type {shown} has no order, so the column cannot be key"
    ]


@pytest.mark.parametrize(
    "type",
    [
        "float",
        {"type_name": "decimal", "precision": 5, "scale": 2},
        {"type_name": "list", "item": optional("int32")},
        optional("yson"),
    ],
)
def test_c29_what_may_be_key(type: Any) -> None:
    assert not column_faults(type_v3=type, sort_order="ascending")


@pytest.mark.parametrize(
    ("type", "fault"),
    [
        (
            {"type_name": "dict", "key": "json", "value": "int8"},
            "the key of a dict holds json, whose values have no one form",
        ),
        (
            {"type_name": "variant", "members": STRUCT["members"], "elements": [{"type": "int8"}]},
            "a variant has either members or elements",
        ),
        (
            {"type_name": "decimal", "precision": 5, "scale": 6},
            "the scale of a decimal is 6; expected 0 to its precision, 5",
        ),
        (
            {"type_name": "decimal", "precision": 77, "scale": 0},
            "the precision of a decimal is 77; expected 1 to 76",
        ),
    ],
)
def test_c30_composite_types(type: Any, fault: str) -> None:
    assert column_faults(type_v3=type) == [f"column a: {fault}"]


def test_c31_descending() -> None:
    columns = [{"name": "a", "type": "int64", "sort_order": "descending"}]
    with pytest.raises(YtError) as error:
        parse_schema(columns)
    assert error.value.code == ErrorCode.INVALID_SCHEMA
    assert str(error.value) == (
        "the schema is not valid: column a: sort_order is descending; expected ascending (the switch "
        "enable_descending allows both)"
    )
    assert parse_schema(columns, UPSTREAM).keys[0].sort_order == "descending"


def test_c34_a_computed_column_has_the_type_of_its_expression() -> None:
    assert column_faults(type="int32", sort_order="ascending", expression="100") == [
        "column a: the expression is int64, so the type must be int64, not int32"
    ]
    assert not column_faults(type="uint64", sort_order="ascending", expression="100")


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("[h^=h]", "the expression reads the column itself"),
        ("[h^=i, i^=k, k^]", "the expression reads i, which is computed itself"),
        ("[h^=v, v]", "the expression reads v, which is not a key column"),
        (
            "[h^=zz, k^]",
            "the expression 'zz' is not valid: there is no column 'zz': it may be one of k",
        ),
    ],
)
def test_c35_what_an_expression_reads(text: str, fault: str) -> None:
    assert faults(document(text)) == [f"column h: {fault}"]


def test_a_computed_column_before_its_source() -> None:
    assert not faults(document("[h:uint64^=farm_hash(k), k:string^, v]"))
    assert faults(document("[k^, v=k]")) == [
        "column v: only key columns may be computed (the switch allow_nonkey_computed allows others)"
    ]


def test_b01_every_fault_is_listed() -> None:
    assert faults(
        loads(
            "<strict=5>[{type=int64}; 7; {name=a; type=any; required=%true; sort_order=up}; {name=a; type=x}]"
        )
    ) == [
        "column #0: the column has no name",
        "column #1: a column is a map, such as {name=k; type=int64}",
        "column a: a column of the type any cannot be required",
        "column a: sort_order is 'up'; expected ascending",
        "column a: there is no type 'x': it may be one of " + ", ".join(NAMES),
        "strict is not a boolean",
        "column a: 2 columns have this name",
    ]
    assert faults(loads('[{name=v; type=int64}; {name="@k"; sort_order=ascending; lock=""}]')) == [
        "column @k: the column has neither type nor type_v3",
        "column @k: the name begins with @, which is for system columns",
        "column @k: a key column cannot have a lock",
        "column @k: the lock is empty",
        "column @k: a key column after v, which is not key; keys come first",
    ]


NAMES = [
    "boolean",
    "date",
    "date32",
    "datetime",
    "datetime64",
    "double",
    "float",
    "int16",
    "int32",
    "int64",
    "int8",
    "interval",
    "interval64",
    "json",
    "null",
    "string",
    "timestamp",
    "timestamp64",
    "tz_date",
    "tz_date32",
    "tz_datetime",
    "tz_datetime64",
    "tz_timestamp",
    "tz_timestamp64",
    "uint16",
    "uint32",
    "uint64",
    "uint8",
    "utf8",
    "uuid",
    "void",
    "any",
]


def test_b03_256_keys() -> None:
    columns = [{"name": f"k{index}", "type": "int64", "sort_order": "ascending"} for index in range(257)]
    with pytest.raises(YtError) as error:
        parse_schema(columns)
    assert (error.value.code, str(error.value)) == (
        ErrorCode.TOO_MANY_KEY_COLUMNS,
        "the schema is not valid: 257 key columns; at most 256 are allowed",
    )


def test_unknown_keys_are_warned_of() -> None:
    reading = read_schema([{"name": "a", "type": "int64", "sortorder": "ascending"}])
    assert [str(warning) for warning in reading.warnings] == [
        "column a: 'sortorder' is ignored: did you mean 'sort_order'?"
    ]


def test_every_form_of_a_type_comes_back() -> None:
    types = [
        STRUCT,
        {"type_name": "variant", "members": STRUCT["members"]},
        {"type_name": "variant", "elements": [{"type": "utf8"}, {"type": optional("yson")}]},
        {"type_name": "tagged", "tag": "t", "item": "uuid"},
        {"type_name": "dict", "key": "utf8", "value": optional("int8")},
    ]
    for type in types:
        assert type_document(parse_type(type)) == type


def test_seed_y14_columns_of_a_group() -> None:
    schema = parse_schema(
        loads(
            "[{name=key;type=string;sort_order=ascending;group=g1};{name=value;type=string};"
            "{name=subkey;type=string;group=g1}]"
        )
    )
    assert [column.group for column in schema.columns] == ["g1", None, "g1"]
    assert arrow_schema(schema).names == ["key", "subkey", "value"]


def test_seed_y36_the_schema_of_a_sorted_table() -> None:
    """Items of the example's maps are separated as YSON asks for; the page forgets it after `ascending`."""
    schema = parse_schema(
        loads(
            '[{name="key";type="string";sort_order="ascending"};{name="subkey";type="string";'
            'sort_order="ascending"};{name="value";type="string"}]'
        )
    )
    assert (str(schema), schema.strict) == (
        "[key:optional<string>^, subkey:optional<string>^, value:optional<string>]",
        True,
    )


def test_seed_y37_three_keys_two_in_a_group() -> None:
    columns = [
        {
            "name": name,
            "type": "string",
            "sort_order": "ascending",
            **({"group": "g1"} if name != "value" else {}),
        }
        for name in ("key", "subkey", "value")
    ]
    assert [(column.name, column.is_key, column.group) for column in parse_schema(columns).columns] == [
        ("key", True, "g1"),
        ("subkey", True, "g1"),
        ("value", True, None),
    ]


def test_seed_y38_the_schema_of_a_log() -> None:
    schema = parse_schema(
        loads(
            '<strict=%false>[\n {\n    "name" = "id";\n    "type" = "int64";\n };{\n    "name" = "time";\n'
            '    "type" = "string";\n };{\n    "name" = "error";\n    "type" = "string"\n }\n]'
        )
    )
    assert str(schema) == "~[id:optional<int64>, time:optional<string>, error:optional<string>]"
