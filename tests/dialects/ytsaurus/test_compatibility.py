"""Compatibility of types and schemas."""

from __future__ import annotations

import pytest

from dialects.ytsaurus.schemas import schema
from trellis.dialects.ytsaurus.compatibility.schemas import schema_compatibility
from trellis.dialects.ytsaurus.compatibility.types import type_compatibility
from trellis.dialects.ytsaurus.types.document import parse_type
from trellis.dialects.ytsaurus.types.model import Type
from trellis.dialects.ytsaurus.yson.parser import loads


def optional(text: str) -> str:
    return f"{{type_name=optional;item={text}}}"


def struct(*members: str) -> str:
    return f"{{type_name=struct;members=[{';'.join(members)}]}}"


def type_of(text: str) -> Type:
    return parse_type(loads(text))


LIST = "{type_name=list;item=int64}"
ANY = optional("yson")
A, B = "{name=a;type=int8}", "{name=b;type=utf8}"
NULLABLE_B = f"{{name=b;type={optional('utf8')}}}"


@pytest.mark.parametrize(
    ("old", "new", "level"),
    [
        pytest.param("int32", "int64", "full", id="c66-widen"),
        pytest.param("int64", "int32", "validate", id="c66-narrow"),
        pytest.param("int64", "double", "incompatible", id="c66-double"),
        pytest.param("int64", optional("int64"), "full", id="c67-optional"),
        pytest.param(optional("int64"), "int64", "validate", id="c67-required"),
        pytest.param(optional("int64"), optional(optional("int64")), "incompatible", id="c67-deeper"),
        pytest.param("utf8", "string", "full", id="c68-string"),
        pytest.param("string", "utf8", "validate", id="c68-utf8"),
        pytest.param("string", "json", "incompatible", id="c68-json"),
        pytest.param("int64", ANY, "full", id="c69-int64"),
        pytest.param(LIST, ANY, "incompatible", id="c69-list"),
        pytest.param("json", ANY, "incompatible", id="c69-json"),
        pytest.param(struct(A), struct(A, NULLABLE_B), "full", id="c70-nullable"),
        pytest.param(struct(A), struct(A, B), "incompatible", id="c70-required"),
        pytest.param(struct(A), struct(NULLABLE_B, A), "incompatible", id="c70-first"),
        (optional("int64"), ANY, "full"),
        (ANY, "int64", "incompatible"),
        (ANY, optional("int64"), "incompatible"),
        ("null", ANY, "full"),
        ("null", optional("null"), "full"),
        ("null", optional("int64"), "incompatible"),
        ("null", "void", "incompatible"),
        ("float", "double", "full"),
        ("double", "float", "validate"),
        ("int64", "uint64", "incompatible"),
        ("date", "uint64", "incompatible"),
        (LIST, "{type_name=list;item=int32}", "validate"),
        ("{type_name=tagged;tag=t;item=int32}", "int64", "full"),
        (
            "{type_name=decimal;precision=5;scale=2}",
            "{type_name=decimal;precision=6;scale=2}",
            "incompatible",
        ),
        ("{type_name=tuple;elements=[{type=int8}]}", "{type_name=tuple;elements=[{type=int16}]}", "full"),
        (
            "{type_name=tuple;elements=[{type=int8}]}",
            "{type_name=tuple;elements=[{type=int8};{type=int8}]}",
            "incompatible",
        ),
        (
            "{type_name=variant;elements=[{type=int8}]}",
            "{type_name=variant;elements=[{type=int8};{type=utf8}]}",
            "full",
        ),
        (
            "{type_name=variant;members=[{name=a;type=int8}]}",
            "{type_name=variant;members=[{name=b;type=int8}]}",
            "incompatible",
        ),
        ("{type_name=dict;key=utf8;value=int8}", "{type_name=dict;key=string;value=int8}", "full"),
        (optional(struct(A)), optional(struct(A, NULLABLE_B)), "full"),
    ],
)
def test_types(old: str, new: str, level: str) -> None:
    assert type_compatibility(type_of(old), type_of(new)).level == level


@pytest.mark.parametrize(
    ("source", "target", "level", "reason"),
    [
        ("[a]", "[a]", "full", ""),
        ("[a, b]", "[b, a]", "full", ""),
        ("[a]", "~[a]", "full", ""),
        ("[a]", "~[]", "full", ""),
        ("[a]", "[a, b]", "full", ""),
        (
            "[a]",
            "[a, b:int64!]",
            "incompatible",
            "column b: it is required, and the input has no such column",
        ),
        (
            "~[a]",
            "~[a, b]",
            "incompatible",
            "column b: the input does not declare it, so its rows may hold anything there",
        ),
        ("[a]", "[a:int32]", "validate", "column a: values of int64 may be out of range of int32"),
        ("[a^, b]", "[a^, b]u", "incompatible", "keys of the output are unique, those of the input are not"),
        ("[a^, b^]u", "[a^, b]", "full", ""),
    ],
)
def test_schemas(source: str, target: str, level: str, reason: str) -> None:
    fit = schema_compatibility(schema(source), schema(target))
    assert (fit.level, fit.reason) == (level, reason)
