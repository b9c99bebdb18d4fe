"""A value that does not go straight into its column: converted, put elsewhere, observed, refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trellis.engine.exact.findings import Findings
from trellis.engine.exact.slots import Coerce, Slot, TableWalk
from trellis.engine.exact.text import to_json
from trellis.engine.plan import Plan, Row
from trellis.errors import ContractError
from trellis.evolution.dialect.types import LossyCast, Rejection
from trellis.evolution.evolve import Verdict
from trellis.evolution.kinds import Kind, type_of
from trellis.evolution.values import MISFIT


class Dropped(Exception):
    """A contract drops the row at hand."""


class Cells:
    """Puts values into rows by the dialect and the contracts; what goes into none is a finding."""

    def __init__(self, plan: Plan, findings: Findings) -> None:
        self.plan = plan
        self.findings = findings
        self.types = plan.dialect.types
        self.detect = self.types.classifier(plan.schema, fresh=True, wei=plan.digits.wei)
        self.classify = self.types.classifier(plan.schema, fresh=False, wei=plan.digits.wei)

    def put(self, walk: TableWalk, slot: Slot, value: Any, out: Row, item: Mapping[str, Any]) -> None:
        """Put a value of an item into its row. Raises Dropped, ContractError."""
        slot.classes[value.__class__] = slot.classes.get(value.__class__, 0) + 1
        if slot.excluded:
            return
        findings = self.findings
        if slot.reserved:
            reason = f"the name {slot.name} is kept for bookkeeping"
            findings.discard(walk, slot.name, slot.path, value, reason)
            return
        if slot.column is not None and slot.coerce is not None:
            if slot.shared and slot.name in out:
                findings.collision(walk, slot, out[slot.name])
            fitted = slot.coerce(value)
            if fitted is not MISFIT:
                out[slot.name] = fitted
                if slot.loss is not None and slot.loss.of(value):
                    findings.lost(walk, slot.name, slot.loss)
                return
        verdict = self.plan.refusals.of(walk.name, slot.name) if slot.column is None else None
        if verdict is not None:
            self._refuse(walk, slot, value, verdict, f"contract on columns: {verdict}", item)
            return
        if type_of(value) is None:
            raise ContractError(
                f"{findings.place}: {slot.path} holds a {type(value).__name__}, which no data type takes; "
                f"convert it before it is loaded into table {walk.name}"
            )
        if slot.column is None:
            kind = self.detect(value)
            if self.types.first_type(self.plan.schema, slot.name, kind) in kind.fits:
                findings.observe(walk, slot, kind, value, item)
                return
        else:
            kind = self.classify(value)
            if slot.column.data_type in kind.fits:
                kind = Kind(kind.type, None, kind.fits - {slot.column.data_type})
        if kind not in slot.variants:
            slot.variants[kind] = self._variant(walk, slot, kind)
        match slot.variants[kind]:
            case LossyCast(reason, into):
                findings.discard(walk, slot.name, slot.path, value, reason)
                out[slot.name] = into(value)
            case Rejection(reason):
                self._misfit(walk, slot, value, reason, out)
            case (name, coerce):
                fitted = coerce(value)
                if fitted is MISFIT:
                    findings.observe(walk, slot, kind, value, item)
                else:
                    if name in out:
                        findings.collision(walk, walk.by_name.get(name, slot), out[name])
                    out[name] = fitted
            case None:
                findings.observe(walk, slot, kind, value, item)
            case str() as refused:
                self._refuse(walk, slot, value, refused, f"contract on data_type: {refused}", item)

    def _variant(
        self, walk: TableWalk, slot: Slot, kind: Kind
    ) -> tuple[str, Coerce] | LossyCast | Rejection | Verdict | None:
        if walk.table is None:
            return None
        place = self.types.on_type_mismatch(self.plan.schema, self.plan.naming, walk.table, slot.name, kind)
        if isinstance(place, (LossyCast, Rejection)):
            return place
        column = walk.table.columns.get(place.name)
        if place.name != slot.name and column is not None and column.data_type is not None:
            return place.name, self.types.coercer(self.plan.schema, column)
        return self.plan.refusals.of(walk.name, slot.name, kind.type)

    def _refuse(
        self, walk: TableWalk, slot: Slot, value: Any, verdict: Verdict, reason: str, item: Mapping[str, Any]
    ) -> None:
        drops = verdict == "discard_row"
        row = to_json(item) if drops else None
        self.findings.discard(walk, slot.name, slot.path, value, reason, row)
        if drops:
            raise Dropped

    def _misfit(self, walk: TableWalk, slot: Slot, value: Any, reason: str, out: Row) -> None:
        """A value that its column does not take, and no other does."""
        self.findings.discard(walk, slot.name, slot.path, value, reason)
