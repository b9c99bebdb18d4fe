"""The JSON of a table config: values by the pattern of their place, and objects that report faults."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from trellis.dialects.pinot.document.faults import pointer
from trellis.dialects.pinot.document.json_object import JsonObject, ReadReport, shown
from trellis.dialects.pinot.value.numbers import NotANumber, parse_double


def values_at(document: Mapping[str, Any], pattern: str) -> Iterator[tuple[str, Any]]:
    """The values at a JSON pointer in which `*` stands for every key or index, each with its own pointer.

    Absent values and nulls are left out.

    >>> [*values_at({"tierConfigs": [{"name": "a"}, {"name": "b"}]}, "/tierConfigs/*/name")]
    [('/tierConfigs/0/name', 'a'), ('/tierConfigs/1/name', 'b')]
    """
    places: list[tuple[str, Any]] = [("", document)]
    for step in pattern.split("/")[1:]:
        places = [inner for place, value in places for inner in _children(place, value, step)]
    yield from places


def _children(place: str, value: Any, step: str) -> Iterator[tuple[str, Any]]:
    entries: Iterable[tuple[str | int, Any]] = ()
    if isinstance(value, Mapping):
        entries = value.items() if step == "*" else ((step, value.get(step)),)
    elif isinstance(value, list):
        entries = ((at, element) for at, element in enumerate(value) if step in ("*", str(at)))
    return ((place + pointer(key), inner) for key, inner in entries if inner is not None)


class TableConfigObject(JsonObject):
    """An object with its place. No key counts as unknown: a table config has many more."""

    def __init__(self, document: Mapping[str, Any], place: str, report: ReadReport) -> None:
        super().__init__(document, place, report, frozenset(document))

    def child_object(self, key: str) -> TableConfigObject:
        """An object in this one; an empty one where it is absent."""
        return TableConfigObject(self.json_object(key) or {}, self.pointer_to(key), self._report)

    def items(self, key: str) -> list[tuple[int, TableConfigObject]]:
        """The objects of a list, with their indexes."""
        objects = []
        for index, element in enumerate(self.elements(key)):
            if isinstance(element, Mapping):
                objects.append((index, TableConfigObject(element, self.pointer_to(key, index), self._report)))
            else:
                self.fault(f"an element of {key} is an object, not {shown(element)}", key, index)
        return objects

    def elements(self, key: str) -> list[Any]:
        """A list; an empty one where it is absent."""
        value = self.raw_value(key)
        if value is None or isinstance(value, list):
            return value or []
        self.fault(f"{key} is a list, not {shown(value)}", key)
        return []

    def mapping(self, key: str) -> dict[str, str]:
        """An object of texts; numbers as they print."""
        node = self.child_object(key)
        texts = {key: node.text(key) for key in node.document}
        return {key: text for key, text in texts.items() if text is not None}

    def object_map(self, key: str) -> None:
        """An object of objects: a fault for any other value in it."""
        node = self.child_object(key)
        for inner in node.document:
            node.json_object(inner)

    def number(self, key: str) -> float | None:
        """A number, also as text."""
        value = self.raw_value(key)
        if value is None or value == "":
            return None
        try:
            if not isinstance(value, bool | Mapping | list):
                return parse_double(str(value))
        except NotANumber:
            pass
        self.fault(f"{key} is a number, not {shown(value)}", key)
        return None
