"""One HTTP request to a controller, and why there was no answer if there was none."""

from __future__ import annotations

import base64
import socket
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.client import HTTPException
from types import MappingProxyType
from typing import Any, Final
from urllib.parse import unquote, urlsplit, urlunsplit

from trellis.errors import DestinationError, UsageError

TIMEOUT: Final = 30.0
PAUSES: Final = (0.2, 1.0)
"""Seconds before a GET is asked again."""
_BUSY: Final = (502, 503, 504)


@dataclass(frozen=True)
class Answer:
    """What came back: a status, a content type, and the body as text."""

    status: int
    type: str
    body: str
    location: str | None = None

    @property
    def ok(self) -> bool:
        return 200 <= self.status < 300


@dataclass(frozen=True)
class Http:
    """Requests to one host. `headers` may hold credentials: they go there and are never shown."""

    url: str
    headers: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}), repr=False)
    timeout: float = TIMEOUT
    wait: Callable[[float], None] = field(default=time.sleep, repr=False, compare=False)

    @staticmethod
    def of(
        url: str,
        headers: Mapping[str, str] | None = None,
        timeout: float = TIMEOUT,
        wait: Callable[[float], None] = time.sleep,
    ) -> Http:
        """For `http://host:port` or `https://...`; a user and password in it become a header.

        Raises UsageError where it is no such URL.
        """
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or not _has_port(parts.netloc):
            shown = url.rpartition("@")[2]
            raise UsageError(f"{shown!r} is no controller: write its URL, such as http://localhost:9000")
        made = dict(headers or {})
        if parts.username is not None and "authorization" not in {name.lower() for name in made}:
            made["Authorization"] = basic(f"{unquote(parts.username)}:{unquote(parts.password or '')}")
        for name, value in made.items():
            if not (name + value).isascii() or not (name + value).isprintable():
                raise UsageError(f"header {name!r}: its value may hold printable ASCII characters only")
        place = parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="")
        return Http(urlunsplit(place).rstrip("/"), MappingProxyType(made), timeout, wait)

    def ask(
        self, method: str, path: str, body: bytes | None = None, type: str = "application/json"
    ) -> Answer:
        """One answer, whatever its status. A GET is asked again where the host was busy or out of reach.

        Raises DestinationError where no answer came.
        """
        for pause in PAUSES if method == "GET" else ():
            try:
                answer = self._once(method, path, body, type)
            except _Passing:
                pass
            else:
                if answer.status not in _BUSY:
                    return answer
            self.wait(pause)
        return self._once(method, path, body, type)

    def _once(self, method: str, path: str, body: bytes | None, type: str) -> Answer:
        headers = {"Accept": "application/json", **self.headers}
        if body is not None:
            headers["Content-Type"] = type
        request = urllib.request.Request(self.url + path, body, headers, method=method)
        try:
            with _OPENER.open(request, timeout=self.timeout) as found:
                text = found.read().decode("utf-8", "replace")
                told = found.headers
                return Answer(found.status, told.get_content_type(), text, told.get("Location"))
        except urllib.error.URLError as error:
            raise self._unanswered(method, error.reason) from error
        except (OSError, HTTPException) as error:
            raise self._unanswered(method, error) from error

    def _unanswered(self, method: str, why: Any) -> DestinationError:
        if isinstance(why, TimeoutError):
            sure = (
                "" if method == "GET" else "; it may still do what it was asked, so look before you ask again"
            )
            return _Passing(
                f"{self.url}: no answer to {method} within {self.timeout:g} seconds (--timeout gives it more)"
                f"{sure}"
            )
        if isinstance(why, ssl.SSLCertVerificationError):
            return DestinationError(
                f"{self.url}: its certificate is not trusted ({why.verify_message}); name that of its "
                "authority in the environment variable SSL_CERT_FILE"
            )
        if isinstance(why, ssl.SSLError):
            return DestinationError(
                f"{self.url}: no TLS connection ({why.reason or why}); is it http rather than https?"
            )
        if isinstance(why, ConnectionRefusedError):
            return _Passing(
                f"{self.url}: nothing listens there; is the controller running, and is the port right (9000)?"
            )
        if isinstance(why, socket.gaierror):
            return DestinationError(f"{self.url}: there is no such host; check the name")
        said = str(why) or type(why).__name__
        return _Passing(f"{self.url}: the connection broke before an answer came ({said}); try again")


class _Passing(DestinationError):
    """No answer, for a reason that may pass."""


class _AnyStatus(urllib.request.HTTPErrorProcessor):
    """Whatever the status, it is an answer. No redirect is followed: credentials stay where they belong."""

    def http_response(self, request: Any, response: Any) -> Any:
        return response

    https_response = http_response


_OPENER: Final = urllib.request.build_opener(_AnyStatus)


def basic(user_and_password: str) -> str:
    """The header of basic authentication.

    >>> basic("me:secret")
    'Basic bWU6c2VjcmV0'
    """
    return f"Basic {base64.b64encode(user_and_password.encode()).decode()}"


def _has_port(netloc: str) -> bool:
    """Whether the port is a number, or there is none.

    >>> _has_port("host"), _has_port("host:9000"), _has_port("[::1]:90"), _has_port("host:x")
    (True, True, True, False)
    """
    said = netloc.rpartition("@")[2].rpartition("]")[2].partition(":")[2]
    return not said or (said.isdecimal() and int(said) < 65536)
