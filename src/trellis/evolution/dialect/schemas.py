"""How schemas are made, named, read and taken over."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from trellis.evolution.table_writes import Mode, Strategy
from trellis.schema.model import Column, DataType, Schema, Table
from trellis.schema.naming import Naming


@dataclass(frozen=True)
class TableRequest:
    """What the user asked of one root table.

    `rules` are value rules by column, of another table by `table.column`. `declared` is a partial table with
    names as the user wrote them. `nested` are partial tables by the path of keys that leads to them, the
    shorter paths first; one with a primary or merge key is a root table of its own. `materialize` creates the
    table though no row comes. `preserve_types`: rows with types keep them, without child tables, variants
    and, unless asked for, system columns.
    """

    table: str
    mode: Mode | None = None
    strategy: Strategy | None = None
    keys: tuple[str, ...] = ()
    merge_keys: tuple[str, ...] = ()
    columns: tuple[Column, ...] = ()
    rules: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    contract: str | Mapping[str, str] | None = None
    max_nesting: int | None = None
    declared: Table | None = None
    nested: tuple[tuple[tuple[str, ...], Table], ...] = ()
    materialize: bool = False
    preserve_types: bool = False

    def hints_in_words(self) -> str:
        """The hints that were given, for a dialect that takes none.

        >>> TableRequest("orders", keys=("id",), max_nesting=2).hints_in_words()
        'keys and max_nesting'
        """
        hints = {
            "keys": self.keys,
            "merge keys": self.merge_keys,
            "a merge strategy": self.strategy,
            "columns": self.columns,
            "rules": self.rules,
            "max_nesting": self.max_nesting is not None,
        }
        return " and ".join(name for name, hint in hints.items() if hint)


class Catalog(Protocol):
    """A table as it really is in the destination (`destinations.base.CatalogTable`)."""

    @property
    def columns(self) -> Mapping[str, str]: ...

    @property
    def types(self) -> Mapping[str, DataType | None]: ...

    @property
    def is_view(self) -> bool: ...


class NamingRules(Protocol):
    def naming(self, schema: Schema, max_length: int | None) -> Naming:
        """How keys become identifiers of at most that many bytes."""
        ...

    def dataset(self, settings: Mapping[str, Any], default: str) -> str:
        """The dataset of a user who named none."""
        ...


class SchemaStore(Protocol):
    def new_schema(self, name: str) -> Schema: ...

    def configure(self, schema: Schema, settings: Mapping[str, Any], family: str) -> Schema:
        """The schema with the user's settings, as it is loaded into a warehouse of this family.

        Raises UsageError.
        """
        ...

    def parse_document(self, text: str, where: str) -> Schema | None:
        """A schema document of the original; None for a document of Trellis. Raises SchemaError."""
        ...

    def merge_user_schema(
        self, schema: Schema, user_schema: Schema, naming_of: Callable[[Schema], Naming]
    ) -> Schema:
        """The stored schema with one that came with a load over it. Raises SchemaError."""
        ...

    def schema_from_catalog(self, schema: Schema, catalog: Mapping[str, Catalog]) -> Schema:
        """The stored schema as the destination's tables are; only if the dialect `follows_catalog`."""
        ...

    def apply_request(self, schema: Schema, request: TableRequest, naming: Naming) -> Schema:
        """The schema with the user's request for a root table. Raises UsageError, SchemaError."""
        ...
