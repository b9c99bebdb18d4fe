"""HTTP requests to a controller, and the reasons for a missing answer."""

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
"""Seconds before a GET is repeated."""
_BUSY: Final = (502, 503, 504)


@dataclass(frozen=True)
class Answer:
    """An answer: the status, the content type, and the body as text."""

    status: int
    type: str
    body: str
    location: str | None = None

    @property
    def ok(self) -> bool:
        return 200 <= self.status < 300


@dataclass(frozen=True)
class Http:
    """Requests to one host. `headers` may hold credentials: they are sent there and never shown."""

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

        Raises UsageError for any other URL.
        """
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or not _has_port(parts.netloc):
            visible_url = url.rpartition("@")[2]
            raise UsageError(
                f"{visible_url!r} is not a controller: use its URL, such as http://localhost:9000"
            )
        all_headers = dict(headers or {})
        if parts.username is not None and "authorization" not in {name.lower() for name in all_headers}:
            all_headers["Authorization"] = basic(f"{unquote(parts.username)}:{unquote(parts.password or '')}")
        for name, value in all_headers.items():
            if not (name + value).isascii() or not (name + value).isprintable():
                raise UsageError(f"header {name!r}: its value may hold printable ASCII characters only")
        place = parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="")
        return Http(urlunsplit(place).rstrip("/"), MappingProxyType(all_headers), timeout, wait)

    def send(
        self, method: str, path: str, body: bytes | None = None, type: str = "application/json"
    ) -> Answer:
        """One answer, whatever its status. A GET is repeated where the host was busy or unreachable.

        Raises DestinationError without an answer.
        """
        for pause in PAUSES if method == "GET" else ():
            try:
                answer = self._send_once(method, path, body, type)
            except _TransientError:
                pass
            else:
                if answer.status not in _BUSY:
                    return answer
            self.wait(pause)
        return self._send_once(method, path, body, type)

    def _send_once(self, method: str, path: str, body: bytes | None, type: str) -> Answer:
        headers = {"Accept": "application/json", **self.headers}
        if body is not None:
            headers["Content-Type"] = type
        request = urllib.request.Request(self.url + path, body, headers, method=method)
        try:
            with _OPENER.open(request, timeout=self.timeout) as response:
                text = response.read().decode("utf-8", "replace")
                response_headers = response.headers
                return Answer(
                    response.status,
                    response_headers.get_content_type(),
                    text,
                    response_headers.get("Location"),
                )
        except urllib.error.URLError as error:
            raise self._connection_error(method, error.reason) from error
        except (OSError, HTTPException) as error:
            raise self._connection_error(method, error) from error

    def _connection_error(self, method: str, why: Any) -> DestinationError:
        match why:
            case TimeoutError():
                problem = f"no answer to {method} within {self.timeout:g} seconds (raise it with --timeout)"
                if method != "GET":
                    problem += "; the request may still take effect, so check before you repeat it"
            case ConnectionRefusedError():
                problem = "nothing listens there; is the controller running, and is the port right (9000)?"
            case ssl.SSLCertVerificationError():
                return DestinationError(
                    f"{self.url}: its certificate is not trusted ({why.verify_message}); name that of its "
                    "authority in the environment variable SSL_CERT_FILE"
                )
            case ssl.SSLError():
                reason = why.reason or why
                return DestinationError(
                    f"{self.url}: no TLS connection ({reason}); is it http rather than https?"
                )
            case socket.gaierror():
                return DestinationError(f"{self.url}: unknown host; check the name")
            case _:
                reason = str(why) or type(why).__name__
                problem = f"the connection was lost before an answer ({reason}); try again"
        return _TransientError(f"{self.url}: {problem}")


class _TransientError(DestinationError):
    """No answer, for a reason that may be temporary."""


class _AnyStatus(urllib.request.HTTPErrorProcessor):
    """Any status is an answer. No redirect is followed, so credentials are sent to one host only."""

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
    port = netloc.rpartition("@")[2].rpartition("]")[2].partition(":")[2]
    return not port or (port.isdecimal() and int(port) < 65536)
