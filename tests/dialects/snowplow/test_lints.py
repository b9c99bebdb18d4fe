"""What linters say of schemas."""

from __future__ import annotations

from typing import Any

import pytest

from dialects.snowplow.families import document, object_schema, text
from trellis.dialects.snowplow.lints.schema_lint import lint_document
from trellis.errors import UsageError

DOCUMENT = document("1-0-0", {}).to_dict()
SOUND = {"description": "", "type": "string", "maxLength": 5}


def found(document: object, level: str = "ERROR") -> list[tuple[str, str, str]]:
    return [
        (issue.linter, issue.pointer, issue.message)
        for issue in lint_document(document)
        if issue.level == level
    ]


def of_property(node: dict[str, Any], level: str = "ERROR") -> list[str]:
    """The linters that find something in a property x."""
    schema = {**DOCUMENT, "properties": {"x": node}}
    return [linter for linter, pointer, _ in found(schema, level) if pointer == "/properties/x"]


def test_r99_errors_and_infos() -> None:
    schema = {**DOCUMENT, "properties": {"x": {"type": "integer", "minimum": 9, "maximum": 3}}}
    assert found(schema) == [
        (
            "numericMinimumMaximum",
            "/properties/x",
            "minimum 9 is greater than maximum 3; no value can fit",
        )
    ]
    assert found(schema, "INFO") == [
        ("description", "", "description is missing"),
        ("description", "/properties/x", "description is missing"),
    ]


def test_an_optional_property_without_null() -> None:
    schema = {**DOCUMENT, "properties": {"x": SOUND, "y": SOUND}, "required": ["y"]}
    assert ("optionalNull", "", "'x' is optional and may not be null; trackers that send null fail") in (
        found(schema, "INFO")
    )


@pytest.mark.parametrize(
    ("node", "linter"),
    [
        ({"minLength": 2, "maxLength": 1}, "stringMinMaxLength"),
        ({"minItems": 2, "maxItems": 1}, "arrayMinMaxItems"),
        ({"type": "string", "minimum": 1}, "numericProperties"),
        ({"type": ["integer", "null"], "maxLength": 1}, "stringProperties"),
        ({"type": "string", "items": {}}, "arrayProperties"),
        ({"type": "string", "properties": {}}, "objectProperties"),
        (object_schema({}, required=["y"]), "requiredPropertiesExist"),
    ],
)
def test_errors(node: dict[str, Any], linter: str) -> None:
    assert of_property(node) == [linter]


@pytest.mark.parametrize(
    ("node", "linter"),
    [
        ({**SOUND, "format": "phone"}, "unknownFormats"),
        ({"type": "integer", "minimum": 1}, "numericMinMax"),
        ({"type": "string"}, "stringLength"),
        ({**SOUND, "maxLength": 65536}, "stringMaxLengthRange"),
        ({"properties": {"a.b": SOUND}}, "bqDisallowedCharacters"),
        ({"properties": {"2fa": SOUND}}, "bqIllegalStart"),
        ({**SOUND, "maxLenght": 5}, "unknownKeywords"),
        ({"$ref": "#/definitions/x"}, "ignoredKeywords"),
    ],
)
def test_warnings(node: dict[str, Any], linter: str) -> None:
    assert (of_property(node), of_property(node, "WARNING")) == ([], [linter])


def test_a_sound_schema() -> None:
    properties = {"x": {**SOUND, "type": ["string", "null"]}}
    assert lint_document({**DOCUMENT, "description": "", "properties": properties}) == []


def test_what_is_no_schema() -> None:
    assert [linter for linter, *_ in found({**DOCUMENT, "$schema": "x"})] == ["schemaUri"]
    assert [linter for linter, *_ in found({**DOCUMENT, "self": {}})] == ["self"]
    assert [linter for linter, *_ in found([])] == ["self"]
    assert found({**DOCUMENT, "properties": {"x": {"maxLength": -1}}}) == [
        ("metaSchema", "/properties/x/maxLength", "-1 is less than the minimum of 0")
    ]


def test_two_keys_of_one_column() -> None:
    schema = {**DOCUMENT, "properties": {"portId": text(1), "port_id": text(1)}}
    assert found(schema) == [
        ("columnNames", "", "/portId and /port_id are one column, 'port_id'; rename one of them")
    ]


def test_a_property_with_the_column_of_metadata() -> None:
    assert found({**DOCUMENT, "properties": {"rootId": text(1)}}) == [
        ("columnNames", "/rootId", "the column 'root_id' is one that each table has; rename the property")
    ]


def test_a_schema_that_is_too_deep() -> None:
    schema: dict[str, Any] = {}
    for _ in range(45):
        schema = {"items": schema}
    assert found({**DOCUMENT, **schema}) == [("depth", "", "the JSON is nested more than 40 levels deep")]


def test_a_root_without_columns() -> None:
    schema = {**DOCUMENT, "type": "array"}
    assert "rootObject" in [linter for linter, *_ in found(schema, "WARNING")]


def test_linters_are_skipped_by_name() -> None:
    skipped = lint_document(DOCUMENT, skip=("description", "rootObject"))
    assert skipped == []
    with pytest.raises(UsageError, match=r"^linter 'self' finds errors and cannot be skipped"):
        lint_document(DOCUMENT, skip=("self",))
    with pytest.raises(UsageError, match=r"^unknown linter 'Description': did you mean 'description'\?$"):
        lint_document(DOCUMENT, skip=("Description",))
