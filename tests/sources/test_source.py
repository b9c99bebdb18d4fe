"""Sources: their schema, its file beside the module, what code inside them can reach."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from contextvars import Context
from pathlib import Path
from typing import Any

import dlt
import pytest

from trellis import sources as trellis
from trellis.errors import SchemaError, UsageError
from trellis.schema.documents.document import from_yaml
from trellis.schema.model import Column, Schema, Settings, Table
from trellis.sources.extraction.extract import extract
from trellis.sources.schema_editor import SchemaEditor


@trellis.source
def shop(count: int = 1) -> Any:
    users = trellis.resource([{"id": number} for number in range(count)], name="users")
    return users, [trellis.resource([{"id": 9}], name="orders")]


def tables(source: trellis.Source) -> dict[str, list[Any]]:
    return {part.table_name: list(part.source) for part in extract(source, {}, Schema(source.name)).parts}


def test_a_source_holds_resources() -> None:
    source = shop(2)
    assert source.name == "shop"
    assert list(source.resources) == ["users", "orders"]
    assert source.users is source.resources["users"]
    assert tables(source) == {"users": [{"id": 0}, {"id": 1}], "orders": [{"id": 9}]}
    assert tables(shop(5).add_limit(1)) == {"users": [{"id": 0}], "orders": [{"id": 9}]}


def test_selection() -> None:
    source = shop()
    chosen = source.with_resources("orders")
    assert (list(chosen.resources.selected), list(source.selected_resources)) == (
        ["orders"],
        ["users", "orders"],
    )
    assert list(tables(chosen)) == ["orders"]
    source.resources["users"].selected = False
    assert list(tables(source)) == ["orders"]
    with pytest.raises(UsageError, match="source shop has no resource 'order': did you mean 'orders'"):
        source.with_resources("order")
    with pytest.raises(AttributeError, match="source shop has no resource and no attribute 'order'"):
        source.order  # noqa: B018


def test_seed_d139_hints_for_many_resources() -> None:
    source = shop().with_resources("users", "orders")
    for name in ("users", "orders"):
        source.resources[name].apply_hints(columns={"column_name": {"data_type": "json"}})
    parts = extract(source, {}, Schema("shop")).parts
    assert [part.declared.table.columns for part in parts] == [
        {"column_name": Column("column_name", "json")}
    ] * 2


def test_what_is_changed_in_a_source_stays_in_it() -> None:
    rows = trellis.resource([{"a": 1}], name="rows")
    one, two = trellis.Source("one", [rows]), trellis.Source("two", [rows])
    one.rows.apply_hints(primary_key="a")
    assert two.rows.hints == rows.hints
    with pytest.raises(UsageError, match="source one has two resources 'rows'"):
        trellis.Source("one", [rows, rows.copy()])
    assert list(trellis.Source("one", [rows, rows.with_name("again")]).resources) == ["rows", "again"]


@pytest.mark.parametrize(
    ("gives", "message"),
    [(None, "gave nothing"), (5, "gave a int"), ([{"a": 1}], "gave a dict")],
)
def test_a_source_gives_resources(gives: Any, message: str) -> None:
    with pytest.raises(UsageError, match=f"source odd {message}; return or yield resources"):
        trellis.source(name="odd")(lambda: gives)()


def test_a_source_may_yield() -> None:
    @trellis.source(
        name="yielding", root_key=True, max_table_nesting=0, schema_contract={"columns": "freeze"}
    )
    def source() -> Iterator[Any]:
        yield trellis.resource([], name="a")
        yield trellis.resource([], name="b")

    extracted = extract(source(), {}, Schema("yielding"))
    assert [part.table_name for part in extracted.parts] == ["a", "b"]
    assert (extracted.schema_name, extracted.root_key, extracted.max_nesting) == ("yielding", True, 0)
    assert extracted.source_contract == extracted.schema.settings.schema_contract == {"columns": "freeze"}


def test_seed_d144_without_a_schema_there_is_a_new_one_of_the_source_s_name() -> None:
    assert shop().schema.declared == Schema("shop")

    @trellis.source
    def MyShop() -> Any:
        return trellis.resource([], name="r")

    assert MyShop().name == MyShop().schema.name == "my_shop"
    with pytest.raises(SchemaError, match="not an identifier"):
        trellis.source(name="my shop")(lambda: trellis.resource([], name="r"))()


def test_seed_d143_a_schema_of_one_s_own(tmp_path: Path) -> None:
    document = Schema("farm", settings=Settings(detections=()))

    @trellis.source(schema=document)
    def anything() -> Any:
        return trellis.resource([], name="r")

    assert (anything().name, anything().schema.declared) == ("farm", document)
    (tmp_path / "f.yaml").write_text("name: farm\nsettings: {detections: [iso_date]}\n")
    by_path = trellis.source(schema=tmp_path / "f.yaml")(lambda: trellis.resource([], name="r"))
    assert by_path().schema.detections == ("iso_date",)
    with pytest.raises(SchemaError, match="source other: its schema is called 'farm'"):
        trellis.source(name="other", schema=document)(lambda: None)
    with pytest.raises(UsageError, match="the schema cannot be read"):
        trellis.source(schema=tmp_path / "none.yaml")


MODULE = """
from trellis import sources as trellis

@trellis.source
def farm():
    return trellis.resource([], name="plots")
"""
BESIDE = """
name: {name}
tables:
  plots:
    columns:
      plot_no: {{data_type: bigint}}
    x-normalizer: {{seen-data: true}}
settings: {{detections: [iso_date]}}
"""


def module_at(folder: Path) -> Any:
    path = folder / "farms.py"
    path.write_text(MODULE)
    spec = importlib.util.spec_from_file_location("farms", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("ending", ["yaml", "json"])
def test_seed_d145_the_schema_file_beside_the_module_is_taken(tmp_path: Path, ending: str) -> None:
    text = BESIDE.format(name="farm")
    if ending == "json":
        text = '{"name": "farm", "tables": {"plots": {"columns": {"plot_no": {"data_type": "bigint"}}}}}'
    (tmp_path / f"farm.schema.{ending}").write_text(text)
    source = module_at(tmp_path).farm()
    assert list(source.schema.tables["plots"].columns) == ["plot_no"]
    assert "x-normalizer" not in source.schema.tables["plots"].hints


def test_a_schema_file_of_another_name_is_refused(tmp_path: Path) -> None:
    (tmp_path / "farm.schema.yaml").write_text(BESIDE.format(name="barn"))
    with pytest.raises(
        SchemaError, match=r"the schema inside is called 'barn', but it lies beside the source 'farm'"
    ):
        module_at(tmp_path).farm()


def test_a_schema_given_wins_over_the_file(tmp_path: Path) -> None:
    (tmp_path / "farm.schema.yaml").write_text(BESIDE.format(name="barn"))
    function = module_at(tmp_path).farm._function
    assert trellis.source(schema=Schema("farm"))(function)().schema.declared == Schema("farm")


def test_seed_d148_seed_d130_the_schema_is_changed_inside_the_source() -> None:
    @trellis.source
    def textual(nesting_level: int) -> Any:
        schema = trellis.current.source_schema()
        schema.remove_type_detection("iso_timestamp")
        schema.add_type_detection("timestamp")
        return trellis.resource([], name="r")

    source = textual(1)
    assert source.schema.settings.detections == ("timestamp",)
    assert extract(source, {}, Schema("textual")).schema.settings.detections == ("timestamp",)


def test_seed_d146_tables_are_added_inside_the_source() -> None:
    @trellis.source
    def reflected() -> Any:
        schema = trellis.current.source_schema()
        schema.update_table({"name": "Users", "columns": {"userId": {"data_type": "bigint"}}})
        schema.update_table(Table("users", {"name": Column("name", "text")}))
        return trellis.resource([], name="users")

    extracted_schema = extract(reflected(), {}, Schema("reflected")).schema
    assert extracted_schema.tables["users"].columns == {
        "user_id": Column("user_id", "bigint"),
        "name": Column("name", "text"),
    }


def test_seed_d147_schema_and_state_are_reachable_while_rows_are_read() -> None:
    stored = Schema("s", {"old": Table("old")}, Settings(detections=("iso_timestamp", "iso_date")))

    @trellis.source(name="s")
    def source() -> Any:
        @trellis.resource
        def rows() -> Iterator[Any]:
            schema = trellis.current.source_schema()
            assert list(schema.tables) == ["old"]
            schema.remove_type_detection("iso_date")
            trellis.current.source_state()["seen"] = trellis.current.source_state().get("seen", 0) + 1
            trellis.current.resource_state()["last"] = "a"
            trellis.current.resource_state("other")["x"] = 1
            yield {"name": trellis.current.resource().name}

        return rows

    first = extract(source(), {}, stored)
    assert first.state == {"seen": 1, "resources": {"rows": {"last": "a"}, "other": {"x": 1}}}
    assert first.schema == Schema("s", settings=Settings(detections=("iso_timestamp",)))
    assert list(first.parts[0].source) == [{"name": "rows"}]
    assert extract(source(), first.state, stored).state["seen"] == 2
    assert first.state["seen"] == 1


def test_outside_of_a_source_there_is_nothing_current() -> None:
    for ask in (
        trellis.current.source_schema,
        trellis.current.source_state,
        trellis.current.resource_state,
        trellis.current.resource,
    ):
        with pytest.raises(UsageError, match="no source runs here"):
            ask()

    @trellis.source
    def asks() -> Any:
        trellis.current.source_state()

    with pytest.raises(UsageError, match="of the pipeline that was made last, and there is none"):
        Context().run(asks)


# --- the schema as code changes it -------------------------------------------------------------------------

CHANGES: dict[str, Any] = {
    "seed_d129": lambda schema: schema.add_type_detection("large_integer"),
    "added_twice": lambda schema: schema.add_type_detection("iso_timestamp"),
    "seed_d130": lambda schema: schema.remove_type_detection("iso_timestamp"),
    "seed_d134": lambda schema: schema.merge_hints({"partition": ["re:_timestamp$"]}),
    "seed_d131": lambda schema: schema.merge_hints(
        {"not_null": ["createdAt", "re:^CamelCase$", "re:Camel.*"]}
    ),
    "seed_d135": lambda schema: schema.update_preferred_types(
        {"re:timestamp": "timestamp", "inserted_at": "timestamp"}
    ),
    "seed_d136": lambda schema: schema.update_preferred_types(
        {"re:^insertedAt$": "text", "createdAt": "date"}
    ),
    "contract": lambda schema: schema.set_schema_contract({"columns": "freeze"}),
    "table": lambda schema: schema.update_table(
        {"name": "Foo", "columns": {"barBaz": {"name": "barBaz", "data_type": "text"}}}
    ),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_changes_of_a_schema_are_those_of_dlt(change: Any) -> None:
    theirs = dlt.Schema("shop")
    start = from_yaml(theirs.to_pretty_yaml())
    ours = SchemaEditor(start)
    change(theirs)
    change(ours)
    expected, actual = theirs.to_dict(), ours.to_dict()
    assert actual["settings"] == expected["settings"]
    assert {name for name in actual["tables"] if name[0] != "_"} == {
        name for name in expected["tables"] if name[0] != "_"
    }


def test_changes_over_a_stored_schema_are_only_what_was_said() -> None:
    stored = Schema(
        "shop", settings=Settings(("iso_timestamp", "iso_date"), {"unique": ("id",)}, {"a": "text"})
    )
    editor = SchemaEditor(Schema("shop"), stored)
    editor.add_type_detection("timestamp")
    editor.merge_hints({"sort": ["a"]})
    assert editor.declared.settings == Settings(("iso_timestamp", "iso_date", "timestamp"), {"sort": ("a",)})
    assert editor.settings.default_hints == {"unique": ("id",), "sort": ("a",)}
    assert editor.settings.preferred_types == {"a": "text"}


def test_a_schema_takes_over_another() -> None:
    editor = SchemaEditor(Schema("shop"))
    editor.update_schema(
        Schema("other", {"T": Table("T", {"Id": Column("Id", "text")})}, Settings(detections=()))
    )
    assert (editor.name, list(editor.tables), editor.detections) == ("shop", ["t"], ())
    editor.update_schema(SchemaEditor(Schema("third", {"u": Table("u")})))
    assert list(editor.tables) == ["t", "u"]


def test_seed_d140_a_schema_is_shown_as_yaml() -> None:
    editor = SchemaEditor(Schema("shop"))
    editor.update_table({"name": "t", "columns": [{"name": "a", "data_type": "text"}]})
    again = from_yaml(editor.to_pretty_yaml())
    assert again.tables["t"].columns == {"a": Column("a", "text")}
    assert editor.to_dict()["tables"]["t"]["columns"] == {"a": {"name": "a", "data_type": "text"}}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda schema: schema.add_type_detection("iso_timestam"), "did you mean 'iso_timestamp'"),
        (lambda schema: schema.remove_type_detection("x"), "there is no type detection 'x'"),
        (lambda schema: schema.merge_hints({"partitions": ["a"]}), "did you mean 'partition'"),
        (lambda schema: schema.merge_hints({"partition": ["re:["]}), "is not a regex"),
        (lambda schema: schema.update_preferred_types({"a": "string"}), "no data type 'string'"),
        (lambda schema: schema.set_schema_contract("frozen"), "no mode 'frozen'"),
        (lambda schema: schema.update_table({"columns": {}}), "a table needs its name"),
        (lambda schema: schema.update_table({"name": "t", "colour": 1}), "table t.colour: unknown key"),
        (
            lambda schema: schema.update_table({"name": "t", "columns": {"a": {"typ": 1}}}),
            "column a.typ: unknown key",
        ),
        (
            lambda schema: schema.update_table({"name": "t", "parent": "u"}),
            "has no table 'u', the parent of 't'",
        ),
    ],
)
def test_wrong_changes(change: Any, message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        change(SchemaEditor(Schema("shop")))


def test_an_unknown_option_of_a_source_is_refused_by_name() -> None:
    decorator: Any = trellis.source
    with pytest.raises(UsageError) as refused:
        decorator(max_table_nestign=1)
    assert str(refused.value) == (
        "source: there is no option 'max_table_nestign': did you mean 'max_table_nesting'?"
    )
