"""URLs of destinations: their options and paths, and how they are shown."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import unquote

from trellis.engine.storage.location import is_remote, local_path, parse_url, redacted_url
from trellis.errors import UsageError

NAMING_OPTION: Final = "naming_convention"
_OPTION = re.compile(r"\?(\w+)=")
_SECRET = re.compile(r"password|secret|token", re.IGNORECASE)


def split_naming(url: str) -> tuple[str, str | None]:
    """The URL without its naming convention, and that; None where it has none. Raises UsageError.

    >>> split_naming("duckdb:shop.duckdb?naming_convention=direct")
    ('duckdb:shop.duckdb', 'direct')
    >>> split_naming("postgresql://me@host/shop?sslmode=require&naming_convention=sql_cs_v1")
    ('postgresql://me@host/shop?sslmode=require', 'sql_cs_v1')
    >>> split_naming("duckdb:what?.duckdb")
    ('duckdb:what?.duckdb', None)
    """
    base, _, query = url.rpartition("?")
    options = query.split("&")
    conventions = [option for option in options if option.partition("=")[0] == NAMING_OPTION]
    if not base or not conventions:
        return url, None
    naming = unquote(conventions[-1].partition("=")[2])
    if not naming:
        raise UsageError(f"{NAMING_OPTION}= names no convention; write for example {NAMING_OPTION}=direct")
    others = "&".join(option for option in options if option not in conventions)
    return (f"{base}?{others}" if others else base), naming


def path_of(url: str, url_form: str) -> str:
    """The local path behind the scheme of a URL. Raises UsageError where there is none, or more than a path.

    >>> path_of("parquet:file:///data/lake", "parquet:PATH")
    '/data/lake'
    """
    scheme, _, path = url.partition(":")
    path = path.removeprefix("//")
    if is_remote(path):
        raise UsageError(
            f"{scheme}:{redacted_url(path)}: tables on a remote file system are not supported yet; "
            f"name a local path, such as {scheme}:shop"
        )
    return location_of(url, url_form)


def location_of(url: str, url_form: str) -> str:
    """The local path or the URL of an object store behind the scheme of a URL. Raises UsageError.

    >>> location_of("delta:s3a://acme/lake/", "delta:PATH"), location_of("delta://lake", "delta:PATH")
    ('s3a://acme/lake', 'lake')
    """
    path = url.partition(":")[2].removeprefix("//")
    if is_remote(path):
        parse_url(path)
        path = path.rstrip("/")
    path = local_path(path)
    if not path:
        raise UsageError(f"{url!r} has no path; write {url_form}")
    if option := _OPTION.search(url):
        raise UsageError(
            f"{url}: there is no option {option[1]!r} of a destination; the only one is {NAMING_OPTION}"
        )
    return path


def redacted(url: str) -> str:
    """A URL for messages and reports.

    >>> redacted("postgresql://me:s%40fe@host/shop?sslmode=require&password=safe")
    'postgresql://me:***@host/shop?sslmode=require&password=***'
    >>> redacted("duckdb:a.duckdb")
    'duckdb:a.duckdb'
    """
    shown, mark, options = re.sub(r"(//[^:/@]*):.*@", r"\1:***@", url).partition("?")
    return shown + mark + "&".join(_redact_option(option) for option in options.split("&"))


def _redact_option(text: str) -> str:
    name, equals, _ = text.partition("=")
    return f"{name}{equals}***" if equals and _SECRET.search(unquote(name)) else text
