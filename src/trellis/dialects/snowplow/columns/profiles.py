"""The warehouses that tables of Snowplow go into, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Final

from trellis.dialects.snowplow.columns.column_types import MAX_VARCHAR, ColumnType, TypeName, varchar
from trellis.errors import UsageError, nearest
from trellis.schema.model import Column, DataType
from trellis.warehouses.catalog.databases import DUCKDB, POSTGRES, REDSHIFT
from trellis.warehouses.catalog.lakes import DELTA
from trellis.warehouses.statements import cost_of
from trellis.warehouses.warehouse import Warehouse

_DIGEST: Final = 8
_SQL: Final[Mapping[TypeName, str]] = {
    "DOUBLE": "DOUBLE PRECISION",
    "DECIMAL": "DECIMAL ({}, {})",
    "CHAR": "CHAR({})",
    "VARCHAR": "VARCHAR({})",
}
_SPARK: Final[Mapping[TypeName, str]] = {"DECIMAL": "DECIMAL({},{})", "CHAR": "STRING", "VARCHAR": "STRING"}
_DUCKDB: Final[Mapping[TypeName, str]] = {
    "DECIMAL": "DECIMAL({},{})",
    "CHAR": "VARCHAR",
    "VARCHAR": "VARCHAR",
}
_DELTA: Final = "USING DELTA TBLPROPERTIES ('delta.enableTypeWidening' = 'true')"
_DATA_TYPES: Final[Mapping[TypeName, tuple[DataType, int | None]]] = {
    "SMALLINT": ("bigint", 16),
    "INT": ("bigint", 32),
    "BIGINT": ("bigint", 64),
    "DECIMAL": ("decimal", None),
    "DOUBLE": ("double", None),
    "BOOLEAN": ("bool", None),
    "DATE": ("date", None),
    "TIMESTAMP": ("timestamp", None),
    "CHAR": ("text", None),
    "VARCHAR": ("text", None),
}
_VALUES: Final[Mapping[DataType, str]] = {
    "double": "a number of at most 1.8e308",
    "bool": "true or false",
    "date": "a date such as 2031-04-05",
    "timestamp": "a time such as 2031-04-05T06:00:00Z",
}


@dataclass(frozen=True)
class Profile:
    """What differs between warehouses in the tables of a family."""

    name: str
    warehouse: Warehouse
    types: Mapping[TypeName, str]
    """How types are written that are not written by their name."""
    bare_decimal: str = "DECIMAL"
    """How a decimal is written that declares no digits."""
    texts_have_length: bool = True
    encodes: bool = False
    """Whether columns declare an encoding."""
    references_events: bool = False
    """Whether tables have a foreign key to `events`."""
    table_options: str = ""
    """What a new table says behind its columns."""
    events_options: str = ""
    """The same of the table of events."""
    has_transactions: bool = True
    """Whether columns are added in a transaction."""
    resizes_in_transaction: bool = True
    """Whether that transaction may change types of columns."""
    short_names: Mapping[str, str] = field(default_factory=dict)
    """What longer names became before, by the names that schemas give; others are shortened by a hash."""

    def adapt(self, column_type: ColumnType) -> ColumnType:
        """The type as the warehouse tells it from others: texts without a length, where these have none."""
        is_text = column_type.name in ("CHAR", "VARCHAR")
        return varchar(MAX_VARCHAR) if is_text and not self.texts_have_length else column_type

    def type_text(self, column_type: ColumnType) -> str:
        """
        >>> PROFILES["redshift"].type_text(ColumnType("DECIMAL", 36, 2))
        'DECIMAL (36, 2)'
        """
        if column_type.name == "DECIMAL" and column_type.size is None:
            return self.bare_decimal
        text = self.types.get(column_type.name, column_type.name)
        return text.format(column_type.size, column_type.scale)

    def can_change(self, old: ColumnType, new: ColumnType) -> bool:
        """Whether the warehouse can give a column of a table with rows the new type."""
        if old.name == "CHAR":  # the catalogue knows texts of varying length alone
            return self.warehouse.alterations.change_type != "impossible"
        return cost_of(self.warehouse, catalog_column(old), catalog_column(new)) != "impossible"

    def shorten(self, name: str) -> str:
        """The name within the limit of the warehouse, which would cut it and so make two names one.

        >>> PROFILES["postgres"].shorten("com_acme_" + "a_very_long_name_" * 4)
        'com_acme_a_very_long_name_a_very_long_name_a_very_long_f3a64c63'
        """
        if self.has_room(name):
            return name
        if name in self.short_names:
            return self.short_names[name]
        digest = sha256(name.encode()).hexdigest()[:_DIGEST]
        kept = name
        while not self.has_room(f"{kept}_{digest}"):
            kept = kept[:-1]
        return f"{kept}_{digest}"

    def has_room(self, name: str) -> bool:
        """Whether the warehouse keeps a name whole."""
        identifiers = self.warehouse.identifiers
        return identifiers.length(name) <= identifiers.max_length

    @property
    def events_key(self) -> tuple[str, ...]:
        """What the table of events declares beside its columns, where others refer to it."""
        return ("  PRIMARY KEY (event_id)",) if self.references_events else ()

    @property
    def drops_not_null(self) -> bool:
        return self.warehouse.alterations.drop_not_null != "impossible"


PROFILES: Final[Mapping[str, Profile]] = {
    profile.name: profile
    for profile in (
        Profile(
            "redshift",
            REDSHIFT,
            _SQL,
            encodes=True,
            references_events=True,
            table_options="DISTSTYLE KEY DISTKEY (root_id) SORTKEY (root_tstamp)",
            events_options="DISTSTYLE KEY DISTKEY (event_id) SORTKEY (collector_tstamp)",
            resizes_in_transaction=False,
        ),
        Profile("postgres", POSTGRES, _SQL),
        Profile(
            "spark",
            DELTA,
            _SPARK,
            bare_decimal="DECIMAL(18,0)",
            texts_have_length=False,
            table_options=_DELTA,
            events_options=_DELTA,
            has_transactions=False,
        ),
        Profile("duckdb", DUCKDB, _DUCKDB, bare_decimal="DECIMAL(18,0)", texts_have_length=False),
    )
}


def get_profile(name: str) -> Profile:
    """Raises UsageError."""
    if profile := PROFILES.get(name):
        return profile
    raise UsageError(f"unknown warehouse {name!r}{nearest(name, PROFILES)}")


def family_profile(warehouse: str) -> Profile:
    """The profile of a warehouse by the name that the catalogue has for it; lakes are like Delta."""
    return next(
        (profile for profile in PROFILES.values() if profile.warehouse.name == warehouse), PROFILES["spark"]
    )


def catalog_column(column_type: ColumnType) -> Column:
    """A column of the type as the catalogue of warehouses knows it, without a name."""
    data_type, precision = _DATA_TYPES[column_type.name]
    return Column("", data_type, precision=precision or column_type.size, scale=column_type.scale or None)


def describe_values(column: Column) -> str:
    """What a column takes, in words.

    >>> describe_values(Column("", "bigint", precision=16))
    'an integer of 16 bits'
    """
    if column.data_type == "bigint":
        return f"an integer of {column.precision or 64} bits"
    if column.data_type == "decimal":
        digits = (column.precision or 18) - (column.scale or 0)
        return f"a number of at most {digits} digits before the point"
    return _VALUES.get(column.data_type or "text", "a text")
