"""How the rows of a load go into the tables that are there."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

Mode = Literal["append", "replace", "merge"]
Strategy = Literal["delete-insert", "upsert", "insert-only", "scd2"]


@dataclass(frozen=True)
class History:
    """How a root table keeps all versions of its rows (scd2).

    Rows are versions of one another's past: equal values of the column `version` are the same one. A row is
    active while `valid_to` is `open` (None: NULL). `at` ends what a load does not bring any more, and begins
    what it brings.
    """

    version: str
    valid_from: str
    valid_to: str
    at: datetime
    open: datetime | None = None


@dataclass(frozen=True)
class TableTreeWrite:
    """How the rows of a root table and its descendants go in. `history` goes with the strategy scd2."""

    root: str
    mode: Mode
    strategy: Strategy = "delete-insert"
    history: History | None = None


OnMatch = Literal["replace", "newer", "keep", "first", "coalesce_latest", "coalesce_matched_only", "append"]


@dataclass(frozen=True)
class KeyedWrite:
    """How the rows of a table without descendants go in, where rows of equal keys are one.

    Of the rows of the load with equal keys the one with the greatest `latest` stays (of equal ones, and of
    those with NULL before them, the last in the input). A row that has NULL in a key column equals no other.
    Then, where the table holds the key already: `replace` it, replace it by what is `newer` or as new by
    `latest`, `keep` it, keep it and of the rows of the load the `first` in the input, or `coalesce_latest`:
    of each column the non-NULL value with the greatest `latest` over the row in the table and all rows of the
    load stays, a row of the load winning a tie. `coalesce_matched_only` is the same without the keys that the
    table does not hold. `append` does not look at the table. Without keys all rows are appended.
    `needs_keys`: a row that has NULL in a key column is left out.
    """

    table: str
    keys: tuple[str, ...] = ()
    latest: str | None = None
    on_match: OnMatch = "append"
    needs_keys: bool = False


@dataclass(frozen=True)
class IdentityRules:
    """Rules that say which two pairs of type and value belong together, and where the outcome is kept.

    `rules` is a table of the load with the columns `pairs` ((type, value), (type, value)); the second pair
    may be NULL. `mappings` gets one row per pair: `kind`, `value`, `identity`, `updated`. The distinct rules
    of a load are taken in their order: if no pair of a rule is known, both get a new id; if one is, the other
    gets its id; if both are, everything with the second's id gets the first's.
    """

    rules: str
    mappings: str
    pairs: tuple[tuple[str, str], tuple[str, str]]
    kind: str
    value: str
    identity: str
    updated: str


Load = TableTreeWrite | KeyedWrite
