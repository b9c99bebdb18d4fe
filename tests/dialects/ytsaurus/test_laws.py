"""Laws over made-up types, values, schemas and tables."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trellis.dialects.ytsaurus.compatibility.types import type_compatibility
from trellis.dialects.ytsaurus.errors import ErrorCode, YtError
from trellis.dialects.ytsaurus.schema.document import check_schema, read_schema, schema_document
from trellis.dialects.ytsaurus.schema.model import Column, SortColumn, TableSchema
from trellis.dialects.ytsaurus.store.altering import alter_table
from trellis.dialects.ytsaurus.store.operations import OperationSpec, merge, sort
from trellis.dialects.ytsaurus.store.reading import open_source
from trellis.dialects.ytsaurus.store.store import Store
from trellis.dialects.ytsaurus.store.writing import write_rows
from trellis.dialects.ytsaurus.types.document import parse_type, type_document
from trellis.dialects.ytsaurus.types.model import (
    ANY,
    Dict,
    List,
    Member,
    Optional,
    Primitive,
    Struct,
    Tagged,
    Tuple,
    Type,
    Variant,
    is_comparable,
)
from trellis.dialects.ytsaurus.values.order import row_key
from trellis.dialects.ytsaurus.values.primitives import RANGES, wire_kind
from trellis.dialects.ytsaurus.values.rows import OrderValidator, RowValidator
from trellis.dialects.ytsaurus.values.validation import complete_value, validate_value
from trellis.dialects.ytsaurus.yson.parser import loads
from trellis.dialects.ytsaurus.yson.values import Uint64
from trellis.dialects.ytsaurus.yson.writer import dumps

SIMPLE = st.sampled_from(
    [
        *map(
            Primitive,
            ("int8", "int64", "uint8", "uint64", "double", "string", "utf8", "bool", "date", "null"),
        )
    ]
)
TYPES = st.recursive(
    SIMPLE | st.just(ANY),
    lambda parts: (
        parts.map(Optional)
        | parts.map(List)
        | st.lists(parts, min_size=1, max_size=2).map(lambda types: Struct(members(types)))
        | st.lists(parts, min_size=1, max_size=2).map(lambda types: Tuple(tuple(types)))
        | st.lists(parts, min_size=1, max_size=2).map(lambda types: Variant(members(types), True))
        | st.lists(parts, min_size=1, max_size=2).map(lambda types: Variant(tuple(types), False))
        | st.tuples(SIMPLE, parts).map(lambda pair: Dict(*pair))
        | parts.map(lambda type: Tagged("t", type))
    ),
    max_leaves=4,
)
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.integers(0, 9).map(Uint64) | st.binary(max_size=2),
    lambda items: st.lists(items, max_size=2) | st.dictionaries(st.text("ab", max_size=2), items, max_size=2),
    max_leaves=3,
)


def members(types: list[Type]) -> tuple[Member, ...]:
    return tuple(Member(f"m{index}", type) for index, type in enumerate(types))


def values_of(type: Type) -> st.SearchStrategy[Any]:
    """Values of a type, as they are written."""
    match type:
        case Optional(item) if item == Primitive("yson"):
            return ANYTHING
        case Primitive(name) if name in RANGES:
            low, high = RANGES[name]
            integers = st.integers(low, high)
            return integers.map(Uint64) if wire_kind(name) == "uint64" else integers
        case Primitive("double"):
            return st.floats(allow_nan=False)
        case Primitive("bool"):
            return st.booleans()
        case Primitive("string"):
            return st.binary(max_size=3)
        case Primitive("utf8"):
            return st.text(st.characters(codec="utf-8"), max_size=3).map(str.encode)
        case Optional(item):
            inner = values_of(item)
            return st.none() | (inner.map(lambda value: [value]) if is_nested(item) else inner)
        case List(item):
            return st.lists(values_of(item), max_size=2)
        case Struct(parts):
            return st.fixed_dictionaries({part.name: values_of(part.type) for part in parts})
        case Tuple(elements):
            return st.tuples(*map(values_of, elements)).map(list)
        case Variant(parts):
            names = [
                part.name.encode() if isinstance(part, Member) else index for index, part in enumerate(parts)
            ]
            choices = [
                values_of(part).map(lambda value, name=name: [name, value])
                for name, part in zip(names, type.types, strict=True)
            ]
            return st.one_of(choices)
        case Dict(key, value):
            return st.lists(st.tuples(values_of(key), values_of(value)).map(list), max_size=2)
        case Tagged(_, item):
            return values_of(item)
    return st.none()


def is_nested(item: Type) -> bool:
    """Whether a value of optional<item> stands in a list of its own."""
    while isinstance(item, Tagged):
        item = item.item
    return isinstance(item, Optional) or item == Primitive("null")


TYPED_VALUES = TYPES.flatmap(lambda type: st.tuples(st.just(type), values_of(type)))


@given(TYPED_VALUES)
def test_a_value_of_a_type_passes_and_comes_back(pair: tuple[Type, Any]) -> None:
    type, value = pair
    stored = validate_value(type, value)
    assert complete_value(type, loads(dumps(stored, yson_format="binary"), raw=True)) == loads(
        dumps(stored), raw=True
    )


@given(TYPES)
def test_a_type_comes_back_from_its_document(type: Type) -> None:
    assert parse_type(type_document(type)) == type


def widened(type: Type) -> st.SearchStrategy[Type]:
    """The type, or one like it."""
    later = [type, Optional(type), ANY, Tagged("u", type)]
    match type:
        case Primitive("int8"):
            later.append(Primitive("int64"))
        case Primitive("uint8"):
            later.append(Primitive("uint64"))
        case Primitive("utf8"):
            later.append(Primitive("string"))
        case Optional(item):
            later.append(item)
            return st.sampled_from(later) | widened(item).map(Optional)
        case List(item):
            return st.sampled_from(later) | widened(item).map(List)
        case Struct(parts):
            longer = Struct((*parts, Member("new", Optional(Primitive("int8")))))
            return st.sampled_from([*later, longer])
        case Variant(parts, True):
            later.append(Variant((*parts, Member("new", Primitive("int8"))), True))  # type: ignore[arg-type]
    return st.sampled_from(later)


@given(TYPED_VALUES.flatmap(lambda pair: st.tuples(st.just(pair), widened(pair[0]) | TYPES)))
def test_full_means_that_every_value_passes(case: tuple[tuple[Type, Any], Type]) -> None:
    (old, value), new = case
    if type_compatibility(old, new).level == "full":
        stored = complete_value(new, validate_value(old, value))
        assert dumps(validate_value(new, stored)) == dumps(stored)


# --- Tables ----------------------------------------------------------------------------------------------

CELLS = [*map(Primitive, ("int8", "int64", "uint64", "string", "utf8"))]
CELL_TYPES = st.sampled_from(
    [*CELLS, *map(Optional, CELLS), ANY, Optional(Struct(members([Primitive("int8")])))]
)


@st.composite
def schemas(draw: st.DrawFn) -> TableSchema:
    types = draw(st.lists(CELL_TYPES, min_size=1, max_size=3))
    keys = draw(st.integers(0, len(types)))
    columns = tuple(
        Column(name, type, "ascending" if index < keys and is_comparable(type) else None)
        for index, (name, type) in enumerate(zip("abc", types, strict=False))
    )
    strict = draw(st.booleans())
    schema = TableSchema(columns, strict, draw(st.booleans()) and columns[0].is_key)
    return schema if not check_schema(schema_document(schema)) else schema.without_keys()


def rows_of(schema: TableSchema) -> st.SearchStrategy[list[dict[str, Any]]]:
    """Rows that the schema takes, in its order."""
    cells = {column.name: key_values(column) for column in schema.columns}
    if not schema.strict:
        cells["z"] = st.none() | st.integers(0, 3)
    rows = st.lists(st.fixed_dictionaries(cells), max_size=6)
    names = [key.name for key in schema.keys]

    def in_order(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        ordered = sorted(rows, key=lambda row: row_key(row[name] for name in names))
        if not schema.unique_keys:
            return ordered
        return list({row_key(row[name] for name in names): row for row in ordered}.values())

    return rows.map(in_order)


def key_values(column: Column) -> st.SearchStrategy[Any]:
    if column.is_key and column.type == ANY:
        return st.none() | st.integers(-2, 2) | st.binary(max_size=1)
    return values_of(column.type)


TABLES = schemas().flatmap(lambda schema: st.tuples(st.just(schema), rows_of(schema)))


@contextmanager
def empty_store() -> Iterator[Store]:
    with tempfile.TemporaryDirectory() as folder, Store.open(f"yt:{folder}/s") as store:
        yield store


def put(store: Store, path: str, table: tuple[TableSchema, list[dict[str, Any]]]) -> None:
    schema, rows = table
    store.create("table", path, {"schema": schema_document(schema)})
    write_rows(store, path, iter(rows))


def rows_in(store: Store, path: str) -> list[dict[str, Any]]:
    """Rows without nulls."""
    rows = open_source(store, path).read_rows()
    return [{name: value for name, value in row.items() if value is not None} for row in rows]


def check_rows(store: Store, path: str) -> None:
    """The rows of a table pass its schema."""
    schema = store.table(path).schema
    values, order = RowValidator(schema), OrderValidator(schema)
    for row in rows_in(store, path):
        values.validate(row)
        if schema.is_sorted:
            order.check(row)


@given(schemas())
def test_a_schema_comes_back_from_its_document(schema: TableSchema) -> None:
    assert read_schema(loads(dumps(schema_document(schema)))).schema == schema


@settings(max_examples=40, deadline=None)
@given(TABLES)
def test_rows_come_back(table: tuple[TableSchema, list[dict[str, Any]]]) -> None:
    with empty_store() as store:
        put(store, "//tmp/t", table)
        written = [{name: value for name, value in row.items() if value is not None} for row in table[1]]
        assert rows_in(store, "//tmp/t") == written
        check_rows(store, "//tmp/t")


@settings(max_examples=60, deadline=None)
@given(TABLES, schemas(), st.data())
def test_rows_survive_every_allowed_alter(
    table: tuple[TableSchema, list[dict[str, Any]]], other: TableSchema, data: st.DataObject
) -> None:
    schema = table[0]
    columns = [replace(column, type=data.draw(widened(column.type))) for column in schema.columns]
    change = data.draw(st.sampled_from(["types", "add", "remove", "unsort", "loosen", "other"]))
    match change:
        case "add":
            columns.append(Column("new", Optional(Primitive("int8"))))
        case "remove":
            columns.pop()
        case "unsort":
            columns = [replace(column, sort_order=None) for column in columns]
    later = replace(schema, columns=tuple(columns), unique_keys=schema.unique_keys and change != "unsort")
    if change == "loosen":
        later = replace(schema, strict=False)
    with empty_store() as store:
        put(store, "//tmp/t", table)
        before = rows_in(store, "//tmp/t")
        try:
            alter_table(store, "//tmp/t", schema_document(other if change == "other" else later))
        except YtError:
            assert rows_in(store, "//tmp/t") == before
            return
        check_rows(store, "//tmp/t")
        types = {column.name: column.type for column in store.table("//tmp/t").schema.columns}
        after = rows_in(store, "//tmp/t")
        assert [row.keys() for row in after] == [row.keys() for row in before]
        for row, row_before in zip(after, before, strict=True):
            for name, value in row_before.items():
                type = types.get(name, ANY)
                assert dumps(row[name]) == dumps(complete_value(type, value))


@settings(max_examples=60, deadline=None)
@given(
    st.lists(TABLES, min_size=1, max_size=2),
    schemas() | st.none(),
    st.sampled_from(["ordered", "unordered", "sorted"]),
    st.sampled_from(["auto", "from_input", "from_output"]),
    st.booleans(),
)
def test_inference_predicts_what_is_written(
    tables: list[tuple[TableSchema, list[dict[str, Any]]]],
    output: TableSchema | None,
    mode: Any,
    inference: str,
    alike: bool,
) -> None:
    """Whether chunks are taken over or written anew, the rows are the same and pass the schema."""
    with empty_store() as store:
        paths = [f"//tmp/i{index}" for index in range(len(tables))]
        for path, table in zip(paths, [tables[0]] * 2 if alike else tables, strict=False):
            put(store, path, table)
        results = []
        for name, forced in (("taken", False), ("written", True)):
            target = f"//tmp/{name}"
            store.create("table", target, {} if output is None else {"schema": schema_document(output)})
            spec = OperationSpec.parse({"schema_inference_mode": inference, "force_transform": forced})
            try:
                merge(store, paths, target, mode, spec)
            except YtError as error:
                results.append((int(error.code), error.message.replace(name, ""), []))
                assert rows_in(store, target) == []
                continue
            check_rows(store, target)
            results.append((0, str(store.table(target).schema), rows_in(store, target)))
        assert results[0] == results[1]


@settings(max_examples=40, deadline=None)
@given(TABLES, st.permutations("abc"), st.integers(1, 3))
def test_a_sort_is_complete_stable_and_unique_where_asked(
    table: tuple[TableSchema, list[dict[str, Any]]], names: list[str], count: int
) -> None:
    keys = [SortColumn(name) for name in names[:count]]
    with empty_store() as store:
        put(store, "//tmp/t", table)
        before = rows_in(store, "//tmp/t")
        try:
            sort(store, ["//tmp/t"], "//tmp/s", keys)
        except YtError:
            return
        expected = sorted(before, key=lambda row: row_key(row.get(key.name) for key in keys))
        assert rows_in(store, "//tmp/s") == expected
        check_rows(store, "//tmp/s")
        unique = replace(store.table("//tmp/s").schema, unique_keys=True)
        store.create("table", "//tmp/u", {"schema": schema_document(unique)})
        spec = OperationSpec.parse({"schema_inference_mode": "from_output"})
        if len({row_key(row.get(key.name) for key in keys) for row in before}) == len(before):
            sort(store, ["//tmp/t"], "//tmp/u", keys, spec)
            assert rows_in(store, "//tmp/u") == expected
        else:
            with pytest.raises(YtError) as caught:
                sort(store, ["//tmp/t"], "//tmp/u", keys, spec)
            assert caught.value.code == ErrorCode.DUPLICATE_KEY
            assert rows_in(store, "//tmp/u") == []
