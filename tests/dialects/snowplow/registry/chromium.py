"""Chromium without a window, told over a pipe what a person would do (the DevTools protocol)."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any

WAIT = 30.0
"""Seconds that something may take to appear."""


class ProtocolError(Exception):
    """Chromium refused what it was asked, as it does while a page takes the place of another one."""


class Chromium:
    """One page. `problems` is what its console would show: errors of scripts, what its policy forbids."""

    def __init__(self, commands: int, events: int) -> None:
        self.problems: list[str] = []
        self._commands, self._events = os.fdopen(commands, "wb", buffering=0), os.fdopen(events, "rb")
        self._numbers, self._session, self._rest = count(1), "", b""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> Any:
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        self._commands.write(json.dumps(message).encode() + b"\0")
        while (answer := self._read()).get("id") != number:
            if answer.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded"):
                self.problems.append(json.dumps(answer["params"]))
        if "error" in answer:
            raise ProtocolError(answer)
        return answer["result"]

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            block = os.read(self._events.fileno(), 1 << 16)
            assert block, "Chromium ended"
            self._rest += block
        message, _, self._rest = self._rest.partition(b"\0")
        answer: dict[str, Any] = json.loads(message)
        return answer

    def evaluate(self, script: str) -> Any:
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def wait_for(self, condition: str) -> None:
        """Until an expression is true in the page, which may be another one by then."""
        script = f"(() => {{ try {{ return {condition} }} catch {{ return false }} }})()"
        until = time.monotonic() + WAIT
        while True:
            with suppress(ProtocolError):
                if self.evaluate(script):
                    return
            assert time.monotonic() < until, f"{condition}: {self.evaluate('document.body.innerText')}"
            time.sleep(0.05)

    def open(self, url: str) -> None:
        self.call("Page.navigate", url=url)
        self.wait_for(f"document.readyState === 'complete' && location.href === {json.dumps(url)}")

    def type_into(self, selector: str, text: str) -> None:
        """In place of what is there, as keys do it."""
        self.evaluate(f"(() => {{ const field = document.querySelector({json.dumps(selector)});"
                      " field.focus(); field.select(); })()")  # fmt: skip
        self.call("Input.insertText", text=text)

    def text(self, selector: str) -> str:
        """What a person reads there, in one line."""
        shown = self.evaluate(f"document.querySelector({json.dumps(selector)}).innerText")
        return " ".join(shown.split())


def _far_from_three(descriptor: int) -> int:
    """A descriptor that is none of those that Chromium reads and writes."""
    far = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 10)
    os.close(descriptor)
    return far


@contextmanager
def running_chromium(folder: Path) -> Iterator[Chromium]:
    """With its profile in a folder."""
    program = shutil.which("chromium")
    assert program, "chromium is not on the PATH; `make test-registry` needs it"
    pipes = os.pipe(), os.pipe()
    (command_end, commands), (events, event_end) = (map(_far_from_three, pipe) for pipe in pipes)
    words = (program, "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe")
    shell = f'exec "$@" 3<&{command_end} 4>&{event_end}'
    process = subprocess.Popen(
        ["bash", "-c", shell, "bash", *words, f"--user-data-dir={folder}", "--window-size=900,1400"],
        pass_fds=(command_end, event_end),
        stderr=subprocess.DEVNULL,
    )
    os.close(command_end)
    os.close(event_end)
    try:
        yield Chromium(commands, events)
    finally:
        process.kill()
        process.wait()
