"""What differs between the warehouses of RudderStack.

Nothing else in this dialect asks a warehouse for its name; it reads the fields of its `Provider`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Final, Literal, get_args

from trellis.errors import UsageError, nearest
from trellis.warehouses.catalog.databases import (
    BIGQUERY,
    CLICKHOUSE,
    POSTGRES,
    REDSHIFT,
    SNOWFLAKE,
    SQL_SERVER,
    SYNAPSE,
)
from trellis.warehouses.catalog.lakes import ATHENA, DATABRICKS
from trellis.warehouses.warehouse import Warehouse

Neutral = Literal["int", "bigint", "float", "boolean", "datetime", "string", "text", "json"]
NEUTRAL: Final[tuple[Neutral, ...]] = get_args(Neutral)
Types = Mapping[Neutral, str]
"""The native type of every neutral one."""


@dataclass(frozen=True)
class Policy:
    """How rows go into a table (section 9).

    In merge mode the latest row per `keys` goes in, and `on_match` says what becomes of the one that is
    there. In append mode nothing is looked up: `survivors` of the same choice within the load, all rows
    `raw`, or as in `merge` mode. Of users, `coalesce_latest` merges the latest non-NULL values
    into the stored row, `append-merged` adds the merged row as a new one, `append` adds every row.
    """

    on_match: Literal["replace", "keep", "append"]
    append: Literal["survivors", "raw", "merge"]
    users: Literal["coalesce_latest", "append-merged", "append"] = "coalesce_latest"
    keys: tuple[str, ...] = ("id",)
    prefer_append: bool = False
    overwrites_for_etl: bool = False
    """Rows of cloud and singer sources replace existing rows, whatever `on_match` is."""


@dataclass(frozen=True)
class Provider:
    """One warehouse, under the name it has in `integrations`.

    `words`, in upper case, cannot be names of tables and columns, nor of schemas but for `other_words`: these
    are words for only one of the two.
    """

    name: str
    warehouse: Warehouse
    types: Types = field(hash=False)
    policy: Policy

    words: frozenset[str] = frozenset()
    other_words: frozenset[str] = frozenset()
    max_name: int | None = 127
    """Characters of the longest name of a table or column; None without a limit."""
    database: str | None = None
    """The schema where the user names no `database`; None where schemas are named after sources."""

    stream: bool = False
    lake: bool = False
    identities: bool = False
    """Whether identity resolution can be switched on."""

    json_paths: bool = False
    full_event: Neutral = "string"
    """The type of column `rudder_event`."""
    text_beyond: int | None = None
    """Strings of more UTF-16 code units than this are text."""
    max_string: int | None = None
    """Strings are cut to this, or to the length of a longer column."""
    blank_is_null: bool = False
    """Strings of white space alone load as NULL."""
    uuid_ts_in_seconds: bool = False
    loaded_at: bool = False
    """Whether every row has the column `loaded_at` beside `uuid_ts`."""

    max_columns: int | None = None
    beyond_columns: Literal["fail", "tell"] = "tell"
    """A table with more than `max_columns` fails, or is left to the warehouse."""

    @property
    def case(self) -> Literal["lower", "upper"]:
        return "upper" if self.warehouse.identifiers.folds == "upper" else "lower"

    @property
    def namespace_words(self) -> frozenset[str]:
        return self.words ^ self.other_words

    @property
    def json_type(self) -> Neutral:
        """The type of the column that a JSON path gives: string where the warehouse has none for JSON."""
        return "string" if self.types["json"] == self.types["string"] else "json"

    def __reduce__(self) -> tuple[Any, ...]:
        return provider_of, (self.name,)


def _types(
    int_: str,
    float_: str,
    boolean: str,
    datetime: str,
    string: str,
    json: str | None = None,
) -> Types:
    natives = (int_, int_, float_, boolean, datetime, string, string, json or string)
    return MappingProxyType(dict(zip(NEUTRAL, natives, strict=True)))


_APPEND: Final = Policy("append", "raw", users="append")

_POSTGRES = Provider(
    "POSTGRES",
    POSTGRES,
    _types("bigint", "numeric", "boolean", "timestamptz", "text", "jsonb"),
    Policy("replace", "survivors"),
    POSTGRES.identifiers.reserved_words,
    frozenset(("TO",)),
    max_name=POSTGRES.identifiers.max_length,
    json_paths=True,
    full_event="json",
    blank_is_null=True,
    max_columns=POSTGRES.max_columns,
)
_REDSHIFT = Provider(
    "RS",
    REDSHIFT,
    _types("bigint", "double precision", "boolean", "timestamp", "varchar(65535)", "super"),
    Policy("replace", "raw"),
    REDSHIFT.identifiers.reserved_words,
    frozenset(("TIMESTAMP", "UUID")),
    json_paths=True,
    full_event="text",
    text_beyond=512,
    max_columns=REDSHIFT.max_columns,
)
_SNOWFLAKE = Provider(
    "SNOWFLAKE",
    SNOWFLAKE,
    _types("number", "double precision", "boolean", "timestamp_tz", "varchar", "variant"),
    Policy("keep", "raw", overwrites_for_etl=True),
    SNOWFLAKE.identifiers.reserved_words,
    identities=True,
    json_paths=True,
    full_event="json",
)
_SNOWPIPE = replace(_SNOWFLAKE, name="SNOWPIPE_STREAMING", policy=_APPEND, stream=True, identities=False)
_BIGQUERY = Provider(
    "BQ",
    BIGQUERY,
    _types("INTEGER", "FLOAT", "BOOLEAN", "TIMESTAMP", "STRING"),
    Policy("append", "raw", users="append-merged", prefer_append=True),
    BIGQUERY.identifiers.reserved_words,
    identities=True,
    json_paths=True,
    uuid_ts_in_seconds=True,
    loaded_at=True,
    max_columns=BIGQUERY.max_columns,
)
_BIGQUERY_STREAM = replace(
    _BIGQUERY, name="BQSTREAM_ALL_EVENTS", policy=_APPEND, stream=True, identities=False
)
_DELTA = Provider(
    "DELTALAKE",
    DATABRICKS,
    _types("BIGINT", "DOUBLE", "BOOLEAN", "TIMESTAMP", "STRING"),
    Policy("replace", "survivors"),
    DATABRICKS.identifiers.reserved_words | {"EVENT_DATE"},
)
_CLICKHOUSE = Provider(
    "CLICKHOUSE",
    CLICKHOUSE,
    _types("Int64", "Float64", "UInt8", "DateTime", "String"),
    Policy("replace", "merge", keys=("received_at", "id")),
    database="rudder",
    max_columns=1000,
)
_SQL_SERVER = Provider(
    "MSSQL",
    SQL_SERVER,
    _types("bigint", "decimal(28,10)", "bit", "datetimeoffset", "nvarchar(512)"),
    Policy("replace", "merge"),
    SQL_SERVER.identifiers.reserved_words,
    full_event="json",
    max_string=512,
    blank_is_null=True,
    max_columns=SQL_SERVER.max_columns,
)
_SYNAPSE = replace(
    _SQL_SERVER,
    name="AZURE_SYNAPSE",
    warehouse=SYNAPSE,
    types=_types("bigint", "decimal(28,10)", "bit", "datetimeoffset", "varchar(512)"),
)
_S3 = Provider(
    "S3_DATALAKE",
    ATHENA,
    _types("bigint", "double", "boolean", "timestamp", "varchar(65535)"),
    _APPEND,
    ATHENA.identifiers.reserved_words,
    max_name=None,
    lake=True,
    max_columns=10_000,
    beyond_columns="fail",
)
_GCS, _AZURE = (
    replace(_S3, name=name, words=words.reserved_words, max_columns=None, beyond_columns="tell")
    for name, words in (("GCS_DATALAKE", BIGQUERY.identifiers), ("AZURE_DATALAKE", SQL_SERVER.identifiers))
)

PROVIDERS: Mapping[str, Provider] = MappingProxyType(
    {
        provider.name: provider
        for provider in (
            *(_POSTGRES, _REDSHIFT, _SNOWFLAKE, _SNOWPIPE, _BIGQUERY, _BIGQUERY_STREAM, _DELTA),
            *(_CLICKHOUSE, _SQL_SERVER, _SYNAPSE, _S3, _GCS, _AZURE),
        )
    }
)


def provider_of(name: str) -> Provider:
    """The warehouse of this name. Raises UsageError.

    >>> provider_of("RS").types["float"]
    'double precision'
    >>> provider_of("postgre")
    Traceback (most recent call last):
    ...
    trellis.errors.UsageError: there is no warehouse 'postgre': did you mean 'POSTGRES'?
    """
    if name not in PROVIDERS:
        raise UsageError(f"there is no warehouse {name!r}{nearest(name.upper(), PROVIDERS)}")
    return PROVIDERS[name]


_HOMES: Mapping[str, str] = {"parquet": "S3_DATALAKE"}


def home_provider(family: str) -> str:
    """The provider whose rules a destination of this family follows if the user names none.

    >>> home_provider("parquet"), home_provider("duckdb")
    ('S3_DATALAKE', 'POSTGRES')
    """
    return _HOMES.get(family, "POSTGRES")
