"""Load streams in all ways and compare."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

os.environ.setdefault("RUNTIME__DLTHUB_TELEMETRY", "false")
os.environ.setdefault("RUNTIME__LOG_LEVEL", "CRITICAL")

from dialects.dlt.against_dlt import ours, theirs
from dialects.dlt.against_dlt.compare import Difference, Picture, Reader, differences
from dialects.dlt.against_dlt.streams import Stream


@dataclass
class Found:
    """A stream, the table it was loaded into, and where the ways differ."""

    stream: Stream
    table: str
    differences: dict[str, list[Difference]] = field(default_factory=dict)
    pictures: dict[str, Picture] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)


def compare(
    streams: Sequence[Stream], folder: Path | None = None, ways: Sequence[str] = ("items", "lines")
) -> list[Found]:
    """Load the streams with dlt, with Trellis and, where they are JSON, with Trellis from files."""
    if folder is None:
        with tempfile.TemporaryDirectory(prefix="hunt-") as temporary:
            return compare(streams, Path(temporary), ways)
    named = {f"{item.table}_zz{number}zz": item for number, item in enumerate(streams)}
    files, errors = theirs.run(folder, named)
    readers = {file: Reader(file) for file in set(files.values())}
    comparisons = []
    for number, (table, stream) in enumerate(named.items()):
        mark = f"zz{number}zz"
        one = Found(stream, table)
        comparisons.append(one)
        one.pictures["dlt"] = readers[files[table]].picture(stream.profile, mark)
        if table in errors:
            one.errors["dlt"] = errors[table]
        for way in ways[:1] if stream.typed else ways:
            file = folder / f"{way}{number}.duckdb"
            if error := ours.run(file, table, stream, folder if way == "lines" else None):
                one.errors[way] = error
            if file.exists():
                reader = Reader(file)
                one.pictures[way] = reader.picture(stream.profile, mark)
                reader.close()
                file.unlink()
            else:
                one.pictures[way] = Picture()
            one.differences[way] = _differences(one, way)
    for reader in readers.values():
        reader.close()
    return comparisons


def _differences(one: Found, way: str) -> list[Difference]:
    error, their = one.errors.get(way), one.errors.get("dlt")
    if (error is None) != (their is None) or (error and their and error[:6] != their[:6]):
        return [Difference("outcome", one.table, "", their, error)]
    if their and ", load: " in their:
        return []  # some of its files are loaded, some are not
    return [*differences(one.pictures["dlt"], one.pictures[way])]
