"""The text of an expression, parsed."""

from __future__ import annotations

import re
from typing import Final, NoReturn

from trellis.dialects.ytsaurus.computed.nodes import Call, Constant, Node, Reference
from trellis.dialects.ytsaurus.errors import ErrorCode, YtError
from trellis.dialects.ytsaurus.yson.values import MAX_INT64, MAX_UINT64, Uint64

_TOKEN: Final = re.compile(
    r"""\s*(?:
    (?P<double>\d+\.\d*(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+)
    |(?P<uint64>\d+)u(?!\w)
    |(?P<int64>\d+)
    |(?P<string>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
    |(?P<quoted>\[[^\]]+\]|`[^`]+`)
    |(?P<word>[A-Za-z_]\w*)
    |(?P<sign>\|\||<<|>>|<=|>=|!=|[-+*/%|&~=<>(),])
    )""",
    re.VERBOSE | re.ASCII | re.DOTALL,
)
_LEVELS: Final = (("|",), ("&",), ("<<", ">>"), ("+", "-", "||"), ("*", "/", "%"))
"""Operators of two sides, those that bind least first."""
_RELATIONS: Final = ("=", "!=", "<", "<=", ">", ">=")
_RESERVED: Final = frozenset(
    ("and", "or", "not", "in", "between", "case", "when", "then", "else", "end", "null", "true", "false")
)
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", "0": "\0"}
MAX_DEPTH: Final = 40
MAX_TOKENS: Final = 300
"""Beyond these an expression would be deeper than the interpreter's stack."""


def parse_expression(text: str) -> Node:
    """Raises YtError with the code 314 and the place.

    >>> parse_expression("farm_hash(k) % 4")
    Call(function='%', arguments=(Call(function='farm_hash', arguments=(Reference(name='k'),)),
    Constant(kind='int64', value=4)))
    """
    parser = _Parser(text)
    node = parser.parse_or()
    parser.expect_end()
    return node


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._position = 0
        self._depth = 0
        self._tokens = 0
        self._advance()

    def parse_or(self) -> Node:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            self._fail(f"at most {MAX_DEPTH} nested expressions are allowed")
        node = self._parse_and()
        while self._skip("or"):
            node = Call("or", (node, self._parse_and()))
        self._depth -= 1
        return node

    def expect_end(self) -> None:
        if self._kind:
            self._fail("expected an operator or the end")

    def _parse_and(self) -> Node:
        node = self._parse_not()
        while self._skip("and"):
            node = Call("and", (node, self._parse_not()))
        return node

    def _parse_not(self) -> Node:
        negations = 0
        while self._skip("not"):
            negations += 1
        node = self._parse_relation()
        for _ in range(negations):
            node = Call("not", (node,))
        return node

    def _parse_relation(self) -> Node:
        node = self._parse_level(0)
        if self._kind == "sign" and self._token in _RELATIONS:
            relation = self._take()
            return Call(relation, (node, self._parse_level(0)))
        negated = self._skip("not")
        if self._skip("between"):
            low = self._parse_level(0)
            self._expect("and")
            high = self._parse_level(0)
            node = Call("and", (Call(">=", (node, low)), Call("<=", (node, high))))
        elif self._skip("in"):
            self._expect("(")
            node = Call("in", (node, *self._parse_arguments()))
        elif negated:
            self._fail("expected between or in after not")
        return Call("not", (node,)) if negated else node

    def _parse_level(self, level: int) -> Node:
        if level == len(_LEVELS):
            return self._parse_unary()
        node = self._parse_level(level + 1)
        while self._kind == "sign" and self._token in _LEVELS[level]:
            operator = self._take()
            node = Call(operator, (node, self._parse_level(level + 1)))
        return node

    def _parse_unary(self) -> Node:
        signs = []
        while self._kind == "sign" and self._token in ("-", "+", "~"):
            signs.append(self._take())
        if signs and signs[-1] == "-" and self._kind == "int64" and int(self._token) == MAX_INT64 + 1:
            self._advance()
            signs.pop()
            node: Node = Constant("int64", -MAX_INT64 - 1)
        else:
            node = self._parse_atom()
        for sign in reversed(signs):
            node = node if sign == "+" else _negate(node) if sign == "-" else Call("~", (node,))
        return node

    def _parse_atom(self) -> Node:
        kind, token = self._kind, self._token
        match kind:
            case "int64":
                if int(token) > MAX_INT64:
                    self._fail("expected an integer of at most 2^63-1; unsigned ones end in u")
                self._advance()
                return Constant("int64", int(token))
            case "uint64":
                if int(token) > MAX_UINT64:
                    self._fail("expected an integer of at most 2^64-1")
                self._advance()
                return Constant("uint64", Uint64(token))
            case "double":
                self._advance()
                return Constant("double", float(token))
            case "string":
                self._advance()
                text = re.sub(r"\\(.)", lambda m: _ESCAPES.get(m[1], m[1]), token[1:-1], flags=re.DOTALL)
                return Constant("string", text.encode())
            case "quoted":
                self._advance()
                return Reference(token[1:-1])
            case "word":
                return self._parse_word()
        if self._skip("("):
            node = self.parse_or()
            self._expect(")")
            return node
        return self._fail("expected a column, a literal, a function or a parenthesis")

    def _parse_word(self) -> Node:
        word = self._token.lower()
        if word in ("true", "false", "null"):
            self._advance()
            return Constant("null", None) if word == "null" else Constant("boolean", word == "true")
        if self._skip("case"):
            return self._parse_case()
        if word in _RESERVED:
            self._fail("expected a column, a literal, a function or a parenthesis")
        name = self._take()
        return Call(word, self._parse_arguments()) if self._skip("(") else Reference(name)

    def _parse_case(self) -> Node:
        """`case [value] when a then b ... [else c] end` as nested `if`."""
        subject = None if self._is("when") else self.parse_or()
        branches = []
        while self._skip("when"):
            condition = self.parse_or()
            self._expect("then")
            branches.append((condition, self.parse_or()))
        node = self.parse_or() if self._skip("else") else Constant("null", None)
        self._expect("end")
        if not branches:
            self._fail("expected when in case")
        for condition, result in reversed(branches):
            test = condition if subject is None else Call("=", (subject, condition))
            node = Call("if", (test, result, node))
        return node

    def _parse_arguments(self) -> tuple[Node, ...]:
        arguments: list[Node] = []
        if self._skip(")"):
            return ()
        while True:
            arguments.append(self.parse_or())
            if self._skip(")"):
                return tuple(arguments)
            self._expect(",")

    def _advance(self) -> None:
        match = _TOKEN.match(self._text, self._position)
        if match is None or match.lastgroup is None:
            if self._text[self._position :].strip():
                self._kind, self._token = "?", ""
                self._fail("expected an expression")
            self._kind = self._token = ""
            return
        self._kind, self._token = match.lastgroup, match[match.lastgroup]
        self._position = match.end()
        self._tokens += 1
        if self._tokens > MAX_TOKENS:
            self._fail(f"at most {MAX_TOKENS} names, literals and signs are allowed")

    def _take(self) -> str:
        token = self._token
        self._advance()
        return token

    def _is(self, token: str) -> bool:
        return self._kind in ("word", "sign") and self._token.lower() == token

    def _skip(self, token: str) -> bool:
        matches = self._is(token)
        if matches:
            self._advance()
        return matches

    def _expect(self, token: str) -> None:
        if not self._skip(token):
            self._fail(f"expected {token}")

    def _fail(self, expected: str) -> NoReturn:
        place = f"at {self._token!r}" if self._token else "at its end" if not self._kind else "in it"
        raise YtError(
            f"the expression {self._text!r} is not valid {place}: {expected}", ErrorCode.INVALID_SCHEMA
        )


def _negate(node: Node) -> Node:
    match node:
        case Constant("int64" | "double" as kind, value):
            return Constant(kind, -value)
    return Call("negate", (node,))
