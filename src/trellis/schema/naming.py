"""Naming conventions: how a key found in data becomes the name of a table or column.

Every convention keeps the nesting separator (`a__b` stays two levels) and gives its own output back
unchanged, so that a name can be passed through as often as is convenient.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import Any, NoReturn

from trellis.errors import SchemaError, UsageError, nearest
from trellis.schema.model import Schema
from trellis.schema.shorten import check_limit, shorten

EMPTY = "_empty"
CACHE_SIZE = 100_000
MAX_PASSES = 4

Clean = Callable[[str], str]


@dataclass(frozen=True)
class Convention:
    """What sets one convention apart.

    `clean` gets one stripped, non-empty fragment; `finish_table` gets each fragment of a table's name.
    """

    name: str
    clean: Clean
    case_sensitive: bool = False
    separator: str = "__"
    finish_table: Clean = str
    limit: int | None = None


class Naming:
    """A convention together with the length limit of a destination.

    >>> snake = get_naming()
    >>> snake.identifier("userID2Name"), snake.path("Order__LineItems"), snake.table("Foo__Bar.baz")
    ('user_id2_name', 'order__line_items', 'foo__bar_baz')
    >>> snake.variant("qty", "text"), snake.key("  ")
    ('qty__v_text', '_empty')
    """

    def __init__(
        self, convention: Convention, max_length: int | None = None, use_break_path_on_normalize: bool = True
    ) -> None:
        limits = [limit for limit in (max_length, convention.limit) if limit is not None]
        self.name = convention.name
        self.case_sensitive = convention.case_sensitive
        self.separator = convention.separator
        self.max_length = min(limits, default=None)
        self.use_break_path_on_normalize = use_break_path_on_normalize
        self._convention = convention
        check_limit(self.max_length)
        self._identifier = lru_cache(CACHE_SIZE)(self._normalize_identifier)
        self._path = lru_cache(CACHE_SIZE)(self._normalize_path)
        self._table = lru_cache(CACHE_SIZE)(lambda raw: self._normalize_path(raw, convention.finish_table))
        self._key = lru_cache(CACHE_SIZE)(lambda raw: self._normalize_path(raw, otherwise=EMPTY))
        self._join = lru_cache(CACHE_SIZE)(self._join_fragments)

    def __repr__(self) -> str:
        return f"get_naming({self.name!r}, {self.max_length}, {self.use_break_path_on_normalize})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Naming) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return get_naming, (self.name, self.max_length, self.use_break_path_on_normalize)

    def identifier(self, raw: str) -> str:
        """One name: a separator inside it is not kept."""
        return self._identifier(raw)

    def path(self, raw: str) -> str:
        """A name that may hold several levels, each of them normalized."""
        return self._path(raw)

    def table(self, raw: str) -> str:
        """A table's name; the same as `path` unless the convention treats tables apart."""
        return self._table(raw)

    def key(self, raw: str) -> str:
        """The name of a key found in a record: never an error, `_empty` where nothing is left of it."""
        return self._key(raw)

    def join(self, *fragments: str) -> str:
        """Normalized fragments as one name; blank ones are left out."""
        return self._join(fragments)

    def variant(self, column: str, type_name: str) -> str:
        """The column that takes the values of another type."""
        return self._join((column, f"v_{type_name}"))

    def _normalize_identifier(self, raw: str) -> str:
        return self._normalize_fragment(_text(raw)) or self._refuse_empty(raw)

    def _normalize_path(self, raw: str, finish: Clean = str, otherwise: str = "") -> str:
        if not self.use_break_path_on_normalize:
            return finish(self._normalize_fragment(_text(raw))) or otherwise or self._refuse_empty(raw)
        name = self._normalize_parts(_text(raw), finish)
        for _ in range(MAX_PASSES):  # a name that begins or ends with `_` may have moved the separator
            if (renormalized := self._normalize_parts(name, finish)) == name:
                break
            name = renormalized
        return shorten(name, raw, self.max_length) if name else otherwise or self._refuse_empty(raw)

    def _normalize_parts(self, path: str, finish: Clean) -> str:
        names = (finish(self._normalize_fragment(part)) for part in path.split(self.separator))
        return self.separator.join(name for name in names if name)

    def _normalize_fragment(self, raw: str) -> str:
        text = raw.strip()
        return shorten(self._convention.clean(text), text, self.max_length) if text else ""

    def _join_fragments(self, fragments: tuple[str, ...]) -> str:
        name = self.separator.join(part for part in fragments if part.strip())
        return shorten(name, name, self.max_length)

    def _refuse_empty(self, raw: str) -> NoReturn:
        raise SchemaError(f"{raw!r} leaves no name in {self.name}: use at least one letter or digit")


def _text(raw: object) -> str:
    if isinstance(raw, str):
        return raw
    raise SchemaError(f"{raw!r} cannot be a name: a name is text")


_SIGNS = str.maketrans("+*-@|", "xx_al")
_NOT_WORD = re.compile(r"[^A-Za-z0-9_]+")
_WORD = re.compile(r"([^_])([A-Z][a-z]+)")
_HUMP = re.compile(r"([a-z0-9])([A-Z])")
_UNDERSCORES = re.compile(r"__+")
_DUCK = str.maketrans('\n\r"', "___")
_DIRECT = str.maketrans("\n\r'\"▶", "_____")


def _digit_first(name: str) -> str:
    return f"_{name}" if name[:1].isdigit() else name


def _snake(text: str) -> str:
    name = _NOT_WORD.sub("_", text.translate(_SIGNS))
    name = _digit_first(_HUMP.sub(r"\1_\2", _WORD.sub(r"\1_\2", name)).lower())
    kept = name.rstrip("_")
    return _UNDERSCORES.sub("_", kept + "x" * (len(name) - len(kept)))


def _no_underscore_first(name: str) -> str:
    return name.lstrip("_")


def _duck(text: str) -> str:
    return _UNDERSCORES.sub("_", text.translate(_DUCK))


def _direct(text: str) -> str:
    return text.translate(_DIRECT)


def _sql(text: str) -> str:
    name = _digit_first(_NOT_WORD.sub("_", text))
    return _UNDERSCORES.sub("_", name if name == "_" else name.rstrip("_"))


def _sql_lower(text: str) -> str:
    return _sql(text).lower()


CONVENTIONS = {
    convention.name: convention
    for convention in (
        Convention("snake_case", _snake),
        Convention("duck_case", _duck, case_sensitive=True),
        Convention("direct", _direct, case_sensitive=True, separator="▶"),
        Convention("sql_cs_v1", _sql, case_sensitive=True),
        Convention("sql_ci_v1", _sql_lower),
        Convention("s3_tables", _snake, finish_table=_no_underscore_first, limit=255),
    )
}


def get_naming(
    name: str = "snake_case", max_length: int | None = None, use_break_path_on_normalize: bool = True
) -> Naming:
    """The convention of that name; a name with a dot is the import path of a class of your own.

    Such a class has `normalize_identifier(raw) -> str` and, where they differ from snake_case,
    `is_case_sensitive` and `PATH_SEPARATOR`.

    >>> get_naming("sql_cs_v1").path("Foo Bar"), get_naming("direct", 16).path("ShipmentTrackingReference")
    ('Foo_Bar', 'Shipmusbuharence')
    """
    return _naming(name, max_length, use_break_path_on_normalize)


@lru_cache(256)
def _naming(name: str, max_length: int | None, use_break_path_on_normalize: bool) -> Naming:
    return Naming(_convention(name), max_length, use_break_path_on_normalize)


def naming_of(schema: Schema, max_length: int | None = None) -> Naming:
    """The naming a schema says it follows.

    >>> naming_of(Schema("shop", normalizers={"names": "direct"})).separator
    '▶'
    """
    normalizers = schema.normalizers
    breaks = normalizers.get("use_break_path_on_normalize") is not False
    return get_naming(normalizers.get("names") or "snake_case", max_length, breaks)


def _convention(name: str) -> Convention:
    if name in CONVENTIONS:
        return CONVENTIONS[name]
    if "." in name:
        return _custom(name)
    raise UsageError(f"no naming convention {name!r}{nearest(name, CONVENTIONS)}")


def _custom(name: str) -> Convention:
    module, _, attribute = name.rpartition(".")
    try:
        attribute_value = getattr(import_module(module), attribute)
        custom = attribute_value() if isinstance(attribute_value, type) else attribute_value
        clean: Clean = custom.normalize_identifier
    except Exception as error:
        raise UsageError(
            f"naming convention {name!r} cannot be used ({error}): give the import path of a class with"
            " normalize_identifier(raw)"
        ) from error
    sensitive = getattr(custom, "is_case_sensitive", getattr(custom, "case_sensitive", False))
    separator = getattr(custom, "PATH_SEPARATOR", getattr(custom, "separator", "__"))
    return Convention(name, clean, bool(sensitive() if callable(sensitive) else sensitive), separator)
