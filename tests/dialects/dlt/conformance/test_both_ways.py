"""The rows that only the exact way through the data plane can do: a file gives what it gives there."""

from __future__ import annotations

import json
from operator import itemgetter
from pathlib import Path
from typing import Any

import pytest

import trellis.engine.conform.learned
import trellis.engine.input.blocks
from dialects.dlt.conformance.warehouse import Warehouse
from trellis.schema.model import Schema, Table

NO_COERCION = "dlt.common.normalizers.json.relational_no_coercion"
PROPAGATION = {"root": {"ts": "_evt_ts"}, "tables": {"t__k": {"kid": "kid_ref"}}}
FILTERS = {"excludes": ["re:^k__g", "name"]}


def config(**settings: Any) -> dict[str, Any]:
    return {"normalizers": {"json": {"config": settings}}}


GIVEN = {
    "C15": {"normalizers": {"json": {"module": NO_COERCION}}},
    "F18": config(root_key_propagation=True),
    "F19": config(propagation=PROPAGATION),
    "F20": {"tables": {"t": Table("t", hints={"filters": FILTERS})}},
}


@pytest.mark.parametrize("options", GIVEN.values(), ids=GIVEN)
def test_a_file_goes_either_way(options: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trellis.engine.input.blocks, "BLOCK", 1_000)
    monkeypatch.setattr(trellis.engine.input.blocks, "PEEK_BYTES", 1_000)
    lists = [[{"kid": n, "g": [{"z": 1}, {"z": n}]}] for n in range(100)]
    records = [
        {"ts": n, "name": f"n{n}", "part": n if n > 50 else n + 0.5, "k": items}
        for n, items in enumerate(lists)
    ]
    (tmp_path / "records.jsonl").write_text("\n".join(map(json.dumps, records)) + "\n")
    tables = {}
    for way in ("columns", "exact"):
        if way == "exact":
            monkeypatch.setattr(trellis.engine.conform.learned, "layout_of", lambda root: None)
        warehouse = Warehouse(tmp_path / f"{way}.duckdb")
        warehouse.pipeline.load(
            str(tmp_path / "records.jsonl"), table="t", load_id="1", schema=Schema("given", **options)
        )
        rows = {name: sorted(warehouse.raw(name), key=itemgetter("_dlt_id")) for name in warehouse.tables}
        tables[way] = rows, warehouse.schema.tables
    assert tables["columns"] == tables["exact"]
    assert len(tables["exact"][0]["t"]) == len(records)
