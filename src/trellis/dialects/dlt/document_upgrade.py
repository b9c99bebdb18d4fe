"""Bring a document of an older engine of dlt up to the current one: one small step per engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from trellis.dialects.dlt.system_tables import (
    LOADS,
    LOADS_TABLE,
    PARENT_ID,
    ROOT_ID,
    ROW_ID,
    VERSION,
    VERSION_TABLE,
)
from trellis.errors import TrellisError
from trellis.schema.dict_form import Document, table_dict
from trellis.schema.documents.migrate import ENGINE
from trellis.schema.naming import get_naming


def upgrade_document(document: Document, engine: int) -> bool:
    """Write the document, in place, as the current engine writes it; whether the steps to there are known.

    >>> document = {"name": "shop", "tables": {}, "normalizers": {}}
    >>> upgrade_document(document, 10), document["normalizers"]
    (True, {'use_break_path_on_normalize': False})
    """
    for step in range(engine, ENGINE):
        STEPS[step](document)
    return True


def _from_1(document: Document) -> None:
    document["includes"], document["excludes"] = [], []


def _from_2(document: Document) -> None:
    hints = document.pop("hints", {})
    types = document.pop("preferred_types", {})
    document["settings"] = {
        "default_hints": {hint: [f"re:{rule}" for rule in rules] for hint, rules in hints.items()},
        "preferred_types": {f"re:{rule}": data_type for rule, data_type in types.items()},
    }
    document["normalizers"] = {
        "names": "snake_case",
        "json": {
            "module": "dlt.common.normalizers.json.relational",
            "config": {"propagation": {"root": {ROW_ID: ROOT_ID}}},
        },
    }
    old: Document = document.pop("tables")
    tables = {name: _table(name, columns, _longest_parent(name, old)) for name, columns in old.items()}
    for group in ("excludes", "includes"):
        for rule in document.pop(group, []):
            root, _, path = rule.removeprefix("^").partition("__")
            filters = tables.setdefault(root, _table(root, {}, None)).setdefault("filters", {})
            filters.setdefault(group, []).append(f"re:^{path}")
    document["tables"] = tables


def _table(name: str, columns: Document, parent: str | None) -> Document:
    keys = {"parent": parent} if parent else {"write_disposition": "append", "resource": name}
    return {"name": name, "columns": columns, **keys}


def _longest_parent(name: str, tables: Document) -> str | None:
    while "__" in name[1:]:
        name = name[: name.rindex("__")]
        if name in tables:
            return name
    return None


def _from_3(document: Document) -> None:
    document.setdefault("version_hash", "")


def _from_4(document: Document) -> None:
    document["tables"][VERSION] = table_dict(VERSION_TABLE)
    document["tables"][LOADS] = table_dict(LOADS_TABLE)


def _from_5(document: Document) -> None:
    document["tables"][LOADS] = table_dict(LOADS_TABLE)


def _from_6(document: Document) -> None:
    document["settings"].pop("schema_sealed", None)
    for table in document["tables"].values():
        table.pop("table_sealed", None)


def _from_7(document: Document) -> None:
    document["previous_hashes"] = []


def _from_8(document: Document) -> None:
    for table in document["tables"].values():
        if ROW_ID in table["columns"]:
            table.setdefault("x-normalizer", {})["seen-data"] = True


def _from_9(document: Document) -> None:
    row_id, parent_id = _spelled(document["normalizers"].get("names", "snake_case"), ROW_ID, PARENT_ID)
    for table in document["tables"].values():
        columns = table["columns"]
        if row_id in columns:
            columns[row_id]["row_key"] = columns[row_id].get("unique", False)
        if parent_id in columns:
            columns[parent_id]["parent_key"] = columns[parent_id].get("foreign_key", False)
        for column in columns.values():
            column.pop("foreign_key", None)
            if column.get("data_type") == "complex":
                column["data_type"] = "json"
    settings = document.get("settings") or {}
    types = settings.get("preferred_types") or {}
    types.update({rule: "json" for rule, data_type in types.items() if data_type == "complex"})
    if hints := settings.get("default_hints"):
        hints.pop("foreign_key", None)
        hints["row_key"], hints["parent_key"] = [row_id], [parent_id]
    ((document["normalizers"].get("json") or {}).get("config") or {}).pop("generate_dlt_id", None)


def _spelled(convention: str, *names: str) -> tuple[str, ...]:
    try:
        naming = get_naming(convention)
    except TrellisError:  # somebody's own convention, not installed here: it must keep the prefix anyway
        return names
    return tuple(naming.identifier(name) for name in names)


def _from_10(document: Document) -> None:
    document["normalizers"]["use_break_path_on_normalize"] = False


STEPS: Mapping[int, Callable[[Document], None]] = {
    1: _from_1,
    2: _from_2,
    3: _from_3,
    4: _from_4,
    5: _from_5,
    6: _from_6,
    7: _from_7,
    8: _from_8,
    9: _from_9,
    10: _from_10,
}
