"""Documents that are no schemas of Trellis, told in one sentence."""

from __future__ import annotations

import json
from typing import Final

from trellis.dialects.pinot.document.recognition import is_schema, is_table_config

KINDS: Final = (
    (is_schema, "a schema of Pinot, not of Trellis: `trellis pinot validate {file}` checks it"),
    (
        is_table_config,
        "a table config of Pinot, no schema: `trellis pinot validate SCHEMA --table-config {file}` checks it",
    ),
)


def foreign(text: str, file: str) -> str | None:
    """What the document of a dialect is, and what to do with it; None where it is none.

    >>> foreign('{"schemaName": "rides"}', "r.json")
    'a schema of Pinot, not of Trellis: `trellis pinot validate r.json` checks it'
    """
    try:
        document = json.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        return None
    return next((said.format(file=file) for known, said in KINDS if known(document)), None)
