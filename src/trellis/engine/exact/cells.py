"""Values that do not go straight into their column: converted, put into another one, observed or refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trellis.engine.exact.findings import Findings
from trellis.engine.exact.slots import Coerce, FieldBinding, TableBuilder
from trellis.engine.plan import Plan, Row
from trellis.engine.text import to_json
from trellis.errors import ContractError
from trellis.evolution.dialect.types import LossyCast, Rejection
from trellis.evolution.evolve import Verdict
from trellis.evolution.scalars.kinds import Kind, type_of
from trellis.evolution.scalars.values import MISFIT


class Dropped(Exception):
    """A contract drops the current row."""


class CellWriter:
    """Writes values into rows as the dialect and the contracts say; what no column takes is a finding."""

    def __init__(self, plan: Plan, findings: Findings) -> None:
        self.plan = plan
        self.findings = findings
        self.types = plan.dialect.types
        self.detect = self.types.classifier(plan.schema, fresh=True, wei=plan.digits.wei)
        self.classify = self.types.classifier(plan.schema, fresh=False, wei=plan.digits.wei)

    def write_value(
        self, builder: TableBuilder, binding: FieldBinding, value: Any, row: Row, item: Mapping[str, Any]
    ) -> None:
        """Write a value of an item into its row. Raises Dropped, ContractError."""
        binding.classes[value.__class__] = binding.classes.get(value.__class__, 0) + 1
        if binding.excluded:
            return
        findings = self.findings
        if binding.reserved:
            reason = f"the name {binding.name} is kept for bookkeeping"
            findings.discard(builder, binding.name, binding.path, value, reason)
            return
        if binding.column is not None and binding.coerce is not None:
            if binding.shares_name and binding.name in row:
                findings.record_collision(builder, binding, row[binding.name])
            converted = binding.coerce(value)
            if converted is not MISFIT:
                row[binding.name] = converted
                if binding.loss is not None and binding.loss.of(value):
                    findings.record_loss(builder, binding.name, binding.loss)
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
            if self.types.first_type(self.plan.schema, binding.name, kind) in {kind.type, *kind.fits}:
                findings.observe(builder, binding, kind, value, item)
                return
        else:
            kind = self.classify(value)
            if binding.column.data_type in kind.fits:
                kind = Kind(kind.type, None, kind.fits - {binding.column.data_type})
        if kind not in binding.variants:
            binding.variants[kind] = self._mismatch_outcome(builder, binding, kind)
        match binding.variants[kind]:
            case LossyCast(reason, into):
                row[binding.name] = left = into(value)
                findings.discard(
                    builder, binding.name, binding.path, value, reason, is_truncated=left is not None
                )
            case Rejection(reason):
                self._discard_misfit(builder, binding, value, reason, item)
            case (name, coerce):
                converted = coerce(value)
                if converted is MISFIT:
                    findings.observe(builder, binding, kind, value, item)
                else:
                    if name in row:
                        findings.record_collision(builder, builder.by_name.get(name, binding), row[name])
                    row[name] = converted
            case None:
                findings.observe(builder, binding, kind, value, item)
            case str() as verdict:
                self._refuse(builder, binding, value, verdict, f"contract on data_type: {verdict}", item)

    def _mismatch_outcome(
        self, builder: TableBuilder, binding: FieldBinding, kind: Kind
    ) -> tuple[str, Coerce] | LossyCast | Rejection | Verdict | None:
        if builder.table is None:
            return None
        target = self.types.on_type_mismatch(
            self.plan.schema, self.plan.naming, builder.table, binding.name, kind
        )
        if isinstance(target, (LossyCast, Rejection)):
            return target
        column = builder.table.columns.get(target.name)
        if target.name != binding.name and column is not None and column.data_type is not None:
            return target.name, self.types.coercer(self.plan.schema, column)
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
        drops_row = verdict == "discard_row"
        item_json = to_json(item) if drops_row else None
        self.findings.discard(builder, binding.name, binding.path, value, reason, item_json)
        if drops_row:
            raise Dropped

    def _discard_misfit(
        self, builder: TableBuilder, binding: FieldBinding, value: Any, reason: str, item: Mapping[str, Any]
    ) -> None:
        """Discard a value of an item that neither its column nor another one takes."""
        self.findings.discard(builder, binding.name, binding.path, value, reason)
