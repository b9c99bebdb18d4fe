"""The options of a load, as a user writes them and as the stored schema keeps them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, get_args

from trellis.dialects.snowplow.enriched.line import read_time
from trellis.dialects.snowplow.events.event import JsonPaths
from trellis.dialects.snowplow.events.families import DataFormats, Layout
from trellis.dialects.snowplow.events.router import DEFAULT_PATHS, EventRules
from trellis.dialects.snowplow.identity.errors import IgluError
from trellis.dialects.snowplow.identity.keys import Criterion
from trellis.errors import UsageError, nearest

_ID, _TIME = map(".".join, (DEFAULT_PATHS.id, DEFAULT_PATHS.time))


@dataclass(frozen=True)
class Options:
    """`text`: the columns of schemas get texts, as in the files that loaders read. `as_json`: entities stay
    JSON, but for those that `tsv` names. `marked`: rows say which kind of entity they are of. `is_run`: the
    rows go into files, from which loads cut and discard what does not fit. `tsv` and `json` are for runs
    alone, too."""

    compat: bool = False
    validate: bool = True
    on_missing: str = "reject"
    skip: str = ""
    tsv: str = ""
    json: str = ""
    layout: Layout = "model"
    schema_version: bool = False
    minimum_tstamp: str = ""
    id_path: str = _ID
    time_path: str = _TIME
    text: bool = False
    as_json: bool = False
    marked: bool = False
    is_run: bool = False

    @staticmethod
    def of(settings: Mapping[str, Any], known: Options) -> Options:
        """The options with those that the user gives. Raises UsageError."""
        values = {
            name: _READERS[name](name, value) for name, value in settings.items() if name not in REVISIONS
        }
        options = Options(**{**known.to_document(), **values})
        options._check_criteria()
        return options

    def to_document(self) -> dict[str, Any]:
        return dict(vars(self))

    @property
    def rules(self) -> EventRules:
        return EventRules(
            JsonPaths(tuple(self.id_path.split(".")), tuple(self.time_path.split("."))),
            self.validate and not self.compat,
            read_time(self.minimum_tstamp) if self.minimum_tstamp else None,
            _parsed(self.skip),
        )

    @property
    def formats(self) -> DataFormats:
        return DataFormats(_parsed(self.tsv), _parsed(self.json), self.as_json)

    def _check_criteria(self) -> None:
        """That no criterion is in two lists, and that lists of formats are for files that have formats."""
        names: dict[Criterion, str] = {}
        for name in _CRITERIA:
            for criterion in _parsed(getattr(self, name)):
                if criterion in names:
                    raise UsageError(
                        f"option {name}: {criterion} is in option {names[criterion]}, too; leave it in one"
                    )
                names[criterion] = name
        if (self.tsv or self.json) and not (self.text and self.layout == "version"):
            raise UsageError(
                "options tsv and json choose formats in the folders of versions; shred with --format csv or "
                "json and --layout version, or leave them out"
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
    try:
        _parsed(str(value))
    except IgluError as error:
        raise UsageError(f"option {name}: {error}") from None
    return str(value)


def _parsed(criteria: str) -> tuple[Criterion, ...]:
    """Raises IgluError."""
    return tuple(map(Criterion.parse, filter(None, criteria.split(","))))


def _layout(name: str, value: Any) -> str:
    if value not in get_args(Layout):
        raise UsageError(f"option {name}: there is no {value!r}{nearest(str(value), get_args(Layout))}")
    return str(value)


def _time(name: str, value: Any) -> str:
    try:
        read_time(str(value))
    except ValueError:
        raise UsageError(f"option {name} is a time such as 2031-04-05T06:00:00, not {value!r}") from None
    return str(value)


_INTERNAL: Final = ("text", "as_json", "marked", "is_run")
_CRITERIA: Final = ("skip", "tsv", "json")
_READERS: Final[Mapping[str, Callable[[str, Any], Any]]] = {
    "compat": _flag,
    "validate": _flag,
    "on_missing": _on_missing,
    **dict.fromkeys(_CRITERIA, _criteria),
    "layout": _layout,
    "schema_version": _flag,
    "minimum_tstamp": _time,
    "id_path": _path,
    "time_path": _path,
    **dict.fromkeys(_INTERNAL, _flag),
}
REVISIONS: Final = ("dedup", "dedup_store")
"""Those about all events of one load together, which no later load keeps."""
NAMES: Final = (*(name for name in _READERS if name not in _INTERNAL), *REVISIONS)
"""Those that a user may give."""
