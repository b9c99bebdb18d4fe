"""Packages that a session in local mode starts with, because a destination or a source needs them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from trellis.engine.input.source_format import EXTENSIONS, SourceFormat
from trellis.engine.storage.location import STORES

_requested: list[SparkPackage] = []
_missed: list[str] = []
_STORES: Final = {"s3": "org.apache.hadoop:hadoop-aws", "abfs": "org.apache.hadoop:hadoop-azure"}
"""The packages with the file systems of stores, which are those of Spark's Hadoop."""
_HADOOP, _HADOOP_JAR = "3.4.2", "hadoop-client-api-"
"""The Hadoop of Spark 4.1, and how the jar begins whose name has the version."""


@dataclass(frozen=True)
class SparkPackage:
    """Maven coordinates, and settings that it asks of a session."""

    coordinates: str
    settings: Mapping[str, str] = field(default_factory=dict)


def request_package(package: SparkPackage) -> None:
    """Let the next session that starts in this process have a package."""
    if package not in _requested and package.coordinates not in _missed:
        _requested.append(package)


def forget_packages() -> None:
    """The requested packages could not be fetched, so sessions of this process start without them."""
    _missed.extend(package.coordinates for package in _requested)
    _requested.clear()


def why_missing(coordinates: str) -> str:
    """A clause for messages about a package that a session lacks."""
    return ", as it could not be fetched" if coordinates in _missed else ""


def request_storage(location: str) -> None:
    """Let the next session that starts in this process open files at a location."""
    scheme, mark, _ = location.partition("://")
    package = _STORES.get(STORES.get(scheme.lower(), "")) if mark else None
    if package:
        request_package(SparkPackage(f"{package}:{_hadoop_version()}"))


def request_source(source_format: SourceFormat) -> None:
    """Let the next session that starts in this process read a format, unless that can join it late."""
    if source_format.package and not source_format.joins_late:
        request_package(SparkPackage(installed_package(source_format), source_format.settings))


def installed_package(source_format: SourceFormat) -> str:
    """The package of a format for the Spark that is installed."""
    try:
        spark = version("pyspark")
    except PackageNotFoundError:  # Spark's own folder has PySpark without metadata
        from pyspark.version import __version__ as spark
    return package_of(spark, source_format)


def package_of(spark: str, source_format: SourceFormat) -> str:
    """The package of a format for a version of Spark."""
    return source_format.package.format(spark=spark, spark_minor=".".join(spark.split(".")[:2]))


def _hadoop_version() -> str:
    """The version of the Hadoop that comes with Spark."""
    spark = find_spec("pyspark")
    home = os.environ.get("SPARK_HOME") or (os.path.dirname(spark.origin) if spark and spark.origin else "")
    jars = (jar.stem for jar in Path(home, "jars").glob(f"{_HADOOP_JAR}*.jar"))
    return next((jar.removeprefix(_HADOOP_JAR) for jar in jars), _HADOOP)


def package_settings(
    defaults: Mapping[str, str], packages: Iterable[SparkPackage] | None = None
) -> dict[str, str]:
    """Settings for the requested packages. What `defaults` bring already is not fetched again.

    >>> settings = {"spark.sql.extensions": "io.delta.Extension"}
    >>> delta = SparkPackage("io.delta:delta-spark_4.1_2.13:4.4.0", settings)
    >>> package_settings({"spark.jars": "/jars/delta-spark_4.1_2.13-4.4.0.jar"}, [delta])
    {'spark.sql.extensions': 'io.delta.Extension'}
    >>> package_settings({}, [delta, SparkPackage(delta.coordinates)])["spark.jars.packages"]
    'io.delta:delta-spark_4.1_2.13:4.4.0'
    >>> known = {"spark.jars.packages": "org.postgresql:postgresql:42.7.4"}
    >>> package_settings(known, [delta])["spark.jars.packages"]
    'org.postgresql:postgresql:42.7.4,io.delta:delta-spark_4.1_2.13:4.4.0'
    """
    known = " ".join(defaults.get(name, "") for name in _JARS)
    settings: dict[str, str] = {}
    for package in _requested if packages is None else packages:
        artifact = package.coordinates.split(":")[1]
        if artifact not in f"{known} {settings.get('spark.jars.packages')}":
            _append(settings, defaults, "spark.jars.packages", package.coordinates)
        for name, value in package.settings.items():
            if name == EXTENSIONS and value not in f"{defaults.get(name)} {settings.get(name)}":
                _append(settings, defaults, name, value)
            elif name != EXTENSIONS and name not in defaults:
                settings[name] = value
    return settings


def spark_defaults() -> dict[str, str]:
    """What spark-defaults.conf of this process says."""
    home = os.environ.get("SPARK_CONF_DIR") or os.path.join(os.environ.get("SPARK_HOME", ""), "conf")
    path = Path(home, "spark-defaults.conf")
    if not path.is_file():
        return {}
    lines = (line.strip() for line in path.read_text().splitlines())
    pairs = (re.split(r"[\s=:]+", line, maxsplit=1) for line in lines if line and not line.startswith("#"))
    return {pair[0]: pair[1].strip() for pair in pairs if len(pair) == 2}


_JARS = ("spark.jars", "spark.jars.packages", "spark.driver.extraClassPath")


def _append(settings: dict[str, str], defaults: Mapping[str, str], name: str, value: str) -> None:
    before = settings.get(name) or defaults.get(name, "")
    settings[name] = f"{before},{value}" if before else value
