"""A normalizer, as users bring it, that takes its Python worker down, or Spark, or its time.

`WHAT` names what is to happen in tasks: `once` kills the first worker, `always` each, `spark` the JVM, `slow`
makes the first attempt of a task a minute long. Nothing happens in the driver.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

Rows = Generator[tuple[tuple[str, tuple[str, ...], tuple[str, ...]], dict[str, Any]], bool, None]


class DataItemNormalizer:
    def __init__(self, schema: Any) -> None:
        if any("daemon" in word for word in sys.orig_argv):
            with open(os.environ["FAILURE"] + ".attempts", "a") as attempts:
                attempts.write(f"{os.getpid()}\n")
            fail(Path(os.environ["FAILURE"]).read_text())

    def normalize_data_item(self, item: Any, load_id: str, table_name: str) -> Rows:
        yield (table_name, (), ()), {**item, "_dlt_load_id": load_id}


def fail(what: str) -> None:
    if what in ("once", "slow"):
        try:
            Path(os.environ["FAILURE"] + ".done").touch(exist_ok=False)
        except FileExistsError:
            return
    if what == "slow":
        time.sleep(60)
    elif what == "spark":
        os.kill(java_above(os.getpid()), signal.SIGKILL)
        time.sleep(60)
    elif what != "nothing":
        os.kill(os.getpid(), signal.SIGKILL)


def java_above(process: int) -> int:
    """The JVM that a worker was forked for; nothing else may be killed, least of all process group 0."""
    while process > 1:
        if Path(f"/proc/{process}/comm").read_text() == "java\n":
            return process
        process = int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
    raise ProcessLookupError("no JVM above this process")
