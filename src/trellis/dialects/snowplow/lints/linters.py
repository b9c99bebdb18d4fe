"""The linters that look at one node of a schema, by the names that igluctl gives them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from trellis.dialects.snowplow.columns.column_types import MAX_VARCHAR
from trellis.dialects.snowplow.document.nodes import (
    Node,
    allows_null,
    number_of,
    properties_of,
    required_of,
    size_of,
    types_of,
    value_types_of,
)
from trellis.dialects.snowplow.lints.issues import Level

Linter = Callable[[Node], Iterator[str]]
"""Yields a sentence for each fault of a node."""

_KNOWN_FORMATS: Final = (
    *("date", "date-time", "email", "hostname", "ipv4", "ipv6", "regex", "time", "uri", "uuid"),
)
_KEYWORDS_OF: Final[Mapping[str, tuple[frozenset[str], tuple[str, ...]]]] = {
    "numericProperties": (
        frozenset(("integer", "number")),
        ("multipleOf", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
    ),
    "stringProperties": (frozenset(("string",)), ("format", "pattern", "minLength", "maxLength")),
    "arrayProperties": (
        frozenset(("array",)),
        ("items", "additionalItems", "minItems", "maxItems", "uniqueItems"),
    ),
    "objectProperties": (
        frozenset(("object",)),
        (
            *("properties", "required", "additionalProperties", "patternProperties"),
            *("minProperties", "maxProperties"),
        ),
    ),
}
_IGNORED: Final = ("allOf", "not", "$ref", "definitions")
_KNOWN_KEYWORDS: Final = frozenset(
    {
        *(
            "type",
            "enum",
            "title",
            "description",
            "default",
            "anyOf",
            "oneOf",
            "dependencies",
            "id",
            "$schema",
        ),
        *_IGNORED,
        *(keyword for _, keywords in _KEYWORDS_OF.values() for keyword in keywords),
    }
)
_BIGQUERY_NAME: Final = re.compile(r"[A-Za-z0-9_-]*", re.ASCII)
_BIGQUERY_PREFIXES: Final = ("_TABLE_", "_FILE_", "_PARTITION")


def _ordered(lower: str, upper: str) -> Linter:
    def lint(node: Node) -> Iterator[str]:
        least, most = number_of(node, lower), number_of(node, upper)
        if least is not None and most is not None and least > most:
            yield f"{lower} {least:g} is greater than {upper} {most:g}; no value can fit"

    return lint


def _keywords_of(types: frozenset[str], keywords: tuple[str, ...]) -> Linter:
    def lint(node: Node) -> Iterator[str]:
        declared = types_of(node)
        for keyword in keywords:
            if declared and not declared & types and keyword in node:
                yield (
                    f"{keyword} says nothing of type {' or '.join(sorted(declared))}; it belongs to "
                    f"{' or '.join(sorted(types))}"
                )

    return lint


def _required_properties_exist(node: Node) -> Iterator[str]:
    if node.get("additionalProperties") is False and not node.get("patternProperties"):
        for name in sorted(required_of(node) - properties_of(node).keys()):
            yield f"{name!r} is required, and the object may not have it; add it to properties"


def _unknown_formats(node: Node) -> Iterator[str]:
    if "format" in node and node["format"] not in _KNOWN_FORMATS:
        yield f"format {node['format']!r} is not known, so nothing checks it"


def _numeric_min_max(node: Node) -> Iterator[str]:
    missing = [keyword for keyword in ("minimum", "maximum") if keyword not in node]
    if missing and value_types_of(node) & {"integer", "number"} and "enum" not in node:
        yield f"{' and '.join(missing)} missing: the numbers have no bound there"


def _string_length(node: Node) -> Iterator[str]:
    is_bounded = "enum" in node or "maxLength" in node or node.get("format") in _KNOWN_FORMATS
    if "string" in types_of(node) and not is_bounded:
        yield "maxLength is missing: the column has 4096 characters"


def _string_max_length_range(node: Node) -> Iterator[str]:
    length = size_of(node, "maxLength")
    if length is not None and length > MAX_VARCHAR:
        yield f"maxLength {length} is beyond {MAX_VARCHAR}, the longest text of Redshift"


def _bigquery_characters(node: Node) -> Iterator[str]:
    for name in properties_of(node):
        if not _BIGQUERY_NAME.fullmatch(name):
            yield f"{name!r} has characters that names in BigQuery cannot have"


def _bigquery_start(node: Node) -> Iterator[str]:
    for name in properties_of(node):
        if name[:1].isdigit() or name.upper().startswith(_BIGQUERY_PREFIXES):
            yield f"{name!r} begins as names in BigQuery cannot"


def _unknown_keywords(node: Node) -> Iterator[str]:
    for keyword in sorted(node.keys() - _KNOWN_KEYWORDS):
        yield f"{keyword!r} is not a keyword of JSON Schema, draft 4, so it says nothing"


def _ignored_keywords(node: Node) -> Iterator[str]:
    for keyword in _IGNORED:
        if keyword in node:
            yield f"{keyword} is validated, and makes no columns"


def _optional_null(node: Node) -> Iterator[str]:
    if "required" in node:
        for name, child in properties_of(node).items():
            if name not in required_of(node) and types_of(child) and not allows_null(child):
                yield f"{name!r} is optional and may not be null; trackers that send null fail"


def _description(node: Node) -> Iterator[str]:
    if "description" not in node:
        yield "description is missing"


NODE_LINTERS: Final[Mapping[str, tuple[Level, Linter]]] = {
    "numericMinimumMaximum": ("ERROR", _ordered("minimum", "maximum")),
    "stringMinMaxLength": ("ERROR", _ordered("minLength", "maxLength")),
    "arrayMinMaxItems": ("ERROR", _ordered("minItems", "maxItems")),
    **{name: ("ERROR", _keywords_of(*keywords)) for name, keywords in _KEYWORDS_OF.items()},
    "requiredPropertiesExist": ("ERROR", _required_properties_exist),
    "unknownFormats": ("WARNING", _unknown_formats),
    "numericMinMax": ("WARNING", _numeric_min_max),
    "stringLength": ("WARNING", _string_length),
    "stringMaxLengthRange": ("WARNING", _string_max_length_range),
    "bqDisallowedCharacters": ("WARNING", _bigquery_characters),
    "bqIllegalStart": ("WARNING", _bigquery_start),
    "unknownKeywords": ("WARNING", _unknown_keywords),
    "ignoredKeywords": ("WARNING", _ignored_keywords),
    "optionalNull": ("INFO", _optional_null),
    "description": ("INFO", _description),
}
