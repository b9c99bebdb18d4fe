"""A form in which other programs keep schemas, and what is lost between it and a schema of Trellis."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, get_args

from trellis.schema.model import DataType, Schema

Aspect = Literal[
    "required",
    "primary key",
    "unique",
    "description",
    "time zone",
    "nested types",
    "partition",
    "layout",
    "parent",
    "references",
    "contract",
    "value rules",
    "load rules",
]
"""What a schema says of tables and columns beside their names and types."""
ASPECTS: Final[tuple[Aspect, ...]] = get_args(Aspect)


@dataclass(frozen=True)
class Loss:
    """What a document does not say of a table, or of one of its columns, and why not."""

    table: str
    column: str | None
    what: str
    reason: str

    def to_dict(self) -> dict[str, Any]:
        return {"table": self.table, "column": self.column, "lost": self.what, "reason": self.reason}


@dataclass(frozen=True)
class Reading:
    """The schema of a document, and what the document says beyond it."""

    schema: Schema
    losses: tuple[Loss, ...] = ()


def _never(document: Any) -> bool:
    return False


@dataclass(frozen=True)
class SchemaFormat:
    """One form of schemas.

    `write` gets a schema of one table if a document holds no more. `read` gets
    the parsed document and a name for what has none; it raises SchemaError.
    """

    name: str
    title: str
    suffix: str
    write: Callable[[Schema], str | bytes]
    keeps: frozenset[Aspect] = frozenset()
    sizes: frozenset[DataType] = frozenset()
    """The types whose precision and scale it keeps."""
    other_types: Mapping[DataType, str] = field(default_factory=dict)
    """What stands for types that it does not have."""
    one_table: bool = False
    """Whether a document holds one table."""
    rename_table: Callable[[str], str] = str
    rename_column: Callable[[str], str] = str
    """The names of tables and columns in a document."""
    bookkeeping: bool = False
    """Whether it takes the tables that Trellis and dialects keep for themselves, too."""
    parse: Callable[[str, str], Any] | None = None
    """Parses a text, with its name for errors, that is neither JSON nor YAML."""
    read: Callable[[Any, str], Reading] | None = None
    recognizes: Callable[[Any], bool] = _never
    """Whether a parsed document is one of this format."""
