"""Pinot's own classes as a function: `with oracle() as pinot: pinot.ask("granularity", value="HOURS")`."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dialects.pinot.jvm import Jvm, jvm


class Refused(Exception):
    """Pinot raised: its message, the Java class of the exception, the messages of its causes."""

    def __init__(self, message: str, kind: str, causes: list[str]) -> None:
        super().__init__(message)
        self.kind = kind
        self.causes = causes


class Oracle:
    """One process of Pinot's classes; the requests are listed in `README.md` beside this file."""

    def __init__(self, process: Jvm) -> None:
        self._process = process

    def ask(self, op: str, **request: Any) -> Any:
        """What Pinot answers, or `Refused`. Values are {"type": ..., "value": text}, null is None."""
        self._process.write({"op": op, **request})
        answer = self._process.read()
        if "error" in answer:
            raise Refused(answer["error"], answer["class"], answer["causes"])
        return answer["ok"]


@contextmanager
def oracle(zone: str = "UTC") -> Iterator[Oracle]:
    """The oracle, in a JVM whose time zone is `zone`; the first run resolves and compiles."""
    with (
        tempfile.TemporaryDirectory(prefix="pinot-oracle") as folder,
        jvm("Oracle", log=Path(folder) / "log", heap="512m", zone=zone) as process,
    ):
        yield Oracle(process)
