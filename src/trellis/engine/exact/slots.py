"""What the exact path knows of keys and tables, kept from block to block."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from trellis.engine.plan import Plan, Row
from trellis.evolution.dialect.types import LossyCast, Rejection
from trellis.evolution.evolve import Verdict
from trellis.evolution.kinds import Kind
from trellis.evolution.losses import Loss
from trellis.schema.model import Column

Coerce = Callable[[Any], Any]

SEQUENCES: Final = (list, tuple)
"""The classes of values that are rows of a table of their own, unless they stay whole."""


class Slot:
    """What is known of one raw key at one place: where its values go, and what they have been.

    `classes` counts the values that did not go straight into their column, by class; `objects` and `lists`
    those that are nested and do not stay whole.
    """

    __slots__ = (
        "budget", "child", "classes", "coerce", "column", "direct", "directs", "excluded", "fragments",
        "inner", "lists", "loss", "name", "objects", "path", "required", "reserved", "saw_null",
        "shared", "variants", "whole",
    )  # fmt: skip

    def __init__(self, name: str, path: str, fragments: tuple[str, ...], budget: int) -> None:
        self.name = name
        self.path = path
        self.fragments = fragments
        self.budget = budget
        self.column: Column | None = None
        self.direct: type | None = None
        self.directs: tuple[type, ...] = ()
        self.coerce: Coerce | None = None
        self.loss: Loss | None = None
        self.required = False
        self.reserved = False
        self.excluded = False
        self.whole = False
        self.shared = False
        self.objects = 0
        self.lists = 0
        self.saw_null = False
        self.inner: dict[str, Slot] = {}
        self.child: TableWalk | None = None
        self.classes: dict[type, int] = {}
        self.variants: dict[Kind, tuple[str, Coerce] | LossyCast | Rejection | Verdict | None] = {}


Visit = tuple[Mapping[str, Any], dict[str, Slot], Slot | None]
"""An object of a row, the slots of its keys, and the slot of the key that it stands under."""


def place_of(fragments: tuple[str, ...], parent: TableWalk | None) -> str:
    """What tells lists apart that feed one table: through which keys, and through which tables."""
    if parent is None:
        return fragments[0]
    return "\0".join((parent.place, *fragments[len(parent.fragments) :])) + "\0"


class TableWalk:
    """The rows of one table in the block at hand, and the slots of its keys, kept between blocks.

    `origins` are the numbers of the records that the rows come from, `walked` counts the rows of all blocks.
    """

    def __init__(
        self, plan: Plan, name: str, fragments: tuple[str, ...], parent: TableWalk | None, budget: int
    ) -> None:
        self.name = name
        self.fragments = fragments
        self.parent = parent
        self.place = place_of(fragments, parent)
        self.budget = budget
        self.table = plan.schema.tables.get(name)
        self.keys = plan.dialect.system_columns.row_keys(plan.schema, name, parent.name if parent else None)
        self.kept = frozenset(self.keys.columns) - {self.keys.row_id}
        self.known = self.table is not None and self.table.seen_data
        if self.table is not None and not {*self.keys.columns} <= self.table.columns.keys():
            self.known = False  # somebody dropped a column of ours, or rows came without
        self.verdict = plan.refusals.tables.get(name)
        self.coerces = plan.dialect.types.coerces(plan.schema)
        self.gives = plan.dialect.system_columns.inherited_values(plan.schema, name)
        self.hidden = self.excludes(plan, (self.keys.row_id,))
        self.slots: dict[str, Slot] = {}
        self.inherited: dict[str, Slot] = {}
        self.wrapped: dict[str, Slot] = {}
        self.by_name: dict[str, Slot] = {}
        self.required = tuple(
            c.name
            for c in (self.table.complete_columns if self.table else ())
            if c.required and c.name not in self.keys.columns
        )
        self.shared = False
        self.walked = 0
        self.shapes: dict[str, int] = {}
        self.pairs: set[tuple[str, type]] = set()
        self.rows: list[Row] = []
        self.origins: list[int] = []
        self.parents: list[int] = []
        self.indexes: list[int] = []
        self.hashed: list[Any] = []

    @property
    def linked(self) -> bool:
        """Whether its rows are rows of a nested table; else lists at most feed it."""
        return self.parent is not None and self.table is not None and self.table.nested

    def clear(self) -> None:
        self.rows, self.origins, self.parents, self.indexes, self.hashed = [], [], [], [], []

    def take_back(self, origin: int) -> None:
        """Remove the rows of a record, which are the last ones."""
        while self.origins and self.origins[-1] == origin:
            for values in (self.rows, self.origins, self.parents, self.indexes, self.hashed):
                if values:
                    values.pop()

    def excludes(self, plan: Plan, fragments: tuple[str, ...]) -> bool:
        """Whether a filter of this table or of one above it leaves out what stands at this place."""
        full, above = (*self.fragments, *fragments), self.parent
        if self._filters(plan, full):
            return True
        while above is not None:
            if above._filters(plan, full):
                return True
            above = above.parent
        return False

    def _filters(self, plan: Plan, full: tuple[str, ...]) -> bool:
        path = plan.naming.separator.join(full[len(self.fragments) :])
        return plan.dialect.nesting.excludes(plan.schema, self.name, path)
