"""How one load of records into one root table is to be done."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from trellis.evolution.dialect import Mode, Request, Strategy
from trellis.schema.model import Column, Schema


@dataclass(frozen=True)
class Options:
    """What is None or empty follows from the schema or the destination."""

    table: str | None = None
    mode: Mode | None = None
    strategy: Strategy | None = None
    keys: tuple[str, ...] = ()
    merge_keys: tuple[str, ...] = ()
    columns: tuple[Column, ...] = ()
    contract: str | Mapping[str, str] | None = None
    schema: Schema | None = None
    max_nesting: int | None = None
    load_id: str | None = None

    def request(self, table: str) -> Request:
        """What is asked of the root table."""
        return Request(
            table=table,
            mode=self.mode,
            strategy=self.strategy,
            keys=self.keys,
            merge_keys=self.merge_keys,
            columns=self.columns,
            contract=self.contract,
            max_nesting=self.max_nesting,
        )
