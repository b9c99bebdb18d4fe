"""A client of a JSON API: pages of rows, tried again where the service may recover."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from trellis.errors import SourceError, UsageError
from trellis.sources.cursors.json_path import MISSING, value_at
from trellis.sources.rest.auth import Auth
from trellis.sources.rest.paginators import HeaderLinkPaginator, PageRequest, Paginator

if TYPE_CHECKING:
    import httpx

TEMPORARY = frozenset({408, 425, 429, 500, 502, 503, 504})
MOST_SECONDS = 60.0
"""The longest pause that is chosen; a service may ask for one up to `LONGEST_WISH`."""
LONGEST_WISH = 600.0
REDIRECTS = 5


class RESTClient:
    """Requests below `base_url`.

    An answer that may be temporary (429, 5xx and the like, a lost connection) is asked for `retries` times
    more, after `backoff` seconds that double each time, or after what `Retry-After` says. `data_selector` is
    the path of the rows in an answer; without it they are the answer, or its only list. Links and redirects
    to another host are refused, as they would get the credentials.
    """

    def __init__(
        self,
        base_url: str,
        headers: Mapping[str, str] | None = None,
        auth: Auth | None = None,
        paginator: Paginator | None = None,
        data_selector: str | None = None,
        *,
        retries: int = 5,
        backoff: float = 1.0,
        timeout: float = 60.0,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        if urlsplit(base_url).scheme not in ("http", "https"):
            raise UsageError(f"{base_url}: the base URL of an API begins with http:// or https://")
        self.base_url = f"{base_url.rstrip('/')}/"
        self.headers = dict(headers or {})
        self.auth = auth
        self.paginator = paginator or HeaderLinkPaginator()
        self.data_selector = data_selector
        self.retries = retries
        self.backoff = backoff
        self.timeout = timeout
        self.sleep = sleep

    def paginate(
        self,
        path: str = "",
        *,
        params: Mapping[str, Any] | None = None,
        method: str = "GET",
        json: Any = None,
        paginator: Paginator | None = None,
        data_selector: str | None = None,
    ) -> Iterator[list[Any]]:
        """The rows of each page. Raises SourceError."""
        pages = paginator or self.paginator
        selector = data_selector or self.data_selector
        request: PageRequest | None = pages.first_request(PageRequest(self._url(path), dict(params or {})))
        with _http_client(self.timeout) as client:
            while request is not None:
                response = self._send(client, method, request, json)
                rows = _rows(response, selector)
                yield rows
                following = pages.next_request(request, response, rows)
                if following == request:
                    raise SourceError(
                        f"{_shown(request.url)}: the page names itself as the next; choose another paginator",
                        retryable=False,
                    )
                if following is not None:
                    self._refuse_other_host(following.url, request.url)
                request = following

    def get(self, path: str, params: Mapping[str, Any] | None = None) -> Any:
        """The JSON of one answer. Raises SourceError."""
        with _http_client(self.timeout) as client:
            return self._send(client, "GET", PageRequest(self._url(path), dict(params or {})), None).json()

    def _url(self, path: str) -> str:
        url = path if path.startswith(("http://", "https://")) else f"{self.base_url}{path.lstrip('/')}"
        self._refuse_other_host(url, self.base_url)
        return url

    def _refuse_other_host(self, url: str, origin: str) -> None:
        if urlsplit(url)[:2] != urlsplit(self.base_url)[:2]:
            raise SourceError(
                f"{_shown(origin)}: it leads to another host, {urlsplit(url).netloc}, which would get the "
                "credentials; make a client for that host",
                retryable=False,
            )

    def _send(self, client: httpx.Client, method: str, request: PageRequest, json: Any) -> httpx.Response:
        import httpx

        for attempt in range(self.retries + 1):
            try:
                response = self._send_once(client, method, request, json)
            except httpx.TransportError as error:
                failure, wish = f"{type(error).__name__}: {error}", None
            else:
                if response.is_success:
                    return _checked(response)
                failure = f"{response.status_code} {response.reason_phrase}"
                if response.status_code not in TEMPORARY:
                    raise SourceError(
                        f"{method} {_shown(request.url)}: {failure}; {_advice(response)}", retryable=False
                    )
                wish = _retry_after(response.headers.get("Retry-After"))
            if attempt < self.retries:
                pause = min(self.backoff * 2**attempt, MOST_SECONDS) * random.uniform(0.8, 1.2)
                self.sleep(pause if wish is None else min(wish, LONGEST_WISH))
        raise SourceError(
            f"{method} {_shown(request.url)}: {failure}, also after {self.retries} further tries; load again "
            "later"
        )

    def _send_once(
        self, client: httpx.Client, method: str, request: PageRequest, json: Any
    ) -> httpx.Response:
        headers = {**self.headers, **(self.auth.headers() if self.auth else {})}
        params = {**request.params, **(self.auth.params() if self.auth else {})}
        url = request.url
        for _ in range(REDIRECTS):
            response = client.request(method, url, params=params or None, headers=headers, json=json)
            if response.next_request is None:
                return response
            url, params = str(response.next_request.url), {}
            self._refuse_other_host(url, request.url)
        raise SourceError(f"{_shown(request.url)}: it redirects without an end", retryable=False)


def _http_client(timeout: float) -> httpx.Client:
    try:
        import httpx
    except ImportError:
        raise UsageError(
            "a client of APIs needs httpx, which is not installed; pip install 'trellis-spark[rest]'"
        ) from None
    return httpx.Client(timeout=timeout, follow_redirects=False)


def _checked(response: httpx.Response) -> httpx.Response:
    try:
        response.json()
    except ValueError:
        raise SourceError(
            f"{_shown(str(response.url))}: the answer is no JSON ({response.text[:60]!r}); check the path",
            retryable=False,
        ) from None
    return response


def _rows(response: httpx.Response, selector: str | None) -> list[Any]:
    """The rows of an answer. Raises SourceError."""
    answer = response.json()
    if selector is not None:
        rows = value_at(answer, selector)
        if rows is MISSING:
            raise SourceError(
                f"{_shown(str(response.url))}: the answer has nothing at {selector}; correct data_selector",
                retryable=False,
            )
        return rows if isinstance(rows, list) else [] if rows is None else [rows]
    if isinstance(answer, dict):
        lists = [value for value in answer.values() if isinstance(value, list)]
        return lists[0] if len(lists) == 1 else [answer]
    return answer if isinstance(answer, list) else [answer]


def _retry_after(header: str | None) -> float | None:
    """The seconds that a service asks to wait.

    >>> _retry_after("120"), _retry_after(None), _retry_after("soon")
    (120.0, None, None)
    """
    if header is None:
        return None
    if header.strip().isdigit():
        return float(header)
    try:
        moment = parsedate_to_datetime(header)
    except ValueError:
        return None
    zoned = moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)
    return max((zoned - datetime.now(timezone.utc)).total_seconds(), 0.0)


def _advice(response: httpx.Response) -> str:
    if response.status_code in (401, 403):
        return "check the credentials and their rights"
    return "check the path and the parameters" if response.status_code == 404 else "correct the request"


def _shown(url: str) -> str:
    """A URL for messages, without its query and its user."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.hostname}{f':{parts.port}' if parts.port else ''}{parts.path}"
