"""The tables and keys that the records of a task have shown so far: what a key is called, and its column."""

from __future__ import annotations

from typing import Any

from trellis.engine.exact.slots import Slot, TableWalk, place_of
from trellis.engine.plan import Plan
from trellis.evolution.losses import loss_of


class Tables:
    """Makes a slot for each key at each place, and keeps them from block to block."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.dialect = plan.dialect
        self.naming = plan.naming
        self.by_place: dict[str, TableWalk] = {}
        self.slots: list[Slot] = []

    def root(self, raw: str) -> TableWalk:
        name = self.naming.table(raw)
        found = self.by_place.get(name)
        if found is None:
            budget = self.dialect.nesting.max_nesting(self.plan.schema, name)
            found = self._table((name,), None, budget)
        return found

    def child(self, walk: TableWalk, slot: Slot, wrapped: bool) -> TableWalk:
        """The table of a list. The objects that the list is in cost its rows nothing."""
        fragments = (*walk.fragments, *slot.fragments)
        return self._table(fragments, walk, walk.budget - wrapped - 1)

    def slot(self, walk: TableWalk, slots: dict[str, Slot], outer: Slot | None, raw: Any) -> Slot:
        """The slot of a key that is not among these yet."""
        key = raw if isinstance(raw, str) else str(raw)
        fragment = self.naming.key(key)
        fragments = (*outer.fragments, fragment) if outer else (fragment,)
        name = self.naming.join(*fragments) if outer else fragment
        path = f"{outer.path}.{key}" if outer else _path(walk, key)
        budget = outer.budget - 1 if outer else walk.budget - (slots is walk.wrapped)
        slot = Slot(name, path, fragments, budget)
        slot.column = walk.table.columns.get(name) if walk.table else None
        slot.reserved = name in walk.kept
        slot.excluded = walk.excludes(self.plan, fragments)
        slot.whole = self.dialect.nesting.keeps_json(self.plan.schema, walk.name, name, slot.budget)
        if slot.column is not None:
            slot.required = slot.column.required and not slot.excluded
            if slot.column.data_type is None:
                slot.column = None
            elif not slot.reserved and not slot.excluded:
                slot.directs = self.dialect.types.direct_classes(self.plan.schema, slot.column)
                slot.direct = slot.directs[0] if slot.directs else None
                slot.coerce = self.dialect.types.coercer(self.plan.schema, slot.column)
                slot.loss = loss_of(slot.column)
        twin = walk.by_name.setdefault(name, slot)
        if twin is not slot:
            slot.shared = twin.shared = walk.shared = True
        slots[raw] = slot
        self.slots.append(slot)
        return slot

    def saw_null(self, root: TableWalk, key: str) -> None:
        """Take note of a key whose values are all NULL."""
        slot = root.slots.get(key) or self.slot(root, root.slots, None, key)
        slot.saw_null = True

    def untyped(self) -> set[tuple[str, str]]:
        """Tables and columns of keys that were null wherever they stood."""
        return {
            (walk.name, slot.name)
            for walk in self.by_place.values()
            for slot in walk.by_name.values()
            if slot.saw_null and slot.column is None and not slot.objects and slot.child is None
        }

    @property
    def known(self) -> int:
        """Grows with each key, class of values and shape of elements that is met for the first time."""
        kinds = sum(len(slot.classes) + (slot.objects > 0) + (slot.lists > 0) for slot in self.slots)
        return len(self.slots) + kinds + sum(len(walk.shapes) for walk in self.by_place.values())

    def forget_rows(self) -> None:
        for walk in self.by_place.values():
            walk.clear()

    def _table(self, fragments: tuple[str, ...], parent: TableWalk | None, budget: int) -> TableWalk:
        place = place_of(fragments, parent)
        found = self.by_place.get(place)
        if found is None:
            name = self.naming.join(*fragments) if parent else fragments[0]
            found = self.by_place[place] = self._new_table(name, fragments, parent, budget)
        return found

    def _new_table(
        self, name: str, fragments: tuple[str, ...], parent: TableWalk | None, budget: int
    ) -> TableWalk:
        return TableWalk(self.plan, name, fragments, parent, budget)


def _path(walk: TableWalk, key: str) -> str:
    return f"{'.'.join(walk.fragments[1:])}[].{key}" if walk.parent else key
