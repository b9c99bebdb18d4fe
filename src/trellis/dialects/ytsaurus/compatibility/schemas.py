"""Compatibility of two schemas of tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from trellis.dialects.ytsaurus.compatibility.types import Level, type_compatibility
from trellis.dialects.ytsaurus.schema.model import Column, TableSchema
from trellis.dialects.ytsaurus.types.model import Decimal, Primitive, Type, is_nullable, without_tags


@dataclass(frozen=True)
class Misfit:
    """Why rows of the one schema do not all fit the other."""

    column: str
    """Empty for what concerns the table."""
    level: Level
    reason: str

    def __str__(self) -> str:
        return f"column {self.column}: {self.reason}" if self.column else self.reason


@dataclass(frozen=True)
class SchemaCompatibility:
    level: Level
    misfits: tuple[Misfit, ...]

    @property
    def reason(self) -> str:
        return "; ".join(str(misfit) for misfit in self.misfits if misfit.level == self.level)


def schema_compatibility(
    source: TableSchema, target: TableSchema, *, ignore_sort: bool = False, ignore_stable_names: bool = False
) -> SchemaCompatibility:
    """Whether rows of `source` fit a table of the schema `target`."""
    misfits = [*_misfits(source, target, ignore_stable_names)]
    if not ignore_sort:
        misfits += _sort_misfits(source, target)
    levels = {misfit.level for misfit in misfits}
    level: Level = "incompatible" if "incompatible" in levels else "validate" if levels else "full"
    return SchemaCompatibility(level, tuple(misfits))


def _misfits(source: TableSchema, target: TableSchema, ignore_stable_names: bool) -> Iterator[Misfit]:
    if target.strict and not source.strict:
        yield Misfit(
            "", "incompatible", "rows of a schema that is not strict may have columns that a strict one lacks"
        )
    for column in source.columns:
        if column.name not in target.by_name:
            if target.strict:
                yield Misfit(
                    column.name, "incompatible", "the strict schema of the output has no such column"
                )
            elif is_composite(column.type):
                reason = f"undeclared columns hold no {column.type}; declare it in the output"
                yield Misfit(column.name, "incompatible", reason)
    for column in target.columns:
        origin = source.by_name.get(column.name)
        if origin is None:
            if not source.strict:
                reason = "the input does not declare it, so its rows may hold anything there"
                yield Misfit(column.name, "incompatible", reason)
            elif column.required:
                yield Misfit(column.name, "incompatible", "it is required, and the input has no such column")
            continue
        yield from _column_misfits(origin, column, ignore_stable_names)


def _column_misfits(source: Column, target: Column, ignore_stable_names: bool) -> Iterator[Misfit]:
    if source.identity != target.identity and not ignore_stable_names:
        reason = f"the stable names {source.identity} and {target.identity} differ"
        yield Misfit(target.name, "incompatible", reason)
    types = type_compatibility(source.type, target.type)
    if types.level != "full":
        yield Misfit(target.name, types.level, types.reason)
    for what, before, after in (
        ("expression", source.expression, target.expression),
        ("aggregate", source.aggregate, target.aggregate),
    ):
        if after is not None and before != after:
            yield Misfit(
                target.name,
                "incompatible",
                f"the {what} is {before or 'absent'} in the input, {after} in the output",
            )


def _sort_misfits(source: TableSchema, target: TableSchema) -> Iterator[Misfit]:
    if target.keys != source.keys[: len(target.keys)]:
        before, after = (", ".join(map(str, schema.keys)) or "nothing" for schema in (source, target))
        yield Misfit("", "incompatible", f"the input is sorted by {before}, the output by {after}")
    elif target.unique_keys and (not source.unique_keys or len(source.keys) != len(target.keys)):
        yield Misfit("", "incompatible", "keys of the output are unique, those of the input are not")


def is_composite(type: Type) -> bool:
    """Whether a column holds YSON of a type, and not a value of the wire."""
    plain = without_tags(type)
    if is_nullable(plain) and hasattr(plain, "item"):
        plain = without_tags(plain.item)
    return not isinstance(plain, Primitive | Decimal)
