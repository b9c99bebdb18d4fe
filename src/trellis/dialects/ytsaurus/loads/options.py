"""The options of a load in this dialect."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Final

from trellis.dialects.ytsaurus.schema.model import SchemaMode
from trellis.dialects.ytsaurus.values.validation import DEFAULT_FORMS, ValueForms
from trellis.errors import UsageError, nearest
from trellis.schema.model import Schema

_KEY: Final = "x-yt-options"
_FLAGS: Final = ("integral_to_double", "string_to_all", "all_to_string")
OPTIONS: Final = ("schema_mode", "promote_integers", *_FLAGS)


@dataclass(frozen=True)
class LoadOptions:
    """`schema_mode`: without a schema a table is weak, or strong under a schema learned from all records.

    In that integers beside doubles are doubles with `promote_integers`. `forms` are conversions that YTsaurus
    makes only where a format asks for them.
    """

    schema_mode: SchemaMode = "weak"
    promote_integers: bool = False
    forms: ValueForms = DEFAULT_FORMS

    @classmethod
    def parse(cls, settings: Mapping[str, Any]) -> LoadOptions:
        """Raises UsageError."""
        options = cls()
        for name, value in settings.items():
            if name == "schema_mode":
                if value not in ("weak", "strong"):
                    raise UsageError(f"option schema_mode={value}: expected weak or strong")
                options = replace(options, schema_mode=value)
            elif name == "promote_integers":
                promotes = _flag(name, value)
                forms: Any = replace(options.forms, integral_to_double=promotes)
                options = replace(options, promote_integers=promotes, forms=forms)
            elif name in _FLAGS:
                flags: dict[str, Any] = {name: _flag(name, value)}
                forms = replace(options.forms, **flags)
                options = replace(options, forms=forms)
            else:
                raise UsageError(f"there is no option {name!r}{nearest(name, OPTIONS)}")
        return options

    @classmethod
    def of(cls, schema: Schema) -> LoadOptions:
        """Those of the newest load of a dataset."""
        return cls.parse(schema.extra.get(_KEY) or {})


def with_options(schema: Schema, settings: Mapping[str, Any]) -> Schema:
    """Raises UsageError."""
    LoadOptions.parse(settings)
    if not settings and _KEY not in schema.extra:
        return schema
    return replace(schema, extra=MappingProxyType({**schema.extra, _KEY: dict(settings)}))


def _flag(name: str, value: Any) -> bool:
    if str(value).lower() not in ("true", "false"):
        raise UsageError(f"option {name}={value}: expected true or false")
    return str(value).lower() == "true"
