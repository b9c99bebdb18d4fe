"""Schemas read from documents (YSON, or lists and dicts) and written to them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from trellis.dialects.ytsaurus.errors import YtError
from trellis.dialects.ytsaurus.schema.model import Column, TableSchema
from trellis.dialects.ytsaurus.schema.validation import (
    Fault,
    column_name_fault,
    schema_error,
    schema_faults,
    schema_warnings,
)
from trellis.dialects.ytsaurus.switches import DEFAULT_SWITCHES, Switches
from trellis.dialects.ytsaurus.types.document import parse_type, type_document
from trellis.dialects.ytsaurus.types.model import ANY, Type, is_nullable
from trellis.dialects.ytsaurus.types.simple import SIMPLE_NAMES, simple_type, type_of_simple
from trellis.dialects.ytsaurus.yson.values import Attributed, split_attributes, to_key
from trellis.errors import nearest

_TEXTS: Final = ("sort_order", "expression", "aggregate", "lock", "group", "stable_name", "constraint")
_KEYS: Final = frozenset(
    ("name", "type", "type_v3", "required", "max_inline_hunk_size", "materialized", *_TEXTS)
)
_ATTRIBUTES: Final = frozenset(("strict", "unique_keys", "deleted_columns"))


@dataclass(frozen=True)
class SchemaReading:
    """What a document says, and all that is wrong with it."""

    schema: TableSchema
    """Without the columns that could not be read; those whose types could not are of the type any."""
    faults: tuple[Fault, ...]
    warnings: tuple[Fault, ...]


def parse_schema(document: Any, switches: Switches = DEFAULT_SWITCHES) -> TableSchema:
    """The schema of a document. Raises YtError with every fault, and warns of what it ignores.

    >>> str(parse_schema([{"name": "k", "type": "string", "sort_order": "ascending"}]))
    '[k:optional<string>^]'
    """
    reading = read_schema(document, switches)
    if reading.faults:
        raise schema_error(reading.faults)
    for warning in reading.warnings:
        warnings.warn(f"the schema: {warning}", stacklevel=2)
    return reading.schema


def check_schema(document: Any, switches: Switches = DEFAULT_SWITCHES) -> tuple[Fault, ...]:
    """Everything that is wrong with the document of a schema; empty if it is valid.

    >>> [str(fault) for fault in check_schema([{"name": "@a", "type": "any", "required": True}])]
    ['column @a: a column of the type any cannot be required', 'column @a: the name begins with @, which is
    for system columns']
    """
    return read_schema(document, switches).faults


def read_schema(document: Any, switches: Switches = DEFAULT_SWITCHES) -> SchemaReading:
    reading = read_columns(document)
    schema = reading.schema
    faults = (*reading.faults, *schema_faults(schema, switches))
    return SchemaReading(schema, faults, (*reading.warnings, *schema_warnings(schema)))


def read_columns(document: Any) -> SchemaReading:
    """A schema that is not held against the rules of tables, such as one that an operation left."""
    return _Reader().read(document)


def schema_document(schema: TableSchema) -> Attributed:
    """What `@schema` reads."""
    attributes: dict[str, Any] = {"unique_keys": schema.unique_keys, "strict": schema.strict}
    if schema.deleted_columns:
        attributes["deleted_columns"] = [{"stable_name": name} for name in schema.deleted_columns]
    return Attributed([column_document(column) for column in schema.columns], attributes)


def column_document(column: Column) -> dict[str, Any]:
    name, required = column.simple
    document = {
        "name": column.name,
        "type": name,
        "required": required,
        "type_v3": type_document(column.type),
        "sort_order": column.sort_order,
        "expression": column.expression,
        "aggregate": column.aggregate,
        "lock": column.lock,
        "group": column.group,
        "stable_name": column.stable_name if column.stable_name != column.name else None,
        "max_inline_hunk_size": column.max_inline_hunk_size,
        "materialized": column.materialized,
        "constraint": column.constraint,
    }
    return {key: value for key, value in document.items() if value not in (None, "")}


def parse_flag(value: Any) -> bool | None:
    """A boolean, which attributes may also have as text; None for what is neither."""
    value, _ = split_attributes(value)
    texts: dict[Any, bool] = {"true": True, b"true": True, "false": False, b"false": False}
    if isinstance(value, bool):
        return value
    return texts.get(value) if isinstance(value, str | bytes) else None


class _Reader:
    def __init__(self) -> None:
        self._faults: list[Fault] = []
        self._warnings: list[Fault] = []

    def read(self, document: Any) -> SchemaReading:
        items, attributes = split_attributes(document)
        if not isinstance(items, list | tuple):
            self._fault("", "a schema is a list of columns, such as [{name=k; type=int64}]")
            items = ()
        columns = [self._read_column(item, index) for index, item in enumerate(items)]
        schema = TableSchema(
            tuple(column for column in columns if column is not None),
            strict=self._flag(attributes, "strict", True),
            unique_keys=self._flag(attributes, "unique_keys", False),
            deleted_columns=self._deleted_columns(attributes),
        )
        self._warn_of_unknown("", attributes, _ATTRIBUTES)
        return SchemaReading(schema, tuple(self._faults), tuple(self._warnings))

    def _read_column(self, document: Any, index: int) -> Column | None:
        document, _ = split_attributes(document)
        if not isinstance(document, Mapping):
            self._fault(f"#{index}", "a column is a map, such as {name=k; type=int64}")
            return None
        name = document.get("name")
        if not isinstance(name, str | bytes):
            self._fault(f"#{index}", "the column has no name")
            return None
        name = to_key(name)
        place = name or f"#{index}"
        type = self._read_type(place, document)
        texts = {key: self._text(place, document, key) for key in _TEXTS}
        if not name:
            self._fault(place, column_name_fault(name) or "")
        if not name:
            return None
        order = texts["sort_order"]
        if order not in (None, "ascending", "descending"):
            self._fault(place, f"sort_order is {order!r}; expected ascending")
            order = None
        self._warn_of_unknown(place, document, _KEYS)
        if type is None:  # what is held against the type is left away, all else is checked
            texts |= {"expression": None, "aggregate": None}
        return Column(
            name,
            type or ANY,
            order,  # type: ignore[arg-type]
            expression=texts["expression"],
            aggregate=texts["aggregate"],
            lock=texts["lock"],
            group=texts["group"],
            stable_name="" if texts["stable_name"] in (None, name) else str(texts["stable_name"]),
            max_inline_hunk_size=self._size(place, document),
            materialized=self._materialized(place, document) if type else None,
            constraint=texts["constraint"],
        )

    def _read_type(self, place: str, document: Mapping[str, Any]) -> Type | None:
        """The type that `type`, `required` and `type_v3` agree on."""
        simple, required = self._text(place, document, "type"), self._required(place, document)
        if simple is not None and simple not in SIMPLE_NAMES:
            hint = nearest(simple, SIMPLE_NAMES)
            if simple in SIMPLE_NAMES.values():
                names = [name for name, new in SIMPLE_NAMES.items() if new == simple]
                hint = f"; it is a name of type_v3, in `type` it is {names[0]}"
            self._fault(place, f"there is no type {simple!r}{hint}")
            return None
        if document.get("type_v3") is None:
            if simple is None:
                self._fault(place, "the column has neither type nor type_v3")
                return None
            type = type_of_simple(simple, bool(required))
            if (required and is_nullable(type)) or (required and simple == "any"):
                self._fault(place, f"a column of the type {simple} cannot be required")
                return None if simple != "any" else type_of_simple(simple, False)
            return type
        try:
            type = parse_type(document["type_v3"])
        except YtError as error:
            self._fault(place, error.message)
            return None
        derived = simple_type(type)
        if simple not in (None, derived.name):
            self._fault(place, f"type is {simple} and type_v3 is {type}, whose type is {derived.name}")
        if required not in (None, derived.required):
            stated, fits = ("%true", "null") if required else ("%false", "no null")
            self._fault(place, f"required is {stated} and type_v3 is {type}, which holds {fits}")
        return type

    def _required(self, place: str, document: Mapping[str, Any]) -> bool | None:
        if document.get("required") is None:
            return None
        required = parse_flag(document["required"])
        if required is None:
            self._fault(place, "required is not a boolean")
        return required

    def _text(self, place: str, document: Mapping[str, Any], key: str) -> str | None:
        value, _ = split_attributes(document.get(key))
        if value is None:
            return None
        if not isinstance(value, str | bytes):
            self._fault(place, f"{key} is not a string")
            return None
        return to_key(value)

    def _size(self, place: str, document: Mapping[str, Any]) -> int | None:
        size = document.get("max_inline_hunk_size")
        if size is not None and (not isinstance(size, int) or isinstance(size, bool)):
            self._fault(place, "max_inline_hunk_size is not an integer")
            return None
        return size

    def _materialized(self, place: str, document: Mapping[str, Any]) -> bool | None:
        if document.get("materialized") is None:
            return None
        materialized = parse_flag(document["materialized"])
        if materialized is not True:
            self._fault(place, "materialized is not %true, which alone is supported")
        return materialized

    def _flag(self, attributes: Mapping[str, Any], key: str, default: bool) -> bool:
        if attributes.get(key) is None:
            return default
        flag = parse_flag(attributes[key])
        if flag is None:
            self._fault("", f"{key} is not a boolean")
            return default
        return flag

    def _deleted_columns(self, attributes: Mapping[str, Any]) -> tuple[str, ...]:
        documents = attributes.get("deleted_columns") or ()
        if not isinstance(documents, list | tuple) or not all(
            isinstance(item, Mapping) and isinstance(item.get("stable_name"), str | bytes)
            for item in documents
        ):
            if documents:
                self._fault("", "deleted_columns is not a list of {stable_name=...}")
            return ()
        return tuple(to_key(item["stable_name"]) for item in documents)

    def _warn_of_unknown(self, place: str, document: Mapping[str, Any], known: frozenset[str]) -> None:
        for key in document:
            if key not in known:
                self._warnings.append(Fault(place, f"{key!r} is ignored{nearest(key, sorted(known))}"))

    def _fault(self, place: str, message: str) -> None:
        self._faults.append(Fault(place, message))
