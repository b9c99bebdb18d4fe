"""The conformer of a task: one of four, by how the dialect turns records into rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Protocol

from trellis.engine.conform.authored import AuthoredConformer
from trellis.engine.conform.learned import LearnedConformer
from trellis.engine.conform.outcome import Conformed
from trellis.engine.conform.reshaped import EmittedConformer
from trellis.engine.conform.routed import RoutedConformer
from trellis.engine.exact.routed_rows import RoutedFlattener
from trellis.engine.input.blocks import Block, Split
from trellis.engine.input.parquet import RowBatch
from trellis.engine.plan import Peek, Plan
from trellis.engine.staging.batches import TableBatch
from trellis.evolution.dialect.transforms import Author, Emit, Route


class Conformer(Protocol):
    """Turns what a task reads into batches. Its blocks are `times` as large as usual."""

    times: int
    learns: bool
    """Whether records may show something that the schema has no place for."""
    examples: list[bytes]
    """Lines that held such."""
    telling: list[bytes]
    """Lines that made a read of many fail."""

    @property
    def warnings(self) -> Counter[str]:
        """Things worth a note that are no error, and how often they occurred."""
        ...

    def peek(self, split: Split, block: Block) -> Peek:
        """What the first lines show, and lines that prepare tasks for the others."""
        ...

    def block(self, split: Split, block: Block, only: Sequence[int] | None = None) -> Conformed:
        """Conform the lines of a block, or `only` those of these numbers. Raises ContractError."""
        ...

    def batch(self, split: Split, rows: RowBatch, only: Sequence[int] | None = None) -> Conformed:
        """Conform rows that have types already."""
        ...

    def items(
        self, split: Split, first: int, items: Sequence[Any], only: Sequence[int] | None = None
    ) -> Conformed:
        """Conform records that are Python values already. `first` counts the records before them."""
        ...

    def flush_rows(self) -> list[TableBatch]:
        """The rows of earlier blocks that were held back to fill larger batches."""
        ...

    def untyped_columns(self) -> set[tuple[str, str]]:
        """Tables and columns of keys that were null in every record."""
        ...

    def shared_names(self) -> dict[str, set[str]]:
        """Names of tables and columns that several names of the records map to, with those names."""
        ...


def conformer_of(plan: Plan, columnar: bool = True) -> Conformer:
    """The conformer of a task. `columnar`: blocks may take the columnar path."""
    match plan.transform():
        case Author(program):
            return AuthoredConformer(plan, program, columnar)
        case Route() as route:
            return RoutedConformer(plan, RoutedFlattener(plan, route), columnar)
        case Emit(emitter) if plan.preserved_keys is None:
            return EmittedConformer(plan, emitter)
        case _:
            return LearnedConformer(plan, columnar)
