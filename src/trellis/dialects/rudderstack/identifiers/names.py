"""The names of keys, events and sources in the warehouse."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from trellis.dialects.rudderstack.providers import Provider
from trellis.evolution.record_outcome import Rejected

MAX_NAMESPACE: Final = 127
EMPTY_NAMESPACE: Final = "stringempty"

_RUN = re.compile(r"[A-Za-z0-9]+")
_GLUE = re.compile(
    r"""
      [A-Z]? [a-z]+ [0-9]*
    | [A-Z]+ (?![a-z]) [0-9]*
    | [0-9]+ (?: [A-Z]? [a-z]+ | [A-Z]+ )?
    """,
    re.VERBOSE,
)
_SPLIT = re.compile(
    r"""
      [A-Z]? [a-z]+
    | [A-Z]+ (?![a-z])
    | [0-9]* (?: 1ST | 2ND | 3RD | [04-9]TH ) (?![A-Z0-9])
    | [0-9]* (?: 1st | 2nd | 3rd | [04-9]th ) (?![a-z0-9])
    | [0-9]+
    """,
    re.VERBOSE,
)
_SPLIT_PLAIN = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+")
_NOT_BLENDO = re.compile(r"[^A-Za-z0-9$\\]")
_LETTER_FIRST = re.compile(r"[A-Za-z_]")

_STANDARD: Final = ("tracks", "pages", "screens", "aliases", "groups", "accounts")
_ALWAYS: Final = (
    "users",
    "identifies",
    "rudder_discards",
    "rudder_identity_merge_rules",
    "rudder_identity_mappings",
)
_STAGING: Final = "rudder_staging_"


def snake(name: str, split: bool = False) -> str:
    """Words in lower case with `_` between them; `split` parts digits from letters. "" if nothing is left.

    >>> snake("userID2FA"), snake("userID2FA", split=True), snake("25dollarpurchase"), snake("__private Key")
    ('user_id2_fa', 'user_id_2_fa', '_25dollarpurchase', '__private_key')
    """
    kept = len(name) - len(name.lstrip("_"))
    identifier = "_".join((_SPLIT if split else _GLUE).findall(name)).lower()
    return "_" * kept + identifier if kept else _digit_first(identifier)


def blendo(name: str) -> str:
    r"""The name in lower case, `_` for each character that is no letter, digit, `$` or backslash.

    >>> blendo("Price (USD)"), blendo("9x"), blendo("a$b")
    ('price__usd_', '_9x', 'a$b')
    """
    identifier = _NOT_BLENDO.sub("_", name).lower()
    return identifier if _LETTER_FIRST.match(identifier) else f"_{identifier}"


def _digit_first(name: str) -> str:
    return f"_{name}" if name[:1].isdigit() else name


@dataclass(frozen=True)
class Names:
    """The names of one event's tables and columns. Nothing is remembered between calls.

    >>> from trellis.dialects.rudderstack.providers import provider_of
    >>> names = Names(provider_of("SNOWFLAKE"))
    >>> names.column("orderID"), names.event("Big Sale"), names.table("Big Sale"), names.table("Users")
    ('ORDER_ID', 'big_sale', 'BIG_SALE', '_USERS')
    """

    provider: Provider
    split_digits: bool = False
    blendo: bool = False
    skip_escaping: bool = False

    def column(self, raw: str) -> str:
        """The column of a user's key (with its parents, joined by `_`); "" where the property is dropped."""
        identifier = self._transformed(raw)
        return self._safe(identifier) if identifier else ""

    def event(self, raw: str) -> str:
        """The value of column `event`."""
        return raw.strip().lower() if self.blendo else snake(raw, self.split_digits)

    def table(self, raw_event: str) -> str:
        """The table of an event; "" where it has none."""
        event = self.event(raw_event)
        return self._protected(self._safe(self._transformed(event))) if event else ""

    def standard(self, name: str) -> str:
        """A standard column of RudderStack. Raises Rejected on an empty name."""
        if not name:
            raise Rejected("Column name cannot be empty.")
        return self._safe(name)

    def standard_table(self, name: str) -> str:
        """A standard table of RudderStack. Raises Rejected on an empty name."""
        if not name:
            raise Rejected("Table name cannot be empty.")
        return self._safe(name)

    def _transformed(self, raw: str) -> str:
        return blendo(raw) if self.blendo else snake(raw, self.split_digits)

    def _safe(self, name: str) -> str:
        return _safe(self.provider, name, self.skip_escaping)

    def _protected(self, table: str) -> str:
        """The table of an event, renamed where it would be one of RudderStack's standard tables."""
        name = table.lower()
        is_reserved = (
            name in _ALWAYS
            or name.startswith(_STAGING)
            or (name in _STANDARD and not self.skip_escaping)
            or table in _escaped(self.provider)
        )
        return f"_{table}"[: self.provider.max_name] if is_reserved else table


def _safe(provider: Provider, name: str, skip_escaping: bool = False) -> str:
    cased = _cased(provider, name)
    if not skip_escaping and name.upper() in provider.words:
        cased = f"_{cased}"
    return cased[: provider.max_name]


def _cased(provider: Provider, name: str) -> str:
    return name.upper() if provider.case == "upper" else name.lower()


@lru_cache
def _escaped(provider: Provider) -> frozenset[str]:
    """The standard tables whose name is a reserved word here, under the names that they have therefore.

    >>> from trellis.dialects.rudderstack.providers import provider_of
    >>> sorted(_escaped(provider_of("BQ"))), sorted(_escaped(provider_of("RS")))
    (['_groups'], [])
    """
    return frozenset(_safe(provider, name) for name in _STANDARD if name.upper() in provider.words)


def namespace(
    provider: Provider,
    *,
    source: str,
    namespace: str | None = None,
    prefix: str | None = None,
    stored: str | None = None,
    database: str | None = None,
    split_digits: bool = False,
    skip_snake_casing: bool = False,
) -> str:
    """The schema (section 2.6): the configured one, else one after the source, which keeps its first name.

    `stored` is what was answered for this source earlier. `database` counts only where schemas are not
    named after sources, and nothing else does there. `split_digits` is what RudderStack itself does.

    >>> from trellis.dialects.rudderstack.providers import provider_of
    >>> redshift = provider_of("RS")
    >>> namespace(redshift, source="My Shop v2"), namespace(redshift, source="My Shop v2", split_digits=True)
    ('my_shop_v2', 'my_shop_v_2')
    """
    if provider.database:
        raw = (database or "").strip() or provider.database
    elif namespace and namespace.strip():
        raw = namespace
    elif prefix:
        raw = f"{prefix}_{source}"
    elif stored:
        return stored
    else:
        raw = source
    if skip_snake_casing:
        identifier = "_".join(_RUN.findall(raw))
    else:
        identifier = "_".join((_SPLIT_PLAIN if split_digits else _GLUE).findall(raw)).lower()
    identifier = _digit_first(identifier) or EMPTY_NAMESPACE
    if identifier.upper() in provider.namespace_words:
        identifier = f"_{identifier}"
    return _cased(provider, identifier[:MAX_NAMESPACE])
