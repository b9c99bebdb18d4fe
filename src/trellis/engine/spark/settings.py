"""The conf of a running session: what it says for files that Trellis opens itself, and what it lacks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from trellis.engine.spark.session import active_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def session_conf() -> Mapping[str, str]:
    """The conf of the active session; empty where there is none.

    It holds what was set on the session, and as `spark.hadoop.*` what was set before it began.
    """
    session = active_session()
    return {} if session is None else session.conf.getAll


def add_settings(session: SparkSession, settings: Mapping[str, str]) -> None:
    """Set what a session does not say yet. Hadoop's own settings have names without `spark.hadoop.`."""
    for name, value in settings.items():
        if not any(session.conf.get(known, None) for known in (name, f"spark.hadoop.{name}")):
            session.conf.set(name, value)
