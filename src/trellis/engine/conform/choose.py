"""What conforms the records of a task: one of four ways, by what the dialect says of its records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Protocol

from trellis.engine.conform.authored import AuthoredConformer
from trellis.engine.conform.learned import Conformed, Conformer
from trellis.engine.conform.reshaped import ReshapeConformer
from trellis.engine.conform.routed import SpreadConformer
from trellis.engine.exact.routed_rows import Spreader
from trellis.engine.input.blocks import Block, Split
from trellis.engine.input.parquet import RowBatch
from trellis.engine.plan import Plan
from trellis.engine.staging.batches import TableBatch
from trellis.evolution.dialect.transforms import Author, Emit, Route


class AnyConformer(Protocol):
    """Makes batches of what a task reads. `times` is how many times as large as usual its blocks are."""

    times: int
    learns: bool
    """Whether records may show something that the schema has no place for."""
    examples: list[bytes]
    """Lines that showed such."""

    @property
    def oddities(self) -> Counter[str]:
        """What is no fault, and how often."""
        ...

    def block(self, split: Split, block: Block, only: Sequence[int] | None = None) -> Conformed:
        """Conform the lines of a block, or `only` those of these numbers. Raises ContractError."""
        ...

    def batch(self, split: Split, rows: RowBatch, only: Sequence[int] | None = None) -> Conformed:
        """Conform rows that have types already."""
        ...

    def items(
        self,
        items: Sequence[Any],
        file: int,
        number: int,
        first: int,
        name: str,
        only: Sequence[int] | None = None,
    ) -> Conformed:
        """Conform records that are Python values already. `first` counts the records before them."""
        ...

    def rest(self) -> list[TableBatch]:
        """Rows of earlier blocks that were held back until there are more of them."""
        ...

    def untyped(self) -> set[tuple[str, str]]:
        """Tables and columns of keys that were null wherever they stood."""
        ...

    def shared(self) -> dict[str, set[str]]:
        """Names of tables and columns, with the several names that the records have for them."""
        ...


def conformer_of(plan: Plan, fast: bool = True) -> AnyConformer:
    """The conformer of a task. `fast`: blocks without anything special may go by columns."""
    match plan.transform():
        case Author(program):
            return AuthoredConformer(plan, program, fast)
        case Route(router):
            return SpreadConformer(plan, Spreader(plan, router), fast)
        case Emit(emitter) if plan.whole is None:
            return ReshapeConformer(plan, emitter)
        case _:
            return Conformer(plan, fast)
