"""The options of a load in this dialect."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Final
from zoneinfo import ZoneInfo

from trellis.dialects.pinot.conversion.settings import Settings
from trellis.errors import UsageError, nearest

TABLE_CONFIG: Final = "table_config"


@dataclass(frozen=True)
class Options:
    """`view`: for null the default of the column is stored (`stored`), or null (`nullable`).

    `strict` refuses values that Pinot would change without an error: they are kept in the discards. A value
    that cannot be converted stops the load, becomes null, or has its record rejected: `on_error`; None means
    `continueOnError` of the table config. `zone` is that of timestamps without one.
    `functions`: those that are not implemented here are refused (`builtin`), or computed
    by Pinot's own classes (`pinot-jars`).
    """

    view: str = "stored"
    strict: bool = False
    on_error: str | None = None
    zone: str = "UTC"
    functions: str = "builtin"

    @property
    def pinot_jars(self) -> bool:
        return self.functions == "pinot-jars"

    @property
    def settings(self) -> Settings:
        """The options that concern single values."""
        return Settings(self.strict, self.zone, self.pinot_jars)

    def over(self, values: Mapping[str, Any]) -> Options:
        """These options with those of the user. Raises UsageError."""
        options = self
        for name, value in values.items():
            read = _READERS.get(name)
            if read is None:
                raise UsageError(f"unknown option {name!r}{nearest(name, OPTIONS)}")
            options = replace(options, **{name: read(name, value)})
        return options

    def to_document(self) -> dict[str, Any]:
        """The options that differ from the defaults."""
        usual = asdict(Options())
        return {name: value for name, value in asdict(self).items() if value != usual[name]}


def _flag(name: str, value: Any) -> bool:
    if str(value).lower() not in ("true", "false"):
        raise UsageError(f"option {name}: expected true or false, not {value!r}")
    return str(value).lower() == "true"


def _word(*words: str) -> Any:
    def read(name: str, value: Any) -> str:
        if value not in words:
            raise UsageError(f"option {name}: unknown value {value!r}{nearest(str(value), words)}")
        return str(value)

    return read


def _zone(name: str, value: Any) -> str:
    try:
        return ZoneInfo(str(value)).key
    except (OSError, ValueError, KeyError):
        raise UsageError(
            f"option {name}: {value!r} is not a time zone; use an IANA name such as UTC or Europe/Zurich"
        ) from None


_READERS: Final[Mapping[str, Any]] = {
    "view": _word("stored", "nullable"),
    "strict": _flag,
    "on_error": _word("stop", "null", "reject"),
    "zone": _zone,
    "functions": _word("builtin", "pinot-jars"),
}
OPTIONS: Final = (*_READERS, TABLE_CONFIG)
