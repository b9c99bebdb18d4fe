"""Documents: reading, writing, and all that can be wrong with them. Rows H08 and H09."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings

from schema.strategies import schemas
from trellis.errors import SchemaError
from trellis.schema.documents.document import from_dict, from_json, from_yaml, to_dict, to_json, to_yaml
from trellis.schema.documents.validate import DocumentError
from trellis.schema.model import Column, Schema, Table
from trellis.schema.version import bump, content_hash

FARM = """\
version: 3
engine_version: 11
name: farm_feed
tables:
  plots:
    columns:
      plot_no: {data_type: bigint, nullable: false, primary_key: true}
      soil__ph: {data_type: double, nullable: yes}
      soil__ph__v_text: {data_type: text, nullable: true, variant: true}
    write_disposition: merge
    resource: plots
    schema_contract: {columns: discard_value}
    x-merge-strategy: upsert
    x-normalizer: {seen-data: true}
  plots__visits:
    columns:
      at:
        data_type: timestamp
    parent: plots
settings:
  detections: [iso_timestamp]
  preferred_types: {'re:_at$': timestamp}
  schema_contract: evolve
normalizers:
  names: snake_case
previous_hashes: []
"""


def document(**keys: Any) -> dict[str, Any]:
    return {"engine_version": 11, "name": "shop", "tables": {}, "settings": {}, "normalizers": {}, **keys}


def test_a_document_for_people() -> None:
    schema = from_yaml(FARM, "farm.schema.yaml")
    plots = schema.tables["plots"]
    assert (schema.name, schema.stored_version, schema.stored_hash) == ("farm_feed", 3, None)
    assert plots.columns["plot_no"] == Column("plot_no", "bigint", nullable=False).with_hints(
        primary_key=True
    )
    assert plots.columns["soil__ph__v_text"].is_variant
    assert plots.hints["schema_contract"] == {"columns": "discard_value"}
    assert plots.seen_data
    assert schema.tables["plots__visits"].parent == "plots"
    assert not schema.tables["plots__visits"].hints
    assert schema.settings.preferred_types == {"re:_at$": "timestamp"}


def test_the_layout_of_yaml() -> None:
    lines = to_yaml(from_yaml(FARM)).splitlines()
    top = [line.split(":")[0] for line in lines if not line.startswith((" ", "-"))]
    assert top == [
        *("version", "version_hash", "engine_version", "name", "tables"),
        *("settings", "normalizers", "previous_hashes"),
    ]
    start = lines.index("  plots__visits:")
    assert lines[start : start + 5] == [
        "  plots__visits:",
        "    columns:",
        "      at:",
        "        data_type: timestamp",
        "    parent: plots",
    ]


def test_yaml_leaves_unicode_and_order_as_they_are() -> None:
    columns = {name: Column(name, description=f"{name} é 💥") for name in ("zett", "añb", "no", "12")}
    text = to_yaml(Schema("shop", {"t": Table("t", columns)}))
    assert "description: añb é 💥" in text
    assert list(from_yaml(text).tables["t"].columns) == ["zett", "añb", "no", "12"]


def test_the_imported_hash_is_not_for_people() -> None:
    schema = replace(Schema("shop"), imported_hash="abc")
    assert "abc" not in to_yaml(schema)
    assert from_json(to_json(schema)).imported_hash == "abc"


def test_saving_bumps_the_version_and_to_dict_does_not() -> None:
    schema = bump(Schema("shop")).with_tables(Table("t"))
    assert (to_dict(schema)["version"], json.loads(to_json(schema))["version"]) == (1, 2)
    assert "version: 2\n" in to_yaml(schema)


def test_only_what_was_declared() -> None:
    text = to_yaml(from_yaml(FARM), declared_only=True)
    assert "x-normalizer" not in text
    assert "v_text" not in text
    assert "x-merge-strategy: upsert" in text


def test_root_tables_get_defaults_and_nested_ones_do_not() -> None:
    tables = {"t": {"columns": {}}, "t__k": {"columns": {}, "parent": "t"}}
    tables_read = from_dict(document(tables=tables)).tables
    assert tables_read["t"].hints == {"write_disposition": "append", "resource": "t"}
    assert tables_read["t__k"].hints == {}


def test_null_and_absent_are_different_documents() -> None:
    silent = from_dict(document(tables={"t": {"columns": {"c": {}}}}))
    null = from_dict(document(tables={"t": {"columns": {"c": {"precision": None}}}}))
    assert null.tables["t"].columns["c"].precision is None
    assert content_hash(silent) != content_hash(null)
    assert from_dict(to_dict(null)) == null


@pytest.mark.parametrize("name", ["a b", "1x", "x" * 65, "sch-1", "", None, 5])
def test_h08_names_no_schema_can_have(name: Any) -> None:
    with pytest.raises(SchemaError, match="name"):
        from_dict(document(name=name))


@pytest.mark.parametrize("name", ["Ünï", "class", "x" * 64])
def test_h08_names_a_schema_can_have(name: str) -> None:
    assert from_dict(document(name=name)).name == name


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ({"engine_version": 99}, "no upgrade path from engine 99 to 11"),
        ({"setings": {}}, "setings: unknown key: did you mean 'settings'?"),
        ({"settings": {"detection": []}}, "settings.detection: unknown key: did you mean 'detections'?"),
    ],
    ids=["H09-engine", "H09-top", "H09-settings"],
)
def test_documents_from_elsewhere(keys: dict[str, Any], says: str) -> None:
    with pytest.raises(SchemaError) as caught:
        from_dict(document(**keys))
    assert says in str(caught.value)


def table(**keys: Any) -> dict[str, Any]:
    return {"tables": {"t": {"columns": {}, **keys}}}


def column(**keys: Any) -> dict[str, Any]:
    return {"tables": {"t": {"columns": {"c": keys}}}}


FAULTS: dict[str, tuple[dict[str, Any], str]] = {
    "unknown table key": (table(colums={}), "tables.t.colums: unknown key: did you mean 'columns'?"),
    "unknown column key": (column(data_typ="text"), "tables.t.columns.c.data_typ: unknown key: did you mean"),
    "data type": (
        column(data_type="txt"),
        "tables.t.columns.c.data_type: no such value 'txt': did you mean 'text'",
    ),
    "flag": (column(nullable="no"), "tables.t.columns.c.nullable: expected true or false, found 'no'"),
    "precision": (column(precision=True), "expected a whole number, 0 or more, found True"),
    "dedup_sort": (column(dedup_sort="up"), "no such value 'up': it may be one of asc, desc"),
    "disposition": (table(write_disposition="upsert"), "tables.t.write_disposition: no such value 'upsert'"),
    "contract": (
        table(schema_contract={"column": "freeze"}),
        "schema_contract.column: unknown key: did you mean",
    ),
    "contract mode": (table(schema_contract="frozen"), "schema_contract: no such value 'frozen'"),
    "parent": (table(parent="tt"), "tables.t.parent: no table 'tt': did you mean 't'?"),
    "own parent": (table(parent="t"), "tables.t.parent: 't' is among its own ancestors"),
    "columns": (table(columns=[]), "tables.t.columns: expected a mapping, found []"),
    "rule": (
        {"settings": {"default_hints": {"not_null": ["re:["]}}},
        "settings.default_hints.not_null.0: rule",
    ),
    "hint": ({"settings": {"default_hints": {"notnull": []}}}, "did you mean 'not_null'"),
    "preferred": (
        {"settings": {"preferred_types": {"*a": "text"}}},
        "settings.preferred_types.*a: rule '*a'",
    ),
    "detector": ({"settings": {"detections": ["isodate"]}}, "did you mean 'iso_date'"),
    "reference": (table(references=[{"columns": ["a"]}]), "tables.t.references.0: key 'referenced_table' is"),
    "reference length": (
        table(references=[{"columns": ["a"], "referenced_table": "u", "referenced_columns": []}]),
        "tables.t.references.0: columns and referenced_columns differ in length",
    ),
    "filters": (
        table(filters={"exclude": []}),
        "tables.t.filters.exclude: unknown key: did you mean 'excludes'?",
    ),
    "normalizers": (
        {"normalizers": {"name": "direct"}},
        "normalizers.name: unknown key: did you mean 'names'?",
    ),
    "engine": ({"engine_version": "11"}, "engine_version is a whole number"),
    "table name": ({"tables": {"": {}}}, "tables: expected a name as key, found ''"),
    "tables": ({"tables": ["t"]}, "tables: expected a mapping, found ['t']"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_says_where_it_is(fault: str) -> None:
    keys, says = FAULTS[fault]
    with pytest.raises(SchemaError) as caught:
        from_dict(document(**keys))
    assert says in str(caught.value)


def test_extension_keys_are_welcome_everywhere() -> None:
    extra = {"x-a": [1]}
    tables = {"t": {"columns": {"c": dict(extra)}, **extra}}
    schema = from_dict(document(tables=tables, settings=extra, **extra))
    assert to_dict(schema)["tables"]["t"]["columns"]["c"] == {"name": "c", "x-a": [1]}
    assert (schema.extra, schema.settings.extra) == (extra, extra)


def test_all_faults_at_once_with_their_lines() -> None:
    text = FARM.replace("write_disposition", "write_dispositon").replace(
        "timestamp\n    parent", "time stamp\n    parent"
    )
    with pytest.raises(DocumentError) as caught:
        from_yaml(text.replace("farm_feed", "farm-feed"), "farm.schema.yaml")
    assert str(caught.value) == (
        "farm.schema.yaml: 3 faults\n"
        "  line 3, name: schema name 'farm-feed' is not an identifier:"
        " use letters, digits and _, a letter first\n"
        "  line 10, tables.plots.write_dispositon: unknown key: did you mean 'write_disposition'?\n"
        "  line 18, tables.plots__visits.columns.at.data_type: no such value 'time stamp':"
        " did you mean 'timestamp'?"
    )
    assert caught.value.lines == (3, 10, 18)


def test_one_fault_is_one_line() -> None:
    with pytest.raises(DocumentError) as caught:
        from_yaml("name: shop\ntables:\n  t:\n    colums:\n", "shop.yaml")
    assert str(caught.value) == "shop.yaml, line 4, tables.t.colums: unknown key: did you mean 'columns'?"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("name: [", "s.yaml, line 1: not valid YAML"),
        ("name: shop\nname: shop\n", "s.yaml, line 2: duplicate key 'name'"),
        ("- name\n", "s.yaml: a schema document is a mapping, not ['name']"),
        ("", "s.yaml: a schema document is a mapping, not None"),
        ("? [a]\n: b\n", "s.yaml, line 1: a key is text"),
        ("name: &a\n  b: *a\n", "an alias leads back to itself"),
        ("name: shop\n---\nname: shop\n", "not valid YAML"),
        ("name: !!python/object:os.system x\n", "s.yaml, line 1: a schema needs no tags"),
    ],
)
def test_yaml_that_is_none(text: str, says: str) -> None:
    with pytest.raises(SchemaError) as caught:
        from_yaml(text, "s.yaml")
    assert says in str(caught.value)


def test_json_that_is_none() -> None:
    with pytest.raises(SchemaError, match=r"s\.json: not valid JSON: .*line 1"):
        from_json("{", "s.json")


def test_yaml_as_people_write_it() -> None:
    text = """\
name: shop
tables:
  t:
    columns:
      no: &key {data_type: bigint, nullable: no}
      on:
      2024: {<<: *key, precision: 1_0}
      date: {data_type: date, description: 2024-01-01}
"""
    columns = from_yaml(text).tables["t"].columns
    assert list(columns) == ["no", "on", "2024", "date"]
    assert columns["no"] == Column("no", "bigint", nullable=False)
    assert columns["on"] == Column("on")
    assert columns["2024"] == Column("2024", "bigint", nullable=False, precision=10)
    assert columns["date"].description == "2024-01-01"


def test_other_spellings() -> None:
    columns = {"a": {"data_type": "complex"}, "b": {"data_type": "text", "is_variant": True}}
    settings = {
        "partition": ["re:_ts$"],
        "default_hints": {"partition": ["day"]},
        "preferred_types": {"c": "complex"},
    }
    with pytest.warns(UserWarning, match="'complex' is called 'json' now"):
        schema = from_dict(document(tables={"t": {"columns": columns}}, settings=settings))
    assert schema.tables["t"].columns["a"].data_type == "json"
    assert to_dict(schema)["tables"]["t"]["columns"]["b"] == {
        "name": "b",
        "data_type": "text",
        "variant": True,
    }
    assert schema.settings.default_hints == {"partition": ("day", "re:_ts$")}
    assert schema.settings.preferred_types == {"c": "json"}


def test_the_document_given_stays_as_it_is() -> None:
    source = document(tables={"t": {"columns": {"a": {"is_variant": True}}}}, settings={"sort": ["a"]})
    before = json.dumps(source)
    schema = from_dict(source)
    to_dict(schema)["tables"]["t"]["columns"].clear()
    assert json.dumps(source) == before
    assert schema.tables["t"].columns


@given(schemas())
def test_the_dict_round_trip(schema: Schema) -> None:
    read = from_dict(to_dict(schema))
    assert read == schema
    assert content_hash(read) == content_hash(schema)


@settings(max_examples=30)
@given(schemas())
def test_the_text_round_trip(schema: Schema) -> None:
    saved = bump(schema)
    assert from_json(to_json(schema)) == from_json(to_json(schema, pretty=True)) == saved
    assert from_yaml(to_yaml(schema)) == saved


@given(schemas())
def test_the_hash_does_not_see_the_order_of_tables(schema: Schema) -> None:
    turned = replace(schema, tables=dict(reversed(schema.tables.items())))
    assert content_hash(turned) == content_hash(schema)


@given(schemas())
def test_saving_twice_is_saving_once(schema: Schema) -> None:
    assert bump(bump(schema)) == bump(schema)
