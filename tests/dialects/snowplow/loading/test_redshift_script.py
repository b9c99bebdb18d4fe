"""The statements that load runs into Redshift, to the blank, and as a parser of Redshift's SQL reads them."""

from __future__ import annotations

from pathlib import Path

import pytest
import sqlglot
from sqlglot import expressions

from dialects.snowplow.enriched import VESSEL_CALL, enriched_line, vessel_call, write_registry
from dialects.snowplow.families import document, text
from dialects.snowplow.loading.runs import TABLE, shred_for
from trellis.dialects.snowplow.client.locator import open_registry
from trellis.dialects.snowplow.runs.loading.redshift_script import RedshiftScript, read_catalog
from trellis.dialects.snowplow.runs.warehouses.tables import RealTable
from trellis.errors import SchemaError, UsageError

ROLE = "arn:aws:iam::123456789012:role/loader"
METADATA = (
    "schema_vendor schema_name schema_format schema_version root_id root_tstamp ref_root ref_tree ref_parent"
)
COPY_OPTIONS = (
    rf"IAM_ROLE '{ROLE}' DELIMITER '\t' TIMEFORMAT 'auto' TRUNCATECOLUMNS ACCEPTINVCHARS MAXERROR 10"
)


def script(run: Path, registry: str, tables: dict[str, RealTable]) -> list[str]:
    [statements] = scripts([run], registry, tables)
    return statements


def scripts(runs: list[Path], registry: str, tables: dict[str, RealTable]) -> list[list[str]]:
    """The statements of each run."""
    script = RedshiftScript(open_registry(registry), "atomic", "s3://acme/shredded/", ROLE)
    statements = []
    for run, text_of_script in zip(runs, script.scripts(runs, tables), strict=True):
        assert all(sqlglot.parse(text_of_script, "redshift"))
        assert text_of_script.startswith(f"-- {run.name}\n")
        statements.append(text_of_script.partition("\n")[2].removesuffix(";\n").split(";\n"))
    return statements


def catalog(folder: Path, comment: str, columns: str) -> dict[str, RealTable]:
    """A table with these columns of schemas, as a query of the catalog shows it."""
    rows = [(name, "character varying(128)", "f") for name in METADATA.split()]
    rows += [(*column.split(":"), "t") for column in columns.split()]  # type: ignore[misc]
    file = folder / "catalog.csv"
    file.write_text("".join(f'{TABLE},{comment},{name},"{type_}",{null}\n' for name, type_, null in rows))
    return read_catalog(file)


def test_columns_are_resized_before_the_one_transaction(tmp_path: Path) -> None:
    documents = [
        document("1-0-0", {"agent": text(20)}),
        document("1-0-1", {"agent": text(40), "cargo": text(9)}),
    ]
    registry = write_registry(tmp_path, documents=documents)
    line = enriched_line(1, vessel_call("1-0-1", agent="A"))
    run = shred_for("redshift", tmp_path, registry, [line], compression="GZIP")
    tables = catalog(tmp_path, f"{VESSEL_CALL}1-0-0", "agent:varchar(20)")
    statements = script(run, registry, tables)
    assert statements[:2] == [
        f'ALTER TABLE atomic.{TABLE} ALTER COLUMN "agent" TYPE VARCHAR(40)',
        "BEGIN TRANSACTION",
    ]
    assert statements[2].startswith("CREATE TABLE IF NOT EXISTS atomic.manifest (")
    assert statements[3].startswith("CREATE TABLE IF NOT EXISTS atomic.events (")
    assert statements[5:7] == [
        f'ALTER TABLE atomic.{TABLE} ADD COLUMN "cargo" VARCHAR(9) ENCODE ZSTD',
        f"COMMENT ON TABLE atomic.{TABLE} IS '{VESSEL_CALL}1-0-1'",
    ]
    copies = [statement for statement in statements if statement.startswith("COPY ")]
    assert copies[0].startswith('COPY atomic.events ("app_id", "platform", "etl_tstamp", ')
    atomic = "vendor=com.snowplowanalytics.snowplow/name=atomic/model=1"
    assert copies[0].endswith(
        f"FROM 's3://acme/shredded/{run.name}/{atomic}/' {COPY_OPTIONS} EMPTYASNULL FILLRECORD GZIP"
    )
    names = ", ".join(f'"{name}"' for name in (*METADATA.split(), "agent", "cargo"))
    family = "vendor=org.harbor/name=vessel_call/model=1"
    assert copies[1:] == [
        f"COPY atomic.{TABLE} ({names}) FROM 's3://acme/shredded/{run.name}/{family}/' {COPY_OPTIONS} GZIP"
    ]
    assert statements[-2].startswith('INSERT INTO atomic.manifest ("base", "types", ')
    assert f"VALUES ('s3://acme/shredded/{run.name}/', " in statements[-2]
    assert statements[-1] == "END TRANSACTION"


def test_a_table_that_is_absent_is_created_in_the_transaction(tmp_path: Path) -> None:
    registry = write_registry(tmp_path)
    run = shred_for("redshift", tmp_path, registry, [enriched_line(1, vessel_call("1-0-0", berth="A"))])
    statements = script(run, registry, {})
    assert statements[0] == "BEGIN TRANSACTION"
    created = [statement.split(" (")[0] for statement in statements if statement.startswith("CREATE ")]
    assert created == [f"CREATE TABLE IF NOT EXISTS atomic.{name}" for name in ("manifest", "events", TABLE)]
    assert statements[2].endswith(
        ",\n  PRIMARY KEY (event_id)\n)\nDISTSTYLE KEY DISTKEY (event_id) SORTKEY (collector_tstamp)"
    )
    parsed = sqlglot.parse(";".join(statements), "redshift")
    copies = [statement for statement in parsed if isinstance(statement, expressions.Copy)]
    assert len(copies) == 2


def test_a_run_goes_into_the_tables_as_the_run_before_leaves_them(tmp_path: Path) -> None:
    documents = [
        document("1-0-0", {"agent": text(20)}),
        document("1-0-1", {"agent": text(40), "cargo": text(9)}),
    ]
    registry = write_registry(tmp_path, documents=documents)
    runs = [
        shred_for("redshift", tmp_path, registry, [enriched_line(1, vessel_call(version, agent="A"))])
        for version in ("1-0-0", "1-0-1", "1-0-1")
    ]
    first, second, third = scripts(runs, registry, {})
    changes = [
        f'ALTER TABLE atomic.{TABLE} ALTER COLUMN "agent" TYPE VARCHAR(40)',
        f'ALTER TABLE atomic.{TABLE} ADD COLUMN "cargo" VARCHAR(9) ENCODE ZSTD',
        f"COMMENT ON TABLE atomic.{TABLE} IS '{VESSEL_CALL}1-0-1'",
    ]
    assert [len([item for item in script if item.startswith("CREATE ")]) for script in (first, second)] == [
        3,
        1,
    ]
    assert [item for item in second if TABLE in item and not item.startswith("COPY ")] == changes
    assert [item for item in third if TABLE in item and not item.startswith("COPY ")] == []
    tables = catalog(tmp_path, f"{VESSEL_CALL}1-0-0", "agent:varchar(20)")
    _, migrating, after = scripts(runs, registry, tables)
    assert [item for item in migrating if TABLE in item and not item.startswith("COPY ")] == changes
    assert [item for item in after if TABLE in item and not item.startswith("COPY ")] == []


def test_a_run_that_is_incomplete_is_left_out(tmp_path: Path) -> None:
    registry = write_registry(tmp_path)
    run = shred_for("redshift", tmp_path, registry, [enriched_line(1, vessel_call("1-0-0", berth="A"))])
    incomplete = run.with_name("run=2031-04-05-23-00-00")
    incomplete.mkdir()
    script = RedshiftScript(open_registry(registry), "atomic", "s3://acme/shredded/", ROLE)
    first, second = script.scripts([run, incomplete], {})
    assert first.startswith(f"-- {run.name}\n")
    assert second == f"-- {incomplete.name}: left out, as it has no shredding_complete.json\n"


def test_what_was_resized_by_an_attempt_before_is_not_resized_again(tmp_path: Path) -> None:
    documents = [document("1-0-0", {"agent": text(20)}), document("1-0-1", {"agent": text(40)})]
    registry = write_registry(tmp_path, documents=documents)
    run = shred_for("redshift", tmp_path, registry, [enriched_line(1, vessel_call("1-0-1", agent="A"))])
    tables = catalog(tmp_path, f"{VESSEL_CALL}1-0-0", "agent:varchar(40)")
    assert script(run, registry, tables)[0] == "BEGIN TRANSACTION"


@pytest.mark.parametrize("format", ["parquet", "orc"])
def test_typed_files_are_copied_as_such(tmp_path: Path, format: str) -> None:
    registry = write_registry(tmp_path)
    line = enriched_line(1, vessel_call("1-0-0", berth="A"))
    run = shred_for("redshift", tmp_path, registry, [line], format=format)
    copies = [statement for statement in script(run, registry, {}) if statement.startswith("COPY ")]
    assert all(copy.endswith(f"IAM_ROLE '{ROLE}' FORMAT AS {format.upper()}") for copy in copies)


def test_seed_s91_files_go_into_the_columns_that_an_overlay_names(tmp_path: Path) -> None:
    """Also those of a run that was shredded before."""
    registry = write_registry(tmp_path, "1-0-0")
    run = shred_for("redshift", tmp_path, registry, [enriched_line(1, vessel_call("1-0-0", berth="A"))])
    overlay = tmp_path / "registry/org.harbor/vessel_call/jsonschema/1.overlay.json"
    overlay.write_text('{"/berth": {"column": "dock"}}')
    [_, copy] = [statement for statement in script(run, registry, {}) if statement.startswith("COPY ")]
    assert '"ref_parent", "dock", "arrived_at") FROM' in copy


def test_what_the_script_refuses(tmp_path: Path) -> None:
    registry = write_registry(tmp_path)
    run = shred_for("postgres", tmp_path, registry, [enriched_line(1, vessel_call("1-0-0", berth="A"))])
    with pytest.raises(SchemaError, match="shredded for postgres; shred it again with --profile redshift"):
        script(run, registry, {})
    file = tmp_path / "catalog.csv"
    file.write_text("a,b\n")
    with pytest.raises(UsageError, match=r"catalog.csv:1: 2 values; expected table, comment, column, type"):
        read_catalog(file)
