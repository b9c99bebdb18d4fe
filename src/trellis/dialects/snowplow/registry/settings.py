"""How a server of a registry is set up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from trellis.dialects.snowplow.kind.verdict import KindPolicy
from trellis.dialects.snowplow.registry.surroundings import NextRegistry, Warehouse
from trellis.dialects.snowplow.versions.succession import SuccessionRules
from trellis.errors import UsageError


@dataclass(frozen=True)
class Webhook:
    """A URL that is told of publications, of vendors with one of the prefixes, or of all."""

    url: str
    prefixes: tuple[str, ...] = ()

    @staticmethod
    def parse(text: str) -> Webhook:
        """
        >>> Webhook.parse("com.acme,org.harbor=http://127.0.0.1/hook")
        Webhook(url='http://127.0.0.1/hook', prefixes=('com.acme', 'org.harbor'))

        Raises UsageError.
        """
        is_url = text.startswith(("http://", "https://"))
        prefixes, _, url = ("", "", text) if is_url else text.partition("=")
        if not _is_web_address(url):
            raise UsageError(f"--webhook {text!r}: expected a URL, or com.acme,org.harbor=URL")
        return Webhook(url, tuple(filter(None, prefixes.split(","))))

    def concerns(self, vendor: str) -> bool:
        return not self.prefixes or vendor.startswith(self.prefixes)


def _is_web_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


@dataclass(frozen=True)
class ServerSettings:
    """What a registry accepts, set when it is deployed."""

    kinds: KindPolicy = field(default_factory=KindPolicy)
    succession: SuccessionRules = field(default_factory=SuccessionRules)
    webhooks: tuple[Webhook, ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    """Sent with every answer."""
    warehouse: Warehouse | None = None
    """Where tables of the schemas are."""
    next_registry: NextRegistry | None = None
    """Where schemas are promoted to."""
