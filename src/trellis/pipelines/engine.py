"""Which engine conforms records of files: Spark, or this process."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, cast, get_args

from trellis.errors import UsageError, nearest

if TYPE_CHECKING:
    from trellis.engine.runner import Runner

Engine = Literal["spark", "inline"]
VARIABLE = "TRELLIS_ENGINE"


def engine_of(engine: str | None = None, master: str | None = None, remote: str | None = None) -> Engine:
    """The engine of that name. Without one it is Spark, unless TRELLIS_ENGINE names another and no Spark is
    named. Raises UsageError.

    >>> engine_of("inline"), engine_of(None, "local[2]")
    ('inline', 'spark')
    """
    if master and remote:
        raise UsageError("--master and --remote name two different Sparks; give one")
    where, name = "engine", engine
    if name is None and not (master or remote):
        where, name = VARIABLE, os.environ.get(VARIABLE)
    name = name or "spark"
    if name not in get_args(Engine):
        raise UsageError(f"{where}: there is no engine {name!r}{nearest(name, get_args(Engine))}")
    if name == "inline" and (master or remote):
        raise UsageError(
            f"the engine inline runs without Spark, and {master or remote} is a Spark; leave one of them out"
        )
    return cast(Engine, name)


def runner_of(
    engine: str | None, master: str | None, remote: str | None, tell: Callable[[str, int, int | None], object]
) -> Runner:
    """Where the tasks of a load run. `tell` is called when they wait for Spark. Raises UsageError."""
    if engine_of(engine, master, remote) == "inline":
        from trellis.engine.runner import InlineRunner

        return InlineRunner()
    from trellis.engine.spark.job import SparkRunner

    return SparkRunner(master, remote, tell=tell)
