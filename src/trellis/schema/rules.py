"""Rules that pick columns by name: `re:` starts a regex to be found anywhere, the rest is a full name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace as changed
from functools import lru_cache
from typing import Any

from trellis.errors import SchemaError, nearest
from trellis.schema.model import DATA_TYPES, DataType, Settings
from trellis.schema.naming import Naming

PREFIX = "re:"
HINTS = (
    *("not_null", "nullable", "partition", "cluster", "primary_key", "sort", "unique", "merge_key"),
    *("row_key", "parent_key", "root_key", "hard_delete", "dedup_sort"),
)

_PLAIN = re.compile(r"[A-Za-z0-9_]+")


def rule_fault(rule: object) -> str | None:
    """What is wrong with a rule, or None.

    >>> rule_fault("*a")
    "rule '*a' is not a plain name: write 're:' before a regex"
    """
    if not isinstance(rule, str):
        return f"a rule is text, not {rule!r}"
    if rule.startswith(PREFIX):
        try:
            re.compile(rule[len(PREFIX) :])
        except (re.error, OverflowError, RecursionError) as error:
            return f"rule {rule!r} is not a regex ({error})"
        return None
    if not _PLAIN.fullmatch(rule):
        return f"rule {rule!r} is not a plain name: write 're:' before a regex"
    return None


def check_rule(rule: str) -> str:
    """The rule itself, or a SchemaError."""
    if problem := rule_fault(rule):
        raise SchemaError(problem)
    return rule


def canonical(rule: str) -> str:
    """The form in which rules are compared.

    >>> canonical("id"), canonical("re:_at$")
    ('re:^id$', 're:_at$')
    """
    return rule if rule.startswith(PREFIX) else f"{PREFIX}^{rule}$"


@lru_cache(10_000)
def compile_rule(rule: str) -> re.Pattern[str]:
    """The pattern to `search` a normalized column name with.

    >>> bool(compile_rule("re:_at$").search("created_at")), bool(compile_rule("at").search("created_at"))
    (True, False)
    """
    check_rule(rule)
    return re.compile(rule[len(PREFIX) :] if rule.startswith(PREFIX) else rf"^{rule}\Z")


@lru_cache(10_000)
def _patterns(rules: tuple[str, ...]) -> tuple[re.Pattern[str], ...]:
    return tuple(compile_rule(rule) for rule in rules)


def matches(rules: Iterable[str], name: str) -> bool:
    """Whether one of the rules picks the name."""
    return any(pattern.search(name) for pattern in _patterns(tuple(rules)))


def normalize_rule(rule: str, naming: Naming) -> str:
    """The rule with its name normalized, as far as it is a name and not a real regex.

    >>> from trellis.schema.naming import get_naming
    >>> [normalize_rule(each, get_naming()) for each in ("CamelCase", "re:^CamelCase$", "re:Camel.*")]
    ['camel_case', 're:^camel_case$', 're:Camel.*']
    """
    text = rule.removeprefix(PREFIX)
    head, name, tail = "", text, ""
    if len(text) >= 2 and text[0] == "^" and text[-1] == "$":
        head, name, tail = "^", text[1:-1], "$"
    if name and name == re.escape(name):
        name = naming.path(name)
    return f"{rule[: len(rule) - len(text)]}{head}{name}{tail}"


def merge_hints(
    settings: Settings, hints: Mapping[str, Sequence[str]], naming: Naming, replace: bool = False
) -> Settings:
    """The settings with more default hints; a rule that is there already is not added again."""
    merged = dict(settings.default_hints or {})
    for hint, rules in hints.items():
        if hint not in HINTS and not hint.startswith("x-"):
            raise SchemaError(f"no default hint {hint!r}{nearest(hint, HINTS)}")
        new = tuple(normalize_rule(check_rule(rule), naming) for rule in rules)
        if hint in merged and not replace:
            known = {canonical(rule): rule for rule in merged[hint]}
            merged[hint] = (*merged[hint], *_unknown(new, known))
        else:
            merged[hint] = new
    return changed(settings, default_hints=merged)


def _unknown(rules: Iterable[str], known: Iterable[str]) -> Iterable[str]:
    seen = set(known)
    for rule in rules:
        if canonical(rule) not in seen:
            seen.add(canonical(rule))
            yield rule


def update_preferred_types(settings: Settings, types: Mapping[str, DataType], naming: Naming) -> Settings:
    """The settings with more preferred types; a rule that is there already gets the new type."""
    merged = dict(settings.preferred_types or {})
    known = {canonical(rule): rule for rule in merged}
    for rule, data_type in types.items():
        if data_type not in DATA_TYPES:
            raise SchemaError(f"no data type {data_type!r}{nearest(data_type, DATA_TYPES)}")
        normalized = normalize_rule(check_rule(rule), naming)
        merged[known.setdefault(canonical(normalized), normalized)] = data_type
    return changed(settings, preferred_types=merged)


def hints_for(settings: Settings, column: str) -> dict[str, Any]:
    """The hints that the rules give a new column of that (normalized) name.

    >>> hints_for(Settings(default_hints={"not_null": ("id",), "unique": ("re:^id",)}), "id")
    {'nullable': False, 'unique': True}
    """
    hints: dict[str, Any] = {}
    for hint, rules in (settings.default_hints or {}).items():
        if matches(rules, column):
            if hint == "not_null":
                hints["nullable"] = False
            elif hint == "nullable":
                hints.setdefault("nullable", True)
            else:
                hints[hint] = "asc" if hint == "dedup_sort" else True
    return hints


def preferred_type(settings: Settings, column: str) -> DataType | None:
    """The type that the first matching rule prefers for a new column of that name.

    >>> preferred_type(Settings(preferred_types={"re:_at$": "timestamp"}), "created_at")
    'timestamp'
    """
    types = settings.preferred_types or {}
    return next((data_type for rule, data_type in types.items() if compile_rule(rule).search(column)), None)
