"""What a user's normalizer is given of the schema, under the names that dlt has for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trellis.dialects.dlt.system_tables import PREFIX
from trellis.schema.dict_form import to_dict
from trellis.schema.model import DataType, Schema
from trellis.schema.naming import Naming
from trellis.schema.rules import preferred_type
from trellis.schema.system import is_system


class CompatNaming:
    """The naming convention of the schema.

    >>> from trellis.schema.naming import get_naming
    >>> naming = CompatNaming(get_naming())
    >>> naming.normalize_identifier("createdAt"), naming.shorten_fragments("orders", "items")
    ('created_at', 'orders__items')
    """

    def __init__(self, naming: Naming) -> None:
        self._naming = naming
        self.PATH_SEPARATOR = naming.separator
        self.is_case_sensitive = naming.case_sensitive
        self.max_length = naming.max_length

    def normalize_identifier(self, identifier: str) -> str:
        return self._naming.identifier(identifier)

    def normalize_path(self, path: str) -> str:
        return self._naming.path(path)

    def normalize_table_identifier(self, identifier: str) -> str:
        return self._naming.table(identifier)

    def normalize_tables_path(self, path: str) -> str:
        return self._naming.table(path)

    def make_path(self, *identifiers: str) -> str:
        return self.PATH_SEPARATOR.join(identifier for identifier in identifiers if identifier.strip())

    def break_path(self, path: str) -> list[str]:
        return [fragment for fragment in path.split(self.PATH_SEPARATOR) if fragment.strip()]

    def shorten_fragments(self, *normalized_idents: str) -> str | None:
        return self._naming.join(*normalized_idents) if normalized_idents else None


class CompatSchema:
    """The schema as it was when the task began: its name, its naming, its document."""

    def __init__(self, schema: Schema, naming: Naming) -> None:
        self.name = schema.name
        self.naming = CompatNaming(naming)
        self._settings = schema.settings
        self._document: Mapping[str, Mapping[str, Any]] = to_dict(schema)

    @property
    def tables(self) -> Mapping[str, Any]:
        """The tables of the schema document by name."""
        return self._document["tables"]

    @property
    def settings(self) -> Mapping[str, Any]:
        """The settings of the schema document."""
        return self._document["settings"]

    @property
    def _normalizers_config(self) -> Mapping[str, Any]:
        """The normalizers of the schema document; dlt's own normalizers read their config here."""
        return self._document["normalizers"]

    def get_table(self, table_name: str) -> Mapping[str, Any]:
        """A table of the schema document. Raises KeyError."""
        table: Mapping[str, Any] = self.tables[table_name]
        return table

    def data_table_names(self) -> list[str]:
        return [name for name in self.tables if not is_system(name, PREFIX)]

    def dlt_table_names(self) -> list[str]:
        return [name for name in self.tables if is_system(name, PREFIX)]

    def get_preferred_type(self, col_name: str) -> DataType | None:
        """The type that the settings give a new column of that name."""
        return preferred_type(self._settings, col_name)

    def get_table_columns(self, table_name: str, include_incomplete: bool = False) -> Mapping[str, Any]:
        """The columns of a table by name. Raises KeyError."""
        columns = self.get_table(table_name)["columns"]
        return {
            name: column for name, column in columns.items() if include_incomplete or column.get("data_type")
        }
