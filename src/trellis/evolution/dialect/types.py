"""Which type a first value gives its column, and where a value goes that does not fit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

from trellis.evolution.scalars.kinds import Kind
from trellis.evolution.scalars.values import WEI_SIZE
from trellis.schema.model import Column, DataType, Schema, Table
from trellis.schema.naming import Naming


class Rejection(NamedTuple):
    """Why a value that does not fit its column goes to no other column either."""

    reason: str


class LossyCast(NamedTuple):
    """A value goes into its column changed; the original is kept in the discards."""

    reason: str
    into: Callable[[Any], Any]


class TypeRules(Protocol):
    def classifier(
        self, schema: Schema, fresh: bool, wei: tuple[int, int] = WEI_SIZE
    ) -> Callable[[Any], Kind]:
        """A function from a value to its kind; `fresh`: of values that may give a column its type.

        `wei` are the precision and scale of a column of wei that has neither of its own.
        """
        ...

    def first_type(self, schema: Schema, column: str, kind: Kind) -> DataType:
        """The type that a first value of this kind gives a new column."""
        ...

    def coerces(self, schema: Schema) -> bool:
        """Whether values are converted to the type of their column; else each type has its own column."""
        ...

    def coercer(self, schema: Schema, column: Column) -> Callable[[Any], Any]:
        """A function from a value to one of the column, or MISFIT."""
        ...

    def direct_classes(self, schema: Schema, column: Column) -> tuple[type, ...]:
        """The classes whose values go into the column unchanged, the most frequent first.

        Only integers of at most 15 digits go that way.
        """
        ...

    def new_column(self, schema: Schema, name: str, data_type: DataType, kind: Kind | None = None) -> Column:
        """A new inferred column with the hints that the rules give it; `kind` is that of its first value."""
        ...

    def on_type_mismatch(
        self, schema: Schema, naming: Naming, table: Table, column: str, kind: Kind
    ) -> Column | LossyCast | Rejection:
        """Where values of this kind go that do not fit `column`.

        Another column; the column itself as it has to become to take them; into it, changed; or nowhere.
        """
        ...
