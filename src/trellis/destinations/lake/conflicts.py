"""What Spark says where two writers of a lake meet, in the words of the formats of its tables."""

from __future__ import annotations

import re
from typing import Final

from trellis.engine.spark.failures import failure_text

_CONCURRENT: Final = re.compile(
    r"DELTA_CONCURRENT|Concurrent(Append|DeleteRead|DeleteDelete|Write|Transaction)Exception"
    r"|(Metadata|Protocol)ChangedException"
    r"|org\.apache\.iceberg\.exceptions\.(ValidationException|CommitFailedException)"
)
_EXISTING: Final = re.compile(
    r"(TABLE_OR_VIEW|TABLE|FIELD|FIELDS|COLUMN)_ALREADY_EXISTS\b|\bAlreadyExistsException"
)


def is_concurrent_commit(failure: Exception) -> bool:
    """Whether another commit to a table came between, so that the statement can be tried again."""
    return _CONCURRENT.search(failure_text(failure)) is not None


def is_schema_conflict(failure: BaseException | None) -> bool:
    """Whether another writer has just created or changed the table that a statement creates or changes."""
    text = failure_text(failure)
    return any(pattern.search(text) for pattern in (_EXISTING, _CONCURRENT))
