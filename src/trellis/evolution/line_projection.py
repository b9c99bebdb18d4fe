"""How lines of separated fields become rows many at a time, where fields hold entities in JSON.

A projection holds only for ordinary lines: texts of the usual forms, entities with the keys that their
columns know. It gives the rows that the router gives; every other line is left to the router, which is the
definition.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from trellis.evolution.projection import Path
from trellis.schema.model import DataType


@dataclass(frozen=True)
class TextField:
    """A field of the line, and so a column of its name; an empty text is NULL.

    Ordinary texts match `pattern` (RE2) and convert to the type of the column as they are; without one all
    do. `lowers`: the column has the text in lower case.
    """

    name: str
    pattern: str | None = None
    is_required: bool = False
    lowers: bool = False


@dataclass(frozen=True)
class EntityField:
    """A field with entities: an object around one of them, or around a list of them.

    An ordinary text has one of the `beginnings`, which are equally long and reach to the address of the first
    entity's schema, and the `ending`. `label` is what marked rows of the entities say of them.
    """

    name: str
    label: str
    beginnings: tuple[str, ...]
    ending: str
    has_list: bool


@dataclass(frozen=True)
class EntityColumn:
    """A column, the places in an entity that its values come from, and as what these are read: text, bigint,
    double or bool. The first place with a value counts."""

    name: str
    paths: tuple[Path, ...]
    read_as: DataType


@dataclass(frozen=True)
class ValueCheck:
    """What proves that the value at a path is valid. A value that is not proven need not be invalid.

    `is_required`: in the object around it. `is_unproven`: nothing proves a value. `choices` are texts,
    `pattern` (RE2) is one that only valid texts match.
    """

    path: Path
    is_required: bool = False
    allows_null: bool = False
    is_unproven: bool = False
    min_length: int | None = None
    max_length: int | None = None
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[str, ...] | None = None
    pattern: str | None = None


@dataclass(frozen=True)
class EntityProjection:
    """The rows of entities of one schema. `constants` are texts that all of them have.

    Entities are valid by `checks`; of others, or of all where there are no checks, `is_valid` tells from
    their JSON. Without it all are valid.
    """

    table: str
    constants: Mapping[str, str]
    columns: tuple[EntityColumn, ...]
    checks: tuple[ValueCheck, ...] | None = None
    is_valid: Callable[[str], bool] | None = None


@dataclass(frozen=True)
class LineProjection:
    """Lines whose texts are rows of `table`, and the entities in some of their fields.

    `names` are those of all fields in the order of the line, `entity_fields` are in the order of the rows.
    Entities of a list are divided by `entity_separator`; within one, `data_start` is between the address of
    its schema and its data. `project_entity` has what becomes of entities with an address, if that is known
    and they are ordinary ones; `reference_of` what the router calls an address that is not known yet. Rows of
    entities have columns of the line's row, named in `inherited`. `label_column` and `position_column` mark
    rows with the label of their field and the position of their line.
    """

    table: str
    separator: str
    names: tuple[str, ...]
    fields: tuple[TextField, ...]
    entity_fields: tuple[EntityField, ...]
    entity_separator: str
    data_start: str
    project_entity: Callable[[str], EntityProjection | None]
    reference_of: Callable[[str], str | None]
    inherited: Mapping[str, str]
    label_column: str | None = None
    position_column: str | None = None
    time_column: str | None = None
    earliest: datetime | None = None
    """Lines with an earlier time in `time_column` are no ordinary ones."""
