"""What `trellis load` wrote, as a delivery: the folder is whole, and its rows are those of the dataset."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from dialects.pinot import every_type
from dialects.pinot.delivery.test_documents import STREAM
from trellis import Pipeline
from trellis.cli.settings import document_of
from trellis.destinations.base import Destination
from trellis.dialects.pinot.cluster.delivery import DeliverySettings, delivery_of, write
from trellis.dialects.pinot.document.faults import SchemaFaults
from trellis.dialects.pinot.stored_schema import Authored, authored_of
from trellis.errors import DestinationError, UsageError
from trellis.schema.documents.yaml_text import read

RIDES: dict[str, Any] = {
    "schemaName": "rides",
    "dimensionFieldSpecs": [
        {"name": "city", "dataType": "STRING"},
        {"name": "tags", "dataType": "STRING", "singleValueField": False},
    ],
    "metricFieldSpecs": [{"name": "fare", "dataType": "DOUBLE"}],
    "dateTimeFieldSpecs": [
        {"name": "started", "dataType": "TIMESTAMP", "format": "TIMESTAMP", "granularity": "1:SECONDS"},
        {"name": "ended", "dataType": "LONG", "format": "EPOCH|SECONDS", "granularity": "1:SECONDS"},
    ],
}
ROWS = [
    {"city": "Bern", "tags": ["a", "b"], "fare": 7.5, "started": 1_700_000_000_123, "ended": 1_700_000_900},
    {"city": None, "tags": None, "fare": None, "started": 1_700_000_000_000, "ended": None},
]


def loaded(
    folder: Path, to: str, schema: dict[str, Any], rows: list[dict[str, Any]], **settings: Any
) -> Pipeline:
    (folder / "given.json").write_text(json.dumps(schema))
    (folder / "rows.jsonl").write_text(every_type.lines(rows))
    pipeline = Pipeline("lake", to, dialect="pinot", settings=settings)
    pipeline.load(str(folder / "rows.jsonl"), schema=document_of(str(folder / "given.json"), "pinot"))
    return pipeline


def delivered(pipeline: Pipeline, out: Path, **options: Any) -> list[dict[str, Any]]:
    settings = DeliverySettings(**options)
    delivery = delivery_of(authored_of(pipeline.schema), out, settings)
    written = write(delivery, pipeline.destination, pipeline.dataset, out, settings)
    return [row for file in written for row in pq.read_table(file.path).to_pylist()]


def test_the_rows_of_a_dataset_with_true_nulls(tmp_path: Path, lake: str) -> None:
    pipeline = loaded(tmp_path, lake, RIDES, ROWS, view="nullable")
    out = tmp_path / "out"
    assert sorted(delivered(pipeline, out), key=lambda row: -row["started"]) == ROWS
    assert sorted(str(path.relative_to(out)) for path in out.rglob("*") if path.is_file()) == [
        "data/part-00000.parquet",
        "ingestion-job.yaml",
        "schema.json",
        "table-offline.json",
    ]
    table = json.loads((out / "table-offline.json").read_text())
    assert table["tableIndexConfig"] == {"nullHandlingEnabled": True, "loadMode": "MMAP"}
    assert table["segmentsConfig"]["timeColumnName"] == "started"
    assert json.loads((out / "schema.json").read_text())["schemaName"] == "rides"
    job = read((out / "ingestion-job.yaml").read_text(), "job")[0]
    assert job["inputDirURI"] == f"{(out / 'data').as_uri()}/"
    assert job["outputDirURI"] == f"{(out / 'segments').as_uri()}/"


def test_every_type_of_a_dataset(tmp_path: Path, lake: str) -> None:
    """Values as the files have them: bytes, and maps as pairs."""
    rows = every_type.records(60)
    pipeline = loaded(tmp_path, lake, every_type.schema("all"), rows, view="nullable")
    delivered_rows = sorted(delivered(pipeline, tmp_path / "out"), key=lambda row: row["id"])
    for row, got in zip(rows, delivered_rows, strict=True):
        for name, value in row.items():
            assert_same(name, value, got[name])


def assert_same(name: str, value: Any, actual: Any) -> None:
    if value is None:
        assert actual is None
    elif name.startswith("map_"):
        assert dict(actual) == pytest.approx(value)
    elif name == "one_bytes":
        assert actual.hex() == value
    elif isinstance(value, list):
        assert [*map(_number, actual)] == pytest.approx([*map(_number, value)])
    else:
        assert _number(actual) == (pytest.approx(value) if isinstance(value, float) else _number(value))


def _number(value: Any) -> Any:
    return float(value) if value in ("Infinity", "-Infinity") else value


def test_the_view_stored_is_told(tmp_path: Path) -> None:
    pipeline = loaded(tmp_path, f"parquet:{tmp_path}/lake", RIDES, ROWS)
    delivery = delivery_of(authored_of(pipeline.schema), tmp_path / "out", DeliverySettings())
    assert delivery.notes == (
        (
            "the rows hold defaults in place of nulls (view=stored), so Pinot cannot tell them from values; "
            "load with "
            "--option view=nullable to deliver true nulls"
        ),
        "started is the time column, the first of started, ended; choose another with --time-column",
    )
    assert "nullHandlingEnabled" not in delivery.offline.config["tableIndexConfig"]
    second = delivered(pipeline, tmp_path / "out")[1]
    assert (second["city"], second["tags"], second["fare"]) == ("null", ["null"], 0.0)


def test_rows_of_before_a_column_was_added(tmp_path: Path) -> None:
    loaded(tmp_path, f"parquet:{tmp_path}/lake", RIDES, ROWS, view="nullable")
    wider = {**RIDES, "metricFieldSpecs": [*RIDES["metricFieldSpecs"], {"name": "tip", "dataType": "LONG"}]}
    pipeline = loaded(tmp_path, f"parquet:{tmp_path}/lake", wider, [{**ROWS[0], "tip": 3}])
    assert [row["tip"] for row in delivered(pipeline, tmp_path / "out")] == [None, None, 3]


def test_a_hybrid_table_on_a_remote_file_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    table = {
        "tableName": "rides",
        "tableType": "REALTIME",
        "segmentsConfig": {"timeColumnName": "started", "replication": "1"},
        "ingestionConfig": {"streamIngestionConfig": {"streamConfigMaps": [STREAM]}},
    }
    lake = f"parquet:{tmp_path}/lake"
    pipeline = loaded(tmp_path, lake, RIDES, ROWS, view="nullable", table_config=table)
    out = tmp_path / "out"
    delivered(pipeline, out, data="s3://lake/rides", time_column="ended")
    realtime = json.loads((out / "table-realtime.json").read_text())
    assert realtime["tableIndexConfig"] == {"nullHandlingEnabled": True}
    assert realtime["segmentsConfig"]["timeColumnName"] == "ended"
    job = read((out / "ingestion-job.yaml").read_text(), "job")[0]
    assert (job["inputDirURI"], job["outputDirURI"]) == ("s3://lake/rides/", "s3://lake/rides_segments/")


def test_a_delivery_takes_the_place_of_the_one_before(tmp_path: Path) -> None:
    pipeline = loaded(tmp_path, f"parquet:{tmp_path}/lake", RIDES, ROWS, view="nullable")
    out = tmp_path / "out"
    delivered(pipeline, out, rows=1)
    assert len([*(out / "data").iterdir()]) == 2
    delivered(pipeline, out)
    assert [path.name for path in (out / "data").iterdir()] == ["part-00000.parquet"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["given.json", "lake", "out", "rows.jsonl"]


def test_a_folder_with_other_things_is_left_alone(tmp_path: Path) -> None:
    pipeline = loaded(tmp_path, f"parquet:{tmp_path}/lake", RIDES, ROWS)
    with pytest.raises(UsageError) as raised:
        delivered(pipeline, tmp_path)
    assert str(raised.value) == (
        f"--out {tmp_path}: it holds other files; choose a new folder, or one of an earlier delivery"
    )


def test_what_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    pipeline = loaded(tmp_path, f"parquet:{tmp_path}/lake", RIDES, ROWS, view="nullable")
    out = tmp_path / "out"
    delivered(pipeline, out)
    before = (out / "data/part-00000.parquet").read_bytes()
    (table,) = (tmp_path / "lake").glob("rides/**/*.parquet")
    table.write_bytes(b"PAR1 broken PAR1")
    with pytest.raises(Exception, match=r"(?i)parquet"):
        delivered(pipeline, out)
    assert (out / "data/part-00000.parquet").read_bytes() == before
    table.unlink()
    with pytest.raises(DestinationError, match="a load took a file away meanwhile"):
        delivered(pipeline, out)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["given.json", "lake", "out", "rows.jsonl"]


def test_a_dataset_without_a_schema_of_pinot(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as raised:
        delivery_of(Authored(), tmp_path / "out", DeliverySettings())
    assert str(raised.value) == (
        "DEST holds no Pinot schema; load into another dataset with --dialect pinot --schema FILE; "
        "`trellis schema convert --at DEST --to pinot` writes a schema of this one, for --schema FILE"
    )


def test_a_time_column_that_is_none(tmp_path: Path) -> None:
    from trellis.dialects.pinot.document.reader import read_schema
    from trellis.dialects.pinot.table.config import table_config

    config = table_config({"tableName": "rides", "segmentsConfig": {"timeColumnName": "city"}})
    with pytest.raises(SchemaFaults, match="Cannot find valid fieldSpec for timeColumn: city"):
        delivery_of(Authored(read_schema(RIDES), config), tmp_path / "out", DeliverySettings())


def test_every_destination_gives_batches() -> None:
    assert hasattr(Destination, "batches")
