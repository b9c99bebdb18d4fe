"""Laws that hold for every schema."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from trellis.dialects.pinot.document.defaults import (
    default_json,
    literal_text,
    parse_default,
    same_value,
    type_default,
)
from trellis.dialects.pinot.document.faults import SchemaFaults
from trellis.dialects.pinot.document.fields import FieldSpec, PinotSchema
from trellis.dialects.pinot.document.reader import examine, read_schema
from trellis.dialects.pinot.document.types import ExceedStrategy, FieldType, PinotType
from trellis.dialects.pinot.document.writer import document_of, write_schema
from trellis.dialects.pinot.schema_changes.changes import changes, incompatibilities, is_same_schema
from trellis.dialects.pinot.validation.schema_rules import faults_of, is_allowed
from trellis.dialects.pinot.value.numbers import double_text
from trellis.dialects.pinot.value.source_kinds import round32

WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
SAID = WORDS.filter(lambda text: bool(text.strip()))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.sampled_from(["x", "true", "5", "", "INT", 1.5]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "name"]), inner, max_size=2)
    ),
    max_leaves=4,
)


def decimal_of(value: float) -> Decimal:
    """A decimal that a JSON number can say: Pinot reads these as doubles."""
    return Decimal(double_text(value or 0.0))


VALUES: Mapping[PinotType, st.SearchStrategy[Any]] = {
    PinotType.INT: st.integers(-(2**31), 2**31 - 1),
    PinotType.LONG: st.integers(-(2**63), 2**63 - 1),
    PinotType.FLOAT: st.floats(width=32, allow_nan=False).map(round32),
    PinotType.DOUBLE: st.floats(allow_nan=False),
    PinotType.BIG_DECIMAL: st.integers().map(Decimal) | st.floats(-1e9, 1e9).map(decimal_of),
    PinotType.BOOLEAN: st.sampled_from([0, 1]),
    PinotType.TIMESTAMP: st.integers(0, 4_000_000_000_000),
    PinotType.STRING: WORDS,
    PinotType.JSON: WORDS,
    PinotType.BYTES: st.binary(max_size=4),
    PinotType.MAP: st.dictionaries(WORDS, st.integers() | WORDS, max_size=2),
    PinotType.LIST: st.lists(st.integers() | WORDS, max_size=2),
}


@st.composite
def specs(draw: st.DrawFn, name: str, role: FieldType) -> FieldSpec:
    kinds = [kind for kind in VALUES if is_allowed(kind, role)]
    kind = draw(st.sampled_from(kinds))
    default = draw(st.none() | VALUES[kind])
    if (
        default is not None
        and kind is not PinotType.BYTES
        and same_value(kind, default, type_default(role, kind))
    ):
        default = None
    of_time = role is FieldType.DATE_TIME
    stamp = of_time and kind is PinotType.TIMESTAMP
    children = (
        {"key": FieldSpec("key", PinotType.STRING)}
        if role is FieldType.COMPLEX and draw(st.booleans())
        else {}
    )
    return FieldSpec(
        name,
        kind,
        role,
        draw(st.booleans()) if role in (FieldType.DIMENSION, FieldType.COMPLEX) else True,
        draw(st.booleans()),
        draw(st.none() | st.integers(1, 600)),
        draw(st.none() | st.sampled_from(ExceedStrategy)),
        draw(st.booleans()),
        default,
        draw(st.none() | WORDS),
        draw(st.none() | WORDS),
        "TIMESTAMP" if stamp else draw(st.none() | WORDS) if of_time else None,
        draw(st.none() | WORDS) if of_time else None,
        None,
        children,
        draw(st.none() | WORDS),
        tuple(draw(st.lists(WORDS, max_size=2))),
    )


@st.composite
def schemas(draw: st.DrawFn) -> PinotSchema:
    names = iter(draw(st.lists(WORDS, unique=True, max_size=8)))

    def some(role: FieldType) -> tuple[FieldSpec, ...]:
        return tuple(
            draw(specs(name, role)) for _, name in zip(range(draw(st.integers(0, 2))), names, strict=False)
        )

    roles = (FieldType.DIMENSION, FieldType.METRIC, FieldType.DATE_TIME, FieldType.COMPLEX)
    dimensions, metrics, date_times, complexes = map(some, roles)
    return PinotSchema(
        draw(st.none() | WORDS),
        dimensions,
        metrics,
        date_times,
        complexes,
        tuple(draw(st.lists(WORDS, max_size=2))),
        draw(st.booleans()),
        draw(st.none() | SAID),
        tuple(draw(st.lists(WORDS, max_size=2))),
    )


@given(schemas(), st.booleans())
def test_what_is_written_reads_back(schema: PinotSchema, pretty: bool) -> None:
    read, report = examine(write_schema(schema, pretty))
    assert (read, report.faults) == (schema, [])
    documentation = ("/description", "/tags")
    assert all(unknown_key.pointer.endswith(documentation) for unknown_key in report.unknown)


@given(schemas())
def test_writing_what_was_read_changes_nothing_the_second_time(schema: PinotSchema) -> None:
    once = write_schema(schema)
    assert write_schema(read_schema(once)) == once


@given(schemas(), st.randoms())
def test_equality_ignores_the_order_of_lists(schema: PinotSchema, dice: Any) -> None:
    def mixed(fields: tuple[FieldSpec, ...]) -> tuple[FieldSpec, ...]:
        return tuple(dice.sample(fields, len(fields)))

    other = replace(
        schema,
        dimensions=mixed(schema.dimensions),
        metrics=mixed(schema.metrics),
        date_times=mixed(schema.date_times),
        complexes=mixed(schema.complexes),
    )
    assert is_same_schema(schema, other)
    assert changes(schema, other) == ()


@given(schemas())
def test_a_schema_may_follow_itself(schema: PinotSchema) -> None:
    assert incompatibilities(schema, schema) == ()


@given(schemas(), schemas())
def test_a_difference_is_told(one: PinotSchema, other: PinotSchema) -> None:
    assert is_same_schema(one, other) == (changes(one, other) == ())


@given(st.sampled_from(sorted(VALUES, key=lambda kind: kind.value)), st.data())
def test_the_text_of_a_default_is_a_literal_of_it(kind: PinotType, data: st.DataObject) -> None:
    value = data.draw(VALUES[kind])
    assert same_value(kind, parse_default(kind, literal_text(default_json(kind, value))), value)


@given(schemas())
def test_the_pointers_of_faults_are_in_the_document(schema: PinotSchema) -> None:
    document = document_of(schema)
    for fault in faults_of(schema):
        assert is_there(document, fault.pointer), fault


@settings(max_examples=200)
@given(schemas(), st.data())
def test_a_broken_document_is_refused_at_places_that_are_there(
    schema: PinotSchema, data: st.DataObject
) -> None:
    document = json.loads(write_schema(schema))
    for _ in range(data.draw(st.integers(1, 3))):
        break_one(document, data)
    try:
        read = read_schema(document)
    except SchemaFaults as refused:
        assert refused.faults
        for fault in refused.faults:
            assert is_there(document, fault.pointer), fault
    else:
        _, report = examine(document)
        assert all(is_there(document, unknown_key.pointer) for unknown_key in report.unknown)
        assert is_same_schema(read_schema(write_schema(read)), read)


def break_one(document: Any, data: st.DataObject) -> None:
    places = [(document, key) for key in document]
    for value in document.values():
        for field in value if isinstance(value, list) else [value]:
            places += [(field, key) for key in field] if isinstance(field, dict) else []
    where, key = data.draw(st.sampled_from(places))
    where[key] = data.draw(JSON)


def is_there(document: Any, pointer: str) -> bool:
    here = document
    for step in pointer.split("/")[1:]:
        step = step.replace("~1", "/").replace("~0", "~")
        if isinstance(here, list):
            if not step.isdigit() or int(step) >= len(here):
                return False
            here = here[int(step)]
        elif isinstance(here, Mapping) and step in here:
            here = here[step]
        else:
            return False
    return True
