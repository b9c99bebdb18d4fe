"""A real S3 server on loopback, which lets nobody in without its one access key."""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from pyarrow.fs import FileSelector, S3FileSystem

ACCESS_KEY, SECRET_KEY = "AKIATRELLISTESTS", "wJalrXUtnFEMI-secret-K7MDENG"
_CREDENTIAL = re.compile(r"Credential=([^/]+)/")
_REFUSAL = '<?xml version="1.0"?><Error><Code>{0}</Code><Message>{0}</Message></Error>'

Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


@dataclass
class S3Server:
    """`requests` are the methods and paths of what was asked of it."""

    endpoint: str
    requests: list[str] = field(default_factory=list)

    @property
    def files(self) -> S3FileSystem:
        return S3FileSystem(
            access_key=ACCESS_KEY,
            secret_key=SECRET_KEY,
            endpoint_override=self.endpoint,
            region="us-east-1",
            allow_bucket_creation=True,
        )

    @property
    def environment(self) -> dict[str, str]:
        """The variables with which a process reaches it."""
        return {
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_ACCESS_KEY_ID": ACCESS_KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
            "AWS_EC2_METADATA_DISABLED": "true",
        }

    def put(self, path: str, data: bytes) -> None:
        """Write an object; its bucket is made if need be."""
        self.files.create_dir(path.partition("/")[0], recursive=False)
        with self.files.open_output_stream(path, compression=None) as stream:
            stream.write(data)

    def objects(self, bucket: str) -> list[str]:
        """The keys of all objects that are not merely marks of folders."""
        infos = self.files.get_file_info(FileSelector(bucket, recursive=True))
        return sorted(info.path.partition("/")[2] for info in infos if info.is_file)


@contextmanager
def running() -> Iterator[S3Server]:
    from moto.server import DomainDispatcherApplication, create_backend_app
    from werkzeug.serving import make_server

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    requests: list[str] = []
    application = _guarded(DomainDispatcherApplication(create_backend_app), requests)
    server = make_server("127.0.0.1", 0, application, threaded=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield S3Server(f"http://127.0.0.1:{server.port}", requests)
    finally:
        server.shutdown()


def _guarded(application: Application, requests: list[str]) -> Application:
    """moto takes every key; S3 does not."""

    def guarded(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        requests.append(f"{environ['REQUEST_METHOD']} {environ['PATH_INFO']}")
        signed = _CREDENTIAL.search(environ.get("HTTP_AUTHORIZATION", ""))
        if signed is not None and signed[1] == ACCESS_KEY:
            return application(environ, start_response)
        code = "AccessDenied" if signed is None else "InvalidAccessKeyId"
        body = b"" if environ["REQUEST_METHOD"] == "HEAD" else _REFUSAL.format(code).encode()
        start_response(
            "403 Forbidden", [("Content-Type", "application/xml"), ("Content-Length", str(len(body)))]
        )
        return [body]

    return guarded
