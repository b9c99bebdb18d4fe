"""YAML to plain values and back, with the line of every key.

Read by the rules of YAML 1.1 (`yes` and `no` are flags, `1_000` is a number), save that a key is always text,
and so is a date: a document holds what JSON can hold.
"""

from __future__ import annotations

import re
from io import StringIO
from typing import Any

from trellis.errors import SchemaError

Lines = dict[tuple[str, ...], int]

_FLAGS = {
    word: flag
    for flag, words in ((True, ("true", "yes", "on")), (False, ("false", "no", "off")))
    for lower in words
    for word in (lower, lower.title(), lower.upper())
}
_TAGS = frozenset(
    f"tag:yaml.org,2002:{name}"
    for name in ("null", "bool", "int", "float", "str", "timestamp", "value", "merge", "map", "seq")
)
_NULLS = ("", "~", "null", "Null", "NULL")
_BREAKS = re.compile("[\x85\u2028\u2029]")
_INT = re.compile(r"[-+]?(?:0|[1-9][0-9_]*)")
_FLOAT = re.compile(r"[-+]?(?:[0-9][0-9_]*\.[0-9_]*|\.[0-9][0-9_]*)(?:[eE][-+][0-9]+)?")


def read(text: str, where: str) -> tuple[Any, Lines]:
    """The document and the line on which each key stands, counted from 1."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    try:
        root = YAML(typ="safe", pure=True).compose(StringIO(text))
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f", line {mark.line + 1}" if mark else ""
        raise SchemaError(f"{where}{line}: not valid YAML: {error.problem or error.context}") from error
    except (YAMLError, RecursionError) as error:
        raise SchemaError(f"{where}: not valid YAML: {error}") from error
    lines: Lines = {}
    return (None if root is None else _Reader(where, lines).value(root, ())), lines


def write(value: Any) -> str:
    """The value in block style, keys in their order."""
    from ruamel.yaml import YAML
    from ruamel.yaml.representer import SafeRepresenter

    class Representer(SafeRepresenter):
        """Escapes the line breaks that only some readers know; unquoted they come back as spaces."""

    def text(representer: Any, value: str) -> Any:
        style = '"' if _BREAKS.search(value) else None
        return representer.represent_scalar("tag:yaml.org,2002:str", value, style=style)

    Representer.add_representer(str, text)
    yaml: Any = YAML(typ="safe", pure=True)
    yaml.Representer = Representer
    yaml.version = (1, 1)  # quote whatever a reader of either version could take for something else
    yaml.default_flow_style = False
    yaml.allow_unicode = True
    yaml.sort_base_mapping_type_on_output = False
    yaml.width = 100_000
    buffer = StringIO()
    yaml.dump(value, buffer)
    return buffer.getvalue().removeprefix("%YAML 1.1\n---\n")


class _Reader:
    def __init__(self, where: str, lines: Lines) -> None:
        self.where, self.lines, self.open = where, lines, set[int]()

    def value(self, node: Any, path: tuple[str, ...]) -> Any:
        line = node.start_mark.line + 1
        self.lines.setdefault(path, line)
        if str(node.tag) not in _TAGS:
            raise SchemaError(f"{self.where}, line {line}: a schema needs no tags such as {node.tag}")
        if node.id == "scalar":
            return _scalar(node)
        if id(node) in self.open:
            raise SchemaError(f"{self.where}, line {line}: an alias leads back to itself")
        self.open.add(id(node))
        content = self.mapping(node, path) if node.id == "mapping" else self.sequence(node, path)
        self.open.discard(id(node))
        return content

    def sequence(self, node: Any, path: tuple[str, ...]) -> list[Any]:
        return [self.value(item, (*path, str(index))) for index, item in enumerate(node.value)]

    def mapping(self, node: Any, path: tuple[str, ...]) -> dict[str, Any]:
        content: dict[str, Any] = {}
        merged: dict[str, Any] = {}
        for key, value in node.value:
            line = key.start_mark.line + 1
            if key.id != "scalar":
                raise SchemaError(f"{self.where}, line {line}: a key is text, not a list or mapping")
            name = key.value
            if name == "<<" and not key.style:
                merged.update(self.merge(value, path, line))
                continue
            if name in content:
                raise SchemaError(f"{self.where}, line {line}: duplicate key {name!r}")
            below = (*path, name)
            self.lines[below] = line
            content[name] = self.value(value, below)
        return {**merged, **content}

    def merge(self, node: Any, path: tuple[str, ...], line: int) -> dict[str, Any]:
        nodes = node.value if node.id == "sequence" else [node]
        content: dict[str, Any] = {}
        for value in (self.value(member, path) for member in reversed(nodes)):
            if not isinstance(value, dict):
                raise SchemaError(f"{self.where}, line {line}: only mappings can be merged with <<")
            content.update(value)
        return content


def _scalar(node: Any) -> Any:
    text: str = node.value
    if node.style:
        return text
    if text in _NULLS:
        return None
    if text in _FLAGS:
        return _FLAGS[text]
    if _INT.fullmatch(text):
        return int(text)
    return float(text) if _FLOAT.fullmatch(text) else text
