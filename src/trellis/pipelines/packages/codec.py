"""Dataclasses as plain JSON values and back, by the types of their fields.

Which class is made is known from the field, never from the document. Only where a field takes one of several
classes does the document say which, by a name from a list.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from types import NoneType, UnionType
from typing import Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

from trellis.errors import nearest
from trellis.evolution.scalars.tagged_json import from_tagged, to_tagged

KIND = "kind"
"""The key under which an object says its class, where there is a choice."""


class Malformed(ValueError):
    """A document that the codec has not written: the place, and what was expected there."""


class TypeCodec(NamedTuple):
    """How the values of one type are written and read. `decode` gets the place for its messages."""

    encode: Callable[[Any], Any]
    decode: Callable[[Any, str], Any]


class DataclassCodec:
    """Writes and reads dataclasses of any depth.

    `codecs` are those of types that are not taken apart field by field, `names` what the classes are called
    in fields that take one of several. `keys` are the keys of fields that have another name in documents, by
    class. A field that has a default may be missing in a document, so a class can get one more without a new
    version of the format.
    """

    def __init__(
        self,
        codecs: Mapping[Any, TypeCodec],
        names: Mapping[type, str],
        keys: Mapping[type, Mapping[str, str]],
    ) -> None:
        self._codecs: dict[Any, TypeCodec] = {**_SCALARS, **codecs}
        self._names = names
        self._keys = keys

    def encode(self, type_: Any, value: Any) -> Any:
        """The value as a JSON value. Raises TypeError where it has no form in JSON."""
        return self._codec(type_).encode(value)

    def decode(self, type_: Any, document: Any, where: str) -> Any:
        """The value of a document. Raises Malformed."""
        return self._codec(type_).decode(document, where)

    def _codec(self, type_: Any) -> TypeCodec:
        if type_ not in self._codecs:
            self._codecs[type_] = self._new_codec(type_)
        return self._codecs[type_]

    def _new_codec(self, type_: Any) -> TypeCodec:
        origin, args = get_origin(type_), get_args(type_)
        if origin is Literal:
            return _one_of(args)
        if origin in (Union, UnionType):
            return self._optional(args) if NoneType in args else self._choice(args)
        if origin is tuple:
            return self._tuple(args)
        if origin is Sequence:
            return self._list(args[0])
        if origin is Mapping:
            return self._mapping(*args)
        if origin is Collection:
            return _ANY
        if dataclasses.is_dataclass(type_):
            return self._dataclass(type_)
        raise TypeError(f"{type_} has no form in JSON")

    def _dataclass(self, class_: Any) -> TypeCodec:
        types, keys = get_type_hints(class_), self._keys.get(class_, {})
        fields = {keys.get(f.name, f.name): f for f in dataclasses.fields(class_) if f.init}

        def encode(value: Any) -> Any:
            if type(value) is not class_:
                raise TypeError(f"expected a {class_.__name__}, found {value!r:.80}")
            return {
                key: self.encode(types[field.name], getattr(value, field.name))
                for key, field in fields.items()
            }

        def decode(document: Any, where: str) -> Any:
            _require(dict, "an object", document, where)
            for key in document:
                if key not in fields:
                    raise Malformed(f"{where}: unknown key {key!r}{nearest(key, fields)}")
            for key, field in fields.items():
                if key not in document and not _has_default(field):
                    raise Malformed(f"{where}: the key {key!r} is missing")
            values = {
                fields[key].name: self.decode(types[fields[key].name], member, f"{where}.{key}")
                for key, member in document.items()
            }
            return class_(**values)

        return TypeCodec(encode, decode)

    def _optional(self, types: Sequence[Any]) -> TypeCodec:
        others = tuple(type_ for type_ in types if type_ is not NoneType)
        codec = self._codec(others[0]) if len(others) == 1 else self._choice(others)

        def encode(value: Any) -> Any:
            return None if value is None else codec.encode(value)

        def decode(document: Any, where: str) -> Any:
            return None if document is None else codec.decode(document, where)

        return TypeCodec(encode, decode)

    def _choice(self, classes: Sequence[Any]) -> TypeCodec:
        by_name = {self._names[class_]: class_ for class_ in classes}

        def encode(value: Any) -> Any:
            return {KIND: self._names[type(value)], **self.encode(type(value), value)}

        def decode(document: Any, where: str) -> Any:
            _require(dict, "an object", document, where)
            name = document.get(KIND)
            if not isinstance(name, str) or name not in by_name:
                raise _unexpected(f"one of {', '.join(by_name)}", name, f"{where}.{KIND}")
            rest = {key: member for key, member in document.items() if key != KIND}
            return self.decode(by_name[name], rest, where)

        return TypeCodec(encode, decode)

    def _tuple(self, types: Sequence[Any]) -> TypeCodec:
        """`tuple[int, ...]`, or a tuple with a type for each member."""
        if types[-1] is Ellipsis:
            members = self._list(types[0])
            return TypeCodec(members.encode, lambda document, where: tuple(members.decode(document, where)))

        def encode(value: Any) -> Any:
            return [self.encode(type_, member) for type_, member in zip(types, value, strict=True)]

        def decode(document: Any, where: str) -> Any:
            _require(list, f"a list of {len(types)}", document, where)
            if len(document) != len(types):
                raise _unexpected(f"a list of {len(types)}", document, where)
            pairs = zip(types, document, strict=True)
            return tuple(
                self.decode(type_, member, f"{where}[{at}]") for at, (type_, member) in enumerate(pairs)
            )

        return TypeCodec(encode, decode)

    def _list(self, type_: Any) -> TypeCodec:
        codec = self._codec(type_)

        def decode(document: Any, where: str) -> Any:
            _require(list, "a list", document, where)
            return [codec.decode(member, f"{where}[{at}]") for at, member in enumerate(document)]

        return TypeCodec(lambda value: list(map(codec.encode, value)), decode)

    def _mapping(self, key_type: Any, type_: Any) -> TypeCodec:
        """Keys are text, or a choice of texts."""
        key_codec, codec = self._codec(key_type), self._codec(type_)

        def encode(value: Any) -> Any:
            return {key_codec.encode(key): codec.encode(member) for key, member in value.items()}

        def decode(document: Any, where: str) -> Any:
            _require(dict, "an object", document, where)
            return {
                key_codec.decode(key, where): codec.decode(member, f"{where}.{key}")
                for key, member in document.items()
            }

        return TypeCodec(encode, decode)


def _has_default(field: dataclasses.Field[Any]) -> bool:
    return field.default is not dataclasses.MISSING or field.default_factory is not dataclasses.MISSING


def _unexpected(expected: str, document: Any, where: str) -> Malformed:
    return Malformed(f"{where}: expected {expected}, found {document!r:.80}")


def _require(class_: type, expected: str, document: Any, where: str) -> None:
    if type(document) is not class_:
        raise _unexpected(expected, document, where)


def renamed_choices(words: Mapping[str, str]) -> TypeCodec:
    """One of some words, which documents call as the mapping says."""
    choices = {word: name for name, word in words.items()}
    read = _one_of([*choices])
    return TypeCodec(words.__getitem__, lambda document, where: choices[read.decode(document, where)])


def _one_of(choices: Sequence[Any]) -> TypeCodec:
    def decode(document: Any, where: str) -> Any:
        if document not in choices:
            raise _unexpected(f"one of {', '.join(map(str, choices))}", document, where)
        return document

    return TypeCodec(_same, decode)


def _same(value: Any) -> Any:
    return value


def _plain(class_: type, expected: str) -> TypeCodec:
    def decode(document: Any, where: str) -> Any:
        _require(class_, expected, document, where)
        return document

    return TypeCodec(_same, decode)


def _number(document: Any, where: str) -> float:
    if type(document) not in (int, float):
        raise _unexpected("a number", document, where)
    return float(document)


def _moment(document: Any, where: str) -> datetime:
    _require(str, "a time in ISO 8601", document, where)
    try:
        return datetime.fromisoformat(document)
    except ValueError:
        raise _unexpected("a time in ISO 8601", document, where) from None


def _any(document: Any, where: str) -> Any:
    try:
        return from_tagged(document)
    except ValueError as bad:
        raise Malformed(f"{where}: {bad}") from None


_ANY = TypeCodec(to_tagged, _any)
_SCALARS: Mapping[Any, TypeCodec] = {
    str: _plain(str, "text"),
    bool: _plain(bool, "true or false"),
    int: _plain(int, "a whole number"),
    float: TypeCodec(_same, _number),
    datetime: TypeCodec(datetime.isoformat, _moment),
    Any: _ANY,
}
