"""A dialect in one file: a ledger that keeps every key under its snake_case name and notes when a row came.

Register it from a distribution of your own:

    [project.entry-points."trellis.dialects"]
    ledger = "ledger:registration"

and load with `--dialect ledger`. What is not written here is answered by `DialectDefaults`.
"""

from __future__ import annotations

from trellis.dialects.registration import Registration
from trellis.evolution.dialect.capabilities import Capabilities
from trellis.evolution.dialect.defaults import (
    DefaultNaming,
    DefaultSystemColumns,
    DefaultTypes,
    DialectDefaults,
)
from trellis.evolution.dialect.system_columns import RowKeys
from trellis.evolution.scalars.kinds import Kind
from trellis.schema.model import Column, Schema, Table
from trellis.schema.naming import Naming, get_naming

PREFIX = "_ledger"
NOTED_AT = "_ledger_noted_at"


class LedgerNaming(DefaultNaming):
    """`orderId` becomes `order_id`."""

    def naming(self, schema: Schema, max_length: int | None) -> Naming:
        return get_naming("snake_case", max_length)


class LedgerTypes(DefaultTypes):
    """A value that its column cannot take goes as text to a column beside it."""

    def on_type_mismatch(
        self, schema: Schema, naming: Naming, table: Table, column: str, kind: Kind
    ) -> Column:
        return self.new_column(schema, f"{column}_as_text", "text")


class LedgerSystemColumns(DefaultSystemColumns):
    """Each row says when it was loaded, in milliseconds."""

    def row_keys(self, schema: Schema, table: str, below: str | None = None) -> RowKeys:
        return RowKeys(loaded_at={NOTED_AT: "ms"})

    def columns(self, schema: Schema, table: str, below: str | None = None) -> tuple[Column, ...]:
        return (Column(NOTED_AT, "timestamp", nullable=True),)


class Ledger(DialectDefaults):
    name = "ledger"
    capabilities = Capabilities(system_prefix=PREFIX)
    naming = LedgerNaming()
    types = LedgerTypes()
    system_columns = LedgerSystemColumns()


registration = Registration(dialect=Ledger, system_prefix=PREFIX)
