"""Where a file is: a local path or the URL of a remote file, absolute before it leaves the driver."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NoReturn
from urllib.parse import unquote

from trellis.errors import UsageError

STORES: Mapping[str, str] = {
    "s3": "s3",
    "s3a": "s3",
    "gs": "gs",
    "abfs": "abfs",
    "abfss": "abfs",
    "hdfs": "hdfs",
}
"""The kind of store that each scheme of a URL names."""

_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://([^/]*)/*(.*)", re.DOTALL)
_GLOB = re.compile(r"([*?\[\]{}\\])")
_ANY_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/")
_NO_FILES = frozenset({"file", "http", "https"})
_FILE_URL = re.compile(r"file:(?://localhost(?=/)|//(?!/)|//(?=/)|(?=/))", re.IGNORECASE)
_FORMS: Mapping[str, str] = {
    "s3": "s3a://BUCKET/KEY",
    "gs": "gs://BUCKET/OBJECT",
    "abfs": "abfss://CONTAINER@ACCOUNT.dfs.core.windows.net/PATH",
    "hdfs": "hdfs://HOST:PORT/PATH",
}


@dataclass(frozen=True)
class RemoteLocation:
    """A parsed URL. `authority` is a bucket, a container with its account, or a name node."""

    store: str
    prefix: str
    authority: str
    key: str

    @property
    def container(self) -> str:
        """The bucket or container itself.

        >>> parse_url("abfss://raw@acme.dfs.core.windows.net/2026/").container
        'raw'
        """
        return self.authority.partition("@")[0] if self.in_bucket else ""

    @property
    def account(self) -> str:
        """The host of the storage account that a container is in, where the URL names one."""
        return self.authority.partition("@")[2] if self.in_bucket else ""

    @property
    def in_bucket(self) -> bool:
        """Whether paths begin with a bucket, not at a root."""
        return self.store not in _ROOTED

    @property
    def path(self) -> str:
        """The path as `pyarrow.fs` takes it.

        >>> parse_url("s3a://raw/2026/01.jsonl").path, parse_url("hdfs://node:8020/raw").path
        ('raw/2026/01.jsonl', '/raw')
        """
        inside = self.key.rstrip("/")
        if not self.in_bucket:
            return f"/{inside}"
        return f"{self.container}/{inside}" if inside else self.container

    def url(self, path: str) -> str:
        """The URL of another path of the same store.

        >>> parse_url("s3a://raw/2026/*.jsonl").url("raw/2026/01.jsonl")
        's3a://raw/2026/01.jsonl'
        """
        inside = path.partition("/")[2]
        return f"{self.prefix}://{self.authority}/{inside}"


_ROOTED = frozenset({"hdfs"})


def is_remote(location: str) -> bool:
    """Whether a location is a URL of something else than the local file system.

    >>> is_remote("s3a://bucket/raw"), is_remote("file:///raw"), is_remote("raw/s3")
    (True, False, False)
    """
    url = _URL.match(location)
    return url is not None and url[1].lower() != "file"


def foreign_scheme(location: str) -> str | None:
    """The scheme of a location on a file system that Trellis does not open itself, but Spark may.

    >>> foreign_scheme("dbfs:/raw/x.jsonl"), foreign_scheme("wasbs://raw@acme/x")
    ('dbfs', 'wasbs')
    >>> foreign_scheme("s3a://raw/x"), foreign_scheme("file:/raw/x"), foreign_scheme("raw/x")
    (None, None, None)
    """
    url = _ANY_URL.match(location)
    scheme = url[1].lower() if url is not None else ""
    known = scheme in STORES or scheme in _NO_FILES
    return None if url is None or known or os.path.exists(location) else scheme


def local_path(location: str) -> str:
    """The path of a local location, which may be a `file:` URL.

    >>> local_path("file:///raw/a%20b.jsonl"), local_path("file:/raw"), local_path("a%20b.jsonl")
    ('/raw/a b.jsonl', '/raw', 'a%20b.jsonl')
    """
    scheme = _FILE_URL.match(location)
    return location if scheme is None else unquote(location[scheme.end() :])


def absolute(location: str) -> str:
    """The location as every process understands it. Raises UsageError for a URL that names no file.

    >>> absolute("s3a://bucket/raw"), absolute("file:///raw/x")
    ('s3a://bucket/raw', '/raw/x')
    """
    if is_remote(location):
        parse_url(location)
        return location
    return os.path.join(os.getcwd(), local_path(location))


def parse_url(location: str) -> RemoteLocation:
    """The parts of a remote location. Raises UsageError where it is not one that can be read."""
    url = _URL.match(location)
    assert url is not None, "a local path"
    prefix, authority, key = url.groups()
    store = STORES.get(prefix.lower())
    if store is None:
        known = ", ".join(f"{scheme}://" for scheme in STORES)
        raise UsageError(
            f"{redacted_url(location)}: {prefix}:// is not a file system; give a local path or one of {known}"
        )
    if not authority and store not in _ROOTED:
        raise UsageError(f"{location}: the URL names no bucket; write {_FORMS[store]}")
    if ":" in authority.rpartition("@")[0] or ("@" in authority and store in ("s3", "gs")):
        _refuse_credentials(location, store)
    return RemoteLocation(store, prefix, authority, key)


def spark_location(location: str) -> str:
    """The location as Spark takes it, absolute. Raises UsageError for a URL that names no file.

    >>> spark_location("s3://acme/lake/orders"), spark_location("/raw"), spark_location("dbfs:/raw")
    ('s3a://acme/lake/orders', '/raw', 'dbfs:/raw')
    """
    if foreign_scheme(location):
        return location
    place = absolute(location)
    is_s3 = is_remote(place) and parse_url(place).prefix == "s3"
    return f"s3a{place.removeprefix('s3')}" if is_s3 else place


def escape_glob(location: str) -> str:
    r"""A location that Spark's reader takes for itself, where some of its characters would match others.

    >>> escape_glob("/raw/{a}*.json")
    '/raw/\\{a\\}\\*.json'
    """
    return _GLOB.sub(r"\\\1", location)


def redacted_url(location: str) -> str:
    """A URL for messages, without a user, a password or a query string.

    >>> redacted_url("https://me:secret@host/x?sig=secret"), redacted_url("raw/x.jsonl")
    ('https://***@host/x?***', 'raw/x.jsonl')
    """
    url = _URL.match(location)
    if url is None:
        return location
    _, at, host = url[2].rpartition("@")
    path, mark, _ = location[url.end(2) :].partition("?")
    return f"{url[1]}://{'***@' if at else ''}{host}{path}{'?***' if mark else ''}"


def _refuse_credentials(location: str, store: str) -> NoReturn:
    raise UsageError(
        f"{redacted_url(location)}: a URL with credentials ends up in reports and logs; write "
        f"{_FORMS[store]}, and set the credentials in the environment or in Spark's conf"
    )
