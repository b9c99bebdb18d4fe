"""pydantic models as columns. pydantic is never imported from here.

A model may carry a dict named after the default dialect, `NAME_config`; `skip_nested_types` in it leaves out
lists and dicts and takes the fields of a nested model as columns `outer__inner`.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass
from datetime import date, datetime, time
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

from trellis.dialects import DEFAULT_DIALECT
from trellis.schema.model import Column, DataType
from trellis.schema.naming import get_naming

UNIONS = (Union, types.UnionType)
NONE = type(None)

TYPES: tuple[tuple[tuple[type, ...], DataType], ...] = (
    ((bool,), "bool"),
    ((dict, list), "json"),
    ((Decimal,), "decimal"),
    ((datetime,), "timestamp"),
    ((date,), "date"),
    ((time,), "time"),
    ((bytes,), "binary"),
    ((str,), "text"),
    ((int,), "bigint"),
    ((float,), "double"),
    ((Enum,), "text"),
    ((bytearray, tuple, Mapping, Sequence), "json"),
)
"""The type of a column by the class of its values, the first that fits."""


def base_model() -> Any:
    """pydantic's BaseModel if someone has imported pydantic, else None."""
    module = sys.modules.get("pydantic")
    return getattr(module, "BaseModel", None)


def is_model(value: Any) -> bool:
    base = base_model()
    return base is not None and isinstance(value, type) and issubclass(value, base)


def model_of(value: Any) -> Any:
    """The model that the value is, or is an instance of; None for anything else."""
    if is_model(value):
        return value
    return type(value) if is_model(type(value)) else None


def columns_of_model(model: Any) -> dict[str, Column]:
    """One column per field, under its alias if it has one. Fields of any type wait for the data."""
    if variants := _variants(model):
        alternatives = [columns_of_model(variant) for variant in variants]
        return {
            name: column
            for name, column in alternatives[0].items()
            if all(name in has for has in alternatives)
        }
    settings = getattr(model, f"{DEFAULT_DIALECT}_config", None) or {}
    flat = bool(settings.get("skip_nested_types"))
    columns: dict[str, Column] = {}
    for field_name, field in model.model_fields.items():
        columns.update(_of_field(field.alias or field_name, field.annotation, flat))
    return columns


def _of_field(name: str, annotation: Any, flat: bool) -> dict[str, Column]:
    inside = getattr(annotation, "inner_type", annotation)  # what a field `Json[...]` is parsed into
    nullable = _optional(inside)
    of = _inner(inside)
    if of is Any or getattr(of, "__name__", "") == "Json":
        return {}
    if flat and is_model(of):
        join = get_naming().path
        return {
            key: Column(key, column.data_type, nullable=bool(column.nullable) or nullable)
            for column in columns_of_model(of).values()
            if (key := f"{join(name)}__{join(column.name)}")
        }
    data_type = _data_type(of)
    return {} if flat and data_type == "json" else {name: Column(name, data_type, nullable=nullable)}


def _data_type(of: Any) -> DataType:
    origin = get_origin(of) or of
    if is_model(origin):
        return "json"
    if not isinstance(origin, type):
        return "text"
    data_type = next((name for classes, name in TYPES if issubclass(origin, classes)), None)
    return data_type or ("json" if is_dataclass(origin) else "text")


def _optional(of: Any) -> bool:
    if get_origin(of) in UNIONS and NONE in get_args(of):
        return True
    inside = _unwrapped(of)
    return inside is not of and _optional(inside)


def _inner(of: Any) -> Any:
    """The class that counts: of a union the first, of a literal that of its first value."""
    inside = _unwrapped(of)
    if inside is not of:
        return _inner(inside)
    if get_origin(of) is Literal:
        return type(get_args(of)[0])
    if get_origin(of) in UNIONS:
        return _inner(next((argument for argument in get_args(of) if argument is not NONE), str))
    return of


def _unwrapped(of: Any) -> Any:
    """Without one layer of Annotated, Final or NewType."""
    if get_origin(of) in (Annotated, Final):
        return get_args(of)[0]
    return getattr(of, "__supertype__", of)


def _variants(model: Any) -> tuple[Any, ...]:
    """The models that a root model is a union of."""
    if not getattr(model, "__pydantic_root_model__", False):
        return ()
    root = _unwrapped(model.model_fields["root"].annotation)
    models = get_args(root) if get_origin(root) in UNIONS else (root,)
    return models if all(is_model(model_) for model_ in models) else ()
