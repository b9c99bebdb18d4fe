"""Files as the rows of a resource: read by the engine, in parallel, and not by Python."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from trellis.errors import UsageError


@dataclass(frozen=True)
class Files:
    """Paths, folders or patterns of files of records."""

    paths: tuple[str, ...]

    @property
    def name(self) -> str | None:
        """`data/orders-2024-01.jsonl` -> `orders`; None where the path is a pattern that tells nothing."""
        stem = Path(self.paths[0]).name.partition(".")[0]
        name = re.sub(r"[-_.]*[\d*?\[].*$", "", stem)
        return name or None


def files(*paths: str | os.PathLike[str]) -> Files:
    """Files as the data of a resource: `trellis.resource(trellis.files("data/*.jsonl"), name="events")`."""
    if not paths:
        raise UsageError("files() needs at least one path")
    return Files(tuple(os.fspath(path) for path in paths))
