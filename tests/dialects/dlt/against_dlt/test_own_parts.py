"""What users put in the place of dlt's parts, under dlt and under Trellis: normalizers, conventions."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, NamedTuple

import dlt
import duckdb
import pytest
from dlt.common.schema import Schema as TheirSchema
from dlt.pipeline.exceptions import PipelineStepFailed

import trellis
from trellis.errors import SchemaError
from trellis.schema.model import Schema

Mode = Literal["append", "replace", "merge"]
Loads = list[tuple[Mode, list[dict[str, Any]]]]
LINKED, RELATIONAL = "dialects.dlt.against_dlt.linked_normalizer", "dialects.dlt.against_dlt.own_relational"
RANDOM = ("_dlt_load_id", "_dlt_id", "_dlt_parent_id", "_dlt_root_id")

LOADS: Loads = [
    (
        "append",
        [
            {
                "id": 1,
                "shipTo": {"city": "Bern", "tags": ["x"], "at": "2024-05-06T07:08:09Z"},
                "Lines": [{"sku": "a", "opts": [1, 2]}, {"sku": "b", "opts": [{"no": 1}]}],
                "codes": [],
            },
            {"id": 2, "Lines": [{"sku": 5}]},
        ],
    ),
    ("append", [{"id": "x", "shipTo": 5, "paid": True, "Lines": [{"sku": "c", "opts": "no"}]}]),
    ("append", [{"id": 3, "shipTo": {"city": "Ulm"}, "when": "2024-05-06T07:08:09Z", "Gifts": [{"a": 1.5}]}]),
]
REPLACED: Loads = [*LOADS, ("replace", [{"id": 9, "Lines": []}])]


class Table(NamedTuple):
    columns: list[tuple[str, str]]
    rows: list[tuple[Any, ...]]


def read(file: Path, without: tuple[str, ...]) -> dict[str, Table]:
    """The tables of data, their columns in order, their rows."""
    with duckdb.connect(str(file)) as warehouse:
        query = "SELECT table_name FROM information_schema.tables WHERE table_schema = 'shop'"
        tables = {}
        for (name,) in warehouse.execute(query).fetchall():
            if not name.startswith("_"):
                described = warehouse.execute(f'DESCRIBE shop."{name}"').fetchall()
                columns = [(column, type_) for column, type_, *_ in described if column not in without]
                shown = ", ".join(f'"{column}"' for column, _ in columns)
                rows = warehouse.execute(f'SELECT {shown} FROM shop."{name}"').fetchall()
                tables[name] = Table(columns, sorted(rows, key=repr))
        return tables


def theirs(folder: Path, module: str, loads: Loads, key: str | None) -> Path:
    file = folder / "theirs.duckdb"
    pipe = dlt.pipeline(
        "own",
        destination=dlt.destinations.duckdb(str(file)),
        dataset_name="shop",
        pipelines_dir=str(folder / "pipelines"),
    )
    for mode, items in loads:
        schema = TheirSchema("farm", normalizers={"names": "snake_case", "json": {"module": module}})
        resource = dlt.resource(items, name="orders", write_disposition=mode, primary_key=key or ())
        pipe.run(dlt.source(lambda resource=resource: resource, schema=schema)())
    return file


def ours(folder: Path, module: str, loads: Loads, key: str | None) -> Path:
    file = folder / "ours.duckdb"
    pipe = trellis.pipeline("own", to=f"duckdb:{file}", dataset="shop")
    for mode, items in loads:
        schema = Schema("farm", normalizers={"names": "snake_case", "json": {"module": module}})
        resource = trellis.resource(items, name="orders", write_disposition=mode, primary_key=key)
        pipe.run(trellis.source(schema=schema)(lambda resource=resource: resource)())
    return file


@pytest.mark.parametrize(
    ("module", "loads", "key", "without"),
    [
        (LINKED, LOADS, None, RANDOM[:1]),
        (LINKED, REPLACED, None, RANDOM[:1]),
        (RELATIONAL, LOADS, None, RANDOM),
        (RELATIONAL, REPLACED, None, RANDOM),
        (RELATIONAL, [("merge", LOADS[0][1]), ("merge", [{"id": 1, "Lines": [{"sku": "z"}]}])], "id", RANDOM),
    ],
    ids=["linked", "linked, replaced", "relational", "relational, replaced", "relational, merged"],
)
def test_seed_d036_the_same_normalizer(
    tmp_path: Path, module: str, loads: Loads, key: str | None, without: tuple[str, ...]
) -> None:
    assert read(ours(tmp_path, module, loads, key), without) == read(
        theirs(tmp_path, module, loads, key), without
    )


NAMINGS = [
    (None, None, None),
    (None, None, "direct"),
    (None, "sql_ci_v1", None),
    (None, "sql_ci_v1", "direct"),
    ("direct", "sql_ci_v1", None),
    ("snake_case", "sql_ci_v1", "direct"),
]


@pytest.mark.parametrize(("configured", "destination", "in_schema"), NAMINGS)
def test_seed_d021_the_same_choice_of_a_naming_convention(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    configured: str | None,
    destination: str | None,
    in_schema: str | None,
) -> None:
    normalizers: Any = {"names": in_schema} if in_schema else None
    option = f"?naming_convention={destination}" if destination else ""
    pipe = trellis.pipeline(
        "own", to=f"duckdb:{tmp_path}/ours.duckdb{option}", dataset="shop", naming=configured
    )
    pipe.load(
        [{"createdAt": 1}],
        table="Orders",
        schema=Schema("own", normalizers=normalizers) if normalizers else None,
    )
    if configured:
        monkeypatch.setenv("SCHEMA__NAMING", configured)
    _theirs_named(tmp_path, destination, normalizers)
    tables = read(tmp_path / "theirs.duckdb", RANDOM)
    assert tables == read(tmp_path / "ours.duckdb", RANDOM)
    assert len(tables) == 1


def _theirs_named(folder: Path, destination: str | None, normalizers: Any) -> None:
    pipe = dlt.pipeline(
        "own",
        destination=dlt.destinations.duckdb(str(folder / "theirs.duckdb"), naming_convention=destination),
        dataset_name="shop",
        pipelines_dir=str(folder / "pipelines"),
    )
    resource = dlt.resource([{"createdAt": 1}], name="Orders")
    options: Any = {"schema": TheirSchema("own", normalizers=normalizers)} if normalizers else {}
    pipe.run(resource, **options)


def test_seed_d021_names_of_tables_with_data_are_frozen_in_both(tmp_path: Path) -> None:
    """The destination wants another convention than the one that its tables follow."""
    _theirs_named(tmp_path, None, None)
    with pytest.raises(PipelineStepFailed):
        _theirs_named(tmp_path, "direct", None)
    place = f"duckdb:{tmp_path}/ours.duckdb"
    trellis.pipeline("own", to=place).load([{"createdAt": 1}], table="Orders")
    with pytest.raises(SchemaError, match="identifiers frozen"):
        trellis.pipeline("own", to=f"{place}?naming_convention=direct").load(
            [{"createdAt": 1}], table="Orders"
        )
