"""How a request says who it is from. Secrets are not shown by `repr`."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass, field
from typing import Literal, Protocol


class Auth(Protocol):
    def headers(self) -> dict[str, str]:
        """The headers to add to each request."""
        ...

    def params(self) -> dict[str, str]:
        """The query parameters to add to each request."""
        ...


@dataclass(frozen=True)
class BearerTokenAuth:
    """`Authorization: Bearer TOKEN`"""

    token: str = field(repr=False)

    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}

    def params(self) -> dict[str, str]:
        return {}


@dataclass(frozen=True)
class APIKeyAuth:
    """A key in a header, a cookie or the query."""

    name: str
    api_key: str = field(repr=False)
    location: Literal["header", "cookie", "query"] = "header"

    def headers(self) -> dict[str, str]:
        if self.location == "query":
            return {}
        return {self.name: self.api_key} if self.location == "header" else {"Cookie": self._pair}

    def params(self) -> dict[str, str]:
        return {self.name: self.api_key} if self.location == "query" else {}

    @property
    def _pair(self) -> str:
        return f"{self.name}={self.api_key}"


@dataclass(frozen=True)
class HttpBasicAuth:
    """User and password."""

    username: str
    password: str = field(repr=False)

    def headers(self) -> dict[str, str]:
        credentials = b64encode(f"{self.username}:{self.password}".encode()).decode()
        return {"Authorization": f"Basic {credentials}"}

    def params(self) -> dict[str, str]:
        return {}
