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
from trellis.dialects.pinot.document.writer import document_of, field_document, time_document
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


WIDER: Final[Mapping[PinotType, frozenset[PinotType]]] = {
    PinotType.INT: frozenset({PinotType.LONG, PinotType.DOUBLE, PinotType.BIG_DECIMAL, PinotType.STRING}),
    PinotType.LONG: frozenset({PinotType.BIG_DECIMAL, PinotType.STRING}),
    PinotType.FLOAT: frozenset({PinotType.DOUBLE, PinotType.STRING}),
    PinotType.DOUBLE: frozenset({PinotType.STRING}),
    PinotType.BIG_DECIMAL: frozenset({PinotType.STRING}),
}
"""The types that hold every value of a type."""

_ROWS_STAY: Final = "rows that are there stay as they are; rows from now on follow it"
_NOTHING: Final = "nothing in the segments changes"
_KEYS: Final = {
    "fieldType": (
        "role",
        "nothing in the segments changes, unless the column was filled in by a reload",
        Effort.RELOAD,
    ),
    "notNull": ("notNull", "rows that are there keep the null bitmap they have", Effort.NONE),
    "maxLength": ("maxLength", _ROWS_STAY, Effort.NONE),
    "maxLengthExceedStrategy": ("maxLengthExceedStrategy", _ROWS_STAY, Effort.NONE),
    "allowTrailingZeros": ("allowTrailingZeros", _ROWS_STAY, Effort.NONE),
    "transformFunction": (
        "transform",
        "ingested columns stay as they are: only rows from now on are computed by it",
        Effort.BACKFILL,
    ),
    "virtualColumnProvider": (
        "virtualColumnProvider",
        "values that are stored stay as they are",
        Effort.RELOAD,
    ),
    "format": ("format", "values are not rewritten: old rows are read by the new format", Effort.BACKFILL),
    "granularity": ("granularity", "it is documentation: values are never rounded", Effort.NONE),
    "childFieldSpecs": ("children", _ROWS_STAY, Effort.NONE),
}
_DOCUMENTATION_KEYS: Final = ("description", "tags")


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
    if not has_same_type(old, new):
        wider = old.single_value == new.single_value and new.data_type in WIDER.get(old.data_type, ())
        sentence = f"{'widened' if wider else 'changed'} from {role_of(old)} to {role_of(new)}"
        refused = (
            "Pinot refuses to change type or number of values: make a new table and load it from the source"
        )
        yield Change(old.name, "dataType", role_of(old), role_of(new), sentence, refused, Effort.NEW_TABLE)
    elif compact(_default(old)) != compact(_default(new)):
        yield Change(
            old.name,
            "defaultNullValue",
            _default(old),
            _default(new),
            f"default from {compact(_default(old))} to {compact(_default(new))}",
            "ingested rows keep the old default; a column that a reload filled in is filled in anew",
            Effort.RELOAD,
        )
    for key, (word, on_reload, effort) in _KEYS.items():
        if before.get(key) != after.get(key):
            sentence = f"{word} from {_shown(before.get(key))} to {_shown(after.get(key))}"
            yield Change(old.name, key, before.get(key), after.get(key), sentence, on_reload, effort)
    for key in _DOCUMENTATION_KEYS:
        if before.get(key) != after.get(key):
            yield Change(
                old.name, key, before.get(key), after.get(key), f"{key} changed", _NOTHING, Effort.NONE
            )


def _schema_changes(old: PinotSchema, new: PinotSchema) -> Iterator[Change]:
    if old.name != new.name:
        yield Change(
            None,
            "schemaName",
            old.name,
            new.name,
            f"schemaName from {_shown(old.name)} to {_shown(new.name)}",
            "Pinot refuses to rename a schema: it is the name of the table",
            Effort.NEW_TABLE,
        )
    if old.column_nulls != new.column_nulls:
        words = {True: "column-based", False: "table-based"}
        yield Change(
            None,
            "enableColumnBasedNullHandling",
            old.column_nulls,
            new.column_nulls,
            f"null handling from {words[old.column_nulls]} to {words[new.column_nulls]}",
            "rows that are there keep the null bitmap they have, so nulls ingested before stay defaults",
            Effort.BACKFILL,
        )
    if old.primary_key != new.primary_key:
        yield Change(
            None,
            "primaryKeyColumns",
            list(old.primary_key),
            list(new.primary_key),
            f"primary key from [{', '.join(old.primary_key)}] to [{', '.join(new.primary_key)}]",
            "rows that are there were made unique by the old key",
            Effort.NEW_TABLE if old.primary_key else Effort.BACKFILL,
        )
    for key, before, after in (
        ("description", old.description, new.description),
        ("tags", list(old.tags), list(new.tags)),
    ):
        if before != after:
            yield Change(None, key, before, after, f"{key} changed", _NOTHING, Effort.NONE)
    if old.time is not None and new.time is not None and old.time.column.name == new.time.column.name:
        before_time, after_time = time_document(old.time), time_document(new.time)
        for key in ("incomingGranularitySpec", "outgoingGranularitySpec"):
            if before_time.get(key) != after_time.get(key):
                sentence = f"{key} changed"
                yield Change(
                    old.time.column.name,
                    key,
                    before_time.get(key),
                    after_time.get(key),
                    sentence,
                    "values are not rewritten: old rows are read by the new format",
                    Effort.BACKFILL,
                )


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
