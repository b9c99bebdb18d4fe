"""A source for Spark's reader, as it travels from what the user wrote to the session that reads it."""

from __future__ import annotations

from dataclasses import dataclass

from trellis.engine.input.read_options import ReadOptions
from trellis.engine.input.source_format import SourceFormat
from trellis.engine.storage.storage import FileStatus, Storage


@dataclass(frozen=True)
class SparkSource:
    """What Spark's reader is to read. `files` are those behind the sources, in order, where there are any.

    `storage` opens the files, None where only Spark can.
    """

    format: SourceFormat
    sources: tuple[str, ...]
    read_options: ReadOptions
    files: tuple[FileStatus, ...] = ()
    storage: Storage | None = None

    @property
    def options(self) -> dict[str, str]:
        """All options of the reader."""
        headers = {"includeHeaders": "true"} if "headers" in self.read_options.kafka_columns else {}
        return {**headers, **self.read_options.over(self.format)}

    @property
    def title(self) -> str:
        """What messages call it."""
        return self.read_options.redact(", ".join(self.sources))

    def option(self, name: str) -> str:
        """The value of an option, in small letters."""
        values = {key.lower(): value for key, value in self.options.items()}
        return values.get(name.lower(), "").lower()
