"""Whether a value fits the type of its column."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from trellis.dialects.ytsaurus.errors import ErrorCode, YtError
from trellis.dialects.ytsaurus.types.model import (
    YSON,
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
from trellis.dialects.ytsaurus.values.decimals import decode_decimal, encode_decimal
from trellis.dialects.ytsaurus.values.primitives import check_primitive, mismatch, shown, violation, wire_kind
from trellis.dialects.ytsaurus.values.text_forms import TIMES, UuidForm, parse_time, parse_uuid
from trellis.dialects.ytsaurus.yson.values import MAX_INT64, Attributed, Uint64, kind_of, to_bytes
from trellis.dialects.ytsaurus.yson.writer import format_double


@dataclass(frozen=True)
class ValueForms:
    """How values of composite types are written, and which conversions a format asks for."""

    positional: bool = False
    """Structs are lists, and alternatives have numbers: complex_type_mode=positional."""
    named_dicts: bool = False
    """Dicts with string keys are maps: string_keyed_dict_mode=named."""
    integral_to_double: bool = False
    string_to_all: bool = False
    all_to_string: bool = False
    decimal_as_text: bool = False
    """`12.34` instead of bytes: decimal_mode=text."""
    time_as_text: bool = False
    """`2023-11-14` instead of numbers: time_mode=text."""
    uuid: UuidForm = "binary"
    """uuid_mode."""


DEFAULT_FORMS: Final = ValueForms()
ValueValidator = Callable[[Any], Any]
"""Gives a value as it is stored, or raises YtError."""


def validate_value(type: Type, value: Any, forms: ValueForms = DEFAULT_FORMS) -> Any:
    """The value as it is stored in a column of the type. Raises YtError with the code 307.

    Structs come back as dicts with all members, whatever form they had.

    >>> validate_value(Optional(Primitive("uint8")), 5)
    5u
    """
    return value_validator(type, forms)(value)


def value_validator(type: Type, forms: ValueForms = DEFAULT_FORMS) -> ValueValidator:
    """`validate_value` for the many values of one column."""
    column_type = without_tags(type)
    nullable, plain = is_nullable(column_type), column_type
    if isinstance(plain, Optional) and not is_nullable(plain.item):
        plain = without_tags(plain.item)
    check = _column_check(plain, forms)

    def validate(value: Any) -> Any:
        if value is not None:
            return check(value)
        if not nullable:
            violation(f"null in a required column of the type {column_type}")
        return None

    return validate


def _column_check(plain: Type, forms: ValueForms) -> ValueValidator:
    if plain in (YSON, Optional(YSON)):
        return _check_any
    if isinstance(plain, Primitive):
        return lambda value: _check_plain(plain, value, forms)
    return lambda value: _check(plain, value, forms)


def _check_plain(type: Primitive, value: Any, forms: ValueForms) -> Any:
    _no_attributes(type, value)
    value = _from_form(type.name, value, forms)
    return check_primitive(type.name, _coerce(type.name, value, forms))


def _check_any(value: Any) -> Any:
    if isinstance(value, Attributed):
        violation("a value of the type any cannot have attributes at its top")
    kind_of(value)
    return value


def complete_value(type: Type, value: Any) -> Any:
    """A stored value under a later type: members that a struct got since are null."""
    plain = without_tags(type)
    if value is None:
        return None
    match plain:
        case Optional(item):
            if is_nullable(item):
                return [complete_value(item, value[0])]
            return complete_value(item, value)
        case List(item):
            return [complete_value(item, part) for part in value]
        case Tuple(elements):
            return [complete_value(element, part) for element, part in zip(elements, value, strict=True)]
        case Struct(members):
            return {member.name: complete_value(member.type, value.get(member.name)) for member in members}
        case Dict(key, item):
            return [[complete_value(key, pair[0]), complete_value(item, pair[1])] for pair in value]
        case Variant():
            name, part = value
            return [name, complete_value(_alternative(plain, name), part)]
    return value


def _from_form(name: str, value: Any, forms: ValueForms) -> Any:
    """Times and uuids that come as text, in their own kind."""
    if forms.time_as_text and name in TIMES:
        number = parse_time(name, value)
        return Uint64(number) if number >= 0 and wire_kind(name) == "uint64" else number
    if name == "uuid" and forms.uuid != "binary":
        return parse_uuid(forms.uuid, value)
    return value


def _coerce(name: str, value: Any, forms: ValueForms) -> Any:
    """The conversions of a whole column's value; none is made inside of composite values."""
    expected, actual = wire_kind(name), kind_of(value)
    match expected, actual:
        case "uint64", "int64" if value >= 0:
            return Uint64(value)
        case "int64", "uint64" if value <= MAX_INT64:
            return int(value)
        case "double", "int64" | "uint64" if forms.integral_to_double:
            return float(value)
        case "string", "int64" | "uint64" | "double" | "boolean" if forms.all_to_string:
            return _to_text(value)
        case _, "string" if forms.string_to_all and expected not in ("string", "null"):
            return _from_text(name, to_bytes(value))
    return value


def _to_text(value: Any) -> bytes:
    if isinstance(value, bool):
        return b"true" if value else b"false"
    return (format_double(value) if isinstance(value, float) else str(int(value))).encode()


def _from_text(name: str, text: bytes) -> Any:
    kind = wire_kind(name)
    try:
        match kind:
            case "boolean":
                return {b"true": True, b"false": False}[text]
            case "double":
                return float(text)
            case "uint64":
                return Uint64(text.removesuffix(b"u"))
        return int(text.removesuffix(b"u"))
    except (KeyError, ValueError):
        raise mismatch(name, text) from None


def _check(type: Type, value: Any, forms: ValueForms) -> Any:
    match type:
        case Primitive("yson"):
            return value
        case Primitive(name):
            _no_attributes(type, value)
            return check_primitive(name, _from_form(name, value, forms))
        case Tagged(_, item):
            return _check(item, value, forms)
        case Optional(item):
            return _check_optional(type, item, value, forms)
    _no_attributes(type, value)
    match type:
        case Decimal():
            if kind_of(value) != "string":
                raise mismatch(type, value)
            if forms.decimal_as_text:
                return encode_decimal(type, to_bytes(value).decode("utf-8", "backslashreplace"))
            decode_decimal(type, to_bytes(value))
            return to_bytes(value)
        case List(item):
            return [_at(index, item, part, forms) for index, part in enumerate(_items(type, value))]
        case Tuple(elements):
            items = _items(type, value)
            if len(items) != len(elements):
                violation(f"a {type} has {len(elements)} elements, not {len(items)}")
            return [_at(index, *pair, forms) for index, pair in enumerate(zip(elements, items, strict=True))]
        case Struct(members):
            if forms.positional:
                return _check_positional(type, members, _items(type, value), forms)
            return _check_named(type, members, value, forms)
        case Variant():
            return _check_variant(type, value, forms)
        case Dict():
            return _check_dict(type, value, forms)
    raise AssertionError(type)


def _check_optional(type: Type, item: Type, value: Any, forms: ValueForms) -> Any:
    """Where the item may be null itself, a value that is there stands in a list of one."""
    if value is None:
        return None
    if item == YSON or not is_nullable(item):
        return _check(item, value, forms)
    items = _items(type, value)
    if len(items) != 1:
        violation(f"a value of {type} is # or a list of one item, not of {len(items)}")
    return [_check(item, items[0], forms)]


def _check_named(type: Type, members: Sequence[Member], value: Any, forms: ValueForms) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise mismatch(type, value)
    names = {member.name for member in members}
    unknown = [key for key in value if key not in names]
    if unknown:
        violation(f"{type} has no member {unknown[0]!r}")
    return {member.name: _member(member, value.get(member.name), forms) for member in members}


def _check_positional(
    type: Type, members: Sequence[Member], items: Sequence[Any], forms: ValueForms
) -> dict[str, Any]:
    if len(items) > len(members):
        violation(f"{type} has {len(members)} members, not {len(items)}")
    padded = [*items, *[None] * (len(members) - len(items))]
    return {member.name: _member(member, item, forms) for member, item in zip(members, padded, strict=True)}


def _member(member: Member, value: Any, forms: ValueForms) -> Any:
    if value is None and not is_nullable(member.type):
        violation(f"the member {member.name} of the type {member.type} is required")
    return _at(member.name, member.type, value, forms)


def _check_variant(type: Variant, value: Any, forms: ValueForms) -> list[Any]:
    items = _items(type, value)
    if len(items) != 2:
        violation(f"a value of {type} is a list of an alternative and its value, not of {len(items)} items")
    choice = _numbered(type, items[0]) if type.named and forms.positional else items[0]
    choice = to_bytes(choice) if isinstance(choice, str) else choice
    return [choice, _at(choice, _alternative(type, choice), items[1], forms)]


def _numbered(type: Variant, number: Any) -> Any:
    if not isinstance(number, int) or not 0 <= number < len(type.alternatives):
        violation(f"{type} has no alternative {number!r}")
    member = type.alternatives[number]
    return member.name if isinstance(member, Member) else number


def _alternative(type: Variant, choice: Any) -> Type:
    """The type of an alternative, chosen by its name in bytes or by its number."""
    for index, alternative in enumerate(type.alternatives):
        if isinstance(alternative, Member):
            if to_bytes(alternative.name) == choice:
                return alternative.type
        elif index == choice and not isinstance(choice, bool):
            return alternative
    return violation(f"{type} has no alternative {shown(choice)}")


def _check_dict(type: Dict, value: Any, forms: ValueForms) -> list[list[Any]]:
    if forms.named_dicts and isinstance(value, Mapping):
        pairs: Sequence[Any] = [[to_bytes(key), item] for key, item in value.items()]
    else:
        pairs = _items(type, value)
    checked = []
    for index, pair in enumerate(pairs):
        parts = _items(type, pair)
        if len(parts) != 2:
            violation(f"an item of {type} is a list of a key and a value, not of {len(parts)} items")
        checked.append([_at(index, type.key, parts[0], forms), _at(index, type.value, parts[1], forms)])
    return checked


def _at(place: object, type: Type, value: Any, forms: ValueForms) -> Any:
    """A part of a value; an error names where it is."""
    try:
        return _check(type, value, forms)
    except YtError as error:
        place = place.decode("utf-8", "replace") if isinstance(place, bytes) else place
        separator = "" if error.message.startswith("at /") else ": "
        message = error.message.removeprefix("at ")
        raise YtError(f"at /{place}{separator}{message}", error.code, attributes=error.attributes) from None


def _items(type: Type, value: Any) -> Sequence[Any]:
    if not isinstance(value, list | tuple):
        raise mismatch(type, value)
    return value


def _no_attributes(type: Type, value: Any) -> None:
    if isinstance(value, Attributed):
        raise YtError(f"a value of {type} has attributes", ErrorCode.SCHEMA_VIOLATION)
