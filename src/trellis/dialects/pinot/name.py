"""Names are those of the schema, letter by letter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from trellis.schema.model import Schema
from trellis.schema.naming import Convention, Naming

_AS_IT_IS: Final = Convention("as-it-is", str, case_sensitive=True, separator="\x1f")


class PinotName:
    def naming(self, schema: Schema, max_length: int | None) -> Naming:
        return Naming(_AS_IT_IS, use_break_path_on_normalize=False)

    def dataset(self, settings: Mapping[str, Any], default: str) -> str:
        return default
