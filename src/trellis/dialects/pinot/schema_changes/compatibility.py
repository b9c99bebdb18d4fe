"""Whether a schema may replace that of a table (`Schema.isBackwardCompatibleWith`)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from trellis.dialects.pinot.document.defaults import literal_text
from trellis.dialects.pinot.document.fields import FieldSpec, PinotSchema, columns
from trellis.dialects.pinot.document.json_output import compact
from trellis.dialects.pinot.document.known_keys import LISTS
from trellis.dialects.pinot.document.types import PinotType
from trellis.dialects.pinot.document.writer import document_of


def incompatibilities(old: PinotSchema, new: PinotSchema) -> tuple[str, ...]:
    """Why the controller refuses the new schema over the old one, unless forced; empty where it accepts it.

    >>> n = FieldSpec("n", PinotType.INT)
    >>> incompatibilities(PinotSchema("s", (n,)), PinotSchema("s", (replace(n, data_type=PinotType.LONG),)))
    ('Incompatible field specifications: [n (old: DIMENSION INT, new: DIMENSION LONG)]',)
    """
    return tuple(_problems(old, stored_as(old, new)))


def is_same_schema(one: PinotSchema, other: PinotSchema) -> bool:
    """Whether two schemas are equal, whatever the order of their fields.

    All keys of the written document are compared; an update to an equal schema does nothing.
    """
    return bool(_canonical(one) == _canonical(other))


def stored_as(old: PinotSchema, new: PinotSchema) -> PinotSchema:
    """The new schema as the controller stores it: a BOOLEAN over a STRING silently stays a STRING."""
    before = columns(old)

    def stored_spec(spec: FieldSpec) -> FieldSpec:
        old_spec = before.get(spec.name)
        if old_spec is None or (old_spec.data_type, spec.data_type) != (PinotType.STRING, PinotType.BOOLEAN):
            return spec
        default = None if spec.default is None else literal_text(bool(spec.default))
        return replace(spec, data_type=PinotType.STRING, default=default)

    return replace(
        new,
        dimensions=tuple(map(stored_spec, new.dimensions)),
        metrics=tuple(map(stored_spec, new.metrics)),
        date_times=tuple(map(stored_spec, new.date_times)),
    )


def role_of(spec: FieldSpec) -> str:
    """A field for a message: its role, its type, and whether it has several values."""
    return f"{spec.field_type.value} {spec.data_type.value}{'' if spec.single_value else ' multi-value'}"


def _problems(old: PinotSchema, new: PinotSchema) -> Iterator[str]:
    if old.primary_key and old.primary_key != new.primary_key:
        yield f"Primary key columns changed (old: {_list(old.primary_key)}, new: {_list(new.primary_key)})"
    before, after = columns(old), columns(new)
    if missing := [name for name in before if name not in after]:
        yield f"Missing columns (present in old schema but not in new): {_list(missing)}"
    changed = [
        f"{name} (old: {role_of(spec)}, new: {role_of(after[name])})"
        for name, spec in before.items()
        if name in after and not has_same_type(spec, after[name])
    ]
    if changed:
        yield f"Incompatible field specifications: {_list(changed)}"


def has_same_type(old: FieldSpec, new: FieldSpec) -> bool:
    """Whether segments with the old column can be served as the new one."""
    return old.data_type is new.data_type and old.single_value == new.single_value


def _list(words: tuple[str, ...] | list[str]) -> str:
    return f"[{', '.join(words)}]"


def _canonical(schema: PinotSchema) -> Any:
    document = json.loads(compact(document_of(schema)), parse_float=str)
    for key in document.keys() & LISTS.keys():
        document[key].sort(key=lambda spec: str(spec["name"]))
        for spec in document[key]:
            if spec["dataType"] == "BYTES" and spec.get("defaultNullValue") == "":
                del spec["defaultNullValue"]
    return document
