"""Pinot's classes from Maven, our Java beside them compiled, and a process of them that cannot outlive us."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import IO, Any, cast

HERE = Path(__file__).parent
POM = HERE / "pom.xml"
OPENED = (
    "java.lang",
    "java.lang.reflect",
    "java.net",
    "java.nio",
    "java.util",
    "sun.net.www.protocol.http",
    "sun.nio.ch",
)


class NoPinot(RuntimeError):
    """Pinot cannot be run here; the message says what is missing."""


def tool(name: str) -> str:
    """The path of `java`, `javac` or `mvn`, that of JAVA_HOME first."""
    home = os.environ.get("JAVA_HOME")
    path = shutil.which(name, path=f"{home}/bin") if home and name != "mvn" else None
    path = path or shutil.which(name)
    if path is None:
        raise NoPinot(f"`{name}` is not on the PATH: Pinot needs Maven and a JDK of 17 or later")
    return path


def kept_path(kind: str, content: bytes) -> Path:
    """Where that which follows from `content` is kept between runs."""
    return (
        Path(tempfile.gettempdir())
        / f"trellis-pinot-{kind}-{os.getuid()}-{hashlib.sha256(content).hexdigest()[:16]}"
    )


@cache
def classpath() -> str:
    """The jars of `pom.xml`, joined by `:`. Maven is asked once, and again when one of them is gone."""
    kept = kept_path("jars", POM.read_bytes())
    if kept.exists():
        jars = kept.read_text()
        if all(Path(jar).exists() for jar in jars.split(os.pathsep)):
            return jars
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder) / "classpath"
        command = [
            tool("mvn"),
            "-B",
            "-q",
            "-f",
            str(POM),
            "dependency:build-classpath",
            f"-Dmdep.outputFile={written}",
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=900)
        if done.returncode or not written.exists():
            raise NoPinot("Maven did not resolve tests/dialects/pinot/pom.xml:\n" + done.stdout[-3000:])
        jars = written.read_text().strip()
    part = kept.with_suffix(f".{os.getpid()}")
    part.write_text(jars)
    part.replace(kept)
    return jars


@cache
def classes() -> Path:
    """The folder of our own classes, compiled against the jars when a source has changed."""
    sources = sorted(HERE.rglob("*.java"))
    kept = kept_path("classes", b"\0".join([POM.read_bytes(), *(source.read_bytes() for source in sources)]))
    if not kept.exists():
        part = Path(tempfile.mkdtemp(prefix=f"{kept.name}."))
        command = [
            tool("javac"),
            "-proc:none",
            "-nowarn",
            "-encoding",
            "UTF-8",
            "-cp",
            classpath(),
            "-d",
            str(part),
        ]
        done = subprocess.run(
            [*command, *map(str, sources)], capture_output=True, text=True, check=False, timeout=300
        )
        if done.returncode:
            raise NoPinot("javac refused tests/dialects/pinot:\n" + done.stderr[-3000:])
        try:
            part.rename(kept)
        except OSError:  # another process was first
            shutil.rmtree(part)
    return kept


class Jvm:
    """A running class that is talked to in JSON lines, and stops when its standard input ends."""

    def __init__(self, process: subprocess.Popen[str], log: Path) -> None:
        self._process = process
        self._log = log

    @property
    def pid(self) -> int:
        return self._process.pid

    def write(self, message: dict[str, Any]) -> None:
        stream = cast(IO[str], self._process.stdin)
        stream.write(json.dumps(message) + "\n")
        stream.flush()

    def read(self) -> dict[str, Any]:
        line = cast(IO[str], self._process.stdout).readline()
        if not line:
            code = self._process.wait()
            raise RuntimeError(f"the JVM ended with {code}:\n" + self._log.read_text()[-3000:])
        return cast(dict[str, Any], json.loads(line))


def _command(main: str, args: Sequence[str], heap: str, zone: str) -> list[str]:
    return [
        tool("java"), f"-Xmx{heap}", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", f"-Duser.timezone={zone}",
        "-Duser.language=en", "-Duser.country=US", "-Dfile.encoding=UTF-8",
        *(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in OPENED),
        "--add-exports=java.base/jdk.internal.ref=ALL-UNNAMED",
        "-cp", f"{classes()}{os.pathsep}{classpath()}", main, *args,
    ]  # fmt: skip


def run(main: str, *args: str, heap: str = "512m", seconds: float = 300) -> None:
    """Run `main` to its end; what it said is the message of the error if it fails."""
    done = subprocess.run(
        _command(main, args, heap, "UTC"), capture_output=True, text=True, check=False, timeout=seconds
    )
    if done.returncode:
        raise RuntimeError(f"{main} ended with {done.returncode}:\n{(done.stdout + done.stderr)[-3000:]}")


@contextmanager
def jvm(main: str, *args: str, log: Path, heap: str, zone: str = "UTC") -> Iterator[Jvm]:
    """Run `main` with `heap` of memory; what it prints goes to `log`. It is gone when the block is left."""
    command = _command(main, args, heap, zone)
    with log.open("w") as errors:
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True, encoding="utf-8"
        )
    try:
        yield Jvm(process, log)
    finally:
        with suppress(BrokenPipeError):
            cast(IO[str], process.stdin).close()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        cast(IO[str], process.stdout).close()
