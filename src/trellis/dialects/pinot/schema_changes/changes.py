"""The differences of two schemas: whether Pinot takes them, and what each does to existing segments."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, Final

from trellis.dialects.pinot.document.defaults import default_json, default_of, literal_text
from trellis.dialects.pinot.document.fields import FieldSpec, PinotSchema, columns
from trellis.dialects.pinot.document.known_keys import LISTS
from trellis.dialects.pinot.document.types import PinotType
from trellis.dialects.pinot.document.writer import document_of, field_document
from trellis.dialects.pinot.value.json_text import compact
from trellis.dialects.pinot.value.source_kinds import CannotConvert


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

    return new.with_fields(map(stored_spec, new.specs()))


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


class Effort(Enum):
    """The work of a change: none, a reload of the segments, old data loaded again, or a new table."""

    NONE = "none"
    RELOAD = "reload"
    BACKFILL = "backfill"
    NEW_TABLE = "new table"


@dataclass(frozen=True)
class Change:
    """One difference. `column` is None for a change of the whole schema; `key` is that of the document."""

    column: str | None
    key: str
    old: Any
    new: Any
    message: str
    on_reload: str
    effort: Effort

    def __str__(self) -> str:
        return f"{self.column}: {self.message}" if self.column is not None else self.message


_OLD_ROWS_STAY: Final = "rows that are there stay as they are; rows from now on follow it"
_EFFECTS: Final[Mapping[str, tuple[str, Effort]]] = {
    "defaultNullValue": (
        "ingested rows keep the old default; a column that a reload filled in is filled in anew",
        Effort.RELOAD,
    ),
    "fieldType": (
        "nothing in the segments changes, unless the column was filled in by a reload",
        Effort.RELOAD,
    ),
    "transformFunction": (
        "ingested columns stay as they are: only rows from now on are computed by it",
        Effort.BACKFILL,
    ),
    "virtualColumnProvider": ("values that are stored stay as they are", Effort.RELOAD),
    "format": ("values are not rewritten: old rows are read by the new format", Effort.BACKFILL),
    "granularity": ("it is documentation: values are never rounded", Effort.NONE),
    "schemaName": ("Pinot refuses to rename a schema: it is the name of the table", Effort.NEW_TABLE),
    "enableColumnBasedNullHandling": (
        "rows that are there keep the null bitmap they have, so nulls ingested before stay defaults",
        Effort.BACKFILL,
    ),
    "primaryKeyColumns": ("rows that are there are not made unique by it", Effort.BACKFILL),
}
"""What a reload makes of a changed key, and the work of the change; other keys concern new rows only."""
_COMPARED_APART: Final = frozenset({"name", "dataType", "singleValueField", *LISTS})


def changes(
    old: PinotSchema, new: PinotSchema, transforms: Mapping[str, str] | None = None
) -> tuple[Change, ...]:
    """The changes by column in alphabetical order, then those of the whole schema.

    `transforms` are the functions of the table config by column; an added column may be computed from one.

    >>> added = changes(PinotSchema("s"), PinotSchema("s", (FieldSpec("n", PinotType.INT),)))
    >>> print(added[0])
    n: added: DIMENSION INT
    >>> added[0].on_reload
    'every row that is there gets -2147483648'
    """
    return tuple(_changes(old, stored_as(old, new), transforms or {}))


def _changes(old: PinotSchema, new: PinotSchema, transforms: Mapping[str, str]) -> Iterator[Change]:
    before, after = columns(old), columns(new)
    for name in sorted(before.keys() | after.keys()):
        if name not in before:
            yield _added(after[name], new, transforms.get(name))
        elif name not in after:
            yield Change(
                name,
                "name",
                role_of(before[name]),
                None,
                "removed",
                "Pinot refuses to take a column away: it stays in the segments until the table is made anew",
                Effort.NEW_TABLE,
            )
        else:
            yield from _field_changes(before[name], after[name])
    yield from _schema_changes(old, new)


def _added(spec: FieldSpec, schema: PinotSchema, transform: str | None) -> Change:
    default = compact(_default(spec))
    nulls = ", marked as null" if schema.column_nulls and not spec.not_null else ""
    filled = f"every row that is there gets {default}{nulls}"
    if spec.virtual:
        filled = "the column is virtual: nothing is stored"
    elif transform:
        filled = (
            f"every row that is there gets {transform} where all its arguments are in the segment, and"
            f" {default}{nulls} for null; without the arguments {default}{nulls}"
        )
    return Change(spec.name, "name", None, role_of(spec), f"added: {role_of(spec)}", filled, Effort.RELOAD)


def _field_changes(old: FieldSpec, new: FieldSpec) -> Iterator[Change]:
    before, after = field_document(old), field_document(new)
    if has_same_type(old, new):
        before["defaultNullValue"], after["defaultNullValue"] = _default(old), _default(new)
    else:
        refused = (
            "Pinot refuses to change type or number of values: make a new table and load it from the source"
        )
        sentence = f"type from {role_of(old)} to {role_of(new)}"
        yield Change(old.name, "dataType", role_of(old), role_of(new), sentence, refused, Effort.NEW_TABLE)
        after["defaultNullValue"] = before.get("defaultNullValue")
    yield from _key_changes(old.name, before, after)


def _schema_changes(old: PinotSchema, new: PinotSchema) -> Iterator[Change]:
    for change in _key_changes(None, document_of(old), document_of(new)):
        is_other_key = change.key == "primaryKeyColumns" and old.primary_key
        yield replace(change, effort=Effort.NEW_TABLE) if is_other_key else change


def _key_changes(column: str | None, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    for key in dict.fromkeys([*old, *new]):
        before, after = old.get(key), new.get(key)
        if key not in _COMPARED_APART and compact(before) != compact(after):
            on_reload, effort = _EFFECTS.get(key, (_OLD_ROWS_STAY, Effort.NONE))
            sentence = f"{key} from {_shown(before)} to {_shown(after)}"
            yield Change(column, key, before, after, sentence, on_reload, effort)


def _default(spec: FieldSpec) -> Any:
    try:
        value = default_of(spec)
    except CannotConvert:
        return None
    if spec.single_value:
        return default_json(spec.data_type, value)
    return [default_json(spec.data_type, element) for element in value]


def _shown(value: Any) -> str:
    return "unset" if value is None else compact(value) if not isinstance(value, str) else value
