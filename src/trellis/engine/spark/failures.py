"""What PySpark raises, as one sentence: what is wrong, and what to do."""

from __future__ import annotations

import os
import re
import sys

from trellis import __version__
from trellis.engine.spark.packages import why_missing
from trellis.engine.storage.location import local_path
from trellis.errors import DestinationError, SparkError, TrellisError, UsageError

_GONE = (
    "Py4JNetworkError",
    "ConnectionRefusedError",
    "ConnectionResetError",
    "BrokenPipeError",
    "Answer from Java side is empty",
    "SparkContext was shut down",
    "because SparkContext was",
    "UNAVAILABLE",
    "SESSION_CLOSED",
    "SESSION_NOT_FOUND",
)
_WORKER_DIED = ("Python worker exited unexpectedly", "Connection reset", "java.io.EOFException")
_MISSING_MODULE = re.compile(r"No module named '([\w.]+)'")
_NO_PYTHON = re.compile(r'Cannot run program "([^"]+)"')
_OTHER_PYTHON = "PYTHON_VERSION_MISMATCH"
_MISSING_SOURCE = ("DATA_SOURCE_NOT_FOUND", "Failed to find data source")
_OTHER_SPARK = re.compile(
    r"NoSuchMethodError|NoSuchFieldError|NoClassDefFoundError|AbstractMethodError|IncompatibleClass"
)
_NO_FILE_SYSTEM = re.compile(
    r"No FileSystem for scheme|UnsupportedFileSystemException"
    r"|ClassNotFoundException: Class [\w.]+\.fs\.[\w.]+ not found"
)
_ADD_FILE_SYSTEM = (
    "this Spark has no file system for that scheme; check it, or add the package of the file system (for "
    "s3a:// org.apache.hadoop:hadoop-aws) and set spark.hadoop.fs.SCHEME.impl"
)
_UNREADABLE = re.compile(r"FAILED_READ_FILE[\w.]*\] Encountered error while reading file (\S+?)\.?\s")
_CAUSE = re.compile(r"^Caused by: (?:[\w.$]+: )?(.+)$", re.MULTILINE)
_FRAME = re.compile(r"\s*at [\w.$]+\(?")
_CONDITION = re.compile(
    r"\[[A-Z][A-Z_]+(?:\.[A-Z_]+)*\] (.+?)(?= SQLSTATE:|;\n|\n\s*at |\n\n|\n\w+Error: |$)", re.DOTALL
)
LIMIT = 300


def job_failure(failure: Exception) -> TrellisError:
    """Why a job did not end."""
    text = failure_text(failure)
    if unreadable := _unreadable_file(text):
        return unreadable
    if module := _MISSING_MODULE.search(text):
        return SparkError(
            f"the Python of Spark's workers has no module {module[1].partition('.')[0]!r}; install "
            f"trellis-spark {__version__} in it, or set PYSPARK_PYTHON to a Python that has it"
        )
    if program := _NO_PYTHON.search(text):
        return SparkError(
            f"Spark's workers have no program {program[1]!r}; set PYSPARK_PYTHON to the path of a Python "
            f"on the workers that has trellis-spark {__version__}"
        )
    if _OTHER_PYTHON in text:
        return SparkError(
            f"Spark's workers run another version of Python than this process ({_python()}); set "
            "PYSPARK_PYTHON to the path of one like it"
        )
    if any(mark in text for mark in _GONE):
        return SparkError("Spark stopped while the job ran; nothing was loaded; run the load again")
    if any(mark in text for mark in _WORKER_DIED):
        return SparkError(
            "a Python worker of Spark died again and again, which happens where memory is short; nothing was "
            "loaded; give the workers more memory, or run fewer tasks at once, such as --master 'local[1]'"
        )
    if _NO_FILE_SYSTEM.search(text):
        return SparkError(f"a location of the job: {_ADD_FILE_SYSTEM}")
    return SparkError(f"the Spark job failed: {_reason(text)}; --debug shows all of it")


def reader_failure(failure: Exception, source: str, format_name: str, package: str) -> TrellisError:
    """Why Spark's reader made no frame of a source."""
    text = failure_text(failure)
    if any(mark in text for mark in _GONE):
        return job_failure(failure)
    if is_missing_source(failure):
        if not package:
            return UsageError(
                f"--format {format_name}: Spark has no such data source; check the name, or start Spark with "
                "its package in spark.jars.packages"
            )
        return UsageError(
            f"{source}: Spark reads {format_name} with a package that this session lacks"
            f"{why_missing(package)}; add it before Spark starts, for example in spark-defaults.conf: "
            f"spark.jars.packages {package}"
        )
    if _NO_FILE_SYSTEM.search(text):
        return UsageError(f"{source}: {_ADD_FILE_SYSTEM}")
    if unreadable := _unreadable_file(text):
        return unreadable
    return UsageError(
        f"{source}: Spark cannot read it as {format_name}: {_condition(text) or _reason(str(failure))}"
    )


def statement_failure(failure: Exception, place: str) -> TrellisError:
    """Why Spark did not carry out a statement about a place."""
    text = failure_text(failure)
    if any(mark in text for mark in _GONE):
        return job_failure(failure)
    if missing := _OTHER_SPARK.search(text):
        return DestinationError(
            f"{place}: a package of the session is for another version of Spark than {_spark()} "
            f"({missing[0]}); install the PySpark that the package is for"
        )
    if _NO_FILE_SYSTEM.search(text):
        return DestinationError(f"{place}: {_ADD_FILE_SYSTEM}")
    return DestinationError(f"{place}: Spark refused: {_condition(text) or _reason(str(failure))}")


def is_missing_source(failure: Exception) -> bool:
    """Whether Spark does not know a format."""
    return any(mark in failure_text(failure) for mark in _MISSING_SOURCE)


def _unreadable_file(text: str) -> UsageError | None:
    """The error for a file that a reader of Spark gave up in the middle of a job."""
    file = _UNREADABLE.search(text)
    if file is None:
        return None
    causes = [line for line in _CAUSE.findall(text) if "Encountered error while reading" not in line]
    why = f" ({(_condition(causes[-1]) or causes[-1])[:LIMIT]})" if causes else ""
    path = local_path(re.sub("^file:/*", "file:/", file[1]))
    return UsageError(
        f"{path}: cannot be read by Spark{why}; nothing was loaded; mend the file or leave it out"
    )


def _condition(text: str) -> str:
    """The sentences of Spark's error condition, without its name, its state and the plan of a query."""
    condition = _CONDITION.search(text)
    sentences = " ".join(condition[1].split()) if condition else ""
    if len(sentences) > LIMIT:
        sentences = sentences[:LIMIT].rpartition(". ")[0] or sentences[:LIMIT]
    return sentences.rstrip(".")


def start_failure(failure: Exception, address: str, packages: str = "") -> SparkError:
    """Why no session started at a master or a Connect server; `packages` are fetched before."""
    fetched = f"that the packages {packages} can be fetched, " if packages else ""
    return SparkError(
        f"Spark did not start at {address}: {_reason(failure_text(failure))}; check {fetched}the address, "
        "and that Java 17 or 21 is installed"
    )


def session_failure(failure: Exception) -> SparkError:
    """Why the session of this process cannot be used."""
    return SparkError(
        f"the Spark session of this process does not answer ({_reason(failure_text(failure))}); stop it, "
        "or run the load in a new process"
    )


def _spark() -> str:
    from pyspark import __version__ as spark_version

    return spark_version


def _python() -> str:
    return ".".join(map(str, sys.version_info[:2]))


def failure_text(failure: BaseException | None) -> str:
    """The whole text of an error and of those that it came from."""
    parts = []
    while failure is not None:
        parts.append(f"{type(failure).__name__}: {failure}")
        failure = failure.__cause__ or failure.__context__
    return os.linesep.join(parts)


def _reason(text: str) -> str:
    r"""The line of a stack trace that says most.

    >>> _reason("e.LoadException: no\n\tat a.b(c)\nCaused by: e.DiskException: full\nSuppressed: e.Exception")
    'e.DiskException: full'
    """
    lines = [line.strip() for line in text.splitlines() if line.strip() and not _FRAME.match(line)]
    causes = [line for line in lines if not line.startswith("Suppressed: ")]
    last = next((line for line in reversed(causes) if "Error" in line or "Exception" in line), None)
    return (last or lines[0]).removeprefix("Caused by: ")[:LIMIT]
