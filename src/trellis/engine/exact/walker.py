"""Records -> rows of every table, one value at a time: the exact path.

Every other way through the data plane must agree with this one. A record is flattened in the order of
spec dlt.md section 10 (scalars in key order, then nested objects, the last first); what the schema has
no place for is observed, what a contract refuses is discarded with its place of origin.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from trellis.engine.exact.cells import CellWriter, Dropped
from trellis.engine.exact.findings import Findings
from trellis.engine.exact.raw_values import id_values, inherited_values
from trellis.engine.exact.shared_keys import MOVED, OVERWRITTEN, SharedNameFound, values_that_stay
from trellis.engine.exact.slots import SEQUENCES, FieldBinding, TableBuilder, Visit
from trellis.engine.exact.tables import TableBuilders
from trellis.engine.exact.text import count_keys
from trellis.engine.plan import Plan, Row
from trellis.errors import ContractError
from trellis.evolution.observe import Position
from trellis.evolution.record import DUPLICATE_KEY
from trellis.schema.model import NOTHING

LOW: Final = -(1 << 63)
HIGH: Final = (1 << 63) - 1


class Flattener:
    """Walks the records of a task.

    `tables` holds the rows since the last `start`, `findings` what else was met. `keys` counts the keys.
    """

    def __init__(
        self, plan: Plan, tables: TableBuilders | None = None, cells: CellWriter | None = None
    ) -> None:
        self.plan = plan
        self.tables = tables or TableBuilders(plan)
        self.cells = cells or CellWriter(plan, Findings())
        self.findings = self.cells.findings
        self.oddities: Counter[str] = Counter()
        self.sequence = 0
        self.start()

    def start(self) -> None:
        """Forget the rows, the observations and the discards of the last block; keep what is known."""
        self.forget_rows()
        self.findings.start()
        self.keys = 0

    def forget_rows(self) -> None:
        self.tables.forget_rows()

    def shared(self) -> dict[str, set[str]]:
        """Names of tables and columns, with the several names that the records have for them."""
        return {}

    def duplicate(self, raw: str, key: str, value: Any, line: int) -> None:
        """Discard a value that another value under the same key of the same object replaced."""
        self.findings.line = line
        self.findings.discard(self.tables.root(raw), "", key, value, DUPLICATE_KEY)

    def remove_record(self, origin: int) -> None:
        """Remove the rows of the last record."""
        for builder in self.tables.by_place.values():
            builder.remove_record(origin)

    def record(self, root: TableBuilder, item: Any, position: Position) -> bool:
        """Walk one record. False where a contract drops it."""
        self.findings.at(position)
        self.sequence = 0
        if root.verdict is not None:
            self.findings.discard(root, "", "", item, f"contract on tables: {root.verdict}")
            return False
        if not isinstance(item, dict):
            item = {"value": item}
        return self._row(root, item, None, 0, NOTHING)

    def _row(
        self,
        builder: TableBuilder,
        item: Mapping[str, Any],
        parent: int | None,
        index: int,
        given: Mapping[str, Any],
        wrapped: bool = False,
    ) -> bool:
        """Append the row of one object and the rows of its lists. `given` comes from the rows above."""
        if builder.excludes_row_id and not self._survives(builder, item):
            return False
        findings = self.findings
        start = (self.sequence, self.keys, len(findings.fresh))
        news = findings.news
        discards, losses = len(findings.discards), len(findings.losses)
        try:
            return self._fill(builder, item, parent, index, given, wrapped)
        except SharedNameFound:
            self.sequence, self.keys, fresh = start
            findings.forget(fresh)
            findings.news = news
            del findings.discards[discards:], findings.losses[losses:]
            return self._fill(builder, item, parent, index, given, wrapped)

    def _fill(
        self,
        builder: TableBuilder,
        item: Mapping[str, Any],
        parent: int | None,
        index: int,
        given: Mapping[str, Any],
        wrapped: bool,
    ) -> bool:
        findings = self.findings
        sequence, fresh, losses = self.sequence, len(findings.fresh), len(findings.losses)
        self.sequence += 1
        findings.row, findings.ordinal = sequence, 0
        lists: dict[tuple[str, ...], tuple[FieldBinding, Sequence[Any]]] | None = None
        out: Row = {}
        if not builder.in_schema:
            above = builder.parent.name if builder.parent else None
            findings.saw_table(builder.name, above, (*findings.record, sequence))
        before = findings.news
        stack: list[Visit] = [(item, builder.wrapped if wrapped else builder.bindings, None)]
        if given:
            stack.insert(0, (given, builder.inherited, None))
            self.keys -= len(given)
        last = values_that_stay(self.tables, builder, stack) if builder.has_shared_names else None
        try:
            while stack:
                obj, bindings, outer = stack.pop()
                self.keys += len(obj)
                for key, value in obj.items():
                    binding = bindings.get(key)
                    if binding is None:
                        binding = self.tables.add_binding(builder, bindings, outer, key)
                        if binding.shares_name and last is None:
                            raise SharedNameFound
                    if last and (id(obj), key) in last:
                        stays = last[id(obj), key]
                        if stays is not MOVED and stays is not value and value is not None:
                            findings.collision(builder, binding, value)
                        if stays is MOVED or stays is OVERWRITTEN:
                            continue
                        value = stays
                    cls = value.__class__
                    if cls is binding.direct_class:
                        if binding.shares_name and binding.name in out:
                            findings.collision(builder, binding, out[binding.name])
                        if cls is int and not LOW <= value <= HIGH:
                            self.cells.put(builder, binding, value, out, item)
                        else:
                            out[binding.name] = value
                    elif value is None:
                        if binding.column is None:
                            binding.saw_null = True
                        elif binding.required and binding.name not in builder.keys.columns:
                            self._null(builder, binding)
                    elif cls is dict and not binding.keeps_json:
                        binding.objects += 1
                        binding.direct_class = None
                        stack.append((value, binding.inner, binding))
                    elif cls in SEQUENCES and not binding.keeps_json:
                        if binding.child is None:
                            binding.child = self.tables.child(builder, binding, wrapped)
                        binding.lists += 1
                        binding.direct_class = None
                        if value or lists:
                            lists = {} if lists is None else lists
                            fragments = (*builder.fragments, *binding.fragments)
                            if fragments in lists and lists[fragments][1]:
                                findings.collision(builder, *lists[fragments])
                            lists[fragments] = (binding, value)
                    else:
                        if cls is dict or cls is list:
                            self.keys += count_keys(value)
                        self.cells.put(builder, binding, value, out, item)
        except Dropped:
            findings.forget(fresh)
            findings.news = before
            del findings.losses[losses:]
            return False
        news = len(findings.fresh) > fresh
        for name in builder.required:
            if name not in out:
                self._missing(builder, name)
        number = len(builder.rows)
        builder.row_count += 1
        builder.rows.append(out)
        builder.origins.append(findings.line)
        if parent is not None:
            builder.parents.append(parent)
            builder.indexes.append(index)
        if builder.keys.from_columns:
            builder.id_sources.append(id_values(builder, item, findings))
        elif builder.keys.of_item:
            builder.id_sources.append(item)
        if lists is not None:
            if builder.inherited_columns:
                given = {**given, **inherited_values(builder, item, given)}
            for binding, values in lists.values():
                if values:
                    self._list(builder, binding, values, number, given)
        if news:
            place = (*findings.record, sequence)
            findings.observed.below[place] = self.sequence - 1
        return True

    def _list(
        self,
        builder: TableBuilder,
        binding: FieldBinding,
        values: Sequence[Any],
        number: int,
        given: Mapping[str, Any],
    ) -> None:
        child = binding.child
        assert child is not None
        if child.verdict is not None:
            reason = f"contract on tables: {child.verdict}"
            self.findings.discard(child, "", binding.path, values, reason)
            return
        shapes = child.element_shapes
        for index, value in enumerate(values):
            if value.__class__ is dict:
                shape = "row"
                self._row(child, value, number, index, given)
            elif value.__class__ in SEQUENCES:
                shape = "list"
                self._row(child, {"list": value}, number, index, given, wrapped=True)
                self.keys -= 1
            else:
                shape = "value" if value is not None else ""
                self._row(child, {"value": value}, number, index, given)
                self.keys -= 1
            if shape:
                shapes[shape] = shapes.get(shape, 0) + 1

    def _survives(self, builder: TableBuilder, item: Mapping[str, Any]) -> bool:
        """Whether the filters leave anything of a row whose bookkeeping they leave out."""
        stack: list[Visit] = [(item, builder.bindings, None)]
        while stack:
            obj, bindings, outer = stack.pop()
            for key, value in obj.items():
                binding = bindings.get(key) or self.tables.add_binding(builder, bindings, outer, key)
                if value.__class__ is dict and not binding.keeps_json:
                    stack.append((value, binding.inner, binding))
                elif not binding.excluded and (binding.keeps_json or value.__class__ not in SEQUENCES):
                    return True
        return False

    def _null(self, builder: TableBuilder, binding: FieldBinding) -> None:
        raise ContractError(
            f"{self.findings.place}: {binding.path} is null, but column {binding.name} of table {builder.name} may "
            "not be null; give it a value, or declare the column nullable"
        )

    def _missing(self, builder: TableBuilder, name: str) -> None:
        raise ContractError(
            f"{self.findings.place}: there is no value for column {name} of table {builder.name}, which may "
            "not be null; give every record one, or declare the column nullable"
        )
