"""Running the server."""

from __future__ import annotations

import socket
from collections.abc import Callable

import uvicorn

from trellis.dialects.loopback import is_loopback
from trellis.dialects.snowplow.registry.http.app import make_app
from trellis.dialects.snowplow.registry.service import RegistryService
from trellis.errors import UsageError


def serve(service: RegistryService, host: str, port: int, on_start: Callable[[str], None]) -> None:
    """Until the process is told to end. `on_start` gets its URL once it listens. Raises UsageError."""
    check_reachability(service, host)
    with open_socket(host, port) as listener:
        server = uvicorn.Server(uvicorn.Config(make_app(service), log_level="warning"))
        service.is_terminating = lambda: server.should_exit
        shown_host = f"[{host}]" if ":" in host else host
        on_start(f"http://{shown_host}:{listener.getsockname()[1]}")
        server.run([listener])


def open_socket(host: str, port: int) -> socket.socket:
    """Raises UsageError."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio turns off Nagle's algorithm, which costs 40 ms an answer, if a socket names its protocol.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(2048)
        return listener
    except (OSError, OverflowError) as error:
        listener.close()
        raise UsageError(
            f"cannot listen on {host}, port {port} ({error}); choose others with --host and --port"
        ) from None


def check_reachability(service: RegistryService, host: str) -> None:
    """That a registry which others can reach has somebody who may change it. Raises UsageError."""
    if not (is_loopback(host) or service.store.has_super_key()):
        raise UsageError(
            f"--host {host}: others can reach the registry, and it has no super key; make one with "
            "trellis registry keygen --super"
        )
