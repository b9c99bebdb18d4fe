"""How a load opens the files of its sources."""

from __future__ import annotations

from collections.abc import Collection

from trellis.engine.runner import Runner
from trellis.engine.spark.storage import current_storage
from trellis.engine.storage.location import is_remote
from trellis.engine.storage.settings import StorageSettings
from trellis.engine.storage.storage import Storage


def storage_for(sources: Collection[str], runner: Runner) -> Storage:
    """File systems for sources. Where these are not on this machine, it waits for the session of the runner:
    the settings in `spark-defaults.conf` may say how to reach them. Raises SparkError."""
    if any(map(is_remote, sources)):
        runner.start()
        runner.wait()
    return current_storage()


def listing_storage(sources: Collection[str], runner: Runner) -> Storage:
    """File systems to list sources with, before a session starts if it can be: what it needs depends on what
    is there. Raises SparkError."""
    conf = runner.conf_before_start() if any(map(is_remote, sources)) else None
    return storage_for(sources, runner) if conf is None else Storage(StorageSettings.of(conf))
