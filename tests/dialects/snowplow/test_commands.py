"""`trellis registry lint`, `ddl` and `suggest` on a folder of schemas."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import sqlglot
from sqlglot.expressions import Alter

COLUMNS = ["berth", "arrived_at", "draught_m", "agent", "pilot", "cargo", "tug_count"]


def ddl(trellis: Any, *words: str) -> dict[str, Any]:
    ran = trellis("registry", "ddl", "--at", "schemas", "--json", *words)
    assert (ran.code, ran.err) == (0, "")
    document: dict[str, Any] = json.loads(ran.out)
    return document


def change(path: Path, **parts: object) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **parts}))


def test_lint_of_sound_schemas(trellis: Any, schemas: Path) -> None:
    ran = trellis("registry", "lint", "--at", "schemas/")
    assert (ran.code, ran.out) == (0, "5 schemas: 0 errors, 0 warnings, 0 remarks")


@pytest.mark.parametrize(
    ("overlay", "message"),
    [
        ("{", "not JSON: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"),
        (
            '{"/brth": {"column": "dock"}}',
            "org_harbor_vessel_call_1 has no column of /brth: did you mean '/berth'?",
        ),
        (
            '{"/berth": {"colum": "dock"}}',
            "/berth: expected the texts column, type, encode and the number position",
        ),
    ],
)
def test_lint_of_an_overlay_that_does_not_fit(
    trellis: Any, schemas: Path, overlay: str, message: str
) -> None:
    (schemas / "1.overlay.json").write_text(overlay)
    ran = trellis("registry", "lint", "--at", "schemas", "--json")
    [issue] = json.loads(ran.out)["issues"]
    assert (ran.code, issue["file"], issue["linter"], issue["message"]) == (
        1,
        "org.harbor/vessel_call/jsonschema/1.overlay.json",
        "overlay",
        message,
    )
    ran = trellis("registry", "push", "schemas", "--at", "sqlite:registry.db")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == f"error: schemas/org.harbor/vessel_call/jsonschema/1.overlay.json: {message}"


def test_lint_ends_with_1_where_there_is_an_error(trellis: Any, schemas: Path) -> None:
    change(schemas / "1-0-0", properties={"berth": {"type": "integer", "minimum": 9, "maximum": 3}})
    (schemas / "1-1-0").write_text("{")
    (schemas / "1-2-1").write_bytes(b"\xff\xfe{")
    (schemas / ".DS_Store").write_bytes(b"\xff")
    (schemas / "1-2-0").rename(schemas / "1-2-5")
    ran = trellis("registry", "lint", "--at", "schemas", "--json")
    report = json.loads(ran.out)
    assert (ran.code, report["schemas"], report["errors"]) == (1, 5, 4)
    errors = [issue for issue in report["issues"] if issue["level"] == "ERROR"]
    folder = "org.harbor/vessel_call/jsonschema"
    assert errors == [
        {
            "file": f"{folder}/1-0-0",
            "level": "ERROR",
            "linter": "numericMinimumMaximum",
            "pointer": "/properties/berth",
            "message": "minimum 9 is greater than maximum 3; no value can fit",
        },
        {
            "file": f"{folder}/1-1-0",
            "level": "ERROR",
            "linter": "json",
            "pointer": "",
            "message": (
                "not JSON: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"
            ),
        },
        {
            "file": f"{folder}/1-2-1",
            "level": "ERROR",
            "linter": "json",
            "pointer": "",
            "message": "not UTF-8 text (byte 1); save it as UTF-8",
        },
        {
            "file": f"{folder}/1-2-5",
            "level": "ERROR",
            "linter": "path",
            "pointer": "",
            "message": f"self says {folder}/1-2-0; move the file there, or correct self",
        },
    ]


def test_remarks_are_listed_when_asked_for(trellis: Any, schemas: Path) -> None:
    change(schemas / "1-0-0", properties={"berth": {"type": "string", "maxLength": 5}})
    words = ("registry", "lint", "--at", "schemas")
    assert "description" not in trellis(*words).out
    assert "description is missing" in trellis(*words, "--info").out
    assert trellis(*words, "--info", "--skip", "description").out == (
        "5 schemas: 0 errors, 0 warnings, 0 remarks"
    )


def test_ddl_of_a_family(trellis: Any, schemas: Path) -> None:
    (table,) = ddl(trellis, "org.harbor/vessel_call", "--target", "redshift")["tables"]
    assert (table["table"], table["uri"], table["recovers"]) == (
        "org_harbor_vessel_call_1",
        "iglu:org.harbor/vessel_call/jsonschema/1-2-1",
        None,
    )
    assert [column["name"] for column in table["columns"]][9:] == COLUMNS
    assert table["columns"][8:10] == [
        {"name": "ref_parent", "type": "VARCHAR(255)", "encode": "ZSTD", "nullable": False, "pointer": None},
        {"name": "berth", "type": "VARCHAR(12)", "encode": "ZSTD", "nullable": False, "pointer": "/berth"},
    ]
    assert table["sql"].startswith("CREATE TABLE IF NOT EXISTS atomic.org_harbor_vessel_call_1 (\n")


def test_ddl_until_a_version_goes_by_the_order_of_the_list(trellis: Any, schemas: Path) -> None:
    (table,) = ddl(trellis, "org.harbor/vessel_call/1-0-1", "--target", "spark")["tables"]
    assert [column["name"] for column in table["columns"]][9:] == COLUMNS[:-1]
    assert table["columns"][9]["encode"] is None


def test_scripts_between_versions(trellis: Any, schemas: Path) -> None:
    words = ("org.harbor/vessel_call", "--target", "postgres", "--from", "1-2-0", "--dataset", "web")
    (script,) = ddl(trellis, *words)["scripts"]
    assert script == {
        "from": "iglu:org.harbor/vessel_call/jsonschema/1-2-0",
        "to": "iglu:org.harbor/vessel_call/jsonschema/1-2-1",
        "sql": "BEGIN TRANSACTION;\n"
        '  ALTER TABLE web.org_harbor_vessel_call_1 ADD COLUMN "cargo" VARCHAR(20), '
        'ADD COLUMN "tug_count" SMALLINT;\n'
        "  COMMENT ON TABLE web.org_harbor_vessel_call_1 IS "
        "'iglu:org.harbor/vessel_call/jsonschema/1-2-1';\n"
        "END TRANSACTION;\n",
    }
    ran = trellis("registry", "ddl", "--at", "schemas", *words)
    assert ran.out == script["sql"].strip()


def test_a_version_that_does_not_fit_has_a_table(trellis: Any, schemas: Path) -> None:
    change(schemas / "1-0-1", properties={"berth": {"type": "integer"}}, required=["berth"])
    tables = ddl(trellis, "--target", "redshift")["tables"]
    assert [(table["uri"][-5:], table["recovers"]) for table in tables] == [
        ("1-2-1", None),
        ("1-0-1", "1-0-1"),
    ]
    assert tables[1]["table"].startswith("org_harbor_vessel_call_1_0_1_recovered_")


def test_ddl_of_wide_rows(trellis: Any, schemas: Path) -> None:
    """A schema may be that of an event or of a context. The last version does not fit the others."""
    change(schemas / "1-2-1", properties={"berth": {"type": "integer"}})
    words = ("org.harbor/vessel_call", "--target", "spark", "--layout", "wide")
    main, recovered = ddl(trellis, *words)["tables"]
    names = ("unstruct_event_org_harbor_vessel_call_1", "contexts_org_harbor_vessel_call_1")
    fields = (
        "STRUCT<`arrived_at`: TIMESTAMP_NTZ, `berth`: STRING, `draught_m`: DOUBLE, `agent`: STRING, "
        "`pilot`: BOOLEAN, `cargo`: STRING>"
    )
    types = (fields, f"ARRAY<{fields}>")
    assert (main["table"], main["uri"][-5:], main["recovers"]) == ("events", "1-0-1", None)
    assert [(column["name"], column["type"]) for column in main["columns"]] == [
        *zip(names, types, strict=True)
    ]
    assert main["sql"] == (
        f"ALTER TABLE atomic.events ADD COLUMNS (`{names[0]}` {types[0]}, `{names[1]}` {types[1]});\n"
    )
    assert (recovered["uri"][-5:], recovered["recovers"]) == ("1-2-1", "1-2-1")
    first = recovered["columns"][0]
    assert first["name"].startswith(f"{names[0]}_recovered_1_2_1_")
    assert first["type"] == "STRUCT<`berth`: BIGINT>"
    [script] = ddl(trellis, *words, "--from", "1-2-0")["scripts"]
    assert script["sql"].splitlines()[0] == (
        f"ALTER TABLE atomic.events ADD COLUMNS (`{names[0]}`.`cargo` STRING);"
    )
    assert f"(`{names[1]}`.`element`.`cargo` STRING)" in script["sql"]
    assert f"ADD COLUMNS (`{first['name']}` {first['type']})" in script["sql"]
    for sql in (main["sql"], recovered["sql"], script["sql"]):
        assert {type(statement) for statement in sqlglot.parse(sql, read="databricks")} == {Alter}


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (
            ("--target", "redshift", "--layout", "wide"),
            "layout wide: redshift has no statements for wide rows; expected target spark",
        ),
        (("--target", "spark", "--layout", "wid"), "layout: there is no 'wid': did you mean 'wide'?"),
    ],
)
def test_layouts_that_no_statement_is_written_for(
    trellis: Any, schemas: Path, words: tuple[str, ...], error: str
) -> None:
    ran = trellis("registry", "ddl", "--at", "schemas", *words)
    assert (ran.code, ran.err) == (2, f"error: {error}")


def test_without_the_list_the_order_is_not_known(trellis: Any, schemas: Path) -> None:
    (schemas / "1").unlink()
    words = ("registry", "ddl", "--at", "schemas", "--target", "redshift", "--json")
    ran = trellis(*words)
    assert ran.code == 2
    assert ran.err.startswith(
        "error: org.harbor/vessel_call/jsonschema/1: the order of 1-0-0, 1-0-1, 1-1-0, 1-2-0, 1-2-1 cannot be"
    )
    ran = trellis(*words, "--assume-schemaver-order")
    (table,) = json.loads(ran.out)["tables"]
    assert [column["name"] for column in table["columns"]][9:12] == ["berth", "arrived_at", "cargo"]
    assert ran.err == (
        "note: org.harbor/vessel_call/jsonschema/1: versions are sorted by number, which need not be the "
        "order of their creation"
    )


def test_two_families_of_one_table(trellis: Any, schemas: Path) -> None:
    other = schemas.parents[1] / "VesselCall/jsonschema/1-0-0"
    other.parent.mkdir(parents=True)
    document = json.loads((schemas / "1-0-0").read_text())
    other.write_text(json.dumps({**document, "self": {**document["self"], "name": "VesselCall"}}))
    ran = trellis("registry", "ddl", "--at", "schemas", "--target", "redshift")
    assert ran.code == 2
    assert ran.err == (
        "error: org.harbor/VesselCall/jsonschema/1 and org.harbor/vessel_call/jsonschema/1 have one table, "
        "org_harbor_vessel_call_1; rename one of the schemas"
    )


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["org.harbor/vesel_call"], "schemas has no schema org.harbor/vesel_call: did you mean"),
        (["/vessel_call"], "'/vessel_call' names no schemas: expected com.acme/event"),
        (["org.harbor"], "'org.harbor' names no schemas: expected com.acme/event or com.acme/event/1-0-0"),
        (
            ["org.harbor/vessel_call/1-3-0"],
            "there is no version 1-3-0: it may be one of 1-0-0, 1-1-0, 1-2-0, ",
        ),
        (["--from", "2-0-0"], "--from: none of these schemas has a version 2-0-0"),
        (["--from", "1-3"], "'1-3' is not a version: expected MODEL-REVISION-ADDITION such as 1-0-0"),
        (["--target", "oracle"], "unknown warehouse 'oracle': it may be one of redshift, postgres, spark"),
        (["--at", "nowhere"], "'nowhere' is no registry: expected a URL such as http://127.0.0.1:8081"),
    ],
)
def test_what_is_not_there(trellis: Any, schemas: Path, words: list[str], error: str) -> None:
    ran = trellis("registry", "ddl", "--at", "schemas", "--target", "redshift", *words)
    assert ran.code == 2
    assert ran.err.startswith(f"error: {error}")


def test_a_list_that_differs_from_the_files(trellis: Any, schemas: Path) -> None:
    (schemas / "1-0-1").unlink()
    ran = trellis("registry", "ddl", "--at", "schemas", "--target", "redshift")
    assert ran.code == 2
    assert ran.err == (
        "error: schemas/org.harbor/vessel_call/jsonschema/1: lists 1-0-0, 1-1-0, 1-2-0, 1-0-1, 1-2-1, and "
        "the files are 1-0-0, 1-1-0, 1-2-0, 1-2-1; list each of them once"
    )


def test_a_list_of_other_schemas(trellis: Any, schemas: Path) -> None:
    (schemas / "1").write_text('["iglu:org.harbor/berth/jsonschema/1-0-0"]')
    ran = trellis("registry", "ddl", "--at", "schemas", "--target", "redshift")
    assert (ran.code, ran.err) == (
        2,
        (
            "error: schemas/org.harbor/vessel_call/jsonschema/1: lists "
            "iglu:org.harbor/berth/jsonschema/1-0-0; expected versions of "
            "org.harbor/vessel_call/jsonschema/1 alone"
        ),
    )


def test_the_version_of_a_change(trellis: Any, schemas: Path) -> None:
    ran = trellis("registry", "suggest", "vessel_call-next.json", "--at", "schemas", "--json")
    report = json.loads(ran.out)
    changes = [(change["pointer"], change["rule"], change["needs"]) for change in report.pop("changes")]
    assert report == {
        "schema": "iglu:org.harbor/vessel_call/jsonschema",
        "base": "1-2-1",
        "version": "2-0-0",
        "needs": "MODEL",
        "profiles": {"redshift": "MODEL", "spark": "REVISION"},
    }
    assert changes == [
        ("/properties/berth", "bound tightened", "REVISION"),
        ("/properties/tugCount", "bound loosened", "ADDITION"),
        ("/properties/flag", "property added", "ADDITION"),
        ("/properties/tugCount", "table cannot follow", "MODEL"),
    ]


def test_the_version_depends_on_the_warehouses(trellis: Any, schemas: Path) -> None:
    words = ("registry", "suggest", "vessel_call-next.json", "--at", "schemas")
    assert trellis(*words, "--profile", "spark").out.splitlines()[-1] == (
        "org.harbor/vessel_call can be 1-3-0: it follows 1-2-1"
    )
    assert trellis(*words, "--from", "1-9-9").err == (
        "error: there is no version 1-9-9: it may be one of 1-0-0, 1-1-0, 1-2-0, 1-0-1, 1-2-1"
    )


def test_a_file_of_the_folder_is_not_compared_with_itself(trellis: Any, schemas: Path) -> None:
    path = schemas / "1-2-2"
    path.write_text((schemas / "1-2-1").read_text().replace("1-2-1", "1-2-2"))
    ran = trellis("registry", "suggest", str(path), "--at", "schemas")
    assert ran.out == "org.harbor/vessel_call can be 1-2-2: it follows 1-2-1"
    path.unlink()
    ran = trellis("registry", "suggest", str(schemas / "1-2-1"), "--at", "schemas", "--json")
    assert (json.loads(ran.out)["base"], json.loads(ran.out)["version"]) == ("1-2-0", "1-2-1")


def test_the_first_version_of_a_schema_and_others_that_are_broken(trellis: Any, schemas: Path) -> None:
    (schemas / "1-0-0").write_text("{")
    document = json.loads((schemas / "1-1-0").read_text())
    path = schemas.parents[3] / "new.json"
    path.write_text(json.dumps({**document, "self": {**document["self"], "name": "berth[1]"}}))
    assert trellis("registry", "suggest", "new.json", "--at", "schemas").code == 2
    path.write_text(json.dumps({**document, "self": {**document["self"], "name": "berth"}}))
    ran = trellis("registry", "suggest", "new.json", "--at", "schemas")
    assert ran.out == "org.harbor/berth can be 1-0-0: nothing is registered yet"
