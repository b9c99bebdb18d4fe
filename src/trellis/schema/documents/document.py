"""Schema documents: as a dict, as YAML for people, as JSON for programs.

text or dict --> migrate --> normalize_spelling --> validate --> Schema with defaults on its root tables
"""

from __future__ import annotations

import base64
import json
import warnings
import zlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from trellis.errors import SchemaError
from trellis.schema.dict_form import Document, mappings, schema_of, to_dict
from trellis.schema.documents.migrate import Upgrade, migrate, no_upgrade
from trellis.schema.documents.validate import Fault, Path, check, faults, no_lines
from trellis.schema.model import Column, Schema, Table
from trellis.schema.personal_data import PII
from trellis.schema.rules import HINTS
from trellis.schema.value_rules import RULES
from trellis.schema.version import bump

__all__ = ["from_dict", "from_json", "from_yaml", "to_dict", "to_json", "to_yaml"]

PROCESSING = ("x-normalizer", "x-loader", "x-extractor")


def from_dict(
    document: Mapping[str, Any],
    where: str = "schema",
    line_of: Callable[[Path], int | None] = no_lines,
    find: Callable[[Any], tuple[Fault, ...]] = faults,
    upgrade: Upgrade = no_upgrade,
) -> Schema:
    """The schema of a document, of this engine or one that `upgrade` knows. Its version stays as stored.

    Raises DocumentError with all that `find` finds wrong.

    >>> from_dict({"name": "shop", "tables": {"t": {"columns": {"id": {}}}}}).tables["t"].hints
    mappingproxy({'write_disposition': 'append', 'resource': 't'})
    """
    if not isinstance(document, Mapping):
        raise SchemaError(f"{where}: a schema document is a mapping, not {document!r}")
    current = normalize_spelling(migrate(document, where, upgrade))
    check(current, where, line_of, find)
    schema = schema_of(current)
    return replace(schema, tables={name: table.with_defaults() for name, table in schema.tables.items()})


def normalize_spelling(document: Document) -> Document:
    """Rewrite other accepted spellings, in place; what it does not know is left to the check."""
    document.setdefault("engine_version", 11)
    _empty_is_mapping(document, "tables", "settings", "normalizers")
    for table in mappings(document.get("tables")):
        _empty_is_mapping(table, "columns")
        table.setdefault("columns", {})
        _empty_is_mapping(table["columns"], *(table["columns"] if isinstance(table["columns"], dict) else ()))
        for column in mappings(table["columns"]):
            _normalize_column(column)
    settings = document.get("settings")
    if isinstance(settings, dict):
        _normalize_settings(settings)
    return document


def _normalize_settings(settings: Document) -> None:
    hints = settings.get("default_hints") or {}
    for hint in [key for key in settings if key in HINTS]:
        old, new = hints.get(hint, []) if isinstance(hints, dict) else None, settings[hint]
        if isinstance(old, list) and isinstance(new, list):
            hints[hint] = [*old, *(rule for rule in new if rule not in old)]
            settings["default_hints"] = hints
            del settings[hint]
    types = settings.get("preferred_types")
    if isinstance(types, dict):
        for rule in [rule for rule, data_type in types.items() if data_type == "complex"]:
            types[rule] = _json_for_complex(f"settings.preferred_types.{rule}")


def _normalize_column(column: Document) -> None:
    if "is_variant" in column:
        is_variant = column.pop("is_variant")
        column.setdefault("variant", is_variant)
    for name, hint in (("rules", RULES), ("pii", PII)):
        if name in column:
            value = column.pop(name)
            column.setdefault(hint, value)
    if column.get("data_type") == "complex":
        column["data_type"] = _json_for_complex(f"column {column.get('name') or ''}".strip())


def _json_for_complex(where: str) -> str:
    warnings.warn(f"{where}: data type 'complex' is called 'json' now", stacklevel=4)
    return "json"


def _empty_is_mapping(within: Any, *keys: str) -> None:
    if isinstance(within, dict):
        within.update({key: {} for key in keys if key in within and within[key] is None})


def to_yaml(schema: Schema, declared_only: bool = False) -> str:
    """The document as it is saved, for people: names stand only as keys.

    `declared_only` leaves out what processing adds: its hints and the variant columns. A schema does not
    tell a declared column from an inferred one, so pass it as it was before it met data.
    """
    from trellis.schema.documents.yaml_text import write

    saved = to_dict(bump(declared(schema) if declared_only else schema))
    saved.pop("imported_version_hash", None)
    for table in saved["tables"].values():
        del table["name"]
        for column in table["columns"].values():
            del column["name"]
        columns = table.pop("columns")
        table_keys = dict(table)
        table.clear()
        table.update({"columns": columns, **table_keys})
    return write(saved)


def declared(schema: Schema) -> Schema:
    """The schema without processing hints and variant columns."""

    def column(of: Column) -> Column:
        return replace(of, hints={key: value for key, value in of.hints.items() if key not in PROCESSING})

    def table(of: Table) -> Table:
        columns = {
            name: column(definition) for name, definition in of.columns.items() if not definition.is_variant
        }
        hints = {key: value for key, value in of.hints.items() if key not in PROCESSING}
        return replace(of, columns=columns, hints=hints)

    return replace(schema, tables={name: table(definition) for name, definition in schema.tables.items()})


def from_yaml(
    text: str,
    where: str = "schema.yaml",
    find: Callable[[Any], tuple[Fault, ...]] = faults,
    upgrade: Upgrade = no_upgrade,
) -> Schema:
    """The schema of a YAML document; `where` is the file's name, for errors; the others as in `from_dict`."""
    from trellis.schema.documents.yaml_text import read

    document, lines = read(text, where)

    def line_of(path: Path) -> int | None:
        return next((lines[path[:end]] for end in range(len(path), -1, -1) if path[:end] in lines), None)

    return from_dict(document, where, line_of, find, upgrade)


def to_json(schema: Schema, pretty: bool = False) -> str:
    """The document as it is saved, for programs: on one line, or indented."""
    saved = to_dict(bump(schema))
    if pretty:
        return json.dumps(saved, ensure_ascii=False, indent=2)
    return json.dumps(saved, ensure_ascii=False, separators=(",", ":"))


def from_json(
    text: str,
    where: str = "schema.json",
    find: Callable[[Any], tuple[Fault, ...]] = faults,
    upgrade: Upgrade = no_upgrade,
) -> Schema:
    """The schema of a JSON document; `where` is the file's name, for errors; the others as in `from_dict`.

    A document may be packed, as long ones are stored: zlib in base64.
    """
    if not text.lstrip().startswith(("{", "[")):
        with suppress(ValueError, zlib.error):
            text = zlib.decompress(base64.b64decode(text)).decode()
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SchemaError(f"{where}: not valid JSON: {error}") from error
    return from_dict(document, where, find=find, upgrade=upgrade)
