"""What all tests share: one Spark session per process, the real records, the count of conformance rows."""

from __future__ import annotations

import os
import re
import secrets
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from lake_jars import lake_settings
from s3_server import S3Server, running
from trellis.dialects import DEFAULT_DIALECT

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

HERE = Path(__file__).parent

os.environ["TRELLIS_ENGINE"] = "inline"  # no JVM, here and in processes; tests of Spark name it
_HISTORY = TemporaryDirectory(prefix="trellis-history-")
os.environ["TRELLIS_HISTORY"] = _HISTORY.name

settings.register_profile("dev", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.register_profile("few", deadline=None, max_examples=5)
settings.load_profile(os.environ.get("TRELLIS_PROPERTIES") or ("ci" if os.environ.get("CI") else "dev"))


# --- Spark -----------------------------------------------------------------------------------------------


def start_spark(folder: Path) -> SparkSession:
    """A small local session: two cores, 1 GB, UTC, `caseSensitive`; all it writes is under `folder`."""
    os.environ.setdefault("TZ", "UTC")
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")

    from pyspark.sql import SparkSession

    options = {
        "spark.driver.memory": "1g",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.extraJavaOptions": "-Duser.timezone=UTC -XX:+UseSerialGC -XX:TieredStopAtLevel=1",
        "spark.local.dir": str(folder / "local"),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.sql.artifact.isolation.enabled": "false",
        "spark.sql.caseSensitive": "true",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "2",
        "spark.default.parallelism": "2",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "ERROR",
        **lake_settings(),
    }
    builder = SparkSession.builder.master("local[2]").appName("trellis tests")
    for name, value in options.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """The session of this process, started when the first test asks for it."""
    session = start_spark(tmp_path_factory.mktemp("spark"))
    yield session
    session.stop()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A test that asks for `spark` is marked so, and comes after all that do not."""
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.spark)
    items.sort(key=lambda item: item.get_closest_marker("spark") is not None)


# --- S3 --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def s3_server() -> Iterator[S3Server]:
    with running() as server:
        yield server


@pytest.fixture
def s3(s3_server: S3Server, monkeypatch: pytest.MonkeyPatch) -> S3Server:
    """An S3 server that this process reaches by what its environment says."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    for name, value in s3_server.environment.items():
        monkeypatch.setenv(name, value)
    s3_server.requests.clear()
    return s3_server


@pytest.fixture
def bucket(s3: S3Server) -> str:
    """The name of a new bucket on it."""
    name = f"raw-{secrets.token_hex(4)}"
    s3.files.create_dir(name)
    return name


# --- Data ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real records beside the project (its README says whose they are)."""
    folder = HERE.parent.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("no ../shared/data beside the project: the real records are not part of it")
    return folder


# --- Conformance -----------------------------------------------------------------------------------------
#
# dialects/<name>/rows.txt lists the ids of a dialect's conformance table, one a line. A test speaks for a row
# if it has the row's id in its name (`test_n01_...`) or in its parameters (`[N01]`). A row passes if at least
# one test speaks for it and none of those fails or is skipped.
#
# dialects/<name>/seed_rows.txt lists the lines of the original's own documentation: `seed_d046` has tests of
# its own, `seed_d057 = F02` is shown by the rows after the sign, `seed_d029 - advice` cannot be observed and
# does not count.

SEED_LINES = {path.parent.name: path for path in sorted((HERE / "dialects").glob("*/seed_rows.txt"))}
ROWS = {
    path.parent.name: frozenset(path.read_text().split())
    for path in sorted((HERE / "dialects").glob("*/rows.txt"))
}
DIALECT = re.compile(r"\bdialects/(\w+)/")
ROW_ID = re.compile(r"(?<![A-Za-z0-9])([A-Za-z]\d{2,3})(?![A-Za-z0-9])")
SEED_ID = re.compile(r"seed_[a-z]\d{2,3}")
outcomes: dict[tuple[str, str], set[str]] = defaultdict(set)


def rows_of(test: str) -> set[tuple[str, str]]:
    """The (dialect, row) pairs that a test speaks for."""
    path, _, name = test.partition("::")
    dialect = dialect_of(path)
    rows = {(dialect, row) for row in row_ids(name) & ROWS.get(dialect, frozenset())}
    lines = {(_seed_of(line), line) for line in SEED_ID.findall(name)}
    return rows | lines


def dialect_of(path: str) -> str:
    """The dialect whose rows the tests of a file speak for; outside of the dialects' folders the default one.

    >>> dialect_of("tests/dialects/acme/conformance/test_names.py")
    'acme'
    >>> dialect_of("tests/sources/test_hints.py") == DEFAULT_DIALECT
    True
    """
    folder = DIALECT.search(path)
    return folder[1] if folder else DEFAULT_DIALECT


def row_ids(name: str) -> set[str]:
    """
    >>> sorted(row_ids("test_n01_n02_snake")), row_ids("test_coerce[C07-double]"), row_ids("test_seed_d046")
    (['N01', 'N02'], {'C07'}, {'D046'})
    """
    return {match.upper() for match in ROW_ID.findall(name.replace("_", " "))}


def _seed_of(line: str) -> str:
    """The dialect whose lines begin with the letter of this one: the first of its name."""
    return next((f"{dialect} seed" for dialect in SEED_LINES if dialect[0] == line[5]), "")


def seed_lines(text: str) -> dict[str, frozenset[str]]:
    """The lines that can be observed, each with the rows that show it, if it has no tests of its own.

    >>> seed_lines("seed_d001 - a definition\\nseed_d046\\nseed_d057 = F02 K02")
    {'seed_d046': frozenset(), 'seed_d057': frozenset({...})}
    """
    rows = {}
    for line in text.splitlines():
        name, _, rest = line.partition(" ")
        if not rest.startswith("-"):
            rows[name] = frozenset(rest.removeprefix("=").split())
    return rows


def passes(dialect: str, row: str) -> bool:
    return outcomes.get((dialect, row)) == {"passed"}


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.when == "call" or report.outcome != "passed":
        for row in rows_of(report.nodeid):
            outcomes[row].add(report.outcome)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for dialect, rows in ROWS.items():
        if any(known == dialect for known, _ in outcomes):
            passing = sum(passes(dialect, row) for row in rows)
            terminalreporter.write_line(f"conformance ({dialect}): {passing} of {len(rows)} rows pass")
    for dialect, path in SEED_LINES.items():
        seed = f"{dialect} seed"
        if any(known == seed for known, _ in outcomes):
            lines = seed_lines(path.read_text())
            passing = sum(
                all(passes(dialect, row) for row in shown) if shown else passes(seed, line)
                for line, shown in lines.items()
            )
            terminalreporter.write_line(f"conformance ({seed}): {passing} of {len(lines)} lines pass")
