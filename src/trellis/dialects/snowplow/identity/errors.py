"""Errors about schemas and data that describe themselves, with the codes of Iglu."""

from __future__ import annotations

from typing import Literal

from trellis.errors import SchemaError

Code = Literal[
    "INVALID_IGLUURI",
    "INVALID_SCHEMAVER",
    "INVALID_METASCHEMA",
    "INVALID_SCHEMA",
    "INVALID_DATA_PAYLOAD",
]


class IgluError(SchemaError):
    """What does not describe itself as Iglu asks for. `code` is Iglu's name of the fault."""

    def __init__(self, code: Code, message: str) -> None:
        super().__init__(f"{message} ({code})")
        self.code: Code = code
