"""Catalogs of Iceberg tables, as settings of a session: files, a database, servers of their own."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import pyspark

from lake_jars import SCRIPT
from loopback import free_port, wait_for

CLASS: Final = "org.apache.iceberg.spark.SparkCatalog"
SERVERS: Final = Path(__file__).parent / "servers"
SPARK_JARS: Final = Path(pyspark.__file__).parent / "jars"
METASTORE: Final = {
    "javax.jdo.option.ConnectionURL": "jdbc:derby:memory:metastore;create=true",
    "datanucleus.schema.autoCreateAll": "true",
    "datanucleus.connectionPoolingType": "none",
    "hive.metastore.schema.verification": "false",
    "hive.metastore.disallow.incompatible.col.type.changes": "false",
    "hive.metastore.thrift.bind.host": "127.0.0.1",
    "hive.async.log.enabled": "false",
}


def hadoop_catalog(folder: Path) -> Mapping[str, str]:
    return {"type": "hadoop", "warehouse": str(folder)}


def jdbc_catalog(folder: Path, database: str) -> Mapping[str, str]:
    url = urlsplit(database)
    return {
        "type": "jdbc",
        "warehouse": str(folder),
        "uri": f"jdbc:postgresql://{url.hostname}:{url.port}{url.path}",
        "jdbc.user": url.username or "",
        "jdbc.password": url.password or "",
        "jdbc.schema-version": "V1",
    }


def catalog_settings(name: str, options: Mapping[str, str]) -> Mapping[str, str]:
    """The settings of a session that has a catalog of this name."""
    options = {**options, "cache-enabled": "false"}
    return {
        f"spark.sql.catalog.{name}": CLASS,
        **{f"spark.sql.catalog.{name}.{option}": value for option, value in options.items()},
    }


@contextmanager
def rest_catalog(folder: Path) -> Iterator[Mapping[str, str]]:
    """Iceberg's own server of a REST catalog, with its tables in a folder; gives the options of a catalog."""
    jars = subprocess.run(
        [SCRIPT, SERVERS / "pom.xml"], capture_output=True, text=True, check=True, timeout=600
    ).stdout.strip()
    classpath = [*jars.split(","), *map(str, SPARK_JARS.glob("hadoop-client-*.jar"))]
    with _java(folder, classpath, str(SERVERS / "RestCatalog.java"), str(folder / "tables")) as server:
        assert server.stdout is not None
        port = server.stdout.readline().strip()
        assert port, (folder / "errors").read_text()
        yield {"type": "rest", "uri": f"http://127.0.0.1:{port}"}


@contextmanager
def hive_metastore(folder: Path) -> Iterator[Mapping[str, str]]:
    """Hive's metastore, as Spark brings it, with an empty database; gives the options of a catalog."""
    properties = {**METASTORE, "hive.metastore.warehouse.dir": str(folder / "tables")}
    (folder / "hive-site.xml").write_text(
        "<configuration>"
        + "".join(
            f"<property><name>{name}</name><value>{value}</value></property>"
            for name, value in properties.items()
        )
        + "</configuration>"
    )
    port = free_port()
    classpath = [str(folder), f"{SPARK_JARS}/*"]
    with _java(folder, classpath, str(SERVERS / "Metastore.java"), "-p", str(port)):
        wait_for(port)
        yield {"type": "hive", "uri": f"thrift://127.0.0.1:{port}", "warehouse": str(folder / "tables")}


@contextmanager
def _java(folder: Path, classpath: Sequence[str], *arguments: str) -> Iterator[subprocess.Popen[str]]:
    with (folder / "errors").open("w") as errors:
        server = subprocess.Popen(
            ["java", "-XX:TieredStopAtLevel=1", "-cp", ":".join(classpath), *arguments],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
        try:
            yield server
        finally:
            server.kill()
            server.communicate()
