"""Running the server."""

from __future__ import annotations

from ipaddress import ip_address

import uvicorn

from trellis.dialects.snowplow.registry.http.app import make_app
from trellis.dialects.snowplow.registry.service import RegistryService
from trellis.errors import UsageError


def serve(service: RegistryService, host: str, port: int) -> None:
    """Until the process is told to end. Raises UsageError."""
    check_reachability(service, host)
    server = uvicorn.Server(uvicorn.Config(make_app(service), host, port, log_level="warning"))
    service.is_terminating = lambda: server.should_exit
    server.run()


def check_reachability(service: RegistryService, host: str) -> None:
    """That a registry which others can reach has somebody who may change it. Raises UsageError."""
    if not (is_loopback(host) or service.store.has_super_key()):
        raise UsageError(
            f"--host {host}: others can reach the registry, and it has no super key; make one with "
            "trellis registry keygen --super"
        )


def is_loopback(host: str) -> bool:
    """
    >>> [is_loopback(host) for host in ("127.0.0.1", "::1", "localhost", "0.0.0.0")]
    [True, True, True, False]
    """
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
