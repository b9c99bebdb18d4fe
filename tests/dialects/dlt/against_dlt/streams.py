"""Made-up streams of documents, the same for the same seed: odd names, odd values, several loads each."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any
from uuid import UUID

Item = Any
Make = Callable[[random.Random], Any]


@dataclass(frozen=True)
class Load:
    """One load of a stream: its items, and the options by the names that `Pipeline.load` has for them."""

    items: list[Item]
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Stream:
    """Loads into one root table. `profile` names the settings of the schema.

    `typed`: not all items are JSON objects.
    """

    table: str
    profile: str
    loads: tuple[Load, ...]
    typed: bool = False


def parts(stream: Stream) -> Iterator[Any]:
    """All values of all items, at all depths."""
    stack: list[Any] = [load.items for load in stream.loads]
    while stack:
        value = stack.pop()
        yield value
        if isinstance(value, dict):
            stack.extend(value.values())
        elif isinstance(value, (list, tuple)):
            stack.extend(value)


def has_lists_under_blank_keys(stream: Stream) -> bool:
    pairs = (pair for value in parts(stream) if isinstance(value, dict) for pair in value.items())
    return any(isinstance(value, (list, tuple)) and value and not key.strip() for key, value in pairs)


def has_nested_ids(stream: Stream) -> bool:
    """Whether rows of nested tables have ids of their own."""
    roots = {id(item) for load in stream.loads for item in load.items}
    return any(
        isinstance(part, dict) and "_dlt_id" in part and id(part) not in roots for part in parts(stream)
    )


DISPOSITIONS: tuple[Mapping[str, Any], ...] = (
    {},
    {"mode": "append"},
    {"mode": "replace"},
    {"mode": "merge"},
    {"mode": "merge", "strategy": "delete-insert"},
    {"mode": "merge", "strategy": "upsert"},
    {"mode": "merge", "strategy": "insert-only"},
    {"mode": "merge", "strategy": "scd2"},
)

MERGING: tuple[tuple[str, ...], ...] = (
    ("keys",),
    ("keys", "dedup"),
    ("keys", "gone"),
    ("keys", "dedup", "gone"),
    ("merge_keys",),
    ("merge_keys", "gone"),
    ("keys", "merge_keys"),
    (),
)
"""What a merge is told of its rows."""

PROFILES: Mapping[str, Mapping[str, Any]] = {
    "plain": {},
    "bare": {"detections": []},
    "dates": {"detections": ["iso_timestamp", "iso_date"]},
    "numbers": {"detections": ["large_integer", "iso_date"]},
    "epochs": {"detections": ["timestamp", "iso_timestamp"]},
    "preferred": {
        "preferred_types": {
            "re:_at$": "timestamp",
            "re:^n": "double",
            "amount": "decimal",
            "flag": "bool",
            "blob": "json",
            "day": "date",
            "x": "bigint",
            "re:name": "text",
            "tags": "json",
            "clock": "time",
            "raw": "binary",
        }
    },
    "hinted": {"default_hints": {"partition": ["re:_at$"], "sort": ["x", "re:^n"], "unique": ["name"]}},
    "rooted": {"root_key": True},
    "shallow": {"max_nesting": 1},
    "flat": {"max_nesting": 0},
    "direct": {"naming": "direct"},
    "strict": {"schema_contract": {"columns": "discard_value", "data_type": "discard_row"}},
    "unconverted": {"normalizer": "relational_no_coercion"},
    "handing_down": {"propagation": {"root": {"x": "x_above", "name": "name"}}},
    "filtered": {"filters": {"excludes": ["re:^a", "re:v$", "x"], "includes": ["re:^a__b"]}},
}
"""Settings of a schema by name, as documents have them."""

WEIGHTS = {"plain": 10, "preferred": 3, "bare": 2, "rooted": 2, "shallow": 2}

# --- Names -----------------------------------------------------------------------------------------------

FAMILIES: tuple[tuple[str, ...], ...] = (
    ("x",),
    ("name", "Name", "NAME "),
    ("createdAt", "created_at", "CreatedAt"),
    ("n",),
    ("nCount",),
    ("amount",),
    ("flag",),
    ("blob",),
    ("tags",),
    ("day",),
    ("clock",),
    ("raw",),
    ("user id", "userId", "user-id"),
    ("größe", "gr_e"),
    ("日本", "💥"),
    ("2fast", "_2fast"),
    ("a__b", "a"),
    ("a", "b"),
    ("select", "order", "table"),
    ("trailing_", "trailingx"),
    ("price($)", "me@home", "a+b"),
    ("value", "list"),
    ("", "  "),
    ("___", "__x"),
    ("x" * 70, "y" * 140),
    ("naïve café", "it's", 'quo"te', "a.b", "back\\slash"),
    ("x__v_text", "x"),
    ("x__v_bool", "x"),
    ("line\nbreak", "tab\there"),
    ("constructor", "null", "true", "nan"),
    ("HTTPServerID", "http_server_id"),
    ("a__b__c", "a"),
)
"""Names; those of one family meet in one stream."""

TABLES = ("events", "My Table", "2nd", "Größe", "order", "a__b", "UserData", "x.y", "T" * 60)

# --- Values ----------------------------------------------------------------------------------------------


def _one_of(*values: Any) -> Make:
    return lambda pick: pick.choice(values)


JSON_SCALARS: Mapping[str, Make] = {
    "text": _one_of(
        "a", "hello world", "Größe", "", " ", "null", "None", "NaN", "x" * 300, "line\nbreak", "日本"
    ),
    "yes": _one_of("yes", "no", "true", "False", "t", "y", "N", "1", "0"),
    "int": _one_of(0, 1, -1, 5, 42, 255, 256, 513, 2**31, 2**53 + 1, -(2**40)),
    "edge": _one_of(2**63 - 1, -(2**63), 10**18),
    "huge": _one_of(2**63, 2**64 - 1, 2**127, 2**200, 10**37, 10**38, 10**40, -(2**130)),
    "double": _one_of(0.0, 1.5, -2.25, 3.0, 1e3, 1e22, 0.1, 1e-7, 12345678.9, -0.0),
    "wide": _one_of(1e300, 5e-324, 1.7976931348623157e308, 1e19, 9.3e18),
    "bool": _one_of(True, False),
    "stamp": _one_of(
        "2024-05-06T01:02:03Z",
        "2024-05-06 01:02:03",
        "2024-05-06T01:02:03.123456+02:00",
        "2024-05-06T01:02",
        "20240506T010203Z",
        "1999-12-31T23:59:59.999Z",
        "2024-02-29T00:00:00-11:30",
        "2024/05/06 10:11",
    ),
    "day": _one_of("2024-05-06", "2024", "2024-05", "20240506", "2024-W10", "2024-130", "1970-01-01"),
    "clock": _one_of("12:30:01", "03:04:05.123", "14:01:02+02:00", "T12:00", "23:59"),
    "near": _one_of(
        "2024-13-01",
        "2024-05-06T25:00:00Z",
        " 2024-05-06T07:08:09Z",
        "2024-5-6T7:8:9",
        "P1D",
        "2023-02-29T00:00:00Z",
        "1700000000",
        "soon",
        "2024-05-06t01:02:03z",
        "12:61",
    ),
    "epoch": _one_of(1700000000, 1700000000.5, 1700000000000, 946684800, -1, 253402300799),
    "figures": _one_of(
        "1", "44", "-3", " 3 ", "1_000", "4.5", "1e3", "nan", "inf", "+5", "007", ".5", "1e400"
    ),
    "hex": _one_of("0x1f", "0xFF", "0x", "0xzz", "0x6869", "-0x1f"),
    "base64": _one_of("aGk=", "AQ==", "QUJD", "%%", "aGk"),
    "json": _one_of('{"q":1}', "[1,2]", '{"q": [1.50, 1e-07]}', '{"q":', '"s"', "true", "12"),
}
TYPED_SCALARS: Mapping[str, Make] = {
    "decimal": _one_of(
        Decimal("1.50"), Decimal("9.99"), Decimal(3), Decimal("-0.000000001"), Decimal("1E+10")
    ),
    "bytes": _one_of(b"x", b"\x00\x01", b"hi"),
    "date": _one_of(dt.date(2024, 5, 6), dt.date(1969, 1, 1)),
    "datetime": _one_of(
        dt.datetime(2024, 5, 6, 1, 2, 3),
        dt.datetime(2024, 5, 6, 1, 2, 3, 456, tzinfo=dt.timezone.utc),
        dt.datetime(2024, 5, 6, 1, 2, 3, tzinfo=dt.timezone(dt.timedelta(hours=5, minutes=45))),
    ),
    "time": _one_of(dt.time(12, 30, 1), dt.time(1, 2, 3, 4)),
    "uuid": _one_of(UUID("12345678-1234-5678-1234-567812345678")),
    "tuple": _one_of((1, 2), ("a",), ()),
}


class _Maker:
    """What one stream is made of: its names, and what each name mostly holds."""

    def __init__(self, pick: random.Random, typed: bool) -> None:
        self.pick = pick
        self.scalars = {**JSON_SCALARS, **(TYPED_SCALARS if typed else {})}
        if pick.random() < 0.95:
            del self.scalars["huge"]  # dlt's own files hold no such numbers
        families = pick.sample(FAMILIES, pick.randint(1, 4))
        self.names = [name for family in families for name in family]
        self.names += [pick.choice(FAMILIES[0]), f"c{pick.randint(1, 3)}"]
        self.nested = pick.random() < 0.7
        self.conflict = pick.choice((0.0, 0.1, 0.5))
        self.usual: dict[str, str] = {}

    def kind(self, name: str) -> str:
        choices = [*self.scalars] + (["dict", "list"] * 4 if self.nested else []) + ["null"]
        if name not in self.usual or self.pick.random() < self.conflict:
            self.usual.setdefault(name, self.pick.choice(choices))
            return self.pick.choice(choices)
        return self.usual[name]

    def value(self, name: str, depth: int) -> Any:
        kind, pick = self.kind(name), self.pick
        if kind == "null" or pick.random() < 0.08:
            return None
        if kind == "dict":
            return self.item(depth + 1, pick.choice((0, 1, 2, 3))) if depth < 3 else {}
        if kind == "list":
            return self.list(name, depth + 1)
        return self.scalars[kind](pick)

    def list(self, name: str, depth: int) -> list[Any]:
        pick = self.pick
        if depth > 3:
            return []
        sort = pick.choice(("dicts", "scalars", "lists", "mixed", "empty"))
        length = 0 if sort == "empty" else pick.randint(1, 3)
        scalar = pick.choice([*self.scalars])
        nodes: list[Any] = []
        for _ in range(length):
            now = pick.choice(("dicts", "scalars", "lists")) if sort == "mixed" else sort
            if now == "dicts":
                nodes.append(self.item(depth + 1, pick.randint(0, 3)))
            elif now == "lists":
                nodes.append(self.list(name, depth + 1))
            else:
                odd = pick.random() < 0.2
                nodes.append(None if odd else self.scalars[scalar](pick))
        return nodes

    def item(self, depth: int, length: int) -> dict[str, Any]:
        names = self.pick.sample(self.names, min(length, len(self.names)))
        return {name: self.value(name, depth) for name in names}


def stream(seed: int, number: int) -> Stream:
    """The stream of that number."""
    pick = random.Random(f"{seed}/{number}")
    profile = pick.choices([*PROFILES], [WEIGHTS.get(name, 1) for name in PROFILES])[0]
    typed = pick.random() < 0.3
    maker = _Maker(pick, typed)
    if profile == "direct":  # dlt names files after tables
        maker.names = [name for name in maker.names if not {*name} & {*".%{}/\\"}]
    options: dict[str, Any] = dict(pick.choice(DISPOSITIONS))
    merging = options.get("mode") == "merge"
    hints = pick.choice(MERGING) if merging else ()
    if options.get("strategy") == "scd2":
        hints = pick.choice(((), ("merge_keys",)))
    if options.get("strategy") in ("upsert", "insert-only"):
        hints = pick.choice(
            [choice for choice in MERGING if choice and choice[0] == "keys" and "dedup" not in choice]
        )
        hints = tuple(hint for hint in hints if hint != "merge_keys")
    compound = pick.random() < 0.3
    columns: dict[str, dict[str, Any]] = {}
    if "keys" in hints:
        options["keys"] = ("id", "Region") if compound else ("id",)
    if "merge_keys" in hints:
        options["merge_keys"] = ("part",)
    if "dedup" in hints:
        columns["seq"] = {"dedup_sort": pick.choice(("asc", "desc"))}
    if "gone" in hints:
        columns["gone"] = {"hard_delete": True, **pick.choice(({}, {"data_type": "bool"}))}
    if pick.random() < 0.2:
        name = pick.choice(maker.names)
        if name.strip():
            columns[name] = pick.choice(DECLARED)
    if columns:
        options["columns"] = columns
    if pick.random() < 0.15:
        options["max_nesting"] = pick.choice((0, 1, 2, 3))
    if pick.random() < 0.25:
        options["contract"] = pick.choice(CONTRACTS)
    later = options
    if not merging and pick.random() < 0.25:
        later = {**options, "mode": pick.choice(("append", "replace"))}
    own_ids = pick.choices((None, "root", "nested"), (40, 2, 1))[0]
    loads = []
    for number_of_load in range(pick.choice((1, 2, 2, 3))):
        items = [maker.item(0, pick.randint(1, 4)) for _ in range(pick.choice((1, 2, 3, 6)))]
        if merging:
            items = _told(pick, items, hints, compound, dict(columns))
        if not merging and pick.random() < 0.04:
            items.insert(pick.randint(0, len(items)), pick.choice((5, "x", 1.5, True)))
            typed = True
        load_options = later if number_of_load else options
        if own_ids is not None:
            items = [_identified(item, f"{number_of_load}.{at}", own_ids) for at, item in enumerate(items)]
        if load_options.get("mode") == "replace" and number_of_load and pick.random() < 0.15:
            items = []
        loads.append(Load(items, load_options))
    table = pick.choice(TABLES)
    if profile == "direct":  # dlt does not quote all names in its statements
        table = table.replace(".", "_").replace(" ", "_")
    return Stream(table, profile, tuple(loads), typed)


def _identified(item: Any, key: str, where: str) -> Any:
    """The item with row ids of its own: on its root row, or on all nested ones."""
    if isinstance(item, (list, tuple)):
        return [_identified(member, f"{key}.{at}", where) for at, member in enumerate(item)]
    if not isinstance(item, dict):
        return item
    if where == "root":
        return {**item, "_dlt_id": key}
    return {name: _below(member, f"{key}.{name}") for name, member in item.items()}


def _below(value: Any, key: str) -> Any:
    if isinstance(value, dict):
        return {name: _below(member, f"{key}.{name}") for name, member in value.items()}
    if isinstance(value, list):
        return [
            {**_below(member, f"{key}.{at}"), "_dlt_id": f"{key}.{at}"}
            if isinstance(member, dict)
            else _below(member, key)
            for at, member in enumerate(value)
        ]
    return value


DECLARED: tuple[dict[str, Any], ...] = (
    {"data_type": "text"},
    {"data_type": "bigint"},
    {"data_type": "double"},
    {"data_type": "bool"},
    {"data_type": "json"},
    {"data_type": "timestamp"},
    {"data_type": "timestamp", "timezone": False},
    {"data_type": "timestamp", "precision": 3},
    {"data_type": "date"},
    {"data_type": "time"},
    {"data_type": "decimal"},
    {"data_type": "decimal", "precision": 12, "scale": 2},
    {"data_type": "wei"},
    {"data_type": "binary"},
    {"nullable": False},
    {"data_type": "bigint", "precision": 32},
    {"description": "of the user", "sort": True},
    {"x-note": "kept"},
)

CONTRACTS: tuple[Any, ...] = (
    "evolve",
    {"columns": "discard_value"},
    {"columns": "discard_row"},
    {"data_type": "discard_value"},
    {"data_type": "discard_row"},
    {"tables": "discard_row"},
    {"tables": "discard_value", "columns": "discard_value"},
    {"columns": "freeze"},
    {"data_type": "freeze"},
    {"tables": "freeze"},
    "freeze",
    "discard_row",
    "discard_value",
)


def _told(
    pick: random.Random, items: list[Any], key_hints: tuple[str, ...], compound: bool, columns: dict[str, Any]
) -> list[Any]:
    """Items of a merge: keys are unique in a load unless a sort says which row stays."""
    ids = list(range(1, 8))
    pick.shuffle(ids)
    names = []
    for place, item in enumerate(items):
        options: dict[str, Any] = {}
        if "keys" in key_hints:
            options["id"] = pick.randint(1, 3) if "dedup" in key_hints else ids[place]
            if compound:
                options["Region"] = pick.choice(("EU", "US"))
        if "merge_keys" in key_hints:
            options["part"] = pick.choice(("p", "q"))
        if "dedup" in key_hints:
            options["seq"] = place * 10 + pick.randint(0, 9)
        if "gone" in key_hints:
            options["gone"] = pick.choice((True, False, False, None))
        names.append(
            {**options, **{k: v for k, v in item.items() if k not in ("id", "Region", "part", "gone", "seq")}}
        )
    return names
