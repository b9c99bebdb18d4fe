"""What the tests of sources share."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

os.environ.setdefault("RUNTIME__DLTHUB_TELEMETRY", "false")

from trellis.schema.model import Schema
from trellis.sources import Resource, Source
from trellis.sources.extraction.extract import Extracted, Part, extract


def read(*resources: Resource, state: Mapping[str, Any] | None = None) -> Extracted:
    """The resources read as one source named shop."""
    return extract(Source("shop", resources), state or {}, Schema("shop"))


def part(*resources: Resource, state: Mapping[str, Any] | None = None) -> Part:
    """The one part that the resources make."""
    (only_part,) = read(*resources, state=state).parts
    return only_part


def rows(*resources: Resource) -> dict[str, list[Any]]:
    """The rows by table."""
    return {part.table_name: list(part.source) for part in read(*resources).parts}
