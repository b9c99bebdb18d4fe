"""An expression over the columns of a table: its kind, the columns it reads, its value for a row."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from trellis.dialects.ytsaurus.computed.functions import ALL, FUNCTIONS, NUMBERS, Function, Kinds
from trellis.dialects.ytsaurus.computed.nodes import (
    Call,
    Constant,
    Node,
    Reference,
    TypedNode,
    ValueKind,
    iter_references,
)
from trellis.dialects.ytsaurus.computed.parser import parse_expression
from trellis.dialects.ytsaurus.errors import ErrorCode, YtError
from trellis.dialects.ytsaurus.types.model import Type
from trellis.dialects.ytsaurus.types.simple import simple_type
from trellis.dialects.ytsaurus.yson.values import Uint64, to_bytes
from trellis.errors import nearest

Row = Mapping[str, Any]
Evaluate = Callable[[Row], Any]

_PREFERENCE: Final[tuple[ValueKind, ...]] = ("int64", "uint64", "double", "boolean", "string", "any", "null")
_WIRE_KINDS: Final[Mapping[str, ValueKind]] = {
    **dict.fromkeys(("int8", "int16", "int32", "int64", "interval", "date32", "datetime64"), "int64"),
    **dict.fromkeys(("timestamp64", "interval64"), "int64"),
    **dict.fromkeys(("uint8", "uint16", "uint32", "uint64", "date", "datetime", "timestamp"), "uint64"),
    **dict.fromkeys(("float", "double"), "double"),
    "boolean": "boolean",
    "any": "any",
    **dict.fromkeys(("null", "void"), "null"),
}


def kind_of_type(type: Type) -> ValueKind:
    """The kind that values of a column have in expressions."""
    return _WIRE_KINDS.get(simple_type(type).name, "string")


@dataclass(frozen=True)
class Expression:
    text: str
    kind: ValueKind
    references: tuple[str, ...]
    root: TypedNode
    _evaluate: Evaluate = field(repr=False, compare=False)

    def evaluate(self, row: Row) -> Any:
        """The value for a row, whose absent columns are null. Raises YtError."""
        try:
            return self._evaluate(row)
        except YtError as error:
            raise YtError(f"the expression {self.text!r} fails: {error.message}", error.code) from None


def compile_expression(
    text: str, columns: Mapping[str, ValueKind], expected: Iterable[ValueKind] = ()
) -> Expression:
    """The expression, typed. Raises YtError with the code 314.

    A literal that fits several kinds becomes one of the `expected` where it may.

    >>> compile_expression("if(k > 5, 1, null)", {"k": "uint64"}).evaluate({"k": Uint64(6)})
    1
    """
    node = parse_expression(text)
    compiler = _Compiler(text, columns)
    possible = compiler.possible_kinds(node)
    kind = _preferred(possible & frozenset(expected) or possible)
    references = tuple(dict.fromkeys(iter_references(node)))
    root = compiler.type_node(node, kind)
    return Expression(text, kind, references, root, _compile(root))


@dataclass(frozen=True)
class _Compiler:
    text: str
    columns: Mapping[str, ValueKind]
    known_kinds: dict[int, Kinds] = field(default_factory=dict)
    """By the identity of the node."""

    def possible_kinds(self, node: Node) -> Kinds:
        """A literal fits several kinds until its neighbours decide."""
        if id(node) not in self.known_kinds:
            self.known_kinds[id(node)] = self._find_kinds(node)
        return self.known_kinds[id(node)]

    def _find_kinds(self, node: Node) -> Kinds:
        match node:
            case Constant("int64", value):
                return NUMBERS if value >= 0 else NUMBERS - {"uint64"}
            case Constant("null"):
                return ALL | {"null"}
            case Constant(kind):
                return frozenset({kind})
            case Reference(name):
                if name not in self.columns:
                    raise self._fault(f"there is no column {name!r}{nearest(name, self.columns)}")
                return frozenset({self.columns[name]})
            case Call():
                function = self._function(node)
                shared = self._shared_kinds(node, function)
                return shared if function.result is None else frozenset({function.result})

    def type_node(self, node: Node, kind: ValueKind) -> TypedNode:
        """The node as a value of one of its possible kinds."""
        match node:
            case Constant(_, value):
                return TypedNode(Constant(kind, _as_kind(value, kind)), kind)
            case Reference():
                return TypedNode(node, kind)
            case Call():
                return TypedNode(node, kind, tuple(self._type_arguments(node, kind)))

    def _type_arguments(self, node: Call, kind: ValueKind) -> Iterator[TypedNode]:
        function = self._function(node)
        shared = kind if function.result is None else None
        if shared is None and function.same:
            shared = _preferred(self._shared_kinds(node, function))
        for index, argument in enumerate(node.arguments):
            parameter = min(index, len(function.parameters) - 1)
            if shared is not None and parameter in function.same:
                yield self.type_node(argument, shared)
            else:
                allowed = self._allowed(node, argument, function.parameters[parameter])
                yield self.type_node(argument, _preferred(allowed))

    def _function(self, node: Call) -> Function:
        function = FUNCTIONS.get(node.function)
        if function is None:
            raise self._fault(f"there is no function {node.function!r}{nearest(node.function, FUNCTIONS)}")
        count, expected = len(node.arguments), len(function.parameters)
        if count < expected or (count > expected and not function.repeats):
            raise self._fault(f"{node.function} has {count} arguments; expected {expected}")
        return function

    def _shared_kinds(self, node: Call, function: Function) -> Kinds:
        shared, kinds = None, []
        for index, argument in enumerate(node.arguments):
            parameter = min(index, len(function.parameters) - 1)
            allowed = self._allowed(node, argument, function.parameters[parameter])
            if parameter in function.same:
                kinds.append(_preferred(self.possible_kinds(argument)))
                shared = allowed if shared is None else shared & allowed
        if shared is not None and not shared:
            raise self._fault(
                f"{node.function} has operands of the kinds {' and '.join(kinds)}; cast one of them"
            )
        return shared or frozenset()

    def _allowed(self, node: Call, argument: Node, parameter: Kinds) -> Kinds:
        possible = self.possible_kinds(argument)
        if not possible & parameter:
            kinds = ", ".join(kind for kind in _PREFERENCE if kind in parameter)
            raise self._fault(f"{node.function} takes {kinds}, not {_preferred(possible)}")
        return possible & parameter

    def _fault(self, message: str) -> YtError:
        return YtError(f"the expression {self.text!r} is not valid: {message}", ErrorCode.INVALID_SCHEMA)


def _compile(typed: TypedNode) -> Evaluate:
    match typed.node:
        case Constant(_, value):
            return lambda row: value
        case Reference(name):
            return lambda row: _column_value(row.get(name))
        case Call("if"):
            condition, first, second = map(_compile, typed.arguments)
            return lambda row: first(row) if condition(row) else second(row)
        case Call(name):
            return _call(FUNCTIONS[name], [*map(_compile, typed.arguments)])


def _call(function: Function, arguments: list[Evaluate]) -> Evaluate:
    evaluate = function.evaluate

    def call(row: Row) -> Any:
        values = [argument(row) for argument in arguments]
        if not function.takes_null and None in values:
            return None
        return evaluate(*values)

    return call


def _preferred(kinds: Kinds) -> ValueKind:
    return next(kind for kind in _PREFERENCE if kind in kinds)


def _as_kind(value: Any, kind: ValueKind) -> Any:
    if value is None or isinstance(value, bool):
        return value
    return Uint64(value) if kind == "uint64" else float(value) if kind == "double" else value


def _column_value(value: Any) -> Any:
    return to_bytes(value) if isinstance(value, str) else value
