"""Records -> rows of every table, one value at a time: the exact path.

Every other path through the engine must agree with this one. The order of values decides the
order of new columns: scalars as their keys come, then nested objects, the last one first. What
the schema has no place for is observed, what a contract refuses is discarded with its position.
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
from trellis.engine.plan import Plan, Row
from trellis.engine.text import count_keys
from trellis.evolution.observe import Position
from trellis.evolution.record_outcome import DUPLICATE_KEY
from trellis.schema.model import NOTHING

MIN_BIGINT: Final = -(1 << 63)
MAX_BIGINT: Final = (1 << 63) - 1


class Flattener:
    """Flattens the records of a task.

    `tables` holds the rows since the last `start_block`, `findings` what else was met. `key_count` counts the
    keys of all objects: a line with more keys than its record holds has a duplicate.
    """

    def __init__(
        self, plan: Plan, tables: TableBuilders | None = None, cells: CellWriter | None = None
    ) -> None:
        self.plan = plan
        self.tables = tables or TableBuilders(plan)
        self.cells = cells or CellWriter(plan, Findings())
        self.findings = self.cells.findings
        self.warnings: Counter[str] = Counter()
        self.sequence = 0
        self.start_block()

    def start_block(self) -> None:
        """Forget the rows and findings of the last block; keep what is known of keys and tables."""
        self.clear_rows()
        self.findings.reset()
        self.key_count = 0

    def clear_rows(self) -> None:
        self.tables.clear_rows()

    def shared_names(self) -> dict[str, set[str]]:
        """Names of tables and columns that several names of the records map to, with those names."""
        return {}

    def discard_duplicate(self, raw: str, key: str, value: Any, line: int) -> None:
        """Discard a value that a later value of the same key in the same object replaced."""
        self.findings.line = line
        self.findings.discard(self.tables.root_builder(raw), "", key, value, DUPLICATE_KEY)

    def remove_record(self, origin: int) -> None:
        """Remove the rows of the last record."""
        for builder in self.tables.by_place.values():
            builder.remove_record(origin)

    def flatten_record(self, root: TableBuilder, item: Any, position: Position) -> bool:
        """Add the rows of one record; whether it is loaded, as a contract may drop it."""
        self.findings.start_record(position)
        self.sequence = 0
        if root.verdict is not None:
            self.findings.discard(root, "", "", item, f"contract on tables: {root.verdict}")
            return False
        if not isinstance(item, dict):
            item = {"value": item}
        return self._add_row(root, item, None, 0, NOTHING)

    def _add_row(
        self,
        builder: TableBuilder,
        item: Mapping[str, Any],
        parent: int | None,
        index: int,
        inherited: Mapping[str, Any],
        wrapped: bool = False,
    ) -> bool:
        """Append the row of one object and the rows of its lists; `inherited` are values of its ancestors."""
        if builder.excludes_row_id and not self._has_value_left(builder, item):
            return False
        findings = self.findings
        start = (self.sequence, self.key_count, len(findings.new_cells))
        news_count = findings.news_count
        discards, losses, missing = len(findings.discards), len(findings.losses), len(findings.missing)
        try:
            return self._build_row(builder, item, parent, index, inherited, wrapped)
        except SharedNameFound:
            self.sequence, self.key_count, new_cells = start
            findings.forget_since(new_cells)
            findings.news_count = news_count
            del findings.discards[discards:], findings.losses[losses:], findings.missing[missing:]
            return self._build_row(builder, item, parent, index, inherited, wrapped)

    def _build_row(
        self,
        builder: TableBuilder,
        item: Mapping[str, Any],
        parent: int | None,
        index: int,
        inherited: Mapping[str, Any],
        wrapped: bool,
    ) -> bool:
        findings = self.findings
        sequence, new_cells = self.sequence, len(findings.new_cells)
        losses, missing = len(findings.losses), len(findings.missing)
        self.sequence += 1
        findings.row, findings.ordinal = sequence, 0
        lists: dict[tuple[str, ...], tuple[FieldBinding, Sequence[Any]]] | None = None
        row: Row = {}
        if not builder.in_schema:
            parent_name = builder.parent.name if builder.parent else None
            findings.saw_table(builder.name, parent_name, (*findings.record, sequence))
        news_count = findings.news_count
        stack: list[Visit] = [(item, builder.wrapped if wrapped else builder.bindings, None)]
        if inherited:
            stack.insert(0, (inherited, builder.inherited, None))
            self.key_count -= len(inherited)
        kept_values = values_that_stay(self.tables, builder, stack) if builder.has_shared_names else None
        try:
            while stack:
                obj, bindings, outer = stack.pop()
                self.key_count += len(obj)
                for key, value in obj.items():
                    binding = bindings.get(key)
                    if binding is None:
                        binding = self.tables.add_binding(builder, bindings, outer, key)
                        if binding.shares_name and kept_values is None:
                            raise SharedNameFound
                    if kept_values and (id(obj), key) in kept_values:
                        kept_value = kept_values[id(obj), key]
                        if kept_value is not MOVED and kept_value is not value and value is not None:
                            findings.record_collision(builder, binding, value)
                        if kept_value is MOVED or kept_value is OVERWRITTEN:
                            continue
                        value = kept_value
                    cls = value.__class__
                    if cls is binding.direct_class:
                        if binding.shares_name and binding.name in row:
                            findings.record_collision(builder, binding, row[binding.name])
                        if cls is int and not MIN_BIGINT <= value <= MAX_BIGINT:
                            self.cells.write_value(builder, binding, value, row, item)
                        else:
                            row[binding.name] = value
                    elif value is None:
                        if binding.column is None:
                            binding.saw_null = True
                        elif binding.required and binding.name not in builder.keys.columns:
                            findings.miss(builder, binding.name, binding.path)
                            row[binding.name] = None
                    elif cls is dict and not binding.keeps_json:
                        binding.objects += 1
                        binding.direct_class = None
                        stack.append((value, binding.inner, binding))
                    elif cls in SEQUENCES and not binding.keeps_json:
                        if binding.child is None:
                            binding.child = self.tables.child_builder(builder, binding, wrapped)
                        binding.lists += 1
                        binding.direct_class = None
                        if value or lists:
                            lists = {} if lists is None else lists
                            fragments = (*builder.fragments, *binding.fragments)
                            if fragments in lists and lists[fragments][1]:
                                findings.record_collision(builder, *lists[fragments])
                            lists[fragments] = (binding, value)
                    else:
                        if cls is dict or cls is list:
                            self.key_count += count_keys(value)
                        self.cells.write_value(builder, binding, value, row, item)
        except Dropped:
            findings.forget_since(new_cells)
            findings.news_count = news_count
            del findings.losses[losses:], findings.missing[missing:]
            return False
        brings_news = len(findings.new_cells) > new_cells
        for name in builder.required:
            if name not in row:
                findings.miss(builder, name)
        row_number = len(builder.rows)
        builder.row_count += 1
        builder.rows.append(row)
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
                inherited = {**inherited, **inherited_values(builder, item, inherited)}
            for binding, values in lists.values():
                if values:
                    self._add_list(builder, binding, values, row_number, inherited)
        if brings_news:
            place = (*findings.record, sequence)
            findings.observed.below[place] = self.sequence - 1
        return True

    def _add_list(
        self,
        builder: TableBuilder,
        binding: FieldBinding,
        values: Sequence[Any],
        parent: int,
        inherited: Mapping[str, Any],
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
                self._add_row(child, value, parent, index, inherited)
            elif value.__class__ in SEQUENCES:
                shape = "list"
                self._add_row(child, {"list": value}, parent, index, inherited, wrapped=True)
                self.key_count -= 1
            else:
                shape = "value" if value is not None else ""
                self._add_row(child, {"value": value}, parent, index, inherited)
                self.key_count -= 1
            if shape:
                shapes[shape] = shapes.get(shape, 0) + 1

    def _has_value_left(self, builder: TableBuilder, item: Mapping[str, Any]) -> bool:
        """Whether the filters leave any value of a row whose row id they exclude."""
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
