"""A table of Iceberg is replaced by its rows in other columns, and loses no commit that comes meanwhile.

Iceberg's replace does not look for such commits: it drops them. A branch says which rows are replaced, and
the log of the table's metadata whether a commit came after them. Its metadata are still there, so its rows
are written again. A commit that comes after the replace would add files of the earlier types, which nobody
can read: it says from which snapshot it was planned, and Iceberg refuses it as no descendant of that.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final, Literal

from trellis.destinations.lake.formats import LABEL_PROPERTY, SNAPSHOT_PROPERTY
from trellis.destinations.lake.spark_sql import SparkStatements
from trellis.destinations.sql.names import quoted
from trellis.errors import DestinationError
from trellis.schema.model import NOTHING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row

BRANCHES: Final = "trellis_replacement_"
"""What the names of branches begin with that say which rows of a table are replaced."""
_MAIN: Final = "main"
_OURS: Final = "trellis.replacement"
"""The property of a snapshot that says which commit of a replacement it is."""
_FIRST_ATTEMPTS: Final = 5
_NUMBER: Final = re.compile(r"/(?:v(\d+)|(\d+)-[^/]*?)(?:\.gz)?\.metadata\.json(?:\.gz)?$")
"""The number of a file of metadata, as catalogs name it: one more with each commit."""


class TableReplacement:
    """`table` is the name of a table in statements, `items` the value of each of its columns."""

    def __init__(self, spark: SparkStatements, table: str, items: Mapping[str, str] = NOTHING) -> None:
        self.spark = spark
        self.table = table
        self.items = dict(items)
        self.branch = f"{BRANCHES}{secrets.token_hex(6)}"
        self._commits = 0

    def execute(self, create: str) -> None:
        """Replace the table by `create`, a statement without its query. Raises DestinationError."""
        self.spark.run(f"ALTER TABLE {self.table} CREATE BRANCH {self.branch} RETAIN 1 DAYS")
        try:
            (pinned,) = self._branches(self.branch).values()  # an empty table gets an empty snapshot
            items = ", ".join(f"{value} AS {quoted(column)}" for column, value in self.items.items())
            rows = f"SELECT {items} FROM {self.table} VERSION AS OF '{self.branch}'"
            replaced = self._commit(f"{create} AS {rows}", {LABEL_PROPERTY: self.branch})
            self._restore(pinned, replaced)
        finally:
            self._drop_branch(self.branch)

    def check_earlier(self) -> None:
        """Raises DestinationError where a replacement did not end that dropped commits of others."""
        for branch, pinned in self._branches(BRANCHES).items():
            replaced = self._snapshot_with(LABEL_PROPERTY, branch)
            if replaced is None:  # its rows are still there
                continue
            lost = self._find_lost(branch, pinned, replaced)
            if lost is not None:
                raise DestinationError(
                    f"{self.table}: a load that wrote its rows anew has not committed again what other "
                    f"writers committed meanwhile, which is in {lost}; if no such load is running any more, "
                    "read it there with Spark's format iceberg, run ALTER TABLE "
                    f"{self.table} DROP BRANCH {branch}, and load it again"
                )
            self._drop_branch(branch)

    def _branches(self, start: str) -> dict[str, int]:
        """The snapshots of the branches whose names begin so."""
        rows = self.spark.run(f"SELECT name, snapshot_id FROM {self.table}.refs")
        return {row["name"]: int(row["snapshot_id"]) for row in rows if row["name"].startswith(start)}

    def _drop_branch(self, branch: str) -> None:
        self.spark.run(f"ALTER TABLE {self.table} DROP BRANCH IF EXISTS {branch}")

    def _restore(self, pinned: int, replaced: int) -> None:
        """Commit again what came between the rows that were read and the commit that replaced them."""
        lost = self._find_lost(self.branch, pinned, replaced)
        if lost is None:
            return
        try:
            last = replaced
            for snapshot in reversed([*self._lost_snapshots(lost, pinned)]):
                last = self._commit_again(lost, snapshot, last)
        except DestinationError as bad:
            raise DestinationError(
                f"{self.table}: another writer committed while the rows were written anew, and what it wrote "
                f"was not put back ({bad}); it is in {lost}: read it there with Spark's format iceberg, and "
                "load it again"
            ) from bad

    def _find_lost(self, branch: str, pinned: int, replaced: int) -> str | None:
        """The file of metadata with the commits that the replacement dropped; None: there were none.

        Some catalogs log it. With others the file is not in the log, and the number of the next one tells.
        """
        log, at = self._metadata_log(branch, replaced)
        before, number = log[at - 1], _number_of(log[at]["file"])
        if number is None or _number_of(before["file"]) == number - 1:
            return None if before["latest_snapshot_id"] == pinned else str(before["file"])
        return self._find_metadata(log[at]["file"], number - 1)

    def _metadata_log(self, branch: str, replaced: int) -> tuple[list[Row], int]:
        """The log of the table's metadata, and the place of the commit that replaced the table.

        A log ends somewhere, but the oldest file that it names has a log, too.
        """
        log = self.spark.run(f"SELECT file, latest_snapshot_id FROM {self.table}.metadata_log_entries")
        while not (at := next((n for n, e in enumerate(log) if e["latest_snapshot_id"] == replaced), 0)):
            try:
                with self.spark.explained():
                    rows = self._read(f"{log[0]['file']}#metadata_log_entries")
                    earlier = rows.select("file", "latest_snapshot_id").collect()[:-1]
            except DestinationError:  # its writers delete old files
                earlier = []
            if not earlier:
                raise DestinationError(
                    f"{self.table}: a load wrote its rows anew, and the files of metadata from then are "
                    "gone, so commits of other writers may be lost; load again what is missing, and run "
                    f"ALTER TABLE {self.table} DROP BRANCH IF EXISTS {branch}"
                )
            log = [*earlier, *log]
        return log, at

    def _find_metadata(self, newer: str, number: int) -> str:
        """The metadata of a number, which the log does not name."""
        folder, _, name = newer.rpartition("/")
        start = f"v{number}." if name.startswith("v") else f"{number:05}-"
        with self.spark.explained():
            files = self.spark.session.read.format("binaryFile").load(f"{folder}/{start}*metadata.json*")
            paths = [row["path"] for row in files.select("path").collect()]
        if len(paths) != 1:
            raise DestinationError(
                f"{self.table}: another writer committed while the rows were written anew, and what it wrote "
                f"is in the file of metadata that begins with {folder}/{start}: there are {len(paths)}"
            )
        return str(paths[0])

    def _lost_snapshots(self, lost: str, pinned: int) -> Iterator[Row]:
        """The snapshots after one, the last one first."""
        with self.spark.explained():
            snapshots = {row["snapshot_id"]: row for row in self._read(f"{lost}#snapshots").collect()}
            references = self._read(f"{lost}#refs")
            (current,) = (row["snapshot_id"] for row in references.collect() if row["name"] == _MAIN)
        while current != pinned:
            if current not in snapshots:
                raise DestinationError("it replaced the table, too")
            yield snapshots[current]
            current = snapshots[current]["parent_id"]

    def _commit_again(self, lost: str, snapshot: Row, last: int) -> int:
        """Commit a snapshot to the table that is there now, under its label; returns the new one."""
        operation, id_ = snapshot["operation"], str(snapshot["snapshot_id"])
        if operation == "replace":  # the same rows in other files
            return last
        if operation == "append":
            bounds = {"start-snapshot-id": str(snapshot["parent_id"]), "end-snapshot-id": id_}
            insert = f"INSERT INTO {self.table}"
        else:
            bounds = {"versionAsOf": id_}
            insert = f"INSERT INTO {self.table} {validated_since(last, 'serializable')} REPLACE WHERE TRUE"
        view = f"{self.branch}_rows"
        labels = {key: value for key, value in snapshot["summary"].items() if key.startswith("trellis.")}
        with self.spark.explained():
            frame = self._read(lost, bounds)
            frame.createOrReplaceTempView(view)
            columns = self.spark.session.table(self.table).columns
        try:
            for field in frame.schema:
                if field.name not in columns:  # it came meanwhile
                    columns.append(field.name)
                    added = f"{quoted(field.name)} {field.dataType.simpleString()}"
                    self.spark.run(f"ALTER TABLE {self.table} ADD COLUMNS ({added})")
            values = (
                self.items.get(name, quoted(name)) if name in frame.columns else "NULL" for name in columns
            )
            return self._commit(f"{insert} SELECT {', '.join(values)} FROM {view}", labels)
        finally:
            self.spark.session.catalog.dropTempView(view)

    def _read(self, location: str, options: Mapping[str, str] | None = None) -> DataFrame:
        return self.spark.session.read.format("iceberg").options(**(options or {})).load(location)

    def _commit(self, statement: str, properties: Mapping[str, str]) -> int:
        """Returns the snapshot that a statement commits with these properties."""
        self._commits += 1
        mark = f"{self.branch}-{self._commits}"
        settings = {f"{SNAPSHOT_PROPERTY}{key}": value for key, value in {**properties, _OURS: mark}.items()}
        self.spark.run(statement, settings)
        snapshot = self._snapshot_with(_OURS, mark)
        assert snapshot is not None, mark
        return snapshot

    def _snapshot_with(self, key: str, value: str) -> int | None:
        """The snapshot with this value of a property."""
        rows = self.spark.run(
            f"SELECT snapshot_id FROM {self.table}.snapshots WHERE summary['{key}'] = '{value}'"
        )
        return int(rows[0]["snapshot_id"]) if rows else None


def validated_since(snapshot: int, isolation: Literal["snapshot", "serializable"]) -> str:
    """The options of an INSERT that fails where the table was replaced after a snapshot.

    It also fails where rows that it replaces were deleted, or, if it is serializable, where any were added.
    """
    return f"WITH ('isolation-level' = '{isolation}', 'validate-from-snapshot-id' = '{snapshot}')"


def validated_append(table: str, snapshot: int, columns: Mapping[str, str], attempt: int) -> str:
    """An INSERT of rows into a table, without its query, that fails where the table was replaced meanwhile.

    Iceberg looks for that only if an INSERT replaces rows, so this one replaces none. The first attempts fail
    for any commit since a snapshot, read no lists of files, and are appends to all readers. The last ones
    read these lists, do not fail for rows that others append, and are overwrites to those who read changes.
    """
    least = {"STRING": "''", "BIGINT": "-9223372036854775808"}
    no_row = [f"{quoted(name)} < {least[type_]}" for name, type_ in columns.items() if type_ in least]
    if attempt >= _FIRST_ATTEMPTS and no_row:
        return f"INSERT INTO {table} {validated_since(snapshot, 'snapshot')} REPLACE WHERE {no_row[0]}"
    return f"INSERT INTO {table} {validated_since(snapshot, 'serializable')} REPLACE WHERE FALSE"


def _number_of(file: str) -> int | None:
    name = _NUMBER.search(file)
    return int(name[1] or name[2]) if name else None
