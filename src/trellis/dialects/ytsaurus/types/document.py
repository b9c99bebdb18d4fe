"""`type_v3`: types read from documents and written to them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from trellis.dialects.ytsaurus.errors import ErrorCode, YtError
from trellis.dialects.ytsaurus.types.model import (
    ANY,
    PRIMITIVES,
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
    depth_of,
    iter_types,
    parts_of,
)
from trellis.dialects.ytsaurus.yson.values import split_attributes, to_bytes, to_key
from trellis.errors import nearest

MAX_DEPTH: Final = 32
MAX_NAME_BYTES: Final = 256
MAX_PRECISION: Final = 76
_COMPOSITES: Final = ("optional", "list", "struct", "tuple", "variant", "dict", "tagged", "decimal")
_OTHER_SPELLING: Final = {"boolean": "bool", "any": "yson"}


def parse_type(document: Any) -> Type:
    """The type of a `type_v3`. Raises YtError with the code 314.

    >>> str(parse_type({"type_name": "optional", "item": "utf8"}))
    'optional<utf8>'
    """
    type = _parse(document, 0)
    if depth_of(type) > MAX_DEPTH:
        raise _fault(f"the type is nested {depth_of(type)} levels deep; at most {MAX_DEPTH} are allowed")
    _check_yson(type)
    return type


def type_document(type: Type) -> Any:
    """The `type_v3` of a type."""
    match type:
        case Primitive(name):
            return name
        case Decimal(precision, scale):
            return {"type_name": "decimal", "precision": precision, "scale": scale}
        case Optional(item):
            return {"type_name": "optional", "item": type_document(item)}
        case List(item):
            return {"type_name": "list", "item": type_document(item)}
        case Struct(members):
            return {"type_name": "struct", "members": _member_documents(members)}
        case Tuple(elements):
            return {"type_name": "tuple", "elements": _element_documents(elements)}
        case Variant(alternatives):
            if type.named:
                return {"type_name": "variant", "members": _member_documents(alternatives)}
            return {"type_name": "variant", "elements": _element_documents(type.types)}
        case Dict(key, value):
            return {"type_name": "dict", "key": type_document(key), "value": type_document(value)}
        case Tagged(tag, item):
            return {"type_name": "tagged", "tag": tag, "item": type_document(item)}


def name_fault(name: Any, what: str) -> str | None:
    """What is wrong with a name of at most 256 bytes."""
    if not isinstance(name, str | bytes):
        return f"{what} is not a string"
    size = len(to_bytes(name))
    if not size:
        return f"{what} is empty"
    if size > MAX_NAME_BYTES:
        return f"{what} has {size} bytes; at most {MAX_NAME_BYTES} are allowed"
    return None


def _parse(document: Any, depth: int) -> Type:
    if depth > 4 * MAX_DEPTH:
        raise _fault(f"the type is nested deeper than {MAX_DEPTH} levels")
    document, _ = split_attributes(document)
    if isinstance(document, str | bytes):
        return _parse_primitive(to_key(document))
    if not isinstance(document, Mapping):
        raise _fault("type_v3 is neither a string nor a map; expected a name such as int64, or type_name=...")
    name = to_key(_key(document, "type_name"))
    match name:
        case "optional":
            return Optional(_parse(_key(document, "item"), depth + 1))
        case "list":
            return List(_parse(_key(document, "item"), depth + 1))
        case "struct":
            return Struct(_members(_items(document, "members"), depth))
        case "tuple":
            return Tuple(_elements(_items(document, "elements"), depth))
        case "variant":
            return _variant(document, depth)
        case "dict":
            return _dict(document, depth)
        case "tagged":
            return _tagged(document, depth)
        case "decimal":
            return _decimal(document)
    return _parse_primitive(name)


def _parse_primitive(name: str) -> Primitive:
    if name in _COMPOSITES:
        raise _fault(f"{name} has parts, so it is a map: {{type_name={name}; ...}}")
    if name in _OTHER_SPELLING:
        raise _fault(f"{name} is a name of `type`; in type_v3 it is {_OTHER_SPELLING[name]}")
    if name not in PRIMITIVES:
        raise _fault(f"there is no type {name!r}{nearest(name, sorted(PRIMITIVES))}")
    return Primitive(name)


def _variant(document: Mapping[str, Any], depth: int) -> Variant:
    if ("members" in document) == ("elements" in document):
        raise _fault("a variant has either members or elements")
    named = "members" in document
    if named:
        members = _members(_items(document, "members"), depth)
        if members:
            return Variant(members, named)
    elements = () if named else _elements(_items(document, "elements"), depth)
    if not elements:
        raise _fault("a variant without alternatives has no values")
    return Variant(elements, named)


def _dict(document: Mapping[str, Any], depth: int) -> Dict:
    key, value = _parse(_key(document, "key"), depth + 1), _parse(_key(document, "value"), depth + 1)
    for part in iter_types(key):
        if part in (YSON, Primitive("json")):
            raise _fault(f"the key of a dict holds {part}, whose values have no one form")
    return Dict(key, value)


def _tagged(document: Mapping[str, Any], depth: int) -> Tagged:
    tag = _key(document, "tag")
    if fault := name_fault(tag, "a tag"):
        raise _fault(fault)
    return Tagged(to_key(tag), _parse(_key(document, "item"), depth + 1))


def _decimal(document: Mapping[str, Any]) -> Decimal:
    precision, scale = _key(document, "precision"), _key(document, "scale")
    if not (isinstance(precision, int) and 1 <= precision <= MAX_PRECISION):
        raise _fault(f"the precision of a decimal is {precision!r}; expected 1 to {MAX_PRECISION}")
    if not (isinstance(scale, int) and 0 <= scale <= precision):
        raise _fault(f"the scale of a decimal is {scale!r}; expected 0 to its precision, {precision}")
    return Decimal(int(precision), int(scale))


def _members(documents: list[Any], depth: int) -> tuple[Member, ...]:
    members: dict[str, Member] = {}
    for document in documents:
        if not isinstance(document, Mapping):
            raise _fault("a member is not a map; expected {name=...; type=...}")
        name = _key(document, "name")
        if fault := name_fault(name, "the name of a member"):
            raise _fault(fault)
        if isinstance(name, bytes):
            raise _fault(f"the name of the member {name!r} is not UTF-8")
        if name in members:
            raise _fault(f"two members are named {name}")
        members[name] = Member(name, _parse(_key(document, "type"), depth + 1))
    return tuple(members.values())


def _elements(documents: list[Any], depth: int) -> tuple[Type, ...]:
    for document in documents:
        if not isinstance(document, Mapping):
            raise _fault("an element is not a map; expected {type=...}")
    return tuple(_parse(_key(document, "type"), depth + 1) for document in documents)


def _key(document: Mapping[str, Any], key: str) -> Any:
    if key not in document:
        name = document.get("type_name")
        raise _fault(f"{f'the type {to_key(name)}' if name else 'a part of the type'} has no {key}")
    return document[key]


def _items(document: Mapping[str, Any], key: str) -> list[Any]:
    items = _key(document, key)
    if not isinstance(items, list | tuple):
        raise _fault(f"{key} of a {to_key(document['type_name'])} is not a list")
    return list(items)


def _check_yson(type: Type) -> None:
    """yson stands in optional alone."""
    if type == YSON:
        raise _fault("yson may be null, so it is {type_name=optional; item=yson}")
    if type != ANY:
        for part in parts_of(type):
            _check_yson(part)


def _member_documents(members: Any) -> list[dict[str, Any]]:
    return [{"name": member.name, "type": type_document(member.type)} for member in members]


def _element_documents(elements: Any) -> list[dict[str, Any]]:
    return [{"type": type_document(element)} for element in elements]


def _fault(message: str) -> YtError:
    return YtError(message, ErrorCode.INVALID_SCHEMA)
