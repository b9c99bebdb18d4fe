"""What a format does not say of a schema, column by column."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from trellis.schema.documents.schema_format import Aspect, Loss, SchemaFormat
from trellis.schema.model import NESTED_TYPE, Column, Schema, Table
from trellis.schema.personal_data import PII
from trellis.schema.value_rules import rules_of

_LOAD_HINTS: Final = ("merge_key", "dedup_sort", "hard_delete", "incremental", "root_key")
_DESCRIBING: Final = ("description", "personal data")
_TABLE_LOAD_HINTS: Final = ("x-merge-strategy", "x-replace-strategy", "filters")

_REASONS: Final[Mapping[Aspect, str]] = {
    "required": "does not say which columns may be NULL",
    "primary key": "has no primary keys",
    "unique": "has no unique columns",
    "description": "has no descriptions",
    "time zone": "has no timestamps without a time zone",
    "nested types": "has no types of nested values",
    "partition": "has no partitions",
    "layout": "does not say how rows are stored",
    "parent": "does not say which table rows are nested in",
    "references": "has no references",
    "contract": "has no contracts",
    "value rules": "has no rules for values",
    "load rules": "does not say how rows are loaded",
}


def losses_of(schema: Schema, target: SchemaFormat) -> tuple[Loss, ...]:
    """What a document of the format does not say of the schema.

    >>> avro = SchemaFormat("avro", "Avro", ".avsc", lambda schema: "", frozenset({"required"}))
    >>> schema = Schema("shop", {"t": Table("t", {"id": Column("id", "bigint").with_hints(unique=True)})})
    >>> losses_of(schema, avro)
    (Loss(table='t', column='id', what='unique', reason='Avro has no unique columns'),)
    """
    return tuple(loss for table in schema.tables.values() for loss in _table_losses(schema, table, target))


def _table_losses(schema: Schema, table: Table, target: SchemaFormat) -> Iterator[Loss]:
    yield from _name_loss(table.name, None, target.rename_table(table.name), target)
    yield from _aspect_losses(table.name, None, _table_aspects(schema, table), target)
    for column in table.columns.values():
        if not column.complete:
            yield Loss(table.name, column.name, "the column", "its type is not known yet")
            continue
        yield from _name_loss(table.name, column.name, target.rename_column(column.name), target)
        yield from _type_losses(table.name, column, target)
        yield from _aspect_losses(table.name, column.name, _column_aspects(column), target)


def _name_loss(table: str, column: str | None, name: str, target: SchemaFormat) -> Iterator[Loss]:
    if name != (column or table):
        yield Loss(table, column, f"its name, {name} there", f"{target.title} has no such names")


def _type_losses(table: str, column: Column, target: SchemaFormat) -> Iterator[Loss]:
    data_type = column.data_type
    if data_type is None:
        return
    is_nested = bool(column.hint(NESTED_TYPE)) and "nested types" in target.keeps
    if data_type in target.other_types and not is_nested:
        yield Loss(
            *(table, column.name, f"its type, {target.other_types[data_type]} there"),
            f"{target.title} has no {data_type}",
        )
    size = [str(number) for number in (column.precision, column.scale) if number is not None]
    if size and data_type not in target.sizes:
        reason = f"{target.title} has no sizes of {data_type}"
        yield Loss(table, column.name, f"its size ({', '.join(size)})", reason)


def _aspect_losses(
    table: str, column: str | None, aspects: Mapping[Aspect, str], target: SchemaFormat
) -> Iterator[Loss]:
    for aspect, what in aspects.items():
        if what and aspect not in target.keeps:
            yield Loss(table, column, what, f"{target.title} {_REASONS[aspect]}")


def _table_aspects(schema: Schema, table: Table) -> Mapping[Aspect, str]:
    mode = table.hints.get("write_disposition")
    rules = [f"write_disposition {mode}"] if mode not in (None, "append") else []
    rules += _named(table.hints.get, _TABLE_LOAD_HINTS)
    contract = table.hints.get("schema_contract") or (not table.nested and schema.settings.schema_contract)
    return {
        "description": "description" if table.description else "",
        "parent": f"nested in {table.parent}" if table.parent else "",
        "references": "references" if table.hints.get("references") else "",
        "contract": "contract" if contract else "",
        "load rules": ", ".join(rules),
    }


def _column_aspects(column: Column) -> Mapping[Aspect, str]:
    return {
        "required": "required" if column.required else "",
        "primary key": "primary key" if column.hint("primary_key") else "",
        "unique": "unique" if column.hint("unique") else "",
        "description": ", ".join(
            _named({"description": column.description, "personal data": column.hint(PII)}.get, _DESCRIBING)
        ),
        "time zone": "without time zone" if column.timezone is False else "",
        "nested types": "the type of nested values" if column.hint(NESTED_TYPE) else "",
        "partition": "partition" if column.hint("partition") else "",
        "layout": ", ".join(_named(column.hint, ("cluster", "sort"))),
        "value rules": ", ".join(name.replace("_", " ") for name in rules_of(column).to_hint()),
        "load rules": ", ".join(_named(column.hint, _LOAD_HINTS)),
    }


def _named(value_of: Callable[[str], Any], hints: tuple[str, ...]) -> list[str]:
    return [hint.removeprefix("x-").replace("_", " ") for hint in hints if value_of(hint)]
