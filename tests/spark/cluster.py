"""Sparks on loopback by the scripts that come with PySpark: a standalone cluster, a Connect server."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import MappingProxyType

import pyspark

from loopback import free_port, wait_for

HERE = Path(__file__).parent
SOURCES = HERE.parents[1] / "src"
SCRIPTS = Path(pyspark.__file__).parent / "bin"

DEFAULTS = """\
spark.executor.memory 512m
spark.executor.cores 1
spark.executor.extraJavaOptions -XX:TieredStopAtLevel=1
spark.driver.extraJavaOptions -XX:TieredStopAtLevel=1
spark.driver.host 127.0.0.1
spark.ui.enabled false
spark.speculation true
spark.speculation.interval 200ms
spark.speculation.quantile 0.5
"""


def environment(**more: str) -> dict[str, str]:
    """What every process of these Sparks has: this Python, and Trellis as it stands here."""
    return {
        **os.environ,
        "PYTHONPATH": f"{SOURCES}{os.pathsep}{HERE}",
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_DAEMON_JAVA_OPTS": "-XX:TieredStopAtLevel=1",
        **more,
    }


@contextmanager
def standalone(
    folder: Path, settings: Mapping[str, str] = MappingProxyType({}), **variables: str
) -> Iterator[tuple[str, Mapping[str, str]]]:
    """A master and two workers of one core each, on hosts of their own, in folders of their own.

    `settings` are added to those of drivers. Gives the address, and the environment for a driver.
    """
    port = free_port()
    configuration = folder / "conf"
    configuration.mkdir()
    added = "".join(f"{name} {value}\n" for name, value in settings.items())
    (configuration / "spark-defaults.conf").write_text(DEFAULTS + added)
    shared = environment(SPARK_CONF_DIR=str(configuration), SPARK_DAEMON_MEMORY="256m", **variables)
    master = f"spark://127.0.0.1:{port}"
    deploy = "org.apache.spark.deploy"
    with ExitStack() as running:
        arguments = ("--host", "127.0.0.1", "--port", str(port), "--webui-port", "0")
        running.enter_context(
            process(folder / "master", shared, "spark-class", f"{deploy}.master.Master", *arguments)
        )
        wait_for(port)
        for number in (1, 2):
            host = f"127.0.0.{number}"
            arguments = ("--host", host, "--cores", "1", "--memory", "768m", "--webui-port", "0", master)
            folder_of_worker = folder / f"worker-{number}"
            running.enter_context(
                process(
                    folder_of_worker,
                    {**shared, "SPARK_LOCAL_IP": host},
                    "spark-class",
                    f"{deploy}.worker.Worker",
                    *arguments,
                )
            )
        yield master, shared


@contextmanager
def connect_server(folder: Path) -> Iterator[str]:
    """A Spark Connect server in local mode. Gives its address."""
    port = free_port()
    server = (
        *("--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "--master", "local[2]"),
        *("--conf", "spark.connect.grpc.binding.address=127.0.0.1"),
        *("--conf", f"spark.connect.grpc.binding.port={port}", "--conf", "spark.ui.enabled=false"),
        *("--conf", "spark.driver.extraJavaOptions=-XX:TieredStopAtLevel=1", "spark-internal"),
    )
    with process(folder / "server", environment(), "spark-submit", *server):
        wait_for(port)
        yield f"sc://127.0.0.1:{port}"


@contextmanager
def process(folder: Path, variables: Mapping[str, str], script: str, *arguments: str) -> Iterator[None]:
    folder.mkdir(parents=True)
    with open(folder / "log", "w") as log:
        started = subprocess.Popen(
            [str(SCRIPTS / script), *arguments], cwd=folder, env=dict(variables), stdout=log, stderr=log
        )
    try:
        yield
    finally:
        started.terminate()
        started.wait()
