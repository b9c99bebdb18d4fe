"""How this process opens files: with the settings of its Spark session, if any, and of the environment."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from trellis.engine.storage.location import is_remote
from trellis.engine.storage.settings import StorageSettings
from trellis.engine.storage.storage import Storage

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_S3 = "fs.s3a."
_PREFIXES = (_S3, "fs.gs.", "fs.azure.account.key", "fs.azure.account.oauth2", "fs.azure.sas")
"""How the names of properties begin that file systems of Hadoop have, too."""


def current_storage() -> Storage:
    """File systems with the settings of this moment. It starts no Spark."""
    if "pyspark" not in sys.modules:
        return Storage(StorageSettings.of({}))
    from trellis.engine.spark.settings import session_conf

    return Storage(StorageSettings.of(session_conf()))


def hadoop_settings(location: str) -> dict[str, str]:
    """What a session needs to open remote files as this process does, by the names of Hadoop."""
    if not is_remote(location):
        return {}
    properties = dict(current_storage().settings.properties)
    if properties.get(f"{_S3}endpoint"):  # as s3_options does
        properties.setdefault(f"{_S3}path.style.access", "true")
        properties.setdefault(f"{_S3}endpoint.region", "us-east-1")
    return {name: value for name, value in properties.items() if name.startswith(_PREFIXES)}


def configure_storage(session: SparkSession, location: str) -> None:
    """Let a session open remote files as this process does, where it has no settings for them."""
    from trellis.engine.spark.settings import add_settings

    add_settings(session, hadoop_settings(location))
