"""How staged rows go into the destination."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

from trellis.evolution.table_writes import IdentityRules, Load, Mode
from trellis.schema.model import DataType, Schema


class WritePolicy(Protocol):
    def table_writes(
        self,
        schema: Schema,
        roots: Sequence[str],
        touched: Collection[str],
        mode: Mode | None,
        now: datetime,
    ) -> tuple[Load, ...]:
        """How the rows of a load go in. `roots`: the tables the user named, `touched`: those with rows."""
        ...

    def identity_rules(self, schema: Schema) -> IdentityRules | None:
        """Rules by which the load joins identities, if the dataset has such a table."""
        ...

    def backfill(self, schema: Schema, now: datetime) -> Mapping[str, Mapping[str, Any]]:
        """What existing rows get in a column that a load adds, by table and column; NULL in others."""
        ...

    def warnings(self, schema: Schema, roots: Sequence[str]) -> tuple[str, ...]:
        """Which hints of these tables have no effect, or another than one may expect."""
        ...

    def native_types(self, schema: Schema, family: str) -> Mapping[DataType, str]:
        """Its own names of types in a warehouse of this family."""
        ...

    def foreign_ddl(
        self, before: Schema, after: Schema, dataset: str, family: str, settings: Mapping[str, Any]
    ) -> tuple[str, Sequence[str]] | None:
        """Another warehouse whose rules are followed, and the statements that it would get.

        None where the destination's own statements say it all. `settings` are those of
        `SchemaStore.configure`. Raises SchemaError where the warehouse cannot have it.
        """
        ...
