"""The condition in `[?(...)]` of a JSON path: comparisons, &&, ||, ! and whether a path leads anywhere."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final, Protocol

from trellis.dialects.pinot.expression.java_pattern import compiled
from trellis.dialects.pinot.expression.take import FunctionError

Condition = Callable[[Any], bool]
Operand = Callable[[Any], Any]


class PathError(FunctionError):
    """A text that is no JSON path; the text is one sentence."""


class Finder(Protocol):
    """A path as far as a condition needs it."""

    @property
    def definite(self) -> bool: ...

    def find(self, root: Any) -> list[Any]: ...


_MISSING: Final = object()
_TOKEN: Final = re.compile(
    r"""\s*(?:(?P<number>-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|'(?P<one>(?:[^'\\]|\\.)*)'|"(?P<two>(?:[^"\\]|\\.)*)\"
    |(?P<pattern>/(?:[^/\\]|\\.)*/[a-zA-Z]*)|(?P<sign>&&|\|\||==|!=|=~|<=|>=|[<>!()\[\],])
    |(?P<path>@(?:\.{1,2}[\w$*-]+|\[(?:\d+|'[^']*'|"[^"]*")\])*)|(?P<word>\w+))""",
    re.VERBOSE,
)
_ORDER: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_WORDS: Final = {"true": True, "false": False, "null": None}
DEEPEST: Final = 50


def condition(text: str, at: int, read: Callable[[str], Finder]) -> tuple[Condition, int]:
    """The condition that starts at a place of the text, and where it ends. Raises PathError."""
    reader = _Reader(text, at, read)
    return reader.either(), reader.at


class _Reader:
    def __init__(self, text: str, at: int, read: Callable[[str], Finder]) -> None:
        self.text, self.at, self.read = text, at, read
        self.depth = 0

    def wrong(self, expected: str) -> PathError:
        return PathError(
            f"{expected} is expected at character {self.at + 1} of the JSON path {self.text[:80]!r}"
        )

    def took(self, sign: str) -> bool:
        found = _TOKEN.match(self.text, self.at)
        if not found or sign not in (found["sign"], found["word"]):
            return False
        self.at = found.end()
        return True

    def either(self) -> Condition:
        tests = [self.both()]
        while self.took("||"):
            tests.append(self.both())
        return tests[0] if len(tests) == 1 else lambda value: any(test(value) for test in tests)

    def both(self) -> Condition:
        tests = [self.single()]
        while self.took("&&"):
            tests.append(self.single())
        return tests[0] if len(tests) == 1 else lambda value: all(test(value) for test in tests)

    def single(self) -> Condition:
        self.depth += 1
        if self.depth > DEEPEST:
            raise PathError(f"a condition of a JSON path may be nested {DEEPEST} deep and no deeper")
        try:
            if self.took("!"):
                inner = self.single()
                return lambda value: not inner(value)
            if self.took("("):
                made = self.either()
                if not self.took(")"):
                    raise self.wrong(")")
                return made
            return self.compared()
        finally:
            self.depth -= 1

    def compared(self) -> Condition:
        left, path = self.operand()
        for sign in ("==", "!=", "<=", ">=", "<", ">", "=~", "in", "nin"):
            if self.took(sign):
                return self.comparison(left, sign)
        if path is None:
            raise self.wrong("a comparison")
        found = path
        return lambda value: bool(found.find(value)) if found.definite else True

    def comparison(self, left: Operand, sign: str) -> Condition:
        if sign == "=~":
            matches = self.pattern()
            return lambda value: isinstance(left(value), str) and matches(left(value))
        if sign in ("in", "nin"):
            choices = self.choices()
            return lambda value: any(_equal(left(value), each) for each in choices) == (sign == "in")
        right, _ = self.operand()
        if sign == "==":
            return lambda value: _equal(left(value), right(value))
        if sign == "!=":
            return lambda value: not _equal(left(value), right(value))
        order = _ORDER[sign]
        return lambda value: _ordered(order, left(value), right(value))

    def token(self, expected: str) -> re.Match[str]:
        found = _TOKEN.match(self.text, self.at)
        if not found:
            raise self.wrong(expected)
        self.at = found.end()
        return found

    def operand(self) -> tuple[Operand, Finder | None]:
        start = self.at
        found = self.token("a path as @.name or a literal")
        if found["path"]:
            path = self.read(found["path"])
            return (lambda value: _found(path, value)), path
        constant = self.constant(found, start)
        return (lambda _: constant), None

    def constant(self, found: re.Match[str], start: int) -> Any:
        if found["number"]:
            whole = found["number"].lstrip("-").isdigit()
            return int(found["number"]) if whole else float(found["number"])
        quoted = found["one"] if found["one"] is not None else found["two"]
        if quoted is not None:
            return re.sub(r"\\(.)", r"\1", quoted, flags=re.DOTALL)
        if found["word"] in _WORDS:
            return _WORDS[found["word"]]
        self.at = start
        raise self.wrong("a path as @.name or a literal")

    def choices(self) -> list[Any]:
        if not self.took("["):
            raise self.wrong("[")
        made: list[Any] = []
        while not self.took("]"):
            start = self.at
            made.append(self.constant(self.token("a literal"), start))
            if not self.took(",") and not re.compile(r"\s*\]").match(self.text, self.at):
                raise self.wrong(", or ]")
        return made

    def pattern(self) -> Condition:
        found = self.token("a pattern as /a.*/")
        if not found["pattern"]:
            raise self.wrong("a pattern as /a.*/")
        body, _, flags = found["pattern"][1:].rpartition("/")
        if flags not in ("", "i"):
            raise PathError(
                f"the flags {flags} of a pattern in the JSON path {self.text[:80]!r} are not supported"
            )
        return lambda value: compiled(body, flags == "i").fullmatch(value) is not None


def _found(path: Finder, value: Any) -> Any:
    found = path.find(value)
    if path.definite:
        return found[0] if found else _MISSING
    return found


def _equal(left: Any, right: Any) -> bool:
    left, right = (None if each is _MISSING else each for each in (left, right))
    if isinstance(left, bool) != isinstance(right, bool):
        return False
    return bool(left == right)


def _ordered(order: Callable[[Any, Any], bool], left: Any, right: Any) -> bool:
    for kind in (str, int | float | Decimal):
        if isinstance(left, kind) and isinstance(right, kind) and not isinstance(left, bool):
            return order(left, right)
    return False
