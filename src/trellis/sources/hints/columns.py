"""What `columns=` may be: a dict or a list of columns, a table, a pydantic model, an Arrow schema."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from typing import Any

from trellis.errors import SchemaError
from trellis.schema.dict_form import column_keys, column_of, plain
from trellis.schema.documents.document import normalize_spelling
from trellis.schema.documents.validate import COLUMN
from trellis.schema.merge import merge_column
from trellis.schema.model import Column, Table
from trellis.sources.hints.models import columns_of_model, model_of

Columns = dict[str, Column]


def columns_of(declared: Any, resource: str) -> Columns:
    """The columns by the names the user wrote. Raises SchemaError for an unknown key or type.

    >>> columns_of({"id": {"data_type": "bigint"}}, "orders")
    {'id': Column(name='id', data_type='bigint', ...)}
    """
    if declared is None:
        return {}
    if (model := model_of(declared)) is not None:
        return columns_of_model(model)
    if isinstance(declared, Table):
        return dict(declared.columns)
    if _is_arrow_schema(declared):
        from trellis.sources.hints.arrow_schema import columns_of_schema

        return columns_of_schema(declared, resource)
    if isinstance(declared, Mapping):
        return {name: _column(name, keys, resource) for name, keys in declared.items()}
    if isinstance(declared, Iterable) and not isinstance(declared, (str, bytes)):
        named = ((_name(column, resource), column) for column in declared)
        return {name: _column(name, column, resource) for name, column in named}
    raise SchemaError(
        f"resource {resource}: columns= is {declared!r}: give a dict of columns by name, a list of dicts with"
        " the key 'name', a pydantic model, or an Arrow schema"
    )


def _is_arrow_schema(value: Any) -> bool:
    arrow = sys.modules.get("pyarrow")
    return arrow is not None and isinstance(value, arrow.Schema)


def _name(column: Any, resource: str) -> str:
    name = (
        column.name
        if isinstance(column, Column)
        else column.get("name")
        if isinstance(column, Mapping)
        else None
    )
    if not isinstance(name, str):
        raise SchemaError(f"resource {resource}: a column in a list needs its name: {{'name': ..., ...}}")
    return name


def _column(name: Any, declared: Any, resource: str) -> Column:
    if isinstance(declared, Column):
        return column_of(name, column_keys(declared))
    if not isinstance(name, str) or not isinstance(declared, Mapping):
        raise SchemaError(
            f"resource {resource}: column {name!r} is {declared!r}: give a dict such as"
            " {'data_type': 'bigint'}"
        )
    keys = plain({**declared, "name": name})
    document = normalize_spelling({"tables": {resource: {"columns": {name: keys}}}})
    keys = document["tables"][resource]["columns"][name]
    if problems := [str(problem) for problem in COLUMN((name,), keys)]:
        raise SchemaError(f"resource {resource}: column {'; '.join(problems)}")
    return column_of(name, keys)


def with_key(columns: Mapping[str, Column], hint: str, names: Any, resource: str) -> Columns:
    """The columns with a key in place of the one they had; nothing in `names` takes it away.

    A column of a key holds no NULL unless it says that it does.
    """
    kept = {
        name: column_of(name, {key: value for key, value in column_keys(column).items() if key != hint})
        for name, column in columns.items()
    }
    for name in key_names(names, hint, resource):
        known = kept.get(name, Column(name))
        nullable = False if known.nullable is None else known.nullable
        kept[name] = merge_column(known, Column(name, nullable=nullable).with_hints(**{hint: True}))
    return kept


def key_names(names: Any, hint: str, resource: str) -> tuple[str, ...]:
    """The columns of a key, given as one name or as several."""
    if not names:
        return ()
    key = (names,) if isinstance(names, str) else tuple(names) if isinstance(names, Iterable) else (None,)
    if all(isinstance(column, str) and column.strip() for column in key):
        return key
    raise SchemaError(f"resource {resource}: {hint}= is {names!r}: give the name of a column, or a list")
