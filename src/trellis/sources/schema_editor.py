"""The schema of a source as code changes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from trellis.dialects.documents import naming_of
from trellis.errors import SchemaError, nearest
from trellis.evolution.contract import expand
from trellis.schema.dict_form import plain, table_of, to_dict
from trellis.schema.documents import document
from trellis.schema.documents.validate import DETECTIONS, TABLE
from trellis.schema.merge import merge_schema, merge_table, parents_first
from trellis.schema.model import DataType, Schema, Settings, Table
from trellis.schema.naming import Naming
from trellis.schema.rules import merge_hints, update_preferred_types
from trellis.sources.hints.columns import columns_of

DETECTED_BY_DEFAULT = ("iso_timestamp",)


class SchemaEditor:
    """A schema that can be changed. `declared` is what the source says, and nothing else.

    What is read, such as `tables`, is the `stored` schema with the declared one over it.
    """

    def __init__(self, declared: Schema, stored: Schema | None = None) -> None:
        self.declared = declared
        self.stored = stored

    def __repr__(self) -> str:
        return f"SchemaEditor({self.name!r}, tables={list(self.tables)})"

    @property
    def name(self) -> str:
        return self.declared.name

    @property
    def naming(self) -> Naming:
        """The convention that names in rules and tables are normalized by."""
        return naming_of(self.schema)

    @property
    def schema(self) -> Schema:
        """All that is known: what is stored with what is declared over it."""
        if self.stored is None:
            return self.declared
        normalizers = MappingProxyType({**self.stored.normalizers, **self.declared.normalizers})
        known = replace(
            self.stored, settings=_over(self.stored.settings, self.declared.settings), normalizers=normalizers
        )
        naming = naming_of(known)
        for table in parents_first(self.declared.tables):
            known = merge_table(known, table, naming)
        return known

    @property
    def tables(self) -> Mapping[str, Table]:
        return self.schema.tables

    @property
    def settings(self) -> Settings:
        return self.schema.settings

    @property
    def detections(self) -> tuple[str, ...]:
        """The type detectors in their order."""
        detections = self.schema.settings.detections
        return DETECTED_BY_DEFAULT if detections is None else detections

    def add_type_detection(self, detection: str) -> None:
        """Let a detector look at new values, after those there are."""
        if _detector(detection) not in self.detections:
            self._set(detections=(*self.detections, detection))

    def remove_type_detection(self, detection: str) -> None:
        """Let a detector look at new values no longer."""
        _detector(detection)
        self._set(detections=tuple(known for known in self.detections if known != detection))

    def merge_hints(self, hints: Mapping[str, Sequence[str]], replace: bool = False) -> None:
        """Add rules that give new columns their hints; `replace` drops the old rules of these hints."""
        self._settings(merge_hints(self.declared.settings, hints, self.naming, replace))

    def update_preferred_types(self, types: Mapping[str, DataType]) -> None:
        """Add rules that give new columns their types."""
        self._settings(update_preferred_types(self.declared.settings, types, self.naming))

    def set_schema_contract(self, contract: str | Mapping[str, str] | None) -> None:
        """The contract of all tables without one of their own; None or an empty one takes it away."""
        expand(contract or None)
        self._set(schema_contract=plain(contract) or None)

    def update_table(self, partial: Table | Mapping[str, Any]) -> None:
        """Add a table, or columns and hints to it: a Table, or a dict as in a document."""
        table = partial if isinstance(partial, Table) else self._table(partial)
        self.declared = merge_table(self.declared, table, self.naming)

    def update_schema(self, other: Schema | SchemaEditor) -> None:
        """Take the settings, the normalizers and the tables of another schema."""
        schema = other.schema if isinstance(other, SchemaEditor) else other
        self.declared = merge_schema(self.declared, schema, naming_of(schema))

    def to_dict(self) -> dict[str, Any]:
        return to_dict(self.schema)

    def to_pretty_yaml(self) -> str:
        return document.to_yaml(self.schema)

    def copy(self) -> SchemaEditor:
        return SchemaEditor(self.declared, self.stored)

    def _table(self, document: Mapping[str, Any]) -> Table:
        name = document.get("name")
        if not isinstance(name, str):
            raise SchemaError(f"schema {self.name}: a table needs its name: {{'name': ..., 'columns': ...}}")
        columns = columns_of(document.get("columns") or {}, f"of table {name}")
        keys = {key: plain(value) for key, value in document.items() if key not in ("name", "columns")}
        if problems := [str(problem) for problem in TABLE((name,), keys)]:
            raise SchemaError(f"schema {self.name}: table {'; '.join(problems)}")
        return table_of(name, keys, columns)

    def _set(self, **settings: Any) -> None:
        self._settings(replace(self.declared.settings, **settings))

    def _settings(self, settings: Settings) -> None:
        self.declared = replace(self.declared, settings=settings)


def _detector(name: str) -> str:
    if name not in DETECTIONS:
        raise SchemaError(f"there is no type detection {name!r}{nearest(str(name), DETECTIONS)}")
    return name


def _over(old: Settings, new: Settings) -> Settings:
    """The old settings with the new ones over them, rule by rule."""
    hints = {**(old.default_hints or {}), **(new.default_hints or {})}
    types = {**(old.preferred_types or {}), **(new.preferred_types or {})}
    return replace(
        old,
        detections=old.detections if new.detections is None else new.detections,
        default_hints=hints or old.default_hints,
        preferred_types=types or old.preferred_types,
        schema_contract=old.schema_contract if new.schema_contract is None else new.schema_contract,
        extra=MappingProxyType({**old.extra, **new.extra}),
    )
