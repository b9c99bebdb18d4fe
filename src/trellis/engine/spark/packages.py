"""Packages that a session in local mode starts with, because a destination or a source needs them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

_requested: list[SparkPackage] = []


@dataclass(frozen=True)
class SparkPackage:
    """Maven coordinates, the class of an extension of Spark's SQL, and other settings of a session."""

    coordinates: str
    extension: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)


def request_package(package: SparkPackage) -> None:
    """Let the next session that starts in this process have a package."""
    if package not in _requested:
        _requested.append(package)


def package_settings(
    defaults: Mapping[str, str], packages: Iterable[SparkPackage] | None = None
) -> dict[str, str]:
    """Settings for the requested packages. What `defaults` bring already is not fetched again.

    >>> delta = SparkPackage("io.delta:delta-spark_4.1_2.13:4.4.0", "io.delta.Extension")
    >>> package_settings({"spark.jars": "/jars/delta-spark_4.1_2.13-4.4.0.jar"}, [delta])
    {'spark.sql.extensions': 'io.delta.Extension'}
    >>> package_settings({"spark.jars.packages": "org.postgresql:postgresql:42.7.4"}, [delta])
    {'spark.jars.packages': 'org.postgresql:postgresql:42.7.4,io.delta:delta-spark_4.1_2.13:4.4.0',
     'spark.sql.extensions': 'io.delta.Extension'}
    """
    known = " ".join(defaults.get(name, "") for name in _JARS)
    settings: dict[str, str] = {}
    for package in _requested if packages is None else packages:
        if package.coordinates.split(":")[1] not in known:
            _append(settings, defaults, "spark.jars.packages", package.coordinates)
        if package.extension and package.extension not in defaults.get(_EXTENSIONS, ""):
            _append(settings, defaults, _EXTENSIONS, package.extension)
        settings.update((name, value) for name, value in package.settings.items() if name not in defaults)
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


_EXTENSIONS = "spark.sql.extensions"
_JARS = ("spark.jars", "spark.jars.packages", "spark.driver.extraClassPath")


def _append(settings: dict[str, str], defaults: Mapping[str, str], name: str, value: str) -> None:
    before = settings.get(name) or defaults.get(name, "")
    settings[name] = f"{before},{value}" if before else value
