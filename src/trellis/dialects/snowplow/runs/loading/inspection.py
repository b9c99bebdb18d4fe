"""The tables of a dataset beside a registry: at which version they are, behind, or altered by hand."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from trellis.dialects.snowplow.client.registry import Registry
from trellis.dialects.snowplow.columns.declarations import METADATA
from trellis.dialects.snowplow.identity.errors import IgluError
from trellis.dialects.snowplow.identity.keys import Family, SchemaKey
from trellis.dialects.snowplow.runs.layouts import ATOMIC
from trellis.dialects.snowplow.runs.loading.migration import FamilyVersions
from trellis.dialects.snowplow.runs.loading.records import DefinitionRecord, last_definitions
from trellis.dialects.snowplow.runs.loading.verification import compare_definitions
from trellis.dialects.snowplow.runs.warehouses.base import RunWarehouse
from trellis.dialects.snowplow.runs.warehouses.tables import RealTable
from trellis.errors import SchemaError, UsageError, nearest

TableState = Literal["current", "behind", "altered", "unknown"]


@dataclass(frozen=True)
class TableStatus:
    """One table. It is `unknown` where its comment names no version of the registry."""

    table: str
    state: TableState
    version: str = ""
    """The last schema that it holds."""
    last: str = ""
    """The last schema that the registry has for it."""
    reasons: tuple[str, ...] = ()
    """How it differs from what its schemas say, or why that is not known."""

    def to_dict(self) -> dict[str, Any]:
        return {**vars(self), "reasons": [*self.reasons]}


@dataclass(frozen=True)
class TableInspector:
    """Compares the tables of a dataset with the schemas that their comments name."""

    warehouse: RunWarehouse
    registry: Registry
    dataset: str
    compat: bool = False
    """Tables are as Snowplow's own code makes them."""

    def inspect(self, names: Collection[str] = ()) -> list[TableStatus]:
        """The tables with these names; without any all that have a comment of a schema, or should have one.

        Raises UsageError for a name that no table has.
        """
        tables = self.warehouse.tables(self.dataset)
        for name in names:
            if name not in tables:
                raise UsageError(f"{self.dataset}: there is no table {name!r}{nearest(name, sorted(tables))}")
        families = dict(self._families(tables))
        records = last_definitions(self.warehouse, self.dataset)
        return [
            self._status(name, tables[name], families.get(name), records.get(name))
            for name in sorted(names or families)
        ]

    def _families(self, tables: Mapping[str, RealTable]) -> Iterator[tuple[str, Family]]:
        """The family of each table that has one, by its comment, or else by its name."""
        families = FamilyVersions(self.registry, self.warehouse.profile, self.compat)
        try:
            listed = {key.family for key in self.registry.list_keys()}
        except UsageError:  # a static registry has no list of all
            listed = set()
        by_name = {families.table_name(family): family for family in listed}
        for name, table in tables.items():
            key = _parsed(table.comment)
            if name in by_name:
                yield name, by_name[name]
            elif key is not None and key != ATOMIC:
                yield name, key.family

    def _status(
        self, name: str, table: RealTable, family: Family | None, record: DefinitionRecord | None
    ) -> TableStatus:
        families = FamilyVersions(self.registry, self.warehouse.profile, self.compat)
        if family is None:
            return TableStatus(
                name, "unknown", reasons=("no schema of the registry has a table of this name",)
            )
        try:
            listed = families.versions(family)
            version = families.version_of(name, table, listed, self.dataset)
        except SchemaError as error:
            reason = str(error).removeprefix(f"{name}: ")
            return TableStatus(name, "unknown", table.comment or "", reasons=(reason,))
        position = listed.index(version) + 1
        merged = families.table(listed[:position])
        columns = {
            merged.name: merged.columns,
            **{recovery.name: recovery.columns for recovery in merged.recovery},
        }
        if name not in columns:
            reason = f"its comment names {version}, whose table is {merged.name}"
            return TableStatus(name, "unknown", str(version), reasons=(reason,))
        is_recovered = name != merged.name
        columns_key, last = (version, version) if is_recovered else (merged.key, families.table(listed).key)
        orders = () if is_recovered else merged.orders
        differences = compare_definitions(table, (*METADATA, *columns[name]), families.profile, orders)
        reasons = [*map(str, differences)]
        if differences and record:
            patched = record.patched(families.documents(listed[:position]), families.profile)
            reasons += [f"{uri} was patched since the load of {record.base}" for uri in patched]
        state: TableState = "altered" if differences else "current" if columns_key == last else "behind"
        return TableStatus(name, state, str(version), str(last), tuple(reasons))


def altered_tables(statuses: Sequence[TableStatus]) -> list[TableStatus]:
    """Those that loads may refuse."""
    return [status for status in statuses if status.state in ("altered", "unknown")]


def _parsed(comment: str | None) -> SchemaKey | None:
    try:
        return SchemaKey.parse(comment or "")
    except IgluError:
        return None
