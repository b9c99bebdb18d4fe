"""Schemas to try laws on."""

from __future__ import annotations

from hypothesis import strategies as st

from trellis.schema.dict_form import to_dict
from trellis.schema.documents.document import from_dict
from trellis.schema.model import DATA_TYPES, Column, Schema, Settings, Table

names = st.from_regex(r"[a-z][a-z0-9]{0,3}(__[a-z]{1,2})?", fullmatch=True)
odd_names = names | st.sampled_from(
    ["no", "yes", "null", "1", "1e3", "12:30", "a b", "Größe", "💥", "~", "- x"]
)
texts = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=12)
texts |= st.sampled_from(["no", "1.5", "0o17", "2024-01-01", "a: b", "# x", " x", "null", "1_000", "=", "<<"])
texts |= st.sampled_from(["a\x85b", "a\nb", "\ufeffa", "!x", "&a", "*a", "%a", "?", "1e3", "12:30"])
flags = st.none() | st.booleans()
flag_hints = st.sampled_from(
    ["primary_key", "merge_key", "unique", "sort", "partition", "row_key", "root_key"]
)
column_hints = st.dictionaries(flag_hints, flags, max_size=3)


@st.composite
def columns(draw: st.DrawFn, name: str) -> Column:
    return Column(
        name,
        draw(st.none() | st.sampled_from(DATA_TYPES)),
        nullable=draw(flags),
        precision=draw(st.none() | st.integers(0, 40)),
        scale=draw(st.none() | st.integers(0, 9)),
        timezone=draw(flags),
        variant=draw(flags),
        description=draw(st.none() | texts),
    ).with_hints(**draw(column_hints), **draw(st.dictionaries(st.just("x-note"), texts, max_size=1)))


@st.composite
def tables(draw: st.DrawFn, name: str, parents: list[str]) -> Table:
    columns_drawn = [draw(columns(name)) for name in draw(st.lists(odd_names, unique=True, max_size=4))]
    parent = draw(st.none() | st.sampled_from(parents)) if parents else None
    table = Table(name, {column.name: column for column in columns_drawn}, parent=parent)
    if parent is None:
        disposition = draw(st.sampled_from(["append", "replace", "merge"]))
        table = table.with_hints(write_disposition=disposition, resource=draw(odd_names))
    if draw(st.booleans()):
        table = table.with_hints(**{"x-normalizer": {"seen-data": True}})
    return table


rules = st.builds(lambda name, plain: name if plain else f"re:{name}$", names, st.booleans())
settings = st.builds(
    Settings,
    detections=st.none() | st.just(("iso_timestamp", "iso_date")),
    default_hints=st.none()
    | st.dictionaries(st.sampled_from(["not_null", "sort"]), st.lists(rules, max_size=2).map(tuple)),
    preferred_types=st.none() | st.dictionaries(rules, st.sampled_from(DATA_TYPES), max_size=2),
    schema_contract=st.none() | st.sampled_from(["freeze", {"columns": "discard_row"}]),
)


@st.composite
def schemas(draw: st.DrawFn) -> Schema:
    tables_drawn: list[Table] = []
    for name in draw(st.lists(names, unique=True, max_size=4)):
        tables_drawn.append(draw(tables(name, [table_drawn.name for table_drawn in tables_drawn])))
    return Schema(
        draw(st.sampled_from(["shop", "Ünï", "class"])),
        {table_drawn.name: table_drawn for table_drawn in tables_drawn},
        draw(settings),
        {"names": "snake_case"},
        draw(st.none() | texts),
    )


def stored(schema: Schema) -> Schema:
    """The schema as it looks once it was read from a document."""
    return from_dict(to_dict(schema))
