"""Check a document of the current engine: every fault at once, each with its address.

What is allowed is data: `DOCUMENT` at the end of the module says which key takes what.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from trellis.errors import SchemaError, nearest
from trellis.schema.documents.value_checks import (
    Check,
    Fault,
    Path,
    UnknownKey,
    dotted,
    either,
    judged,
    kind,
    known_keys,
    mapping,
    one_of,
    record,
    sequence,
)
from trellis.schema.model import DATA_TYPES
from trellis.schema.personal_data import MASKS, PII
from trellis.schema.rules import HINTS, rule_fault
from trellis.schema.value_rules import RULES

__all__ = [
    "COLUMN",
    "CONTRACT",
    "DETECTIONS",
    "DOCUMENT",
    "REFERENCE",
    "SETTINGS",
    "TABLE",
    "DocumentError",
    "Fault",
    "Path",
    "check",
    "dotted",
    "faults",
    "faults_of_reading",
    "faults_of_stored",
    "name_fault",
    "no_lines",
]

NAME_LENGTH = 64


class DocumentError(SchemaError):
    """A document with all its `faults`, and the line of each where the document has lines."""

    def __init__(self, where: str, faults: Iterable[Fault], line_of: Callable[[Path], int | None]) -> None:
        self.where = where
        located = sorted(((line_of(fault.at), fault) for fault in faults), key=lambda pair: pair[0] or 0)
        self.faults = tuple(fault for _, fault in located)
        self.lines = tuple(line for line, _ in located)
        located_faults = zip(self.lines, self.faults, strict=True)
        sentences = [f"line {line}, {problem}" if line else str(problem) for line, problem in located_faults]
        many = f": {len(sentences)} faults" + "".join(f"\n  {fault}" for fault in sentences)
        between = ", " if self.lines and self.lines[0] else ": "
        super().__init__(where + (f"{between}{sentences[0]}" if len(sentences) == 1 else many))


def no_lines(_: Path) -> int | None:
    """For documents without lines."""
    return None


def name_fault(name: object) -> str | None:
    """What is wrong with the name of a schema, or None.

    >>> name_fault("sch-1")
    "schema name 'sch-1' is not an identifier: use letters, digits and _, a letter first"
    """
    if not isinstance(name, str):
        return f"the schema name is text, not {name!r}"
    if not name.isidentifier():
        return f"schema name {name!r} is not an identifier: use letters, digits and _, a letter first"
    if len(name) > NAME_LENGTH:
        return f"schema name {name!r} has {len(name)} characters: {NAME_LENGTH} is the most"
    return None


def faults(document: Any) -> tuple[Fault, ...]:
    """All that is wrong with a document in its in-memory form.

    >>> [str(each) for each in faults({"name": "shop", "tables": {"t": {"colums": {}}}})]
    ["tables.t.colums: unknown key: did you mean 'columns'?"]
    """
    return (*DOCUMENT((), document), *_parents(document))


def faults_of_stored(document: Any) -> tuple[Fault, ...]:
    """`faults` of a document that a program stored: keys of tables and columns may be newer than this one.

    They are kept and passed on.
    """
    return tuple(fault for fault in faults(document) if not _is_newer_key(fault))


def faults_of_reading(document: Any) -> tuple[Fault, ...]:
    """`faults_of_stored` but for those in hints that only the load of a table has to follow."""
    return tuple(fault for fault in faults_of_stored(document) if not _is_load_hint(fault.at))


def _is_load_hint(path: Path) -> bool:
    return path[:1] == ("tables",) and path[2:] in LOAD_HINTS


def _is_newer_key(fault: Fault) -> bool:
    top, _, *below = fault.at if len(fault.at) > 1 else ("", "")
    place = below[:1] if len(below) == 3 else []
    return isinstance(fault, UnknownKey) and top == "tables" and (len(below) == 1 or place == ["columns"])


def check(
    document: Any,
    where: str = "schema",
    line_of: Callable[[Path], int | None] = no_lines,
    find: Callable[[Any], tuple[Fault, ...]] = faults,
) -> None:
    """Raise a DocumentError if `find` finds anything wrong."""
    if found_faults := find(document):
        raise DocumentError(where, found_faults, line_of)


def _parents(document: Any) -> Iterator[Fault]:
    tables = document.get("tables") if isinstance(document, Mapping) else None
    if not isinstance(tables, Mapping):
        return
    parent_values = {
        name: table.get("parent") for name, table in tables.items() if isinstance(table, Mapping)
    }
    parents = {name: parent for name, parent in parent_values.items() if parent and isinstance(parent, str)}
    for name, parent in parents.items():
        if parent not in tables:
            yield Fault(("tables", name, "parent"), f"no table {parent!r}{nearest(parent, map(str, tables))}")
        seen = {name}
        while parent in parents and parent not in seen:
            seen.add(parent)
            parent = parents[parent]
        if parent == name:
            yield Fault(("tables", name, "parent"), f"{name!r} is among its own ancestors")


def _same_length(check: Check) -> Check:
    def check_both(path: Path, value: Any) -> Iterator[Fault]:
        length_faults = tuple(check(path, value))
        yield from length_faults
        if not length_faults and len(value["columns"]) != len(value["referenced_columns"]):
            yield Fault(path, "columns and referenced_columns differ in length")

    return check_both


def _whole(value: Any) -> bool:
    return type(value) is int


def _is_pattern(value: Any) -> bool:
    try:
        return isinstance(value, str) and re.compile(value) is not None
    except (re.error, OverflowError, RecursionError):
        return False


TEXT = kind("text", lambda value: isinstance(value, str))
FLAG = kind("true or false", lambda value: isinstance(value, bool))
SIZE = kind("a whole number, 0 or more", lambda value: _whole(value) and value >= 0)
NUMBER = kind("a whole number", _whole)
OBJECT = kind("a mapping", lambda value: isinstance(value, Mapping))
RULE = judged(rule_fault)
SCALAR = kind("text, a number, true or false", lambda value: isinstance(value, (str, int, float)))
BOUND = kind(
    "a number, or a time as text",
    lambda value: isinstance(value, (str, int, float)) and not isinstance(value, bool),
)
PATTERN = kind("a regular expression", _is_pattern)
PERSONAL = kind(
    f"true, or one of {', '.join(MASKS)}", lambda value: isinstance(value, bool) or value in MASKS
)

MODES = ("evolve", "freeze", "discard_row", "discard_value")
ENTITIES = ("tables", "columns", "data_type", "values")
CONTRACT = either(one_of(MODES), record(dict.fromkeys(ENTITIES, one_of(MODES))))

VALUE_RULES = record(
    {
        "accepted_values": sequence(SCALAR),
        "minimum": BOUND,
        "maximum": BOUND,
        "pattern": PATTERN,
        "not_null": FLAG,
    }
)
COLUMN_FLAGS = (
    *("nullable", "timezone", "variant", "partition", "cluster", "primary_key", "merge_key", "unique"),
    *("sort", "row_key", "parent_key", "root_key", "hard_delete", "incremental"),
)
STRATEGIES = ("delete-insert", "upsert", "insert-only", "scd2")
REPLACE_STRATEGIES = ("truncate-and-insert", "insert-from-staging", "staging-optimized")
MARKS = known_keys({"seen-data": FLAG, "evolve-columns-once": FLAG, "max_nesting": SIZE})
TABLE_KEYS = (
    *("columns", "write_disposition", "resource", "parent", "schema_contract", "references"),
    *("table_format", "file_format", "variant_name", "filters"),
)
LOAD_HINTS = (
    ("write_disposition",),
    ("x-merge-strategy",),
    ("x-replace-strategy",),
    ("table_format",),
    ("file_format",),
    ("x-normalizer", "max_nesting"),
)
COLUMN = record(
    {
        "name": TEXT,
        "description": TEXT,
        "data_type": one_of(DATA_TYPES),
        "precision": SIZE,
        "scale": NUMBER,
        "dedup_sort": one_of(("asc", "desc")),
        **dict.fromkeys(COLUMN_FLAGS, FLAG),
        **dict.fromkeys(("x-valid-from", "x-valid-to", "x-row-version"), FLAG),
        "x-normalizer": OBJECT,
        RULES: VALUE_RULES,
        PII: PERSONAL,
    },
    elsewhere=dict.fromkeys(TABLE_KEYS, "tables"),
)

TO = ("zero", "one", "many")
REFERENCE = _same_length(
    record(
        {
            "table": TEXT,
            "columns": sequence(TEXT),
            "referenced_table": TEXT,
            "referenced_columns": sequence(TEXT),
            "label": TEXT,
            "cardinality": one_of(f"{a}_to_{b}" for a in TO for b in TO if (a, b) != ("zero", "zero")),
        },
        required=("columns", "referenced_table", "referenced_columns"),
    )
)
FILE_FORMATS = (
    *("preferred", "jsonl", "typed-jsonl", "insert_values", "parquet", "csv", "reference", "model"),
)
TABLE = record(
    {
        "name": TEXT,
        "description": TEXT,
        "columns": mapping(COLUMN),
        "write_disposition": one_of(("append", "replace", "merge", "skip")),
        "resource": TEXT,
        "parent": TEXT,
        "schema_contract": CONTRACT,
        "references": sequence(REFERENCE),
        "table_format": one_of(("iceberg", "delta", "hive", "native")),
        "file_format": one_of(FILE_FORMATS),
        "variant_name": TEXT,
        "filters": record({"excludes": sequence(RULE), "includes": sequence(RULE)}),
        "x-merge-strategy": one_of(STRATEGIES),
        "x-replace-strategy": one_of(REPLACE_STRATEGIES),
        "x-normalizer": MARKS,
        **dict.fromkeys(("x-loader", "x-extractor"), OBJECT),
    },
    elsewhere=dict.fromkeys((*COLUMN_FLAGS, "data_type", "precision", "scale", "dedup_sort"), "columns"),
)

DETECTIONS = (
    *("timestamp", "iso_timestamp", "iso_date", "large_integer", "hexbytes_to_text", "wei_to_double"),
)
SETTINGS = record(
    {
        "detections": sequence(one_of(DETECTIONS)),
        "default_hints": record(dict.fromkeys(HINTS, sequence(RULE))),
        "preferred_types": mapping(one_of(DATA_TYPES), key=rule_fault),
        "schema_contract": CONTRACT,
    }
)
CONFIG = known_keys(
    {
        "max_nesting": SIZE,
        "root_key_propagation": FLAG,
        "propagation": record({"root": mapping(TEXT), "tables": mapping(mapping(TEXT))}),
    }
)
NORMALIZERS = record(
    {
        "names": TEXT,
        "json": record({"module": TEXT, "config": CONFIG}),
        "detections": sequence(TEXT),
        "allow_identifier_change_on_table_with_data": FLAG,
        "use_break_path_on_normalize": FLAG,
    }
)
DOCUMENT = record(
    {
        "version": SIZE,
        "version_hash": TEXT,
        "previous_hashes": sequence(TEXT),
        "imported_version_hash": TEXT,
        "engine_version": NUMBER,
        "name": judged(name_fault),
        "description": TEXT,
        "tables": mapping(TABLE),
        "settings": SETTINGS,
        "normalizers": NORMALIZERS,
    },
    required=("name",),
    elsewhere=dict.fromkeys(
        ("detections", "default_hints", "preferred_types", "schema_contract"), "settings"
    ),
)
