"""Documents of Trellis itself, which say everything."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from trellis.dialects.documents import from_dict
from trellis.schema.documents.document import to_json, to_yaml
from trellis.schema.documents.schema_format import ASPECTS, Reading, SchemaFormat
from trellis.schema.model import DATA_TYPES, Schema


def _write_json(schema: Schema) -> str:
    return to_json(schema, pretty=True) + "\n"


def _read(document: Any, name: str) -> Reading:
    return Reading(from_dict(document, name))


def _is_document(document: Any) -> bool:
    return isinstance(document, dict) and isinstance(document.get("tables"), dict)


YAML: Final = SchemaFormat(
    "yaml",
    "Trellis",
    ".yaml",
    to_yaml,
    keeps=frozenset(ASPECTS),
    sizes=frozenset(DATA_TYPES),
    bookkeeping=True,
    read=_read,
    recognizes=_is_document,
)
JSON: Final = replace(YAML, name="json", suffix=".json", write=_write_json)
