"""Answers of the registry that are not what was asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trellis.errors import SchemaError


class Refusal(SchemaError):
    """A sentence with the status of HTTP that it has, and further fields of the answer."""

    def __init__(self, status: int, message: str, details: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.details = dict(details or {})

    def to_dict(self) -> dict[str, Any]:
        return {"message": str(self), **self.details}


def schema_not_found() -> Refusal:
    """Also for what the key may not read, so that nobody learns that it exists."""
    return Refusal(404, "The schema is not found")
