"""A Spark session, local unless the user names a master or a Connect server."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import threading
from typing import TYPE_CHECKING

from trellis.errors import SparkError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_LOCAL_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.memory": "1g",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.caseSensitive": "true",
    "spark.sql.shuffle.partitions": "8",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
}


def get_session(master: str | None = None, remote: str | None = None) -> SparkSession:
    """The running session, or a new one. Raises SparkError with the next step where none can start."""
    from pyspark.sql import SparkSession

    running = SparkSession.getActiveSession()
    if running is not None and (master is None and remote is None):
        return running
    builder = SparkSession.builder.appName("trellis")
    if remote is not None:
        builder = builder.remote(remote)
    else:
        _needs_java()
        builder = builder.master(master or f"local[{os.cpu_count() or 2}]")
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        for name, value in _LOCAL_SETTINGS.items():
            builder = builder.config(name, value)
    try:
        session = builder.getOrCreate()
    except Exception as bad:
        first = str(bad).strip().splitlines()[0] if str(bad).strip() else type(bad).__name__
        raise SparkError(
            f"Spark did not start at {remote or master or 'local mode'}: {first}; check the address, "
            "and that Java 17 or 21 is installed"
        ) from bad
    if remote is None:
        session.sparkContext.setLogLevel("ERROR")
        if threading.current_thread() is threading.main_thread():
            # PySpark's own handler talks to a JVM that Ctrl-C stopped as well.
            signal.signal(signal.SIGINT, signal.default_int_handler)
    return session


def _needs_java() -> None:
    home = os.environ.get("JAVA_HOME")
    if (home and os.path.exists(os.path.join(home, "bin", "java"))) or shutil.which("java"):
        return
    raise SparkError(
        "Spark needs Java 17 or 21 and found none; install it (Debian and Ubuntu: apt-get install "
        "openjdk-17-jre-headless) or set JAVA_HOME"
    )
