"""The lines of files."""

from __future__ import annotations

import csv
from datetime import datetime, timedelta, timezone

import pytest

from dialects.snowplow.families import REDSHIFT, columns, family, object_schema
from trellis.dialects.snowplow.columns.family_table import merge_family
from trellis.dialects.snowplow.document.json_text import read_json, write_json
from trellis.dialects.snowplow.rows.csv import Event, LineWriter, json_paths, legacy_document, metadata

EVENT = Event("9e5c1b1a", datetime(2024, 3, 9, 5, 6, 7, 8999, timezone(timedelta(hours=-1))))
KEY = family()[-1].key


def value(text: str, *, compat: bool = False) -> str:
    """What the line of a schema with a property x holds for this value."""
    line = LineWriter(columns({"x": {}}), compat=compat).line(KEY, EVENT, {"x": read_json(text)})
    return line.split("\t")[9]


def test_r63_the_line_of_an_entity() -> None:
    table = merge_family(family("1-0-0 1-1-0 1-2-0 1-0-1 1-2-1"), REDSHIFT)
    data = read_json(
        r'{"berth":"K7\tnorth","arrivedAt":"2024-03-09T05:06:07Z","cargo":"\\N","tugCount":2,"pilot":true}'
    )
    line = LineWriter(table.columns).line(KEY, EVENT, data)
    assert line.split("\t") == [
        *("org.harbor", "vessel_call", "jsonschema", "1-2-1", "9e5c1b1a", "2024-03-09 06:06:07.008"),
        *("events", '["events","vessel_call"]', "events"),
        *("K7 north", "2024-03-09T05:06:07Z", r"\N", r"\N", "1", r"\\N", "2"),
    ]


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("7.50", "7.50"),
        ('""', ""),
        ("[]", "[]"),
        ("{}", "{}"),
        ("null", r"\N"),
        ("1e400", "1e400"),
        ("-0", "-0"),
        ("123456789012345678901234567890", "123456789012345678901234567890"),
        ("false", "0"),
    ],
)
def test_r64_values_stay_as_they_are_written(text: str, field: str) -> None:
    assert value(text) == field


def test_r65_a_tab_inside_json_is_escaped() -> None:
    text = r'[{"p":"x\ty"},2,null]'
    assert value(text) == text


def test_r66_signs_that_end_a_line_become_blanks() -> None:
    assert value(r'"a\r\nb"') == "a  b"
    assert value(r'"a\r\nb"', compat=True) == "a\r b"


def test_r67_a_path_that_leads_nowhere() -> None:
    writer = LineWriter(columns({"geo": object_schema({"lat": {"type": "number"}})}))
    assert [*writer.values({"geo": "x"})] == [None]


def test_r68_the_tree_of_an_entity() -> None:
    assert metadata(KEY, EVENT)[7] == '["events","vessel_call"]'


def test_the_first_key_with_a_value_counts() -> None:
    writer = LineWriter(columns({"portId": {}, "port_id": {}}))
    assert [*writer.values({"portId": None, "port_id": 7})] == ["7"]


def test_half_a_surrogate_pair_can_be_written() -> None:
    assert value(r'"a\ud800b"').encode() == b"a\xef\xbf\xbdb"
    assert value(r'["\ud800é"]').encode() == rb'["\ud800\u00e9"]'


def test_rfc_4180_tells_null_from_nothing() -> None:
    writer = LineWriter(columns({"a": {}, "b": {}, "c": {}}), "rfc4180")
    line = writer.line(KEY, EVENT, read_json(r'{"a":"x\ty, \"z\"\r\n","b":""}'))
    assert line.endswith('"x\ty, ""z""\r\n","",')
    assert next(csv.reader([line], strict=True))[9:] == ['x\ty, "z"\r\n', "", ""]


def test_the_json_that_older_loaders_read() -> None:
    data = read_json('{"berth": "K7", "draughtM": 7.50}')
    assert write_json(legacy_document(KEY, EVENT, data)) == (
        '{"schema":{"vendor":"org.harbor","name":"vessel_call","format":"jsonschema","version":"1-2-1"},'
        '"data":{"berth":"K7","draughtM":7.50},"hierarchy":{"rootId":"9e5c1b1a",'
        '"rootTstamp":"2024-03-09 06:06:07.008","refRoot":"events",'
        '"refTree":["events","vessel_call"],"refParent":"events"}}'
    )
    paths = json_paths(merge_family(family("1-0-0"), REDSHIFT).columns)["jsonpaths"]
    assert paths == [
        *("$.schema.vendor", "$.schema.name", "$.schema.format", "$.schema.version"),
        *("$.hierarchy.rootId", "$.hierarchy.rootTstamp"),
        *("$.hierarchy.refRoot", "$.hierarchy.refTree", "$.hierarchy.refParent"),
        *("$.data.berth", "$.data.arrivedAt"),
    ]
