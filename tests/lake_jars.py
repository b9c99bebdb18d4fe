"""The jars and the settings with which a session of the tests reads and writes Delta Lake and Iceberg."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path

SCRIPT = Path(__file__).parent.parent / "scripts" / "lake-jars"


@cache
def lake_settings() -> Mapping[str, str]:
    """Empty where Maven does not get the jars: the tests that need them then say so."""
    jars = subprocess.run([SCRIPT], capture_output=True, text=True, check=False, timeout=600)
    if jars.returncode:
        return {}
    return {
        "spark.jars": jars.stdout.strip(),
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension,"
        "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.databricks.delta.snapshotPartitions": "2",
    }
