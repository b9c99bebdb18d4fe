"""Where a schema of this dialect keeps the user's options, and what it says of columns."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import orjson

from trellis.dialects.rudderstack.options import Options
from trellis.evolution.dialect.own_metadata import own_tables
from trellis.schema.model import Schema
from trellis.schema.system import OURS

PREFIX: Final = OURS
METADATA: Final = own_tables()
IDENTIFIES: Final = "identifies"
MAPPINGS: Final = "rudder_identity_mappings"

OPTIONS: Final = "x-rudderstack"
"""The key of the schema document that holds the options."""
LONG: Final = "x-long"
"""The hint of a column of type text, where the warehouse tells it from string."""
NATIVE: Final = "x-native"
"""The hint of a column whose type in the warehouse is none of ours: it is left alone."""
RANGE: Final = "x-range"
"""The hint of a column that does not hold every int or float: the least and the greatest number."""


def options_of(schema: Schema) -> Options:
    """The options that the schema carries."""
    return _options(orjson.dumps(dict(schema.extra.get(OPTIONS) or {}), option=orjson.OPT_SORT_KEYS))


@lru_cache(maxsize=64)
def _options(document: bytes) -> Options:
    return Options.of_document(orjson.loads(document))
