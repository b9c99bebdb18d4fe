"""What `trellis snowplow shred` was asked, as a shredder."""

from __future__ import annotations

from pathlib import Path
from typing import Final, cast, get_args

from trellis.cli.commands.load import settings_of
from trellis.dialects.snowplow.client.references import RegistryReferences
from trellis.dialects.snowplow.options import NAMES
from trellis.dialects.snowplow.runs.duplicates import Deduplication
from trellis.dialects.snowplow.runs.event_store import EventStore
from trellis.dialects.snowplow.runs.manifest import Compression, FileFormat
from trellis.dialects.snowplow.runs.shredder import Shredder
from trellis.errors import UsageError, nearest
from trellis.pipelines.engine import runner_of
from trellis.pipelines.loading.job import ProgressCallback

_FORMATS: Final = get_args(FileFormat)
_COMPRESSIONS: Final = tuple(name.lower() for name in get_args(Compression))


def open_shredder(
    schema: str,
    out: str,
    format: str,
    compression: str,
    profile: str | None,
    deduplication: str,
    store: str | None,
    options: list[str] | None,
    spark: tuple[str | None, str | None, str | None],
    tell: ProgressCallback,
) -> Shredder:
    """Raises UsageError, SchemaError, RegistryUnavailable."""
    _check("--format", format, _FORMATS)
    _check("--compression", compression, _COMPRESSIONS)
    _check("--dedup", deduplication, get_args(Deduplication))
    settings = settings_of(options, example="validate=false")
    for name in settings:
        _check("--option", name, NAMES)
    return Shredder(
        Path(out),
        RegistryReferences.open(schema),
        runner_of(*spark, tell),
        cast("FileFormat", format),
        cast("Compression", compression.upper()),
        profile,
        cast("Deduplication", deduplication),
        None if store is None else EventStore(store),
        settings,
        tell,
    )


def _check(option: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise UsageError(f"{option}: there is no {value!r}{nearest(value, choices)}")
