"""Everything Trellis raises on purpose: one sentence that says where, what was expected, what to do."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any


class TrellisError(Exception):
    """Base of all deliberate errors. `exit_code` is what the command line ends with.

    `error_code` names the kind of error and never changes; `retryable` says whether the same load may succeed
    later as it is. `table` is the one table that the error is of, where the others could be loaded without
    it.
    """

    exit_code = 2
    error_code = "error"
    retryable = False
    table = ""

    def __init__(self, *message: object, table: str = "", retryable: bool | None = None) -> None:
        super().__init__(*message)
        self.table = table
        if retryable is not None:
            self.retryable = retryable

    def to_dict(self) -> dict[str, Any]:
        """What `--json` prints of it."""
        return {
            "type": type(self).__name__,
            "code": self.error_code,
            "message": str(self),
            "retryable": self.retryable,
            "exit_code": self.exit_code,
        }


class UsageError(TrellisError):
    """A bad argument, option, source or configuration."""

    error_code = "usage"


class SchemaError(TrellisError):
    """A schema document or a schema change that is not valid."""

    error_code = "schema"


class ContractError(TrellisError):
    """The data broke a contract in mode `freeze`, or too much of it is no record."""

    exit_code = 1
    error_code = "contract"


class ConflictError(TrellisError):
    """Other writers committed first. Nothing was loaded."""

    exit_code = 3
    error_code = "conflict"
    retryable = True


class DestinationError(TrellisError):
    """The destination refused, is locked, is full or cannot be reached."""

    exit_code = 3
    error_code = "destination"
    retryable = True


class StorageError(TrellisError):
    """A file system cannot be reached, or refuses to read or write."""

    exit_code = 3
    error_code = "storage"
    retryable = True


class SourceError(TrellisError):
    """A service that a source reads from cannot be reached, or refuses."""

    exit_code = 3
    error_code = "source"
    retryable = True


class SparkError(TrellisError):
    """Spark could not be started or a Spark job failed."""

    exit_code = 3
    error_code = "spark"
    retryable = True


def nearest(word: str, choices: Iterable[str]) -> str:
    """The end of an error sentence about an unknown word.

    >>> nearest("colums", ["columns", "parent"])
    ": did you mean 'columns'?"
    >>> nearest("zzz", ["columns", "parent"])
    ': it may be one of columns, parent'
    """
    known = list(choices)
    if not known:
        return ""
    close = get_close_matches(word, known, n=1)
    return f": did you mean {close[0]!r}?" if close else f": it may be one of {', '.join(known)}"
