"""Catalogs of Iceberg tables, as settings of a session: files, a database, a server of their own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

CLASS = "org.apache.iceberg.spark.SparkCatalog"


def catalog_settings(name: str, folder: Path, database: str | None = None) -> Mapping[str, str]:
    """A catalog with its tables in a folder, and what it knows of them there or in a database."""
    options = {"type": "hadoop", "warehouse": str(folder), "cache-enabled": "false"}
    if database is not None:
        url = urlsplit(database)
        options |= {
            "type": "jdbc",
            "uri": f"jdbc:postgresql://{url.hostname}:{url.port}{url.path}",
            "jdbc.user": url.username or "",
            "jdbc.password": url.password or "",
            "jdbc.schema-version": "V1",
        }
    settings = {f"spark.sql.catalog.{name}.{option}": value for option, value in options.items()}
    return {f"spark.sql.catalog.{name}": CLASS, **settings}
