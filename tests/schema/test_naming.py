"""Naming conventions: rows N01 to N20 and N22 of the dlt spec."""

from __future__ import annotations

import pickle
import sys
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trellis.errors import SchemaError, UsageError
from trellis.schema.model import Schema
from trellis.schema.naming import CONVENTIONS, get_naming, naming_of

IDENTIFIERS = {
    "n01": ("snake_case", {"DealFlow": "deal_flow", "HTTPServerID": "http_server_id"}),
    "n01_digit": ("snake_case", {"userID2Name": "user_id2_name"}),
    "n02": ("snake_case", {"SomeXMLHttp2Request": "some_xml_http2_request", "ABc": "a_bc"}),
    "n02_more": ("snake_case", {"v1Beta": "v1_beta", "FOO_BAR": "foo_bar"}),
    "n03": ("snake_case", {"2fast": "_2fast", "12_34": "_12_34"}),
    "n04": ("snake_case", {"a+b*c": "axbxc", "me@home": "meahome", "x|y": "xly", "a--b": "a_b"}),
    "n05": ("snake_case", {"trailing_": "trailingx", "order no.": "order_nox"}),
    "n05_signs": ("snake_case", {"price($)": "pricex", "foo-": "foox"}),
    "n06": ("snake_case", {"Größe": "gr_e", "naïve café": "na_ve_cafx", "日本": "x", "💥boom": "_boom"}),
    "n07": ("snake_case", {"ab__cd": "ab_cd"}),
    "n09": ("snake_case", {"  pad me ": "pad_me", "___": "xxx", "_": "x"}),
    "n10_cs": ("sql_cs_v1", {"Foo Bar": "Foo_Bar", "Größe": "Gr_e", "a+b*c": "a_b_c"}),
    "n10_cs_more": ("sql_cs_v1", {"trailing__": "trailing", "2fast": "_2fast"}),
    "n10_ci": ("sql_ci_v1", {"Foo Bar": "foo_bar", "Größe": "gr_e", "a+b*c": "a_b_c"}),
    "n10_ci_more": ("sql_ci_v1", {"trailing__": "trailing", "2fast": "_2fast"}),
    "n11": ("duck_case", {"Ünï 💥": "Ünï 💥", "it's": "it's", 'quo"te': "quo_te", "a.b": "a.b"}),
    "n12": ("direct", {"it's": "it_s", "ab__cd": "ab__cd", "▶tri": "_tri", "line\nbreak": "line_break"}),
    "n13": ("s3_tables", {"_dlt_loads": "_dlt_loads"}),
}


@pytest.mark.parametrize("row", IDENTIFIERS)
def test_identifier(row: str) -> None:
    name, names = IDENTIFIERS[row]
    naming = get_naming(name)
    assert {raw: naming.identifier(raw) for raw in names} == names


def test_n07_n08_a_path_keeps_its_levels() -> None:
    paths = {
        "ab__cd": "ab__cd",
        "Ab__Cd_": "ab__cdx",
        "trailing__": "trailing",
        "__lead": "lead",
        "a___b": "a___b",
    }
    assert {raw: get_naming().path(raw) for raw in paths} == paths


def test_n13_s3_tables_begin_with_a_letter() -> None:
    naming = get_naming("s3_tables")
    assert (naming.table("_dlt_loads"), naming.path("_dlt_loads")) == ("dlt_loads", "_dlt_loads")
    assert naming.max_length == 255
    assert get_naming("s3_tables", 40).max_length == 40


SHORTENED = {
    "n14": ("snake_case", 20, "CustomerBillingAddressLine", "customem2jlfass_line"),
    "n15_16": ("snake_case", 16, "CustomerBillingAddressLine", "custom2jlfa_line"),
    "n15_12": ("snake_case", 12, "CustomerBillingAddressLine", "cusm2jlfaine"),
    "n15_10": ("snake_case", 10, "CustomerBillingAddressLine", "cum2jlfane"),
    "n16_snake": ("snake_case", 16, "ShipmentTrackingReference", "shipmusbuharence"),
    "n16_direct": ("direct", 16, "ShipmentTrackingReference", "Shipmusbuharence"),
    "n20": ("snake_case", 8, "abcdefgh", "abcdefgh"),
}


@pytest.mark.parametrize("row", SHORTENED)
def test_shortened(row: str) -> None:
    name, limit, raw, short = SHORTENED[row]
    assert get_naming(name, limit).identifier(raw) == short


def test_n17_joined_fragments_are_shortened_as_a_whole() -> None:
    assert get_naming(max_length=20).join("order", "line_items", "discount_codes") == "order__sgycrwt_codes"


def test_n18_a_path_is_shortened_with_the_tag_of_its_raw_text() -> None:
    assert get_naming(max_length=20).path("Order__LineItems__DiscountCodes") == "order__rvevzgt_codes"


def test_n19_a_variant_is_shortened_too() -> None:
    assert get_naming(max_length=20).variant("unit_price_in_euros", "text") == "unit_prjpbovq_v_text"
    assert get_naming().variant("qty", "text") == "qty__v_text"


def test_direct_joins_with_its_own_separator() -> None:
    naming = get_naming("direct")
    assert naming.join(naming.key("Sub Obj"), naming.key("inner Key")) == "Sub Obj▶inner Key"
    assert naming.join(naming.table("My Table"), naming.key("Arr")) == "My Table▶Arr"


def test_n22_a_table_name_is_a_path() -> None:
    assert get_naming().table("Foo__Bar.baz") == "foo__bar_baz"


def test_sql_cs_keeps_apart_what_a_case_insensitive_destination_does_not() -> None:
    naming = get_naming("sql_cs_v1")
    assert (naming.key("Foo"), naming.key("foo"), naming.case_sensitive) == ("Foo", "foo", True)


def test_keys_that_fall_on_one_name() -> None:
    assert {get_naming().key(raw) for raw in ("Foo", "foo", "FOO ")} == {"foo"}


@pytest.mark.parametrize("raw", ["", "  ", "\t", "__", "____"])
def test_a_blank_key_has_a_name(raw: str) -> None:
    assert get_naming().key(raw) == "_empty"


@pytest.mark.parametrize(("name", "raw"), [("sql_cs_v1", "___"), ("sql_ci_v1", "-_-"), ("snake_case", " ")])
def test_an_empty_result_is_an_error(name: str, raw: str) -> None:
    with pytest.raises(SchemaError, match="leaves no name"):
        get_naming(name).identifier(raw)
    with pytest.raises(SchemaError, match="leaves no name"):
        get_naming(name).path("____")


def test_only_ascii_digits_are_digits() -> None:
    assert get_naming().identifier("٣rd") == "_rd"


def test_the_old_contraction_of_separators() -> None:
    old = naming_of(Schema("old", normalizers={"names": "snake_case", "use_break_path_on_normalize": False}))
    assert (old.path("a__b"), old.table("a__b"), old.key("")) == ("a_b", "a_b", "_empty")


def test_unknown_conventions() -> None:
    with pytest.raises(UsageError, match="did you mean 'snake_case'"):
        get_naming("snake_cas")
    with pytest.raises(UsageError, match="cannot be used"):
        get_naming("no.such.Convention")
    with pytest.raises(UsageError, match="too short"):
        get_naming("snake_case", 5)


class Shouting:
    is_case_sensitive = True
    PATH_SEPARATOR = "::"

    def normalize_identifier(self, identifier: str) -> str:
        return identifier.upper()


def test_a_convention_of_your_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "my_names", SimpleNamespace(Shouting=Shouting))
    naming = get_naming("my_names.Shouting", 12)
    assert (naming.path("a b::c"), naming.case_sensitive) == ("A B::C", True)
    assert naming.name == "my_names.Shouting"


def test_naming_travels() -> None:
    naming = get_naming("direct", 40)
    assert pickle.loads(pickle.dumps(naming)) is naming
    assert repr(naming) == "get_naming('direct', 40, True)"


names = st.sampled_from(sorted(CONVENTIONS))
keys = st.text(st.sampled_from(list("abAB01_ -+.'\"\n▶é日💥")) | st.characters(codec="utf-8"), max_size=30)


@given(names, keys)
def test_naming_is_idempotent(name: str, raw: str) -> None:
    naming = get_naming(name)
    for normalize in (naming.key, naming.path, naming.table):
        try:
            once = normalize(raw)
        except SchemaError:
            continue
        assert normalize(once) == once
    assert naming.key(naming.key(raw)) == naming.key(raw) != ""


@given(names, st.integers(6, 40), keys)
def test_a_name_never_exceeds_the_limit(name: str, limit: int, raw: str) -> None:
    naming = get_naming(name, limit)
    assert 0 < len(naming.key(raw)) <= limit
    assert len(naming.variant(naming.key(raw), "timestamp")) <= limit


@given(keys, keys)
def test_long_names_stay_apart(a: str, b: str) -> None:
    naming = get_naming("direct", 16)
    long_a, long_b = f"{a.strip()}{'x' * 40}", f"{b.strip()}{'x' * 40}"
    if naming.key(long_a) == naming.key(long_b):
        assert get_naming("direct").key(long_a) == get_naming("direct").key(long_b)
