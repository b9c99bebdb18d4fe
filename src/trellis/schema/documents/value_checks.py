"""What values of a document are made of, as checks that tell what is wrong and where.

A check gets the path and the value and yields faults. Null is always allowed and means "not said", except
where a record requires the key.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from trellis.errors import nearest

Path = tuple[str, ...]


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong, and the keys that lead to it."""

    at: Path
    says: str

    def __str__(self) -> str:
        return f"{dotted(self.at)}: {self.says}" if self.at else self.says


class UnknownKey(Fault):
    """A key that nothing is known of."""


def dotted(path: Path) -> str:
    """The path as a person writes it.

    >>> dotted(("tables", "a.b", "columns"))
    "tables.'a.b'.columns"
    """
    return ".".join(repr(part) if not part or "." in part or " " in part else part for part in path)


Check = Callable[[Path, Any], Iterator[Fault]]


def kind(says: str, accepts: Callable[[Any], bool]) -> Check:
    def check(path: Path, value: Any) -> Iterator[Fault]:
        if not accepts(value):
            yield Fault(path, f"expected {says}, found {value!r}")

    return check


def one_of(choices: Iterable[str]) -> Check:
    known = tuple(choices)

    def check(path: Path, value: Any) -> Iterator[Fault]:
        if not isinstance(value, str):
            yield Fault(path, f"expected one of {', '.join(known)}, found {value!r}")
        elif value not in known:
            yield Fault(path, f"no such value {value!r}{nearest(value, known)}")

    return check


def judged(find_problem: Callable[[object], str | None]) -> Check:
    def check(path: Path, value: Any) -> Iterator[Fault]:
        if says := find_problem(value):
            yield Fault(path, says)

    return check


def sequence(of: Check) -> Check:
    def check(path: Path, value: Any) -> Iterator[Fault]:
        if not isinstance(value, (list, tuple)):
            yield Fault(path, f"expected a list, found {value!r}")
            return
        for index, element in enumerate(value):
            yield from of((*path, str(index)), element)

    return check


def mapping(of: Check, key: Callable[[object], str | None] = lambda _: None) -> Check:
    def check(path: Path, value: Any) -> Iterator[Fault]:
        if not isinstance(value, Mapping):
            yield Fault(path, f"expected a mapping, found {value!r}")
            return
        for name, member in value.items():
            if not isinstance(name, str) or not name.strip():
                yield Fault(path, f"expected a name as key, found {name!r}")
            elif says := key(name):
                yield Fault((*path, name), says)
            else:
                yield from of((*path, name), member)

    return check


def record(
    known: Mapping[str, Check], required: tuple[str, ...] = (), elsewhere: Mapping[str, str] | None = None
) -> Check:
    """A mapping with these keys; `elsewhere` says where keys belong that people write here."""

    def check(path: Path, value: Any) -> Iterator[Fault]:
        if not isinstance(value, Mapping):
            yield Fault(path, f"expected a mapping, found {value!r}")
            return
        for key in required:
            if value.get(key) is None:
                yield Fault(path, f"key {key!r} is missing")
        for key, member in value.items():
            if not isinstance(key, str):
                yield Fault(path, f"unknown key {key!r}: keys are text")
            elif key in known:
                if member is not None:
                    yield from known[key]((*path, key), member)
            elif not key.startswith("x-"):
                place = (elsewhere or {}).get(key)
                says = f": it is a key of {place}" if place else nearest(key, known)
                yield UnknownKey((*path, key), f"unknown key{says}")

    return check


def known_keys(known: Mapping[str, Check]) -> Check:
    """A mapping of anything, but what stands under these keys is checked."""

    def check(path: Path, value: Any) -> Iterator[Fault]:
        if not isinstance(value, Mapping):
            yield Fault(path, f"expected a mapping, found {value!r}")
            return
        for key, member in value.items():
            if key in known and member is not None:
                yield from known[key]((*path, key), member)

    return check


def either(text: Check, otherwise: Check) -> Check:
    return lambda path, value: (text if isinstance(value, str) else otherwise)(path, value)
