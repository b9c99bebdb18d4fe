"""Versions, keys, criteria, and documents that describe themselves."""

from __future__ import annotations

import pytest

from trellis.dialects.snowplow.document.schema_document import (
    META_SCHEMA,
    SchemaDocument,
    SelfDescribingData,
)
from trellis.dialects.snowplow.identity.errors import IgluError
from trellis.dialects.snowplow.identity.keys import Criterion, SchemaKey, SchemaVer

URI = "iglu:org.harbor/vessel_call/jsonschema/1-0-0"
DOCUMENT = {
    "$schema": META_SCHEMA,
    "self": {"vendor": "org.harbor", "name": "vessel_call", "format": "jsonschema", "version": "1-0-0"},
    "type": "object",
}


def code_of(text: str) -> str:
    with pytest.raises(IgluError) as error:
        SchemaKey.parse(text)
    return error.value.code


def test_r01_the_address_of_a_schema() -> None:
    key = SchemaKey.parse(URI)
    assert (key, str(key)) == (
        SchemaKey("org.harbor", "vessel_call", "jsonschema", SchemaVer(1, 0, 0)),
        URI,
    )
    assert str(key.family) == "org.harbor/vessel_call/jsonschema/1"


@pytest.mark.parametrize("version", ["0-1-0", "1-01-0", "99999999999-0-0"])
def test_r02_a_version_that_is_none(version: str) -> None:
    assert code_of(f"iglu:org.harbor/vessel_call/jsonschema/{version}") == "INVALID_SCHEMAVER"


@pytest.mark.parametrize(
    "uri",
    [
        "iglu:org.harbor/vessel call/jsonschema/1-0-0",
        "iglu:org.harbor/vessel.call/jsonschema/1-0-0",
        "iglu:org.harbor/vessel_call/jsonschema/1-0",
        "iglu:org.harbor/vessel_call/jsonschema/1-?-?",
        "org.harbor/vessel_call/jsonschema/1-0-0",
        "iglu:org.harbor/vessel_call/jsonschema/1-0-0\n",
        "iglu:org.harbor/vessel_call/jsonschema/١-0-0",
    ],
)
def test_r03_an_address_that_is_none(uri: str) -> None:
    assert code_of(uri) == "INVALID_IGLUURI"


def test_an_error_says_what_was_expected() -> None:
    with pytest.raises(IgluError) as error:
        SchemaKey.parse("iglu:org.harbor/vessel_call/jsonschema/1-0")
    assert str(error.value) == (
        "'iglu:org.harbor/vessel_call/jsonschema/1-0' is not the address of a schema: expected "
        "iglu:VENDOR/NAME/FORMAT/VERSION such as iglu:com.acme/event/jsonschema/1-0-0 (INVALID_IGLUURI)"
    )


@pytest.mark.parametrize(("version", "matches"), [("1-4-2", True), ("2-0-0", False)])
def test_r04_criteria(version: str, matches: bool) -> None:
    criterion = Criterion.parse("iglu:org.harbor/vessel_call/jsonschema/1-*-*")
    assert criterion.matches(SchemaKey.parse(URI).with_version(SchemaVer.parse(version))) is matches


@pytest.mark.parametrize("data", [{"data": {}}, {"schema": URI}, [], {"schema": 1, "data": {}}])
def test_r05_data_without_a_part(data: object) -> None:
    with pytest.raises(IgluError) as error:
        SelfDescribingData.parse(data)
    assert error.value.code == "INVALID_DATA_PAYLOAD"


def test_data_names_its_schema() -> None:
    assert SelfDescribingData.parse({"schema": URI, "data": [1]}) == (SchemaKey.parse(URI), [1])


def test_a_document_is_handed_out_as_it_came() -> None:
    text = {**DOCUMENT, "$supersedes": ["1-0-1"], "$supersededBy": "1-0-2", "title": "x"}
    parsed = SchemaDocument.parse({**text, "$schema": META_SCHEMA.replace("http:", "https:")})
    assert parsed.body == {"type": "object", "title": "x"}
    assert (parsed.supersedes, parsed.superseded_by) == ((SchemaVer(1, 0, 1),), SchemaVer(1, 0, 2))
    assert parsed.to_dict() == text


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"$schema": "http://json-schema.org/draft-04/schema#"}, "INVALID_METASCHEMA"),
        ({"$schema": None}, "INVALID_METASCHEMA"),
        ({"self": None}, "INVALID_SCHEMA"),
        ({"self": {**DOCUMENT["self"], "version": "1-0"}}, "INVALID_SCHEMA"),  # type: ignore[dict-item]
        ({"self": {**DOCUMENT["self"], "name": "a.b"}}, "INVALID_SCHEMA"),  # type: ignore[dict-item]
        ({"$supersedes": "1-0-0"}, "INVALID_SCHEMA"),
    ],
)
def test_a_document_that_is_none(changes: dict[str, object], code: str) -> None:
    with pytest.raises(IgluError) as error:
        SchemaDocument.parse({**DOCUMENT, **changes})
    assert error.value.code == code
