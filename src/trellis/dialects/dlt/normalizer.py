"""Which normalizer of JSON a schema follows (spec dlt.md, sections 7 and 10)."""

from __future__ import annotations

from typing import Final

from trellis.errors import SchemaError, nearest
from trellis.schema.model import Schema

HOME: Final = "dlt.common.normalizers.json"
RELATIONAL: Final = "relational"
NO_COERCION: Final = "relational_no_coercion"
KNOWN: Final = (RELATIONAL, NO_COERCION)


def normalizer_of(schema: Schema) -> str:
    """`relational`, also where nothing is said, or `relational_no_coercion`.

    Raises SchemaError for any other module: its tables would not be those of `relational`.

    >>> normalizer_of(Schema("shop", normalizers={"json": {"module": f"{HOME}.relational"}}))
    'relational'
    """
    said = str((schema.normalizers.get("json") or {}).get("module") or RELATIONAL)
    name = said.removeprefix(f"{HOME}.")
    if name not in KNOWN:
        raise SchemaError(
            f"schema {schema.name}, normalizers.json.module: {said!r} is not run here{nearest(name, KNOWN)}; "
            "reshape the records before the load instead, for example in a transformer"
        )
    return name
