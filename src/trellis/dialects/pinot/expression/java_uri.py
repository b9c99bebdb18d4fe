"""URIs as java.net.URI reads and writes them: RFC 2396, with letters of any script left as they are."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from ipaddress import AddressValueError, IPv6Address
from typing import Final
from urllib.parse import quote, unquote

from trellis.dialects.pinot.value.kinds import INT_MAX

_PLAIN: Final = r"A-Za-z0-9_!.~'()*\-"
_USER: Final = f"{_PLAIN};:&=+$,"
_PATH: Final = f"{_PLAIN}:@&=+$,;/"
_ANY: Final = rf"{_PLAIN};/?:@&=+$,\[\]"
_REGISTRY: Final = f"{_PLAIN}$,;:@&=+"
_SERVER: Final = rf"{_USER}@\[\]%"
_LABEL: Final = "[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?"
_SCHEME: Final = re.compile(r"([^/?#:]*):")
_PARTS: Final = re.compile(r"(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?", re.DOTALL)
_HOST: Final = re.compile(rf"(?:{_LABEL}\.)*{_LABEL}\.?")
_IPV4: Final = re.compile(r"\d+(?:\.\d+){3}", re.ASCII)
_AUTHORITY: Final = re.compile(r"(?:([^@]*)@)?(\[[^\]]*\]|[^:]*)(?::(\d*))?", re.DOTALL | re.ASCII)


class NotAUri(ValueError):
    """A text that java.net.URI refuses."""


@dataclass(frozen=True)
class Uri:
    """The parts of a URI as they are written. An opaque one, such as of mailto:, has no path."""

    scheme: str | None = None
    user: str | None = None
    host: str | None = None
    port: int = -1
    path: str | None = None
    query: str | None = None
    fragment: str | None = None


def read_uri(text: str, on_server: bool = False) -> Uri:
    """The parts of a URI; if it is to be `on_server`, its authority has to be one. Raises NotAUri.

    >>> read_uri("https://u@example.com:8080/a%20b?q=1#top")
    Uri(scheme='https', user='u', host='example.com', port=8080, path='/a%20b', query='q=1', fragment='top')
    """
    whole, sign, after = text.partition("#")
    fragment = _checked(after, _ANY) if sign else None
    found = _SCHEME.match(whole)
    if not found:
        return _hierarchical(whole, None, fragment, on_server)
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9+.-]*", found[1]):
        raise NotAUri(f"{found[1]!r} is not the scheme of a URI")
    rest = whole[found.end() :]
    if rest.startswith("/"):
        return _hierarchical(rest, found[1], fragment, on_server)
    if not rest:
        raise NotAUri("nothing follows the scheme")
    _checked(rest, _ANY)
    return Uri(found[1], fragment=fragment)


def _hierarchical(text: str, scheme: str | None, fragment: str | None, on_server: bool) -> Uri:
    found = _PARTS.fullmatch(text)
    assert found is not None
    authority, path, query = found.groups()
    if authority == "" and not path and query is None and fragment is None:
        raise NotAUri("an authority is expected after //")
    _checked(path, _PATH)
    if query is not None:
        _checked(query, _ANY)
    user, host, port = _server(authority, on_server) if authority else (None, None, -1)
    return Uri(scheme, user, host, port, path, query, fragment)


def _server(authority: str, needed: bool) -> tuple[str | None, str | None, int]:
    """User, host and port; nothing of an authority that is no server but some other name."""
    registered = _allowed(authority, _REGISTRY)
    try:
        if not re.fullmatch(f"(?:[{_SERVER}]|[^\x00-\x80])*", authority):
            raise NotAUri("an authority has only letters and digits")
        return _user_host_port(authority)
    except NotAUri:
        if registered and not needed:
            return None, None, -1
        raise


def _user_host_port(authority: str) -> tuple[str | None, str | None, int]:
    found = _AUTHORITY.fullmatch(authority)
    if not found:
        raise NotAUri("user@host:port is expected")
    user, host, digits = found.groups()
    if user is not None:
        _checked(user, _USER)
    if host.startswith("["):
        try:
            IPv6Address(host[1:-1])
        except AddressValueError:
            raise NotAUri("an IPv6 address is expected in brackets") from None
    elif not _IPV4.fullmatch(host) or not all(_up_to(255, each) for each in host.split(".")):
        last = host.removesuffix(".").rpartition(".")
        if not _HOST.fullmatch(host) or (last[1] and not last[2][0].isalpha()):
            raise NotAUri("the name of a host is expected")
    if digits and not _up_to(INT_MAX, digits):
        raise NotAUri("a port is a number of 32 bits")
    return user, host, int(digits) if digits else -1


def _up_to(most: int, digits: str) -> bool:
    plain = digits.lstrip("0")
    return len(plain) <= len(str(most)) and int(plain or "0") <= most


def _checked(text: str, allowed: str) -> str:
    if not _allowed(text, allowed):
        raise NotAUri(f"{text[:60]!r} has characters that a URI may not have there")
    return text


def _allowed(text: str, allowed: str) -> bool:
    if re.fullmatch(f"[{allowed}]*", text):
        return True
    if not re.fullmatch(f"(?:[{allowed}]|%[0-9A-Fa-f]{{2}}|[^\x00-\x80])*", text):
        return False
    return not any(ord(each) > 128 and _unseen(each) for each in text)


def _unseen(character: str) -> bool:
    """A space, or a control character."""
    return unicodedata.category(character) in ("Zs", "Zl", "Zp", "Cc")


def decoded(part: str) -> str:
    """A part with what is escaped in it as characters."""
    return unquote(part, errors="replace") if "%" in part else part


def written(uri: Uri) -> str:
    """A URI of decoded parts, escaped where they need it. Raises NotAUri where that makes none.

    >>> written(Uri("https", None, "example.com", -1, "/a b", "q=ä"))
    'https://example.com/a%20b?q=ä'
    """
    if uri.scheme is not None and uri.path and not uri.path.startswith("/"):
        raise NotAUri("the path of a URI with a scheme starts with /")
    made = f"{uri.scheme}:" if uri.scheme is not None else ""
    if uri.host is not None:
        user = f"{_escaped(uri.user, _USER)}@" if uri.user is not None else ""
        made += f"//{user}{uri.host}{f':{uri.port}' if uri.port != -1 else ''}"
    made += _escaped(uri.path or "", _PATH)
    if uri.query is not None:
        made += f"?{_escaped(uri.query, _ANY)}"
    if uri.fragment is not None:
        made += f"#{_escaped(uri.fragment, _ANY)}"
    read_uri(made, on_server=True)
    return made


def _escaped(part: str, allowed: str) -> str:
    def escape(found: re.Match[str]) -> str:
        one = found[0]
        return quote(one, safe="") if ord(one) < 128 or _unseen(one) else one

    return re.sub(f"[^{allowed}]", escape, part)
