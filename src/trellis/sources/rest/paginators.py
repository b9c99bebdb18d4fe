"""How the next page of an API is found. A paginator has no state: the request says where one is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

from trellis.sources.cursors.json_path import MISSING, value_at

if TYPE_CHECKING:
    import httpx


@dataclass(frozen=True)
class PageRequest:
    """The request of one page."""

    url: str
    params: Mapping[str, Any] = field(default_factory=dict)

    def with_params(self, **params: Any) -> PageRequest:
        return replace(self, params={**self.params, **params})


class Paginator(Protocol):
    def first_request(self, request: PageRequest) -> PageRequest:
        """The request of the first page."""
        ...

    def next_request(
        self, request: PageRequest, response: httpx.Response, rows: Sequence[Any]
    ) -> PageRequest | None:
        """The request of the page after one that was answered; None after the last page."""
        ...


@dataclass(frozen=True)
class SinglePagePaginator:
    """There is one page."""

    def first_request(self, request: PageRequest) -> PageRequest:
        return request

    def next_request(
        self, request: PageRequest, response: httpx.Response, rows: Sequence[Any]
    ) -> PageRequest | None:
        return None


@dataclass(frozen=True)
class HeaderLinkPaginator:
    """The header `Link` names the next page, as at GitHub."""

    links_next_key: str = "next"

    def first_request(self, request: PageRequest) -> PageRequest:
        return request

    def next_request(
        self, request: PageRequest, response: httpx.Response, rows: Sequence[Any]
    ) -> PageRequest | None:
        link = response.links.get(self.links_next_key, {}).get("url")
        return PageRequest(str(response.url.join(link))) if link else None


@dataclass(frozen=True)
class JSONLinkPaginator:
    """A value of the answer is the URL of the next page."""

    next_url_path: str = "next"

    def first_request(self, request: PageRequest) -> PageRequest:
        return request

    def next_request(
        self, request: PageRequest, response: httpx.Response, rows: Sequence[Any]
    ) -> PageRequest | None:
        link = value_at(response.json(), self.next_url_path)
        return PageRequest(str(response.url.join(link))) if isinstance(link, str) and link else None


@dataclass(frozen=True)
class JSONResponseCursorPaginator:
    """A value of the answer is a parameter of the next request."""

    cursor_path: str = "cursors.next"
    cursor_param: str = "cursor"

    def first_request(self, request: PageRequest) -> PageRequest:
        return request

    def next_request(
        self, request: PageRequest, response: httpx.Response, rows: Sequence[Any]
    ) -> PageRequest | None:
        cursor = value_at(response.json(), self.cursor_path)
        return (
            request.with_params(**{self.cursor_param: cursor}) if cursor not in (MISSING, None, "") else None
        )


@dataclass(frozen=True)
class OffsetPaginator:
    """A parameter counts the rows before the page. The end is the total, if it is there, or an empty page."""

    limit: int
    offset: int = 0
    offset_param: str = "offset"
    limit_param: str = "limit"
    total_path: str | None = "total"
    maximum_offset: int | None = None

    def first_request(self, request: PageRequest) -> PageRequest:
        return request.with_params(**{self.offset_param: self.offset, self.limit_param: self.limit})

    def next_request(
        self, request: PageRequest, response: httpx.Response, rows: Sequence[Any]
    ) -> PageRequest | None:
        offset = int(request.params[self.offset_param]) + self.limit
        ends = (_number_at(response, self.total_path), self.maximum_offset)
        if not rows or any(end is not None and offset >= end for end in ends):
            return None
        return request.with_params(**{self.offset_param: offset})


@dataclass(frozen=True)
class PageNumberPaginator:
    """A parameter counts the pages. The end is the number of pages, if it is there, or an empty page."""

    base_page: int = 0
    page_param: str = "page"
    total_path: str | None = "total"
    maximum_page: int | None = None

    def first_request(self, request: PageRequest) -> PageRequest:
        return request.with_params(**{self.page_param: self.base_page})

    def next_request(
        self, request: PageRequest, response: httpx.Response, rows: Sequence[Any]
    ) -> PageRequest | None:
        page = int(request.params[self.page_param]) + 1
        total = _number_at(response, self.total_path)
        ends = (None if total is None else total + self.base_page, self.maximum_page)
        if not rows or any(end is not None and page >= end for end in ends):
            return None
        return request.with_params(**{self.page_param: page})


def _number_at(response: httpx.Response, path: str | None) -> int | None:
    value = value_at(response.json(), path) if path else MISSING
    if isinstance(value, str) and value.isdigit():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None
