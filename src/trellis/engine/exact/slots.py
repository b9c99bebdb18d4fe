"""What the exact path knows of the keys and tables of the input; a task keeps it from block to block."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from trellis.engine.plan import Plan, Row
from trellis.evolution.dialect.types import LossyCast, Rejection
from trellis.evolution.evolve import Verdict
from trellis.evolution.scalars.kinds import Kind
from trellis.evolution.scalars.losses import Loss
from trellis.schema.model import Column

Coerce = Callable[[Any], Any]
PathFilter = Callable[[str], bool]

SEQUENCES: Final = (list, tuple)
"""Classes of values whose elements become rows of a child table, unless the column keeps JSON."""


class FieldBinding:
    """One raw key at one path: the column that its values go into, and which values were met so far.

    A value of `direct_class` is stored as it is. `classes` counts all others by class; `objects` and `lists`
    count the nested values that become columns or rows of a child table.
    """

    __slots__ = (
        "budget", "child", "classes", "coerce", "column", "direct_class", "direct_classes", "excluded",
        "fragments", "inner", "keeps_json", "lists", "loss", "name", "objects", "path", "required",
        "reserved", "saw_null", "shares_name", "variants",
    )  # fmt: skip

    def __init__(self, name: str, path: str, fragments: tuple[str, ...], budget: int) -> None:
        self.name = name
        self.path = path
        self.fragments = fragments
        self.budget = budget
        self.column: Column | None = None
        self.direct_class: type | None = None
        self.direct_classes: tuple[type, ...] = ()
        self.coerce: Coerce | None = None
        self.loss: Loss | None = None
        self.required = False
        self.reserved = False
        self.excluded = False
        self.keeps_json = False
        self.shares_name = False
        self.objects = 0
        self.lists = 0
        self.saw_null = False
        self.inner: dict[str, FieldBinding] = {}
        self.child: TableBuilder | None = None
        self.classes: dict[type, int] = {}
        self.variants: dict[Kind, tuple[str, Coerce] | LossyCast | Rejection | Verdict | None] = {}


Visit = tuple[Mapping[str, Any], dict[str, FieldBinding], FieldBinding | None]
"""An object of a record, the bindings of its keys, and the binding of the key that holds it."""


def table_place(fragments: tuple[str, ...], parent: TableBuilder | None) -> str:
    """An id of the keys and tables that lead to a list, since several lists may feed one table."""
    if parent is None:
        return fragments[0]
    return "\0".join((parent.place, *fragments[len(parent.fragments) :])) + "\0"


class TableBuilder:
    """The rows of one table in the current block, and the bindings of its keys, which outlive the block.

    `origins` are the numbers of the records that the rows come from, `row_count` counts those of all blocks.
    """

    def __init__(
        self, plan: Plan, name: str, fragments: tuple[str, ...], parent: TableBuilder | None, budget: int
    ) -> None:
        self.name = name
        self.fragments = fragments
        self.parent = parent
        self.place = table_place(fragments, parent)
        self.budget = budget
        self.table = plan.schema.tables.get(name)
        self.keys = plan.dialect.system_columns.row_keys(plan.schema, name, parent.name if parent else None)
        self.reserved_names = frozenset(self.keys.columns) - {self.keys.row_id}
        self.in_schema = self.table is not None and self.table.seen_data
        if self.table is not None and not {*self.keys.columns} <= self.table.columns.keys():
            self.in_schema = False  # a system column was dropped, or rows came in without it
        self.verdict = plan.refusals.tables.get(name)
        self.coerces = plan.dialect.types.coerces(plan.schema)
        self.inherited_columns = plan.dialect.system_columns.inherited_values(plan.schema, name)
        self.filters = self._filters(plan)
        self.excludes_row_id = self.excludes(plan, (self.keys.row_id,))
        self.bindings: dict[str, FieldBinding] = {}
        self.inherited: dict[str, FieldBinding] = {}
        self.wrapped: dict[str, FieldBinding] = {}
        self.by_name: dict[str, FieldBinding] = {}
        self.required = tuple(
            c.name
            for c in (self.table.complete_columns if self.table else ())
            if c.required and c.name not in self.keys.columns
        )
        self.has_shared_names = False
        self.row_count = 0
        self.element_shapes: dict[str, int] = {}
        self.direct_fields: set[tuple[str, type]] = set()
        self.rows: list[Row] = []
        self.origins: list[int] = []
        self.parents: list[int] = []
        self.indexes: list[int] = []
        self.id_sources: list[Any] = []

    @property
    def is_nested_table(self) -> bool:
        """Whether it is a nested table; a root table may be fed by lists too."""
        return self.parent is not None and self.table is not None and self.table.nested

    def clear(self) -> None:
        self.rows, self.origins, self.parents, self.indexes, self.id_sources = [], [], [], [], []

    def remove_record(self, origin: int) -> None:
        """Remove the rows of the record that was added last."""
        while self.origins and self.origins[-1] == origin:
            for values in (self.rows, self.origins, self.parents, self.indexes, self.id_sources):
                if values:
                    values.pop()

    def excludes(self, plan: Plan, fragments: tuple[str, ...]) -> bool:
        """Whether a filter of this table or of an ancestor excludes the values at this path."""
        if not self.filters:
            return False
        full_path, separator = (*self.fragments, *fragments), plan.naming.separator
        return any(excludes(separator.join(full_path[depth:])) for depth, excludes in self.filters)

    def _filters(self, plan: Plan) -> list[tuple[int, PathFilter]]:
        """The filters of this table and of its ancestors, each with the depth at which its paths begin."""
        excludes = plan.dialect.nesting.excluded_paths(plan.schema, self.name)
        filters = [] if excludes is None else [(len(self.fragments), excludes)]
        return filters if self.parent is None else [*filters, *self.parent.filters]
