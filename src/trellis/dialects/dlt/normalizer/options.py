"""Which normalizer of JSON a schema follows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from trellis.errors import UsageError
from trellis.schema.dict_form import plain
from trellis.schema.model import Schema
from trellis.schema.user_schema import with_normalizers

HOME: Final = "dlt.common.normalizers.json"
RELATIONAL: Final = "relational"
NO_COERCION: Final = "relational_no_coercion"
KNOWN: Final = (RELATIONAL, NO_COERCION)
OPTION: Final = "json_normalizer"


def normalizer_of(schema: Schema) -> str:
    """`relational`, also where nothing is said, `relational_no_coercion`, or the module of a user's own.

    >>> normalizer_of(Schema("shop", normalizers={"json": {"module": f"{HOME}.relational"}}))
    'relational'
    """
    module = str((schema.normalizers.get("json") or {}).get("module") or RELATIONAL)
    return module.removeprefix(f"{HOME}.")


def is_custom(schema: Schema) -> bool:
    """Whether a user's own normalizer makes the rows."""
    return normalizer_of(schema) not in KNOWN


def with_normalizer(schema: Schema, option: Any) -> Schema:
    """The schema with the normalizer of the option: its module, or a mapping with it and its config.

    >>> made = with_normalizer(Schema("shop"), {"module": "shop.linked", "config": {"key": "id"}})
    >>> made.normalizers["json"]
    {'module': 'shop.linked', 'config': {'key': 'id'}}
    """
    json = {"module": option} if isinstance(option, str) else option
    if not isinstance(json, Mapping) or not isinstance(json.get("module"), str):
        raise UsageError(
            f"{OPTION} is {option!r}; write the name of a module, or a mapping with module and config"
        )
    return with_normalizers(schema, {"json": {**plain(schema.normalizers.get("json") or {}), **json}})
