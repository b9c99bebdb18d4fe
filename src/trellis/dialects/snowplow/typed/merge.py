"""The types of all versions of a family as one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

from trellis.dialects.snowplow.document.schema_document import SchemaDocument
from trellis.dialects.snowplow.identity.keys import SchemaKey
from trellis.dialects.snowplow.typed.fields import Entity, wide_column
from trellis.dialects.snowplow.typed.types import Array, Field, Struct, Type


class IncompatibleTypes(Exception):
    """Two versions give one place types of which neither takes the values of the other."""


@dataclass(frozen=True)
class WideColumns:
    """The columns of a family in a wide row."""

    column: Field
    keys: tuple[SchemaKey, ...]
    """The versions whose data goes into `column`."""
    recovered: tuple[tuple[SchemaKey, Field], ...] = ()
    """Versions that do not fit, each with a column of its own. It is created with the first of its data."""

    def column_of(self, key: SchemaKey) -> Field:
        """Where the data of a version goes."""
        return dict(self.recovered).get(key, self.column)


def merge_wide_columns(documents: Sequence[SchemaDocument], entity: Entity) -> WideColumns:
    """`documents` are schemas of one family, in the order in which they were registered."""
    first, *later = documents
    column, keys = wide_column(first, entity), [first.key]
    recovered: list[tuple[SchemaKey, Field]] = []
    for document in later:
        new = wide_column(document, entity)
        try:
            column = replace(column, type=merge_types(column.type, new.type))
            keys.append(document.key)
        except IncompatibleTypes:
            recovered.append((document.key, replace(new, name=_recovered_name(new, document.key))))
    return WideColumns(column, tuple(keys), tuple(recovered))


def merge_types(old: Type, new: Type) -> Type:
    """The type that takes the values of both, fields of `old` first. Raises IncompatibleTypes."""
    if isinstance(old, Struct) and isinstance(new, Struct):
        return _merge_structs(old, new)
    if isinstance(old, Array) and isinstance(new, Array):
        return Array(merge_types(old.item, new.item), old.nullable or new.nullable)
    if old != new:
        raise IncompatibleTypes(f"{old} and {new}")
    return old


def _merge_structs(old: Struct, new: Struct) -> Struct:
    arrivals = {field.name: field for field in new.fields}
    fields = []
    for field in old.fields:
        arrival = arrivals.pop(field.name, None)
        if arrival is None:
            fields.append(replace(field, nullable=True))
            continue
        fields.append(
            Field(
                field.name,
                merge_types(field.type, arrival.type),
                field.nullable or arrival.nullable,
                tuple(dict.fromkeys((*field.keys, *arrival.keys))),
            )
        )
    return Struct((*fields, *(replace(field, nullable=True) for field in arrivals.values())))


def _recovered_name(column: Field, key: SchemaKey) -> str:
    version = key.version
    digest = sha256(str(column.type).encode()).hexdigest()[:8]
    return f"{column.name}_recovered_{version.model}_{version.revision}_{version.addition}_{digest}"
