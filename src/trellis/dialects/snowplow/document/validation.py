"""Instances held against schemas, by the draft 4 of JSON Schema."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from trellis.dialects.snowplow.document.json_text import MINUS_ZERO, Number, encodable
from trellis.dialects.snowplow.document.nodes import Node, pointer_to
from trellis.errors import SchemaError, UsageError

_PLAIN_CLASSES: Final = frozenset((str, int, bool, type(None)))
META_SCHEMA: Final[Node] = {"$ref": "http://json-schema.org/draft-04/schema#"}


@dataclass(frozen=True)
class Violation:
    """What a schema refuses of an instance, and where in the instance."""

    pointer: str
    keyword: str
    message: str


class SchemaValidator:
    """A compiled schema. It fetches nothing: a `$ref` to another document is an error of the schema."""

    def __init__(self, body: Node) -> None:
        """Raises SchemaError, and UsageError without the library that validates."""
        try:
            from jsonschema_rs import Draft4Validator, ValidationError
        except ImportError:
            raise UsageError(
                "schemas cannot be validated: install trellis-spark[snowplow], which brings jsonschema-rs"
            ) from None
        try:
            self._validator = Draft4Validator(_plain(body), offline=True)
        except ValidationError as error:
            raise SchemaError(f"not a schema of draft 4: {error.message}") from None

    def is_valid(self, instance: object) -> bool:
        """Raises RecursionError for an instance that is nested too deep."""
        with _too_deep():
            try:
                return self._validator.is_valid(_plain(instance))
            except UnicodeEncodeError:
                return self._validator.is_valid(_encodable(_plain(instance)))

    def violations(self, instance: object) -> Iterator[Violation]:
        """Raises RecursionError for an instance that is nested too deep."""
        with _too_deep():
            try:
                errors = list(self._validator.iter_errors(_plain(instance)))
            except UnicodeEncodeError:
                errors = list(self._validator.iter_errors(_encodable(_plain(instance))))
        for error in errors:
            pointer = pointer_to(*map(str, error.instance_path))
            yield Violation(pointer, error.kind.name, error.message)


@contextmanager
def _too_deep() -> Iterator[None]:
    """What the library cannot go down to is the error that Python has for it."""
    try:
        yield
    except ValueError as error:
        if "recursion limit" not in str(error).lower():
            raise
        raise RecursionError(str(error)) from None


def _plain(value: Any) -> Any:
    """The value in the types that the library knows; what is beyond a double is the largest double."""
    if isinstance(value, Number):
        if value.text == MINUS_ZERO:  # an integer, as it has no fraction
            return 0
        return math.copysign(sys.float_info.max, value) if math.isinf(value) else float(value)
    if isinstance(value, dict):
        return {
            key: item if item.__class__ in _PLAIN_CLASSES else _plain(item) for key, item in value.items()
        }
    return [_plain(item) for item in value] if isinstance(value, list) else value


def _encodable(value: Any) -> Any:
    """The value with a replacement for halves of surrogate pairs, as its rows have it."""
    if isinstance(value, dict):
        return {encodable(key): _encodable(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_encodable(item) for item in value]
    return encodable(value) if isinstance(value, str) else value
