"""Stored values in the forms that a format asks for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from trellis.dialects.ytsaurus.schema.model import TableSchema
from trellis.dialects.ytsaurus.types.model import (
    Decimal,
    Dict,
    List,
    Member,
    Optional,
    Primitive,
    Struct,
    Tagged,
    Tuple,
    Type,
    Variant,
    is_nullable,
    without_tags,
)
from trellis.dialects.ytsaurus.values.decimals import decode_decimal
from trellis.dialects.ytsaurus.values.text_forms import TIMES, format_time, format_uuid
from trellis.dialects.ytsaurus.values.validation import DEFAULT_FORMS, ValueForms
from trellis.dialects.ytsaurus.yson.values import to_bytes, to_key

Present = Callable[[Any], Any]
Row = dict[str, Any]


def row_presenter(schema: TableSchema, forms: ValueForms) -> Callable[[Row], Row]:
    """What makes rows as they are stored those that a format has."""
    presenters = {column.name: _presenter(column.type, forms) for column in schema.columns}
    changed = {name: present for name, present in presenters.items() if present is not None}
    if not changed:
        return lambda row: row
    return lambda row: {
        name: changed[name](value) if name in changed and value is not None else value
        for name, value in row.items()
    }


def _presenter(type: Type, forms: ValueForms) -> Present | None:
    """What changes values of a type that are not null; None where they stay as they are."""
    if forms == DEFAULT_FORMS:
        return None
    match type:
        case Tagged(_, item):
            return _presenter(item, forms)
        case Primitive(name) if forms.time_as_text and name in TIMES:
            return lambda value: format_time(name, value)
        case Primitive("uuid") if forms.uuid != "binary":
            return lambda value: format_uuid(forms.uuid, value)
        case Decimal() if forms.decimal_as_text:
            return lambda value: decode_decimal(type, value).encode()
        case Optional(item):
            present = _presenter(item, forms)
            if present is None or not is_nullable(item):
                return present
            return lambda value: [_apply(present, value[0])]
        case List(item):
            present = _presenter(item, forms)
            return None if present is None else lambda value: [_apply(present, part) for part in value]
        case Tuple(elements):
            return _tuple_presenter([_presenter(element, forms) for element in elements])
        case Struct(members):
            return _struct_presenter(members, forms)
        case Dict():
            return _dict_presenter(type, forms)
        case Variant():
            return _variant_presenter(type, forms)
    return None


def _apply(present: Present | None, value: Any) -> Any:
    return value if present is None or value is None else present(value)


def _tuple_presenter(presenters: Sequence[Present | None]) -> Present | None:
    if not any(presenters):
        return None
    return lambda value: [_apply(present, part) for present, part in zip(presenters, value, strict=True)]


def _struct_presenter(members: Sequence[Member], forms: ValueForms) -> Present | None:
    presenters = {member.name: _presenter(member.type, forms) for member in members}
    if forms.positional:
        return lambda value: [_apply(present, value[name]) for name, present in presenters.items()]
    if not any(presenters.values()):
        return None
    return lambda value: {name: _apply(present, value[name]) for name, present in presenters.items()}


def _dict_presenter(type: Dict, forms: ValueForms) -> Present | None:
    key, item = _presenter(type.key, forms), _presenter(type.value, forms)
    if forms.named_dicts and without_tags(type.key) in (Primitive("string"), Primitive("utf8")):
        return lambda value: {to_key(name): _apply(item, part) for name, part in value}
    return _tuple_in_list(_tuple_presenter([key, item]))


def _tuple_in_list(present: Present | None) -> Present | None:
    return None if present is None else lambda value: [present(part) for part in value]


def _variant_presenter(type: Variant, forms: ValueForms) -> Present | None:
    names = [
        to_bytes(item.name) if isinstance(item, Member) else index
        for index, item in enumerate(type.alternatives)
    ]
    presenters = [_presenter(part, forms) for part in type.types]
    numbers_names = type.named and forms.positional
    if not numbers_names and not any(presenters):
        return None

    def present(value: Any) -> list[Any]:
        choice, part = value
        index = names.index(to_bytes(choice) if isinstance(choice, str) else choice)
        return [index if numbers_names else choice, _apply(presenters[index], part)]

    return present
