"""Statements, to the blank."""

from __future__ import annotations

import pytest
import sqlglot

from dialects.snowplow.families import REDSHIFT, SPARK, document, family, text
from trellis.dialects.snowplow.columns.family_table import merge_family
from trellis.dialects.snowplow.columns.profiles import PROFILES, Profile
from trellis.dialects.snowplow.ddl.migrations import Migration
from trellis.dialects.snowplow.ddl.tables import TableStatements
from trellis.dialects.snowplow.document.schema_document import SchemaDocument

POSTGRES = PROFILES["postgres"]
LANGUAGES = {
    "redshift": "redshift",
    "postgres": "postgres",
    "spark": "databricks",
    "duckdb": "duckdb",
}
EVERY_TYPE = {
    "bigint": {"type": "integer"},
    "boolean": {"type": "boolean"},
    "char": {"type": "string", "minLength": 2, "maxLength": 2},
    "date": {"type": "string", "format": "date"},
    "decimal": {"type": "integer", "maximum": 0.5},
    "double": {"type": "number"},
    "int": {"type": "integer", "maximum": 40000},
    "money": {"type": "number", "multipleOf": 0.01},
    "smallint": {"type": "integer", "maximum": 1},
    "timestamp": {"type": "string", "format": "date-time"},
    "varchar": {"type": "string"},
}
REDSHIFT_TABLE = """\
CREATE TABLE IF NOT EXISTS atomic.org_harbor_vessel_call_1 (
  "schema_vendor"  VARCHAR(128)     ENCODE ZSTD      NOT NULL,
  "schema_name"    VARCHAR(128)     ENCODE ZSTD      NOT NULL,
  "schema_format"  VARCHAR(128)     ENCODE ZSTD      NOT NULL,
  "schema_version" VARCHAR(128)     ENCODE ZSTD      NOT NULL,
  "root_id"        CHAR(36)         ENCODE RAW       NOT NULL,
  "root_tstamp"    TIMESTAMP        ENCODE ZSTD      NOT NULL,
  "ref_root"       VARCHAR(255)     ENCODE ZSTD      NOT NULL,
  "ref_tree"       VARCHAR(1500)    ENCODE ZSTD      NOT NULL,
  "ref_parent"     VARCHAR(255)     ENCODE ZSTD      NOT NULL,
  "varchar"        VARCHAR(4096)    ENCODE ZSTD      NOT NULL,
  "bigint"         BIGINT           ENCODE ZSTD,
  "boolean"        BOOLEAN          ENCODE RUNLENGTH,
  "char"           CHAR(2)          ENCODE ZSTD,
  "date"           DATE             ENCODE ZSTD,
  "decimal"        DECIMAL          ENCODE ZSTD,
  "double"         DOUBLE PRECISION ENCODE RAW,
  "int"            INT              ENCODE ZSTD,
  "money"          DECIMAL (36, 2)  ENCODE ZSTD,
  "smallint"       SMALLINT         ENCODE ZSTD,
  "timestamp"      TIMESTAMP        ENCODE ZSTD,
  FOREIGN KEY (root_id) REFERENCES atomic.events(event_id)
)
DISTSTYLE KEY DISTKEY (root_id) SORTKEY (root_tstamp);

COMMENT ON TABLE atomic.org_harbor_vessel_call_1 IS 'iglu:org.harbor/vessel_call/jsonschema/1-0-0';
"""
SPARK_TABLE = """\
CREATE TABLE IF NOT EXISTS atomic.org_harbor_vessel_call_1 (
  `schema_vendor`  STRING    NOT NULL,
  `schema_name`    STRING    NOT NULL,
  `schema_format`  STRING    NOT NULL,
  `schema_version` STRING    NOT NULL,
  `root_id`        STRING    NOT NULL,
  `root_tstamp`    TIMESTAMP NOT NULL,
  `ref_root`       STRING    NOT NULL,
  `ref_tree`       STRING    NOT NULL,
  `ref_parent`     STRING    NOT NULL,
  `berth`          STRING    NOT NULL,
  `arrived_at`     TIMESTAMP
)
USING DELTA TBLPROPERTIES ('delta.enableTypeWidening' = 'true');

COMMENT ON TABLE atomic.org_harbor_vessel_call_1 IS 'iglu:org.harbor/vessel_call/jsonschema/1-0-0';
"""


def table_sql(documents: list[SchemaDocument], profile: Profile) -> str:
    table = merge_family(documents, profile)
    return TableStatements(profile, "atomic", table.name).create(table.columns, table.key)


def script(before: list[SchemaDocument], after: list[SchemaDocument], profile: Profile) -> str:
    tables = (merge_family(documents, profile) for documents in (before, after))
    return Migration.between(*tables).script(profile, "atomic")


def test_a_table_of_every_type_in_redshift() -> None:
    assert table_sql([document("1-0-0", EVERY_TYPE, ["varchar"])], REDSHIFT) == REDSHIFT_TABLE


def test_a_table_in_spark() -> None:
    assert table_sql(family("1-0-0"), SPARK) == SPARK_TABLE


@pytest.mark.parametrize("profile", PROFILES.values(), ids=lambda profile: profile.name)
def test_the_language_of_the_warehouse_takes_the_statements(profile: Profile) -> None:
    old, new = document("1-0-0", {"a": text(5)}), document("1-0-1", {**EVERY_TYPE, "a": text(9)})
    statements = sqlglot.parse(
        table_sql([old, new], profile) + script([old], [old, new], profile), LANGUAGES[profile.name]
    )
    assert all(statements)


def test_r62_one_version_later() -> None:
    documents = family()
    assert script(documents[:1], documents[:2], REDSHIFT) == (
        "BEGIN TRANSACTION;\n"
        '  ALTER TABLE atomic.org_harbor_vessel_call_1 ADD COLUMN "draught_m" DOUBLE PRECISION ENCODE RAW;\n'
        "  COMMENT ON TABLE atomic.org_harbor_vessel_call_1 IS "
        "'iglu:org.harbor/vessel_call/jsonschema/1-1-0';\n"
        "END TRANSACTION;\n"
    )


def test_nothing_new_is_a_comment() -> None:
    documents = [document("1-0-0", {"a": text(5)}), document("1-0-1", {"a": text(4)})]
    assert script(documents[:1], documents, REDSHIFT) == (
        "COMMENT ON TABLE atomic.org_harbor_vessel_call_1 IS "
        "'iglu:org.harbor/vessel_call/jsonschema/1-0-1';\n"
    )


def test_columns_are_resized_before_the_transaction_in_redshift_alone() -> None:
    documents = [document("1-0-0", {"a": text(5)}), document("1-0-1", {"a": text(9), "b": text(1)})]
    resized, begin, *_ = script(documents[:1], documents, REDSHIFT).splitlines()
    assert (resized, begin) == (
        'ALTER TABLE atomic.org_harbor_vessel_call_1 ALTER COLUMN "a" TYPE VARCHAR(9);',
        "BEGIN TRANSACTION;",
    )
    begin, resized, *_ = script(documents[:1], documents, POSTGRES).splitlines()
    assert begin == "BEGIN TRANSACTION;"
    assert resized == (
        '  ALTER TABLE atomic.org_harbor_vessel_call_1 ALTER COLUMN "a" TYPE VARCHAR(9) '
        'USING CAST("a" AS VARCHAR(9));'
    )


def test_spark_drops_not_null() -> None:
    documents = [
        document("1-0-0", {"a": {"type": "integer", "maximum": 5}}, ["a"]),
        document("1-0-1", {"a": {"type": "integer", "maximum": 50000}}),
    ]
    assert script(documents[:1], documents, SPARK).splitlines()[:2] == [
        "ALTER TABLE atomic.org_harbor_vessel_call_1 ALTER COLUMN `a` TYPE INT;",
        "ALTER TABLE atomic.org_harbor_vessel_call_1 ALTER COLUMN `a` DROP NOT NULL;",
    ]


def test_names_are_quoted_where_they_have_to_be() -> None:
    table = merge_family([document("1-0-0", {'a"b': text(1)})], REDSHIFT)
    statement = TableStatements(REDSHIFT, 'My "data"', table.name).create(table.columns, table.key)
    assert statement.startswith('CREATE TABLE IF NOT EXISTS "My ""data""".org_harbor_vessel_call_1 (\n')
    assert '  "a""b"           VARCHAR(1)    ENCODE ZSTD' in statement
    assert 'REFERENCES "My ""data""".events(event_id)' in statement


def test_a_key_that_is_half_a_surrogate_pair_has_a_name() -> None:
    table = merge_family([document("1-0-0", {"\ud800" * 70: text(1)})], POSTGRES)
    assert [column.name for column in table.columns] == ["\ufffd" * 18 + "_f774d9a4"]


def test_a_long_name_is_shortened_in_the_same_way_everywhere() -> None:
    table = merge_family([document("1-0-0", {"ä" * 40: text(1), "ä" * 41: text(1)})], POSTGRES)
    assert [column.name for column in table.columns] == ["ä" * 27 + "_437be29e", "ä" * 27 + "_289052c4"]
