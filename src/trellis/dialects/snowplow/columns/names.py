"""Names of tables and columns, and of wide columns by another rule (docs/conformance/snowplow.md, D-09)."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from trellis.dialects.snowplow.document.json_text import encodable
from trellis.dialects.snowplow.identity.keys import Family

_BETWEEN_WORDS: Final = re.compile(r"([A-Z]+)([A-Z][a-z])")
_BEFORE_UPPER: Final = re.compile(r"([a-z0-9])([A-Z])")
_AFTER_NON_UPPER: Final = re.compile(r"([^A-Z_])([A-Z])")


@lru_cache(maxsize=10_000)
def snake_case(key: str) -> str:
    """
    >>> [snake_case(key) for key in ("HTTPResponseCode", "userID2", "kebab-case", "first name")]
    ['http_response_code', 'user_id2', 'kebab_case', 'first name']
    """
    words = _BEFORE_UPPER.sub(r"\1_\2", _BETWEEN_WORDS.sub(r"\1_\2", key))
    return words.replace("-", "_").lower()


def column_name(path: tuple[str, ...]) -> str:
    return encodable(".".join(map(snake_case, path)))


def table_name(family: Family) -> str:
    """
    >>> table_name(Family("org.harbor-port", "VesselCall", "jsonschema", 2))
    'org_harbor_port_vessel_call_2'
    """
    return f"{_vendor(family.vendor).lower()}_{snake_case(family.name)}_{family.model}"


def wide_column_name(prefix: str, family: Family) -> str:
    """The column of a family in a wide row: `unstruct_event` of events, `contexts` of entities.

    >>> wide_column_name("contexts", Family("org.harbor", "HTTPCall", "jsonschema", 1))
    'contexts_org_harbor_httpcall_1'
    """
    name = _AFTER_NON_UPPER.sub(r"\1_\2", _vendor(family.name)).lower()
    vendor = _AFTER_NON_UPPER.sub(r"\1_\2", _vendor(family.vendor)).lower()
    return f"{prefix}_{vendor}_{name}_{family.model}"


def _vendor(name: str) -> str:
    return name.replace(".", "_").replace("-", "_")
