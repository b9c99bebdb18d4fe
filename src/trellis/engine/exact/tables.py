"""The tables and keys that the records of a task have shown so far, and the columns that the keys map to."""

from __future__ import annotations

from typing import Any

from trellis.engine.exact.slots import FieldBinding, TableBuilder, table_place
from trellis.engine.plan import Plan
from trellis.evolution.scalars.losses import loss_of


class TableBuilders:
    """Binds each key at each path once, and keeps the bindings from block to block."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.dialect = plan.dialect
        self.naming = plan.naming
        self.by_place: dict[str, TableBuilder] = {}
        self.bindings: list[FieldBinding] = []

    def root_builder(self, raw: str) -> TableBuilder:
        name = self.naming.table(raw)
        builder = self.by_place.get(name)
        if builder is None:
            budget = self.dialect.nesting.max_nesting(self.plan.schema, name)
            builder = self._builder_of((name,), None, budget)
        return builder

    def child_builder(self, builder: TableBuilder, binding: FieldBinding, wrapped: bool) -> TableBuilder:
        """The builder of a list's table. Objects around the list use up none of its nesting levels."""
        fragments = (*builder.fragments, *binding.fragments)
        return self._builder_of(fragments, builder, builder.budget - wrapped - 1)

    def add_binding(
        self, builder: TableBuilder, bindings: dict[str, FieldBinding], outer: FieldBinding | None, raw: Any
    ) -> FieldBinding:
        """Bind a key that is not among `bindings` yet."""
        key = raw if isinstance(raw, str) else str(raw)
        fragment = self.naming.key(key)
        fragments = (*outer.fragments, fragment) if outer else (fragment,)
        name = self.naming.join(*fragments) if outer else fragment
        path = f"{outer.path}.{key}" if outer else _path(builder, key)
        budget = outer.budget - 1 if outer else builder.budget - (bindings is builder.wrapped)
        binding = FieldBinding(name, path, fragments, budget)
        binding.column = builder.table.columns.get(name) if builder.table else None
        binding.reserved = name in builder.reserved_names
        binding.excluded = builder.excludes(self.plan, fragments)
        binding.keeps_json = self.dialect.nesting.keeps_json(
            self.plan.schema, builder.name, name, binding.budget
        )
        if binding.column is not None:
            binding.required = binding.column.required and not binding.excluded
            if binding.column.data_type is None:
                binding.column = None
            elif not binding.reserved and not binding.excluded:
                binding.direct_classes = self.dialect.types.direct_classes(self.plan.schema, binding.column)
                binding.direct_class = binding.direct_classes[0] if binding.direct_classes else None
                binding.coerce = self.dialect.types.coercer(self.plan.schema, binding.column)
                binding.loss = loss_of(binding.column)
        first = builder.by_name.setdefault(name, binding)
        if first is not binding:
            binding.shares_name = first.shares_name = builder.has_shared_names = True
        bindings[raw] = binding
        self.bindings.append(binding)
        return binding

    def mark_null(self, root: TableBuilder, key: str) -> None:
        """Remember a key whose values are all NULL."""
        binding = root.bindings.get(key) or self.add_binding(root, root.bindings, None, key)
        binding.saw_null = True

    def untyped_columns(self) -> set[tuple[str, str]]:
        """Tables and columns of keys that were null in every record."""
        return {
            (builder.name, binding.name)
            for builder in self.by_place.values()
            for binding in builder.by_name.values()
            if binding.saw_null and binding.column is None and not binding.objects and binding.child is None
        }

    @property
    def revision(self) -> int:
        """A number that grows with each new key, class of values and shape of list elements."""
        kinds = sum(
            len(binding.classes) + (binding.objects > 0) + (binding.lists > 0) for binding in self.bindings
        )
        return (
            len(self.bindings)
            + kinds
            + sum(len(builder.element_shapes) for builder in self.by_place.values())
        )

    def clear_rows(self) -> None:
        for builder in self.by_place.values():
            builder.clear()

    def _builder_of(
        self, fragments: tuple[str, ...], parent: TableBuilder | None, budget: int
    ) -> TableBuilder:
        place = table_place(fragments, parent)
        builder = self.by_place.get(place)
        if builder is None:
            name = self.naming.join(*fragments) if parent else fragments[0]
            builder = self.by_place[place] = self._new_builder(name, fragments, parent, budget)
        return builder

    def _new_builder(
        self, name: str, fragments: tuple[str, ...], parent: TableBuilder | None, budget: int
    ) -> TableBuilder:
        return TableBuilder(self.plan, name, fragments, parent, budget)


def _path(builder: TableBuilder, key: str) -> str:
    return f"{'.'.join(builder.fragments[1:])}[].{key}" if builder.parent else key
