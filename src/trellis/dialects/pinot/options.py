"""What a user may choose of a load in this dialect."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Final
from zoneinfo import ZoneInfo

from trellis.dialects.pinot.document.types import PROFILES, Profile
from trellis.dialects.pinot.value.settings import Settings
from trellis.errors import UsageError, nearest

VIEWS: Final = ("stored", "nullable")
ON_ERROR: Final = ("stop", "null", "reject")
TABLE_CONFIG: Final = "table_config"


@dataclass(frozen=True)
class Options:
    """`view`: what stands for null, the column's default (`stored`) or nothing (`nullable`).

    `strict` refuses what Pinot damages in silence: such values are kept in the discards. `on_error` says what
    a value does that cannot be converted: it stops the load, becomes null, or has its record rejected; None
    leaves it to `continueOnError` of the table config. `zone` is that of timestamps without one. `profile` is
    the Pinot that is followed.
    """

    view: str = "stored"
    strict: bool = False
    on_error: str | None = None
    zone: str = "UTC"
    profile: str = "base"

    @property
    def followed(self) -> Profile:
        return PROFILES[self.profile]

    @property
    def settings(self) -> Settings:
        """What of them concerns single values."""
        return Settings(self.strict, self.zone, self.followed.extended)

    def over(self, said: Mapping[str, Any]) -> Options:
        """These with what a user said. Raises UsageError."""
        made = self
        for name, value in said.items():
            read = _READERS.get(name)
            if read is None:
                raise UsageError(f"there is no option {name!r}{nearest(name, OPTIONS)}")
            made = replace(made, **{name: read(name, value)})
        return made

    def to_document(self) -> dict[str, Any]:
        """What differs from the defaults."""
        usual = asdict(Options())
        return {name: value for name, value in asdict(self).items() if value != usual[name]}


def _flag(name: str, value: Any) -> bool:
    if str(value).lower() not in ("true", "false"):
        raise UsageError(f"option {name} is true or false, not {value!r}")
    return str(value).lower() == "true"


def _word(*words: str) -> Any:
    def read(name: str, value: Any) -> str:
        if value not in words:
            raise UsageError(f"option {name}: there is no {value!r}{nearest(str(value), words)}")
        return str(value)

    return read


def _zone(name: str, value: Any) -> str:
    try:
        return ZoneInfo(str(value)).key
    except (OSError, ValueError, KeyError):
        raise UsageError(
            f"option {name}: {value!r} is no time zone; write one such as UTC or Europe/Zurich"
        ) from None


_READERS: Final[Mapping[str, Any]] = {
    "view": _word(*VIEWS),
    "strict": _flag,
    "on_error": _word(*ON_ERROR),
    "zone": _zone,
    "profile": _word(*PROFILES),
}
OPTIONS: Final = (*_READERS, TABLE_CONFIG)
