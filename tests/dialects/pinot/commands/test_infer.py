"""`trellis pinot infer` and `trellis pinot convert`, as a user sees them."""

from __future__ import annotations

import json

import pytest

LINES = (
    """{"id":1,"started":"2024-01-01T00:00:00Z","ended":1704067800000,"fare":12.5,"riders":2,"tags":["a","b"],
    "geo":{"lat":1.5,"lon":2.5},"stops":[{"at":"x"}],"attrs":{"1":"x","2":"y"},"first name":"Ann"}""",
    """{"id":2,"started":"2024-01-02T00:00:00Z","ended":1704154200000,"fare":2,"riders":3,"tags":[],
    "geo":{"lat":1,"lon":2.5},"note":null,"attrs":{"3":"x"},"mix":1}""",
    """{"id":3,"started":"2024-01-03T10:00:00Z","ended":1704276000000,"fare":3.25,"riders":2,"tags":["c"],
    "geo":{"lat":1,"lon":2.5},"attrs":{"4":"x"},"mix":"one"}""",
)
RIDES = tuple(" ".join(line.split()) for line in LINES)

TABLE = """\
table rides from 3 rows, 12 columns

  Column      Type       Role       Format              Why
  id          LONG       dimension                      whole numbers 1 to 3; an identifier, room to grow
  started     TIMESTAMP  date-time  TIMESTAMP           ISO 8601 to the second; main time, never null
  ended       LONG       date-time  EPOCH|MILLISECONDS  milliseconds since 1970
  fare        DOUBLE     metric                         whole numbers and fractions; named like an amount
  riders      INT        dimension                      whole numbers 2 to 3; only 2 different values
  tags        STRING[]   dimension                      lists of text
  geo.lat     DOUBLE     dimension                      whole numbers and fractions; named like a label
  geo.lon     DOUBLE     dimension                      fractions; named like a label
  stops       JSON       dimension                      lists of objects
  attrs       MAP        complex                        the keys are data, 4 of them, with values of one kind
  first_name  STRING     dimension                      text
  mix         STRING     dimension                      text and whole numbers are mixed

4 columns may be null: enableColumnBasedNullHandling is on

to look at
  tags        1 empty list becomes null
  first name  the column is named first_name: names must not contain blanks
  note        no column: only nulls
  mix         text and whole numbers are mixed: all become text
  mix         1 value is whole numbers, first at rides.jsonl:2
"""


def test_every_column_with_its_reason(trellis, lines):
    lines("rides.jsonl", *RIDES)
    ran = trellis("pinot", "infer", "rides.jsonl")
    assert (ran.code, ran.err) == (0, "")
    assert f"{ran.out}\n" == TABLE


def test_both_documents_are_written_and_pinot_would_take_them(trellis, lines, folder):
    lines("rides.jsonl", *RIDES)
    ran = trellis("pinot", "infer", "rides.jsonl", "--out", "docs", "--name", "trips")
    assert ran.out.splitlines()[-1] == "wrote docs/trips-schema.json and docs/trips-table.json"
    assert json.loads((folder / "docs" / "trips-table.json").read_text()) == {
        "tableName": "trips",
        "tableType": "OFFLINE",
        "segmentsConfig": {"timeColumnName": "started", "replication": "1", "segmentPushType": "APPEND"},
        "tenants": {},
        "tableIndexConfig": {"loadMode": "MMAP"},
        "metadata": {},
        "ingestionConfig": {
            "transformConfigs": [{"columnName": "first_name", "transformFunction": '"first name"'}],
            "complexTypeConfig": {
                "delimiter": ".",
                "fieldsToUnnest": [],
                "collectionNotUnnestedToJson": "NON_PRIMITIVE",
            },
        },
    }
    checked = trellis(
        "pinot", "validate", "docs/trips-schema.json", "--table-config", "docs/trips-table.json"
    )
    assert checked.code == 0


def test_what_is_proposed_can_be_loaded(trellis, lines):
    lines("rides.jsonl", *RIDES)
    trellis("pinot", "infer", "rides.jsonl", "--out", ".")
    ran = trellis(
        "load", "rides.jsonl", "--dialect", "pinot", "--schema", "rides-schema.json",
        "--option", "table_config=rides-table.json", "--option", "strict=true", "--to", "duckdb:r.duckdb",
    )  # fmt: skip
    assert (ran.code, ran.err) == (0, "")
    assert "rows in 3 = loaded 3 + rejected 0 + dropped 0" in ran.out


def test_as_one_json_object(trellis, lines):
    lines("rides.jsonl", '{"id":1,"ts":1700000000,"n":[1,null]}')
    assert trellis("pinot", "infer", "rides.jsonl", "--json").json == {
        "rows": 1,
        "schema": {
            "schemaName": "rides",
            "enableColumnBasedNullHandling": False,
            "dimensionFieldSpecs": [
                {"name": "id", "dataType": "LONG", "fieldType": "DIMENSION"},
                {"name": "n", "dataType": "INT", "fieldType": "DIMENSION", "singleValueField": False},
            ],
            "dateTimeFieldSpecs": [
                {
                    "name": "ts",
                    "dataType": "LONG",
                    "fieldType": "DATE_TIME",
                    "format": "EPOCH|SECONDS",
                    "granularity": "1:SECONDS",
                }
            ],
        },
        "table": {
            "tableName": "rides",
            "tableType": "OFFLINE",
            "segmentsConfig": {"timeColumnName": "ts", "replication": "1", "segmentPushType": "APPEND"},
            "tenants": {},
            "tableIndexConfig": {"loadMode": "MMAP"},
            "metadata": {},
        },
        "columns": [
            {
                "column": "id",
                "type": "LONG",
                "role": "DIMENSION",
                "why": "always 1; an identifier, room to grow",
            },
            {
                "column": "ts",
                "type": "LONG",
                "role": "DATE_TIME",
                "format": "EPOCH|SECONDS",
                "why": "seconds since 1970; main time, never null",
            },
            {"column": "n", "type": "INT[]", "role": "DIMENSION", "why": "lists, always 1"},
        ],
        "lints": [{"column": "n", "said": "1 null inside lists is left out"}],
    }


def test_the_user_decides_roles_times_and_rows(trellis, lines):
    lines("rides.jsonl", '{"id":1,"on":"31.01.2024","score":1.5,"n":2,"stops":[{"at":"x"},{"at":"y"}]}')
    ran = trellis(
        "pinot", "infer", "rides.jsonl", "--dimension", "score", "--metric", "n", "--unnest", "stops",
        "--time", "on=dd.MM.yyyy",
    )  # fmt: skip
    assert (
        ran.out
        == """\
table rides from 1 row, 6 columns

  Column     Type    Role       Format              Why
  id         LONG    dimension                      always 1; an identifier, room to grow
  on         STRING  dimension                      text
  on_millis  LONG    date-time  EPOCH|MILLISECONDS  on by dd.MM.yyyy, which does not sort; main time as chosen
  score      DOUBLE  dimension                      fractions; a dimension as chosen
  n          INT     metric                         always 2; a metric as chosen
  stops.at   STRING  dimension                      text"""
    )


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (("--metric", "tags"), "--metric tags: a metric has one value a row, and this column"),
        (("--metric", "fair"), "--metric fair: no such column: did you mean 'fare'?"),
        (("--unnest", "stop"), "--unnest stop: no such list: did you mean 'stops'?"),
        (("--time", "started=yyyy"), "--time started=yyyy: some values do not follow this format; `"),
        (("--time", "id"), "--time id: no time format matches every value (whole numbers 1 to 3); give"),
        (("--time", "id=EPOCH|WEEKS"), "--time id=EPOCH|WEEKS: Invalid time unit: WEEKS"),
    ],
)  # fmt: skip
def test_what_cannot_be(trellis, lines, argv, message):
    lines("rides.jsonl", *RIDES)
    ran = trellis("pinot", "infer", "rides.jsonl", *argv)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"error: {message}")


def test_a_source_that_is_not_there(trellis, lines):
    lines("empty.jsonl")
    ran = trellis("pinot", "infer", "empty.jsonl")
    text = "empty.jsonl: no records to infer a schema from"
    assert (ran.code, ran.err) == (2, f"error: {text}")
    assert trellis("pinot", "infer", "none.jsonl").code == 2


def test_what_trellis_learned_becomes_schemas_of_pinot(trellis, lines, folder):
    lines("rides.jsonl", '{"id":1,"started":"2024-01-01T00:00:00Z","fare":1.5,"stops":[{"at":"x"}]}')
    trellis("load", "rides.jsonl", "--to", "duckdb:s.duckdb")
    ran = trellis("pinot", "convert", "--at", "duckdb:s.duckdb", "--out", "docs")
    assert (ran.code, ran.err) == (0, "")
    assert (
        ran.out
        == """\
table rides, 5 columns

  Column        Type       Role       Format     Why
  id            LONG       dimension             bigint; named like a label
  started       TIMESTAMP  date-time  TIMESTAMP  timestamp; main time by its name
  fare          DOUBLE     metric                double; named like an amount
  _dlt_load_id  STRING     dimension             text; bookkeeping of Trellis
  _dlt_id       STRING     dimension             text; bookkeeping of Trellis

3 columns may be null: enableColumnBasedNullHandling is on

to look at
  rides__stops  a nested table: Pinot has none, so its rows are left out
  started       the main time may be null: the time of the load is stored then

wrote docs/rides-schema.json and docs/rides-table.json"""
    )
    assert json.loads((folder / "docs" / "rides-schema.json").read_text())["schemaName"] == "rides"
    shown = trellis("pinot", "convert", "--at", "duckdb:s.duckdb", "--table", "rides", "--json").json
    assert [table["schema"]["schemaName"] for table in shown["tables"]] == ["rides"]


def test_a_table_that_was_not_loaded(trellis, lines):
    lines("rides.jsonl", '{"id":1,"stops":[{"at":"x"}]}')
    trellis("load", "rides.jsonl", "--to", "duckdb:s.duckdb")
    ran = trellis("pinot", "convert", "--at", "duckdb:s.duckdb", "--table", "rides__stops")
    assert (ran.code, ran.err) == (2, "error: --table rides__stops: it is nested in rides")


def test_files_of_a_bucket(trellis, s3, bucket):
    s3.put(f"{bucket}/raw/rides-2026.jsonl", b'{"id":1}\n{"id":2}\n')
    for source, name in (
        ("raw/rides-2026.jsonl", "rides_2026"),
        ("raw/*.jsonl", "rides_2026"),
        ("raw/", "raw"),
    ):
        ran = trellis("pinot", "infer", f"s3a://{bucket}/{source}", "--json")
        assert (ran.code, ran.err) == (0, "")
        assert (ran.json["schema"]["schemaName"], ran.json["rows"]) == (name, 2)
