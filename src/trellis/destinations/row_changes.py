"""What a load did to the rows of a table, by what its statements wrote and took away."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class RowChanges:
    """`deduplicated` rows of the load were left out for another row of their key or version."""

    inserted: int = 0
    updated: int = 0
    deleted: int = 0
    deduplicated: int = 0


@dataclass
class RowTally:
    """Rows of one table, counted while a load writes it.

    `replaced` of the inserted rows have the key of a removed one, `marked` staged rows only say that a row is
    deleted, `changed` rows took over values of staged ones, the validity of `ended` rows ended.
    """

    inserted: int = 0
    removed: int = 0
    replaced: int = 0
    changed: int = 0
    ended: int = 0
    marked: int = 0

    def changes(self, staged: int) -> RowChanges:
        """The outcome for a table that so many rows were staged for.

        >>> RowTally(inserted=3, removed=2, replaced=2).changes(staged=4)
        RowChanges(inserted=1, updated=2, deleted=0, deduplicated=1)
        """
        return RowChanges(
            self.inserted - self.replaced,
            self.replaced + self.changed + self.ended,
            self.removed - self.replaced,
            staged - self.inserted - self.changed - self.marked,
        )
