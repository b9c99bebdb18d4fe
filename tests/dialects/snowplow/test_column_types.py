"""The type of a column: the first rule that fits."""

from __future__ import annotations

from typing import Any

import pytest

from dialects.snowplow.families import Node, columns, sql
from trellis.dialects.snowplow.columns.column_types import type_of_leaf
from trellis.dialects.snowplow.document.json_text import Number

TEXT = {"type": "string"}
INTEGER = {"type": "integer"}
NUMBER = {"type": "number"}
ROWS: dict[str, list[tuple[Node, str]]] = {
    "R38": [
        ({"enum": ["N", "NE", "SSW"]}, "VARCHAR(3)"),
        ({"enum": ["x"]}, "CHAR(1)"),
        ({**TEXT, "enum": ["open", "shut"], "maxLength": 99}, "VARCHAR(4)"),
    ],
    "R39": [
        ({"enum": [2, "two", None]}, "VARCHAR(5)"),
        ({"enum": [True, False]}, "VARCHAR(5)"),
        ({"enum": [{"a": 1}, 2]}, "VARCHAR(7)"),
        ({"enum": [1.5, 2]}, "VARCHAR(3)"),
    ],
    "R40": [({"type": "boolean", "enum": [True]}, "VARCHAR(4)")],
    "R41": [
        ({**INTEGER, "enum": [1, 40000]}, "INT"),
        ({"type": ["integer", "null"], "enum": [1, 7, None]}, "VARCHAR(1)"),
    ],
    "R43": [
        ({"type": ["string", "integer"]}, "VARCHAR(4096)"),
        ({"type": ["string", "integer"], "format": "date"}, "VARCHAR(4096)"),
        ({"type": ["boolean", "integer", "null"]}, "VARCHAR(10)"),
    ],
    "R44": [
        ({**INTEGER, "maximum": 32767}, "SMALLINT"),
        ({**INTEGER, "maximum": 32768}, "INT"),
        ({**INTEGER, "maximum": 2147483648}, "BIGINT"),
        ({**INTEGER, "maximum": 99.5}, "DECIMAL"),
        (INTEGER, "BIGINT"),
    ],
    "R46": [
        ({**NUMBER, "multipleOf": 1}, "INT"),
        ({**NUMBER, "multipleOf": 5, "maximum": 900}, "SMALLINT"),
        ({**NUMBER, "multipleOf": 0.01}, "DECIMAL (36, 2)"),
        ({**NUMBER, "multipleOf": 0.1}, "DOUBLE PRECISION"),
    ],
    "R47": [({"type": ["number", "integer", "null"], "multipleOf": 0.01}, "DOUBLE PRECISION")],
    "R48": [
        ({**TEXT, "minLength": 8, "maxLength": 8}, "CHAR(8)"),
        ({**TEXT, "format": "uuid", "maxLength": 40}, "CHAR(36)"),
        ({**TEXT, "format": "uuid", "minLength": 32, "maxLength": 32}, "CHAR(32)"),
    ],
    "R49": [
        ({**TEXT, "format": "ipv4"}, "VARCHAR(15)"),
        ({**TEXT, "format": "ipv6"}, "VARCHAR(39)"),
        ({**TEXT, "format": "email", "maxLength": 64}, "VARCHAR(255)"),
        ({**TEXT, "format": "uri"}, "VARCHAR(4096)"),
    ],
    "R50": [
        ({**TEXT, "maxLength": 70000}, "VARCHAR(65535)"),
        ({"type": "array"}, "VARCHAR(65535)"),
        ({}, "VARCHAR(4096)"),
        ({"type": "null"}, "VARCHAR(4096)"),
    ],
    "further": [
        ({"type": ["string", "null"], "format": "date-time"}, "TIMESTAMP"),
        ({**TEXT, "format": "date"}, "DATE"),
        ({"type": "boolean"}, "BOOLEAN"),
        ({**TEXT, "minLength": 5000, "maxLength": 5000}, "VARCHAR(5000)"),
        ({**TEXT, "maxLength": 0}, "VARCHAR(1)"),
        ({**INTEGER, "enum": [-40000, 1]}, "INT"),
        ({**INTEGER, "maximum": Number("1e400")}, "BIGINT"),
        ({**TEXT, "maxLength": 12.0}, "VARCHAR(12)"),
    ],
}


@pytest.mark.parametrize(
    ("node", "name"),
    [
        pytest.param(node, name, id=f"{row}-{index}")
        for row, cases in ROWS.items()
        for index, (node, name) in enumerate(cases)
    ],
)
def test_the_type_of_a_property(node: Node, name: str) -> None:
    assert sql(type_of_leaf(node)) == name


def test_r42_an_enum_without_a_type() -> None:
    node = {"enum": [1, 2, 3]}
    assert [sql(column.type) for column in columns({"x": node}, ["x"])] == ["SMALLINT"]
    assert [sql(column.type) for column in columns({"x": node})] == ["VARCHAR(1)"]


def test_r45_a_minimum_that_is_smaller_than_the_type() -> None:
    node: dict[str, Any] = {**INTEGER, "minimum": -9e9, "maximum": 5}
    assert (sql(type_of_leaf(node)), sql(type_of_leaf(node, compat=True))) == ("BIGINT", "SMALLINT")


def test_r49_ipv6_in_the_original() -> None:
    assert sql(type_of_leaf({**TEXT, "format": "ipv6"}, compat=True)) == "VARCHAR(4096)"


def test_the_original_does_not_limit_lengths() -> None:
    assert sql(type_of_leaf({**TEXT, "maxLength": 70000}, compat=True)) == "VARCHAR(70000)"
