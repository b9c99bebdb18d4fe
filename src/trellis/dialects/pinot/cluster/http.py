"""HTTP requests to a controller, and the reasons for a missing answer."""

from __future__ import annotations

import urllib.request
from dataclasses import dataclass, field
from http.client import HTTPException
from typing import Any, Final
from urllib.error import URLError
from urllib.parse import urlsplit

from trellis.errors import DestinationError, UsageError

TIMEOUT: Final = 60.0
TOKEN: Final = "TRELLIS_PINOT_TOKEN"
USER: Final = "TRELLIS_PINOT_USER"


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
    """Requests to one host. `authorization` is a header that is sent there and never shown."""

    url: str
    authorization: str | None = field(default=None, repr=False)
    timeout: float = TIMEOUT

    @staticmethod
    def of(url: str, authorization: str | None = None, timeout: float = TIMEOUT) -> Http:
        """For `http://host:port` or `https://...`. Raises UsageError for any other URL."""
        parts = urlsplit(url)
        try:
            is_http = parts.scheme in ("http", "https") and parts.port != 0
        except ValueError:
            is_http = False
        if not is_http or not parts.hostname or "@" in parts.netloc:
            visible_url = url.rpartition("@")[2]
            hint = f"; set {USER}=name:password for a user" if visible_url != url else ""
            raise UsageError(
                f"{visible_url!r} is not a controller: use its URL, such as http://localhost:9000{hint}"
            )
        if authorization and not (authorization.isascii() and authorization.isprintable()):
            raise UsageError(f"{TOKEN}: it may hold printable ASCII characters only")
        return Http(url.rstrip("/"), authorization, timeout)

    def send(
        self, method: str, path: str, body: bytes | None = None, type: str = "application/json"
    ) -> Answer:
        """One answer, whatever its status. Raises DestinationError without an answer."""
        headers = {"Accept": "application/json"}
        if self.authorization is not None:
            headers["Authorization"] = self.authorization
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
            problem = f"no answer to {method} within {self.timeout:g} seconds"
            if method != "GET":
                problem += "; the request may still take effect, so check before you repeat it"
        else:
            problem = (
                f"the connection failed ({why or type(why).__name__}); check http or https, the host, the "
                "port (9000), whether the controller runs, and for a certificate SSL_CERT_FILE"
            )
        return DestinationError(f"{self.url}: {problem}")


class _AnyStatus(urllib.request.HTTPErrorProcessor):
    """Any status is an answer. No redirect is followed, so credentials are sent to one host only."""

    def http_response(self, request: Any, response: Any) -> Any:
        return response

    https_response = http_response


_OPENER: Final = urllib.request.build_opener(_AnyStatus)
