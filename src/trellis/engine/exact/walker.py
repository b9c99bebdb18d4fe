"""Records -> rows of every table, one value at a time: the exact path.

Every other way through the data plane must agree with this one. A record is flattened in the order of
spec dlt.md section 10 (scalars in key order, then nested objects, the last first); what the schema has
no place for is observed, what a contract refuses is discarded with its place of origin.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from trellis.engine.exact.cells import Cells, Dropped
from trellis.engine.exact.findings import Findings
from trellis.engine.exact.raw_values import gifts, hashed
from trellis.engine.exact.shared_keys import MOVED, OVERWRITTEN, Shared, last_values
from trellis.engine.exact.slots import SEQUENCES, Slot, TableWalk, Visit
from trellis.engine.exact.tables import Tables
from trellis.engine.exact.text import count_keys
from trellis.engine.plan import Plan, Row
from trellis.errors import ContractError
from trellis.evolution.observe import Position
from trellis.schema.model import NOTHING

LOW: Final = -(1 << 63)
HIGH: Final = (1 << 63) - 1


class Walker:
    """Walks the records of a task.

    `tables` holds the rows since the last `start`, `findings` what else was met. `keys` counts the keys.
    """

    def __init__(self, plan: Plan, tables: Tables | None = None, cells: Cells | None = None) -> None:
        self.plan = plan
        self.tables = tables or Tables(plan)
        self.cells = cells or Cells(plan, Findings())
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
        reason = "duplicate key: a later value of the same key replaced it"
        self.findings.discard(self.tables.root(raw), "", key, value, reason)

    def take_back(self, origin: int) -> None:
        """Remove the rows of the last record."""
        for walk in self.tables.by_place.values():
            walk.take_back(origin)

    def record(self, root: TableWalk, item: Any, position: Position) -> bool:
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
        walk: TableWalk,
        item: Mapping[str, Any],
        parent: int | None,
        index: int,
        given: Mapping[str, Any],
        wrapped: bool = False,
    ) -> bool:
        """Append the row of one object and the rows of its lists. `given` comes from the rows above."""
        if walk.hidden and not self._survives(walk, item):
            return False
        findings = self.findings
        start = (self.sequence, self.keys, len(findings.fresh))
        news = findings.news
        discards, losses = len(findings.discards), len(findings.losses)
        try:
            return self._fill(walk, item, parent, index, given, wrapped)
        except Shared:
            self.sequence, self.keys, fresh = start
            findings.forget(fresh)
            findings.news = news
            del findings.discards[discards:], findings.losses[losses:]
            return self._fill(walk, item, parent, index, given, wrapped)

    def _fill(
        self,
        walk: TableWalk,
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
        lists: dict[tuple[str, ...], tuple[Slot, Sequence[Any]]] | None = None
        out: Row = {}
        if not walk.known:
            above = walk.parent.name if walk.parent else None
            findings.saw_table(walk.name, above, (*findings.record, sequence))
        before = findings.news
        stack: list[Visit] = [(item, walk.wrapped if wrapped else walk.slots, None)]
        if given:
            stack.insert(0, (given, walk.inherited, None))
            self.keys -= len(given)
        last = last_values(self.tables, walk, stack) if walk.shared else None
        try:
            while stack:
                obj, slots, outer = stack.pop()
                self.keys += len(obj)
                for key, value in obj.items():
                    slot = slots.get(key)
                    if slot is None:
                        slot = self.tables.slot(walk, slots, outer, key)
                        if slot.shared and last is None:
                            raise Shared
                    if last and (id(obj), key) in last:
                        stays = last[id(obj), key]
                        if stays is not MOVED and stays is not value and value is not None:
                            findings.collision(walk, slot, value)
                        if stays is MOVED or stays is OVERWRITTEN:
                            continue
                        value = stays
                    cls = value.__class__
                    if cls is slot.direct:
                        if slot.shared and slot.name in out:
                            findings.collision(walk, slot, out[slot.name])
                        if cls is int and not LOW <= value <= HIGH:
                            self.cells.put(walk, slot, value, out, item)
                        else:
                            out[slot.name] = value
                    elif value is None:
                        if slot.column is None:
                            slot.saw_null = True
                        elif slot.required and slot.name not in walk.keys.columns:
                            self._null(walk, slot)
                    elif cls is dict and not slot.whole:
                        slot.objects += 1
                        slot.direct = None
                        stack.append((value, slot.inner, slot))
                    elif cls in SEQUENCES and not slot.whole:
                        if slot.child is None:
                            slot.child = self.tables.child(walk, slot, wrapped)
                        slot.lists += 1
                        slot.direct = None
                        if value or lists:
                            lists = {} if lists is None else lists
                            fragments = (*walk.fragments, *slot.fragments)
                            if fragments in lists and lists[fragments][1]:
                                findings.collision(walk, *lists[fragments])
                            lists[fragments] = (slot, value)
                    else:
                        if cls is dict or cls is list:
                            self.keys += count_keys(value)
                        self.cells.put(walk, slot, value, out, item)
        except Dropped:
            findings.forget(fresh)
            findings.news = before
            del findings.losses[losses:]
            return False
        news = len(findings.fresh) > fresh
        for name in walk.required:
            if name not in out:
                self._missing(walk, name)
        number = len(walk.rows)
        walk.walked += 1
        walk.rows.append(out)
        walk.origins.append(findings.line)
        if parent is not None:
            walk.parents.append(parent)
            walk.indexes.append(index)
        if walk.keys.from_columns:
            walk.hashed.append(hashed(walk, item, findings))
        elif walk.keys.of_item:
            walk.hashed.append(item)
        if lists is not None:
            if walk.gives:
                given = {**given, **gifts(walk, item, given)}
            for slot, values in lists.values():
                if values:
                    self._list(walk, slot, values, number, given)
        if news:
            place = (*findings.record, sequence)
            findings.observed.below[place] = self.sequence - 1
        return True

    def _list(
        self, walk: TableWalk, slot: Slot, values: Sequence[Any], number: int, given: Mapping[str, Any]
    ) -> None:
        child = slot.child
        assert child is not None
        if child.verdict is not None:
            reason = f"contract on tables: {child.verdict}"
            self.findings.discard(child, "", slot.path, values, reason)
            return
        shapes = child.shapes
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

    def _survives(self, walk: TableWalk, item: Mapping[str, Any]) -> bool:
        """Whether the filters leave anything of a row whose bookkeeping they leave out."""
        stack: list[Visit] = [(item, walk.slots, None)]
        while stack:
            obj, slots, outer = stack.pop()
            for key, value in obj.items():
                slot = slots.get(key) or self.tables.slot(walk, slots, outer, key)
                if value.__class__ is dict and not slot.whole:
                    stack.append((value, slot.inner, slot))
                elif not slot.excluded and (slot.whole or value.__class__ not in SEQUENCES):
                    return True
        return False

    def _null(self, walk: TableWalk, slot: Slot) -> None:
        raise ContractError(
            f"{self.findings.place}: {slot.path} is null, but column {slot.name} of table {walk.name} may "
            "not be null; give it a value, or declare the column nullable"
        )

    def _missing(self, walk: TableWalk, name: str) -> None:
        raise ContractError(
            f"{self.findings.place}: there is no value for column {name} of table {walk.name}, which may "
            "not be null; give every record one, or declare the column nullable"
        )
