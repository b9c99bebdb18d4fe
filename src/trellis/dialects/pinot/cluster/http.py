"""HTTP requests to a controller, and the reasons for a missing answer."""

from __future__ import annotations

import base64
import ssl
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.client import HTTPException
from types import MappingProxyType
from typing import Any, Final
from urllib.error import URLError
from urllib.parse import SplitResult, unquote, urlsplit, urlunsplit

from trellis.errors import DestinationError, UsageError

TIMEOUT: Final = 30.0


@dataclass(frozen=True)
class Answer:
    """An answer: the status, the content type, and the body as text."""

    status: int
    type: str
    body: str

    @property
    def ok(self) -> bool:
        return 200 <= self.status < 300


@dataclass(frozen=True)
class Http:
    """Requests to one host. `headers` may hold credentials: they are sent there and never shown."""

    url: str
    headers: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}), repr=False)
    timeout: float = TIMEOUT

    @staticmethod
    def of(url: str, headers: Mapping[str, str] | None = None, timeout: float = TIMEOUT) -> Http:
        """For `http://host:port` or `https://...`; a user and password in it become a header.

        Raises UsageError for any other URL.
        """
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or not _has_port(parts):
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
        return Http(urlunsplit(place).rstrip("/"), MappingProxyType(all_headers), timeout)

    def send(
        self, method: str, path: str, body: bytes | None = None, type: str = "application/json"
    ) -> Answer:
        """One answer, whatever its status. Raises DestinationError without an answer."""
        headers = {"Accept": "application/json", **self.headers}
        if body is not None:
            headers["Content-Type"] = type
        request = urllib.request.Request(self.url + path, body, headers, method=method)
        try:
            with _OPENER.open(request, timeout=self.timeout) as response:
                text = response.read().decode("utf-8", "replace")
                return Answer(response.status, response.headers.get_content_type(), text)
        except (OSError, HTTPException) as error:
            why = error.reason if isinstance(error, URLError) else error
            raise self._connection_error(method, why) from error

    def _connection_error(self, method: str, why: Any) -> DestinationError:
        if isinstance(why, TimeoutError):
            later = "; the request may still take effect, so check before you repeat it"
            problem = (
                f"no answer to {method} within {self.timeout:g} seconds (raise it with --timeout)"
                f"{'' if method == 'GET' else later}"
            )
        elif isinstance(why, ssl.SSLError):
            problem = (
                f"no TLS connection ({why}); use http:// for a controller without TLS, or name the authority "
                "of its certificate in the environment variable SSL_CERT_FILE"
            )
        else:
            problem = (
                f"the connection failed ({why or type(why).__name__}); check the host, the port (9000) and "
                "whether the controller is running"
            )
        return DestinationError(f"{self.url}: {problem}")


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


def _has_port(parts: SplitResult) -> bool:
    """Whether the port is a number, or there is none."""
    try:
        return parts.port is None or parts.port > 0
    except ValueError:
        return False
