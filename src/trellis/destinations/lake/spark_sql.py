"""Statements for Spark: those that SQL destinations share, in its words, over staged files as views."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from math import ceil
from threading import RLock
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from trellis.destinations.lake.staged import DataFile, text_of
from trellis.destinations.lake.store import TableSize
from trellis.destinations.sql.keyed import EngineSyntax
from trellis.destinations.sql.literals import string_literal, value_text
from trellis.engine.spark.failures import failure_text, statement_failure
from trellis.engine.spark.packages import request_storage
from trellis.engine.spark.session import cores_of, register_function
from trellis.engine.spark.storage import configure_storage
from trellis.engine.storage.location import escape_glob, spark_location
from trellis.schema.model import NOTHING
from trellis.warehouses.identifiers import BACKTICKS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession

_TOKENS: Final = re.compile(
    r"""`(?:[^`]|``)*` | '(?P<text>(?:[^']|'')*)' | [ ]COLLATE[ ]"C" | "(?P<name>(?:[^"]|"")*)"
      | \bVARCHAR\b | \bTIMESTAMP[ ]WITH[ ]TIME[ ]ZONE\b""",
    re.VERBOSE,
)
_WORDS: Final = {' COLLATE "C"': "", "VARCHAR": "STRING", "TIMESTAMP WITH TIME ZONE": "TIMESTAMP"}
_TEXT: Final = "trellis_text"
"""The function of the session that casts to text."""
_WRITTEN_OTHERWISE: Final = frozenset({"BINARY", "DOUBLE", "FLOAT", "TIMESTAMP"})
_PARTITIONS: Final = "spark.sql.shuffle.partitions"
_PARTITION_SIZE: Final = TableSize(rows=200_000, bytes=16 << 20)
"""What a partition has at most; in a shuffle the bytes are several times as many."""
_PARTITIONS_PER_CORE: Final = 4
ATTEMPTS = 10
_CONCURRENT: Final = re.compile(
    r"DELTA_CONCURRENT|Concurrent(Append|DeleteRead|DeleteDelete|Write|Transaction)Exception"
    r"|(Metadata|Protocol)ChangedException"
    r"|org\.apache\.iceberg\.exceptions\.(ValidationException|CommitFailedException)"
)
_EXISTING: Final = re.compile(
    r"(TABLE_OR_VIEW|TABLE|FIELD|FIELDS|COLUMN)_ALREADY_EXISTS\b|\bAlreadyExistsException"
)
_SESSION: Final = RLock()
"""Settings are those of a session, so the loads of this process use it one after the other."""


def to_spark(statement: str) -> str:
    r"""A statement that DuckDB and PostgreSQL run, in Spark's words.

    >>> print(to_spark('''SELECT CAST(q."a""`b" AS VARCHAR), 'it''s \\' FROM t ORDER BY "c" COLLATE "C"'''))
    SELECT CAST(q.`a"``b` AS STRING), 'it\'s \\' FROM t ORDER BY `c`
    """
    return _TOKENS.sub(_translate, statement)


def spark_literal(value: pa.Scalar, type_: str) -> str:
    """A value of a type in a statement that `to_spark` has not seen yet; Iceberg casts no text by itself.

    >>> spark_literal(pa.scalar("it's"), "STRING"), spark_literal(pa.scalar(b"\\xca"), "BINARY")
    ("CAST('it''s' AS STRING)", "CAST(X'ca' AS BINARY)")
    """
    stored = value.as_py()
    text = f"X'{stored.hex()}'" if isinstance(stored, bytes) else string_literal(value_text(value))
    return f"CAST({text} AS {type_})"


def is_concurrent_commit(failure: Exception) -> bool:
    """Whether another commit to a table came between, so that the statement can be tried again."""
    return _CONCURRENT.search(failure_text(failure)) is not None


def is_schema_conflict(failure: BaseException | None) -> bool:
    """Whether another writer has just created or changed the table that a statement creates or changes."""
    text = failure_text(failure)
    return any(pattern.search(text) for pattern in (_EXISTING, _CONCURRENT))


def _string_literal(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _translate(token: re.Match[str]) -> str:
    if token["name"] is not None:
        return BACKTICKS.quote(token["name"].replace('""', '"'))
    if token["text"] is not None:
        return _string_literal(token["text"].replace("''", "'"))
    return _WORDS.get(token[0], token[0])


@dataclass
class SparkStatements:
    """Statements on a session that starts when the first of them is run. `where` is for messages.

    Temporary views begin with `views`, which no other load has. A staged row has its position in the column
    `place`: a file's name and the number of the row in it, which grow in the order of the input.
    """

    open_session: Callable[[], SparkSession]
    where: str
    views: str = field(default_factory=lambda: f"trellis_{secrets.token_hex(4)}_")
    _created: list[str] = field(default_factory=list)

    @cached_property
    def session(self) -> SparkSession:
        return self.open_session()

    @property
    def syntax(self) -> EngineSyntax:
        newest = "max_by({value}, {turn}) FILTER (WHERE {value} IS NOT NULL)"
        return EngineSyntax(self.views, newest, create="CREATE OR REPLACE TEMPORARY VIEW")

    def run(self, statement: str | Callable[[int], str], settings: Mapping[str, str] = NOTHING) -> list[Row]:
        """The rows that a statement gives. Raises DestinationError.

        With settings it is one that commits, which is tried again where another commit came between; a
        function says what it is in the attempt of a number, from 0.
        """
        with self.explained(), self._set(settings):
            for attempt in range(ATTEMPTS if settings else 1):
                text = statement if isinstance(statement, str) else statement(attempt)
                try:
                    return self.session.sql(to_spark(text)).collect()
                except Exception as bad:
                    if not is_concurrent_commit(bad):
                        raise
                    failure = bad
            raise failure

    def shuffle_settings(self, size: TableSize | None) -> Mapping[str, str]:
        """For a statement that shuffles so much, if that is known: no more partitions than it needs, nor than
        the session has, as each takes time however few rows it gets.
        """
        if size is None:
            return NOTHING
        with self.explained():
            most = str(self.session.conf.get(_PARTITIONS))  # Databricks also has `auto`
            busy = _PARTITIONS_PER_CORE * cores_of(self.session)
        by_rows, by_bytes = size.rows / _PARTITION_SIZE.rows, size.bytes / _PARTITION_SIZE.bytes
        needed = max(busy, ceil(by_rows), ceil(by_bytes))
        return {_PARTITIONS: str(needed)} if most.isdecimal() and needed < int(most) else {}

    def query(self, statement: str) -> DataFrame:
        with self.explained():
            return self.session.sql(to_spark(statement))

    def cast(self, item: str, before: str, after: str) -> str:
        """A value in another type; as text it looks as in every destination, not as Spark writes it."""
        if after != "STRING" or before not in _WRITTEN_OTHERWISE:
            return f"CAST({item} AS {after})"
        with self.explained():
            register_function(self.session, _TEXT, text_of, "string")
        return f"{_TEXT}({item})"

    def create_view(self, name: str, query: str) -> str:
        """A temporary view with the rows of a query; its name in statements."""
        self.run(f"CREATE OR REPLACE TEMPORARY VIEW {self.views}{name} AS {query}")
        self._created.append(f"{self.views}{name}")
        return f"{self.views}{name}"

    def stage(self, name: str, files: Sequence[DataFile], types: Mapping[str, str], place: str) -> str:
        """A temporary view of the rows of files, with columns of these types and the place."""
        view = f"{self.views}{name}"
        quoted = {column: BACKTICKS.quote(column) for column in types}
        if not files:
            nulls = [f"CAST(NULL AS {types[column]}) AS {name}" for column, name in quoted.items()]
            nulls.append(f"CAST(NULL AS STRUCT<f: STRING, n: BIGINT>) AS {place}")
            return self.create_view(name, f"SELECT {', '.join(nulls)} WHERE FALSE")
        request_storage(files[0].path)  # which need not be where the tables are
        with self.explained():
            configure_storage(self.session, files[0].path)
            fields = ", ".join(f"{quoted[column]} {type_}" for column, type_ in types.items())
            paths = (escape_glob(spark_location(file.path)) for file in files)
            rows = self.session.read.schema(fields).parquet(*paths)
            position = f"struct(_metadata.file_path AS f, _metadata.row_index AS n) AS {place}"
            rows.selectExpr(*quoted.values(), position).createOrReplaceTempView(view)
        self._created.append(view)
        return view

    def create_rows(self, name: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """A temporary view, by its whole name, of a few rows of text."""
        with self.explained():
            fields = ", ".join(f"{BACKTICKS.quote(column)} STRING" for column in columns)
            frame = self.session.createDataFrame([tuple(row) for row in rows], fields)
            frame.createOrReplaceTempView(name)
        self._created.append(name)

    def drop_views(self) -> None:
        for view in self._created:
            self.session.catalog.dropTempView(view)
        self._created.clear()

    @contextmanager
    def explained(self) -> Iterator[None]:
        """What Spark refuses inside is raised as one sentence."""
        try:
            yield
        except Exception as bad:
            if type(bad).__module__.partition(".")[0] not in ("pyspark", "py4j"):
                raise
            raise statement_failure(bad, self.where) from bad

    @contextmanager
    def _set(self, settings: Mapping[str, str]) -> Iterator[None]:
        with _SESSION:
            conf = self.session.conf
            before: dict[str, str | None] = {name: conf.get(name, None) for name in settings}
            try:
                for name, value in settings.items():
                    conf.set(name, value)
                yield
            finally:
                for name, earlier in before.items():
                    if earlier is None:
                        conf.unset(name)
                    else:
                        conf.set(name, earlier)
