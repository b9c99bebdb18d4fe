"""The path of a node, and of an attribute of it: `//home/t/@schema/0/type`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from trellis.dialects.ytsaurus.errors import YtError

_PART: Final = re.compile(r"/((?:[^/\\@&*\[{]|\\.)(?:[^/\\\[{]|\\.)*|@(?:[^/\\]|\\.)*)")
_ESCAPE: Final = re.compile(r"\\(?:x([0-9a-fA-F]{2})|(.))", re.DOTALL)


@dataclass(frozen=True)
class NodePath:
    """Names from the root on, or from the node `object_id`, and the way into an attribute."""

    names: tuple[str, ...]
    attribute: tuple[str, ...] | None = None
    """None where no attribute is meant; empty for all attributes, `/@`."""
    object_id: str = ""

    @classmethod
    def parse(cls, path: str) -> NodePath:
        """Raises YtError.

        >>> NodePath.parse("//home/t/@schema/0")
        NodePath(names=('home', 't'), attribute=('schema', '0'), object_id='')
        """
        path = path.strip(" ")
        if not path.startswith(("/", "#")):
            raise YtError(f"the path {path!r} is not valid; a path begins with // or with # and an id")
        object_id, slash, rest = path[1:].partition("/") if path.startswith("#") else ("", "", path[1:])
        parts: list[str] = []
        position, text = 0, slash + rest
        text = text.removesuffix("&").replace("&/@", "/@")
        while position < len(text):
            match = _PART.match(text, position)
            if match is None:
                bracket = text[position : position + 1]
                expected = rf"\{bracket} in a name" if bracket in ("[", "{") else "/name or /@attribute"
                raise YtError(f"the path {path} is not valid at {text[position:]!r}; expected {expected}")
            parts.append(match[1])
            position = match.end()
        for index, part in enumerate(parts):
            if part.startswith("@"):
                attribute = [name for name in (part[1:], *parts[index + 1 :]) if name]
                return cls(_node_names(path, parts[:index]), _names(attribute), object_id)
        return cls(_node_names(path, parts), None, object_id)

    @property
    def parent(self) -> NodePath:
        return NodePath(self.names[:-1], None, self.object_id)

    def __str__(self) -> str:
        root = f"#{self.object_id}" if self.object_id else "/"
        names = "".join(f"/{escape_name(name)}" for name in self.names) or ("" if self.object_id else "/")
        return root + names


def escape_name(name: str) -> str:
    """
    >>> escape_name("a/b@c")
    'a\\\\/b\\\\@c'
    """
    return re.sub(r"([\\/@&*\[{])", r"\\\1", name)


def _node_names(path: str, parts: list[str]) -> tuple[str, ...]:
    """Names that every database can hold."""
    names = _names(parts)
    if any("\0" in name or not _is_text(name) for name in names):
        raise YtError(f"the path {path!r} is not valid; a name of a node is text in UTF-8 without NUL")
    return names


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _names(parts: list[str]) -> tuple[str, ...]:
    return tuple(
        _ESCAPE.sub(lambda escape: chr(int(escape[1], 16)) if escape[1] else escape[2], part)
        for part in parts
    )
