"""The JSON of a pending load: it does not change in silence, and nothing odd is read from it."""

from __future__ import annotations

import json
from base64 import b64encode
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path, PurePath
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from packages.sample import sample
from trellis.pipelines.packages.codec import Malformed
from trellis.pipelines.packages.document import NewerVersion, from_document, to_document

HERE = Path(__file__).parent
STAGING = "/lake/staging/1715000000%2E000001"
TEXT = to_document(sample(STAGING), "shop", PurePath(STAGING))


def read(document: Any) -> Any:
    content = document if isinstance(document, bytes) else json.dumps(document).encode()
    return from_document(content, lambda load_id: PurePath(STAGING))


def test_a_package_comes_back() -> None:
    assert read(TEXT.encode()) == sample(STAGING)


def test_version_1_is_read_for_good() -> None:
    """The file stays as it is: if this fails, VERSION has to be raised and version 1 read all the same."""
    assert read((HERE / "version_1.package").read_bytes()) == sample(STAGING)


def test_a_new_package_is_what_version_1_says() -> None:
    """Where a field with a default was added, write the file anew."""
    assert (HERE / "version_1.package").read_text() == TEXT


def test_files_are_named_inside_the_folder_of_the_load() -> None:
    files = json.loads(TEXT)["commit"]["files"]["orders"]
    assert [file["path"] for file in files] == ["orders/000000-0.parquet", "1/orders/items-0.parquet"]
    moved = from_document(TEXT.encode(), lambda load_id: PurePath("elsewhere", load_id))
    assert [file.path for file in moved.commit.files["orders"]] == [
        "elsewhere/1715000000.000001/orders/000000-0.parquet",
        "elsewhere/1715000000.000001/1/orders/items-0.parquet",
    ]


@pytest.mark.parametrize(
    "value",
    [
        pa.scalar(-1, pa.int8()),
        pa.scalar(1.5, pa.float32()),
        pa.scalar(float("nan"), pa.float64()),
        pa.scalar(Decimal(2**200), pa.decimal256(70, 0)),
        pa.scalar(1_715_000_000_123_456_789, pa.timestamp("ns", "UTC")),
        pa.scalar(datetime(1, 1, 1), pa.timestamp("s")),
        pa.scalar("text\ud7ff"),
        pa.scalar(b"\x00\xff"),
        pa.scalar([1, None], pa.list_(pa.int32())),
        pa.scalar({"a": [{"b": 1}]}),
        pa.scalar(None, pa.string()),
    ],
    ids=lambda value: str(value.type),
)
def test_cells_keep_their_arrow_type(value: pa.Scalar) -> None:
    package = sample(STAGING)
    package.commit.filled["orders"]["price"] = value  # type: ignore[index]
    cell = read(to_document(package, "shop", PurePath(STAGING)).encode()).commit.filled["orders"]["price"]
    assert (cell.type, repr(cell)) == (value.type, repr(value))


json_values = st.recursive(
    st.none()
    | st.integers()
    | st.floats()
    | st.text()
    | st.decimals()
    | st.binary()
    | st.datetimes(timezones=st.none() | st.just(timezone.utc)).map(lambda value: value.replace(fold=0))
    | st.dates()
    | st.uuids(),
    lambda inner: st.lists(inner) | st.lists(inner).map(tuple) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)


@given(st.lists(st.dictionaries(st.text(max_size=5), json_values, max_size=4), max_size=3))
def test_rows_of_bookkeeping_may_hold_any_value(rows: list[dict[str, Any]]) -> None:
    package = sample(STAGING)
    package.commit.records["odd"] = rows  # type: ignore[index]
    again = read(to_document(package, "shop", PurePath(STAGING)).encode())
    assert repr(again.commit.records["odd"]) == repr(rows)


def test_a_value_without_a_form_is_not_stored() -> None:
    package = sample(STAGING)
    package.commit.records["odd"] = [{"f": timedelta(1)}]  # type: ignore[index]
    with pytest.raises(TypeError, match=r"a timedelta has no form in JSON: datetime\.timedelta\(days=1\)"):
        to_document(package, "shop", PurePath(STAGING))


def edited(path: str, value: Any) -> Any:
    """The document with another value at a place; ... takes the place away."""
    document = json.loads(TEXT)
    *parents, last = (int(part) if part.isdigit() else part for part in path.split("/"))
    place: Any = document
    for part in parents:
        place = place[part]
    if value is ...:
        del place[last]
    else:
        place[last] = value
    return document


def cell(*columns: pa.Array) -> str:
    sink = pa.BufferOutputStream()
    batch = pa.RecordBatch.from_arrays(list(columns), [str(at) for at in range(len(columns))])
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return b64encode(sink.getvalue()).decode()


TYPES = "text, double, bool, timestamp, date, time, bigint, binary, json, decimal, wei"
CHANGES = (
    "add_table, drop_table, rename_table, add_column, drop_column, rename_column, change_column, change_table"
)
KEYS = "format, version, pipeline, commit, report"
FILLED = "commit/filled/orders/price"
NO_CELL = "package.commit.filled.orders.price: expected an Arrow cell in base64, found "
ORDERS = "package.commit.schema.tables.orders"


@pytest.mark.parametrize(
    ("path", "value", "sentence"),
    [
        ("format", "other", 'it is not an object with "format": "trellis-package"'),
        ("version", "1", "version: expected a whole number from 1 on, found '1'"),
        ("version", True, "version: expected a whole number from 1 on, found True"),
        ("version", 0, "version: expected a whole number from 1 on, found 0"),
        ("pipeline", None, "package.pipeline: expected text, found None"),
        (
            "note",
            "mine",
            "package: unknown key 'note': it may be one of format, version, pipeline, commit, report",
        ),
        ("commit", ..., "package: the key 'commit' is missing"),
        ("commit", [], "package.commit: expected an object, found []"),
        ("commit/load_id", 5, "package.commit.load_id: expected text, found 5"),
        ("commit/chain", [], "package.commit: unknown key 'chain': did you mean 'chains'?"),
        ("commit/journal", ..., "package.commit: the key 'journal' is missing"),
        (
            "commit/chains/0/mode",
            "upsert",
            "package.commit.chains[0].mode: expected one of append, replace, merge, found 'upsert'",
        ),
        (
            "commit/chains/0/history/at",
            "soon",
            "package.commit.chains[0].history.at: expected a time in ISO 8601, found 'soon'",
        ),
        ("commit/chains", {}, "package.commit.chains: expected a list, found {}"),
        ("commit/links/pairs", [1], "package.commit.links.pairs: expected a list of 2, found [1]"),
        ("commit/links/pairs/1", "ab", "package.commit.links.pairs[1]: expected a list of 2, found 'ab'"),
        (
            "commit/files/orders/0/path",
            "/etc/passwd",
            "package.commit.files: expected a path inside the folder of the load, found '/etc/passwd'",
        ),
        (
            "commit/files/orders/0/path",
            "a/../../b",
            "package.commit.files: expected a path inside the folder of the load, found 'a/../../b'",
        ),
        (
            "commit/files/orders/0/rows",
            2.0,
            "package.commit.files.orders[0].rows: expected a whole number, found 2.0",
        ),
        (
            "commit/records/odd/0/a",
            {"$call": "os.system"},
            "package.commit.records.odd[0].a: no value of $call: 'os.system'",
        ),
        (
            "commit/catalog/users/types/id",
            "varchar",
            f"package.commit.catalog.users.types.id: expected one of {TYPES}, found 'varchar'",
        ),
        ("commit/native/int", "int", f"package.commit.native: expected one of {TYPES}, found 'int'"),
        (FILLED, 5, f"{NO_CELL}5"),
        (FILLED, "AAAA", f"{NO_CELL}'AAAA'"),
        (FILLED, "?", f"{NO_CELL}'?'"),
        (FILLED, cell(pa.array([1, 2])), f"{NO_CELL}{cell(pa.array([1, 2]))!r:.80}"),
        (FILLED, cell(pa.array([1]), pa.array([2])), f"{NO_CELL}{cell(pa.array([1]), pa.array([2]))!r:.80}"),
        ("commit/schema/engine_version", 10, "package.commit.schema.engine_version: expected 11, found 10"),
        ("commit/schema/tables", ..., "package.commit.schema: the key 'tables' is missing"),
        ("commit/schema/tables/orders/columns", ..., f"{ORDERS}: the key 'columns' is missing"),
        (
            "commit/schema/tables/orders/columns/id/data_type",
            "int",
            f"{ORDERS}.columns.id.data_type: no such value 'int': did you mean 'bigint'?",
        ),
        (
            "commit/schema/tables/orders__lines/parent",
            "order",
            "package.commit.schema.tables.orders__lines.parent: no table 'order': did you mean 'orders'?",
        ),
        (
            "commit/schema/settings/default_hints/not_null",
            None,
            "package.commit.schema.settings.default_hints.not_null: expected a list, found null",
        ),
        ("commit/extra_tables/0/name", ..., "package.commit.extra_tables[0]: the key 'name' is missing"),
        ("report/rows", None, "package.report.rows: expected an object, found None"),
        ("report/seconds/all", "1", "package.report.seconds.all: expected a number, found '1'"),
        (
            "report/changes/0/kind",
            "os.system",
            f"package.report.changes[0].kind: expected one of {CHANGES}, found 'os.system'",
        ),
        (
            "report/changes/0/kind",
            ["add_table"],
            f"package.report.changes[0].kind: expected one of {CHANGES}, found ['add_table']",
        ),
        (
            "report/changes/2/definition",
            {},
            "package.report.changes[2].definition: the key 'name' is missing",
        ),
    ],
)
def test_an_edited_document_is_refused_with_its_place(path: str, value: Any, sentence: str) -> None:
    with pytest.raises(Malformed) as refused:
        read(edited(path, value))
    assert str(refused.value) == sentence


@pytest.mark.parametrize("content", [b"", b"\xff", b"null", b"[]", b"{}", b'"text"', b"[" * 100_000])
def test_what_is_no_document_at_all(content: bytes) -> None:
    with pytest.raises(Malformed, match="it is not"):
        read(content)


@pytest.mark.parametrize("size", range(0, len(TEXT), 997))
def test_a_document_that_was_cut_is_refused(size: int) -> None:
    with pytest.raises(Malformed, match="it is not JSON"):
        read(TEXT[:size].encode())


def test_a_newer_version_is_told_from_a_damaged_document() -> None:
    with pytest.raises(NewerVersion) as refused:
        read({"format": "trellis-package", "version": 2, "changed": "all"})
    assert refused.value.version == 2


def test_a_field_with_a_default_may_be_missing() -> None:
    assert read(edited("commit/recalled", ...)).commit.base_state is None


def places(document: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    members = document.items() if isinstance(document, dict) else enumerate(document)
    nested = [
        place
        for key, member in members
        if isinstance(member, (dict, list))
        for place in places(member, (*path, key))
    ]
    keys = document if isinstance(document, dict) else range(len(document))
    return [*((*path, key) for key in keys), *nested]


@given(st.data())
def test_whatever_is_edited_is_read_or_refused(data: st.DataObject) -> None:
    document = json.loads(TEXT)
    *parents, last = data.draw(st.sampled_from(places(document)))
    place = document
    for part in parents:
        place = place[part]
    others = [None, True, -1, 2**70, 1.5, "", "text", [], {}, [[]], [None], {"a": None}, {"$tuple": 5}]
    if data.draw(st.booleans()) and isinstance(place, dict):
        place[data.draw(st.sampled_from(["kind", "name", "columns", "", "x-a"]))] = place.pop(last)
    else:
        place[last] = data.draw(st.sampled_from(others))
    try:
        to_document(read(document), "shop", PurePath(STAGING))
    except (Malformed, NewerVersion):
        return
