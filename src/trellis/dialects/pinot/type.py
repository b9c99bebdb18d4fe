"""Types are those of the schema, so no record is ever asked for one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from trellis.evolution.dialect import Cut, Refusal
from trellis.evolution.kinds import Kind
from trellis.evolution.values import WEI_SIZE
from trellis.schema.model import Column, DataType, Schema, Table
from trellis.schema.naming import Naming


class PinotType:
    def classifier(
        self, schema: Schema, fresh: bool, wei: tuple[int, int] = WEI_SIZE
    ) -> Callable[[Any], Kind]:
        return _never

    def first(self, schema: Schema, column: str, kind: Kind) -> DataType:
        _never()

    def coerces(self, schema: Schema) -> bool:
        return True

    def coercer(self, schema: Schema, column: Column) -> Callable[[Any], Any]:
        return _never

    def direct(self, schema: Schema, column: Column) -> tuple[type, ...]:
        return ()

    def column(self, schema: Schema, name: str, data_type: DataType, kind: Kind | None = None) -> Column:
        return Column(name, data_type, nullable=True)

    def misfit(
        self, schema: Schema, naming: Naming, table: Table, column: str, kind: Kind
    ) -> Column | Cut | Refusal:
        _never()


def _never(*_: Any) -> NoReturn:
    raise AssertionError("the program of the schema makes the rows; no value is classified")
