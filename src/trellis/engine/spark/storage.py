"""How this process opens files: with the settings of its Spark session, if any, and of the environment."""

from __future__ import annotations

import sys

from trellis.engine.storage.settings import StorageSettings
from trellis.engine.storage.storage import Storage


def current_storage() -> Storage:
    """File systems with the settings of this moment. It starts no Spark."""
    if "pyspark" not in sys.modules:
        return Storage(StorageSettings.of({}))
    from trellis.engine.spark.settings import session_conf

    return Storage(StorageSettings.of(session_conf()))
