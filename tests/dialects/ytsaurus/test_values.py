"""Which values fit their types, and in which order they are."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialects.ytsaurus.schemas import schema
from trellis.dialects.ytsaurus.errors import ErrorCode, YtError
from trellis.dialects.ytsaurus.types.document import parse_type
from trellis.dialects.ytsaurus.types.model import Decimal, Type
from trellis.dialects.ytsaurus.values.decimals import decode_decimal, encode_decimal
from trellis.dialects.ytsaurus.values.order import compare, encode_key
from trellis.dialects.ytsaurus.values.rows import OrderValidator, RowValidator, row_weight
from trellis.dialects.ytsaurus.values.validation import ValueForms, complete_value, validate_value
from trellis.dialects.ytsaurus.yson.parser import loads
from trellis.dialects.ytsaurus.yson.values import Attributed, Uint64, kind_of


def type_of(text: str) -> Type:
    return parse_type(loads(text))


def accepted(type: str, text: str, **forms: bool) -> Any:
    return validate_value(type_of(type), loads(text, raw=True), ValueForms(**forms))


def refused(type: str, text: str, **forms: bool) -> str:
    with pytest.raises(YtError) as error:
        accepted(type, text, **forms)
    assert error.value.code == ErrorCode.SCHEMA_VIOLATION
    return error.value.message


def row_error(validator: RowValidator, row: dict[str, Any]) -> tuple[int, str]:
    with pytest.raises(YtError) as error:
        validator.validate(row)
    return int(error.value.code), error.value.message


HASHED = "[h:uint64^=farm_hash(k), k:string^]"


def test_c32_a_computed_column() -> None:
    assert RowValidator(schema(HASHED)).validate({"k": b"k1"}) == {"k": b"k1", "h": 2692134488169246299}


def test_c33_a_value_for_a_computed_column_is_replaced() -> None:
    row = {"h": Uint64(1), "k": b"k1"}
    assert RowValidator(schema(HASHED)).validate(row) == {"k": b"k1", "h": 2692134488169246299}


def test_c45_integers() -> None:
    assert refused("int8", "128") == "128 is out of range of int8, -128 to 127"
    assert refused("uint8", "-1") == "expected uint8, not int64 -1"
    value = accepted("uint8", "5")
    assert (value, kind_of(value)) == (5, "uint64")
    value = accepted("int8", "5u")
    assert (value, kind_of(value)) == (5, "int64")


def test_c46_doubles_take_no_integers() -> None:
    assert refused("double", "5") == "expected double, not int64 5"
    value = accepted("double", "5", integral_to_double=True)
    assert (value, kind_of(value)) == (5.0, "double")


@pytest.mark.parametrize(
    ("type", "text", "message"),
    [
        ("string", "5", "expected string, not int64 5"),
        ("utf8", r'"\xff"', r'"\xFF" is not utf8: byte 0 is not UTF-8'),
        ("uuid", '"123456789012345"', "a uuid has 16 bytes, not 15"),
        ("json", '"[1,]"', '"[1,]" is not JSON'),
        ("json", '"Infinity"', '"Infinity" is not JSON'),
    ],
)
def test_c47_texts(type: str, text: str, message: str) -> None:
    assert refused(type, text) == message


def test_c48_dates() -> None:
    assert accepted("date", "49672u") == 49672
    assert refused("date", "49673u") == "49673 is out of range of date, 0 to 49672"


def test_c49_floats() -> None:
    assert refused("float", "3.14e39") == "3.14e+39 is out of range of float"
    assert math.isnan(accepted("float", "%nan"))


@pytest.mark.parametrize("row", [{"a": None}, {}])
def test_c50_null_in_a_required_column(row: dict[str, Any]) -> None:
    assert row_error(RowValidator(schema("[a:int64!]")), row) == (
        307,
        'row 0, column "a": null in a required column of the type int64',
    )


def test_c51_a_column_that_a_strict_schema_lacks() -> None:
    validator = RowValidator(schema("[price:int64]"))
    validator.validate({})
    assert row_error(validator, {"prise": 1}) == (
        307,
        "row 1, column \"prise\": the strict schema has no such column: did you mean 'price'?",
    )


def test_c52_other_columns_of_a_schema_that_is_not_strict() -> None:
    validator = RowValidator(schema("~[a:int64]"))
    assert validator.validate({"a": 1, "z": b"q"}) == {"a": 1, "z": b"q"}
    assert row_error(validator, {"a": b"q"}) == (307, 'row 1, column "a": expected int64, not string "q"')


NESTED = "{type_name=optional;item={type_name=optional;item=int8}}"


def test_c53_an_optional_of_an_optional() -> None:
    assert [accepted(NESTED, text) for text in ("#", "[#]", "[5]")] == [None, [None], [5]]
    assert refused(NESTED, "5") == "expected optional<optional<int8>>, not int64 5"
    for text, count in (("[]", 0), ("[5;5]", 2)):
        assert refused(NESTED, text) == (
            f"a value of optional<optional<int8>> is # or a list of one item, not of {count}"
        )


STRUCT = "{type_name=struct;members=[{name=a;type=utf8};{name=b;type={type_name=optional;item=int64}}]}"


def test_c54_structs() -> None:
    assert accepted(STRUCT, "{a=x}") == {"a": b"x", "b": None}
    assert refused(STRUCT, "{b=1}") == "the member a of the type utf8 is required"
    assert refused(STRUCT, "{a=x;c=1}") == "struct<a:utf8,b:optional<int64>> has no member 'c'"


def test_c55_structs_by_position() -> None:
    assert accepted(STRUCT, "[x]", positional=True) == {"a": b"x", "b": None}
    assert refused(STRUCT, "[]", positional=True) == "the member a of the type utf8 is required"


def test_c56_decimals() -> None:
    type = Decimal(5, 2)
    assert encode_decimal(type, "12.34").hex() == "800004d2"
    assert encode_decimal(type, "-0.05").hex() == "7ffffffb"
    assert [decode_decimal(type, encode_decimal(type, text)) for text in ("nan", "inf", "-inf", "7")] == [
        *("nan", "inf", "-inf", "7.00")
    ]
    with pytest.raises(YtError, match="1000 has more than the 5 digits"):
        encode_decimal(type, "1000")
    with pytest.raises(YtError, match=r"1\.005 has more than the 2 decimal places"):
        encode_decimal(type, "1.005")


def test_c57_attributes_in_any() -> None:
    type = "{type_name=optional;item=yson}"
    assert refused(type, "<x=1>5") == "a value of the type any cannot have attributes at its top"
    assert accepted(type, "[<x=1>5]") == [Attributed(5, {"x": 1})]


def test_a_part_that_does_not_fit_is_named() -> None:
    type = "{type_name=list;item={type_name=struct;members=[{name=a;type=int8}]}}"
    assert refused(type, "[{a=1};{a=300}]") == "at /1/a: 300 is out of range of int8, -128 to 127"
    assert refused(type, "[{a=1u}]") == "at /0/a: expected int8, not uint64 1u"


@pytest.mark.parametrize(
    ("type", "text", "value"),
    [
        ("{type_name=dict;key=utf8;value=int8}", "[[a;1]]", [[b"a", 1]]),
        ("{type_name=variant;elements=[{type=int8};{type=utf8}]}", "[1;x]", [1, b"x"]),
        ("{type_name=variant;members=[{name=n;type=int8}]}", "[n;1]", [b"n", 1]),
        ("{type_name=tuple;elements=[{type=int8};{type=utf8}]}", "[1;x]", [1, b"x"]),
        ("{type_name=tagged;tag=t;item=int8}", "1", 1),
        (
            "{type_name=list;item={type_name=optional;item=yson}}",
            "[<a=1>2;#]",
            [Attributed(2, {"a": 1}), None],
        ),
    ],
)
def test_composite_values(type: str, text: str, value: Any) -> None:
    assert accepted(type, text) == value


def test_forms_of_composite_values() -> None:
    variant = "{type_name=variant;members=[{name=n;type=int8}]}"
    assert accepted(variant, "[0;1]", positional=True) == [b"n", 1]
    assert accepted("{type_name=dict;key=utf8;value=int8}", "{a=1}", named_dicts=True) == [[b"a", 1]]


def test_conversions_of_formats() -> None:
    assert accepted("int64", '"12u"', string_to_all=True) == 12
    assert accepted("bool", '"true"', string_to_all=True) is True
    assert accepted("string", "5.0", all_to_string=True) == b"5."
    assert refused("int64", "x", string_to_all=True) == 'expected int64, not string "x"'


def test_a_member_that_a_struct_got_later_is_null() -> None:
    later = type_of(STRUCT.replace("]}", ";{name=c;type={type_name=optional;item=utf8}}]}"))
    assert complete_value(later, {"a": b"x", "b": None}) == {"a": b"x", "b": None, "c": None}


def test_c106_the_order_of_kinds() -> None:
    values = [None, -1, Uint64(5), 0.5, False, b"a", [1]]
    assert all(compare(left, right) == -1 for left, right in itertools.pairwise(values))
    validator = RowValidator(schema("[k:any^]"))
    assert row_error(validator, {"k": {}}) == (
        307,
        'row 0, column "k": a map has no order, so it cannot be a key',
    )
    with pytest.raises(YtError) as error:
        compare({}, 1)
    assert error.value.code == ErrorCode.INCOMPARABLE_VALUES


@pytest.mark.parametrize(("first", "second"), [(None, None), (0.0, -0.0), (math.nan, math.nan)])
def test_c107_equal_keys(first: Any, second: Any) -> None:
    validator = OrderValidator(schema("[k:any^]u"))
    validator.check({"k": first})
    with pytest.raises(YtError) as error:
        validator.check({"k": second})
    assert error.value.code == ErrorCode.DUPLICATE_KEY


def test_rows_out_of_order() -> None:
    validator = OrderValidator(schema("[k:string^, v]"))
    validator.check({"k": b"b"})
    with pytest.raises(YtError) as error:
        validator.check({"k": b"a"})
    assert (int(error.value.code), error.value.message) == (
        301,
        'row 1: the key ["a";] is less than that of row 0; the table is sorted by k',
    )


def test_weights() -> None:
    assert row_weight({"a": b"xyz", "b": 1, "c": True, "d": [1.0, {"k": b"v"}]}) == 1 + 3 + 8 + 1 + 8 + 1 + 1


def test_a_key_beyond_its_limit() -> None:
    validator = RowValidator(schema("[k:string^]"))
    assert row_error(validator, {"k": b"x" * (256 * 1024 + 1)}) == (
        1,
        "row 0: 262145 bytes of key; at most 262144 are allowed",
    )


SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.integers(0, 2**64 - 1).map(Uint64)
    | st.floats()
    | st.binary(max_size=4)
)
VALUES = st.recursive(SCALARS, lambda items: st.lists(items, max_size=3), max_leaves=5)


@given(st.lists(VALUES, min_size=1, max_size=3), st.lists(VALUES, min_size=1, max_size=3))
def test_the_encoding_of_keys_has_their_order(left: list[Any], right: list[Any]) -> None:
    first, second = encode_key(left), encode_key(right)
    assert (first > second) - (first < second) == compare(left, right)


@given(VALUES, VALUES, VALUES)
def test_the_order_is_total(a: Any, b: Any, c: Any) -> None:
    assert compare(a, a) == 0
    assert compare(a, b) == -compare(b, a)
    if compare(a, b) <= 0 and compare(b, c) <= 0:
        assert compare(a, c) <= 0


def test_descending_keys_are_inverted() -> None:
    keys = [encode_key([value], ["descending"]) for value in (math.nan, 2.0, 1.0, None)]
    assert keys == sorted(keys)
