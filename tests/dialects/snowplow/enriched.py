"""Lines of enriched events, and folders of schemas that they refer to."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final
from uuid import UUID

from dialects.snowplow.families import family
from trellis.dialects.snowplow.document.schema_document import SchemaDocument
from trellis.dialects.snowplow.enriched.fields import FIELDS

VESSEL_CALL: Final = "iglu:org.harbor/vessel_call/jsonschema/"
ENVELOPE: Final = "iglu:com.snowplowanalytics.snowplow/"
ORDER: Final = "1-0-0 1-1-0 1-2-0 1-0-1 1-2-1"


def event_id(number: int) -> str:
    return str(UUID(int=number))


def vessel_call(version: str, **data: Any) -> dict[str, Any]:
    """An entity of the family F."""
    return {"schema": VESSEL_CALL + version, "data": data}


def enriched_line(
    number: int, event: dict[str, Any] | None = None, contexts: Sequence[dict[str, Any]] = (), **fields: str
) -> str:
    """The line of an enriched event, without its end."""
    values = {
        "event_id": event_id(number),
        "collector_tstamp": "2031-04-05 06:00:00.123",
        "v_collector": "ssc-3.2",
        "v_etl": "enrich-5.0",
        **fields,
    }
    if event is not None:
        values["unstruct_event"] = json.dumps(
            {"schema": f"{ENVELOPE}unstruct_event/jsonschema/1-0-0", "data": event}
        )
    if contexts:
        values["contexts"] = json.dumps(
            {"schema": f"{ENVELOPE}contexts/jsonschema/1-0-1", "data": [*contexts]}
        )
    return "\t".join(values.get(field.name, "") for field in FIELDS)


def write_run(folder: Path, lines: Iterable[str], name: str = "run=2031-04-05-06-00-00") -> Path:
    """A run folder with these lines."""
    run = folder / name
    run.mkdir(parents=True)
    (run / "part-00000").write_bytes(
        "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape")
    )
    return run


def write_registry(folder: Path, order: str = ORDER, documents: Sequence[SchemaDocument] = ()) -> str:
    """A folder of schemas with the versions of F in this order of creation, or with these schemas."""
    for document in documents or family(order):
        key = document.key
        place = folder / "registry" / key.vendor / key.name / key.format
        place.mkdir(parents=True, exist_ok=True)
        (place / str(key.version)).write_text(json.dumps(document.to_dict()))
        versions = [str(item.key) for item in (documents or family(order)) if item.key.family == key.family]
        (place / str(key.version.model)).write_text(json.dumps(versions))
    return str(folder / "registry")
