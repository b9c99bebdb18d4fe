"""trellis.yaml"""

from __future__ import annotations

import pytest

from trellis.errors import TrellisError
from trellis.pipelines.config import Config, parse_config

WHOLE = """\
to: duckdb:shop.duckdb
dataset: raw
dialect: dlt
name: shop
table: orders
mode: merge
strategy: upsert
keys: [id, region]
merge_keys: day
contract: {columns: freeze}
schema: shop.yaml
options: {max_nesting: 2}
master: local[2]
"""


def test_every_key():
    assert parse_config(WHOLE) == Config(
        "duckdb:shop.duckdb", "raw", "dlt", "shop", "orders", "merge", "upsert", ("id", "region"), ("day",),
        "shop.yaml", {"columns": "freeze"}, {"max_nesting": 2}, "local[2]",
    )  # fmt: skip


def test_the_command_line_wins():
    override = Config(to="duckdb:b.duckdb", options={"naming": "direct"}, remote="sc://x")
    assert override.over(parse_config(WHOLE)) == Config(
        "duckdb:b.duckdb", "raw", "dlt", "shop", "orders", "merge", "upsert", ("id", "region"), ("day",),
        "shop.yaml", {"columns": "freeze"}, {"max_nesting": 2, "naming": "direct"}, None, "sc://x",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("command", "file", "engine"),
    [
        (Config(), "engine: inline", Config(engine="inline")),
        (Config(engine="spark"), "engine: inline", Config(engine="spark")),
        (Config(master="local[2]"), "engine: inline", Config(master="local[2]")),
        (Config(engine="inline"), "remote: sc://x", Config(engine="inline")),
        (Config(engine="spark"), "remote: sc://x", Config(engine="spark", remote="sc://x")),
    ],
)
def test_a_spark_on_the_command_line_wins_over_inline_in_the_file(command, file, engine):
    assert command.over(parse_config(file)) == engine


FAULTS = {
    "to: a\ntabel: b": "trellis.yaml, line 2: unknown key 'tabel': did you mean 'table'?",
    "to: 3": "trellis.yaml, line 1: to takes text, not 3",
    "keys: {a: 1}": "trellis.yaml, line 1: keys takes the name of a column or a list of them, not {'a': 1}",
    "options: max_nesting": "trellis.yaml, line 1: options takes a mapping such as {max_nesting: 2}, not",
    "read_options: sep": "trellis.yaml, line 1: read_options takes a mapping such as {header: true}, not",
    "- to": "trellis.yaml: a configuration is a mapping of keys such as to, table and mode",
    "to: [": "trellis.yaml, line 1: not valid YAML: ",
    "master: a\nremote: b": "trellis.yaml: master and remote name two different Sparks; keep one",
}


@pytest.mark.parametrize("text", FAULTS)
def test_faults(text):
    with pytest.raises(TrellisError) as bad:
        parse_config(text)
    assert str(bad.value).startswith(FAULTS[text])
    assert bad.value.exit_code == 2


def test_it_is_found_by_itself(trellis, lines, folder):
    lines("trellis.yaml", "to: duckdb:shop.duckdb", "table: orders", "options:", "  max_nesting: 0")
    lines("a.jsonl", '{"id":1,"deep":{"x":1}}')
    report = trellis("load", "a.jsonl", "--json").json
    assert report["destination"] == "duckdb:shop.duckdb"
    assert [(table["name"], table["rows"]) for table in report["tables"]] == [("orders", 1)]
    other = trellis("load", "a.jsonl", "--json", "--to", "duckdb:other.duckdb").json
    assert other["destination"] == "duckdb:other.duckdb"
    assert trellis("schema", "show").out.startswith("schema shop, version")


def test_another_file(trellis, lines):
    lines("prod.yaml", "to: duckdb:prod.duckdb")
    lines("a.jsonl", '{"id":1}')
    assert (
        trellis("load", "a.jsonl", "--config", "prod.yaml", "--json").json["destination"]
        == "duckdb:prod.duckdb"
    )
