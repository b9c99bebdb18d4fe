"""Says whom a load waits for while another session of PostgreSQL holds a lock that it needs."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread
from typing import Final

WATCH_PAUSE: Final = 10.0
"""Seconds between two looks at what a load waits for."""
_PATIENCE: Final = 5
"""Seconds that a connection for a look may take."""
_HOLDERS: Final = """
    SELECT format('session %%s (user %%s%%s)', pid, usename, ', ' || nullif(application_name, ''))
    FROM pg_stat_activity WHERE pid = ANY (pg_blocking_pids(%s)) ORDER BY pid
"""


@contextmanager
def watched_locks(url: str, shown: str, session: int, pause: float) -> Iterator[None]:
    """Warn once if a session waits for a lock that others hold. `shown` is what sentences call the server."""
    done = Event()
    Thread(target=_watch, args=(url, shown, session, pause, done), daemon=True).start()
    try:
        yield
    finally:
        done.set()  # without waiting for a look at a server that no longer answers


def _watch(url: str, shown: str, session: int, pause: float, done: Event) -> None:
    while not done.wait(pause):
        if (holders := _holders(url, session)) and not done.is_set():
            warnings.warn(
                f"{shown}: the load waits for a lock that {', '.join(holders)} holds; it goes on when that "
                "transaction ends",
                stacklevel=2,
            )
            return


def _holders(url: str, session: int) -> list[str]:
    """Those that a session waits for; none where the server does not say it."""
    import psycopg

    with (
        suppress(psycopg.Error),
        psycopg.connect(url, autocommit=True, connect_timeout=_PATIENCE) as connection,
    ):
        return [str(holder) for (holder,) in connection.execute(_HOLDERS, (session,))]
    return []
