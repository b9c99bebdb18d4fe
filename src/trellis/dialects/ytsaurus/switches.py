"""Where YTsaurus and its documentation differ, or a cluster decides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Final, Literal

from trellis.errors import UsageError, nearest


@dataclass(frozen=True)
class Switches:
    """The defaults are those of the documentation."""

    enable_descending: bool = False
    """Whether key columns may be sorted in descending order."""
    allow_nonkey_computed: bool = False
    """Whether columns that are not key may be computed."""
    enable_drop_columns: bool = False
    """Whether alter may drop columns of a strict table."""
    alter_policy: Literal["upstream", "documented"] = "upstream"
    """All changes of YTsaurus, or those alone that its documentation lists."""
    sorted_merge: Literal["upstream", "literal"] = "upstream"
    """A sorted merge into an unsorted strong table sorts its schema, or is an error."""

    @classmethod
    def parse(cls, options: Mapping[str, str]) -> Switches:
        """The switches of a URL's options. Raises UsageError.

        >>> Switches.parse({"profile": "upstream", "enable_drop_columns": "false"}).enable_descending
        True
        """
        options = dict(options)
        profile = options.pop("profile", "documented")
        if profile not in _PROFILES:
            raise UsageError(f"profile={profile!r}{nearest(profile, _PROFILES)}")
        values: dict[str, bool | str] = dict(_PROFILES[profile])
        for name, text in options.items():
            if name not in _CHOICES:
                raise UsageError(
                    f"there is no option {name!r} of a store{nearest(name, ['profile', *_CHOICES])}"
                )
            choices = _CHOICES[name]
            if text not in choices:
                raise UsageError(f"{name}={text!r}; expected {' or '.join(choices)}")
            values[name] = text == "true" if choices == _BOOLEAN else text
        return cls(**values)  # type: ignore[arg-type]


_BOOLEAN: Final = ("true", "false")
_CHOICES: Final[Mapping[str, tuple[str, ...]]] = {
    **{field.name: _BOOLEAN for field in fields(Switches) if field.type == "bool"},
    "alter_policy": ("upstream", "documented"),
    "sorted_merge": ("upstream", "literal"),
}
_PROFILES: Final[Mapping[str, Mapping[str, bool]]] = {
    "documented": {},
    "upstream": {"enable_descending": True, "allow_nonkey_computed": True, "enable_drop_columns": True},
}
DEFAULT_SWITCHES: Final = Switches()
