"""Tables of any schema as schemas of an Iglu registry, and back."""

from __future__ import annotations

import json
import re
from typing import Any, Final

from trellis.dialects.snowplow.document.schema_document import META_SCHEMA, SchemaDocument
from trellis.dialects.snowplow.identity.errors import IgluError
from trellis.dialects.snowplow.identity.keys import SchemaKey, SchemaVer
from trellis.errors import SchemaError
from trellis.exchange.fields import fields_of, only_table
from trellis.exchange.formats.json_schema import JSON_SCHEMA, object_node, read_json_schema
from trellis.schema.documents.schema_format import Reading, SchemaFormat
from trellis.schema.model import Schema


def _name(name: str) -> str:
    """A name as addresses of schemas have it."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", name)


def _write(schema: Schema) -> str:
    table = only_table(schema)
    body = object_node(fields_of(table), table.description, closed=True)
    key = SchemaKey(_name(schema.name), _name(table.name), "jsonschema", SchemaVer(1, 0, 0))
    return json.dumps(SchemaDocument(key, body).to_dict(), indent=2, ensure_ascii=False) + "\n"


def _read(document: Any, name: str) -> Reading:
    try:
        parsed = SchemaDocument.parse(document)
    except IgluError as error:
        raise SchemaError(f"{name}: {error}") from None
    return read_json_schema(parsed.body, parsed.key.name)


def _is_self_describing(document: Any) -> bool:
    return isinstance(document, dict) and str(document.get("$schema")) == META_SCHEMA


SNOWPLOW: Final = SchemaFormat(
    "snowplow",
    "Snowplow",
    ".iglu.json",
    _write,
    keeps=JSON_SCHEMA.keeps,
    sizes=JSON_SCHEMA.sizes,
    other_types=JSON_SCHEMA.other_types,
    one_table=True,
    rename_table=_name,
    read=_read,
    recognizes=_is_self_describing,
)
