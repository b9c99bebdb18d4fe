"""A PostgreSQL server for tests: a private one, or the one that TRELLIS_TEST_POSTGRES names.

Each process of the tests starts its own server, on a free port of the loopback address and not as root,
and stops it at its end. Each test gets a database of its own.
"""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit, urlunsplit

import psycopg
import pytest

from loopback import free_port

OTHER = "TRELLIS_TEST_POSTGRES"
OWNER = "trellis"
SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "fsync": "off",
    "full_page_writes": "off",
    "shared_buffers": "64MB",
    "max_connections": "60",
    "max_wal_size": "1GB",
    "autovacuum": "off",
    "lc_messages": "C",
    "timezone": "Asia/Kathmandu",  # loads and readers must not care
    "datestyle": "German",
}


class Server:
    """`url(database)` names a database there."""

    def __init__(self, admin: str) -> None:
        self.admin = admin

    def url(self, database: str, **parts: str) -> str:
        """`parts` replace the user, password, host or port of the URL."""
        split = urlsplit(self.admin)
        settings = {
            "user": split.username,
            "password": split.password,
            "host": split.hostname,
            "port": split.port,
        }
        settings.update(parts)
        login = ":".join(
            quote(str(settings[part]), safe="") for part in ("user", "password") if settings[part]
        )
        where = ":".join(str(settings[part]) for part in ("host", "port") if settings[part])
        return urlunsplit(split._replace(netloc=f"{login}@{where}", path=f"/{quote(database, safe='')}"))

    def run(self, *statements: str, database: str | None = None) -> list[tuple[Any, ...]]:
        """Each statement by itself, as the owner of everything; the rows of the last."""
        url = self.admin if database is None else self.url(database)
        with psycopg.connect(url, autocommit=True) as db:
            for statement in statements:
                cursor = db.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    def new_database(self) -> str:
        """The name of a new database."""
        name = f"trellis_test_{secrets.token_hex(6)}"
        self.run(f'CREATE DATABASE "{name}"')
        return name

    def drop_database(self, name: str) -> None:
        with suppress(psycopg.Error):
            self.run(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')


class PrivateServer(Server):
    """A server in a folder of its own."""

    def __init__(self, folder: Path, programs: Path) -> None:
        self.folder = folder
        self.data = folder / "data"
        self.programs = programs
        self.user = _someone() if os.getuid() == 0 else None
        self.port = free_port()
        self.password = secrets.token_hex(8)
        super().__init__(f"postgresql://{OWNER}:{self.password}@127.0.0.1:{self.port}/postgres")
        if self.user is not None:
            shutil.chown(folder, self.user)

    def make(self) -> None:
        secret = self.folder / "password"
        secret.write_text(self.password)
        if self.user is not None:
            shutil.chown(secret, self.user)
        options = ("--auth=scram-sha-256", f"--pwfile={secret}", "--encoding=UTF8", "--locale=C", "--no-sync")
        self._run("initdb", f"--pgdata={self.data}", f"--username={OWNER}", *options)
        settings = {**SETTINGS, "port": str(self.port), "unix_socket_directories": str(self.folder)}
        with open(self.data / "postgresql.conf", "a") as file:
            file.writelines(f"{name} = '{value}'\n" for name, value in settings.items())

    def start(self) -> None:
        log = self.folder / "log"
        try:
            self._run("pg_ctl", "start", f"--pgdata={self.data}", f"--log={log}", "--wait", "--timeout=60")
        except RuntimeError as bad:
            raise RuntimeError(f"{bad}\n{log.read_text() if log.exists() else ''}") from None

    def stop(self, mode: str = "fast") -> None:
        self._run("pg_ctl", "stop", f"--pgdata={self.data}", f"--mode={mode}", "--wait")

    def restart(self, mode: str = "immediate") -> None:
        """Stop the server as a crash would, and start it again."""
        self.stop(mode)
        self.start()

    @contextmanager
    def tidied(self) -> Iterator[None]:
        """Stops the server and removes its folder after the context, or the process, however that ends."""
        script = 'cat; "$0" stop --pgdata="$1" --mode=immediate; rm -rf "$2"'
        words = (str(self.programs / "pg_ctl"), str(self.data), str(self.folder))
        keeper = subprocess.Popen(
            [*self._become, "sh", "-c", script, *words],
            cwd="/",
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            yield
        finally:
            keeper.communicate()

    @property
    def _become(self) -> Sequence[str]:
        """What makes another user of a command that follows."""
        if self.user is None:
            return ()
        return ("setpriv", f"--reuid={self.user}", f"--regid={_group(self.user)}", "--clear-groups")

    def _run(self, program: str, *arguments: str) -> None:
        ran = subprocess.run(
            [*self._become, str(self.programs / program), *arguments],
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE if program == "initdb" else subprocess.DEVNULL,
            stderr=subprocess.PIPE if program == "initdb" else subprocess.DEVNULL,
            text=True,
            check=False,
        )
        if ran.returncode:
            raise RuntimeError(f"{program} {' '.join(arguments)} failed: {ran.stderr or ''}")


def find_programs() -> Path:
    """The folder of `initdb` and `pg_ctl`, of the newest version. Raises LookupError."""
    on_path = shutil.which("initdb")
    folders = [Path(on_path).parent] if on_path else []
    for pattern in ("/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/opt/homebrew/opt/postgresql@*/bin"):
        root, _, rest = pattern.lstrip("/").partition("*")
        folders += sorted(Path("/").glob(f"{root}*{rest}"), key=_version, reverse=True)
    for folder in folders:
        if (folder / "initdb").exists() and (folder / "pg_ctl").exists():
            return folder
    raise LookupError(
        "the tests of the PostgreSQL destination need its server: apt-get install postgresql (as root), or "
        f"set {OTHER} to the URL of a server on which they may create databases"
    )


def _version(folder: Path) -> int:
    digits = "".join(c if c.isdigit() else " " for c in str(folder)).split()
    return int(digits[0]) if digits else 0


def _someone() -> str:
    """A user that is not root."""
    import pwd

    known = {entry.pw_name for entry in pwd.getpwall()}
    return next(name for name in ("postgres", "nobody") if name in known)


def _group(user: str) -> int:
    import pwd

    return pwd.getpwnam(user).pw_gid


@contextmanager
def running() -> Iterator[Server]:
    """The server that the environment names, or a private one while the context lasts."""
    if named := os.environ.get(OTHER):
        yield Server(named)
        return
    programs = find_programs()
    server = PrivateServer(Path(tempfile.mkdtemp(prefix="trellis-postgres-")), programs)
    with server.tidied():
        server.make()
        server.start()
        yield server


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    try:
        with running() as server:
            yield server
    except LookupError as bad:
        if os.environ.get("CI"):
            pytest.fail(str(bad), pytrace=False)
        pytest.skip(str(bad))


@pytest.fixture
def private_postgres(postgres: Server) -> PrivateServer:
    """The server, where it may be stopped and restarted."""
    if not isinstance(postgres, PrivateServer):
        pytest.skip(f"the server that {OTHER} names is not ours to restart")
    return postgres


@pytest.fixture
def database(
    postgres: Server, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[str]:
    """The name of an empty database; what is staged for it is among the files of the tests."""
    monkeypatch.setenv("TRELLIS_STAGING", str(tmp_path_factory.mktemp("staging")))
    name = postgres.new_database()
    yield name
    postgres.drop_database(name)
