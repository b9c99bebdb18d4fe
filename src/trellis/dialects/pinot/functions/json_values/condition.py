"""The condition in `[?(...)]` of a JSON path: comparisons, &&, ||, ! and whether a path leads anywhere."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final, Protocol

from trellis.dialects.pinot.functions.arguments import FunctionError
from trellis.dialects.pinot.functions.text.java_regex import compile_pattern

Condition = Callable[[Any], bool]
Operand = Callable[[Any], Any]


class PathError(FunctionError):
    """An invalid JSON path; the text is one sentence."""


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


def read_condition(text: str, position: int, read_path: Callable[[str], Finder]) -> tuple[Condition, int]:
    """The condition that starts at a place of the text, and where it ends. Raises PathError."""
    reader = _ConditionReader(text, position, read_path)
    return reader.read_or(), reader.position


class _ConditionReader:
    def __init__(self, text: str, position: int, read_path: Callable[[str], Finder]) -> None:
        self.text, self.position, self.read_path = text, position, read_path
        self.depth = 0

    def unexpected(self, expected: str) -> PathError:
        return PathError(
            f"{expected} is expected at character {self.position + 1} of the JSON path {self.text[:80]!r}"
        )

    def take_if(self, sign: str) -> bool:
        match = _TOKEN.match(self.text, self.position)
        if not match or sign not in (match["sign"], match["word"]):
            return False
        self.position = match.end()
        return True

    def read_or(self) -> Condition:
        tests = [self.read_and()]
        while self.take_if("||"):
            tests.append(self.read_and())
        return tests[0] if len(tests) == 1 else lambda value: any(test(value) for test in tests)

    def read_and(self) -> Condition:
        tests = [self.read_not()]
        while self.take_if("&&"):
            tests.append(self.read_not())
        return tests[0] if len(tests) == 1 else lambda value: all(test(value) for test in tests)

    def read_not(self) -> Condition:
        self.depth += 1
        if self.depth > DEEPEST:
            raise PathError(f"a condition of a JSON path may be nested {DEEPEST} deep and no deeper")
        try:
            if self.take_if("!"):
                inner = self.read_not()
                return lambda value: not inner(value)
            if self.take_if("("):
                grouped = self.read_or()
                if not self.take_if(")"):
                    raise self.unexpected(")")
                return grouped
            return self.read_test()
        finally:
            self.depth -= 1

    def read_test(self) -> Condition:
        left, path = self.read_operand()
        for sign in ("==", "!=", "<=", ">=", "<", ">", "=~", "in", "nin"):
            if self.take_if(sign):
                return self.read_comparison(left, sign)
        if path is None:
            raise self.unexpected("a comparison")
        finder = path
        return lambda value: bool(finder.find(value)) if finder.definite else True

    def read_comparison(self, left: Operand, sign: str) -> Condition:
        if sign == "=~":
            matches = self.read_pattern()
            return lambda value: isinstance(left(value), str) and matches(left(value))
        if sign in ("in", "nin"):
            choices = self.read_choices()
            return lambda value: any(_equal(left(value), choice) for choice in choices) == (sign == "in")
        right, _ = self.read_operand()
        if sign == "==":
            return lambda value: _equal(left(value), right(value))
        if sign == "!=":
            return lambda value: not _equal(left(value), right(value))
        order = _ORDER[sign]
        return lambda value: _ordered(order, left(value), right(value))

    def read_token(self, expected: str) -> re.Match[str]:
        match = _TOKEN.match(self.text, self.position)
        if not match:
            raise self.unexpected(expected)
        self.position = match.end()
        return match

    def read_operand(self) -> tuple[Operand, Finder | None]:
        start = self.position
        token = self.read_token("a path as @.name or a literal")
        if token["path"]:
            path = self.read_path(token["path"])
            return (lambda value: _value_of(path, value)), path
        constant = self.read_constant(token, start)
        return (lambda _: constant), None

    def read_constant(self, token: re.Match[str], start: int) -> Any:
        if token["number"]:
            whole = token["number"].lstrip("-").isdigit()
            return int(token["number"]) if whole else float(token["number"])
        quoted = token["one"] if token["one"] is not None else token["two"]
        if quoted is not None:
            return re.sub(r"\\(.)", r"\1", quoted, flags=re.DOTALL)
        if token["word"] in _WORDS:
            return _WORDS[token["word"]]
        self.position = start
        raise self.unexpected("a path as @.name or a literal")

    def read_choices(self) -> list[Any]:
        if not self.take_if("["):
            raise self.unexpected("[")
        choices: list[Any] = []
        while not self.take_if("]"):
            start = self.position
            choices.append(self.read_constant(self.read_token("a literal"), start))
            if not self.take_if(",") and not re.compile(r"\s*\]").match(self.text, self.position):
                raise self.unexpected(", or ]")
        return choices

    def read_pattern(self) -> Condition:
        token = self.read_token("a pattern as /a.*/")
        if not token["pattern"]:
            raise self.unexpected("a pattern as /a.*/")
        body, _, flags = token["pattern"][1:].rpartition("/")
        if flags not in ("", "i"):
            raise PathError(
                f"the flags {flags} of a pattern in the JSON path {self.text[:80]!r} are not supported"
            )
        return lambda value: compile_pattern(body, flags == "i").fullmatch(value) is not None


def _value_of(path: Finder, value: Any) -> Any:
    values = path.find(value)
    if path.definite:
        return values[0] if values else _MISSING
    return values


def _equal(left: Any, right: Any) -> bool:
    left, right = (None if side is _MISSING else side for side in (left, right))
    if isinstance(left, bool) != isinstance(right, bool):
        return False
    return bool(left == right)


def _ordered(order: Callable[[Any, Any], bool], left: Any, right: Any) -> bool:
    for kind in (str, int | float | Decimal):
        if isinstance(left, kind) and isinstance(right, kind) and not isinstance(left, bool):
            return order(left, right)
    return False
