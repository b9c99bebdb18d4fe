"""Functions that make lists and maps of JSON (spec pinot.md, section 5)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from trellis.dialects.pinot.expression.json_functions import BLANKS, read_json
from trellis.dialects.pinot.expression.registry import Theme
from trellis.dialects.pinot.expression.take import FunctionError, as_object, as_text

JSON_CONTAINER: Final = Theme()


@JSON_CONTAINER.function("jsonStringToArray", as_text)
def _to_array(text: str) -> list[Any] | None:
    """The list that JSON text holds; null where it holds none."""
    found = _read_or_null(text)
    return found if isinstance(found, list) else None


@JSON_CONTAINER.function("jsonStringToMap", as_text)
def _to_map(text: str) -> dict[str, Any] | None:
    """The map that JSON text holds; null where it holds none."""
    found = _read_or_null(text)
    return found if isinstance(found, dict) else None


@JSON_CONTAINER.function("jsonStringToListOrMap", as_text)
def _to_list_or_map(text: str) -> list[Any] | dict[str, Any] | None:
    """The list or map that JSON text holds; null where it holds none."""
    found = _read_or_null(text)
    return found if isinstance(found, list | dict) else None


def _read_or_null(text: str) -> Any:
    try:
        return read_json(text)
    except FunctionError:
        return None


@JSON_CONTAINER.function("jsonKeyValueArrayToMap", as_object)
def _key_values_to_map(pairs: Any) -> dict[str, str | None]:
    """A list of objects such as {"key": "a", "value": 1}, or its JSON text, as a map of texts."""
    return key_values(pairs, "key", "value")


@JSON_CONTAINER.function("jsonKeyValueArrayToMap", as_object, as_text, as_text)
def _named_to_map(pairs: Any, key: str, value: str) -> dict[str, str | None]:
    """As with one argument, where the objects have other keys."""
    return key_values(pairs, key, value)


def key_values(pairs: Any, key: str, value: str) -> dict[str, str | None]:
    """
    >>> key_values('[{"k": "a", "v": 1.5}]', "k", "v")
    {'a': '1.5'}
    """
    if isinstance(pairs, list | tuple):
        return dict(_pair(each, key, value) for each in pairs)
    text = as_text(pairs)
    found = read_json(text) if text.strip(BLANKS) else None
    if isinstance(found, Mapping) and found:
        raise FunctionError(f"a list of objects is expected, not the JSON object {text[:60]!r}")
    return dict(_texts_of(each, key, value) for each in (found if isinstance(found, list) else ()))


def _pair(element: Any, key: str, value: str) -> tuple[str, str | None]:
    """The pair of one element; of an object both have to be texts, of a text it is read as JSON."""
    if not isinstance(element, Mapping):
        return _texts_of(read_json(as_text(element)), key, value)
    made, of = element.get(key), element.get(value)
    if isinstance(made, str) and (of is None or isinstance(of, str)):
        return made, of
    raise FunctionError(f"an object with texts under {key!r} and {value!r} is expected, not {element!r:.60}")


def _texts_of(element: Any, key: str, value: str) -> tuple[str, str]:
    if isinstance(element, Mapping) and key in element and value in element:
        return _json_scalar(element[key]), _json_scalar(element[value])
    raise FunctionError(f"an object with {key!r} and {value!r} is expected, not {element!r:.60}")


def _json_scalar(value: Any) -> str:
    """A JSON value as text; an object or a list is empty."""
    if value is None or isinstance(value, Mapping | list):
        return "null" if value is None else ""
    return as_text(value)
