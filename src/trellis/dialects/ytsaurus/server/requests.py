"""What a request brings: parameters of headers and bodies, and bodies as streams."""

from __future__ import annotations

import io
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from email.message import Message
from typing import Any, BinaryIO, Final
from urllib.parse import parse_qsl, urlsplit

from trellis.dialects.ytsaurus.errors import YtError
from trellis.dialects.ytsaurus.formats.format import Format
from trellis.dialects.ytsaurus.yson.parser import loads
from trellis.dialects.ytsaurus.yson.values import split_attributes, to_key

_ANY_HEADER: Final = zlib.MAX_WBITS | 32
"""Of gzip or zlib: clients name both gzip."""
_JSON: Final = Format("json", {"encode_utf8": False})
_CONTENT_TYPES: Final[Mapping[str, Format]] = {
    "application/json": _JSON,
    "application/x-yt-yson-text": Format("yson"),
    "application/x-yt-yson-pretty": Format("yson", {"format": "pretty"}),
    "application/x-yt-yson-binary": Format("yson", {"format": "binary"}),
}


Headers = Message


@dataclass(frozen=True)
class Request:
    """A command with its parameters and its input."""

    command: str
    parameters: Mapping[str, Any]
    body: BinaryIO
    header_format: Format

    def text(self, name: str, default: str | None = None) -> str:
        """Raises YtError where a parameter without default is missing."""
        value = self.parameters.get(name, default)
        if value is None:
            raise YtError(f"the command {self.command} has no parameter {name}")
        plain, _ = split_attributes(value)
        return to_key(plain) if isinstance(plain, str | bytes) else str(plain)

    def value(self, name: str) -> Any:
        """Raises YtError where it is missing."""
        if name not in self.parameters:
            raise YtError(f"the command {self.command} has no parameter {name}")
        return self.parameters[name]

    def number(self, name: str, default: int) -> float:
        """Raises YtError."""
        text = self.text(name, str(default))
        try:
            return float(text)
        except ValueError:
            raise YtError(f"the parameter {name} of {self.command} is {text!r}; expected a number") from None

    def flag(self, name: str) -> bool:
        return self.text(name, "false").lower() in ("true", "1")

    def map(self, name: str) -> Mapping[str, Any]:
        value, _ = split_attributes(self.parameters.get(name) or {})
        if not isinstance(value, Mapping):
            raise YtError(f"the parameter {name} of {self.command} is not a map")
        return value

    def names(self, name: str) -> list[str]:
        """A list of names. A map with `keys`, as newer clients send it, is one too."""
        value, _ = split_attributes(self.parameters.get(name) or [])
        if isinstance(value, Mapping):
            value = value.get("keys", [])
        if not isinstance(value, list):
            raise YtError(f"the parameter {name} of {self.command} is not a list")
        return [to_key(item) for item in value]

    def format(self, name: str, default: Format) -> Format:
        return Format.from_document(self.parameters[name]) if name in self.parameters else default


def parse_parameters(headers: Headers, target: str, body: bytes) -> tuple[dict[str, Any], Format]:
    """Those of the URL, of the body and of X-YT-Parameters, and the format of headers. Raises YtError."""
    named = headers.get("X-YT-Header-Format")
    header_format = Format.parse(named) if named else _JSON
    if header_format.name == "json":
        header_format = _JSON
    parameters: dict[str, Any] = dict(parse_qsl(urlsplit(target).query))
    if body.strip():
        content_type = headers.get("Content-Type", "application/json").partition(";")[0].strip()
        parameters.update(_parse_map(_CONTENT_TYPES.get(content_type, _JSON), body, "the body"))
    text = headers.get("X-YT-Parameters")
    if text:
        parameters.update(_parse_map(header_format, text.encode("latin-1"), "X-YT-Parameters"))
    for name in ("Input", "Output"):
        text = headers.get(f"X-YT-{name}-Format")
        if text:
            parameters.setdefault(f"{name.lower()}_format", loads(text))
    return parameters, header_format


def input_format(headers: Headers) -> Format:
    return _CONTENT_TYPES.get(headers.get("Content-Type", ""), Format("yson"))


def output_format(headers: Headers) -> Format:
    return _CONTENT_TYPES.get(headers.get("Accept", ""), _JSON)


def _parse_map(format: Format, data: bytes, place: str) -> Mapping[str, Any]:
    try:
        value, _ = split_attributes(format.loads(data))
    except YtError as error:
        raise YtError(f"the parameters in {place} cannot be read: {error.message}") from None
    if not isinstance(value, Mapping):
        raise YtError(f"the parameters in {place} are not a map")
    return value


# --- Bodies ----------------------------------------------------------------------------------------------


class BodyReader(io.RawIOBase):
    """The bytes of a body: chunked, or of a known length. Raises ConnectionError where they end too early."""

    def __init__(self, connection: io.BufferedIOBase, headers: Headers) -> None:
        self._connection = connection
        self._is_chunked = headers.get("Transfer-Encoding", "").lower() == "chunked"
        self._left = 0 if self._is_chunked else int(headers.get("Content-Length") or 0)
        self._is_done = not self._is_chunked and self._left == 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if self._is_chunked and not self._left and not self._is_done:
            self._open_chunk()
        if self._is_done:
            return 0
        data = self._connection.read(min(len(buffer), self._left))
        if not data:
            raise ConnectionError("the client went away in the middle of a request")
        buffer[: len(data)] = data
        self._left -= len(data)
        if not self._left:
            if self._is_chunked:
                self._connection.readline()
            else:
                self._is_done = True
        return len(data)

    def drain(self) -> None:
        """Read what is left of it, so that the connection can be used for the next request."""
        while self.read(2**16):
            pass

    def _open_chunk(self) -> None:
        line = self._connection.readline(100)
        try:
            self._left = int(line.partition(b";")[0], 16)
        except ValueError:
            raise ConnectionError("the client went away in the middle of a request") from None
        if not self._left:
            self._is_done = True
            while self._connection.readline(10_000).strip():
                pass


class InflatedReader(io.RawIOBase):
    """A compressed body, as gzip or zlib. Raises YtError where it is damaged."""

    def __init__(self, body: io.RawIOBase) -> None:
        self._body = body
        self._inflater = zlib.decompressobj(wbits=_ANY_HEADER)
        self._pending = b""
        """Bytes that are not decompressed yet."""
        self._is_within = False
        """Whether a stream began and did not end."""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while True:
            self._pending = self._pending or self._body.read(2**16) or b""
            is_at_end = not self._pending
            if is_at_end and not self._is_within:
                return 0
            try:
                data = self._inflater.decompress(self._pending, len(buffer))
            except zlib.error as error:
                raise YtError(f"the body is not gzip, as its Content-Encoding says: {error}") from None
            self._is_within, self._pending = True, self._inflater.unconsumed_tail
            if self._inflater.eof:
                self._is_within, self._pending = False, self._inflater.unused_data
                self._inflater = zlib.decompressobj(wbits=_ANY_HEADER)
            if data:
                buffer[: len(data)] = data
                return len(data)
            if is_at_end and self._is_within:
                raise YtError("the body ends in the middle of its gzip stream")


def decode_body(body: io.RawIOBase, encoding: str) -> BinaryIO:
    """The body without its Content-Encoding. Raises YtError for one that is not known."""
    if encoding in ("", "identity"):
        return io.BufferedReader(body, 2**20)
    if encoding in ("gzip", "deflate"):
        return io.BufferedReader(InflatedReader(body), 2**20)
    raise YtError(f"bodies encoded as {encoding} are not supported; expected gzip or identity")
