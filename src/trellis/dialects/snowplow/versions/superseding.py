"""Versions that others replace."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from trellis.dialects.snowplow.identity.keys import SchemaVer


def supersede(
    superseded_by: Mapping[SchemaVer, SchemaVer], version: SchemaVer, supersedes: Iterable[SchemaVer]
) -> dict[SchemaVer, SchemaVer]:
    """Which version replaces which, once `version` is published.

    It replaces what it names and what those replaced, but for what a greater version replaced already.

    >>> first, second, third = (SchemaVer(1, revision, 0) for revision in range(3))
    >>> [str(by) for by in supersede({first: second}, third, [second]).values()]
    ['1-2-0', '1-2-0']
    """
    result = dict(superseded_by)
    pending, visited = [*supersedes], {version}
    while pending:
        superseded = pending.pop()
        if superseded in visited:
            continue
        visited.add(superseded)
        result[superseded] = max(version, result.get(superseded, version))
        pending += [other for other, by in superseded_by.items() if by == superseded]
    return result
