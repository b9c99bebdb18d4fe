"""Errors of YTsaurus: a code, a message with the place, attributes, and the errors that led to it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import IntEnum
from typing import Any

from trellis.errors import TrellisError


class ErrorCode(IntEnum):
    GENERIC = 1
    SORT_ORDER_VIOLATION = 301
    INCOMPARABLE_TYPES = 303
    DUPLICATE_KEY = 306
    SCHEMA_VIOLATION = 307
    MISSING_KEY_COLUMN = 311
    INVALID_SCHEMA = 314
    INCOMPATIBLE_SCHEMAS = 316
    TOO_MANY_KEY_COLUMNS = 320
    INCOMPARABLE_VALUES = 324
    CONCURRENT_LOCK = 402
    PATH_NOT_FOUND = 500
    ALREADY_EXISTS = 501


_OF_ROWS = {
    ErrorCode.SORT_ORDER_VIOLATION,
    ErrorCode.INCOMPARABLE_TYPES,
    ErrorCode.DUPLICATE_KEY,
    ErrorCode.SCHEMA_VIOLATION,
    ErrorCode.INCOMPARABLE_VALUES,
}


class YtError(TrellisError):
    """What YTsaurus would answer. `code` is the one by which scripts tell errors apart."""

    def __init__(
        self,
        message: str,
        code: ErrorCode = ErrorCode.GENERIC,
        *,
        attributes: Mapping[str, Any] | None = None,
        inner_errors: Iterable[YtError] = (),
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.attributes = dict(attributes or {})
        self.inner_errors = tuple(inner_errors)
        self.exit_code = 1 if code in _OF_ROWS else 3 if code is ErrorCode.CONCURRENT_LOCK else 2

    def __str__(self) -> str:
        if not self.inner_errors:
            return self.message
        return f"{self.message}: {'; '.join(map(str, self.inner_errors))}"

    def to_dict(self) -> dict[str, Any]:
        """What `--json` prints: beside the usual, the error as YTsaurus's own clients read it."""
        return {**super().to_dict(), **self._answer()}

    def _answer(self) -> dict[str, Any]:
        return {
            "code": int(self.code),
            "message": self.message,
            "attributes": self.attributes,
            "inner_errors": [error._answer() for error in self.inner_errors],
        }
