"""The parts of a table config that shape rows in a way that Trellis does not carry out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from trellis.dialects.pinot.document.faults import Fault

_IN_PINOT: Final = "is carried out by Pinot only: a load needs a table config without it"
COMPUTED_FIELDS: Final = "generateColumn"
"""The enricher that Trellis carries out: it computes fields by functions."""


def unsupported_parts(document: Mapping[str, Any]) -> Iterator[Fault]:
    """A fault for each such part: a load refuses it, though Pinot takes it.

    >>> config = {"ingestionConfig": {"aggregationConfigs": [{"columnName": "n"}]}}
    >>> [fault.pointer for fault in unsupported_parts(config)]
    ['/ingestionConfig/aggregationConfigs']
    """
    ingestion = document.get("ingestionConfig")
    if not isinstance(ingestion, Mapping):
        return
    for key in (
        "aggregationConfigs",
        "schemaConformingTransformerConfig",
        "schemaConformingTransformerV2Config",
    ):
        if ingestion.get(key) not in (None, [], ()):
            yield _unsupported(f"/ingestionConfig/{key}", key)
    enrichers = ingestion.get("enrichmentConfigs")
    for index, enricher in enumerate(enrichers if isinstance(enrichers, list) else ()):
        kind = enricher.get("enricherType") if isinstance(enricher, Mapping) else None
        if kind != COMPUTED_FIELDS:
            yield _unsupported(f"/ingestionConfig/enrichmentConfigs/{index}", f"the enricher {kind}")


def _unsupported(place: str, part: str) -> Fault:
    return Fault(place, None, f"{part} {_IN_PINOT}")
