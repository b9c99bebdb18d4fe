"""How a load opens the files of its sources."""

from __future__ import annotations

from collections.abc import Iterable

from trellis.engine.runner import Runner
from trellis.engine.spark.storage import current_storage
from trellis.engine.storage.location import is_remote
from trellis.engine.storage.storage import Storage


def storage_for(sources: Iterable[str], runner: Runner) -> Storage:
    """File systems for sources. Where these are not on this machine, it waits for the session of the runner:
    the settings in `spark-defaults.conf` may say how to reach them. Raises SparkError."""
    if any(is_remote(source) for source in sources):
        runner.start()
        runner.wait()
    return current_storage()
