"""The order of versions that came without the times of their creation.

Within a revision additions ascend, and so do the first versions of revisions; nothing else is implied by the
numbers. The order of columns follows, so a wrong order would put values into wrong columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from trellis.dialects.snowplow.document.schema_document import SchemaDocument
from trellis.dialects.snowplow.identity.keys import SchemaVer
from trellis.errors import SchemaError, UsageError


class AmbiguousOrder(SchemaError):
    """The numbers of the versions do not say in which order they were made."""


class GapInFamily(SchemaError):
    """A version is there, and one before it is not."""


def order_by_number(family: str, versions: Iterable[SchemaVer], *, assume: bool = False) -> list[SchemaVer]:
    """The only order that the versions of a family can have been made in; with `assume` that of the numbers.

    Raises AmbiguousOrder where there are several, GapInFamily where versions are missing.
    """
    ordered = sorted(versions)
    if missing := missing_versions(ordered):
        raise GapInFamily(
            f"{family}: version {', '.join(map(str, missing))} is missing, and later versions are there; "
            "add it, so that its columns are known"
        )
    if not (assume or is_unambiguous(ordered)):
        raise AmbiguousOrder(
            f"{family}: the order of {', '.join(map(str, ordered))} cannot be told from their numbers, and "
            f"the order of columns depends on it; write their addresses in the order of their creation into "
            f"the list {family}, or sort them by number with --assume-schemaver-order"
        )
    return ordered


def is_unambiguous(versions: Sequence[SchemaVer]) -> bool:
    return len({version.revision for version in versions}) <= 1 or not any(
        version.addition for version in versions
    )


def missing_versions(versions: Iterable[SchemaVer]) -> list[SchemaVer]:
    """The versions of one model that must have come before one of these.

    >>> [str(version) for version in missing_versions([SchemaVer(1, 0, 0), SchemaVer(1, 1, 2)])]
    ['1-1-0', '1-1-1']
    """
    versions = set(versions)
    needed = {
        SchemaVer(version.model, revision, addition)
        for version in versions
        for revision in range(version.revision + 1)
        for addition in range((version.addition if revision == version.revision else 0) + 1)
    }
    return sorted(needed - versions)


def up_to(version: SchemaVer | None, documents: Sequence[SchemaDocument]) -> Sequence[SchemaDocument]:
    """The schemas of a family until one was created, None for all. Raises UsageError."""
    return documents if version is None else documents[: position_of(version, documents) + 1]


def position_of(version: SchemaVer, documents: Sequence[SchemaDocument]) -> int:
    """Raises UsageError."""
    versions = [document.key.version for document in documents]
    if version in versions:
        return versions.index(version)
    raise UsageError(f"there is no version {version}: it may be one of {', '.join(map(str, versions))}")
