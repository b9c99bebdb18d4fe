"""The options of a destination, and what an event overrides."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import Field, dataclass, field, fields, replace
from functools import lru_cache
from typing import Any, Final

from trellis.dialects.rudderstack.providers import Provider, provider_of
from trellis.errors import UsageError, nearest

Read = Callable[[str, Any], Any]

EventOverrides = tuple[tuple[bool | None, ...], tuple[str, ...]]
"""The options that an event overrides: the flags, the JSON paths."""

EVERY_WAREHOUSE: Final = "DATA_WAREHOUSE"
"""The name in `integrations` of all destinations with JSON paths."""


def _flag(word: str, value: Any) -> bool:
    if isinstance(value, str) and value.strip().lower() in ("true", "false"):
        return value.strip().lower() == "true"
    if isinstance(value, bool):
        return value
    raise UsageError(f"option {word} takes true or false, not {value!r}")


def _text(word: str, value: Any) -> str:
    if isinstance(value, str):
        return value.strip()
    raise UsageError(f"option {word} takes text, not {value!r}")


def _name(word: str, value: Any) -> str:
    if isinstance(value, str) and value.strip():
        return value.strip()
    raise UsageError(f"option {word} takes a name, not {value!r}")


def _names(word: str, value: Any) -> tuple[str, ...]:
    """Names from a list, from a list in JSON, or from text with commas between them.

    >>> _names("jsonPaths", "a.b, c"), _names("jsonPaths", '["a.b", "c"]')
    (('a.b', 'c'), ('a.b', 'c'))
    """
    names = value.split(",") if isinstance(value, str) else value
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            names = json.loads(value)
        except json.JSONDecodeError:
            names = None
    if not isinstance(names, (list, tuple)) or not all(isinstance(name, str) for name in names):
        raise UsageError(
            f"option {word} takes names with commas between them, or a list of names, not {value!r}"
        )
    return tuple(dict.fromkeys(name.strip() for name in names if name.strip()))


def _count(least: int) -> Read:
    def read(word: str, value: Any) -> int:
        if isinstance(value, str) and value.strip().isdecimal() and value.isascii():
            value = int(value.strip()[:18])
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise UsageError(f"option {word} takes a whole number of {least} or more, not {value!r}")
        return value

    return read


def _one_of(*choices: str) -> Read:
    shown = " or ".join(choice or '""' for choice in choices)

    def read(word: str, value: Any) -> str:
        text = str(value).strip() if isinstance(value, (str, int)) else value
        if text not in choices:
            raise UsageError(f"option {word} takes {shown}, not {value!r}")
        return str(text)

    return read


def _provider(word: str, value: Any) -> str:
    try:
        return provider_of(_text(word, value)).name
    except UsageError as unknown:
        raise UsageError(f"option {word}: {unknown}") from None


def _option(read: Read, default: Any = "", word: str = "") -> Any:
    return field(default=default, metadata={"word": word, "read": read})


def _word(option: Field[Any]) -> str:
    return option.metadata["word"] or option.name


@dataclass(frozen=True)
class Options:
    """The options of a destination, each by RudderStack's name for it, or by its field.

    >>> Options.of({"provider": "RS", "skipUsersTable": "true", "json_paths": "a.b, c"}).to_document()
    {'provider': 'RS', 'skipUsersTable': True, 'jsonPaths': ['a.b', 'c']}
    """

    provider: str = _option(_provider, "POSTGRES")

    # Rows and columns
    skip_users_table: bool = _option(_flag, False, word="skipUsersTable")
    skip_tracks_table: bool = _option(_flag, False, word="skipTracksTable")
    json_paths: tuple[str, ...] = _option(_names, (), word="jsonPaths")
    allow_users_context_traits: bool = _option(_flag, False, word="allowUsersContextTraits")
    store_full_event: bool = _option(_flag, False, word="storeFullEvent")
    populate_src_dest_info: bool = _option(_flag, True)
    identity_resolution: bool = _option(_flag, False)
    strict_timestamps: bool = _option(_flag, False)
    legacy_timestamps: bool = _option(_flag, False)
    max_columns: int = _option(_count(1), 1600)

    # Names
    legacy: bool = _option(_flag, False)
    """The defaults of destinations from before the naming changed: digits stand alone, traits of the context
    are traits of the user."""
    underscore_divide_numbers: bool = _option(_flag, False, word="underscoreDivideNumbers")
    use_blendo_casing: bool = _option(_flag, False, word="useBlendoCasing")
    skip_reserved_keywords_escaping: bool = _option(_flag, False, word="skipReservedKeywordsEscaping")
    namespace: str = _option(_text)
    custom_dataset_prefix: str = _option(_text, word="customDatasetPrefix")
    database: str = _option(_text)
    skip_namespace_snake_casing: bool = _option(_flag, False, word="skipNamespaceSnakeCasing")
    namespace_split_digits: bool = _option(_flag, False)

    # Where events come from and go to
    source_id: str = _option(_text)
    source_type: str = _option(_text)
    source_name: str = _option(_text)
    source_category: str = _option(_text)
    destination_id: str = _option(_text)
    destination_type: str = _option(_text)

    # Loading
    prefer_append: bool | None = _option(_flag, None, word="preferAppend")
    users_anonymous_id: str = _option(_one_of("", "latest"))
    users_merge: str = _option(_one_of("latest", "latest_row"), "latest")
    discard_truncated: bool = _option(_flag, False)
    widen: str = _option(_one_of("", "int_to_float"))

    # Bounds
    events: tuple[str, ...] = _option(_names, ())
    properties: tuple[str, ...] = _option(_names, ())
    max_events: int | None = _option(_count(0), None)
    max_properties: int | None = _option(_count(0), None)
    overflow: str = _option(_name, "rudder_overflow")

    @classmethod
    def of(cls, settings: Mapping[str, Any], base: Options | None = None) -> Options:
        """The options of these settings, over those of `base`. Raises UsageError.

        A setting of None is left out.
        """
        base = cls() if base is None else base
        values = _read(settings)
        legacy = values.get("legacy", base.legacy)
        if legacy != base.legacy:
            values = {**dict.fromkeys(_LEGACY, legacy), **values}
        return replace(base, **values)

    def to_document(self) -> dict[str, Any]:
        """The options that differ from the defaults, as JSON."""
        return {
            _word(option): list(value) if isinstance(value, tuple) else value
            for option in fields(self)
            if (value := getattr(self, option.name)) != option.default
        }

    @classmethod
    def of_document(cls, document: Mapping[str, Any]) -> Options:
        """
        >>> Options.of_document({"legacy": True, "events": ["Add to Cart"]}).events
        ('Add to Cart',)
        """
        return cls(**_read(document))

    @property
    def bounded(self) -> bool:
        """Whether the overflow column may be needed."""
        return bool(self.events or self.properties) or (self.max_events, self.max_properties) != (None, None)

    @property
    def warehouse(self) -> Provider:
        return provider_of(self.provider)

    def overrides_of(self, event: Mapping[str, Any]) -> EventOverrides | None:
        """What `integrations` of the event says for this destination, whether or not it changes anything.

        What is no flag, or no list of paths, is left out. A skip stays one.

        >>> flags = {"skipUsersTable": False, "skipTracksTable": True}
        >>> event = {"integrations": {"POSTGRES": {"options": flags}}}
        >>> options = Options(skip_users_table=True)
        >>> options.with_overrides(options.overrides_of(event)).to_document()
        {'skipUsersTable': True, 'skipTracksTable': True}
        """
        integrations = event.get("integrations")
        if integrations.__class__ is not dict:
            return None
        options = _options_in(integrations, self.provider)
        options_for_all = _options_in(integrations, EVERY_WAREHOUSE)
        if not options and not options_for_all:
            return None
        flags = tuple([flag if flag.__class__ is bool else None for flag in map(options.get, _EVENT_FLAGS)])
        if "jsonPaths" not in options and "jsonPaths" not in options_for_all:
            return flags, ()
        return flags, (*_paths_in(options), *_paths_in(options_for_all)) if self.warehouse.json_paths else ()

    def with_overrides(self, overrides: EventOverrides) -> Options:
        """These options with the overrides of an event; the same object where they change nothing."""
        return _overridden(self, overrides) or self


FIELDS: Final = {name: option for option in fields(Options) for name in (_word(option), option.name)}
WORDS: Final = tuple(_word(option) for option in fields(Options))
_LEGACY: Final = ("underscore_divide_numbers", "allow_users_context_traits")
_EVENT_FLAGS: Final = ("skipUsersTable", "skipTracksTable", "skipReservedKeywordsEscaping", "useBlendoCasing")


def _read(settings: Mapping[str, Any]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for word, value in settings.items():
        known = FIELDS.get(word)
        if known is None:
            raise UsageError(f"dialect rudderstack has no option {word!r}{nearest(str(word), WORDS)}")
        if known.name in values:
            raise UsageError(f"option {word} is given twice, as {_word(known)} and {known.name}; keep one")
        if value is not None:
            values[known.name] = known.metadata["read"](word, value)
    return values


def _options_in(integrations: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    settings = integrations.get(name)
    options = settings.get("options") if settings.__class__ is dict else None
    return options if options.__class__ is dict else {}


def _paths_in(options: Mapping[str, Any]) -> tuple[str, ...]:
    paths = options.get("jsonPaths")
    return tuple(path for path in paths if isinstance(path, str)) if isinstance(paths, list) else ()


@lru_cache(256)
def _overridden(options: Options, overrides: EventOverrides) -> Options | None:
    """The options with the overrides of an event; None where they change nothing."""
    (users, tracks, escaping, blendo), json_paths = overrides
    changed = replace(
        options,
        skip_users_table=options.skip_users_table or users is True,
        skip_tracks_table=options.skip_tracks_table or tracks is True,
        skip_reserved_keywords_escaping=options.skip_reserved_keywords_escaping
        if escaping is None
        else escaping,
        use_blendo_casing=options.use_blendo_casing if blendo is None else blendo,
        json_paths=tuple(dict.fromkeys((*options.json_paths, *json_paths))),
    )
    return None if changed == options else changed
