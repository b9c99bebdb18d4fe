"""A value that does not go straight into its column: converted, put elsewhere, observed, refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trellis.engine.exact.findings import Findings
from trellis.engine.exact.slots import Coerce, FieldBinding, TableBuilder
from trellis.engine.exact.text import to_json
from trellis.engine.plan import Plan, Row
from trellis.errors import ContractError
from trellis.evolution.dialect.types import LossyCast, Rejection
from trellis.evolution.evolve import Verdict
from trellis.evolution.kinds import Kind, type_of
from trellis.evolution.values import MISFIT


class Dropped(Exception):
    """A contract drops the row at hand."""


class CellWriter:
    """Puts values into rows by the dialect and the contracts; what goes into none is a finding."""

    def __init__(self, plan: Plan, findings: Findings) -> None:
        self.plan = plan
        self.findings = findings
        self.types = plan.dialect.types
        self.detect = self.types.classifier(plan.schema, fresh=True, wei=plan.digits.wei)
        self.classify = self.types.classifier(plan.schema, fresh=False, wei=plan.digits.wei)

    def put(
        self, builder: TableBuilder, binding: FieldBinding, value: Any, out: Row, item: Mapping[str, Any]
    ) -> None:
        """Put a value of an item into its row. Raises Dropped, ContractError."""
        binding.classes[value.__class__] = binding.classes.get(value.__class__, 0) + 1
        if binding.excluded:
            return
        findings = self.findings
        if binding.reserved:
            reason = f"the name {binding.name} is kept for bookkeeping"
            findings.discard(builder, binding.name, binding.path, value, reason)
            return
        if binding.column is not None and binding.coerce is not None:
            if binding.shares_name and binding.name in out:
                findings.collision(builder, binding, out[binding.name])
            fitted = binding.coerce(value)
            if fitted is not MISFIT:
                out[binding.name] = fitted
                if binding.loss is not None and binding.loss.of(value):
                    findings.lost(builder, binding.name, binding.loss)
                return
        verdict = self.plan.refusals.of(builder.name, binding.name) if binding.column is None else None
        if verdict is not None:
            self._refuse(builder, binding, value, verdict, f"contract on columns: {verdict}", item)
            return
        if type_of(value) is None:
            raise ContractError(
                f"{findings.place}: {binding.path} holds a {type(value).__name__}, which no data type takes; "
                f"convert it before it is loaded into table {builder.name}"
            )
        if binding.column is None:
            kind = self.detect(value)
            if self.types.first_type(self.plan.schema, binding.name, kind) in kind.fits:
                findings.observe(builder, binding, kind, value, item)
                return
        else:
            kind = self.classify(value)
            if binding.column.data_type in kind.fits:
                kind = Kind(kind.type, None, kind.fits - {binding.column.data_type})
        if kind not in binding.variants:
            binding.variants[kind] = self._variant(builder, binding, kind)
        match binding.variants[kind]:
            case LossyCast(reason, into):
                findings.discard(builder, binding.name, binding.path, value, reason)
                out[binding.name] = into(value)
            case Rejection(reason):
                self._misfit(builder, binding, value, reason, out)
            case (name, coerce):
                fitted = coerce(value)
                if fitted is MISFIT:
                    findings.observe(builder, binding, kind, value, item)
                else:
                    if name in out:
                        findings.collision(builder, builder.by_name.get(name, binding), out[name])
                    out[name] = fitted
            case None:
                findings.observe(builder, binding, kind, value, item)
            case str() as refused:
                self._refuse(builder, binding, value, refused, f"contract on data_type: {refused}", item)

    def _variant(
        self, builder: TableBuilder, binding: FieldBinding, kind: Kind
    ) -> tuple[str, Coerce] | LossyCast | Rejection | Verdict | None:
        if builder.table is None:
            return None
        place = self.types.on_type_mismatch(
            self.plan.schema, self.plan.naming, builder.table, binding.name, kind
        )
        if isinstance(place, (LossyCast, Rejection)):
            return place
        column = builder.table.columns.get(place.name)
        if place.name != binding.name and column is not None and column.data_type is not None:
            return place.name, self.types.coercer(self.plan.schema, column)
        return self.plan.refusals.of(builder.name, binding.name, kind.type)

    def _refuse(
        self,
        builder: TableBuilder,
        binding: FieldBinding,
        value: Any,
        verdict: Verdict,
        reason: str,
        item: Mapping[str, Any],
    ) -> None:
        drops = verdict == "discard_row"
        row = to_json(item) if drops else None
        self.findings.discard(builder, binding.name, binding.path, value, reason, row)
        if drops:
            raise Dropped

    def _misfit(
        self, builder: TableBuilder, binding: FieldBinding, value: Any, reason: str, out: Row
    ) -> None:
        """A value that its column does not take, and no other does."""
        self.findings.discard(builder, binding.name, binding.path, value, reason)
