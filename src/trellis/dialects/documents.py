"""Schema documents as they are stored and handed over, whichever dialect's original wrote them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from trellis.dialects import registrations
from trellis.schema import naming as conventions
from trellis.schema.dict_form import Document
from trellis.schema.documents import document as documents
from trellis.schema.documents.validate import Fault, faults, faults_of_reading
from trellis.schema.model import Schema
from trellis.schema.naming import Naming
from trellis.schema.user_schema import with_normalizers


def from_dict(document: Mapping[str, Any], where: str) -> Schema:
    """The schema of a parsed document. Raises SchemaError, as a DocumentError all that is wrong."""
    return documents.from_dict(document, where, upgrade=_upgrade)


def from_json(text: str, where: str, find: Callable[[Any], tuple[Fault, ...]] = faults) -> Schema:
    """The schema of a JSON document. Raises SchemaError, as a DocumentError all that `find` finds wrong."""
    return documents.from_json(text, where, find, _upgrade)


def from_stored(text: str, where: str) -> Schema:
    """The schema of a document that a program stored, perhaps a newer one. Raises SchemaError.

    It may hold hints that this version does not know: a load that has to follow them refuses them.
    """
    return from_json(text, where, faults_of_reading)


def from_yaml(text: str, where: str, find: Callable[[Any], tuple[Fault, ...]] = faults) -> Schema:
    """The schema of a YAML document. Raises SchemaError, as a DocumentError all that `find` finds wrong."""
    return documents.from_yaml(text, where, find, _upgrade)


def get_naming(name: str) -> Naming:
    """The naming convention that a document or a user names. Raises UsageError."""
    for registration in registrations().values():
        name = registration.convention_name(name)
    return conventions.get_naming(name)


def naming_of(schema: Schema) -> Naming:
    """The naming that a schema says it follows, while its dialect is not known."""
    naming = get_naming(schema.normalizers.get("names") or "snake_case")
    return conventions.naming_of(with_normalizers(schema, {"names": naming.name}))


def _upgrade(document: Document, engine: int) -> bool:
    return any(other.upgrade_document(document, engine) for other in registrations().values())
