"""What PySpark raises, as one sentence: what is wrong, and what to do."""

from __future__ import annotations

import os
import re
import sys

from trellis import __version__
from trellis.errors import SparkError

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
LIMIT = 300


def job_failure(failure: Exception) -> SparkError:
    """Why a job did not end."""
    text = _text(failure)
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
    return SparkError(f"the Spark job failed: {_reason(text)}; --debug shows all of it")


def start_failure(failure: Exception, address: str) -> SparkError:
    """Why no session started at a master or a Connect server."""
    return SparkError(
        f"Spark did not start at {address}: {_reason(_text(failure))}; check the address, and that Java 17 "
        "or 21 is installed"
    )


def session_failure(failure: Exception) -> SparkError:
    """Why the session of this process cannot be used."""
    return SparkError(
        f"the Spark session of this process does not answer ({_reason(_text(failure))}); stop it, or run "
        "the load in a new process"
    )


def _python() -> str:
    return ".".join(map(str, sys.version_info[:2]))


def _text(failure: BaseException | None) -> str:
    """The whole text of an error and of those that it came from."""
    parts = []
    while failure is not None:
        parts.append(f"{type(failure).__name__}: {failure}")
        failure = failure.__cause__ or failure.__context__
    return os.linesep.join(parts)


def _reason(text: str) -> str:
    """The line of a stack trace that says most."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    last = next((line for line in reversed(lines) if "Error" in line or "Exception" in line), None)
    return (last or lines[0])[:LIMIT]
