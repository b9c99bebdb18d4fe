"""Whether a version is what its number declares."""

from __future__ import annotations

from typing import Any

import pytest

from dialects.snowplow.families import REDSHIFT, SPARK, Node, document, object_schema, text
from trellis.dialects.snowplow.columns.profiles import PROFILES
from trellis.dialects.snowplow.document.schema_document import SchemaDocument
from trellis.dialects.snowplow.identity.keys import SchemaVer
from trellis.dialects.snowplow.kind.data_changes import data_changes
from trellis.dialects.snowplow.kind.verdict import KindPolicy, judge, merge_tables, suggest_version

STRICT = KindPolicy()
STATE = {"enum": ["open", "shut"]}
A, B = {"a": text(5)}, {"a": text(5), "b": text(5)}


def refused(old: SchemaDocument, new: SchemaDocument, policy: KindPolicy = STRICT) -> str | None:
    """What a refused version needs; None where it is accepted."""
    verdict = judge(new, [old], policy)
    return verdict.needs if verdict.refused else None


def property_change(version: str, old: Node, new: Node, policy: KindPolicy = STRICT) -> str | None:
    return refused(document("1-0-0", {"x": old}), document(version, {"x": new}), policy)


def test_r18_a_property_is_added_to_a_closed_object() -> None:
    old = document("1-0-0", A)
    assert refused(old, document("1-0-1", B)) is None
    assert refused(old, document("1-0-1", B, ["b"])) == "MODEL"


def test_r19_a_bound_is_moved() -> None:
    assert property_change("1-0-1", text(12), text(20)) is None
    assert property_change("1-0-1", text(20), text(12)) == "REVISION"
    assert property_change("1-0-1", text(20), text(12), KindPolicy("model-only")) is None


def test_r20_a_type_that_the_column_cannot_take() -> None:
    old, new = document("1-0-0", {"x": {"type": "integer"}}), document("1-1-0", {"x": {"type": "number"}})
    verdict = judge(new, [old], STRICT)
    assert [(change.pointer, change.rule, change.needs, change.profile) for change in verdict.refused] == [
        ("/properties/x", "table cannot follow", "MODEL", "redshift"),
        ("/properties/x", "table cannot follow", "MODEL", "spark"),
    ]
    assert verdict.refused[0].detail == "Incompatible types in column x old BIGINT new DOUBLE PRECISION"


def test_r21_an_enum_grows() -> None:
    grown: tuple[tuple[list[str], list[str], str | None], ...] = (
        (["open", "shut"], ["open", "shut", "half"], None),
        (["a"], ["a", "bcd"], "MODEL"),
    )
    for before, after, needs in grown:
        assert property_change("1-0-1", {"enum": before}, {"enum": after}) == needs
    spark = KindPolicy(profiles=(SPARK,))
    assert property_change("1-0-1", {"enum": ["a"]}, {"enum": ["a", "bcd"]}, spark) is None


def test_r22_a_greater_step_than_needed() -> None:
    verdict = judge(document("1-1-0", A, description="new"), [document("1-0-0", A)], STRICT)
    assert (verdict.refused, verdict.info) == (
        (),
        "the version is a REVISION, and the changes need no more than an ADDITION",
    )


@pytest.mark.parametrize(
    ("properties", "required", "version"),
    [
        ({"a": STATE, "b": text(5)}, [], "1-1-2"),
        ({"a": {"enum": ["open"]}}, [], "1-2-0"),
        ({"a": STATE, "b": text(5)}, ["b"], "2-0-0"),
    ],
)
def test_r23_the_smallest_version(properties: Node, required: list[str], version: str) -> None:
    registered = [document(number, {"a": STATE}) for number in ("1-0-0", "1-1-0", "1-1-1")]
    suggestion = suggest_version(document("1-1-1", properties, required), registered, STRICT)
    assert (str(suggestion.base), str(suggestion.version)) == ("1-1-1", version)


def test_the_smallest_version_after_an_older_one_is_one_that_the_registry_takes() -> None:
    registered = [document("1-0-0", {"a": STATE}), document("1-0-1", {"a": STATE, "b": text(5)})]
    new = document("1-0-2", {"a": STATE, "c": text(5)})
    suggestion = suggest_version(new, registered, STRICT, SchemaVer(1, 0, 0))
    assert (suggestion.needs, str(suggestion.version)) == ("ADDITION", "1-1-0")
    assert judge(document("1-0-2", {"a": STATE, "c": text(5)}), registered, STRICT).refused


def test_a_registry_may_keep_the_tables() -> None:
    registered = [document("1-0-0", {"a": text(5)}), document("1-0-1", B)]
    tables = merge_tables(1, registered, STRICT)
    for properties in (B, {"a": {"type": "integer"}}):
        new = document("1-0-2", properties)
        assert judge(new, registered, STRICT, tables) == judge(new, registered, STRICT)


def test_the_first_version_is_1_0_0() -> None:
    assert str(suggest_version(document("3-0-0", A), [], STRICT).version) == "1-0-0"


def test_a_property_of_an_open_object_is_warned_of() -> None:
    old = document("1-0-0", A, additionalProperties=True)
    new = document("1-0-1", B, additionalProperties=True)
    verdict = judge(new, [old], STRICT)
    assert (verdict.refused, verdict.needs) == ((), "REVISION")
    assert [change.rule for change in verdict.warnings] == ["property added to an open object"]
    assert refused(old, new, KindPolicy(guards_open_objects=True)) == "REVISION"


def test_an_optional_property_breaks_where_not_null_cannot_be_dropped() -> None:
    old, new = document("1-0-0", A, ["a"]), document("1-0-1", A)
    assert refused(old, new, KindPolicy(profiles=(REDSHIFT,))) == "MODEL"
    assert refused(old, new, KindPolicy(profiles=(SPARK, PROFILES["postgres"]))) is None
    assert refused(old, new, KindPolicy("off")) is None


def test_the_first_of_a_model_is_compared_with_nothing() -> None:
    verdict = judge(document("2-0-0", {}), [document("1-0-0", A, ["a"])], STRICT)
    assert (verdict.base, verdict.changes, verdict.refused, verdict.info) == (None, (), (), None)


OPEN = {"additionalProperties": True}
CHANGES: list[tuple[str, dict[str, Any], dict[str, Any], list[tuple[str, str]]]] = [
    ("description", {"description": "a", "title": "x", "default": 1}, {}, []),
    ("added, open, required", object_schema({}, **OPEN), object_schema(A, ["a"], **OPEN),
     [("required property added", "REVISION")]),
    ("added below an optional object",
     object_schema({"o": object_schema({})}), object_schema({"o": object_schema(A, ["a"])}),
     [("required property added", "REVISION")]),
    ("removed, closed, required", object_schema(B, ["b"]), object_schema(A), [("property removed", "MODEL")]),
    ("removed, closed, optional", object_schema(B), object_schema(A), [("property removed", "REVISION")]),
    ("removed, open", object_schema(B, ["b"], **OPEN), object_schema(A, **OPEN),
     [("property removed", "ADDITION")]),
    ("renamed", object_schema({"x": {}}), object_schema({"y": {}}),
     [("property removed", "REVISION"), ("property added", "ADDITION")]),
    ("made optional", object_schema(A, ["a"]), object_schema(A), [("made optional", "ADDITION")]),
    ("made required", object_schema(A), object_schema(A, ["a"]), [("made required", "REVISION")]),
    ("null added", {"type": "string"}, {"type": ["null", "string"]}, [("null added", "ADDITION")]),
    ("widened", {"type": "integer"}, {"type": ["integer", "string"]}, [("type changed", "REVISION")]),
    ("disjoint", {"type": "integer"}, {"type": "string"}, [("types disjoint", "MODEL")]),
    ("disjoint below an optional property",
     object_schema({"x": {"type": "integer"}}), object_schema({"x": {"type": "string"}}),
     [("type changed", "REVISION")]),
    ("integer to number", {"type": "integer"}, {"type": "number"}, [("type changed", "REVISION")]),
    ("maximum up", {"maximum": 5}, {"maximum": 7.5}, [("bound loosened", "ADDITION")]),
    ("maximum dropped", {"maximum": 5}, {}, [("bound loosened", "ADDITION")]),
    ("maximum added", {}, {"maximum": 5}, [("bound tightened", "REVISION")]),
    ("minItems down", {"minItems": 5}, {"minItems": 4}, [("bound loosened", "ADDITION")]),
    ("minItems up", {"minItems": 4}, {"minItems": 5}, [("bound tightened", "REVISION")]),
    ("exclusive", {"maximum": 5}, {"maximum": 5, "exclusiveMaximum": True},
     [("bound tightened", "REVISION")]),
    ("enum dropped", {"enum": [1]}, {}, [("enum removed", "ADDITION")]),
    ("enum disjoint", {"enum": [1, True]}, {"enum": [2, "1"]}, [("enum disjoint", "MODEL")]),
    ("enum of equal numbers", {"enum": [1]}, {"enum": [1.0]}, []),
    ("enum with a boolean for a number", {"enum": [1, 2]}, {"enum": [True, 2]},
     [("enum narrowed", "REVISION")]),
    ("pattern changed", {"pattern": "a"}, {"pattern": "b"}, [("pattern changed", "REVISION")]),
    ("format dropped", {"format": "uuid"}, {}, [("format removed", "ADDITION")]),
    ("multipleOf divides", {"multipleOf": 0.1}, {"multipleOf": 0.05}, [("multipleOf loosened", "ADDITION")]),
    ("multipleOf does not", {"multipleOf": 0.1}, {"multipleOf": 0.03},
     [("multipleOf tightened", "REVISION")]),
    ("opened", object_schema({}), object_schema({}, **OPEN), [("object opened", "ADDITION")]),
    ("closed", object_schema({}, **OPEN), object_schema({}), [("object closed", "REVISION")]),
    ("closed by a schema", object_schema({}, **OPEN),
     object_schema({}, additionalProperties={"type": "null"}),
     [("object closed", "REVISION")]),
    ("items", {"items": text(5)}, {"items": text(4)}, [("bound tightened", "REVISION")]),
    ("anyOf added", {"anyOf": [text(1)]}, {"anyOf": [text(2), text(1)]}, [("alternative added", "ADDITION")]),
    ("anyOf new", {}, {"anyOf": [text(2)]}, [("combination changed", "REVISION")]),
    ("oneOf added", {"oneOf": [text(1)]}, {"oneOf": [text(1), text(2)]},
     [("combination changed", "REVISION")]),
    ("$ref", {"properties": {"x": {"$ref": "#/definitions/x"}}, "definitions": {"x": {}}, "maxLength": 1},
     {"properties": {"x": {"$ref": "#/definitions/x"}}, "definitions": {"x": text(1)}, "maxLength": 2},
     [("bound loosened", "ADDITION"), ("reference beside a change", "REVISION")]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "changes"), [row[1:] for row in CHANGES], ids=[row[0] for row in CHANGES]
)
def test_what_a_change_needs(old: Node, new: Node, changes: list[tuple[str, str]]) -> None:
    assert [(change.rule, change.needs) for change in data_changes(old, new)] == changes
