"""Value rules: what the values of a column may be, beside their type. Kept in a hint of the column."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from trellis.schema.model import Column, Schema

RULES: Final = "x-rules"
"""The hint of a column that holds its rules; documents and `columns=` may call it `rules`."""


@dataclass(frozen=True)
class ValueRules:
    """The rules of one column. None and empty: there is no such rule."""

    accepted_values: tuple[Any, ...] = ()
    minimum: Any = None
    maximum: Any = None
    pattern: str | None = None
    not_null: bool = False

    def to_hint(self) -> dict[str, Any]:
        """The rules that there are, as they are stored.

        >>> ValueRules(minimum=0, not_null=True).to_hint()
        {'minimum': 0, 'not_null': True}
        """
        rules = {
            "accepted_values": [*self.accepted_values],
            "minimum": self.minimum,
            "maximum": self.maximum,
            "pattern": self.pattern,
            "not_null": self.not_null,
        }
        return {
            name: rule for name, rule in rules.items() if not (rule is None or rule is False or rule == [])
        }


def rules_of(column: Column) -> ValueRules:
    """The rules of a column.

    >>> rules_of(Column("qty", "bigint").with_hints(**{"x-rules": {"minimum": 0}})).minimum
    0
    """
    hint: Mapping[str, Any] = column.hint(RULES) or {}
    return ValueRules(
        tuple(hint.get("accepted_values") or ()),
        hint.get("minimum"),
        hint.get("maximum"),
        hint.get("pattern"),
        bool(hint.get("not_null")),
    )


def with_rules(column: Column, rules: ValueRules) -> Column:
    """The column with these rules in place of its own, and as it is where there are none."""
    hint = rules.to_hint()
    return column.with_hints(**{RULES: hint}) if hint else column


def has_rules(schema: Schema) -> bool:
    """Whether any column of the schema has rules."""
    return any(column.hint(RULES) for table in schema.tables.values() for column in table.columns.values())
