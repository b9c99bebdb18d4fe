"""trellis.yaml"""

from __future__ import annotations

import jsonschema_rs
import pytest
from ruamel.yaml import YAML

from trellis.errors import TrellisError
from trellis.pipelines.config import KEYS, Config, parse_config

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


PROFILES = """\
to: duckdb:shop.duckdb
options: {max_nesting: 2}
master: local[2]
profiles:
  prod:
    to: postgresql://${PGUSER}:${PGPASSWORD}@db/shop
    options: {naming: direct}
    engine: inline
  small: {table: orders}
"""


def test_a_profile_wins_over_the_rest_of_the_file():
    variables = {"PGUSER": "me", "PGPASSWORD": "a$b"}
    assert parse_config(PROFILES, profile="prod", variables=variables) == Config(
        to="postgresql://me:a$b@db/shop", options={"max_nesting": 2, "naming": "direct"}, engine="inline"
    )
    assert parse_config(PROFILES, variables={}).to == "duckdb:shop.duckdb"
    small = parse_config(PROFILES, profile="small", variables={})
    assert (small.to, small.table) == ("duckdb:shop.duckdb", "orders")


@pytest.mark.parametrize(
    ("value", "expanded"),
    [
        ("${A}", "1"),
        ("x${A}y${B}", "x1y2"),
        ("${NO:-default}", "default"),
        ("${NO:-}", ""),
        ("${EMPTY:-default}", "default"),
        ("$$${A} $A $5", "$1 $A $5"),
        ("${A", "${A"),
    ],
)
def test_variables_of_the_environment(value, expanded):
    variables = {"A": "1", "B": "2", "EMPTY": ""}
    assert parse_config(f"table: '{value}'", variables=variables).table == expanded
    assert parse_config(f"keys: ['{value}']", variables=variables).keys == (expanded,)
    config = parse_config(f"options: {{warehouse: '{value}'}}", variables=variables)
    assert config.options == {"warehouse": expanded}


NOT_SET = (
    ", line 2: staging: the environment variable TMP is not set; set it, or give a default: ${TMP:-value}"
)


@pytest.mark.parametrize(
    ("text", "profile", "fault"),
    [
        (
            "to: a\nstaging: ${TMP}",
            None,
            NOT_SET,
        ),
        ("to: ${NO}\nprofiles: {abc: {to: x}}", "abd", ": there is no profile 'abd': did you mean 'abc'?"),
        ("to: x", "prod", ": there is no profile 'prod'"),
        ("profiles:\n  a:\n    tabel: x", None, ", line 3: unknown key 'tabel': did you mean 'table'?"),
        ("profiles:\n  a: 1", None, ", line 2: profile a takes a mapping of keys such as to"),
        ("profiles: [a]", None, ", line 1: profiles takes a mapping of names to settings"),
    ],
)
def test_faults_of_profiles_and_variables(text, profile, fault):
    with pytest.raises(TrellisError) as bad:
        parse_config(text, profile=profile, variables={})
    assert str(bad.value) == f"trellis.yaml{fault}"


def test_the_profile_of_the_command_line_and_of_the_environment(trellis, lines, monkeypatch):
    lines("trellis.yaml", "to: duckdb:shop.duckdb", "profiles: {test: {to: 'duckdb:test.duckdb'}}")
    lines("a.jsonl", '{"id":1}')
    assert trellis("load", "a.jsonl", "--json").json["destination"] == "duckdb:shop.duckdb"
    chosen = trellis("--profile", "test", "load", "a.jsonl", "--json")
    assert chosen.json["destination"] == "duckdb:test.duckdb"
    monkeypatch.setenv("TRELLIS_PROFILE", "test")
    assert trellis("load", "a.jsonl", "--json").json["destination"] == "duckdb:test.duckdb"
    monkeypatch.setenv("TRELLIS_PROFILE", "tset")
    unknown = trellis("load", "a.jsonl")
    assert unknown.err == "error: trellis.yaml: there is no profile 'tset': did you mean 'test'?"


def test_a_profile_needs_a_file(trellis, lines):
    lines("a.jsonl", '{"id":1}')
    ran = trellis("--profile", "test", "load", "a.jsonl")
    assert ran.code == 2
    assert ran.err == "error: profile test: there is no trellis.yaml here that has it; name one with --config"


def test_the_json_schema_takes_what_the_parser_takes(trellis):
    schema = jsonschema_rs.validator_for(trellis("config", "schema").json)
    document = trellis("config", "schema").json
    assert [*document["properties"]][:-1] == [key for key in document["properties"] if key in KEYS]
    assert {*document["properties"]} == {*KEYS, "profiles"}
    assert all("description" in schema for schema in document["properties"].values())
    for text in (WHOLE, PROFILES, "max_rejected: 3", "mode: ${MODE}"):
        assert schema.is_valid(YAML(typ="safe").load(text)), text
    for text in ("tabel: a", "to: 3", "mode: mrege", "keys: {a: 1}", "profiles: {a: {tabel: x}}"):
        assert not schema.is_valid(YAML(typ="safe").load(text)), text
