"""JSON text rewritten token by token within the limits of Pinot's reader: the definition."""

from __future__ import annotations

import re
import unicodedata
from json.decoder import JSONDecodeError, scanstring  # type: ignore[attr-defined]
from typing import Final

from trellis.dialects.pinot.value.json_text.limits import (
    MAX_DEPTH,
    MAX_NAME_LENGTH,
    BeyondLimits,
    NotJson,
    number_text,
)
from trellis.dialects.pinot.value.json_text.writer import quoted

_BLANK: Final = re.compile(r"[ \t\n\r]*")
_SCALAR: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null")
_PART_OF_NAME: Final = frozenset(("Lu", "Ll", "Lt", "Lm", "Lo", "Nl", "Nd", "Sc", "Pc", "Mn", "Mc", "Cf"))


def rewrite_json(text: str) -> tuple[str, int]:
    """The first JSON value of a text, compact, and where it ends. Raises NotJson, BeyondLimits.

    >>> rewrite_json('{"b":1, "a":1.10, "b":[ ]} junk')
    ('{"b":[],"a":1.1}', 26)
    """
    at = _skip(text, 0)
    token, at = _scalar(text, at)
    if token is not None:
        if not may_follow(text, at):
            raise NotJson
        return token, at
    return _container(text, at)


def may_follow(text: str, at: int) -> bool:
    """Whether the text after a top-level value that ends here is allowed.

    Only a blank is allowed after a number; after a word, nothing that would make it longer.
    """
    after = text[at : at + 1]
    if not after or after in " \t\n\r" or text[at - 1] in '"]}':
        return True
    if text[at - 1].isdigit():
        return False
    if after < "0" or after in "]}" or after > "\uffff":
        return True
    return unicodedata.category(after) not in _PART_OF_NAME and not "\x7f" <= after <= "\x9f"


def _skip(text: str, position: int) -> int:
    match = _BLANK.match(text, position)
    return match.end() if match else position


def _scalar(text: str, at: int) -> tuple[str | None, int]:
    if text[at : at + 1] == '"':
        string, at = _string(text, at)
        return quoted(string), at
    match = _SCALAR.match(text, at)
    if not match:
        return None, at
    token = match[0]
    return (token if token[0] in "tfn" else number_text(token)), match.end()


def _string(text: str, at: int) -> tuple[str, int]:
    try:
        string, end = scanstring(text, at + 1, True)
    except JSONDecodeError:
        raise NotJson from None
    return string, end


class _OpenContainer:
    """A list or object that is being read: its parts so far, and for an object the key of the next one."""

    __slots__ = ("key", "members", "parts")

    def __init__(self, bracket: str) -> None:
        self.parts: list[str] = []
        self.members: dict[str, str] | None = {} if bracket == "{" else None
        self.key = ""

    @property
    def closing(self) -> str:
        return "]" if self.members is None else "}"

    @property
    def empty(self) -> bool:
        return not (self.parts if self.members is None else self.members)

    def take_counts(self, part: str) -> None:
        if self.members is None:
            self.parts.append(part)
        else:
            self.members[self.key] = part

    def text(self) -> str:
        if self.members is None:
            return f"[{','.join(self.parts)}]"
        return "{" + ",".join([f"{quoted(key)}:{part}" for key, part in self.members.items()]) + "}"


def _container(text: str, at: int) -> tuple[str, int]:
    stack: list[_OpenContainer] = []
    finished: str | None = None
    while True:
        if finished is None:
            finished, at = _value(text, at, stack)
            if finished is None:
                continue
        if not stack:
            return finished, at
        top = stack[-1]
        top.take_counts(finished)
        at = _skip(text, at)
        after, at = text[at : at + 1], at + 1
        if after == top.closing:
            finished = stack.pop().text()
        elif after == ",":
            finished = None
            at = _key(text, _skip(text, at), top)
        else:
            raise NotJson


def _value(text: str, at: int, stack: list[_OpenContainer]) -> tuple[str | None, int]:
    """A scalar or an empty container; or None where a container with content was opened."""
    at = _skip(text, at)
    bracket = text[at : at + 1]
    if bracket not in ("[", "{"):
        token, at = _scalar(text, at)
        if token is None:
            raise NotJson
        return token, at
    if len(stack) == MAX_DEPTH:
        raise BeyondLimits(f"it is nested more than {MAX_DEPTH} levels deep")
    container = _OpenContainer(bracket)
    at = _skip(text, at + 1)
    if text[at : at + 1] == container.closing:
        return container.text(), at + 1
    stack.append(container)
    return None, _key(text, at, container)


def _key(text: str, at: int, container: _OpenContainer) -> int:
    """Reads the key of an object and its colon; nothing in a list."""
    if container.members is None:
        return at
    if text[at : at + 1] != '"':
        raise NotJson
    container.key, at = _string(text, at)
    if len(container.key) > MAX_NAME_LENGTH:
        raise BeyondLimits(f"a name has more than {MAX_NAME_LENGTH} characters")
    at = _skip(text, at)
    if text[at : at + 1] != ":":
        raise NotJson
    return at + 1
