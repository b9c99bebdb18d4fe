"""docs/contracts.md is true: every row of its tables is run and gives what the row says."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

import trellis
from trellis.errors import TrellisError
from trellis.evolution.contract import ENTITIES, MODES, contract_for
from trellis.schema.model import Column, Schema, Settings, Table

PAGE = (Path(__file__).parents[4] / "docs" / "contracts.md").read_text()
PROBE = "77"
"""The text of the value that stands in the row at hand, and nowhere else."""

Cells = Mapping[str, str]
Tables = Mapping[str, Sequence[Mapping[str, Any]]]


def table_of(prefix: str) -> list[Cells]:
    """The rows of the table whose ids begin so, by the names in its head."""
    rows: list[Cells] = []
    head: Sequence[str] = ()
    for line in PAGE.splitlines():
        cells = [cell.strip().strip("`") for cell in line.strip("|").split("|")]
        if cells[0] == "id":
            head = cells
        elif cells[0].startswith(f"{prefix}-"):
            rows.append(dict(zip(head, cells, strict=True)))
    return rows


# --- What a violation does ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """A load that is right and one that violates, and the table and row that it is about."""

    second: Any
    first: Any = ({"a": 1},)
    table: str = "t"
    columns: Sequence[Column] = ()
    before: Sequence[Column] = field(default=())
    rules: Mapping[str, Any] = field(default_factory=dict)


OTHER = {"a": 2}
CASES: Mapping[str, Case] = {
    "new root table": Case([{"a": 77}], first=None),
    "new nested table": Case([{"a": 2, "l": [{"x": 77}]}, OTHER], table="t__l"),
    "new column": Case([{"a": 3, "b": 77}, OTHER]),
    "new flattened key": Case([{"a": 3, "d": {"q": 77}}, OTHER]),
    "new column of a nested row": Case(
        [{"a": 2, "l": [{"x": 2}, {"x": 3, "y": 77}]}], first=[{"a": 1, "l": [{"x": 1}]}], table="t__l"
    ),
    "declared column": Case([{"a": 77}, OTHER], columns=[Column("b", "text")]),
    "value of another type": Case([{"a": "77 a"}, OTHER]),
    "declared data_type": Case([{"a": 77}, OTHER], columns=[Column("a", "text")]),
    "declared nullable": Case([{"a": 77}, OTHER], columns=[Column("a", "bigint", nullable=False)]),
    "declared precision": Case([{"a": 77}, OTHER], columns=[Column("a", "bigint", precision=16)]),
    "declared scale": Case(
        [{"a": 77}, OTHER],
        columns=[Column("a", "decimal", precision=10, scale=3)],
        before=[Column("a", "decimal", precision=10, scale=2)],
    ),
    "declared timezone": Case(
        [{"a": "2077-01-01T00:00:00"}],
        first=[{"a": "2024-01-01T00:00:00"}],
        columns=[Column("a", "timestamp", timezone=False)],
    ),
    "arrow: new column": Case(pa.table({"a": [3, 2], "n": ["77", None]})),
    "arrow: another type": Case(pa.table({"a": ["77 a", None]})),
    "value that breaks a rule": Case([{"a": 77}, OTHER], rules={"a": {"maximum": 9}}),
    "nested value that breaks a rule": Case(
        [{"a": 2, "l": [{"x": 2}, {"x": 77}]}],
        first=[{"a": 1, "l": [{"x": 1}]}],
        table="t__l",
        rules={"t__l.x": {"accepted_values": [1, 2]}},
    ),
    "arrow: value that breaks a rule": Case(pa.table({"a": [77, 2]}), rules={"a": {"maximum": 9}}),
}


def fields(schema: Schema) -> dict[str, Any]:
    """What the schema says of the columns of data, and of the types they have."""
    tables: dict[str, Any] = {}
    for table in schema.tables.values():
        for column in table.complete_columns:
            if not table.name.startswith("_") and not column.name.startswith("_dlt"):
                tables[f"{table.name}.{column.name}"] = {
                    key: getattr(column, key)
                    for key in ("data_type", "nullable", "precision", "scale", "timezone")
                }
    return tables


def difference(before: Schema, after: Schema) -> str:
    old, new = fields(before), fields(after)
    changes = [f"+ {name}" for name in new if name not in old]
    for name in old:
        changed = [key for key, value in new[name].items() if value != old[name][key]]
        changes += [f"{name}: {', '.join(changed)}"] if changed else []
    return ", ".join(changes) or "as before"


def look(path: Path) -> Tables:
    """All rows of all tables."""
    with duckdb.connect(str(path)) as db:
        names = [name for (name,) in db.execute("SELECT table_name FROM duckdb_tables()").fetchall()]
        return {name: db.sql(f'SELECT * FROM "{name}"').to_arrow_table().to_pylist() for name in names}


def place_of_the_value(tables: Tables) -> str:
    """The column of data that holds the probe."""
    for name, rows in tables.items():
        for row in () if name.startswith("_") else rows:
            for column, value in row.items():
                if PROBE in str(value) and not column.startswith("_dlt"):
                    return f"in {name}.{column}"
    return "discarded"


def kept(tables: Tables, load_id: str) -> str:
    discards = [row for row in tables.get("_trellis_discards", ()) if row["load_id"] == load_id]
    if not discards:
        return "none"
    (one,) = discards
    assert PROBE in one["value"]
    return "value and row" if one["row"] else "value"


def rows_of(case: Case) -> int:
    """How many rows the violating load brings to the table that it is about."""
    records = case.second.to_pylist() if isinstance(case.second, pa.Table) else case.second
    return sum(len(record.get("l", ())) for record in records) if case.table == "t__l" else len(records)


def outcome(path: Path, case: Case, contract: Mapping[str, str]) -> Cells:
    pipe = trellis.pipeline("farm", to=f"duckdb:{path}")
    before, known_rows = pipe.schema, 0
    if case.first is not None:
        before = pipe.load(list(case.first), table="t", columns=tuple(case.before)).schema
        known_rows = len(look(path).get(case.table, ()))
    records = case.second if isinstance(case.second, pa.Table) else list(case.second)
    try:
        report = pipe.load(
            records, table="t", contract=contract, columns=tuple(case.columns), rules=case.rules
        )
    except TrellisError as refused:
        assert len(look(path).get(case.table, ())) == known_rows
        return {
            "schema": difference(before, pipe.schema),
            "records": "nothing loaded",
            "row": "not loaded",
            "value": "not loaded",
            "discards": "none",
            "exit": str(refused.exit_code),
        }
    tables = look(path)
    loaded = len(tables.get(case.table, ())) - known_rows == rows_of(case)
    return {
        "schema": difference(before, report.schema),
        "records": f"{report.rows.loaded} of {report.rows.read}",
        "row": "loaded" if loaded else "dropped",
        "value": place_of_the_value(tables),
        "discards": kept(tables, report.load_id),
        "exit": "0",
    }


ENTITY = dict.fromkeys(CASES, "columns") | {
    **dict.fromkeys(("new root table", "new nested table"), "tables"),
    **dict.fromkeys(("value of another type", "arrow: another type"), "data_type"),
    **{name: "data_type" for name in CASES if name.startswith("declared ") and name != "declared column"},
    **{name: "values" for name in CASES if name.endswith(" a rule")},
}
ROWS = table_of("ct")


@pytest.mark.parametrize("row", ROWS, ids=[row["id"] for row in ROWS])
def test_the_table_of_violations(row: Cells, tmp_path: Path) -> None:
    actual = outcome(tmp_path / "farm.duckdb", CASES[row["what comes"]], {row["entity"]: row["mode"]})
    assert actual == {key: row[key] for key in actual}


def test_the_table_is_whole() -> None:
    """Every violation under every mode, each once, numbered through."""
    assert [(row["what comes"], row["entity"], row["mode"]) for row in ROWS] == [
        (name, ENTITY[name], mode) for name, mode in product(CASES, MODES)
    ]
    assert [row["id"] for row in ROWS] == [f"ct-{n:02}" for n in range(1, len(ROWS) + 1)]


# --- Whose contract holds -------------------------------------------------------------------------------


def said(text: str) -> Any:
    """A contract as the page writes it: a mode, `columns=freeze, ...`, or a dash for none."""
    if text == "-":
        return None
    return dict(part.split("=") for part in text.split(", ")) if "=" in text else text


PRECEDENCE = table_of("cp")


@pytest.mark.parametrize("row", PRECEDENCE, ids=[row["id"] for row in PRECEDENCE])
def test_the_table_of_precedence(row: Cells, tmp_path: Path) -> None:
    pipe = trellis.pipeline("farm", to=f"duckdb:{tmp_path}/farm.duckdb")
    contracts = {name: said(row[name]) for name in ("root table", "nested table")}
    tables = (
        Table("t", {"a": Column("a", "bigint")}, hints=hinted(contracts["root table"])),
        Table("t__l", {"x": Column("x", "bigint")}, parent="t", hints=hinted(contracts["nested table"])),
    )
    document = Schema("farm", {t.name: t for t in tables}, Settings(schema_contract=said(row["settings"])))
    pipe.load([{"a": 1, "l": [{"x": 1}]}], table="t", schema=document)
    if (contract := said(row["load"])) is not None:
        pipe.load([{"a": 2, "l": [{"x": 2}]}], table="t", contract=contract)
    contract_in_force = contract_for(pipe.schema, row["table"], prefix="_dlt")
    assert ", ".join(f"{entity}={contract_in_force.mode(entity)}" for entity in ENTITIES) == row["holds"]


def hinted(contract: Any) -> Mapping[str, Any]:
    return {} if contract is None else {"schema_contract": contract}


# --- After widening -------------------------------------------------------------------------------------


def test_dropped_rows_go_in_once_the_contract_is_wider(tmp_path: Path) -> None:
    """As the page says: the rows are in the discards, each once though it has two faults, and are records."""
    pipe = trellis.pipeline("farm", to=f"duckdb:{tmp_path}/farm.duckdb")
    pipe.load([{"a": 1}], table="t")
    contract = {"columns": "discard_row"}
    report = pipe.load([{"a": 2, "b": 7, "c": 8}, {"a": 3}, {"a": 4, "b": 9}], table="t", contract=contract)
    assert report.rows.dropped == 2
    with duckdb.connect(str(tmp_path / "farm.duckdb")) as db:
        lost = "SELECT row FROM _trellis_discards WHERE table_name = 't' AND row IS NOT NULL AND load_id = ?"
        rows = db.execute(lost, [report.load_id]).fetchall()
    pipe.load([json.loads(row) for (row,) in rows], table="t", contract={"columns": "evolve"})
    stored = pipe.destination.query("main", "t")
    assert [(row["a"], row["b"], row["c"]) for row in stored] == [
        (1, None, None),
        (3, None, None),
        (2, 7, 8),
        (4, 9, None),
    ]
