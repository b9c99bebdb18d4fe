"""The Spark session of a load: the active one, or one that starts beside whatever needs no Spark."""

from __future__ import annotations

import io
import os
import re
import socket
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from trellis.engine.spark.failures import session_failure, start_failure
from trellis.engine.spark.local_mode import LOCAL_MASTER, local_settings, require_java
from trellis.engine.spark.packages import forget_packages, package_settings, spark_defaults
from trellis.errors import SparkError, UsageError

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

_SETTINGS = {
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.caseSensitive": "true",
}
"""What every session that Trellis starts has; an active session keeps the settings it has."""

_MASTER = re.compile(
    r"local|local\[(\*|[1-9]\d*)(\s*,\s*[1-9]\d*)?\]|local-cluster\[.+\]|yarn|[a-z][a-z0-9+.-]*://.+"
)
_SUBMIT_ARGUMENTS = "PYSPARK_SUBMIT_ARGS"
CONNECT_PORT = 15002
CONNECT_SECONDS = 10.0
_PROXIES = ("grpc", "https", "http")
_SPLITS = re.compile(r"splits=(?:Some\()?(\d+)")


class SessionStart:
    """A session that starts in a thread of its own."""

    def __init__(self, master: str | None, remote: str | None, short: bool) -> None:
        self._session: SparkSession | None = None
        self._failure: BaseException | None = None
        arguments = (master, remote, short)
        self._thread = threading.Thread(target=self._run, args=arguments, name="trellis-spark", daemon=True)
        self._thread.start()

    def _run(self, master: str | None, remote: str | None, short: bool) -> None:
        try:
            self._session = connect(remote) if remote is not None else _start(master, short)
        except BaseException as failure:
            self._failure = failure

    @property
    def succeeded(self) -> bool:
        """Whether the session is there; from then on it is the active one, until somebody stops it."""
        return self._session is not None

    def wait(self) -> SparkSession:
        """The session as soon as there is one. Raises what kept it from starting."""
        while self._thread.is_alive():
            self._thread.join(0.1)  # so that Ctrl-C is heard
        if self._failure is not None:
            raise self._failure
        assert self._session is not None
        return self._session


class _Address(NamedTuple):
    master: str | None
    remote: str | None


def _address(master: str | None, remote: str | None) -> _Address:
    """Where Spark is; PySpark's own variable for a Connect server counts as well."""
    return _Address(master, remote or (os.environ.get("SPARK_REMOTE") if master is None else None))


_starts: dict[_Address, SessionStart] = {}
_started_here: list[SparkSession] = []


def start_session(
    master: str | None = None, remote: str | None = None, short: bool = False
) -> SessionStart | None:
    """Begin to start a session and return at once; None where one is active.

    `short`: it is for one small job, so its JVM had better start fast than compute fast.
    Raises UsageError for a master that is no address, SparkError where there is no Java.
    """
    address = _address(master, remote)
    if address in _starts and not _starts[address].succeeded:
        return _starts[address]
    if active_session() is not None:
        return None
    if address.remote is None:
        check_master(master)
        require_java()
    _starts[address] = SessionStart(*address, short)
    return _starts[address]


def get_session(master: str | None = None, remote: str | None = None) -> SparkSession:
    """The active session with its settings as they are; where there is none, a new one.

    Raises SparkError with the next step where none can start, UsageError where one runs somewhere else.
    """
    start = start_session(master, remote)
    if start is None:
        session = active_session()
        assert session is not None
        _refuse_other_place(session, master, remote)
        return session
    try:
        return start.wait()
    finally:
        _starts.pop(_address(master, remote), None)


def conf_before_start(master: str | None = None, remote: str | None = None) -> Mapping[str, str] | None:
    """The conf that a session in local mode will have; None where one starts already, or it alone knows."""
    address = _address(master, remote)
    is_known = address.remote is None and _is_local(master or LOCAL_MASTER) and not _by_spark_submit(master)
    if not is_known or _SUBMIT_ARGUMENTS in os.environ or address in _starts or active_session() is not None:
        return None
    return spark_defaults()


def active_session() -> SparkSession | None:
    """The session that this process has already. Raises SparkError if it is dead."""
    if "pyspark.sql" not in sys.modules:
        return None
    from pyspark.errors import PySparkRuntimeError
    from pyspark.sql import SparkSession

    try:
        return SparkSession.active()
    except PySparkRuntimeError:  # there is none
        return None
    except Exception as failure:
        raise session_failure(failure) from failure


def started_here(session: SparkSession) -> bool:
    """Whether Trellis started the session, in local mode."""
    return any(started is session for started in _started_here)


def is_connect(session: SparkSession) -> bool:
    """Whether a session talks to a Spark Connect server."""
    return "connect" in type(session).__module__


def runs_here(master: str | None, remote: str | None) -> bool:
    """Whether tasks run on this machine and see its files. Waits for a session only where it must."""
    address = _address(master, remote)
    waiting = address in _starts and not _starts[address].succeeded
    if waiting and address.remote is None and not _by_spark_submit(master):
        return _is_local(master or LOCAL_MASTER)
    return is_local(get_session(master, remote))


def is_local(session: SparkSession) -> bool:
    """Whether the tasks of a session run on this machine."""
    return not is_connect(session) and _is_local(str(session.sparkContext.master))


def _is_local(master: str) -> bool:
    return master.partition("[")[0] == "local"


def _by_spark_submit(master: str | None) -> bool:
    """Whether spark-submit runs this process, which has a master and settings of its own."""
    return master is None and "PYSPARK_GATEWAY_PORT" in os.environ


def register_function(
    session: SparkSession, name: str, function: Callable[[pa.Array], pa.Array], returns: str
) -> None:
    """Let statements of a session call a function of a module, which workers import, of columns."""
    from pyspark.sql.pandas import functions

    by_arrow: Callable[..., Any] = functions.arrow_udf
    session.udf.register(name, by_arrow(function, returns))


def cores_of(session: SparkSession) -> int:
    """How many tasks run at once."""
    if not is_connect(session):
        return max(int(session.sparkContext.defaultParallelism), 1)
    plan = io.StringIO()
    with redirect_stdout(plan):  # Connect has no default parallelism, but its plans name it
        session.range(1).explain()
    splits = _SPLITS.search(plan.getvalue())
    return int(splits[1]) if splits else os.cpu_count() or 1


def _start(master: str | None, short: bool) -> SparkSession:
    from pyspark.sql import SparkSession

    settings: dict[str, str] = {}
    packages: dict[str, str] = {}
    if not _by_spark_submit(master):
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        settings = {"spark.master": master or LOCAL_MASTER, **_SETTINGS}
        if _is_local(master or LOCAL_MASTER):
            os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
            settings.update(local_settings(short))
            packages = package_settings(spark_defaults())

    def create(settings: Mapping[str, str]) -> SparkSession:
        builder = SparkSession.builder.appName("trellis")
        for name, value in settings.items():
            builder = builder.config(name, value)
        return builder.getOrCreate()

    try:
        session = create({**settings, **packages})
    except Exception as failure:
        fetched = packages.get("spark.jars.packages", "")
        refusal = start_failure(failure, master or "local mode", fetched)
        if not fetched:
            raise refusal from failure
        try:
            session = create(settings)
        except Exception:
            raise refusal from failure
        forget_packages()  # what needs them says so
    if settings:
        session.sparkContext.setLogLevel("ERROR")
        if _is_local(master or LOCAL_MASTER):
            _started_here.append(session)
    return session


def connect(remote: str) -> SparkSession:
    """A session at a Spark Connect server. Raises SparkError."""
    from pyspark.sql import SparkSession

    missing = [name for name in ("grpc", "grpc_status") if find_spec(name) is None]
    if missing:
        raise SparkError(
            f"--remote {remote} needs grpcio, which is not installed; pip install 'trellis-spark[connect]'"
        )
    check_reachable(remote)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    try:
        return SparkSession.builder.remote(remote).getOrCreate()
    except Exception as failure:
        raise start_failure(failure, remote) from failure


def check_reachable(remote: str) -> None:
    """Raises SparkError where nothing listens at the address of a Connect server.

    PySpark itself would try again for ten minutes. What a proxy leads to is left to it.
    """
    from urllib.request import getproxies  # brings http, which workers do not need

    address = urlsplit(remote)
    if (
        not remote.startswith("sc://")
        or not address.hostname
        or any(name in getproxies() for name in _PROXIES)
    ):
        return
    try:
        socket.create_connection((address.hostname, address.port or CONNECT_PORT), CONNECT_SECONDS).close()
    except (OSError, ValueError) as failure:
        reason = getattr(failure, "strerror", None) or str(failure)
        raise SparkError(
            f"{remote.partition(';')[0]}: no Spark Connect server answers there ({reason}); check host and "
            "port, or start one with sbin/start-connect-server.sh"
        ) from failure


def check_master(master: str | None) -> None:
    """Raises UsageError for what Spark would not take as the address of a master."""
    if master is not None and not _MASTER.fullmatch(master):
        raise UsageError(
            f"--master {master!r} is no address of Spark; write local[2], spark://HOST:7077, "
            "k8s://https://HOST:443 or yarn"
        )


def _refuse_other_place(session: SparkSession, master: str | None, remote: str | None) -> None:
    """A process has one Spark: another master or server cannot be had while it runs."""
    if is_connect(session):
        running, fits = "a Spark Connect session", master is None
    else:
        running = f"a Spark session at {session.sparkContext.master}"
        fits = remote is None and master in (None, session.sparkContext.master)
    if not fits:
        raise UsageError(
            f"Spark at {remote or master} cannot be used: {running} runs in this process already; use it "
            "(name no master and no remote), or stop it first"
        )
