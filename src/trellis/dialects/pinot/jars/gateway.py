"""Pinot's classes in a JVM beside this process: expressions, and checks of documents.

The JVM is called through py4j, which comes with PySpark. It is not Spark's: Pinot and Spark want other
versions of the same libraries (Jackson, Guava, Netty). So nothing is asked of Spark but tasks, and a Java
runtime is enough: no Java of ours has to be compiled.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import cache, lru_cache
from pathlib import Path
from threading import RLock
from typing import Any, Final, Literal
from uuid import UUID

from trellis.dialects.pinot.functions.registry import FunctionError, timestamp_of
from trellis.dialects.pinot.grammar.tokens import ExpressionError
from trellis.dialects.pinot.value.source_kinds import LONG_MAX, LONG_MIN, millis_of
from trellis.errors import UsageError

PINOT: Final = "1.5.1"
JARS: Final = "TRELLIS_PINOT_JARS"
_OPTIONS: Final = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Duser.timezone=UTC")
_MARKER: Final = f"pinot-core-{PINOT}.jar"
_PY4J: Final = "py4j-*.jar"


class PinotError(Exception):
    """Pinot's classes refused something; the text is theirs."""


class PinotClasses:
    """The classes in a running JVM. Several threads may call them, one after the other."""

    def __init__(self, gateway: Any) -> None:
        self.gateway = gateway
        self.packages = gateway.jvm.org.apache.pinot
        self._lock = RLock()

    @contextmanager
    def calls(self) -> Iterator[Any]:
        """The packages of Pinot, for some calls. Raises PinotError for what Java throws in them."""
        from py4j.protocol import Py4JError, Py4JJavaError

        with self._lock:
            try:
                yield self.packages
            except Py4JJavaError as error:
                raise PinotError(_reason(error.java_exception)) from None
            except Py4JError as error:
                reason = str(error).partition("\n")[0]
                raise PinotError(f"Pinot's classes do not answer: {reason}") from None

    def schema(self, document: str) -> Any:
        """A schema document as Pinot reads it. Raises PinotError."""
        with self.calls() as pinot:
            return pinot.spi.data.Schema.fromString(document)

    def table_config(self, document: str) -> Any:
        """A table config as Pinot reads it. Raises PinotError."""
        with self.calls() as pinot:
            table_class = self.gateway.jvm.java.lang.Class.forName(
                "org.apache.pinot.spi.config.table.TableConfig"
            )
            return pinot.spi.utils.JsonUtils.stringToObject(document, table_class)

    def to_java(self, value: Any) -> Any:
        """A value as Java has it. Small integers are Integer and floats Double: py4j has no others."""
        gateway = self.gateway
        if isinstance(value, list | tuple):
            array = gateway.new_array(gateway.jvm.Object, len(value))
            for position, element in enumerate(value):
                array[position] = self.to_java(element)
            return array
        if isinstance(value, Mapping):
            entries = gateway.jvm.java.util.LinkedHashMap()
            for key, element in value.items():
                entries.put(key, self.to_java(element))
            return entries
        if isinstance(value, date):
            return gateway.jvm.java.sql.Timestamp(millis_of(value))
        if isinstance(value, int) and not LONG_MIN <= value <= LONG_MAX:
            return Decimal(value)
        return str(value) if isinstance(value, UUID) else value

    def from_java(self, value: Any) -> Any:
        """A value of Java as Python has it; objects without a counterpart become their text."""
        from py4j.java_collections import JavaArray, JavaList, JavaMap
        from py4j.java_gateway import JavaObject

        if isinstance(value, JavaArray | JavaList):
            return [*map(self.from_java, value)]
        if isinstance(value, JavaMap):
            return {str(key): self.from_java(element) for key, element in value.items()}
        if not isinstance(value, JavaObject):
            return value
        if value.getClass().getName() == "java.sql.Timestamp":
            return timestamp_of(value.getTime())
        return value.toString()


def pinot_classes() -> PinotClasses:
    """Those of this process; the first call starts the JVM, which ends with the process.

    Raises UsageError where there are no jars or there is no Java.
    """
    return _start(os.getpid())


@cache
def _start(process: int) -> PinotClasses:
    """A process that was forked must not talk through the sockets of its parent."""
    folder = jars_folder()
    from py4j.java_gateway import GatewayParameters, JavaGateway, launch_gateway

    bridge = next(folder.glob(_PY4J), None)
    if bridge is None:
        raise UsageError(
            f"{folder}: there is no py4j among Pinot's jars; `trellis pinot jars` fetches all of them"
        )
    try:
        port, token = launch_gateway(
            jarpath=str(bridge),
            classpath=str(folder / "*"),
            javaopts=list(_OPTIONS),
            java_path=None,
            die_on_exit=True,
            enable_auth=True,
        )
    except (OSError, ValueError) as error:
        raise UsageError(
            f"Pinot's classes need a Java of 17 or later, which did not start: {error}; install one, or set "
            "JAVA_HOME"
        ) from error
    parameters = GatewayParameters(port=port, auth_token=token, auto_convert=True)
    return PinotClasses(JavaGateway(gateway_parameters=parameters))


def chosen_folder() -> Path:
    """The folder for Pinot's jars: that of TRELLIS_PINOT_JARS, else one in the cache of the user."""
    cache_folder = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get(JARS) or Path(cache_folder) / "trellis" / f"pinot-{PINOT}")


def jars_folder() -> Path:
    """The folder with Pinot's jars. Raises UsageError where it holds none."""
    folder = chosen_folder()
    if next(folder.glob(_MARKER), None) is None:
        raise UsageError(
            f"{folder}: the jars of Pinot {PINOT} are not there: fetch them with `trellis pinot jars`, or "
            f"set {JARS} to their folder"
        )
    return folder


def _reason(error: Any) -> str:
    """The messages of an exception and of its causes on one line, each once."""
    messages: list[str] = []
    last = error
    while error is not None:
        message = " ".join(str(error.getMessage() or "").split())
        if message and not any(message in other for other in messages):
            messages.append(message.rstrip(".: "))
        last, error = error, error.getCause()
    return ": ".join(messages) or str(last.getClass().getSimpleName())


@dataclass(frozen=True)
class PinotExpression:
    """A compiled expression, for a row of values. The call raises FunctionError where Pinot fails the row."""

    text: str

    def __call__(self, row: Mapping[str, Any]) -> Any:
        return _evaluator(os.getpid(), self.text).evaluate(row)


def pinot_expression(text: str) -> PinotExpression:
    """Raises ExpressionError where Pinot cannot parse the text, UsageError without jars."""
    try:
        _evaluator(os.getpid(), text)
    except PinotError as error:
        raise ExpressionError(str(error)) from None
    return PinotExpression(text)


@lru_cache(maxsize=256)
def _evaluator(process: int, text: str) -> _Evaluator:
    return _Evaluator(pinot_classes(), text)


class _Evaluator:
    """Pinot's evaluator of one expression. Its row in Java is used again: one call for each argument."""

    def __init__(self, classes: PinotClasses, text: str) -> None:
        self._classes = classes
        with classes.calls() as pinot:
            factory = pinot.segment.local.function.FunctionEvaluatorFactory
            self._evaluator = factory.getExpressionEvaluator(text)
            self._arguments = [*map(str, self._evaluator.getArguments())]
            self._row = pinot.spi.data.readers.GenericRow()

    def evaluate(self, row: Mapping[str, Any]) -> Any:
        try:
            with self._classes.calls():
                for name in self._arguments:
                    self._row.putValue(name, self._classes.to_java(row.get(name)))
                return self._classes.from_java(self._evaluator.evaluate(self._row))
        except PinotError as error:
            raise FunctionError(str(error)) from None


def pinot_faults(
    schema: str, table: Mapping[str, Any] | None
) -> Iterator[tuple[Literal["schema", "table config"], str]]:
    """What Pinot refuses in which document. Pinot stops at the first fault of each, and reads no table config
    with an invalid schema.

    Raises UsageError without jars.
    """
    classes = pinot_classes()
    try:
        read = classes.schema(schema)
        with classes.calls() as pinot:
            pinot.segment.local.utils.SchemaUtils.validate(read)
    except PinotError as error:
        yield "schema", str(error)
        return
    if table is None:
        return
    try:
        config = classes.table_config(json.dumps(table, default=dict))
        with classes.calls() as pinot:
            pinot.segment.local.utils.TableConfigUtils.validate(config, read)
            pinot.segment.local.utils.SchemaUtils.validate(read, [config])
    except PinotError as error:
        yield "table config", str(error)
