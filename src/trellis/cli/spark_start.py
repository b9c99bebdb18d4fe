"""Spark starts beside everything else that a command does."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Sequence

from trellis.engine.input.source_format import named_format
from trellis.engine.storage.location import is_remote
from trellis.pipelines.config import Config
from trellis.pipelines.engine import engine_of

SHORT = 256 << 20
"""Bytes of input up to which a JVM that starts fast beats one that computes fast, on the safe side.

Reading lines through Spark into Python: 7 processor seconds less for the start, 0.7 more for each 100 MB.
"""


def start_engine(config: Config, sources: Sequence[str]) -> None:
    """Begin to start Spark, if the command will need it: not for sources that are not there.

    What remote sources need of Spark is known when they have been looked at. Raises UsageError, SparkError.
    """
    if engine_of(config.engine, config.master, config.remote) == "inline":
        return
    from trellis.destinations import request_packages
    from trellis.engine.spark.packages import request_storage
    from trellis.engine.spark.session import start_session

    if config.to:
        request_packages(config.to)
    for location in filter(None, (config.staging, config.checkpoint)):
        request_storage(location)
    named, sizes = named_format(sources, config.format), [_size(source) for source in sources]
    needs_more = any(map(is_remote, sources)) or (named is not None and named.package)
    if None not in sizes and not needs_more:
        start_session(config.master, config.remote, short=sum(size or 0 for size in sizes) <= SHORT)


def _size(source: str) -> int | None:
    """The bytes behind a source, None if there is no such file; what is not on this machine is large.

    >>> _size("s3://bucket/events") > SHORT, _size("no/such/file")
    (True, None)
    """
    path = source.removeprefix("file://")
    if "://" in path:
        return SHORT + 1
    try:
        sizes = [os.path.getsize(file) for file in _files(path)]
    except OSError:
        return None
    return sum(sizes) if sizes else None


def _files(path: str) -> Iterator[str]:
    if os.path.isdir(path):
        for folder, _, names in os.walk(path):
            yield from (os.path.join(folder, name) for name in names)
    elif os.path.exists(path):
        yield path
    else:
        yield from glob.iglob(path, recursive=True)
