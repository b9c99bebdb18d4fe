"""How a stream is to run, beside how its loads are to be done."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from trellis.errors import UsageError, nearest
from trellis.pipelines.loading.options import LoadOptions, LoadSettings

OnViolation = Literal["stop", "quarantine"]
AVAILABLE_NOW = "available-now"
DEFAULT_TRIGGER = "10 seconds"
ALL = "100%"
_INTERVAL = re.compile(r"(\d+)\s*([a-z]+)", re.IGNORECASE)
_UNITS = {
    **dict.fromkeys(("ms", "millisecond", "milliseconds"), "milliseconds"),
    **dict.fromkeys(("s", "sec", "second", "seconds"), "seconds"),
    **dict.fromkeys(("m", "min", "minute", "minutes"), "minutes"),
    **dict.fromkeys(("h", "hour", "hours"), "hours"),
}


class StreamOptions(LoadOptions, total=False):
    """What `Pipeline.stream` takes by keyword, besides the source and its table."""

    trigger: str | None
    """`available-now`: load what is there and end; or the time between batches, such as `30 seconds`."""
    checkpoint: str | None
    """A folder or URL where Spark keeps how far the stream is; by default one beside the destination."""
    on_violation: OnViolation | None
    """What a record does that breaks a contract: `stop` the stream, or go into `quarantine`, the discards."""


@dataclass(frozen=True)
class StreamSettings:
    """`StreamOptions` with defaults. `interval` is None where the stream ends with what is there now."""

    load: LoadSettings
    interval: str | None
    checkpoint: str | None
    quarantines: bool

    @staticmethod
    def of(table: str | None, options: Mapping[str, Any]) -> StreamSettings:
        """The settings that these options mean. Raises UsageError for what no stream can follow.

        Of a batch all records may be rejected, unless `max_rejected` says otherwise: it may be but one.
        """
        streaming = StreamOptions.__annotations__.keys() - LoadOptions.__annotations__.keys()
        for name in ("load_id", "only_tables"):
            if options.get(name):
                raise UsageError(
                    f"stream takes no option {name!r}; each batch is a load with an id of its own"
                )
        for name in ("new_only", "reload_changed"):
            if options.get(name):
                raise UsageError(f"stream takes no option {name!r}; its checkpoint remembers the files")
        for name in options:
            if name not in StreamOptions.__annotations__:
                raise UsageError(
                    f"stream takes no option {name!r}{nearest(name, StreamOptions.__annotations__)}"
                )
        choice = options.get("on_violation") or "stop"
        if choice not in get_args(OnViolation):
            raise UsageError(f"there is no on_violation {choice!r}{nearest(choice, get_args(OnViolation))}")
        loading = {name: value for name, value in options.items() if name not in streaming}
        if loading.get("max_rejected") is None:
            loading["max_rejected"] = ALL
        return StreamSettings(
            LoadSettings.of(table, loading),
            interval_of(options.get("trigger") or DEFAULT_TRIGGER),
            options.get("checkpoint"),
            choice == "quarantine",
        )


def interval_of(trigger: str) -> str | None:
    """The time between batches as Spark takes it; None for `available-now`. Raises UsageError.

    >>> interval_of("30s"), interval_of("5 minutes"), interval_of("available-now")
    ('30 seconds', '5 minutes', None)
    """
    if trigger == AVAILABLE_NOW:
        return None
    match = _INTERVAL.fullmatch(trigger.strip())
    unit = _UNITS.get(match[2].lower()) if match else None
    if match is None or unit is None:
        raise UsageError(
            f"trigger {trigger!r}: write available-now, or the time between batches such as '30 seconds' or "
            "'5 minutes'"
        )
    return f"{int(match[1])} {unit}"
