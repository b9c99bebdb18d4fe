"""Settings rules: rows D08 to D12."""

from __future__ import annotations

import pytest

from trellis.errors import SchemaError
from trellis.schema.model import Settings
from trellis.schema.naming import Naming, get_naming
from trellis.schema.rules import (
    canonical,
    compile_rule,
    hints_for,
    merge_hints,
    preferred_type,
    update_preferred_types,
)

NONE = Settings()


def test_d08_a_regex_is_found_anywhere(snake: Naming) -> None:
    settings = update_preferred_types(NONE, {"re:timestamp": "timestamp"}, snake)
    assert preferred_type(settings, "my_timestamp") == "timestamp"
    assert preferred_type(settings, "ts") is None


def test_d09_the_first_matching_rule_wins(snake: Naming) -> None:
    settings = update_preferred_types(NONE, {"re:_timestamp$": "bigint", "re:timestamp": "timestamp"}, snake)
    assert preferred_type(settings, "my_timestamp") == "bigint"
    assert preferred_type(settings, "timestamp") == "timestamp"


def test_d11_names_in_rules_are_normalized(snake: Naming) -> None:
    rules = ["re:^CamelCase$", "CamelCase", "re:Camel.*"]
    settings = merge_hints(NONE, {"not_null": rules}, snake)
    assert settings.default_hints == {"not_null": ("re:^camel_case$", "camel_case", "re:Camel.*")}


@pytest.mark.parametrize("rule", ["re:[", "*a", "a b", "", "a*", "é"])
def test_d12_rules_that_are_none(rule: str, snake: Naming) -> None:
    for add in (
        lambda: merge_hints(NONE, {"not_null": [rule]}, snake),
        lambda: update_preferred_types(NONE, {rule: "text"}, snake),
        lambda: compile_rule(rule),
    ):
        with pytest.raises(SchemaError, match="rule"):
            add()


def test_hints_are_added_once(snake: Naming) -> None:
    settings = merge_hints(NONE, {"unique": ["re:^id$"]}, snake)
    settings = merge_hints(settings, {"unique": ["id", "key", "re:^key$"], "sort": ["at"]}, snake)
    assert settings.default_hints == {"unique": ("re:^id$", "key"), "sort": ("at",)}
    replaced = merge_hints(settings, {"unique": ["no"]}, snake, replace=True)
    assert replaced.default_hints == {"unique": ("no",), "sort": ("at",)}


def test_the_same_preferred_rule_gets_the_new_type(snake: Naming) -> None:
    settings = update_preferred_types(NONE, {"re:^id$": "text", "at": "date"}, snake)
    settings = update_preferred_types(settings, {"id": "bigint", "by": "text"}, snake)
    assert settings.preferred_types == {"re:^id$": "bigint", "at": "date", "by": "text"}


def test_direct_leaves_rules_as_they_are() -> None:
    direct = get_naming("direct")
    assert merge_hints(NONE, {"sort": ["createdAt"]}, direct).default_hints == {"sort": ("createdAt",)}


def test_unknown_hints_and_types(snake: Naming) -> None:
    with pytest.raises(SchemaError, match="default hint 'notnull'"):
        merge_hints(NONE, {"notnull": ["a"]}, snake)
    with pytest.raises(SchemaError, match="data type 'string'"):
        update_preferred_types(NONE, {"a": "string"}, snake)  # type: ignore[dict-item]


def test_canonical() -> None:
    assert canonical("id") == canonical("re:^id$") == "re:^id$"


def test_inline_flags_and_groups_do_not_meet() -> None:
    settings = Settings(default_hints={"sort": ("re:(?i)AT$", r"re:^(a)\1$", "x")})
    assert [bool(hints_for(settings, name)) for name in ("created_at", "aa", "ab", "x", "X")] == [
        *(True, True, False, True, False)
    ]
