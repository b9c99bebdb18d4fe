"""How a load opens files: with the settings of the Spark session, if one runs, and of the environment."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from trellis.engine.runner import Runner
from trellis.engine.storage.location import is_remote
from trellis.engine.storage.settings import StorageSettings
from trellis.engine.storage.storage import Storage


def current_storage() -> Storage:
    """File systems with the settings of this moment. It starts no Spark."""
    if "pyspark" not in sys.modules:
        return Storage(StorageSettings.of({}))
    from trellis.engine.spark.settings import session_conf

    return Storage(StorageSettings.of(session_conf()))


def storage_for(sources: Iterable[str], runner: Runner) -> Storage:
    """File systems for sources. Where these are not on this machine, it waits for the session of the runner:
    the settings in `spark-defaults.conf` may say how to reach them. Raises SparkError."""
    if any(is_remote(source) for source in sources):
        runner.start()
        runner.wait()
    return current_storage()
