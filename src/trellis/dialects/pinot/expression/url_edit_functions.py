"""Functions that change URLs, and those that write texts for their queries (spec pinot.md, section 5)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final
from urllib.parse import quote_plus

from trellis.dialects.pinot.expression.java_uri import NotAUri, Uri, read_uri, written
from trellis.dialects.pinot.expression.registry import Theme
from trellis.dialects.pinot.expression.take import FunctionError, as_text, several
from trellis.dialects.pinot.expression.url_functions import cut_at, decoded_or_none, without_www

URL_EDIT: Final = Theme()


def _declare_cut(name: str, change: Callable[[Uri], Uri], said: str) -> None:
    @URL_EDIT.function(name, as_text)
    def _cut(url: str) -> str:
        return _changed(url, change)

    _cut.__doc__ = said


def _changed(url: str, change: Callable[[Uri], Uri]) -> str:
    """A URL written anew from its changed parts; as it came where it is none."""
    try:
        read = read_uri(url)
        return written(
            change(
                replace(
                    read,
                    user=decoded_or_none(read.user),
                    path=decoded_or_none(read.path),
                    query=decoded_or_none(read.query),
                    fragment=decoded_or_none(read.fragment),
                )
            )
        )
    except NotAUri:
        return url


for _name, _change, _said in (
    ("cutWWW", lambda uri: replace(uri, host=without_www(uri.host)), "A URL without www. before its host."),
    ("cutQueryString", lambda uri: replace(uri, query=None), "A URL without its query."),
    ("cutFragment", lambda uri: replace(uri, fragment=None), "A URL without its # and what follows."),
    (
        "cutQueryStringAndFragment",
        lambda uri: replace(uri, query=None, fragment=None),
        "A URL without its query and what follows a #.",
    ),
):
    _declare_cut(_name, _change, _said)


@URL_EDIT.function("cutURLParameter", as_text, as_text)
def _cut_parameter(url: str, name: str) -> str:
    """A URL without the parameters of a name."""

    def without(uri: Uri) -> Uri:
        if not uri.query:
            raise NotAUri("there is no query")
        query = ""
        for each in cut_at(uri.query, "&"):
            if _plain(each.split("=", 1)[0]) != name:
                query = f"{query}&{each}" if query else each
        return replace(uri, query=query or None)

    return _changed(url, without)


def _plain(name: str) -> str:
    try:
        return _form_decoded(name)
    except FunctionError as wrong:
        raise NotAUri(str(wrong)) from None


@URL_EDIT.function("cutURLParameters", as_text, several(as_text))
def _cut_parameters(url: str, names: list[str]) -> str:
    """A URL without the parameters of several names."""
    for name in names:
        url = _cut_parameter(url, name)
    return url


@URL_EDIT.function("encodeUrl urlEncodeFormComponent urlEncode", as_text)
def _encode_url(text: str) -> str:
    """The text as a part of the query of a URL."""
    return quote_plus(text, safe="*", errors="replace").replace("~", "%7E")


@URL_EDIT.function("decodeUrl", as_text)
def _decode_url(text: str) -> str:
    """The text that a part of the query of a URL stands for."""
    return _form_decoded(text)


@URL_EDIT.function("urlDecode urlDecodeFormComponent", as_text)
def _decode_or_null(text: str) -> str | None:
    """As decodeUrl; null where a % is not followed by two hexadecimal digits."""
    try:
        return _form_decoded(text)
    except FunctionError:
        return None


def _form_decoded(text: str) -> str:
    plain = text.replace("+", " ")
    made = bytearray()
    at = 0
    while at < len(plain):
        if plain[at] != "%":
            made += plain[at].encode("utf-8", "replace")
            at += 1
            continue
        digits = plain[at + 1 : at + 3]
        if len(digits) < 2 or not all(each in "0123456789abcdefABCDEF" for each in digits):
            raise FunctionError(f"two hexadecimal digits are expected after the % in {text[:60]!r}")
        made.append(int(digits, 16))
        at += 3
    return made.decode("utf-8", "replace")
