"""What the conf of a running session says, for everything that Trellis opens itself."""

from __future__ import annotations

from collections.abc import Mapping

from trellis.engine.spark.session import active_session


def session_conf() -> Mapping[str, str]:
    """The conf of the active session; empty where there is none.

    It holds what was set on the session, and as `spark.hadoop.*` what was set before it began.
    """
    session = active_session()
    return {} if session is None else session.conf.getAll
