"""Tables that Spark's executors read where they are, without passing through this process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable


@dataclass(frozen=True)
class SparkRelation:
    """What `spark.read.format(format).options(...).load(locations)` reads; without a format a table by name.

    A session is given the `settings` that it lacks before.
    """

    format: str
    locations: tuple[str, ...]
    options: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)


@runtime_checkable
class ReadableBySpark(Protocol):
    """A destination with such tables."""

    def spark_relation(self, dataset: str, table: str) -> SparkRelation | None:
        """The table as it is now; None where it has types that Spark cannot read. Raises UsageError."""
        ...
