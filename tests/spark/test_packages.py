"""Packages that the session of a command starts with: Spark's own Ivy gets them, here from a folder."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from collections.abc import Iterable
from pathlib import Path

import pytest

import trellis
from lake_jars import lake_settings
from s3_server import S3Server

SOURCES = str(Path(__file__).parents[2] / "src")
PACKAGES = {
    "delta-spark_4.1_2.13-4.4.0": "io.delta",
    "iceberg-spark-runtime-4.1_2.13-1.11.0": "org.apache.iceberg",
    "hadoop-aws-3.4.2": "org.apache.hadoop",
}
"""The jars that loads ask for by name, and their groups; the other ones are what these need."""
NEEDED = "needed"
POM = (
    "<project><modelVersion>4.0.0</modelVersion><groupId>{}</groupId><artifactId>{}</artifactId>"
    "<version>{}</version><dependencies>{}</dependencies></project>"
)
DEPENDENCY = "<dependency><groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version></dependency>"
IVY = (
    '<ivysettings><settings defaultResolver="files"/><resolvers>'
    '<ibiblio name="files" m2compatible="true" root="{}"/></resolvers></ivysettings>'
)


def write_repository(root: Path, jars: Iterable[Path]) -> Path:
    """A repository as Maven has it; returns the settings with which Ivy fetches from it alone."""
    root.mkdir()
    names = {jar: jar.stem.rpartition("-") for jar in jars}
    needed = "".join(
        DEPENDENCY.format(NEEDED, name, version)
        for jar, (name, _, version) in names.items()
        if jar.stem not in PACKAGES
    )
    for jar, (name, _, version) in names.items():
        group = PACKAGES.get(jar.stem, NEEDED)
        folder = root / group.replace(".", "/") / name / version
        folder.mkdir(parents=True)
        (folder / jar.name).symlink_to(jar)
        dependencies = "" if group == NEEDED else needed
        (folder / f"{jar.stem}.pom").write_text(POM.format(group, name, version, dependencies))
    settings = root / "ivysettings.xml"
    settings.write_text(IVY.format(root.as_uri()))
    return settings


@pytest.fixture(scope="module")
def maven(tmp_path_factory: pytest.TempPathFactory) -> Path:
    jars = lake_settings().get("spark.jars", "")
    if not jars:
        pytest.skip("Maven did not get the jars of Delta Lake and Iceberg")
    return write_repository(tmp_path_factory.mktemp("maven") / "repository", map(Path, jars.split(",")))


def command(folder: Path, maven: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command as a user does who has set nothing but where packages come from."""
    conf = folder / "conf"
    conf.mkdir(exist_ok=True)
    ivy = {"spark.jars.ivySettings": maven, "spark.jars.ivy": folder / "ivy"}
    (conf / "spark-defaults.conf").write_text("".join(f"{name} {value}\n" for name, value in ivy.items()))
    variables = {"SPARK_CONF_DIR": str(conf), "PYTHONPATH": SOURCES, "TRELLIS_ENGINE": "spark"}
    return subprocess.run(
        [sys.executable, "-m", "trellis.cli", *words],
        cwd=folder, env={**os.environ, **variables}, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("kind", [pytest.param("delta", marks=pytest.mark.lake), "iceberg"])
def test_a_command_that_merges_starts_with_the_package_of_its_tables(
    tmp_path: Path, maven: Path, kind: str
) -> None:
    for number, line in enumerate(('{"id": 1, "a": 1}\n{"id": 2, "a": 1}\n', '{"id": 2, "a": 2}\n')):
        (tmp_path / f"{number}.jsonl").write_text(line)
        words = ("--to", f"{kind}:lake", "--table", "orders", "--mode", "merge", "--key", "id")
        done = command(tmp_path, maven, "load", f"{number}.jsonl", *words)
        assert (done.returncode, done.stderr) == (0, "")
    orders = trellis.read(f"{kind}:{tmp_path}/lake", "orders", system_columns=False).arrow().to_pylist()
    assert sorted((row["id"], row["a"]) for row in orders) == [(1, 1), (2, 2)]


@pytest.mark.lake
def test_packages_that_cannot_be_fetched_stop_only_what_needs_them(tmp_path: Path) -> None:
    empty = write_repository(tmp_path / "repository", ())
    (tmp_path / "orders.jsonl").write_text('{"id": 1}\n')
    appended = command(tmp_path, empty, "load", "orders.jsonl", "--to", "delta:lake")
    assert (appended.returncode, appended.stderr) == (0, "")
    merge = ("--mode", "merge", "--key", "id")
    merged = command(tmp_path, empty, "load", "orders.jsonl", "--to", "delta:lake", "--table", "o", *merge)
    assert merged.returncode != 0
    assert merged.stderr == (
        "error: the Spark session of this process has no Delta Lake, which merges need, as it could not be "
        "fetched; start it with spark.jars.packages=io.delta:delta-spark_4.1_2.13:4.4.0, "
        "spark.sql.extensions=io.delta.sql.DeltaSparkSessionExtension and spark.sql.catalog.spark_catalog="
        "org.apache.spark.sql.delta.catalog.DeltaCatalog; nothing was loaded\n"
    )
    assert not (tmp_path / "lake" / "o").exists()
    again = command(tmp_path, empty, "load", "orders.jsonl", "--to", "delta:lake", "--table", "o")
    assert again.returncode == 0


@pytest.mark.lake
@pytest.mark.parametrize("verb", ["load", "stream"])
def test_files_in_a_bucket_that_spark_reads(
    tmp_path: Path, maven: Path, s3: S3Server, bucket: str, verb: str
) -> None:
    s3.put(f"{bucket}/raw/a.csv", b"id,name\n1,Ann\n2,Bob\n")
    s3.put(f"{bucket}/raw/b.csv", b"name,id\nCy,3\n")
    words = ("--format", "csv", "--table", "people", "--to", "duckdb:shop.duckdb")
    more = ("--trigger", "available-now", "--checkpoint", f"s3://{bucket}/c") if verb == "stream" else ()
    done = command(tmp_path, maven, verb, f"s3://{bucket}/raw/", *words, *more)
    assert (done.returncode, done.stderr) == (0, "")
    people = trellis.read(f"duckdb:{tmp_path}/shop.duckdb", "people", system_columns=False)
    names = sorted((row["id"], row["name"]) for row in people.arrow().to_pylist())
    assert names == [("1", "Ann"), ("2", "Bob"), ("3", "Cy")]


@pytest.mark.lake
def test_a_table_of_a_lake_is_a_source_without_settings(tmp_path: Path, maven: Path) -> None:
    trellis.pipeline("lake", to=f"delta:{tmp_path}/lake", engine="inline").load([{"id": 1}], table="orders")
    words = ("--format", "delta", "--to", "duckdb:shop.duckdb", "--table", "orders")
    done = command(tmp_path, maven, "load", "lake/orders", *words)
    assert (done.returncode, done.stderr) == (0, "")
    assert trellis.read(f"duckdb:{tmp_path}/shop.duckdb", "orders").arrow().num_rows == 1


def test_a_pyspark_without_metadata_says_for_which_spark_packages_are(tmp_path: Path) -> None:
    """So it lies in the folder of a Spark that was unpacked, by which spark-submit has it."""
    for entry in Path(sysconfig.get_path("purelib")).iterdir():
        if not entry.name.startswith("pyspark-"):
            (tmp_path / entry.name).symlink_to(entry)
    code = "from trellis.destinations.lake.formats import DELTA_FORMAT as delta; print(delta.package)"
    variables = {**os.environ, "PYTHONPATH": f"{SOURCES}{os.pathsep}{tmp_path}"}
    done = subprocess.run(
        [sys.executable, "-S", "-c", code], env=variables, capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("io.delta:delta-spark_4.1_2.13:4.4.0\n", "")
