"""The options of a load, as a user writes them and as the stored schema keeps them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from trellis.dialects.snowplow.enriched.line import read_time
from trellis.dialects.snowplow.events.event import JsonPaths
from trellis.dialects.snowplow.events.router import DEFAULT_PATHS, EventRules
from trellis.dialects.snowplow.identity.keys import Criterion
from trellis.errors import UsageError

_ID, _TIME = map(".".join, (DEFAULT_PATHS.id, DEFAULT_PATHS.time))


@dataclass(frozen=True)
class Options:
    """`text`: the columns of schemas get texts, as in the files that loaders read. `marked`: rows say which
    kind of entity they are of, for the manifest of a run."""

    compat: bool = False
    validate: bool = True
    on_missing: str = "reject"
    skip: str = ""
    minimum_tstamp: str = ""
    id_path: str = _ID
    time_path: str = _TIME
    text: bool = False
    marked: bool = False

    @staticmethod
    def of(settings: Mapping[str, Any], known: Options) -> Options:
        """The options with those that the user gives. Raises UsageError."""
        values = {name: _READERS[name](name, value) for name, value in settings.items()}
        return Options(**{**known.to_document(), **values})

    def to_document(self) -> dict[str, Any]:
        return dict(vars(self))

    @property
    def rules(self) -> EventRules:
        return EventRules(
            JsonPaths(tuple(self.id_path.split(".")), tuple(self.time_path.split("."))),
            self.validate and not self.compat,
            read_time(self.minimum_tstamp) if self.minimum_tstamp else None,
            tuple(map(Criterion.parse, self.skip.split(","))) if self.skip else (),
        )


def _flag(name: str, value: Any) -> bool:
    if str(value).lower() not in ("true", "false"):
        raise UsageError(f"option {name} is true or false, not {value!r}")
    return str(value).lower() == "true"


def _path(name: str, value: Any) -> str:
    if not all(str(value).split(".")):
        raise UsageError(f"option {name} is keys between points, such as {_ID}, not {value!r}")
    return str(value)


def _on_missing(name: str, value: Any) -> str:
    if value not in ("reject", "stop"):
        raise UsageError(f"option {name} is reject or stop, not {value!r}")
    return str(value)


def _criteria(name: str, value: Any) -> str:
    for text in filter(None, str(value).split(",")):
        Criterion.parse(text)
    return str(value)


def _time(name: str, value: Any) -> str:
    try:
        read_time(str(value))
    except ValueError:
        raise UsageError(f"option {name} is a time such as 2031-04-05T06:00:00, not {value!r}") from None
    return str(value)


_READERS: Final[Mapping[str, Callable[[str, Any], Any]]] = {
    "compat": _flag,
    "validate": _flag,
    "on_missing": _on_missing,
    "skip": _criteria,
    "minimum_tstamp": _time,
    "id_path": _path,
    "time_path": _path,
    "text": _flag,
    "marked": _flag,
}
NAMES: Final = tuple(name for name in _READERS if name not in ("text", "marked"))
"""Those that a user may give."""
