"""Streams of files: each batch a load, the schema growing inside a batch, contracts, stops, restarts."""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from streams.stream_tables import counts_of, rejects_of, rows_of
from trellis.errors import ContractError, UsageError
from trellis.pipelines.pipeline import Pipeline
from trellis.pipelines.streaming.report import BatchReport

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WAIT = 60
SECONDS = count()


@pytest.fixture
def shop(tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> Pipeline:
    """A pipeline, in a folder with an empty folder `raw`."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "raw").mkdir()
    return Pipeline("shop", f"duckdb:{tmp_path}/shop.duckdb", engine="spark")


def write(name: str, *records: Any) -> None:
    """Put a file into `raw` at once, as streams of files want it; each is newer than those before."""
    written = Path(f".{name}")
    written.write_text("".join(f"{r if isinstance(r, str) else json.dumps(r)}\n" for r in records))
    moment = 1_700_000_000 + next(SECONDS)
    os.utime(written, (moment, moment))
    written.rename(Path("raw", name))


def drain(shop: Pipeline, **options: Any) -> list[BatchReport]:
    """Load what is there now."""
    batches: list[BatchReport] = []
    stream = shop.stream("raw", on_batch=batches.append, **{"trigger": "available-now", **options})
    assert stream.wait(WAIT)
    return batches


def wait_until(condition: Callable[[], object]) -> None:
    end = time.monotonic() + WAIT
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_a_stream_goes_on_where_it_ended(shop: Pipeline) -> None:
    """A late key, a value of another kind and a list arrive in later batches."""
    write("a b%20.jsonl", {"id": 1}, "no record")
    write("c.jsonl", {"id": 2})
    (first,) = drain(shop)
    assert counts_of(first) == (3, 2, 1, 0)
    write("d.jsonl", {"id": 3, "late": "x"}, {"id": "four", "items": [{"sku": "a"}]})
    (second,) = drain(shop)
    assert counts_of(second) == (2, 2, 0, 0)
    assert second.drift == (
        "raw.late is new: text",
        "raw.id__v_text is new: text",
        "raw__items is new, with 4 columns",
    )
    assert drain(shop) == []
    assert rows_of(shop, "raw") == [
        {"id": 1, "late": None, "id__v_text": None},
        {"id": 2, "late": None, "id__v_text": None},
        {"id": 3, "late": "x", "id__v_text": None},
        {"id": None, "late": None, "id__v_text": "four"},
    ]
    assert rejects_of(shop) == [(f"{Path.cwd()}/raw/a b%20.jsonl", 2, "no record")]
    (stream_id,) = {batch.load_id.rpartition("-")[0] for batch in (first, second)}
    assert [first.load_id, second.load_id] == [f"{stream_id}-0", f"{stream_id}-1"]
    assert [load.load_id for load in shop.loads()] == [first.load_id, second.load_id]


def test_every_file_is_a_batch_where_the_user_says_so(shop: Pipeline) -> None:
    for number in range(3):
        write(f"{number}.jsonl", {"id": number} | ({"late": True} if number == 2 else {}))
    batches = drain(shop, table="t", read_options={"maxFilesPerTrigger": 1})
    assert [counts_of(batch) for batch in batches] == [(1, 1, 0, 0)] * 3
    assert [batch.drift for batch in batches] == [
        ("t is new, with 3 columns",),
        (),
        ("t.late is new: bool",),
    ]


def test_a_continuous_stream_stops_after_its_batch(shop: Pipeline, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "trellis.stream")
    write("a.jsonl", {"id": 1})
    stream = shop.stream("raw", trigger="100 ms")
    wait_until(lambda: stream.last is not None)
    assert not stream.wait(0.1)
    write("b.jsonl", {"id": 2})
    wait_until(lambda: stream.last is not None and stream.last.batch_id == 1)
    stream.stop()
    write("c.jsonl", {"id": 3})
    assert [row["id"] for row in rows_of(shop, "raw")] == [1, 2]
    with shop.stream("raw", trigger="100 ms") as again:
        wait_until(lambda: again.last is not None)
    assert [row["id"] for row in rows_of(shop, "raw")] == [1, 2, 3]
    lines = [record for record in caplog.records if record.name == "trellis.stream"]
    assert [line.__dict__["batch"]["rows"]["loaded"] for line in lines] == [1, 1, 1]
    assert lines[0].getMessage().startswith("batch 0: rows in 1 = loaded 1 + rejected 0 + dropped 0; ")


def test_a_contract_stops_the_stream_or_quarantines(shop: Pipeline) -> None:
    write("a.jsonl", {"id": 1})
    drain(shop, contract={"columns": "freeze"})
    write("b.jsonl", {"id": 2}, {"id": 3, "color": "red"})
    with pytest.raises(ContractError) as refused:
        drain(shop)
    assert str(refused.value) == (
        f"{Path.cwd()}/raw/b.jsonl:2: shop.raw.color: the data needs a new column for color, first seen with "
        '"red", and the contract has columns: freeze; declare the column, or load with the contract columns: '
        "evolve"
    )
    assert rows_of(shop, "raw") == [{"id": 1}]
    (batch,) = drain(shop, on_violation="quarantine")
    assert (batch.batch_id, counts_of(batch), batch.discards) == (1, (2, 1, 0, 1), 1)
    assert rows_of(shop, "raw") == [{"id": 1}, {"id": 2}]
    (discard,) = shop.destination.query("main", "_trellis_discards")
    place = f"{Path.cwd()}/raw/b.jsonl"
    assert (discard["file"], discard["position"], discard["value"]) == (place, 2, "red")
    assert shop.schema.tables["raw"].hints["schema_contract"] == {"columns": "freeze"}


def test_a_batch_of_nothing_but_rejects_goes_on_unless_the_user_limits_them(shop: Pipeline) -> None:
    write("a.jsonl", "oops")
    (batch,) = drain(shop)
    assert counts_of(batch) == (1, 0, 1, 0)
    write("b.jsonl", "oops")
    with pytest.raises(ContractError, match="1 of 1 records rejected"):
        drain(shop, max_rejected=0)


def test_other_formats_and_merges_stream_too(shop: Pipeline) -> None:
    write("1.csv", "id,name", "1,Ann", "2,Bob")
    options = {"mode": "merge", "keys": "id", "strategy": "upsert"}
    drain(shop, table="people", **options)
    write("2.csv", "name,id,note", "Rob,2,x", "broken")
    (batch,) = drain(shop, table="people", **options)
    assert counts_of(batch) == (2, 1, 1, 0)
    assert rows_of(shop, "people") == [
        {"id": "1", "name": "Ann", "note": None},
        {"id": "2", "name": "Rob", "note": "x"},
    ]


def test_another_writer_in_between_is_seen(shop: Pipeline) -> None:
    """The stream remembers the schema, and a load of somebody else changes it."""
    write("a.jsonl", {"id": 1})
    with shop.stream("raw", trigger="100 ms") as stream:
        wait_until(lambda: stream.last is not None)
        write("b.jsonl", {"id": 2})
        wait_until(lambda: stream.last is not None and stream.last.batch_id == 1)
        other = Pipeline("shop", shop.to, engine="inline")
        other.load([{"id": 3, "color": "red"}], table="raw")
        write("c.jsonl", {"id": 4, "size": 5})
        wait_until(lambda: stream.last is not None and stream.last.batch_id == 2)
    assert rows_of(shop, "raw")[2:] == [
        {"id": 3, "color": "red", "size": None},
        {"id": 4, "color": None, "size": 5},
    ]


def test_the_schema_is_read_once(shop: Pipeline, monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[str] = []
    look = Pipeline.look

    def counting(self: Pipeline, schema_name: str = "") -> Any:
        looks.append(schema_name)
        return look(self, schema_name)

    write("a.jsonl", {"id": 1})
    drain(shop)
    monkeypatch.setattr(Pipeline, "look", counting)
    for number in range(4):
        write(f"b{number}.jsonl", {"id": number})
    assert len(drain(shop, read_options={"maxFilesPerTrigger": 1})) == 4
    assert len(looks) == 1


def test_bad_usage_is_refused_at_once(shop: Pipeline, spark: SparkSession) -> None:
    def refused(source: Any, **options: Any) -> str:
        with pytest.raises(UsageError) as refusal:
            shop.stream(source, **options)
        return str(refusal.value)

    assert refused("raw", trigger="often") == (
        "trigger 'often': write available-now, or the time between batches such as '30 seconds' or "
        "'5 minutes'"
    )
    assert refused("raw", on_violation="ignore") == (
        "there is no on_violation 'ignore': it may be one of stop, quarantine"
    )
    assert refused("raw", load_id="x") == (
        "stream takes no option 'load_id'; each batch is a load with an id of its own"
    )
    assert refused("raw", modus="append") == "stream takes no option 'modus': did you mean 'mode'?"
    assert refused(spark.range(1), table="t") == (
        "the DataFrame is no stream; load it with load(), or make it with readStream"
    )
    assert refused([{"id": 1}], table="t") == (
        "a stream cannot be read from a list; give paths, a topic such as kafka://broker/topic, or a "
        "streaming DataFrame"
    )
    assert refused("kafka://broker") == (
        "kafka://broker: write kafka://BROKER[:PORT][,BROKER...]/TOPIC[,TOPIC...]; user and password are "
        "read options (kafka.sasl.jaas.config)"
    )
    assert refused("nowhere") == (
        f"nowhere: Spark cannot read it as a stream of files: Path does not exist: {Path.cwd()}/nowhere"
    )
    inline = Pipeline("shop", shop.to, engine="inline")
    with pytest.raises(UsageError, match="a stream runs on Spark; start it without --engine inline"):
        inline.stream("raw")


def test_a_checkpoint_has_one_stream(shop: Pipeline) -> None:
    """Another start takes it over, as Spark does it."""
    first = shop.stream("raw", trigger="100 ms")
    with shop.stream("raw", trigger="100 ms") as second:
        assert first.wait(WAIT)
        assert first.checkpoint == second.checkpoint
        assert not second.wait(0.1)
