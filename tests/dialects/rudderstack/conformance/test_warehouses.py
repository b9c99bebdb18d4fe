"""What sets the warehouses apart: sections 1, 6, 7.8 and 9 of the spec as data."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError

import pytest

from trellis.dialects.rudderstack.providers import NEUTRAL, PROVIDERS, Policy, Provider, provider_of
from trellis.errors import UsageError


def having(fact: Callable[[Provider], object]) -> set[str]:
    return {name for name, provider in PROVIDERS.items() if fact(provider)}


def test_all_warehouses_by_their_names() -> None:
    """The eleven names for users, and the two streams."""
    assert [*PROVIDERS] == [
        "POSTGRES",
        "RS",
        "SNOWFLAKE",
        "SNOWPIPE_STREAMING",
        "BQ",
        "BQSTREAM_ALL_EVENTS",
        "DELTALAKE",
        "CLICKHOUSE",
        "MSSQL",
        "AZURE_SYNAPSE",
        "S3_DATALAKE",
        "GCS_DATALAKE",
        "AZURE_DATALAKE",
    ]
    assert all(provider_of(name).name == name for name in PROVIDERS)


def test_an_unknown_warehouse() -> None:
    with pytest.raises(UsageError, match=r"^there is no warehouse 'SNOWFLAK': did you mean 'SNOWFLAKE'\?$"):
        provider_of("SNOWFLAK")
    with pytest.raises(UsageError, match=r"'s3_datalake': did you mean 'S3_DATALAKE'\?$"):
        provider_of("s3_datalake")
    with pytest.raises(UsageError, match="'REDSHIFT': it may be one of POSTGRES, RS, "):
        provider_of("REDSHIFT")


def test_names_of_each() -> None:
    snow = {"SNOWFLAKE", "SNOWPIPE_STREAMING"}
    lakes = {"S3_DATALAKE", "GCS_DATALAKE", "AZURE_DATALAKE"}
    assert having(lambda p: p.case == "upper") == snow
    assert having(lambda p: p.lake) == lakes == having(lambda p: p.max_name is None)
    assert having(lambda p: p.max_name == 63) == {"POSTGRES"}
    assert having(lambda p: p.max_name == 127) == {*PROVIDERS} - lakes - {"POSTGRES"}
    assert having(lambda p: p.stream) == {"SNOWPIPE_STREAMING", "BQSTREAM_ALL_EVENTS"}
    assert having(lambda p: p.database) == {"CLICKHOUSE"}


def test_reserved_words_of_each() -> None:
    others = {"BQSTREAM_ALL_EVENTS": "BQ", "GCS_DATALAKE": "BQ", "SNOWPIPE_STREAMING": "SNOWFLAKE"}
    others |= {"AZURE_DATALAKE": "MSSQL", "AZURE_SYNAPSE": "MSSQL"}
    for name, other in others.items():
        assert provider_of(name).words == provider_of(other).words
    assert having(lambda p: p.words) == having(lambda p: p.namespace_words) == {*PROVIDERS} - {"CLICKHOUSE"}
    assert having(lambda p: "EVENT_DATE" in p.words) == {"DELTALAKE"}


TYPES = {
    "POSTGRES": "bigint bigint numeric boolean timestamptz text text jsonb",
    "RS": "bigint bigint double_precision boolean timestamp varchar(65535) varchar(65535) super",
    "SNOWFLAKE": "number number double_precision boolean timestamp_tz varchar varchar variant",
    "BQ": "INTEGER INTEGER FLOAT BOOLEAN TIMESTAMP STRING STRING STRING",
    "DELTALAKE": "BIGINT BIGINT DOUBLE BOOLEAN TIMESTAMP STRING STRING STRING",
    "CLICKHOUSE": "Int64 Int64 Float64 UInt8 DateTime String String String",
    "MSSQL": "bigint bigint decimal(28,10) bit datetimeoffset nvarchar(512) nvarchar(512) nvarchar(512)",
    "AZURE_SYNAPSE": "bigint bigint decimal(28,10) bit datetimeoffset varchar(512) varchar(512) varchar(512)",
    "S3_DATALAKE": "bigint bigint double boolean timestamp" + " varchar(65535)" * 3,
}


@pytest.mark.parametrize("warehouse", TYPES)
def test_native_types(warehouse: str) -> None:
    natives = [native.replace("_precision", " precision") for native in TYPES[warehouse].split()]
    assert provider_of(warehouse).types == dict(zip(NEUTRAL, natives, strict=True))


def test_native_types_shared() -> None:
    for one, other in (
        ("SNOWFLAKE", "SNOWPIPE_STREAMING"),
        ("BQ", "BQSTREAM_ALL_EVENTS"),
        ("S3_DATALAKE", "GCS_DATALAKE"),
        ("S3_DATALAKE", "AZURE_DATALAKE"),
    ):
        assert provider_of(one).types == provider_of(other).types


def test_json() -> None:
    paths = {"POSTGRES", "RS", "SNOWFLAKE", "SNOWPIPE_STREAMING", "BQ", "BQSTREAM_ALL_EVENTS"}
    assert having(lambda p: p.json_paths) == paths
    assert having(lambda p: p.json_type == "json") == paths - {"BQ", "BQSTREAM_ALL_EVENTS"}
    snow = {"SNOWFLAKE", "SNOWPIPE_STREAMING"}
    assert having(lambda p: p.full_event == "json") == {"POSTGRES", "MSSQL", "AZURE_SYNAPSE", *snow}
    assert having(lambda p: p.full_event == "text") == {"RS"} == having(lambda p: p.text_beyond == 512)


def test_values() -> None:
    assert having(lambda p: p.blank_is_null) == {"POSTGRES", "MSSQL", "AZURE_SYNAPSE"}
    assert (
        having(lambda p: p.max_string == 512) == {"MSSQL", "AZURE_SYNAPSE"} == having(lambda p: p.max_string)
    )
    big_query = {"BQ", "BQSTREAM_ALL_EVENTS"}
    assert having(lambda p: p.loaded_at) == having(lambda p: p.uuid_ts_in_seconds) == big_query
    assert having(lambda p: p.identities) == {"SNOWFLAKE", "BQ"}


def test_column_ceilings() -> None:
    assert {name: provider.max_columns for name, provider in PROVIDERS.items() if provider.max_columns} == {
        "POSTGRES": 1600,
        "RS": 1600,
        "BQ": 10_000,
        "BQSTREAM_ALL_EVENTS": 10_000,
        "CLICKHOUSE": 1000,
        "MSSQL": 1024,
        "AZURE_SYNAPSE": 1024,
        "S3_DATALAKE": 10_000,
    }
    assert having(lambda p: p.beyond_columns == "fail") == {"S3_DATALAKE"}


def test_policies() -> None:
    added = Policy("append", "raw", users="append")
    assert {name: provider.policy for name, provider in PROVIDERS.items()} == {
        "POSTGRES": Policy("replace", "survivors"),
        "RS": Policy("replace", "raw"),
        "SNOWFLAKE": Policy("keep", "raw", overwrites_for_etl=True),
        "SNOWPIPE_STREAMING": added,
        "BQ": Policy("append", "raw", users="append-merged", prefer_append=True),
        "BQSTREAM_ALL_EVENTS": added,
        "DELTALAKE": Policy("replace", "survivors"),
        "CLICKHOUSE": Policy("replace", "merge", keys=("received_at", "id")),
        "MSSQL": Policy("replace", "merge"),
        "AZURE_SYNAPSE": Policy("replace", "merge"),
        "S3_DATALAKE": added,
        "GCS_DATALAKE": added,
        "AZURE_DATALAKE": added,
    }


@pytest.mark.parametrize("warehouse", PROVIDERS)
def test_a_warehouse_is_a_value(warehouse: str) -> None:
    provider = provider_of(warehouse)
    assert pickle.loads(pickle.dumps(provider)) is provider
    assert {provider: 1}[provider] == 1
    with pytest.raises(FrozenInstanceError):
        provider.name = "other"  # type: ignore[misc]
    with pytest.raises(TypeError):
        provider.types["int"] = "text"  # type: ignore[index]
