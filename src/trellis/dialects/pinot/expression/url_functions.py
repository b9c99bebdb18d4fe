"""Functions on URLs, as java.net.URI divides them (spec pinot.md, section 5). What is no URI gives null."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from trellis.dialects.pinot.expression.java_uri import NotAUri, Uri, decoded, read_uri
from trellis.dialects.pinot.expression.registry import Theme
from trellis.dialects.pinot.expression.take import as_text

URL: Final = Theme()
_SHORT: Final = ("com", "net", "org", "co")
"""Domains below which the name before is the significant one."""


def _read(url: str) -> Uri | None:
    try:
        return read_uri(url)
    except NotAUri:
        return None


def _declare(name: str, take: Callable[[Uri], str | None], said: str) -> None:
    @URL.function(name, as_text)
    def _part(url: str) -> str | None:
        found = _read(url)
        return None if found is None else take(found)

    _part.__doc__ = said


def decoded_or_none(part: str | None) -> str | None:
    return None if part is None else decoded(part)


def without_www(host: str | None) -> str | None:
    return None if host is None else host.removeprefix("www.")


def _path(uri: Uri) -> str | None:
    return None if uri.scheme is None or uri.host is None else decoded_or_none(uri.path)


def _raw_path(uri: Uri) -> str | None:
    return None if uri.scheme is None or uri.host is None else uri.path


def _query_and_fragment(uri: Uri) -> str | None:
    query, fragment = decoded_or_none(uri.query), decoded_or_none(uri.fragment)
    if query is None or fragment is None:
        return query if fragment is None else fragment
    return f"{query}#{fragment}" if query else fragment


def _net_location(uri: Uri) -> str:
    user = decoded_or_none(uri.user)
    return f"{f'{user}@' if user else ''}{uri.host or ''}{'' if uri.port == -1 else f':{uri.port}'}"


def _top_domain(uri: Uri) -> str | None:
    return None if uri.host is None else cut_at(uri.host, ".")[-1]


def _significant(uri: Uri) -> list[str] | None:
    """The names of a host from the significant one on."""
    if uri.host is None:
        return None
    names = cut_at(uri.host, ".")
    return names[-2:] if len(names) <= 2 or names[-1] in _SHORT else names[-3:]


def _first_significant(uri: Uri) -> str | None:
    names = _significant(uri)
    return None if names is None else names[0]


def _from_significant(uri: Uri) -> str | None:
    names = _significant(uri)
    if names is None or uri.host is None:
        return None
    return uri.host if len(cut_at(uri.host, ".")) <= 2 else ".".join(names)


def _from_significant_with_www(uri: Uri) -> str | None:
    cut = _from_significant(uri)
    names = cut_at(uri.host or "", ".")
    return f"www.{cut}" if cut is not None and names == ["www", *cut_at(cut, ".")] else cut


def cut_at(text: str, sign: str) -> list[str]:
    """The parts between signs as Java's split gives them: without empty ones at the end.

    >>> cut_at("/a//b/", "/"), cut_at("", "/"), cut_at("/", "/")
    (['', 'a', '', 'b'], [''], [])
    """
    parts = text.split(sign)
    while len(parts) > 1 and not parts[-1]:
        parts.pop()
    return [] if parts == [""] and text else parts


for _name, _take, _said in (
    ("urlProtocol", lambda uri: uri.scheme, "The scheme of a URL."),
    ("urlDomain", lambda uri: uri.host, "The host of a URL."),
    ("urlDomainWithoutWWW", lambda uri: without_www(uri.host), "The host of a URL without www. before it."),
    ("urlTopLevelDomain", _top_domain, "The last part of the host of a URL."),
    ("urlFirstSignificantSubdomain", _first_significant, "What is significant of a host: its second name."),
    ("cutToFirstSignificantSubdomain", _from_significant, "The host of a URL from that name on."),
    ("cutToFirstSignificantSubdomainWithWWW", _from_significant_with_www, "The same, with www. before it."),
    ("urlPath", _path, "The path of a URL."),
    ("urlPathWithQuery", _raw_path, "The path of a URL as it is written, and without a query all the same."),
    ("urlQueryString", lambda uri: uri.query, "The query of a URL as it is written."),
    ("urlFragment", lambda uri: decoded_or_none(uri.fragment), "What follows the # of a URL."),
    ("urlQueryStringAndFragment", _query_and_fragment, "The query of a URL, a # and what follows it."),
    ("urlNetloc", _net_location, "User, host and port of a URL."),
):
    _declare(_name, _take, _said)


@URL.function("urlPort", as_text)
def _port(url: str) -> int:
    """The port of a URL; -1 where it names none."""
    found = _read(url)
    return -1 if found is None else found.port


def _parameters(url: str) -> list[list[str]]:
    """The parameters of the query of a URL: each its name and perhaps its value."""
    found = _read(url)
    if found is None or found.query is None:
        return []
    return [each.split("=", 1) for each in cut_at(decoded(found.query), "&")]


@URL.function("extractURLParameter", as_text, as_text)
def _parameter(url: str, name: str) -> str:
    """The value of the first parameter of a name in the query of a URL; an empty text where there is none."""
    return next(("".join(each[1:]) for each in _parameters(url) if each[0] == name), "")


@URL.function("extractURLParameters", as_text)
def _all_parameters(url: str) -> list[str]:
    """The parameters in the query of a URL, each as name=value."""
    return ["=".join(each) for each in _parameters(url)]


@URL.function("extractURLParameterNames", as_text)
def _names(url: str) -> list[str]:
    """The names of the parameters in the query of a URL."""
    return [each[0] for each in _parameters(url)]


@URL.function("urlHierarchy", as_text)
def _hierarchy(url: str) -> list[str]:
    """A URL from its host on, with one part of its path more each time."""
    found = _read(url)
    if found is None or found.scheme is None or found.host is None:
        return []
    base = f"{found.scheme}://{found.host}"
    return _growing(base, decoded(found.path)) if found.path else [base]


@URL.function("urlPathHierarchy", as_text)
def _path_hierarchy(url: str) -> list[str]:
    """The path of a URL, with one part more each time."""
    found = _read(url)
    return _growing("", decoded(found.path))[1:] if found and found.path else []


def _growing(base: str, path: str) -> list[str]:
    parts = cut_at(path, "/")
    return ["/".join((base, *parts[1:end])) for end in range(1, len(parts) + 1)]
