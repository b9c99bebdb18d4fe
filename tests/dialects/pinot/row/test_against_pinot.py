"""Generated records, schemas and table configs through Pinot's own pipeline and ours.

What differs on purpose is in `tests/dialects/pinot/differences.txt`, by number; `D..` here names a line
of it.
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

import pytest

from dialects.pinot.oracle.client import Oracle, Refused
from dialects.pinot.oracle.typed import typed
from dialects.pinot.row.rows import column, config, document, map_column, pipeline, several, time
from trellis.dialects.pinot.document.fields import FieldSpec
from trellis.dialects.pinot.document.types import PinotType
from trellis.dialects.pinot.expression.transforms import RowFault
from trellis.dialects.pinot.row.pipeline import Pipeline, PipelineResult
from trellis.dialects.pinot.value.numbers import decimal_text, double_text, float_text
from trellis.dialects.pinot.value.source_kinds import Float32, Int64, SourceKind, kind_of
from trellis.errors import SchemaError

pytestmark = pytest.mark.pinot

TYPES: Final = (
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
)
METRICS: Final = ("INT", "LONG", "FLOAT", "DOUBLE", "BIG_DECIMAL", "BYTES")
NAMES: Final = (
    "a",
    "b",
    "c",
    "d",
    "e",
    "geo",
    "geo.lat",
    "geo.box.n",
    "lines",
    "lines.sku",
    "lines.tags",
    "l.m",
    "m",
)
SCALARS: Final[tuple[Any, ...]] = (
    None,
    True,
    False,
    0,
    1,
    7,
    -5,
    Int64(7),
    Int64(1_700_000_000_123),
    3_000_000_000,
    10**19,
    10**30,
    0.0,
    -0.0,
    1.5,
    7.9,
    -7.9,
    1e20,
    float("nan"),
    float("inf"),
    Float32(7.9),
    Float32(-0.0),
    Float32("nan"),
    Decimal("1.50"),
    Decimal("1200.00"),
    Decimal("0.0"),
    Decimal("1E+3"),
    "",
    "x",
    "abcdef",
    "ab\0cdef",
    "7",
    " 7 ",
    "7.9",
    "TRUE ",
    "null",
    "cafe",
    "caf",
    '{"b":1, "a":1.10}',
    "[1, 2.50]",
    "100.0",
    "2023-11-14",
    "2023-11-14 22:13:20.123",
    "1999-02-31 00:00:00",
    "h\U0001f600llo",
    b"",
    b"\x01\x02\x03\x04\x05",
    b"\xca\xfe",
    12_345,
    19_675,
    1_700_000_000,
)
KINDS: Final = [
    [
        member
        for member in SCALARS
        if member.__class__ is one and kind_of(member) in (kind_of(one()), SourceKind.DOUBLE)
    ]
    for one in (int, float, str, bool, bytes)
]
DEFAULTS: Final[Mapping[str, tuple[Any, ...]]] = {
    "INT": (5, "-1"),
    "LONG": (5,),
    "FLOAT": (1.5,),
    "DOUBLE": (-0.0, 2.5),
    "BIG_DECIMAL": ("1.50", 0),
    "BOOLEAN": (True,),
    "TIMESTAMP": ("2023-11-14", 5),
    "STRING": ("", "longer than that"),
    "JSON": ('{"a": 1}',),
    "BYTES": ("cafe", "0102030405060708"),
}
FORMATS: Final = (
    ("LONG", "EPOCH|DAYS"),
    ("INT", "EPOCH|DAYS"),
    ("LONG", "EPOCH"),
    ("STRING", "SIMPLE_DATE_FORMAT|yyyy-MM-dd"),
    ("TIMESTAMP", "TIMESTAMP"),
    ("STRING", "EPOCH|SECONDS"),
    ("LONG", "TIMESTAMP"),
)
TRANSFORMS: Final = (
    "upper(a)",
    "plus(b, 1)",
    "concat(a, c, '-')",
    "jsonFormat(d)",
    "b",
    "toEpochDays(b)",
    "a = 'x'",
    "lower(a)",
    "jsonPathString(e, '$.k', 'no')",
)
FILTERS: Final = (
    "a = 'x'",
    "b > 5",
    "a IS NULL",
    "NOT (b < 5)",
    "plus(a, 1) > 2",
    "a = 'x' OR b = 1",
    "length(a) > 3",
)


# --- generated


def field(dice: random.Random, name: str) -> dict[str, Any]:
    data_type = dice.choice(TYPES)
    keys = column(name, data_type)
    if dice.random() < 0.3 and data_type not in ("JSON", "BIG_DECIMAL"):
        keys["singleValueField"] = False
    if dice.random() < 0.3:
        keys["defaultNullValue"] = dice.choice(DEFAULTS[data_type])
    if data_type in ("STRING", "JSON", "BYTES"):
        if dice.random() < 0.5:
            keys["maxLength"] = dice.choice((4, 20))
        if dice.random() < 0.5:
            keys["maxLengthExceedStrategy"] = dice.choice(
                ("TRIM_LENGTH", "SUBSTITUTE_DEFAULT_VALUE", "NO_ACTION", "ERROR")
            )
    if data_type == "BIG_DECIMAL" and dice.random() < 0.5:
        keys["allowTrailingZeros"] = True
    return keys


def schema_of(dice: random.Random, complex_type: bool) -> tuple[dict[str, Any], str | None]:
    """A schema document and perhaps its main time column."""
    names = dice.sample(NAMES if complex_type else NAMES[:5], dice.randint(2, 5))
    dimensions = [field(dice, name) for name in names]
    metrics = [column("n", dice.choice(METRICS))] if dice.random() < 0.5 else []
    times = [time("ts", *dice.choice(FORMATS))] if dice.random() < 0.5 else []
    if times and dice.random() < 0.3:
        times[0]["defaultNullValue"] = dice.choice((12_345, 0, "2023-11-14", 1_700_000_000_123))
        try:
            pipeline(document((), (), times))
        except SchemaError:
            del times[0]["defaultNullValue"]
    maps = [map_column("mm", "STRING")] if dice.random() < 0.3 else []
    if maps:
        dimensions += [several("mm__KEYS", "STRING"), several("mm__VALUES", "STRING")]
    return document(dimensions, metrics, times, maps), "ts" if times and dice.random() < 0.7 else None


def table_of(dice: random.Random, main_time: str | None, complex_type: bool) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    if dice.random() < 0.5:
        settings["continueOnError"] = True
    if dice.random() < 0.5:
        settings["rowTimeValueCheck"] = True
    if dice.random() < 0.4:
        settings["transformConfigs"] = [
            {"columnName": name, "transformFunction": dice.choice(TRANSFORMS)}
            for name in dice.sample("dz", 1)
        ]
    if dice.random() < 0.3:
        settings["filterConfig"] = {"filterFunction": dice.choice(FILTERS)}
    if complex_type:
        nested: dict[str, Any] = {}
        if dice.random() < 0.7:
            nested["fieldsToUnnest"] = dice.sample(("lines", "lines.tags", "l.m", "a"), dice.randint(1, 2))
        if dice.random() < 0.6:
            nested["collectionNotUnnestedToJson"] = dice.choice(("NONE", "NON_PRIMITIVE", "ALL"))
        if dice.random() < 0.3:
            nested["prefixesToRename"] = dice.choice(({"geo.": ""}, {"lines.": "a"}, {"geo": "m"}))
        settings["complexTypeConfig"] = nested
    return config(main_time, **settings)


KEYS: Final = ("sku", "tags", "lat", "box", "n", "m")


def value(dice: random.Random, depth: int = 0) -> Any:
    """A scalar, a list or map of scalars of one kind (05), or of one other value that is not null (15)."""
    luck = dice.random()
    if depth > 2 or luck < 0.7:
        return dice.choice(SCALARS)
    inner = (
        [value(dice, depth + 1) or "x"]
        if luck < 0.75
        else dice.choices(dice.choice(KINDS), k=dice.randint(0, 3))
    )
    return inner if luck < 0.85 else dict(zip(sorted(dice.sample(KEYS, len(inner))), inner, strict=True))


def record(dice: random.Random) -> dict[str, Any]:
    names = ("a", "b", "c", "d", "e", "geo", "lines", "l", "m", "n", "ts")
    fields = {name: value(dice) for name in dice.sample(names, dice.randint(1, 7))}
    if "lines" in fields and dice.random() < 0.6:
        one = dice.choice(KINDS)
        fields["lines"] = [
            {key: dice.choice(one) for key in sorted(dice.sample(("sku", "tags"), dice.randint(1, 2)))}
            for _ in range(2)
        ]
    for name in "ab":  # 03
        if isinstance(fields.get(name), list | dict):
            fields[name] = dice.choice(SCALARS)
    for name in "bd":  # 06
        if isinstance(fields.get(name), bytes):
            fields[name] = "x"
    fields["mm"] = dice.choice((None, {}, {"k": "v"}, {"a": "x", "b": "y"}, '{"k": "v"}', "x"))  # 04
    return fields


# --- compared


def shown(stored: Any, spec: FieldSpec) -> Any:
    """A stored value as the oracle writes it."""
    if isinstance(stored, list) and not spec.single_value:
        return {"type": "LIST", "value": [shown_one(member, spec.data_type) for member in stored]}
    return typed(stored) if spec.data_type is PinotType.MAP else shown_one(stored, spec.data_type)


def shown_one(stored: Any, data_type: PinotType) -> Any:
    kind = data_type.stored.value
    if data_type is PinotType.FLOAT:
        return {"type": kind, "value": float_text(stored)}
    if data_type is PinotType.DOUBLE:
        return {"type": kind, "value": double_text(stored)}
    if data_type is PinotType.BIG_DECIMAL:
        return {"type": kind, "value": decimal_text(stored)}
    return {"type": kind, "value": stored.hex() if isinstance(stored, bytes) else str(stored)}


def same(ours: Any, theirs: Any, unnested: bool) -> bool:
    """01: JSON text may differ in the order of the keys of maps. 02: a float may be written in more digits.
    16: the values of a map may come in another order in an unnested row.
    """
    if ours == theirs:
        return True
    if not isinstance(ours, dict) or not isinstance(theirs, dict) or ours.get("type") != theirs.get("type"):
        return False
    if ours["type"] == "LIST":
        lists = ours["value"], theirs["value"]
        if unnested:
            lists = sorted(lists[0], key=repr), sorted(lists[1], key=repr)
        pairs = zip(*lists, strict=False)
        return len(lists[0]) == len(lists[1]) and all(same(*pair, unnested) for pair in pairs)
    if ours["type"] == "FLOAT":
        return Float32(ours["value"]) == Float32(theirs["value"])
    try:
        return bool(json.loads(ours["value"]) == json.loads(theirs["value"]))
    except (ValueError, TypeError):
        return False


def answers(pipe: Pipeline, row: Mapping[str, Any]) -> PipelineResult | None:
    try:
        return pipe.rows(row)
    except RowFault:
        return None


def differences(pipe: Pipeline, ours: PipelineResult, theirs: Mapping[str, Any]) -> list[str]:
    differences_found = []
    if len(ours.rows) != len(theirs["rows"]) or ours.filtered != theirs["skipped"]:
        return [f"{len(ours.rows)} rows and {ours.filtered} filtered, not {theirs}"]
    for row, other in zip(ours.rows, theirs["rows"], strict=True):
        for name, spec in pipe.specs.items():
            now = pipe.main_time is not None and pipe.main_time.spec is spec and name in row.nulls
            actual = shown(row.values[name], spec)
            unnested = pipe.table.complex is not None
            if not now and not same(actual, other["values"][name], unnested):
                differences_found.append(f"{name}: {actual} not {other['values'][name]}")
        nulls = sorted(row.nulls & pipe.specs.keys())
        if nulls != sorted(set(other["nulls"]) & pipe.specs.keys()):
            differences_found.append(f"nulls {nulls} not {other['nulls']}")
        if row.incomplete != other["incomplete"]:
            differences_found.append(f"incomplete {other['incomplete']}")
    return differences_found


def renames_a_column(schema: dict[str, Any], table: dict[str, Any]) -> bool:
    nested = table["ingestionConfig"].get("complexTypeConfig", {})
    specs = [spec for key, fields in schema.items() if key.endswith("FieldSpecs") for spec in fields]
    prefixes = tuple(nested.get("prefixesToRename", ()))
    return any(spec["name"].startswith(prefixes) for spec in specs)


@pytest.mark.parametrize("complex_type", [False, True], ids=["flat", "nested"])
@pytest.mark.parametrize("seed", range(4))
def test_rows_are_those_of_pinot(pinot: Oracle, seed: int, complex_type: bool) -> None:
    dice = random.Random(f"{seed}{complex_type}")
    for _ in range(60):
        schema, main_time = schema_of(dice, complex_type)
        table = table_of(dice, main_time, complex_type)
        if renames_a_column(schema, table):  # 07
            continue
        try:
            pipe = pipeline(schema, table)
        except SchemaError:
            with pytest.raises(Refused):
                pinot.ask("rows", schema=schema, table=table, rows=[], typed=True)
            continue
        for _ in range(12):
            drawn_record = record(dice)
            ours = answers(pipe, drawn_record)
            request = [{name: typed(member) for name, member in drawn_record.items()}]
            try:
                theirs = pinot.ask("rows", schema=schema, table=table, rows=request, typed=True)
            except Refused as refused:
                assert ours is None, (schema, table, drawn_record, str(refused), refused.causes)
                continue
            assert ours is not None, (schema, table, drawn_record)
            assert differences(pipe, ours, theirs) == [], (schema, table, drawn_record)
