"""What keys, events and sources are called: rows C01 to C28, and what always holds."""

from __future__ import annotations

import pickle
import re
from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from trellis.dialects.rudderstack.identifiers.names import Names, blendo, namespace, snake
from trellis.dialects.rudderstack.providers import PROVIDERS, Provider, provider_of
from trellis.evolution.record_outcome import Rejected


def names(warehouse: str = "RS", **options: bool) -> Names:
    return Names(provider_of(warehouse), **options)


# --- T --------------------------------------------------------------------------------------------------

SNAKE = {
    "C01": {"Seat Reserved": "seat_reserved"},
    "C02": {"orderID": "order_id"},
    "C03": {"OrderIDs": "order_i_ds"},
    "C04": {"XMLHttpRequest": "xml_http_request"},
    "C05": {"ABCdEF": "ab_cd_ef"},
    "C06": {"userID2FA": "user_id2_fa"},
    "C07": {"iPhone11Pro": "i_phone11_pro"},
    "C08": {"25dollarpurchase": "_25dollarpurchase"},
    "C09": {"1st_order": "_1st_order", "4TH of July": "_4th_of_july"},
    "C10": {"Price (USD)": "price_usd", "$revenue": "revenue"},
    "C11": {"naive caf\u00e9": "naive_caf", "\u00dcn\u00efcode": "n_code"},
    "C12": {"\u65e5\u672c": ""},
    "C13": {"__private Key": "__private_key", "a__b": "a_b"},
    "C14": {"v3": "v3", "v_3": "v_3"},
    "R25": {"camelCase": "camel_case", "productId": "product_id"},
    "R57": {"25dollarpurchase": "_25dollarpurchase", "9": "_9"},
    "only signs": {"": "", "###": "", " ": "", "_": "_", "___": "___", "_\u65e5": "_", "-_-": ""},
    "underscores kept": {"_timestamp": "_timestamp", "__x": "__x", "_9x": "_9x", "__Ab-Cd__": "__ab_cd"},
    "digits on both sides": {"12ab3": "_12ab_3", "1ABc": "_1ab_c", "a1b2": "a1_b2", "AB12Cd": "ab12_cd"},
    "only ASCII": {"\u0663rd": "rd", "\u212aelvin": "elvin", "stra\u00dfe": "stra_e", "a\nB\r": "a_b"},
}
SPLIT = {
    "C06": {"userID2FA": "user_id_2_fa"},
    "C07": {"iPhone11Pro": "i_phone_11_pro"},
    "C08": {"25dollarpurchase": "_25_dollarpurchase"},
    "C09": {"1st_order": "_1st_order", "4TH of July": "_4th_of_july"},
    "C14": {"v3": "v_3", "v_3": "v_3"},
    "ordinals": {"21ST Century": "_21st_century", "top3rd": "top_3rd", "2NDhand": "_2nd_hand"},
    "almost ordinals": {"11th": "_11_th", "2NDHand": "_2_nd_hand", "1stly": "_1_stly", "4Th": "_4_th"},
}


@pytest.mark.parametrize("row", SNAKE)
def test_snake(row: str) -> None:
    assert {raw: snake(raw) for raw in SNAKE[row]} == SNAKE[row]


@pytest.mark.parametrize("row", SPLIT)
def test_split(row: str) -> None:
    assert {raw: snake(raw, split=True) for raw in SPLIT[row]} == SPLIT[row]


def test_c12_a_property_without_a_name_is_dropped() -> None:
    assert [names(warehouse).column("\u65e5\u672c") for warehouse in PROVIDERS] == [""] * len(PROVIDERS)


def test_c14_names_take_the_way_of_digits() -> None:
    assert (names().column("v3"), names(split_digits=True).column("v3")) == ("v3", "v_3")
    assert names(split_digits=True).table("Buy 3x") == "buy_3_x"


# --- Blendo ---------------------------------------------------------------------------------------------


def test_c15_blendo_columns() -> None:
    columns = {"Price (USD)": "price__usd_", "9x": "_9x", "a$b": "a$b"}
    assert {raw: names(blendo=True).column(raw) for raw in columns} == columns


def test_c16_blendo_events() -> None:
    old = names(blendo=True)
    assert (old.event(" Big Event! "), old.table(" Big Event! ")) == ("big event!", "big_event_")


def test_blendo_looks_at_single_characters() -> None:
    columns = {"$a": "_$a", "a\\B": "a\\b", "caf\u00e9": "caf_", "\u65e5\u672c": "__", "Order": "_order"}
    assert {raw: names(blendo=True).column(raw) for raw in columns} == columns
    assert names("POSTGRES", blendo=True).column("A " * 40) == ("a_" * 32)[:63]
    assert names("SNOWFLAKE", blendo=True).column("a$b") == "A$B"


def test_blendo_events_without_a_name() -> None:
    old = names(blendo=True)
    assert (old.event("  "), old.table("  "), old.table("##")) == ("", "", "__")


# --- Reserved words -------------------------------------------------------------------------------------


def test_c17_r56_a_reserved_column() -> None:
    columns = [names(warehouse).column("order") for warehouse in ("RS", "SNOWFLAKE", "CLICKHOUSE")]
    assert columns == ["_order", "_ORDER", "order"]


def test_c18_standard_columns_are_escaped_too() -> None:
    escaped = {name: names(name).standard("timestamp").lower() for name in PROVIDERS}
    assert {name for name, column in escaped.items() if column == "_timestamp"} == {"S3_DATALAKE"}
    assert {*escaped.values()} == {"timestamp", "_timestamp"}
    assert names("SNOWFLAKE").standard("uuid_ts") == "UUID_TS"


def test_c19_r58_each_warehouse_has_its_own_words() -> None:
    assert (names("MSSQL").column("key"), names("POSTGRES").column("key")) == ("_key", "key")
    dates = {name: names(name).column("date") for name in ("S3_DATALAKE", "MSSQL", "BQ")}
    assert dates == {"S3_DATALAKE": "_date", "MSSQL": "_date", "BQ": "date"}


def test_c20_escaping_skipped() -> None:
    plain = names("POSTGRES", skip_escaping=True)
    assert (plain.table("Select"), plain.column("order")) == ("select", "order")
    assert (names("POSTGRES").table("Select"), names("POSTGRES").column("order")) == ("_select", "_order")


def test_r56_words_of_any_case_in_events_traits_and_schemas() -> None:
    assert [names().column(raw) for raw in ("ORDER", "Order", "_order", "order_by")] == [
        "_order",
        "_order",
        "_order",
        "order_by",
    ]
    assert (names().table("Select"), names().event("Select")) == ("_select", "select")
    assert namespace(provider_of("RS"), source="Select") == "_select"


def test_r58_the_lists() -> None:
    lists = {name: provider.words for name, provider in PROVIDERS.items()}
    assert {name: len(words) for name, words in lists.items()} == {
        "POSTGRES": 93,
        "RS": 151,
        "SNOWFLAKE": 91,
        "SNOWPIPE_STREAMING": 91,
        "BQ": 95,
        "BQSTREAM_ALL_EVENTS": 95,
        "DELTALAKE": 114,
        "CLICKHOUSE": 0,
        "MSSQL": 479,
        "AZURE_SYNAPSE": 479,
        "S3_DATALAKE": 137,
        "GCS_DATALAKE": 95,
        "AZURE_DATALAKE": 479,
    }
    assert {"XMLAGG", "XMLVALIDATE", "REGR_R2", "STDDEV_SAMP", "SEMANTICKEYPHRASETABLE"} < lists["MSSQL"]
    assert "XML" not in lists["MSSQL"]
    others = {name: words ^ PROVIDERS[name].namespace_words for name, words in lists.items()}
    assert {name: words for name, words in others.items() if words} == {
        "POSTGRES": {"TO"},
        "RS": {"UUID", "TIMESTAMP"},
    }
    assert "TO" not in PROVIDERS["POSTGRES"].namespace_words
    assert all(re.fullmatch(r"[A-Z][A-Z0-9_]*", word) for words in lists.values() for word in words)


@pytest.mark.parametrize("warehouse", PROVIDERS)
def test_r58_every_word_of_a_warehouse_gets_an_underscore(warehouse: str) -> None:
    provider = provider_of(warehouse)
    words = {word for word in provider.words if snake(word).upper() == word}
    assert len(words) >= len(provider.words) * 0.9
    for word in words:
        assert names(warehouse).column(word).upper() == f"_{word}"
        assert names(warehouse, skip_escaping=True).column(word).upper() == word


# --- Length ---------------------------------------------------------------------------------------------


def test_c21_long_names_are_cut() -> None:
    assert len(names("POSTGRES").column("a" * 70)) == len(names("POSTGRES").table("a" * 70)) == 63
    assert len(names("BQ").column("a" * 70)) == 70
    assert len(names("RS").column("a" * 130)) == 127
    assert len(names("S3_DATALAKE").column("a" * 130)) == 130
    assert len(names("SNOWFLAKE").table("a" * 130)) == 127


def test_an_event_is_stored_uncut() -> None:
    assert names("POSTGRES").event("a" * 200) == "a" * 200


def test_the_underscore_in_front_counts() -> None:
    assert names("RS").column("9" * 127) == "_" + "9" * 126
    assert names("POSTGRES").column("9" * 63) == "_" + "9" * 62


# --- Event tables ---------------------------------------------------------------------------------------


def test_r41_an_event_and_its_table() -> None:
    assert (names().table("Add to Cart"), names().event("Add to Cart")) == ("add_to_cart", "add_to_cart")
    assert names("SNOWFLAKE").table("Add to Cart") == "ADD_TO_CART"
    assert names("SNOWFLAKE").event("Add to Cart") == "add_to_cart"


def test_c22_users_is_never_the_table_of_an_event() -> None:
    for skipped in (False, True):
        assert names(skip_escaping=skipped).table("Users") == "_users"
        assert names("SNOWFLAKE", skip_escaping=skipped).table("Identifies") == "_IDENTIFIES"
    assert names().event("Users") == "users"


def test_c23_tables_of_other_calls_unless_escaping_is_skipped() -> None:
    assert names().table("Groups") == "_groups"
    assert names("POSTGRES", skip_escaping=True).table("Groups") == "groups"
    for event in ("tracks", "pages", "screens", "aliases", "groups", "accounts"):
        assert names("CLICKHOUSE").table(event.title()) == f"_{event}"


def test_c24_the_table_of_group_calls() -> None:
    assert (names("BQ").standard_table("groups"), names().standard_table("groups")) == ("_groups", "groups")
    assert names("GCS_DATALAKE").standard_table("groups") == "_groups"
    assert {names(name).standard_table("tracks") for name in PROVIDERS} == {"tracks", "TRACKS"}


def test_c24_no_event_lands_in_the_table_of_group_calls() -> None:
    for warehouse in ("BQ", "BQSTREAM_ALL_EVENTS", "GCS_DATALAKE"):
        assert {names(warehouse).table(event) for event in ("Groups", "_groups", "GROUPS")} == {"__groups"}
    assert names().table("_groups") == "_groups"


def test_no_event_lands_in_the_tables_of_the_dialect() -> None:
    tables = (
        "rudder_discards",
        "rudder_identity_merge_rules",
        "rudder_identity_mappings",
        "rudder_staging_x",
    )
    for table in tables:
        for skipped in (False, True):
            assert names(skip_escaping=skipped).table(table.replace("_", " ").title()) == f"_{table}"
    assert names("SNOWFLAKE").table("Rudder Discards") == "_RUDDER_DISCARDS"
    assert names().table("Rudder Broken") == "rudder_broken"
    assert names().table("rudder_staging_" + "x" * 200) == "_rudder_staging_" + "x" * 111


def test_an_event_without_a_name_has_no_table() -> None:
    assert [names().table(raw) for raw in ("", "  ", "\u65e5\u672c", "?!")] == [""] * 4


def test_empty_names_are_refused() -> None:
    with pytest.raises(Rejected, match=r"^Table name cannot be empty\.$"):
        names().standard_table("")
    with pytest.raises(Rejected, match=r"^Column name cannot be empty\.$"):
        names().standard("")


# --- Schemas --------------------------------------------------------------------------------------------


def test_r02_c25_a_schema_is_named_after_its_source() -> None:
    assert namespace(provider_of("RS"), source="My Shop v2") == "my_shop_v2"
    assert namespace(provider_of("RS"), source="My Shop v2", split_digits=True) == "my_shop_v_2"


def test_c25_split_digits_know_no_ordinals() -> None:
    split = {
        name: namespace(provider_of("RS"), source=name, split_digits=True)
        for name in ("9lives", "1st shop", "shop v2")
    }
    assert split == {"9lives": "_9_lives", "1st shop": "_1_st_shop", "shop v2": "shop_v_2"}


def test_r57_digits_in_front_of_a_schema() -> None:
    assert namespace(provider_of("RS"), source="25dollarpurchase") == "_25dollarpurchase"


def test_c26_odd_sources() -> None:
    assert namespace(provider_of("RS"), source="###") == "stringempty"
    assert namespace(provider_of("RS"), source="Group") == "_group"
    assert namespace(provider_of("SNOWFLAKE"), source="web app") == "WEB_APP"
    assert namespace(provider_of("SNOWFLAKE"), source="group") == "_GROUP"
    assert namespace(provider_of("RS"), source="__web") == "web"


def test_c26_words_that_only_schemas_may_have_or_not() -> None:
    assert namespace(provider_of("POSTGRES"), source="to") == "to"
    assert (namespace(provider_of("RS"), source="uuid"), names().column("uuid")) == ("uuid", "_uuid")
    assert namespace(provider_of("RS"), source="Timestamp") == "_timestamp"


def test_c27_clickhouse_has_a_database() -> None:
    clickhouse = provider_of("CLICKHOUSE")
    assert namespace(clickhouse, source="web", namespace="x", prefix="p", stored="s") == "rudder"
    assert namespace(clickhouse, source="web", database="analytics") == "analytics"


def test_c28_a_stored_name_survives_a_renamed_source() -> None:
    assert namespace(provider_of("RS"), source="New Name", stored="Old-Name") == "Old-Name"
    assert namespace(provider_of("RS"), source="New Name", stored="") == "new_name"


def test_r68_a_schema_of_your_own_comes_first() -> None:
    redshift = provider_of("RS")
    assert namespace(redshift, source="web", namespace="My Data", prefix="p", stored="s") == "my_data"
    assert namespace(redshift, source="web", namespace="  ", prefix="Eu", stored="s") == "eu_web"
    assert namespace(redshift, source="web") == "web"


def test_a_schema_without_snake_case() -> None:
    assert namespace(provider_of("RS"), source="myShop v2", skip_snake_casing=True) == "myshop_v2"
    assert namespace(provider_of("SNOWFLAKE"), source="myShop", skip_snake_casing=True) == "MYSHOP"


def test_a_long_schema_is_cut() -> None:
    assert {
        len(namespace(provider, source="a" * 200)) for provider in PROVIDERS.values() if not provider.database
    } == {127}


# --- What always holds ----------------------------------------------------------------------------------

words = st.sampled_from(sorted(set().union(*(provider.words for provider in PROVIDERS.values()))))
pieces = st.sampled_from([*"aZ09_ -$\\\u65e5\u00e9", "Ab", "CD", "12", "1st", "2ND", "13th", "4TH", "x" * 40])
raws = st.one_of(
    st.lists(pieces, max_size=12).map("".join),
    words,
    words.map(str.title),
    st.text(max_size=20),
    st.just("users"),
)
warehouses = st.sampled_from(sorted(PROVIDERS)).map(provider_of)
all_names = st.builds(Names, warehouses, st.booleans(), st.booleans(), st.booleans())

U, LOWER, DIGIT = "[A-Z]", "[a-z]", "[0-9]"
END = "(?=_|$)"
GLUE_ALTERNATIVES = (
    f"{U}?{LOWER}+{DIGIT}+",
    f"{U}+{DIGIT}+",
    f"{DIGIT}+{U}?{LOWER}+",
    f"{DIGIT}+{U}+",
    f"{U}?{LOWER}+(?=_|$|{U})",
    f"{U}+(?=_|$|{U}{LOWER})",
    f"{U}?{LOWER}+",
    f"{U}+",
    f"{DIGIT}+",
)
SPLIT_ALTERNATIVES = (
    f"{U}?{LOWER}+(?=_|$|{U})",
    f"{U}+(?=_|$|{U}{LOWER})",
    f"{U}?{LOWER}+",
    f"{U}+",
    f"{DIGIT}*(1ST|2ND|3RD|[04-9]TH)(?=_|$|{LOWER})",
    f"{DIGIT}*(1st|2nd|3rd|[04-9]th)(?=_|$|{U})",
    f"{DIGIT}+",
)


def by_the_book(raw: str, alternatives: tuple[str, ...]) -> str:
    """The rules of section 2.1 in their own order, one after the other."""
    runs = "_".join(re.findall("[A-Za-z0-9]+", raw))
    tokens, at = [], 0
    while at < len(runs):
        match = next((m for pattern in alternatives if (m := re.compile(pattern).match(runs, at))), None)
        if match:
            tokens.append(match[0].lower())
        at = match.end() if match else at + 1
    name = re.match("_*", raw)[0] + "_".join(tokens)  # type: ignore[index]
    return f"_{name}" if name[:1] in {*"0123456789"} else name


@given(raws)
@example("AB1Cd2eF33GHi44JK")
@example("1STx2NDY3rdZ4thq")
def test_snake_by_the_book(raw: str) -> None:
    assert snake(raw) == by_the_book(raw, GLUE_ALTERNATIVES)
    assert snake(raw, split=True) == by_the_book(raw, SPLIT_ALTERNATIVES)


def scanned(run: str) -> Iterator[str]:
    """The words of letters and digits, by looking at each character and what surrounds it."""
    kinds = ["U" if c.isupper() else "l" if c.islower() else "d" for c in run]
    start = 0
    for i in range(1, len(run) + 1):
        if i == len(run) or breaks(kinds, start, i):
            yield run[start:i].lower()
            start = i


def breaks(kinds: list[str], start: int, i: int) -> bool:
    """Whether a word that began at `start` ends before the character at i."""
    word, before, here = "".join(kinds[start:i]), kinds[i - 1], kinds[i]
    after = kinds[i + 1] if i + 1 < len(kinds) else ""
    begins_with_digit = word[0] == "d"
    if here == "d":
        return begins_with_digit and before != "d"
    if before == "d":
        return not begins_with_digit
    if begins_with_digit:
        letters = word.lstrip("d")
        return here == "U" if "l" in letters else here == "l" and len(letters) > 1
    if here == "U":
        return before == "l" or after == "l"
    return False


@given(st.text("aBcD12", max_size=14))
def test_glued_words_character_by_character(run: str) -> None:
    assert snake(f"x-{run}") == "_".join(["x", *scanned(run)] if run else ["x"])


@given(raws, st.booleans())
def test_snake_is_idempotent(raw: str, split: bool) -> None:
    once = snake(raw, split)
    assert snake(once, split) == once
    assert snake(once.upper(), split) == once


@given(raws, st.booleans())
def test_snake_has_small_letters_digits_and_single_underscores(raw: str, split: bool) -> None:
    assert re.fullmatch(
        r"(_*|_*[a-z][a-z0-9]*(_[a-z0-9]+)*|_+[0-9][a-z0-9]*(_[a-z0-9]+)*)", snake(raw, split)
    )


@given(raws)
def test_snake_keeps_all_ascii_letters_and_digits(raw: str) -> None:
    kept = "".join(re.findall("[A-Za-z0-9]", raw)).lower()
    assert snake(raw).replace("_", "") == snake(raw, split=True).replace("_", "") == kept


def is_name(name: str, naming: Names) -> bool:
    cased = name.upper() if naming.provider.case == "upper" else name.lower()
    longest = naming.provider.max_name or len(name)
    alphabet = r"[A-Za-z_][\w$\\]*" if naming.blendo else r"[A-Za-z_]\w*"
    return name == cased and len(name) <= longest and bool(re.fullmatch(alphabet, name, re.ASCII))


@given(all_names, raws)
def test_every_name_is_valid(naming: Names, raw: str) -> None:
    for name in (naming.column(raw), naming.table(raw)):
        assert not name or is_name(name, naming)
        if not naming.skip_escaping:
            assert name.upper() not in naming.provider.words
    assert bool(naming.column(raw)) == bool(naming.blendo or snake(raw))
    assert bool(naming.table(raw)) == bool(naming.event(raw))


@given(all_names, raws)
def test_a_column_is_the_name_of_itself(naming: Names, raw: str) -> None:
    """Unless it was cut: then an underscore at its new end goes, and half an ordinal is none."""
    once = naming.column(raw)
    if len(once) < (naming.provider.max_name or len(once) + 1):
        assert naming.column(once) == once
    elif not (naming.split_digits or naming.blendo):
        assert naming.column(once) in (once, once.rstrip("_"))


@given(all_names, raws)
def test_no_event_lands_in_a_standard_table(naming: Names, raw: str) -> None:
    table = naming.table(raw).lower()
    assert table not in {"users", "identifies", "rudder_discards"}
    if not naming.skip_escaping:
        standard = ("tracks", "pages", "screens", "groups", "aliases")
        assert table not in {naming.standard_table(name).lower() for name in standard}


def safe_by_the_book(naming: Names, name: str) -> str:
    """Section 2.3 word for word, for a name that T or Blendo made."""
    provider = naming.provider
    if provider.name.startswith("SNOW"):
        safe = name.upper()
    elif provider.name == "POSTGRES":
        safe = name[:63].lower()
    else:
        safe = name.lower()
    if safe.upper() in provider.words and not naming.skip_escaping:
        safe = f"_{safe}"
    return safe if provider.lake else safe[:127]


@given(all_names, raws)
def test_a_column_by_the_book(naming: Names, raw: str) -> None:
    name = blendo(raw) if naming.blendo else snake(raw, naming.split_digits)
    if naming.provider.name == "POSTGRES":
        name = name[:63]
    assert naming.column(raw) == (safe_by_the_book(naming, name) if name else "")


@given(warehouses, raws, st.booleans(), st.booleans())
def test_every_schema_is_valid(warehouse: Provider, raw: str, split: bool, skip: bool) -> None:
    schema = namespace(warehouse, source=raw, split_digits=split, skip_snake_casing=skip)
    assert (
        re.fullmatch(r"_?[A-Za-z0-9]\w*", schema, re.ASCII) and not schema[0].isdigit() and len(schema) <= 127
    )
    assert schema == (schema.upper() if warehouse.case == "upper" else schema.lower())
    assert schema.upper() not in warehouse.namespace_words


def test_names_travel() -> None:
    naming = names("BQ", split_digits=True)
    again = pickle.loads(pickle.dumps(naming))
    assert (again, again.provider) == (naming, naming.provider)
    assert again.provider is naming.provider
    assert replace(naming, blendo=True) != naming
