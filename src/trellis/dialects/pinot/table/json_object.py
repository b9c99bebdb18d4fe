"""One JSON object of a table config."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trellis.dialects.pinot.document.json_object import Ledger, Node, shown
from trellis.dialects.pinot.value.numbers.parsing import NotANumber, parse_double


class TableNode(Node):
    """An object with its place. A table has more keys than are known here, so none counts as unknown."""

    def __init__(self, document: Mapping[str, Any], place: str, ledger: Ledger) -> None:
        super().__init__(document, place, ledger, frozenset(document))

    def inner(self, key: str) -> TableNode:
        """An object in this one; an empty one where there is none."""
        return TableNode(self.objects(key) or {}, self.at(key), self._ledger)

    def items(self, key: str) -> list[tuple[int, TableNode]]:
        """The objects of a list, each with its number there."""
        made = []
        for at, each in enumerate(self.elements(key)):
            if isinstance(each, Mapping):
                made.append((at, TableNode(each, self.at(key, at), self._ledger)))
            else:
                self.fault(f"an element of {key} is an object, not {shown(each)}", key, at)
        return made

    def elements(self, key: str) -> list[Any]:
        """A list; an empty one where there is none."""
        found = self.said(key)
        if found is None or isinstance(found, list):
            return found or []
        self.fault(f"{key} is a list, not {shown(found)}", key)
        return []

    def mapping(self, key: str) -> dict[str, str]:
        """An object of texts; numbers as they print."""
        node = self.inner(key)
        made = {each: node.text(each) for each in node.document}
        return {each: text for each, text in made.items() if text is not None}

    def number(self, key: str) -> float | None:
        """A number, also as text."""
        found = self.said(key)
        if found is None or found == "":
            return None
        try:
            if not isinstance(found, bool | Mapping | list):
                return parse_double(str(found))
        except NotANumber:
            pass
        self.fault(f"{key} is a number, not {shown(found)}", key)
        return None

    def any(self, key: str) -> Any:
        """What the key says, whatever it is."""
        return self.said(key)
