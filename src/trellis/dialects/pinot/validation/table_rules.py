"""Whether a schema and a table config fit each other (`SchemaUtils.validate` with table configs)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from trellis.dialects.pinot.document.faults import Fault, pointer
from trellis.dialects.pinot.document.fields import FieldSpec, PinotSchema, columns
from trellis.dialects.pinot.document.types import FieldType
from trellis.dialects.pinot.expression.transforms import order_transforms
from trellis.dialects.pinot.table.config import TableConfig, examine
from trellis.dialects.pinot.table.known_keys import values_at
from trellis.dialects.pinot.validation.expressions import check_expression
from trellis.errors import SchemaError

_TRANSFORMS: Final = "/ingestionConfig/transformConfigs"


def table_faults(schema: PinotSchema, document: Mapping[str, Any]) -> Iterator[Fault]:
    """The reasons for the controller to refuse the table with this schema, with pointers into its config:
    those of reading it, or else those of the rules.
    """
    config, faults = examine(document)
    if faults:
        yield from faults
        return
    check = _TableCheck(schema, columns(schema), config)
    yield from check.name()
    yield from check.time_column()
    wrong_transforms = [*check.transforms()]
    yield from wrong_transforms or check.cycle()
    yield from check.filter()
    yield from check.enrichers()
    yield from check.renamed_prefixes()


def hybrid_faults(tables: Sequence[TableConfig]) -> Iterator[Fault]:
    """Why configs are not the two halves of one table (`TableConfigUtils.verifyHybridTableConfigs`)."""
    if sorted(table.kind for table in tables) != ["OFFLINE", "REALTIME"]:
        yield Fault("/tableType", "a hybrid table has one OFFLINE and one REALTIME config")
        return
    offline, realtime = sorted(tables, key=lambda table: table.kind)
    for place, values in (
        ("/tableName", (offline.name, realtime.name)),
        ("/segmentsConfig/timeColumnName", (offline.time_column, realtime.time_column)),
        ("/tenants/broker", tuple(_broker(table) for table in (offline, realtime))),
    ):
        if len(set(values)) > 1:
            key = place.rpartition("/")[2]
            yield Fault(place, f"{key} is {values[1]}, and {values[0]} in the OFFLINE config: use one")


def _broker(table: TableConfig) -> str:
    brokers = (broker for _, broker in values_at(table.document, "/tenants/broker"))
    return str(next(brokers, "") or "DefaultTenant")


@dataclass(frozen=True)
class _TableCheck:
    schema: PinotSchema
    fields: Mapping[str, FieldSpec]
    config: TableConfig

    def name(self) -> Iterator[Fault]:
        if self.config.name and self.schema.name and self.config.name != self.schema.name:
            yield Fault(
                "/tableName",
                f"the schema of table {self.config.name} is named {self.schema.name}: give them the same"
                " name, the table with or without _OFFLINE or _REALTIME",
            )

    def time_column(self) -> Iterator[Fault]:
        name = self.config.time_column
        if name is None:
            if self.config.kind == "REALTIME":
                yield Fault("", "'timeColumnName' cannot be null in REALTIME table config")
            return
        spec = self.fields.get(name)
        if spec is None or spec.field_type is not FieldType.DATE_TIME:
            yield Fault(
                "/segmentsConfig/timeColumnName",
                f"Cannot find valid fieldSpec for timeColumn: {name} from the table config:"
                f" {self.config.name}, in the schema: {self.schema.name}: name a dateTime column",
                name,
            )

    def transforms(self) -> Iterator[Fault]:
        declared = dict(enumerate(self.config.transforms))
        aggregates = [*values_at(self.config.document, "/ingestionConfig/aggregationConfigs/*")]
        checked = {}
        for index, (column, text) in declared.items():
            field = self.fields.get(column)
            checked[index] = check_expression(text, "transform function", field.data_type if field else None)
            place = f"{_TRANSFORMS}/{index}/transformFunction"
            if checked[index].problem:
                yield Fault(place, checked[index].problem, column, checked[index].unchecked)
        for index, (column, text) in declared.items():
            fed = any(column in other.arguments for at, other in checked.items() if at != index)
            if column not in self.fields and not fed and not aggregates:
                message = (
                    f"The destination column '{column}' of the transform function must be present in the"
                    " schema or as a source column for aggregations"
                )
                yield Fault(f"{_TRANSFORMS}/{index}", message, column)
            if column in checked[index].arguments:
                message = (
                    f"Arguments of a transform function '{text}' cannot contain the destination column"
                    f" '{column}'"
                )
                yield Fault(f"{_TRANSFORMS}/{index}", message, column)

    def cycle(self) -> Iterator[Fault]:
        """Columns that are computed from each other, here or with the transforms of the schema."""
        try:
            order_transforms(self.schema, TableConfig())
        except SchemaError:
            return
        try:
            order_transforms(self.schema, self.config)
        except SchemaError as error:
            yield Fault(_TRANSFORMS, str(error))

    def filter(self) -> Iterator[Fault]:
        if self.config.filter is None:
            return
        checked = check_expression(self.config.filter, "filter function")
        if checked.problem:
            place = "/ingestionConfig/filterConfig/filterFunction"
            yield Fault(place, checked.problem, unchecked=checked.unchecked)

    def enrichers(self) -> Iterator[Fault]:
        """Pinot takes every function here, and fails on an invalid one when rows come."""
        for field, text in (pair for enricher in self.config.enrichers for pair in enricher.functions):
            problem = check_expression(text, f"enrichment of {field} by").problem
            if problem:
                yield Fault("/ingestionConfig/enrichmentConfigs", problem, unchecked=True)

    def renamed_prefixes(self) -> Iterator[Fault]:
        for prefix in self.config.complex.rename if self.config.complex else ():
            place = "/ingestionConfig/complexTypeConfig/prefixesToRename" + pointer(prefix)
            for column in self.fields:
                if column.startswith(prefix):
                    yield Fault(place, f"begins with '{prefix}', which is renamed: use the new name", column)
