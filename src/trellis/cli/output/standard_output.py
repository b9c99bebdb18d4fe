"""Standard output whose errors say what they are about."""

from __future__ import annotations

import errno
import io
import os
import sys
from typing import Any, Final

NAME: Final = "standard output"


def name_standard_output() -> None:
    """Have errors of writing to standard output bear its name, also where it was closed from the start."""
    output = sys.stdout
    if output is None:
        _occupy_descriptors()
        sys.stdout = io.TextIOWrapper(io.BufferedWriter(_ClosedOutput()), encoding="utf-8")
    elif isinstance(output, io.TextIOWrapper) and output is sys.__stdout__:
        output.flush()
        settings: dict[str, Any] = {
            "encoding": output.encoding,
            "errors": output.errors,
            "line_buffering": output.line_buffering,
        }
        sys.stdout = io.TextIOWrapper(io.BufferedWriter(_StandardOutput(1, "w", closefd=False)), **settings)


def is_of_standard_output(error: BaseException) -> bool:
    return isinstance(error, OSError) and error.filename == NAME


def discard_standard_output() -> None:
    """Let what is written from now on, or was and is not out yet, go nowhere."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.close(null)
    sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - it is open to the end of the process


class _StandardOutput(io.FileIO):
    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except OSError as error:
            raise OSError(error.errno, error.strerror, NAME) from None


class _ClosedOutput(io.RawIOBase):
    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        raise OSError(errno.EBADF, "It is closed", NAME)


def _occupy_descriptors() -> None:
    """Keep the standard descriptors from being those of files, which would take what is printed."""
    while (null := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(null)
