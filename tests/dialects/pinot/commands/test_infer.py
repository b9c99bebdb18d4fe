"""`trellis pinot infer`, as a user sees it."""

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
table rides from 3 rows, 15 columns

  Column      Type       Role       Format              Why
  id          INT        dimension                      whole numbers
  started     TIMESTAMP  date-time  TIMESTAMP           text; main time
  ended       LONG       date-time  EPOCH|MILLISECONDS  whole numbers
  fare        DOUBLE     metric                         fractions and whole numbers
  riders      INT        dimension                      whole numbers
  tags        STRING[]   dimension                      lists of text
  geo.lat     DOUBLE     metric                         fractions and whole numbers
  geo.lon     DOUBLE     metric                         fractions
  stops       JSON       dimension                      lists of objects
  attrs.1     STRING     dimension                      text
  attrs.2     STRING     dimension                      text
  attrs.3     STRING     dimension                      text
  attrs.4     STRING     dimension                      text
  first_name  STRING     dimension                      text
  mix         STRING     dimension                      text and whole numbers are mixed

8 columns may be null: enableColumnBasedNullHandling is on

to look at
  first name  the column is named first_name: names hold no blanks and differ by more than case
  note        no column: it has no values
  mix         text and whole numbers are mixed; whole numbers first at rides.jsonl:2
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
            "enableColumnBasedNullHandling": True,
            "dimensionFieldSpecs": [
                {"name": "id", "dataType": "INT", "fieldType": "DIMENSION", "notNull": True},
                {"name": "n", "dataType": "INT", "fieldType": "DIMENSION", "singleValueField": False},
            ],
            "dateTimeFieldSpecs": [
                {
                    "name": "ts",
                    "dataType": "LONG",
                    "fieldType": "DATE_TIME",
                    "notNull": True,
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
                "type": "INT",
                "role": "DIMENSION",
                "why": "whole numbers",
            },
            {
                "column": "ts",
                "type": "LONG",
                "role": "DATE_TIME",
                "format": "EPOCH|SECONDS",
                "why": "whole numbers; main time",
            },
            {"column": "n", "type": "INT[]", "role": "DIMENSION", "why": "lists of whole numbers"},
        ],
        "notes": [],
    }


def test_the_user_decides_roles_times_and_rows(trellis, lines):
    lines("rides.jsonl", '{"id":1,"on":1704067200,"score":1.5,"n":2,"stops":[{"at":"x"},{"at":"y"}]}')
    ran = trellis(
        "pinot", "infer", "rides.jsonl", "--dimension", "score", "--metric", "n", "--unnest", "stops",
        "--time", "on",
    )  # fmt: skip
    assert (
        ran.out
        == """\
table rides from 1 row, 5 columns

  Column    Type    Role       Format         Why
  id        INT     dimension                 whole numbers
  on        LONG    date-time  EPOCH|SECONDS  whole numbers; main time
  score     DOUBLE  dimension                 fractions; as chosen
  n         INT     metric                    whole numbers; as chosen
  stops.at  STRING  dimension                 text

1 column may be null: enableColumnBasedNullHandling is on"""
    )


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (("--metric", "tags"), "--metric tags: a metric is one number a row, and its values are lists"),
        (("--metric", "fair"), "--metric fair: no such column: did you mean 'fare'?"),
        (("--unnest", "stop"), "--unnest stop: no such list: did you mean 'stops'?"),
        (("--time", "id"), "--time id: its values are whole numbers, not times: texts by ISO 8601, or whole"),
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
