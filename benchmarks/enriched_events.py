"""Enriched events of Snowplow for the shredder: 131 fields, an event and three contexts of some families."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, Final
from uuid import UUID

from trellis.dialects.snowplow.document.schema_document import META_SCHEMA
from trellis.dialects.snowplow.enriched.fields import FIELDS, Kind

RUN: Final = "run=2031-04-05-06-00-00"
VENDOR: Final = "com.acme"
CONTEXTS: Final = 3
PARTS: Final = 8
TEXTS: Final = ("name", "place", "note")
PROPERTIES: Final[dict[str, dict[str, Any]]] = {
    **{name: {"type": "string", "maxLength": 60} for name in TEXTS},
    "amount": {"type": "number"},
    "count": {"type": "integer", "minimum": 0, "maximum": 100_000},
    "isNew": {"type": "boolean"},
    "at": {"type": "string", "format": "date-time"},
}
LATE: Final = {"coupon": {"type": "string", "maxLength": 20}}
"""What version 1-0-1 of the first family adds; the last tenth of its entities are of it."""
_ENVELOPE: Final = "iglu:com.snowplowanalytics.snowplow"
_FILLED: Final[dict[Kind, str]] = {"t": "2031-04-05 06:00:00.123", "i": "7", "d": "12.5", "b": "1"}
_EMPTY: Final = ("tr_", "ti_", "refr_", "mkt_", "pp_", "se_")
"""What the names of fields begin with that most events leave empty."""


def families(count: int) -> list[str]:
    return [f"family{number:02}x" for number in range(count)]


def make_run(folder: Path, rows: int, family_count: int) -> tuple[Path, Path]:
    """The run folder and the folder of schemas, which are made unless they are there."""
    schemas, place = folder / f"schemas-{family_count}", folder / f"enriched-{rows}-{family_count}"
    _write_schemas(schemas, family_count)
    if not place.exists():
        draft = place.with_suffix(".part")
        (draft / RUN).mkdir(parents=True, exist_ok=True)
        chance, names = Random(rows), families(family_count)
        for part in range(PARTS):
            with (draft / RUN / f"part-{part:05}").open("w", encoding="utf-8") as file:
                numbers = range(rows * part // PARTS, rows * (part + 1) // PARTS)
                file.writelines(f"{_line(number, rows, names, chance)}\n" for number in numbers)
        draft.rename(place)
    return place / RUN, schemas


def _write_schemas(folder: Path, family_count: int) -> None:
    for name in families(family_count):
        place = folder / VENDOR / name / "jsonschema"
        place.mkdir(parents=True, exist_ok=True)
        versions = {
            "1-0-0": PROPERTIES,
            **({"1-0-1": {**PROPERTIES, **LATE}} if name == families(1)[0] else {}),
        }
        for version, properties in versions.items():
            document = {
                "$schema": META_SCHEMA,
                "self": {"vendor": VENDOR, "name": name, "format": "jsonschema", "version": version},
                "type": "object",
                "properties": properties,
                "required": ["name"],
                "additionalProperties": False,
            }
            (place / version).write_text(json.dumps(document), encoding="utf-8")


def _line(number: int, rows: int, names: list[str], chance: Random) -> str:
    values = {field.name: value for field in FIELDS if (value := _value(field.name, field.kind, field.width))}
    entities = list(_entities(number, number >= rows * 9 // 10, names, chance))
    values |= {
        "event_id": str(UUID(int=number)),
        "event_fingerprint": f"{number:032x}",
        "unstruct_event": _envelope("unstruct_event", entities[0]),
        "contexts": _envelope("contexts", entities[1:]),
    }
    return "\t".join(values.get(field.name, "") for field in FIELDS)


def _value(name: str, kind: Kind, width: int) -> str:
    if name.startswith(_EMPTY):
        return ""
    return f"{name} of an event"[: min(width, 24)] if kind == "s" else _FILLED.get(kind, "")


def _entities(number: int, is_late: bool, names: list[str], chance: Random) -> Iterator[dict[str, Any]]:
    for place in range(CONTEXTS + 1):
        name = names[(number + place) % len(names)]
        data = {
            **{text: f"{text} {chance.randrange(10_000)}" for text in TEXTS},
            "amount": chance.randrange(100_000) / 100,
            "count": chance.randrange(1_000),
            "isNew": number % 2 == 0,
            "at": f"2031-04-05T06:{number % 60:02}:00Z",
        }
        is_new = is_late and name == families(1)[0]
        version = "1-0-1" if is_new else "1-0-0"
        coupon = {"coupon": "SPRING"} if is_new else {}
        yield {"schema": f"iglu:{VENDOR}/{name}/jsonschema/{version}", "data": {**data, **coupon}}


def _envelope(name: str, data: object) -> str:
    return json.dumps({"schema": f"{_ENVELOPE}/{name}/jsonschema/1-0-0", "data": data}, separators=(",", ":"))
