"""The tables of a schema, and what a next version adds to them, as statements of a warehouse.

Text only; nothing is run. What a reader should know of a statement stands above it as a comment.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from trellis.errors import SchemaError
from trellis.schema.model import Column, DataType, Schema, Table
from trellis.schema.shorten import shorten
from trellis.warehouses import statements as sql
from trellis.warehouses.statements import ColumnDefinition, Layout, cost_of
from trellis.warehouses.warehouse import Clause, Warehouse

_HINTS: Final[Mapping[str, tuple[str, ...]]] = {part: (part,) for part in ("partition", "cluster", "sort")}
"""The hints whose columns a clause names."""
_CLICKHOUSE_HINTS: Final[Mapping[str, tuple[str, ...]]] = {"sort": ("primary_key", "sort")}
_PARTITIONS: Final[Mapping[str, Mapping[DataType | None, str]]] = {
    "bigquery": {
        "date": "{}",
        "timestamp": "DATE({})",
        "bigint": "RANGE_BUCKET({}, GENERATE_ARRAY(-172800000, 691200000, 86400))",
    }
}
"""What a warehouse partitions by day; a number is taken for the seconds since 1970 of a day."""


def schema_statements(
    warehouse: Warehouse, dataset: str, before: Schema, after: Schema, *, case_sensitive: bool
) -> list[str]:
    """What makes tables and columns that are new; nothing is dropped, renamed or retyped.

    `case_sensitive`: whether the naming of the schema tells names apart that differ in case alone.

    Raises SchemaError where a type does not exist in the warehouse, or two names become one.
    """
    is_new = before.stored_hash is None
    identifiers = SchemaNames(warehouse, case_sensitive)
    rendered: list[str] = []
    for table in after.tables.values():
        if not table.complete_columns:
            continue
        format_ = warehouse.formats.get(str(after.inherited(table.name, "table_format")), warehouse)
        ddl = TableStatements(format_, identifiers, dataset, table)
        known = before.tables.get(table.name)
        stored = {} if is_new or known is None else {c.name: c for c in known.complete_columns}
        if not stored:
            rendered.append(ddl.create())
        elif missing := [column for column in table.complete_columns if column.name not in stored]:
            rendered += ddl.add(missing)
    identifiers.refuse_collisions(after.tables)
    if rendered and is_new:
        rendered[:0] = sql.create_schema(warehouse, identifiers.of(dataset))
    return rendered


@dataclass
class TableStatements:
    """The statements of one table, each below the notes about it."""

    warehouse: Warehouse
    identifiers: SchemaNames
    dataset: str
    table: Table
    notes: list[str] = field(default_factory=list)

    @property
    def relation(self) -> str:
        return self.warehouse.quote(*map(self.identifiers.of, (self.dataset, self.table.name)))

    def create(self) -> str:
        columns = self.table.complete_columns
        definitions = [self._definition(column, in_new_table=True) for column in columns]
        return self._noted(
            sql.create_table(self.warehouse, self.relation, definitions, self._layout(columns))
        )

    def add(self, columns: Sequence[Column]) -> list[str]:
        rendered: list[str] = []
        for chunk in [columns] if self.warehouse.syntax.adds_several else [[column] for column in columns]:
            definitions = [self._definition(column, in_new_table=False) for column in chunk]
            self._note_hints_of_new_tables(chunk)
            first, *others = sql.add_columns(self.warehouse, self.relation, definitions)
            rendered += [self._noted(first), *others]
        for clause in self.warehouse.syntax.clauses:
            if clause.alterable and self._named(clause, columns):
                listed = self._quoted(self._named(clause, self.table.complete_columns))
                rendered.append(f"ALTER TABLE {self.relation} {clause.text.format(', '.join(listed))}")
        return rendered

    def _definition(self, column: Column, in_new_table: bool) -> ColumnDefinition:
        constraints = self.warehouse.syntax.constraints
        return ColumnDefinition(
            self.identifiers.of(column.name),
            self._type(column),
            self._is_required(column, in_new_table),
            " ".join(constraint for hint, constraint in constraints if column.hint(hint)),
        )

    def _type(self, column: Column) -> str:
        precision, reduced = column.precision, self.warehouse.reduced_precision(column)
        if reduced is not None:
            self._note(column, f"{self.warehouse.title} has precision {reduced}, not {precision}")
        if column.data_type == "decimal" and precision is not None and column.scale is None:
            self._note(column, f"precision {precision} without a scale means scale 0")
        return self.warehouse.type_of(column, self.table.name)

    def _is_required(self, column: Column, in_new_table: bool) -> bool:
        if not column.required or self.warehouse.not_null == "never":
            return False
        if not in_new_table and cost_of(self.warehouse, None, column) == "impossible":
            self._note(column, "only a new table can have it NOT NULL")
            return False
        return True

    def _layout(self, columns: Sequence[Column]) -> Layout:
        """What the hints of the columns say of how rows lie; tables of Synapse are heaps."""
        layout: dict[str, Sequence[str]] = {"index": ["HEAP"]}
        for clause in self.warehouse.syntax.clauses:
            if named := self._within_limit(clause, self._named(clause, columns)):
                layout[clause.part] = list(self._expressions(clause, named))
        return layout

    def _named(self, clause: Clause, columns: Iterable[Column]) -> list[Column]:
        """The columns that a clause names by their hints."""
        named = (column for hint in self._hints(clause) for column in columns if column.hint(hint))
        return list({c.name: c for c in named if clause.takes_null or c.required}.values())

    def _hints(self, clause: Clause) -> tuple[str, ...]:
        hints = _CLICKHOUSE_HINTS if self.warehouse.name == "clickhouse" else _HINTS
        return hints.get(clause.part, ())

    def _within_limit(self, clause: Clause, columns: list[Column]) -> list[Column]:
        if clause.limit is None or len(columns) <= clause.limit:
            return columns
        if not clause.beyond_limit:
            names = " and ".join(column.name for column in columns)
            raise SchemaError(
                f"table {self.table.name}: {self.warehouse.title} {clause.part}s by one column, not by "
                f"{names}; take the hint {clause.part} from the others"
            )
        self.notes.append(f"table {self.table.name}: {clause.beyond_limit.format(columns[0].name)}")
        return columns[: clause.limit]

    def _expressions(self, clause: Clause, columns: Sequence[Column]) -> Iterator[str]:
        forms = _PARTITIONS.get(self.warehouse.name) if clause.part == "partition" else None
        for column, quoted in zip(columns, self._quoted(columns), strict=True):
            if forms is None:
                yield quoted
            elif column.data_type in forms:
                yield forms[column.data_type].format(quoted)
            else:
                self._note(column, f"there are no partitions by {column.data_type}")

    def _note_hints_of_new_tables(self, columns: Sequence[Column]) -> None:
        fixed = (clause for clause in self.warehouse.syntax.clauses if not clause.alterable)
        for hint in (hint for clause in fixed for hint in self._hints(clause)):
            for column in columns:
                if column.hint(hint):
                    self._note(column, f"only a new table takes the hint {hint}")

    def _quoted(self, columns: Iterable[Column]) -> list[str]:
        return [self.warehouse.quote(self.identifiers.of(column.name)) for column in columns]

    def _note(self, column: Column, text: str) -> None:
        self.notes.append(f"column {self.table.name}.{column.name}: {text}")

    def _noted(self, statement: str) -> str:
        """The statement with all that was noted meanwhile above it."""
        comments = "".join(f"-- {' '.join(note.split())}\n" for note in self.notes)
        self.notes.clear()
        return comments + statement


@dataclass(frozen=True)
class SchemaNames:
    """What the names of a schema are called in a warehouse.

    A name that is too long is shortened as the path that it is: what it was called in the records is not
    known any more.
    """

    warehouse: Warehouse
    case_sensitive: bool

    def of(self, name: str) -> str:
        identifiers = self.warehouse.identifiers
        short = shorten(name, name, identifiers.max_length)
        return short if self.case_sensitive and identifiers.case_sensitive else identifiers.fold(short)

    def refuse_collisions(self, tables: Mapping[str, Table]) -> None:
        self._refuse("tables", tables)
        for name, table in tables.items():
            self._refuse(f"table {name}: columns", [column.name for column in table.complete_columns])

    def _refuse(self, place: str, names: Iterable[str]) -> None:
        keys: dict[str, list[str]] = {}
        for name in names:
            keys.setdefault(self.warehouse.identifiers.key(self.of(name)), []).append(name)
        for same in keys.values():
            if len(same) > 1:
                raise SchemaError(
                    f"{place} {' and '.join(same)} are one in {self.warehouse.title}; rename one of them, "
                    "or use a naming convention without case"
                )
