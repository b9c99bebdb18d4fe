"""The same documents, names and hashes as the original: these tests run where dlt is installed."""

from __future__ import annotations

import copy
import json
import random
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from trellis.dialects.dlt.document_upgrade import upgrade_document
from trellis.dialects.dlt.references import references
from trellis.dialects.dlt.system_tables import STATE_TABLE, new_schema
from trellis.errors import SchemaError
from trellis.schema.dict_form import table_dict
from trellis.schema.documents.document import from_dict, from_json, from_yaml, to_dict, to_json, to_yaml
from trellis.schema.documents.migrate import migrate
from trellis.schema.model import Schema
from trellis.schema.naming import CONVENTIONS, get_naming
from trellis.schema.version import bump, content_hash, document_hash, is_modified

dlt = pytest.importorskip("dlt")


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A pipeline that ran twice: its schema object and the rows of `_dlt_version`."""
    duckdb = pytest.importorskip("duckdb")
    folder: Path = tmp_path_factory.mktemp("oracle")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DLT_DATA_DIR", str(folder))
        patch.setenv("RUNTIME__DLTHUB_TELEMETRY", "false")
        file = str(folder / "warehouse.duckdb")
        pipeline = dlt.pipeline(
            "oracle",
            destination=dlt.destinations.duckdb(file),
            dataset_name="shop",
            pipelines_dir=str(folder / "pipelines"),
        )
        first = [{"id": 1, "Größe": 1.5, "when": "2024-01-01T00:00:00Z", "kids": [{"v": 1, "deep": [1, 2]}]}]
        keys = {"table_name": "Orders", "write_disposition": "merge", "primary_key": "id"}
        pipeline.run(first, **keys)
        pipeline.run([{"id": 2, "when": "soon", "new": None, "no": True}], **keys)
        with duckdb.connect(file) as connection:
            rows = connection.execute(
                "select version, version_hash, schema from shop._dlt_version order by version"
            ).fetchall()
    return pipeline.default_schema, rows


def test_stored_schemas_hash_to_their_version_hash(loaded: Any) -> None:
    _, rows = loaded
    assert len(rows) > 1
    for version, version_hash, text in rows:
        schema = from_json(text)
        assert (schema.stored_version, schema.stored_hash) == (version, version_hash)
        assert content_hash(schema) == version_hash
        assert not is_modified(schema)
        assert from_dict(to_dict(schema)) == schema
        assert json.loads(to_json(schema)) == json.loads(text)


def test_their_yaml_is_read_with_the_same_hash(loaded: Any) -> None:
    theirs, _ = loaded
    schema = from_yaml(theirs.to_pretty_yaml())
    assert content_hash(schema) == theirs.version_hash
    assert not is_modified(schema)


def test_our_yaml_and_json_are_read_by_them(loaded: Any) -> None:
    import yaml
    from dlt.common.schema import Schema as Theirs

    theirs, _ = loaded
    ours = from_dict(theirs.to_dict())
    for document in (yaml.safe_load(to_yaml(ours)), json.loads(to_json(ours))):
        read = Theirs.from_dict(document, validate_schema=True)
        assert read.version_hash == theirs.version_hash
    assert Theirs.from_dict(to_dict(bump(new_schema("shop")))).version_hash == content_hash(
        new_schema("shop")
    )


def test_references_are_the_same(loaded: Any) -> None:
    theirs, _ = loaded
    ours = references(from_dict(theirs.to_dict()))
    assert len(ours) == len(theirs.references) > 5
    for our, their in zip(ours, theirs.references, strict=True):
        expected = {**their, "columns": (*their["columns"],)}
        assert asdict(our) == {**expected, "referenced_columns": (*their["referenced_columns"],)}


def test_the_state_table(loaded: Any) -> None:
    theirs = dict(loaded[0].tables["_dlt_pipeline_state"])
    theirs.pop("x-normalizer")
    assert table_dict(STATE_TABLE) == theirs
    assert list(STATE_TABLE.columns) == list(theirs["columns"])


def test_a_fresh_schema_has_the_same_hash() -> None:
    from dlt.common.schema import Schema as Theirs

    theirs = Theirs("shop").to_dict()
    assert document_hash(theirs) == content_hash(new_schema("shop"))


@pytest.mark.parametrize("name", ["snake_case", "direct", "s3_tables"])
@pytest.mark.parametrize("limit", [None, 8, 16, 40])
def test_names_are_the_same(name: str, limit: int | None) -> None:
    import importlib

    module = importlib.import_module(f"dlt.common.normalizers.naming.{name}")
    theirs, ours = module.NamingConvention(limit), get_naming(name, limit)
    pick = random.Random(f"{name}{limit}")
    for _ in range(1000):
        raw = "".join(pick.choices("abzAZB019___  --+*@|.'\"\n▶éñ日💥$H", k=pick.randint(0, 30)))
        for their, our in (
            (theirs.normalize_path, ours.path),
            (theirs.normalize_tables_path, ours.table),
        ):
            try:
                expected = their(raw)
            except ValueError:
                expected = ""
            if expected:
                assert our(raw) == expected, raw
            else:
                with pytest.raises(SchemaError):
                    our(raw)


@pytest.mark.parametrize("name", sorted(CONVENTIONS))
def test_identifiers_are_the_same(name: str) -> None:
    import importlib

    module = importlib.import_module(f"dlt.common.normalizers.naming.{name}")
    theirs, ours = module.NamingConvention(None), get_naming(name)
    assert (ours.case_sensitive, ours.separator) == (theirs.is_case_sensitive, theirs.PATH_SEPARATOR)
    pick = random.Random(name)
    for _ in range(2000):
        raw = "a" + "".join(pick.choices("abzAZB019___  --+*@|.'\"\n▶éñ日💥$H", k=pick.randint(0, 30)))
        assert ours.identifier(raw) == theirs.normalize_identifier(raw), raw


def _of_engine(engine: int) -> dict[str, Any]:
    from dlt.common.schema.migrations import migrate_schema

    from dialects.dlt.schema.test_migrate import TWO

    return dict(migrate_schema(copy.deepcopy(TWO), 2, engine))


@pytest.mark.parametrize("engine", range(2, 12))
def test_engines_are_migrated_alike(engine: int) -> None:
    from dlt.common.schema.migrations import migrate_schema

    old = _of_engine(engine)
    theirs = migrate_schema(copy.deepcopy(old), engine, 11)
    ours = migrate(old, upgrade=upgrade_document)
    assert ours == theirs
    assert document_hash(ours) == document_hash(theirs)


def test_rules_are_normalized_alike() -> None:
    from dlt.common.normalizers.naming import snake_case
    from dlt.common.schema.utils import canonical_simple_regex, normalize_simple_regex_column

    from trellis.schema.rules import canonical, normalize_rule

    theirs, ours = snake_case.NamingConvention(), get_naming()
    for rule in (
        "CamelCase",
        "re:^CamelCase$",
        "re:Camel.*",
        "re:CamelCase",
        "re:^a__B$",
        "re:",
        "re:^$",
        "re:a.b",
    ):
        expected = normalize_simple_regex_column(theirs, rule) if rule != "re:" else "re:"
        assert normalize_rule(rule, ours) == expected
        assert canonical(rule) == canonical_simple_regex(rule)


def test_partial_tables_are_merged_alike() -> None:
    from dlt.common.schema import Schema as Theirs

    from trellis.schema.dict_form import column_of, table_of
    from trellis.schema.merge import merge_table

    steps: list[dict[str, Any]] = [
        {"name": "Orders", "write_disposition": "append", "resource": "Orders", "columns": {}},
        {"name": "orders", "columns": {"Id": {"name": "Id", "primary_key": True, "nullable": False}}},
        {"name": "orders", "columns": {"at": {"name": "at"}, "id": {"name": "id", "data_type": "text"}}},
        {"name": "orders", "columns": {"at": {"name": "at", "data_type": "date", "nullable": True}}},
        {
            "name": "orders",
            "write_disposition": "merge",
            "columns": {"at": {"name": "at", "primary_key": True}},
        },
        {"name": "orders__kids", "parent": "orders", "columns": {"v": {"name": "v", "data_type": "bigint"}}},
        {
            "name": "orders",
            "columns": {"id": {"name": "id", "partition": True, "sort": True, "unique": False}},
        },
    ]
    theirs, ours = Theirs("shop"), Schema("shop")
    for step in steps:
        theirs.update_table(copy.deepcopy(step), merge_compound_props=False)
        columns = {name: column_of(name, keys) for name, keys in step["columns"].items()}
        ours = merge_table(ours, table_of(step["name"], step, columns), get_naming())
    for name in ("orders", "orders__kids"):
        assert table_dict(ours.tables[name]) == theirs.tables[name]
        assert list(ours.tables[name].columns) == list(theirs.tables[name]["columns"])
