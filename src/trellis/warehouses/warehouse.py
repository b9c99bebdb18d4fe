"""The differences between warehouses, as data."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, Literal

from trellis.errors import SchemaError
from trellis.schema.model import NOTHING, Column, DataType, number_size
from trellis.warehouses.identifiers import Identifiers
from trellis.warehouses.types import NativeType, NumberType

NO_NAMES: Mapping[DataType, str] = {}
Cost = Literal["metadata", "rewrite", "impossible"]
"""What a change of a table costs: no row is touched; all are written anew; the warehouse cannot do it."""


@dataclass(frozen=True)
class Clause:
    """A clause behind the columns of a new table.

    `{}` in `text` is replaced by the expressions of a table for `part`; without any, `default` is written.
    """

    part: Literal["", "engine", "partition", "cluster", "sort", "index"]
    text: str = ""
    default: str = ""
    limit: int | None = None
    """How many columns it takes."""
    beyond_limit: str = ""
    """What becomes of more columns, `{}` being the first of all; nothing where they are an error."""
    takes_null: bool = True
    """Whether its columns may be NULL."""
    alterable: bool = False
    """Whether a table that is there takes it, too."""


@dataclass(frozen=True)
class Syntax:
    """The statements of a warehouse. `{if_missing}` is `IF NOT EXISTS` in statements that allow it."""

    create_schema: str = "CREATE SCHEMA IF NOT EXISTS {schema}"
    create_table: str = "CREATE TABLE {if_missing}{table} ({columns})"
    guard: str = ""
    """The prefix that replaces `IF NOT EXISTS`; `{literal}` is the name of the table as a string."""
    clauses: tuple[Clause, ...] = ()
    optional: str = "{type}"
    required: str = "{type} NOT NULL"
    constraints: tuple[tuple[str, str], ...] = ()
    """Hints of columns, and the constraint that each becomes."""
    add: str = "ALTER TABLE {table} {columns}"
    added: str = "ADD COLUMN {if_missing}{column}"
    """Each of the columns in `add`."""
    adds_several: bool = True
    """Whether one statement adds several columns."""
    adds_required: bool = True
    """Whether an added column may say that it is required; else another statement does."""
    set_type: str = "ALTER COLUMN {column} TYPE {type}"
    set_properties: str = ""
    """An empty form, here and below: there is no such statement."""
    rename_table: str = "ALTER TABLE {table} RENAME TO {name}"
    """`{name}` is the new name alone, `{qualified}` that with the schema."""
    drop_table: str = "DROP TABLE {table}"
    rename_column: str = "ALTER TABLE {table} RENAME COLUMN {column} TO {name}"
    drop_column: str = "ALTER TABLE {table} DROP COLUMN {column}"
    set_not_null: str = "ALTER TABLE {table} ALTER COLUMN {column} SET NOT NULL"
    drop_not_null: str = "ALTER TABLE {table} ALTER COLUMN {column} DROP NOT NULL"
    fill_nulls: str = "UPDATE {table} SET {column} = {value} WHERE {column} IS NULL"
    move_column: str = ""
    """`{place}` is FIRST, or AFTER another column."""
    comment_on_table: str = ""
    comment_on_column: str = ""
    no_comment: str = "NULL"
    """`{text}` is the comment as a string, or what stands for none."""
    escaped_literals: bool = False
    """Whether a backslash in a string escapes the next character."""


@dataclass(frozen=True)
class Alterations:
    """What changes of a column cost in a table with rows; one that may be NULL is added for nothing."""

    change_type: Cost = "impossible"
    in_place: frozenset[tuple[DataType, DataType]] = frozenset()
    """Changes that touch no row: from one type to another, or to a larger precision of the same."""
    drop_not_null: Cost = "metadata"
    set_not_null: Cost = "metadata"
    rename_table: Cost = "metadata"
    rename: Cost = "metadata"
    """The cost of a new name of a column, and of a drop."""
    mapping_property: str = ""
    """The property of tables in which that costs only metadata."""


def larger(*types: DataType) -> frozenset[tuple[DataType, DataType]]:
    """The change of each type to a larger precision of itself."""
    return frozenset((data_type, data_type) for data_type in types)


NUMBERS_TO_LARGER: Final = frozenset[tuple[DataType, DataType]](
    {("bigint", "decimal"), ("bigint", "double"), ("decimal", "double")}
)


@dataclass(frozen=True, eq=False)
class Warehouse:
    """One warehouse.

    `types` lack decimals, which `numbers` hold: the first of them that a precision and scale fit in. A `wei`
    that is not among the types is such a number, too, and of this size where it declares none.
    """

    name: str
    title: str
    identifiers: Identifiers
    types: Mapping[DataType, NativeType]
    naive_timestamp: NativeType
    """The type of timestamps without a time zone."""
    numbers: tuple[NumberType, ...]
    wei: tuple[int, int] = (38, 0)
    second_digits: tuple[int, int] = (6, 6)
    """How many digits of a second it keeps in timestamps with and without a time zone."""
    aliases: Mapping[DataType, tuple[str, ...]] = field(default_factory=dict)
    """Further names of types that columns created by other tools may have."""
    not_null: Literal["always", "new tables", "never"] = "always"
    """Where a column can be NOT NULL."""
    max_columns: int | None = None
    syntax: Syntax = Syntax()
    alterations: Alterations = Alterations()
    transactional_ddl: bool = False
    """Whether changes of tables are undone with the transaction that they are in."""
    formats: Mapping[str, Warehouse] = field(default_factory=lambda: NOTHING)
    """The warehouse whose rules hold for tables with this `table_format`."""

    def quote(self, *names: str) -> str:
        """The identifier; of several names the qualified one."""
        return ".".join(map(self.identifiers.quotes.quote, names))

    def reference(self, *names: str) -> str:
        """The identifier with quotes only where it needs them.

        >>> from trellis.warehouses.catalog.databases import REDSHIFT
        >>> REDSHIFT.reference("atomic", "com_acme_event_1"), REDSHIFT.reference("Atomic", "table")
        ('atomic.com_acme_event_1', '"Atomic"."table"')
        """
        return ".".join(self.quote(name) if self.identifiers.needs_quotes(name) else name for name in names)

    def type_of(self, column: Column, table: str = "", names: Mapping[DataType, str] = NO_NAMES) -> str:
        """The type of a complete column; `names` of data types come before those of the warehouse.

        Raises SchemaError where no type is large enough.
        """
        data_type, place = column.data_type, f"column {f'{table}.' if table else ''}{column.name}"
        if data_type is None:
            raise SchemaError(f"{place} has no type yet")
        if data_type in names:
            return names[data_type]
        native = self._native(column)
        if native is None:
            return self._number(column, place)
        name = native.name_for(_precision(column))
        if name is None:
            raise SchemaError(
                f"{place}: {self.title} has no {data_type} of precision {column.precision}; "
                f"{native.largest} is the most; give it precision {native.largest} or less"
            )
        return name

    def reduced_precision(self, column: Column) -> int | None:
        """The precision that values of the column keep, where that is less than it declares."""
        native = self._native(column)
        reduces = native is not None and native.reduces and (column.precision or 0) > native.largest
        return native.largest if native and reduces else None

    def data_type(self, name: str) -> DataType | None:
        """What a schema calls a type of the warehouse; None where it has no word for it."""
        name = _UNIT.sub("", name)
        return self._data_types.get(name) or self._data_types.get(_SIZE.sub("", name))

    @cached_property
    def _data_types(self) -> Mapping[str, DataType]:
        """The data types by names without sizes; of several that share a name the first one counts."""
        data_types: dict[str, DataType] = {}
        for data_type, native in (*self.types.items(), ("timestamp", self.naive_timestamp)):
            for name in (native.name, *(name for _, name in native.variants)):
                data_types.setdefault(_PLACEHOLDER.sub("", _UNIT.sub("", name)), data_type)
        for number in self.numbers:
            data_types.setdefault(_PLACEHOLDER.sub("", number.name), "decimal")
        for data_type, aliases in self.aliases.items():
            data_types |= dict.fromkeys(aliases, data_type)
        return data_types

    def _native(self, column: Column) -> NativeType | None:
        if column.data_type == "timestamp" and column.timezone is False:
            return self.naive_timestamp
        return self.types.get(column.data_type) if column.data_type else None

    def _number(self, column: Column, place: str) -> str:
        is_wei = column.data_type == "wei"
        precision, scale = number_size(column, self.wei) if is_wei else number_size(column)
        for number in self.numbers:
            if number.holds(precision, scale):
                return number.name.format(precision, scale)
        bound = "" if number.free_scale else ", and the scale is at most the precision"
        raise SchemaError(
            f"{place}: {self.title} has no {column.data_type} of precision {precision} and scale {scale}; "
            f"{number.precision} digits are the most{bound}; give it another precision or scale"
        )


_SIZE = re.compile(r"\(\d+(, ?\d+)?\)")
_PLACEHOLDER = re.compile(r"\([^()]*{}[^()]*\)")
_UNIT = re.compile(r"\[[a-z][^\]]*\]\Z")
"""The suffix of a type of Arrow, as in `timestamp[us, tz=UTC]`."""


def _precision(column: Column) -> int | None:
    """None where the column declares none: only of digits of a second there can be none at all."""
    return column.precision if column.data_type in ("timestamp", "time") else column.precision or None
