"""Spark inside this process, for whoever has no cluster: its settings, its Java, its Python workers."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping

from trellis.errors import SparkError

LOCAL_MASTER = "local[*,2]"
"""All cores. A task whose Python worker died is run once more; plain `local[*]` gives the job up."""

_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.driver.memory": "1g",
    "spark.sql.shuffle.partitions": "8",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
}
_SHORT_JAVA_OPTIONS = "-XX:TieredStopAtLevel=1"
"""Without its second compiler a JVM starts with half the processor time, and computes slower later on."""


def local_settings(short: bool) -> Mapping[str, str]:
    """The settings of a session in local mode. `short`: it is for one small job.

    `defaultJavaOptions` come before the `extraJavaOptions` of a user's spark-defaults.conf, which win.
    """
    settings = dict(_SETTINGS)
    if short:
        settings["spark.driver.defaultJavaOptions"] = _SHORT_JAVA_OPTIONS
    if os.environ.get("PYSPARK_PYTHON", sys.executable) == sys.executable:
        settings["spark.python.daemon.module"] = "trellis.engine.spark.daemon"
    return settings


def require_java() -> None:
    """Raises SparkError where there is no Java to start Spark with."""
    home = os.environ.get("JAVA_HOME")
    if (home and os.path.exists(os.path.join(home, "bin", "java"))) or shutil.which("java"):
        return
    raise SparkError(
        "Spark needs Java 17 or 21, and none is installed; install it (Debian and Ubuntu: apt-get install "
        "openjdk-17-jre-headless), set JAVA_HOME, or load small inputs without Spark: --engine inline"
    )
