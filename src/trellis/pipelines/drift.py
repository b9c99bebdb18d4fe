"""Where the tables of a destination are not what the stored schema says."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from trellis.destinations.base import CatalogTable, Destination
from trellis.dialects import get_dialect
from trellis.dialects.documents import from_stored
from trellis.errors import SchemaError
from trellis.evolution.dialect import Dialect
from trellis.pipelines.pipeline import Pipeline
from trellis.schema.compare import AddColumn, AddTable, ChangeColumn, DropColumn, DropTable, compare
from trellis.schema.model import Column, DataType, Schema, Table
from trellis.schema.system import is_system

Kind = Literal[
    "missing table", "unknown table", "other table", "missing column", "unknown column", "type", "nullable"
]


@dataclass(frozen=True)
class Drift:
    """One difference: what the destination has instead, and what the next load does about it.

    `actual` and `expected` are types in the destination's own words, where the difference is one of types.
    """

    kind: Kind
    table: str
    column: str | None
    what: str
    next_load: str
    actual: str | None = None
    expected: str | None = None

    def describe(self) -> str:
        """
        >>> Drift("unknown table", "notes", None, "no stored schema knows it", "leaves it alone").describe()
        'notes: no stored schema knows it; the next load leaves it alone'
        """
        name = self.table if self.column is None else f"{self.table}.{self.column}"
        return f"{name}: {self.what}; the next load {self.next_load}"

    def to_dict(self) -> dict[str, Any]:
        """The difference as `--json` prints it."""
        fields = asdict(self)
        fields["found"] = fields.pop("actual")
        return fields


def drift(pipeline: Pipeline, schema: Schema | None = None) -> tuple[Drift, ...]:
    """What the tables of the pipeline's dataset have otherwise than the stored schema, or than `schema`.

    Tables that never saw data are looked at only if they are of `schema`. Bookkeeping, and tables and
    columns of other schemas in the dataset, are no drift. Raises DestinationError, SchemaError.
    """
    dialect = get_dialect(pipeline.dialect)
    stored = _stored(pipeline, dialect)
    name = pipeline.schema.name
    catalog = pipeline.destination.catalog(pipeline.dataset)
    if dialect.capabilities.follows_catalog:
        known = schema or stored.get(name)
        return () if known is None else tuple(_followed(known, dialect, catalog))
    tables = schema.tables.values() if schema else stored[name].tables.values() if name in stored else ()
    checked = [table for table in tables if table.complete_columns and (schema or table.seen_data)]
    native = dialect.writes.native_types(
        schema or stored.get(name) or pipeline.schema, pipeline.destination.abilities.family
    )
    return tuple(
        _Look(pipeline.destination, dialect.capabilities.system_prefix, native, stored.values(), catalog).at(
            checked
        )
    )


def _stored(pipeline: Pipeline, dialect: Dialect) -> dict[str, Schema]:
    """The newest version of each schema of the dataset."""
    rows = pipeline.destination.history(pipeline.dataset, dialect.metadata.tables())
    newest = {str(row["schema_name"]): str(row["schema"]) for row in rows}
    return {name: from_stored(text, f"schema {name} in {pipeline.where}") for name, text in newest.items()}


@dataclass(frozen=True)
class _Look:
    """A look at the tables of a destination that follows the schema."""

    destination: Destination
    prefix: str
    native: Mapping[DataType, str]
    stored: Collection[Schema]
    catalog: Mapping[str, CatalogTable]

    def at(self, tables: Collection[Table]) -> Iterator[Drift]:
        for table in tables:
            if not self._is_ours(table.name):
                yield from self._table(table)
        known = {self._folded(name) for schema in self.stored for name in schema.tables}
        known |= {self._folded(table.name) for table in tables}
        for name in self.catalog:
            is_known = self._folded(name) in known or self._is_ours(name)
            if not is_known and not self.catalog[name].is_view:
                yield Drift("unknown table", name, None, "no stored schema knows it", "leaves it alone")

    def _table(self, table: Table) -> Iterator[Drift]:
        real = self.catalog.get(table.name)
        if real is None:
            twin = next((n for n in self.catalog if self._folded(n) == self._folded(table.name)), None)
            if twin is not None:
                what = f"it is called {twin}, and names that differ in case alone are one"
                yield Drift("other table", table.name, None, what, "fails; rename it")
            else:
                yield Drift("missing table", table.name, None, "it is not there", "creates it, empty")
        elif real.is_view:
            yield Drift("other table", table.name, None, "it is a view", "fails; rename the view")
        else:
            yield from self._columns(table, real)

    def _columns(self, table: Table, real: CatalogTable) -> Iterator[Drift]:
        columns = {self._folded(name): name for name in real.columns}
        for column in table.complete_columns:
            name = columns.get(self._folded(column.name))
            if name is None:
                yield Drift("missing column", table.name, column.name, "it is not there", _added(column))
            else:
                yield from self._column(table, column, name, real)
        known = {
            self._folded(column.name)
            for owner in (table, *(s.tables[table.name] for s in self.stored if table.name in s.tables))
            for column in owner.complete_columns
        }
        for folded, name in columns.items():
            if folded not in known:
                yield Drift(
                    "unknown column", table.name, name, "the schema does not know it", _left(name, real)
                )

    def _column(self, table: Table, column: Column, name: str, real: CatalogTable) -> Iterator[Drift]:
        actual = real.columns[name]
        try:
            expected = self.destination.type_name(column, self.native)
        except SchemaError as bad:
            yield Drift("type", table.name, column.name, str(bad), "fails", actual)
            return
        if actual != expected:
            what = f"it is {actual}, the schema makes {expected} of {column.data_type}"
            yield Drift("type", table.name, column.name, what, self._retyped(actual), actual, expected)
        if real.required is None or (name in real.required) == column.required:
            return
        if column.required:
            what, then = "it takes NULL, the schema does not", "leaves it so"
        else:
            what, then = "it takes no NULL, the schema does", "fails if a row has no value for it"
        yield Drift("nullable", table.name, column.name, what, then)

    def _retyped(self, actual: str) -> str:
        if not self.destination.abilities.casts:
            return "fails; give it its old type, or load into another table"
        return f"casts values to {actual}, and fails if one does not fit"

    def _is_ours(self, name: str) -> bool:
        return is_system(name, self.prefix)

    @property
    def _folded(self) -> Callable[[str], str]:
        return str if self.destination.abilities.case_sensitive else str.lower


def _added(column: Column) -> str:
    if column.required:
        return "adds it if the table is empty, and else fails, as it takes no NULL"
    return "adds it; rows that are there get NULL"


def _left(name: str, real: CatalogTable) -> str:
    if real.required and name in real.required:
        return "leaves it alone, and fails unless it has a default, as it takes no NULL"
    return "leaves it alone; new rows get NULL"


def _followed(schema: Schema, dialect: Dialect, catalog: Mapping[str, CatalogTable]) -> Iterator[Drift]:
    """The differences where the next load takes the tables as they are."""
    for change in compare(schema, dialect.schemas.schema_from_catalog(schema, catalog)):
        name, column = change.table, change.column
        if is_system(name, dialect.capabilities.system_prefix):
            continue
        if isinstance(change, DropTable):
            yield Drift("missing table", name, None, "it is not there", "creates it when a row comes")
        elif isinstance(change, DropColumn):
            yield Drift("missing column", name, column, "it is not there", "adds it when a value comes")
        elif isinstance(change, AddTable):
            yield Drift("unknown table", name, None, "the schema does not know it", "goes on with it")
        elif isinstance(change, AddColumn):
            yield Drift("unknown column", name, column, "the schema does not know it", "goes on with it")
        elif isinstance(change, ChangeColumn):
            what = f"its {change.property} is {change.after}, in the schema {change.before}"
            yield Drift("type", name, column, what, "goes on with that")
