"""Default answers for every part of a dialect: it implements only what it does differently.

Records go into the one table that the user named, keys are the names of columns, nested values stay JSON. A
value that its column cannot take faithfully goes to the discards. Nothing is added to the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from trellis.errors import UsageError
from trellis.evolution.dialect.capabilities import Capabilities
from trellis.evolution.dialect.dead_letters import DeadLetterPolicy, DeadLetterTable, RestoredValue
from trellis.evolution.dialect.metadata import MetadataStore, MetadataTables
from trellis.evolution.dialect.nesting import NestingRules
from trellis.evolution.dialect.own_metadata import OwnMetadata, new_schema, own_tables
from trellis.evolution.dialect.schemas import Catalog, NamingRules, SchemaStore, TableRequest
from trellis.evolution.dialect.system_columns import RowKeys, SystemColumns
from trellis.evolution.dialect.tables import TableRules
from trellis.evolution.dialect.transforms import Flatten, RecordTransform, Routing
from trellis.evolution.dialect.types import LossyCast, Rejection, TypeRules
from trellis.evolution.dialect.writes import WritePolicy
from trellis.evolution.scalars.coerce import coercer
from trellis.evolution.scalars.kinds import Kind, classifier
from trellis.evolution.scalars.values import WEI_SIZE
from trellis.evolution.table_writes import IdentityRules, KeyedWrite, Load, Mode, TableTreeWrite
from trellis.schema.merge import drop_tables
from trellis.schema.model import Column, DataType, Schema, Table
from trellis.schema.naming import Convention, Naming
from trellis.schema.system import OURS, is_system
from trellis.schema.user_schema import merge_user_schema

_VERBATIM: Final = Convention("as-it-is", str, case_sensitive=True, separator="\x1f")
_CLASSES: Mapping[DataType, tuple[type, ...]] = {
    "text": (str,),
    "bigint": (int,),
    "double": (float,),
    "bool": (bool,),
}
"""The one Python class of the values of a column; of other types several classes have values."""


class DefaultRouting:
    """Every record belongs to the table that the user named."""

    def transform(
        self, schema: Schema, naming: Naming, now: datetime, closed: Collection[str] = ()
    ) -> RecordTransform:
        return Flatten()


class DefaultNesting:
    """Nested values stay JSON, as where rows come flat."""

    def max_nesting(self, schema: Schema, root: str) -> int:
        return 0

    def keeps_json(self, schema: Schema, table: str, column: str, levels: int) -> bool:
        return True

    def excluded_paths(self, schema: Schema, table: str) -> Callable[[str], bool] | None:
        return None


class DefaultNaming:
    """Identifiers are the keys, letter by letter."""

    def naming(self, schema: Schema, max_length: int | None) -> Naming:
        return Naming(_VERBATIM, use_break_path_on_normalize=False)

    def dataset(self, settings: Mapping[str, Any], default: str) -> str:
        return default


class DefaultTypes:
    """The first value gives its column the type; a later one is converted where nothing of it is lost."""

    def classifier(
        self, schema: Schema, fresh: bool, wei: tuple[int, int] = WEI_SIZE
    ) -> Callable[[Any], Kind]:
        return classifier()

    def first_type(self, schema: Schema, column: str, kind: Kind) -> DataType:
        return kind.type

    def coerces(self, schema: Schema) -> bool:
        return True

    def coercer(self, schema: Schema, column: Column) -> Callable[[Any], Any]:
        assert column.data_type is not None
        return coercer(
            column.data_type, timezone=column.timezone, precision=column.precision, scale=column.scale
        )

    def direct_classes(self, schema: Schema, column: Column) -> tuple[type, ...]:
        if column.data_type is None or column.precision is not None:
            return ()
        return _CLASSES.get(column.data_type, ())

    def new_column(self, schema: Schema, name: str, data_type: DataType, kind: Kind | None = None) -> Column:
        return Column(name, data_type, nullable=True)

    def on_type_mismatch(
        self, schema: Schema, naming: Naming, table: Table, column: str, kind: Kind
    ) -> Column | LossyCast | Rejection:
        known = table.columns.get(column)
        expected = known.data_type if known is not None else None
        return Rejection(f"not convertible: {kind.type} into {expected}")


class DefaultSchemas:
    """The schema has the tables of `metadata` and those of the records."""

    metadata: MetadataTables = own_tables()
    prefix: str = OURS

    def new_schema(self, name: str) -> Schema:
        return new_schema(name, self.metadata)

    def configure(self, schema: Schema, settings: Mapping[str, Any], family: str) -> Schema:
        return schema

    def parse_document(self, text: str, where: str) -> Schema | None:
        return None

    def merge_user_schema(
        self, schema: Schema, user_schema: Schema, naming_of: Callable[[Schema], Naming]
    ) -> Schema:
        return merge_user_schema(schema, user_schema, naming_of, self.prefix)

    def schema_from_catalog(self, schema: Schema, catalog: Mapping[str, Catalog]) -> Schema:
        return schema

    def apply_request(self, schema: Schema, request: TableRequest, naming: Naming) -> Schema:
        if hints := request.hints_in_words():
            raise UsageError(f"{hints}: tables of this dialect take no hints; leave it out")
        table = schema.tables.get(naming.table(request.table))
        if request.mode == "merge" and not (table and table.columns_with("primary_key")):
            raise UsageError(
                f"mode merge: table {request.table} has no primary key; declare one in a schema (--schema)"
            )
        return schema


class DefaultTables:
    """Tables are appended to; they know whether they ever held rows."""

    def new_table(self, schema: Schema, name: str, parent: str | None) -> Table:
        return Table(name).with_hints(write_disposition="append", resource=name)

    def mark_populated(self, table: Table) -> Table:
        return table.with_hints(**{"x-normalizer": {"seen-data": True}})

    def has_room(self, schema: Schema, table: str, column: str | None) -> bool:
        return True

    def model_column(self, schema: Schema, table: str, column: str) -> Column | None:
        return None

    def max_columns(self, schema: Schema) -> int | None:
        return None

    def drop_tables(self, schema: Schema, tables: Collection[str]) -> Schema:
        return drop_tables(schema, tables)

    def finalize_schema(self, before: Schema, after: Schema, touched: Collection[str]) -> Schema:
        return after


class DefaultSystemColumns:
    """Rows have no columns but their own."""

    def row_keys(self, schema: Schema, table: str, below: str | None = None) -> RowKeys:
        return RowKeys()

    def preserved_row_keys(self, schema: Schema, table: str, settings: Mapping[str, Any]) -> RowKeys:
        return self.row_keys(schema, table)

    def columns(self, schema: Schema, table: str, below: str | None = None) -> tuple[Column, ...]:
        return ()

    def inherited_values(self, schema: Schema, table: str) -> Mapping[str, str]:
        return {}

    def root_ids(self, seed: bytes, count: int) -> list[str]:
        return []

    def hashed_ids(self, names: Sequence[str], rows: Iterable[Sequence[Any]]) -> list[str]:
        return []

    def record_ids(self, records: Iterable[Mapping[str, Any]]) -> list[str]:
        return []

    def child_ids(self, parents: Sequence[Any], table: str, indexes: Sequence[int]) -> list[str]:
        return []


class DefaultWrites:
    """Rows are appended, replace those that are there, or merge by the primary key."""

    def table_writes(
        self,
        schema: Schema,
        roots: Sequence[str],
        touched: Collection[str],
        mode: Mode | None,
        now: datetime,
    ) -> tuple[Load, ...]:
        tables = dict.fromkeys((*roots, *(name for name in touched if not is_system(name))))
        return tuple(table_write(schema.tables[name], mode) for name in tables)

    def identity_rules(self, schema: Schema) -> IdentityRules | None:
        return None

    def backfill(self, schema: Schema, now: datetime) -> Mapping[str, Mapping[str, Any]]:
        return {}

    def warnings(self, schema: Schema, roots: Sequence[str]) -> tuple[str, ...]:
        return ()

    def native_types(self, schema: Schema, family: str) -> Mapping[DataType, str]:
        return {}

    def foreign_ddl(
        self, before: Schema, after: Schema, dataset: str, family: str, settings: Mapping[str, Any]
    ) -> tuple[str, Sequence[str]] | None:
        return None


class DefaultDeadLetters:
    """Rejected values go to the discards of Trellis."""

    def table(self, schema: Schema) -> DeadLetterTable | None:
        return None

    def dead_letter(
        self, schema: Schema, table: str, row: Mapping[str, Any], column: str, value: Any, reason: str
    ) -> tuple[str, Mapping[str, Any]] | None:
        return None

    def restore(self, schema: Schema, row: Mapping[str, Any]) -> RestoredValue | None:
        return None

    def overflow(self, schema: Schema, row: Mapping[str, Any], over: Mapping[str, Any]) -> tuple[str, Any]:
        """Never asked where `TableRules.has_room` always is true."""
        raise LookupError(f"no column takes what is over the quota of the table: {', '.join(over)}")


class DialectDefaults:
    """The base class of a dialect: every part but those it replaces.

    >>> class Verbatim(DialectDefaults):
    ...     name = "verbatim"
    """

    name: str = ""
    capabilities: Capabilities = Capabilities()
    routing: Routing = DefaultRouting()
    nesting: NestingRules = DefaultNesting()
    naming: NamingRules = DefaultNaming()
    types: TypeRules = DefaultTypes()
    schemas: SchemaStore = DefaultSchemas()
    tables: TableRules = DefaultTables()
    system_columns: SystemColumns = DefaultSystemColumns()
    writes: WritePolicy = DefaultWrites()
    dead_letters: DeadLetterPolicy = DefaultDeadLetters()
    metadata: MetadataStore = OwnMetadata(own_tables())


def table_write(table: Table, mode: Mode | None) -> Load:
    """How the rows of a table without descendants go in."""
    if mode == "replace":
        return TableTreeWrite(table.name, "replace")
    if mode == "merge":
        return KeyedWrite(table.name, tuple(table.columns_with("primary_key")), None, "replace")
    return KeyedWrite(table.name)
