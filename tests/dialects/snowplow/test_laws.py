"""Laws over made-up schemas."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime, timezone
from typing import Any

import pytest
from hypothesis import assume, event, example, given
from hypothesis import strategies as st

from dialects.snowplow.families import REDSHIFT, Node, document, object_schema, text, versions
from dialects.snowplow.schemas import KEYS, edited, instances, nodes, nonsense, objects
from trellis.dialects.snowplow.columns.family_table import FamilyMerge, FamilyTable, merge_family
from trellis.dialects.snowplow.columns.flatten import flatten
from trellis.dialects.snowplow.columns.profiles import PROFILES
from trellis.dialects.snowplow.ddl.migrations import Migration
from trellis.dialects.snowplow.document.json_text import read_json
from trellis.dialects.snowplow.document.schema_document import SchemaDocument
from trellis.dialects.snowplow.document.validation import SchemaValidator
from trellis.dialects.snowplow.identity.keys import SchemaVer
from trellis.dialects.snowplow.kind.data_changes import data_changes
from trellis.dialects.snowplow.kind.rules import strictest
from trellis.dialects.snowplow.lints.schema_lint import lint_document
from trellis.dialects.snowplow.rows.csv import Event, LineWriter
from trellis.dialects.snowplow.typed.casts import CastError, cast_value
from trellis.dialects.snowplow.typed.fields import type_of_schema
from trellis.dialects.snowplow.versions.succession import Publication, SuccessionRules

NUMBERS = versions("1-0-0 1-0-1 1-0-2 1-1-0 1-1-1 1-2-0 1-2-1")
EVENT = Event("9e5c1b1a", datetime(2024, 3, 9, tzinfo=timezone.utc))


def read(value: object) -> Any:
    """The value as it arrives."""
    return read_json(json.dumps(value))


@st.composite
def publishing_orders(draw: st.DrawFn) -> list[SchemaVer]:
    """The versions in an order that a registry allows."""
    published: list[SchemaVer] = []
    while len(published) < len(NUMBERS):
        possible = [
            version
            for version in NUMBERS
            if SuccessionRules().check(Publication(version), published) == "created"
        ]
        published.append(draw(st.sampled_from(possible)))
    return published


@st.composite
def growing_families(draw: st.DrawFn) -> dict[SchemaVer, SchemaDocument]:
    """Versions that each add properties to 1-0-0; a key has the same schema wherever it stands."""
    pool = {key: draw(nodes(0)) for key in KEYS}
    first = draw(st.lists(st.sampled_from(KEYS), unique=True, min_size=1, max_size=3))
    family = {}
    for version in NUMBERS:
        keys = {*first, *draw(st.lists(st.sampled_from(KEYS), max_size=3))}
        properties = {key: pool[key] for key in sorted(keys)}
        family[version] = document(str(version), properties, first)
    return family


@given(growing_families(), publishing_orders(), publishing_orders())
def test_any_order_of_publishing_only_adds_and_ends_with_the_same_columns(
    family: dict[SchemaVer, SchemaDocument], first: list[SchemaVer], second: list[SchemaVer]
) -> None:
    sets = []
    for order in (first, second):
        documents = [family[version] for version in order]
        columns: list[str] = []
        for count in range(1, len(documents) + 1):
            table = merge_family(documents[:count], REDSHIFT)
            assert not table.recovery
            assert [column.name for column in table.columns][: len(columns)] == columns
            columns = [column.name for column in table.columns]
        sets.append({(column.name, column.type, column.nullable) for column in table.columns})
    assert sets[0] == sets[1]


@pytest.mark.parametrize("profile", PROFILES.values(), ids=lambda profile: profile.name)
@given(data=st.data())
def test_what_a_merge_knows_of_the_schema_before_changes_nothing(profile: Any, data: st.DataObject) -> None:
    """Columns that are the same objects are left out; of copies of them each is compared."""
    bodies = [data.draw(objects(1))]
    for _ in range(4):
        bodies.append(data.draw(st.one_of(edited(bodies[-1]), st.sampled_from(bodies))))
    key = document("1-0-0", {}).key
    quick, thorough = FamilyMerge(profile), FamilyMerge(profile)
    for number, body in enumerate(bodies):
        schema = SchemaDocument(key.with_version(SchemaVer(1, 0, number)), body)
        assert quick.add(schema) == thorough.add(schema, [replace(column) for column in flatten(body)])
    assert quick.table() == thorough.table()


def migrate(table: FamilyTable, migration: Migration) -> list[tuple[object, ...]]:
    """The columns of a table after a script."""
    types = {column.name: column.type for column in migration.widened}
    released = {column.name for column in migration.released}
    kept = [
        (column.name, types.get(column.name, column.type), column.nullable or column.name in released)
        for column in table.columns
    ]
    return [*kept, *((column.name, column.type, True) for column in migration.added)]


@pytest.mark.parametrize("profile", PROFILES.values(), ids=lambda profile: profile.name)
@given(data=st.data())
def test_a_table_and_the_script_to_a_later_version_make_the_later_table(
    profile: Any, data: st.DataObject
) -> None:
    bodies = [data.draw(objects(1))]
    for _ in range(4):
        bodies.append(data.draw(edited(bodies[-1])))
    key = document("1-0-0", {}).key
    documents = [
        SchemaDocument(key.with_version(SchemaVer(1, 0, number)), body) for number, body in enumerate(bodies)
    ]
    end = data.draw(st.integers(1, len(documents)))
    start = data.draw(st.integers(1, end))
    before, after = (merge_family(documents[:count], profile) for count in (start, end))
    assert migrate(before, Migration.between(before, after)) == [
        (column.name, column.type, column.nullable) for column in after.columns
    ]


@given(objects(), st.data())
def test_what_needs_an_addition_leaves_all_instances_valid(old: Node, data: st.DataObject) -> None:
    new = data.draw(edited(old))
    try:
        validators = [SchemaValidator(body) for body in (old, new)]
    except ValueError:
        assume(False)
    needs = strictest(change.needs for change in data_changes(old, new))
    event(needs)
    if needs == "ADDITION":
        instance = data.draw(instances(old))
        if validators[0].is_valid(instance):
            assert validators[1].is_valid(instance)


@given(objects(), st.data())
def test_a_valid_instance_fits_its_types(body: Node, data: st.DataObject) -> None:
    """Numbers within 64 bits and dates that are in the calendar; others are the exceptions below."""
    instance = data.draw(instances(body))
    assume(SchemaValidator(body).is_valid(instance))
    value = cast_value(read(instance), type_of_schema(body))
    assert isinstance(value, dict | str)


@pytest.mark.parametrize(
    ("node", "value"),
    [
        ({"type": "integer"}, 2**63),
        ({"type": "string", "format": "date-time"}, "2024-06-30T23:59:60Z"),
        ({"type": "string", "format": "date"}, "0000-01-01"),
    ],
)
def test_valid_values_that_do_not_fit(node: Node, value: object) -> None:
    body = object_schema({"x": node})
    assert SchemaValidator(body).is_valid({"x": value})
    with pytest.raises(CastError):
        cast_value(read({"x": value}), type_of_schema(body))


@given(nonsense(), nonsense())
@example({"items": [None]}, {"items": [None]})
@example({"items": 1, "format": []}, {})
def test_what_is_no_schema_has_findings_and_no_crash(old: Node, new: Node) -> None:
    errors = [issue for issue in lint_document(read(old)) if issue.level == "ERROR"]
    assert errors
    for body in (old, new):
        flatten(read(body))
        type_of_schema(read(body))
    data_changes(read(old), read(new))


@given(objects(), st.data())
@example(object_schema({"a": text(5)}), None)
def test_a_line_has_a_field_for_each_column(body: Node, data: st.DataObject | None) -> None:
    instance = {"a": "x\ty\r\n"} if data is None else data.draw(instances(body))
    schema = SchemaDocument(document("1-0-0", {}).key, body)
    table = merge_family([schema], REDSHIFT)
    line = LineWriter(table.columns).line(schema.key, EVENT, read(instance))
    assert line.count("\t") == 9 + len(table.columns) - 1
    assert not {*line} & {"\n", "\r"}
