"""What stands in a run folder besides rows: that it is complete, and which tables its files are of."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from trellis.dialects.snowplow.events.families import Layout
from trellis.dialects.snowplow.identity.errors import IgluError
from trellis.dialects.snowplow.identity.keys import SchemaKey
from trellis.errors import SchemaError, UsageError

FileFormat = Literal["csv", "parquet", "orc", "json"]
"""Of a run, or of one of its tables: in the folders of versions entities may stay JSON beside lines of
values."""
Compression = Literal["NONE", "GZIP"]

ALGORITHM: Final = "1"
"""The version of the algorithm from schemas to columns. A loader refuses runs of another one."""
COMPLETION_FILE: Final = "shredding_complete.json"
FAMILIES_FILE: Final = "families.json"
ARTIFACT: Final = "trellis-snowplow-shredder"
_SCHEMA: Final = "iglu:com.snowplowanalytics.snowplow.storage.rdbloader/shredding_complete/jsonschema/2-0-1"


FORMAT_NAMES: Final[Mapping[FileFormat, str]] = {
    "csv": "TSV",
    "json": "JSON",
    "parquet": "PARQUET",
    "orc": "ORC",
}


class RunType(NamedTuple):
    """A schema that was met, as this kind of entity, and the format of its rows."""

    uri: str
    kind: str
    format: str


@dataclass(frozen=True)
class RunTable:
    """A table that a run has files of: all its versions in their order, and its columns in that of the files.

    `path` is below the run folder. `is_recovered`: it is of the last version alone. In the layout of versions
    the columns are those of one version, and files of several are of one table.
    """

    table: str
    keys: tuple[str, ...]
    columns: tuple[str, ...]
    path: str
    digest: str
    rows: int
    is_recovered: bool = False

    @property
    def key(self) -> SchemaKey:
        return SchemaKey.parse(self.keys[-1])


@dataclass(frozen=True)
class RunManifest:
    """A complete run."""

    base: str
    types: tuple[RunType, ...]
    format: FileFormat
    compression: Compression
    started: datetime
    completed: datetime
    earliest: datetime | None
    latest: datetime | None
    good: int
    bad: int
    algorithm: str
    profile: str
    tables: tuple[RunTable, ...]
    layout: Layout = "model"
    compat: bool = False
    """Columns and rows are those of Snowplow's own code."""
    dropped: int = 0
    """Copies of events, and events of skipped schemas alone, that have no rows."""
    json_events: int = 0
    """Good events of self-describing JSON, which have no row in `events`."""

    @property
    def event_rows(self) -> int:
        return self.good - self.json_events

    def completion_document(self, version: str) -> dict[str, Any]:
        """As loaders of Snowplow read it; the schema of this document allows nothing more."""
        return {
            "schema": _SCHEMA,
            "data": {
                "base": self.base,
                "typesInfo": self._types_info(),
                "timestamps": {
                    "jobStarted": _text(self.started),
                    "jobCompleted": _text(self.completed),
                    "min": _text(self.earliest),
                    "max": _text(self.latest),
                },
                "compression": self.compression,
                "processor": {"artifact": ARTIFACT, "version": version},
                "count": {"good": self.good, "bad": self.bad},
            },
        }

    def _types_info(self) -> dict[str, Any]:
        if self.layout == "wide":
            wide_types = [{"schemaKey": item.uri, "snowplowEntity": item.kind} for item in self.types]
            file_format = FORMAT_NAMES[self.format]
            return {"transformation": "WIDEROW", "fileFormat": file_format, "types": wide_types}
        types = [
            {"schemaKey": item.uri, "format": item.format, "snowplowEntity": item.kind} for item in self.types
        ]
        return {"transformation": "SHREDDED", "types": types}

    def families_document(self) -> dict[str, Any]:
        """What loaders of Trellis need beside that."""
        return {
            "algorithm": self.algorithm,
            "profile": self.profile,
            "format": self.format,
            "layout": self.layout,
            "compat": self.compat,
            "dropped": self.dropped,
            "json_events": self.json_events,
            "tables": [vars(table) for table in self.tables],
        }

    def write(self, folder: Path, version: str) -> None:
        """Write both files; the one that says that the run is complete comes last."""
        _write(folder / FAMILIES_FILE, self.families_document())
        _write(folder / COMPLETION_FILE, self.completion_document(version))

    @staticmethod
    def read(folder: Path) -> RunManifest:
        """Raises SchemaError for a run that is incomplete or that another program wrote."""
        data = _read(folder / COMPLETION_FILE).get("data", {})
        families = _read(folder / FAMILIES_FILE)
        try:
            times, count = data["timestamps"], data["count"]
            return RunManifest(
                data["base"],
                tuple(
                    RunType(item["schemaKey"], item["snowplowEntity"], item.get("format", ""))
                    for item in data["typesInfo"]["types"]
                ),
                families["format"],
                data["compression"],
                datetime.fromisoformat(times["jobStarted"]),
                datetime.fromisoformat(times["jobCompleted"]),
                _time(times["min"]),
                _time(times["max"]),
                _count(count["good"]),
                _count(count["bad"]),
                families["algorithm"],
                families["profile"],
                tuple(_table(table) for table in families["tables"]),
                families.get("layout", "model"),
                families.get("compat", False),
                _count(families.get("dropped", 0)),
                _count(families.get("json_events", 0)),
            )
        except (KeyError, TypeError, ValueError, IgluError) as error:
            raise SchemaError(
                f"{folder}: {COMPLETION_FILE} and {FAMILIES_FILE} are not those of a run ({error!r}); "
                "shred the run again"
            ) from None

    @staticmethod
    def of_loadable(folder: Path) -> RunManifest:
        """That of a run whose files go into tables. Raises SchemaError."""
        manifest = RunManifest.read(folder)
        if manifest.algorithm != ALGORITHM:
            raise SchemaError(
                f"{folder}: it was shredded by version {manifest.algorithm} of the algorithm, this loader "
                f"has version {ALGORITHM}; shred it again, or load it with the program that shredded it"
            )
        if manifest.layout == "wide":
            raise SchemaError(
                f"{folder}: its files are wide rows, which are for other programs to load; load the events "
                "that it was shredded from with `trellis load --dialect snowplow --option layout=wide`, or "
                "shred them again with --layout model"
            )
        return manifest


def is_complete(folder: Path) -> bool:
    return (folder / COMPLETION_FILE).is_file()


def find_runs(place: str) -> list[Path]:
    """The run folders in a folder, or the folder itself if it is one, in the order of their names.

    Raises UsageError where there is none.
    """
    folder = Path(place)
    if not folder.is_dir():
        raise UsageError(f"{place}: there is no such folder; expected a run, or a folder of runs")
    if folder.name.startswith("run=") or is_complete(folder):
        return [folder]
    runs = sorted(run for run in folder.glob("run=*") if run.is_dir())
    if not runs:
        raise UsageError(f"{place}: no runs here; expected folders such as run=2031-04-05-06-00-00")
    return runs


def _table(document: Mapping[str, Any]) -> RunTable:
    lists: dict[str, Sequence[str]] = {name: tuple(document[name]) for name in ("keys", "columns")}
    return RunTable(**{**document, **lists, "rows": _count(document["rows"])})


def _count(value: object) -> int:
    """Raises TypeError."""
    if type(value) is not int:
        raise TypeError(f"{value!r} is no number of rows")
    return value


def _text(time: datetime | None) -> str | None:
    return None if time is None else time.astimezone(timezone.utc).isoformat(timespec="milliseconds")


def _time(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


def _write(path: Path, document: Mapping[str, Any]) -> None:
    part = path.with_suffix(".part")
    part.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    part.replace(path)


def _read(path: Path) -> dict[str, Any]:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise SchemaError(
            f"{path.parent}: the run is incomplete, it has no {path.name}; shred it again"
        ) from None
    except ValueError as error:
        raise SchemaError(f"{path}: not JSON: {error}; shred the run again") from None
    if not isinstance(document, dict):
        raise SchemaError(f"{path}: a JSON object is expected; shred the run again")
    return document
