"""Errors of YTsaurus: a code, a message with the place, attributes, and the errors that led to it."""

from __future__ import annotations

import warnings
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
    USER_JOB_FAILED = 1205
    NO_SUCH_OPERATION = 1915
    NO_SUCH_TRANSACTION = 11000


_OF_ROWS = {
    ErrorCode.SORT_ORDER_VIOLATION,
    ErrorCode.INCOMPARABLE_TYPES,
    ErrorCode.DUPLICATE_KEY,
    ErrorCode.SCHEMA_VIOLATION,
    ErrorCode.INCOMPARABLE_VALUES,
}
_OF_CONFLICTS = {ErrorCode.CONCURRENT_LOCK, ErrorCode.NO_SUCH_TRANSACTION}


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
        self.retryable = code in _OF_CONFLICTS
        self.exit_code = 1 if code in _OF_ROWS else 3 if self.retryable else 2

    def contains_code(self, code: int) -> bool:
        """Whether this error or one that led to it has a code."""
        return self.code == code or any(error.contains_code(code) for error in self.inner_errors)

    def in_column(self, name: str) -> YtError:
        """The error with the column whose value it is about."""
        attributes = {"column": name, **self.attributes}
        shown = name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
        return YtError(f'column "{shown}": {self.message}', self.code, attributes=attributes)

    def at(self, **place: int) -> YtError:
        """The error with its place in the input: `row=`, `line=` or `document=` and the number."""
        ((unit, number),) = place.items()
        separator = "," if "column" in self.attributes else ":"
        attributes = {**place, **self.attributes}
        return YtError(f"{unit} {number}{separator} {self.message}", self.code, attributes=attributes)

    def in_format(self, name: str) -> YtError:
        """The error of rows that cannot be read, with the format that they were read as."""
        return YtError(self.message, self.code, attributes={"format": name, **self.attributes})

    def at_path(self, path: str) -> YtError:
        """The error with the path that it is about."""
        if self.message.startswith(f"{path}:"):
            return self
        attributes = {"path": path, **self.attributes}
        return YtError(
            f"{path}: {self.message}", self.code, attributes=attributes, inner_errors=self.inner_errors
        )

    def in_table(self, path: str) -> YtError:
        """The error, if it is about rows, with the table that they were for."""
        if self.code not in _OF_ROWS and not self.attributes.keys() & {"row", "format"}:
            return self
        return self.at_path(path)

    def is_resolve_error(self) -> bool:
        return self.contains_code(ErrorCode.PATH_NOT_FOUND)

    def is_already_exists(self) -> bool:
        return self.contains_code(ErrorCode.ALREADY_EXISTS)

    def is_concurrent_transaction_lock_conflict(self) -> bool:
        return self.contains_code(ErrorCode.CONCURRENT_LOCK)

    def is_no_such_transaction(self) -> bool:
        return self.contains_code(ErrorCode.NO_SUCH_TRANSACTION)

    def __str__(self) -> str:
        if not self.inner_errors:
            return self.message
        return f"{self.message}: {'; '.join(map(str, self.inner_errors))}"

    def to_dict(self) -> dict[str, Any]:
        """What `--json` prints where the command is none of YTsaurus, such as `trellis load`."""
        return {**super().to_dict(), **self.to_document()}

    def to_document(self) -> dict[str, Any]:
        """The error as YTsaurus's own clients read it."""
        return {
            "code": int(self.code),
            "message": self.message,
            "attributes": self.attributes,
            "inner_errors": [error.to_document() for error in self.inner_errors],
        }


def warn(message: str) -> None:
    """Tell users of something. Without a registry of what was told, Python tells it each time."""
    warnings.warn_explicit(message, UserWarning, "trellis", 1)


def error_document(error: Exception, document: Mapping[str, Any]) -> dict[str, Any]:
    """Any error as YTsaurus's own clients read it. `document` is what Trellis prints of those of its own."""
    if isinstance(error, YtError):
        return error.to_document()
    attributes = {name: value for name, value in document.items() if name != "message"}
    return YtError(document["message"], attributes=attributes).to_document()
