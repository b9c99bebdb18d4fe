"""Generated documents against Pinot's own classes: reading, writing, validity, equality, compatibility."""

from __future__ import annotations

import json
import random
from typing import Any, Final

import pytest

from dialects.pinot.oracle.client import Oracle, Refused
from trellis.dialects.pinot.document.faults import pointer
from trellis.dialects.pinot.document.fields import PinotSchema
from trellis.dialects.pinot.document.reader import read_schema
from trellis.dialects.pinot.document.writer import write_schema
from trellis.dialects.pinot.schema_changes.changes import incompatibilities, is_same_schema
from trellis.dialects.pinot.table.config import examine
from trellis.dialects.pinot.table.known_keys import KNOWN_PLACES
from trellis.dialects.pinot.validation.schema_rules import faults_of
from trellis.errors import SchemaError

pytestmark = pytest.mark.pinot

LITERALS: Final[list[Any]] = [
    None,
    0,
    1,
    -5,
    5.5,
    "0",
    "1.50",
    1.5,
    "true",
    "abc",
    "",
    "CAFE",
    True,
    {"a": 1.5},
    [1],
    "2023-11-14",
    "null",
    1e20,
    1e-7,
    2**40,
    -0.0,
    "NaN",
    "-Infinity",
    "0.0",
    "1E+3",
    "0x1p3",
    " 5",
    "+7",
    '\x01"\\/\u00e9',
    0.1,
    123456.789,
    0.001,
    9999999.5,
    5e-324,
]
TYPES: Final = [
    "INT",
    "LONG",
    "FLOAT",
    "DOUBLE",
    "BIG_DECIMAL",
    "BOOLEAN",
    "TIMESTAMP",
    "STRING",
    "JSON",
    "BYTES",
    "MAP",
]
FORMATS: Final = [
    "EPOCH",
    "EPOCH|SECONDS|5",
    "1:DAYS:EPOCH",
    "TIMESTAMP",
    "SIMPLE_DATE_FORMAT|yyyy-MM-dd",
    "epoch",
    None,
]
FORMATS_OUT_OF_ORDER: Final = [
    "SIMPLE_DATE_FORMAT|MM-dd-yyyy",
    "1:DAYS:SIMPLE_DATE_FORMAT:MM-dd-yyyy tz(IST)",
]
TRANSFORMS: Final = ["lower(a)", "plus(b, 1)", "f((", "Groovy({a+b}, a, b)", "concat(c, d, '-')", "'x'"]
LISTS: Final = ("dimensionFieldSpecs", "metricFieldSpecs", "dateTimeFieldSpecs", "complexFieldSpecs")


def field(dice: random.Random, key: str) -> dict[str, Any]:
    fields: dict[str, Any] = {"name": dice.choice("abcdeA") + dice.choice(["", "", "1", " x"])}
    fields["dataType"] = "MAP" if key == "complexFieldSpecs" else dice.choice(TYPES)
    choices: dict[str, list[Any]] = {
        "defaultNullValue": LITERALS,
        "singleValueField": [True, "false", False, 0, None, "", 2.5],
        "maxLength": [512, "100", 7.9, None, "", "x", True],
        "maxLengthExceedStrategy": ["ERROR", "TRIM_LENGTH", None, "x"],
        "notNull": [True, False, "true", 1],
        "allowTrailingZeros": [True, False],
        "virtualColumnProvider": ["p", ""],
        "transformFunction": TRANSFORMS,
        "zz": [1, {"q": [1, 2]}, []],
    }
    fields |= {value: dice.choice(values) for value, values in choices.items() if dice.random() < 0.1}
    if key == "dateTimeFieldSpecs":
        fields["format"] = dice.choice([*FORMATS, *FORMATS_OUT_OF_ORDER])
        fields["granularity"] = dice.choice(["1:DAYS", "1:DAYS", "DAYS|5", "0:DAYS", None])
        if dice.random() < 0.3:
            fields["sampleValue"] = dice.choice([1700000000000, "2023-11-14", 5, "x"])
    return fields


def document(dice: random.Random) -> dict[str, Any]:
    fields: dict[str, Any] = {"schemaName": "s"}
    for key in LISTS:
        if dice.random() < 0.4:
            fields[key] = [field(dice, key) for _ in range(dice.choice([0, 1, 1, 2]))]
    if dice.random() < 0.2:
        fields["primaryKeyColumns"] = dice.choice([["a"], ["a", "b"], None, []])
    return fields


def changed(dice: random.Random, old: dict[str, Any]) -> dict[str, Any]:
    new: dict[str, Any] = json.loads(json.dumps(old))
    for key in LISTS:
        fields = new.get(key, [])
        dice.shuffle(fields)
        for member in fields:
            if dice.random() < 0.3:
                member |= dice.choice(
                    [{"maxLength": 512}, {"notNull": True}, {"defaultNullValue": "5"}, {"dataType": "LONG"}]
                )
        if fields and dice.random() < 0.1:
            fields.pop()
    if dice.random() < 0.1:
        new["primaryKeyColumns"] = ["a"]
    return new


def read(schema_text: dict[str, Any]) -> PinotSchema | None:
    try:
        return read_schema(schema_text)
    except SchemaError:
        return None


def ask(pinot: Oracle, op: str, **keys: Any) -> Any:
    try:
        return pinot.ask(op, **keys)
    except Refused:
        return None


@pytest.mark.parametrize("seed", range(4))
def test_documents_are_read_written_and_judged_as_pinot_does(pinot: Oracle, seed: int) -> None:
    dice = random.Random(seed)
    for _ in range(150):
        schema_document = document(dice)
        theirs, ours = ask(pinot, "schema", json=json.dumps(schema_document)), read(schema_document)
        assert (theirs is None) == (ours is None), schema_document
        if theirs is None or ours is None:
            continue
        assert write_schema(ours, pretty=False) == theirs["text"], schema_document
        faults = [fault for fault in faults_of(ours) if not fault.unchecked]
        assert (faults == []) == bool(ask(pinot, "validate", schema=schema_document)), schema_document


@pytest.mark.parametrize("seed", range(4))
def test_schemas_follow_each_other_as_in_pinot(pinot: Oracle, seed: int) -> None:
    dice = random.Random(seed)
    for _ in range(150):
        old = document(dice)
        new = changed(dice, old)
        before, after = read(old), read(new)
        if before is None or after is None:
            continue
        assert is_same_schema(before, after) == pinot.ask("equal", a=old, b=new), (old, new)
        assert (incompatibilities(before, after) == ()) == pinot.ask("compatible", old=old, new=new), (
            old,
            new,
        )


VALUES: Final[tuple[Any, ...]] = (
    [],
    {},
    "x",
    "true",
    "5",
    "",
    1,
    1.5,
    True,
    None,
    ["x"],
    [1],
    [[]],
    [{}],
    {"a": 1},
    {"a": []},
)


def test_kinds_of_values_in_a_table_config_that_are_refused(pinot: Oracle) -> None:
    """Pinot refuses all that we do, but for numbers in place of words (here `word`). It looks deeper into
    objects than we, so it may refuse more.
    """
    word = "collectionNotUnnestedToJson"
    schema = {"schemaName": "s", "dimensionFieldSpecs": [{"name": "a", "dataType": "STRING"}]}
    objects = {place: keys for place, keys in KNOWN_PLACES.items() if not place.endswith("*")}
    for place, keys in objects.items():
        steps = place.split("/")[1:]
        for key in keys:
            for value in VALUES:
                table: dict[str, Any] = {
                    "tableName": "s",
                    "tableType": "OFFLINE",
                    "segmentsConfig": {"replication": "1"},
                    "tenants": {},
                    "tableIndexConfig": {},
                    "metadata": {},
                }
                at = table
                for step in steps:
                    at = at.setdefault(step, {})
                at[key] = value
                if (key, value) == (word, 1):
                    continue
                if any(fault.pointer.startswith(pointer(*steps, key)) for fault in examine(table)[1]):
                    with pytest.raises(Refused):
                        pinot.ask("table", json=table, schema=schema)
