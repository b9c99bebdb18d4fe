"""Documents of older engines of dlt."""

from __future__ import annotations

import json
from typing import Any

import pytest

from trellis.dialects.dlt.document_upgrade import upgrade_document
from trellis.dialects.documents import from_json
from trellis.errors import SchemaError
from trellis.schema.documents import document
from trellis.schema.documents.migrate import migrate
from trellis.schema.model import Schema
from trellis.schema.version import bump

TWO: dict[str, Any] = {
    "engine_version": 2,
    "version": 7,
    "name": "farm",
    "hints": {
        "not_null": ["^_dlt_id$", "^_dlt_parent_id$"],
        "foreign_key": ["^_dlt_parent_id$"],
        "unique": ["^id$"],
    },
    "preferred_types": {"^amount": "decimal", "blob$": "complex"},
    "excludes": ["^plots__secret", "^late__x"],
    "includes": ["^plots__secret__keep"],
    "tables": {
        "plots": {
            "_dlt_id": {"name": "_dlt_id", "data_type": "text", "nullable": False, "unique": True},
            "blob": {"name": "blob", "data_type": "complex"},
        },
        "plots__visits__v": {
            "_dlt_parent_id": {"name": "_dlt_parent_id", "data_type": "text", "foreign_key": True},
            "plain": {"name": "plain", "data_type": "text", "foreign_key": False},
        },
        "plotses": {"nothing": {"name": "nothing"}},
    },
}


def from_dict(old: Any) -> Schema:
    return document.from_dict(old, upgrade=upgrade_document)


def test_from_the_oldest() -> None:
    schema = from_dict(TWO)
    plots, visits = schema.tables["plots"], schema.tables["plots__visits__v"]
    assert (plots.parent, visits.parent, schema.tables["plotses"].parent) == (None, "plots", None)
    assert plots.columns["blob"].data_type == "json"
    assert plots.columns["_dlt_id"].hints == {"unique": True, "row_key": True}
    assert visits.columns["_dlt_parent_id"].hints == {"parent_key": True}
    assert plots.seen_data and not visits.seen_data
    assert plots.hints["filters"] == {"excludes": ["re:^secret"], "includes": ["re:^secret__keep"]}
    assert schema.tables["late"].hints["filters"] == {"excludes": ["re:^x"]}
    assert schema.settings.preferred_types == {"re:^amount": "decimal", "re:blob$": "json"}
    assert schema.settings.default_hints == {
        "not_null": ("re:^_dlt_id$", "re:^_dlt_parent_id$"),
        "unique": ("re:^id$",),
        "row_key": ("_dlt_id",),
        "parent_key": ("_dlt_parent_id",),
    }
    assert schema.normalizers["use_break_path_on_normalize"] is False
    assert {"_dlt_version", "_dlt_loads"} < {*schema.tables}
    assert (schema.engine_version, schema.stored_version, schema.stored_hash) == (11, 7, None)
    assert bump(schema).stored_version == 7


def test_from_one() -> None:
    one = {key: value for key, value in TWO.items() if key not in ("includes", "excludes")}
    assert "late" not in from_dict({**one, "engine_version": 1}).tables


def test_the_document_given_stays_as_it_is() -> None:
    before = repr(TWO)
    migrate(TWO, upgrade=upgrade_document)
    assert repr(TWO) == before


@pytest.mark.parametrize("engine", range(2, 11))
def test_a_broken_document_of_an_old_engine(engine: int) -> None:
    with pytest.raises(SchemaError):
        from_dict({"engine_version": engine, "name": "s", "tables": ["t"], "settings": 5, "normalizers": []})


def test_a_stored_or_given_document_is_brought_up_whoever_reads_it() -> None:
    assert from_json(json.dumps(TWO), "farm.json") == from_dict(TWO)
