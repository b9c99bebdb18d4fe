"""The content hash of a schema and the number that grows with it."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import replace
from hashlib import sha3_256
from typing import Any

from trellis.errors import SchemaError
from trellis.schema.dict_form import to_dict
from trellis.schema.model import Schema

NOT_HASHED = frozenset({"version", "version_hash", "imported_version_hash", "previous_hashes"})
HISTORY = 10
_KEPT = "_content_hash"


def document_hash(document: Mapping[str, Any]) -> str:
    """The hash of a document's in-memory form, as it stands.

    Columns count in their order, everything else does not.

    >>> document_hash({"version": 4, "engine_version": 11, "name": "demo", "tables": {},
    ...                "settings": {}, "normalizers": {"names": "snake_case"}})
    '31D4ujxtZ8uv8TQT5z0kzOWT9bCMQCx2KmKO4tyC+pQ='
    """
    content = {key: value for key, value in document.items() if key not in NOT_HASHED}
    try:
        text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        digest = sha3_256(text.encode())
    except (TypeError, ValueError) as error:
        raise SchemaError(f"the schema holds a value that no document can hold: {error}") from error
    tables = content.get("tables") or {}
    for name in sorted(tables):
        digest.update(name.encode())
        for column in tables[name].get("columns") or {}:
            digest.update(column.encode())
    return b64encode(digest.digest()).decode()


def content_hash(schema: Schema) -> str:
    """The hash of what the schema says. It is kept with the schema: of many columns it takes seconds."""
    kept = vars(schema)
    if _KEPT not in kept:
        kept[_KEPT] = document_hash(to_dict(schema))
    return str(kept[_KEPT])


def is_modified(schema: Schema) -> bool:
    """Whether it says something else than when it was last saved (or was never saved)."""
    return content_hash(schema) != schema.stored_hash


def is_new(schema: Schema) -> bool:
    """Whether it was never saved."""
    return schema.stored_hash is None


def bump(schema: Schema) -> Schema:
    """The schema as it is saved: with its hash, a new version if it changed, and the old hash kept.

    >>> first = bump(Schema("shop"))
    >>> second = bump(replace(first, description="Now with a description"))
    >>> first.stored_version, second.stored_version, second.previous_hashes == (first.stored_hash,)
    (1, 2, True)
    >>> bump(second) == second
    True
    """
    current_hash, stored_hash = content_hash(schema), schema.stored_hash
    version = schema.stored_version or 1
    history = schema.previous_hashes
    if stored_hash and stored_hash != current_hash:
        version += 1
        if stored_hash not in history:
            history = (stored_hash, *history)[:HISTORY]
    saved = replace(schema, stored_version=version, stored_hash=current_hash, previous_hashes=history)
    vars(saved)[_KEPT] = current_hash
    return saved


def renamed(schema: Schema, name: str) -> Schema:
    """A copy under another name, with a history of its own."""
    return replace(
        schema, name=name, stored_version=None, stored_hash=None, imported_hash=None, previous_hashes=()
    )
