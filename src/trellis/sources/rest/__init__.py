"""Sources from JSON APIs: a client that pages and tries again, and whole sources from a configuration.

github = rest_api_source({
    "client": {"base_url": "https://api.github.com/repos/acme/shop/"},
    "resources": ["events", {"name": "issues", "primary_key": "id"}],
})
"""

from trellis.sources.rest.auth import APIKeyAuth, BearerTokenAuth, HttpBasicAuth
from trellis.sources.rest.client import RESTClient
from trellis.sources.rest.paginators import (
    HeaderLinkPaginator,
    JSONLinkPaginator,
    JSONResponseCursorPaginator,
    OffsetPaginator,
    PageNumberPaginator,
    SinglePagePaginator,
)
from trellis.sources.rest.source import rest_api_source

__all__ = [
    "APIKeyAuth",
    "BearerTokenAuth",
    "HeaderLinkPaginator",
    "HttpBasicAuth",
    "JSONLinkPaginator",
    "JSONResponseCursorPaginator",
    "OffsetPaginator",
    "PageNumberPaginator",
    "RESTClient",
    "SinglePagePaginator",
    "rest_api_source",
]
