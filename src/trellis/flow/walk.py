"""Records -> rows of every table, one value at a time: the exact path.

Every other way through the data plane must agree with this one. A record is flattened in the order of
spec dlt.md section 10 (scalars in key order, then nested objects, the last first); what the schema has
no place for is observed, what a contract refuses is discarded with its place of origin.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from trellis.errors import ContractError
from trellis.evolution.dialect import Cut, Refusal
from trellis.evolution.evolve import Verdict
from trellis.evolution.kinds import Kind, type_of
from trellis.evolution.observe import CellKey, Observations, Position, Seen
from trellis.evolution.values import MISFIT
from trellis.flow.plan import Discard, Plan, Row
from trellis.flow.slots import Coerce, Slot, TableWalk, place_of
from trellis.flow.text import count_keys, item_text, to_json
from trellis.schema.model import NOTHING

LOW: Final = -(1 << 63)
HIGH: Final = (1 << 63) - 1

_SEQUENCES = (list, tuple)


class Dropped(Exception):
    """A contract drops the row at hand."""


class Shared(Exception):
    """A second key of the row at hand has the name of another one."""


Last = Mapping[tuple[int, Any], Any]
"""Of keys that share a name, by object and key: the value that stays, OVERWRITTEN, or MOVED to the first."""
OVERWRITTEN: Final = object()
MOVED: Final = object()


class Walker:
    """Walks the records of a task. `tables` holds the rows since the last `start`."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.dialect = plan.dialect
        self.naming = plan.naming
        self.detect = self.dialect.type.classifier(plan.schema, fresh=True, wei=plan.digits.wei)
        self.classify = self.dialect.type.classifier(plan.schema, fresh=False, wei=plan.digits.wei)
        self.tables: dict[str, TableWalk] = {}
        self.slots: list[Slot] = []
        self.where: Position = ()
        self.file = ""
        self.oddities: Counter[str] = Counter()
        self.start()

    def start(self) -> None:
        """Forget the rows, the observations and the discards of the last block; keep what is known."""
        self.forget_rows()
        for slot in self.slots:
            slot.classes.clear()
        self.observed = Observations()
        self.fresh: list[CellKey] = []
        self.discards: list[Discard] = []
        self.refusals: Counter[str] = Counter()
        self.dropped = 0
        self.keys = 0

    def forget_rows(self) -> None:
        for walk in self.tables.values():
            walk.clear()

    def root(self, raw: str) -> TableWalk:
        name = self.naming.table(raw)
        found = self.tables.get(name)
        if found is None:
            budget = self.dialect.shape.budget(self.plan.schema, name)
            found = self._table((name,), None, budget)
        return found

    def untyped(self) -> set[tuple[str, str]]:
        """Tables and columns of keys that were null wherever they stood."""
        return {
            (walk.name, slot.name)
            for walk in self.tables.values()
            for slot in walk.by_name.values()
            if slot.saw_null and slot.column is None and not slot.saw_inner and slot.child is None
        }

    def shared(self) -> dict[str, set[str]]:
        """Names of tables and columns, with the several names that the records have for them."""
        return {}

    def saw_null(self, root: TableWalk, key: str) -> None:
        """Take note of a key whose values are all NULL."""
        slot = root.slots.get(key) or self._slot(root, root.slots, None, key)
        slot.saw_null = True

    def duplicate(self, raw: str, key: str, value: Any, line: int) -> None:
        """Discard a value that another value under the same key of the same object replaced."""
        self.line = line
        self._discard(
            self.root(raw), "", key, value, "duplicate key: a later value of the same key replaced it"
        )

    def record(self, root: TableWalk, item: Any, position: Position) -> bool:
        """Walk one record. False where a contract drops it."""
        self.where = position
        self.line = position[-1]
        self.sequence = 0
        self.item = item
        if root.verdict is not None:
            self._discard(root, "", "", item, f"contract on tables: {root.verdict}")
            self.dropped += 1
            return False
        if not isinstance(item, dict):
            item = {"value": item}
        if self._row(root, item, None, 0, NOTHING):
            return True
        self.dropped += 1
        return False

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
        start = (self.sequence, len(self.fresh), len(self.discards), self.keys)
        try:
            return self._cells(walk, item, parent, index, given, wrapped)
        except Shared:
            self.sequence, fresh, discards, self.keys = start
            self._forget(fresh)
            del self.discards[discards:]
            return self._cells(walk, item, parent, index, given, wrapped)

    def _cells(
        self,
        walk: TableWalk,
        item: Mapping[str, Any],
        parent: int | None,
        index: int,
        given: Mapping[str, Any],
        wrapped: bool,
    ) -> bool:
        sequence, fresh = self.sequence, len(self.fresh)
        self.sequence += 1
        self.ordinal = 0
        self.row_sequence = sequence
        lists: dict[tuple[str, ...], tuple[Slot, Sequence[Any]]] | None = None
        out: Row = {}
        if not walk.known:
            self.observed.saw_table(
                walk.name, walk.parent.name if walk.parent else None, (*self.where, sequence)
            )
        stack: list[tuple[Mapping[str, Any], dict[str, Slot], Slot | None]] = [
            (item, walk.wrapped if wrapped else walk.slots, None)
        ]
        if given:
            stack.insert(0, (given, walk.inherited, None))
            self.keys -= len(given)
        last = self._last(walk, stack) if walk.shared else None
        try:
            while stack:
                obj, slots, outer = stack.pop()
                self.keys += len(obj)
                for key, value in obj.items():
                    slot = slots.get(key)
                    if slot is None:
                        slot = self._slot(walk, slots, outer, key)
                        if slot.shared and last is None:
                            raise Shared
                    if last and (id(obj), key) in last:
                        stays = last[id(obj), key]
                        if stays is not MOVED and stays is not value and value is not None:
                            self._collision(walk, slot, value)
                        if stays is MOVED or stays is OVERWRITTEN:
                            continue
                        value = stays
                    cls = value.__class__
                    if cls is slot.direct:
                        if slot.shared and slot.name in out:
                            self._collision(walk, slot, out[slot.name])
                        if cls is int and not LOW <= value <= HIGH:
                            self._cell(walk, slot, value, out, item)
                        else:
                            out[slot.name] = value
                    elif value is None:
                        if slot.column is None:
                            slot.saw_null = True
                        elif slot.required:
                            self._null(walk, slot)
                    elif cls is dict and not slot.whole:
                        slot.saw_inner = True
                        slot.direct = None
                        stack.append((value, slot.inner, slot))
                    elif cls in _SEQUENCES and not slot.whole:
                        if slot.child is None:
                            self._child(walk, slot, wrapped)
                        slot.direct = None
                        if value or lists:
                            lists = {} if lists is None else lists
                            fragments = (*walk.fragments, *slot.fragments)
                            if fragments in lists and lists[fragments][1]:
                                self._collision(walk, *lists[fragments])
                            lists[fragments] = (slot, value)
                    else:
                        self._cell(walk, slot, value, out, item)
        except Dropped:
            self._forget(fresh)
            return False
        news = len(self.fresh) > fresh
        for name in walk.required:
            if name not in out:
                raise ContractError(
                    f"{self._place()}: there is no value for column {name} of table {walk.name}, which may "
                    "not be null; give every record one, or declare the column nullable"
                )
        number = len(walk.rows)
        walk.rows.append(out)
        if parent is not None:
            walk.parents.append(parent)
            walk.indexes.append(index)
        if walk.keys.from_columns:
            walk.hashed.append(self._hashed(walk, item))
        elif walk.keys.of_item:
            walk.hashed.append(item)
        if lists is not None:
            if walk.gives:
                given = {**given, **self._gifts(walk, item, given)}
            for slot, values in lists.values():
                if values:
                    self._list(walk, slot, values, number, given)
        if news:
            place = (*self.where, sequence)
            self.observed.below[place] = self.sequence - 1
        return True

    def _last(
        self, walk: TableWalk, start: Sequence[tuple[Mapping[str, Any], dict[str, Slot], Slot | None]]
    ) -> Last:
        """Of keys that share a name: the first takes the value of the last, the others are overwritten."""
        stack, seen = list(start), dict[str, list[tuple[int, Any, Any]]]()
        while stack:
            obj, slots, outer = stack.pop()
            for key, value in obj.items():
                slot = slots.get(key) or self._slot(walk, slots, outer, key)
                if value.__class__ is dict and not slot.whole:
                    stack.append((value, slot.inner, slot))
                elif slot.whole or value.__class__ not in _SEQUENCES:
                    seen.setdefault(slot.name, []).append((id(obj), key, value))
        found: dict[tuple[int, Any], Any] = {}
        for places in seen.values():
            if len(places) > 1:
                found.update({(at, key): OVERWRITTEN for at, key, _ in places[1:-1]})
                found[places[0][:2]], found[places[-1][:2]] = places[-1][2], MOVED
        return found

    def _list(
        self, walk: TableWalk, slot: Slot, values: Sequence[Any], number: int, given: Mapping[str, Any]
    ) -> None:
        child = slot.child
        assert child is not None
        if child.verdict is not None:
            self._discard(child, "", slot.path, values, f"contract on tables: {child.verdict}")
            return
        for index, value in enumerate(values):
            if value.__class__ is dict:
                child.shapes.add("row")
                self._row(child, value, number, index, given)
            elif value.__class__ in _SEQUENCES:
                child.shapes.add("list")
                self._row(child, {"list": value}, number, index, given, wrapped=True)
                self.keys -= 1
            else:
                if value is not None:
                    child.shapes.add("value")
                self._row(child, {"value": value}, number, index, given)
                self.keys -= 1

    def _cell(self, walk: TableWalk, slot: Slot, value: Any, out: Row, item: Mapping[str, Any]) -> None:
        """A value that does not go straight into its column."""
        slot.classes.add(value.__class__)
        if slot.whole and value.__class__ in (dict, list):
            self.keys += count_keys(value)
        if slot.excluded:
            return
        if slot.reserved:
            self._discard(walk, slot.name, slot.path, value, f"the name {slot.name} is kept for bookkeeping")
            return
        if slot.column is not None and slot.coerce is not None:
            if slot.shared and slot.name in out:
                self._collision(walk, slot, out[slot.name])
            fitted = slot.coerce(value)
            if fitted is not MISFIT:
                out[slot.name] = fitted
                return
        verdict = self.plan.refusals.of(walk.name, slot.name) if slot.column is None else None
        if verdict is not None:
            self._refuse(walk, slot, value, verdict, f"contract on columns: {verdict}", item)
            return
        if type_of(value) is None:
            raise ContractError(
                f"{self._place()}: {slot.path} holds a {type(value).__name__}, which no data type takes; "
                f"convert it before it is loaded into table {walk.name}"
            )
        if slot.column is None:
            kind = self.detect(value)
            if self.dialect.type.first(self.plan.schema, slot.name, kind) in kind.fits:
                self._observe(walk, slot, kind, value, item)
                return
        else:
            kind = self.classify(value)
            if slot.column.data_type in kind.fits:
                kind = Kind(kind.type, None, kind.fits - {slot.column.data_type})
        if kind not in slot.variants:
            slot.variants[kind] = self._variant(walk, slot, kind)
        match slot.variants[kind]:
            case Cut(reason, into):
                self._discard(walk, slot.name, slot.path, value, reason)
                out[slot.name] = into(value)
            case Refusal(reason):
                self._misfit(walk, slot, value, reason, out)
            case (name, coerce):
                fitted = coerce(value)
                if fitted is MISFIT:
                    self._observe(walk, slot, kind, value, item)
                else:
                    if name in out:
                        self._collision(walk, walk.by_name.get(name, slot), out[name])
                    out[name] = fitted
            case None:
                self._observe(walk, slot, kind, value, item)
            case str() as refused:
                self._refuse(walk, slot, value, refused, f"contract on data_type: {refused}", item)

    def _variant(
        self, walk: TableWalk, slot: Slot, kind: Kind
    ) -> tuple[str, Coerce] | Cut | Refusal | Verdict | None:
        if walk.table is None:
            return None
        place = self.dialect.type.misfit(self.plan.schema, self.naming, walk.table, slot.name, kind)
        if isinstance(place, (Cut, Refusal)):
            return place
        column = walk.table.columns.get(place.name)
        if place.name != slot.name and column is not None and column.data_type is not None:
            return place.name, self.dialect.type.coercer(self.plan.schema, column)
        return self.plan.refusals.of(walk.name, slot.name, kind.type)

    def _observe(self, walk: TableWalk, slot: Slot, kind: Kind, value: Any, item: Mapping[str, Any]) -> None:
        position = (*self.where, self.row_sequence, self.ordinal)
        self.ordinal += 1
        key = CellKey(walk.name, slot.name, kind)
        known = self.observed.cells.get(key)
        if known is not None:
            known.count += 1
            return
        self.fresh.append(key)
        self.observed.cells[key] = Seen(position, 1, slot.path, to_json(value)[:200], item_text(item))

    def _forget(self, fresh: int) -> None:
        """Take back what was seen first in a row that is dropped."""
        for key in self.fresh[fresh:]:
            del self.observed.cells[key]
        del self.fresh[fresh:]

    def _refuse(
        self, walk: TableWalk, slot: Slot, value: Any, verdict: Verdict, reason: str, item: Mapping[str, Any]
    ) -> None:
        drops = verdict == "discard_row"
        self._discard(walk, slot.name, slot.path, value, reason, to_json(item) if drops else None)
        if drops:
            raise Dropped

    def _misfit(self, walk: TableWalk, slot: Slot, value: Any, reason: str, out: Row) -> None:
        """A value that its column does not take, and no other does."""
        self._discard(walk, slot.name, slot.path, value, reason)

    def _collision(self, walk: TableWalk, slot: Slot, value: Any) -> None:
        self._discard(
            walk,
            slot.name,
            slot.path,
            value,
            f"collision: another key of the record is named {slot.name} too",
        )

    def _discard(
        self, walk: TableWalk, column: str, path: str, value: Any, reason: str, row: str | None = None
    ) -> None:
        text = value if isinstance(value, str) else to_json(value)
        self.discards.append(Discard(walk.name, column, path, text, self.line, reason, row))

    def _null(self, walk: TableWalk, slot: Slot) -> None:
        raise ContractError(
            f"{self._place()}: {slot.path} is null, but column {slot.name} of table {walk.name} may not be "
            "null; give it a value, or declare the column nullable"
        )

    def _place(self) -> str:
        return f"{self.file or 'records'}, record {self.line + 1}"

    def _hashed(self, walk: TableWalk, item: Mapping[str, Any]) -> list[Any]:
        """The raw values of the columns that the row id is a hash of."""
        found = _raw(walk, item, walk.keys.from_columns)
        missing = [name for name in walk.keys.from_columns if name not in found]
        if missing:
            raise ContractError(
                f"{self._place()}: key column {missing[0]} of table {walk.name} has no value; "
                "this way of merging needs the whole key in every record"
            )
        return [found[name] for name in walk.keys.from_columns]

    def _gifts(self, walk: TableWalk, item: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
        """What the rows below this one get of it, under their names for it."""
        found = {**_raw(walk, item, walk.gives), **given}
        return {to: found[name] for name, to in walk.gives.items() if name in found}

    def _survives(self, walk: TableWalk, item: Mapping[str, Any]) -> bool:
        """Whether the filters leave anything of a row whose bookkeeping they leave out."""
        stack: list[tuple[Mapping[str, Any], dict[str, Slot], Slot | None]] = [(item, walk.slots, None)]
        while stack:
            obj, slots, outer = stack.pop()
            for key, value in obj.items():
                slot = slots.get(key) or self._slot(walk, slots, outer, key)
                if value.__class__ is dict and not slot.whole:
                    stack.append((value, slot.inner, slot))
                elif not slot.excluded and (slot.whole or value.__class__ not in _SEQUENCES):
                    return True
        return False

    def _slot(self, walk: TableWalk, slots: dict[str, Slot], outer: Slot | None, raw: Any) -> Slot:
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
        slot.whole = self.dialect.shape.keeps_whole(self.plan.schema, walk.name, name, slot.budget)
        if slot.column is not None:
            slot.required = slot.column.required and not slot.excluded
            if slot.column.data_type is None:
                slot.column = None
            elif not slot.reserved and not slot.excluded:
                slot.directs = self.dialect.type.direct(self.plan.schema, slot.column)
                slot.direct = slot.directs[0] if slot.directs else None
                slot.coerce = self.dialect.type.coercer(self.plan.schema, slot.column)
        twin = walk.by_name.setdefault(name, slot)
        if twin is not slot:
            slot.shared = twin.shared = walk.shared = True
        slots[raw] = slot
        self.slots.append(slot)
        return slot

    def _child(self, walk: TableWalk, slot: Slot, wrapped: bool) -> None:
        """The objects that a list is in cost the rows of the list nothing, as in dlt."""
        fragments = (*walk.fragments, *slot.fragments)
        slot.child = self._table(fragments, walk, walk.budget - wrapped - 1)

    def _table(self, fragments: tuple[str, ...], parent: TableWalk | None, budget: int) -> TableWalk:
        place = place_of(fragments, parent)
        found = self.tables.get(place)
        if found is None:
            name = self.naming.join(*fragments) if parent else fragments[0]
            found = self.tables[place] = TableWalk(self.plan, name, fragments, parent, budget)
        return found


def _raw(walk: TableWalk, item: Mapping[str, Any], names: Collection[str]) -> dict[str, Any]:
    """The values of these columns as they came; nested tables and objects are no values."""
    found: dict[str, Any] = {}
    stack = [(item, walk.slots)]
    while stack:
        obj, slots = stack.pop()
        for key, value in obj.items():
            slot = slots.get(key)
            if slot is None:  # a list in a list
                continue
            if value.__class__ is dict and not slot.whole:
                stack.append((value, slot.inner))
            elif value.__class__ in _SEQUENCES and not slot.whole:
                continue
            elif value is not None and slot.name in names:
                found[slot.name] = value
    return found


def _path(walk: TableWalk, key: str) -> str:
    return f"{'.'.join(walk.fragments[1:])}[].{key}" if walk.parent else key
