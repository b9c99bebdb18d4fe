"""A Kafka broker on loopback, from its Maven artifacts, and records in its topics."""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loopback import free_port, wait_for

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

HERE = Path(__file__).parent
PROPERTIES = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
log.dirs={folder}/log
num.partitions=2
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
"""


def java() -> str:
    home = os.environ.get("JAVA_HOME")
    return f"{home}/bin/java" if home else "java"


@cache
def jars(pom: str) -> Path:
    """The folder of the jars that a POM beside this file names. Maven is asked once for each POM."""
    path = HERE / pom
    digest = sha256(path.read_bytes()).hexdigest()[:16]
    folder = Path(tempfile.gettempdir()) / f"trellis-{path.stem}-{os.getuid()}-{digest}"
    if not folder.is_dir():
        part = folder.with_suffix(f".{os.getpid()}")
        command = ["mvn", "-B", "-q", "-f", str(path), "dependency:copy-dependencies"]
        arguments = ["-DincludeScope=runtime", f"-DoutputDirectory={part}"]
        done = subprocess.run([*command, *arguments], capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"Maven did not resolve {path}:\n{done.stdout[-3000:]}"
        try:
            part.rename(folder)
        except OSError:  # another process was first
            shutil.rmtree(part)
    return folder


def connector() -> list[str]:
    """The jars with which Spark reads Kafka."""
    return sorted(map(str, jars("connector.xml").glob("*.jar")))


def add_connector(spark: SparkSession) -> None:
    """Let a session that runs read Kafka."""
    for jar in connector():
        spark.sql(f"ADD JAR '{jar}'")


class Broker:
    """A broker that runs. `address` is HOST:PORT."""

    def __init__(self, address: str, spark: SparkSession) -> None:
        self.address = address
        self.spark = spark

    def topic(self) -> str:
        """The name of a new topic, which the first record creates with two partitions."""
        return f"orders-{secrets.token_hex(4)}"

    def write(self, topic: str, *values: bytes | None, partition: int = 0, **columns: Sequence[Any]) -> None:
        """Append records to a partition; `columns` are `key` and `headers`, a value for each record."""
        rows = [
            (value, partition, *(column[number] for column in columns.values()))
            for number, value in enumerate(values)
        ]
        types = {"key": "key BINARY", "headers": "headers ARRAY<STRUCT<key: STRING, value: BINARY>>"}
        schema = ", ".join(("value BINARY", "partition INT", *(types[name] for name in columns)))
        frame = self.spark.createDataFrame(rows, schema).coalesce(1).write.format("kafka")
        options = {"kafka.bootstrap.servers": self.address, "topic": topic, "includeHeaders": "true"}
        frame.options(**options).save()


def command(name: str, *arguments: str) -> list[str]:
    options = ("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dlog4j2.level=ERROR")
    return [java(), *options, "-cp", f"{jars('broker.xml')}/*", name, *arguments]


@contextmanager
def running(folder: Path, spark: SparkSession) -> Iterator[Broker]:
    """A broker with its controller in one process."""
    port, controller = free_port(), free_port()
    properties = folder / "server.properties"
    properties.write_text(PROPERTIES.format(port=port, controller=controller, folder=folder))
    identity = "T" + secrets.token_urlsafe(16)[1:]  # one that starts with `-` would be an option
    arguments = ("format", "-t", identity, "-c", str(properties))
    done = subprocess.run(
        command("kafka.tools.StorageTool", *arguments), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    with open(folder / "out", "w") as output:
        broker = subprocess.Popen(command("kafka.Kafka", str(properties)), stdout=output, stderr=output)
    try:
        wait_for(port)
        yield Broker(f"127.0.0.1:{port}", spark)
    finally:
        broker.kill()
        broker.wait()


def environment(folder: Path, **more: str) -> Mapping[str, str]:
    """What a process of `trellis` needs to read Kafka: the jars in `spark-defaults.conf`."""
    configuration = folder / "conf"
    configuration.mkdir(exist_ok=True)
    defaults = f"spark.jars {','.join(connector())}\nspark.driver.extraJavaOptions -XX:TieredStopAtLevel=1\n"
    (configuration / "spark-defaults.conf").write_text(defaults)
    sources = HERE.parents[1] / "src"
    variables = {"SPARK_CONF_DIR": str(configuration), "PYTHONPATH": str(sources), "TRELLIS_ENGINE": "spark"}
    return {**os.environ, **variables, "PYSPARK_PYTHON": sys.executable, **more}
