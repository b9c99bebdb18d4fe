"""What `columns=` may be: a dict or a list of columns, a table, a pydantic model, an Arrow schema."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from typing import Any

from trellis.errors import SchemaError
from trellis.schema.document import settle
from trellis.schema.form import column_keys, column_of, plain
from trellis.schema.merge import merge_column
from trellis.schema.model import Column, Table
from trellis.schema.validate import COLUMN
from trellis.sources.hints.models import columns_of_model, model_of

Columns = dict[str, Column]


def columns_of(said: Any, resource: str) -> Columns:
    """The columns by the names the user wrote. Raises SchemaError for an unknown key or type.

    >>> columns_of({"id": {"data_type": "bigint"}}, "orders")
    {'id': Column(name='id', data_type='bigint', ...)}
    """
    if said is None:
        return {}
    if (model := model_of(said)) is not None:
        return columns_of_model(model)
    if isinstance(said, Table):
        return dict(said.columns)
    if _is_arrow_schema(said):
        from trellis.sources.hints.arrow_schema import columns_of_schema

        return columns_of_schema(said, resource)
    if isinstance(said, Mapping):
        return {name: _column(name, each, resource) for name, each in said.items()}
    if isinstance(said, Iterable) and not isinstance(said, (str, bytes)):
        named = ((_name(each, resource), each) for each in said)
        return {name: _column(name, each, resource) for name, each in named}
    raise SchemaError(
        f"resource {resource}: columns= is {said!r}: give a dict of names to what is said of each, a list of"
        " such dicts with the key 'name', a pydantic model, or an Arrow schema"
    )


def _is_arrow_schema(said: Any) -> bool:
    arrow = sys.modules.get("pyarrow")
    return arrow is not None and isinstance(said, arrow.Schema)


def _name(said: Any, resource: str) -> str:
    name = said.name if isinstance(said, Column) else said.get("name") if isinstance(said, Mapping) else None
    if not isinstance(name, str):
        raise SchemaError(f"resource {resource}: a column in a list needs its name: {{'name': ..., ...}}")
    return name


def _column(name: Any, said: Any, resource: str) -> Column:
    if isinstance(said, Column):
        return column_of(name, column_keys(said))
    if not isinstance(name, str) or not isinstance(said, Mapping):
        raise SchemaError(
            f"resource {resource}: column {name!r} is {said!r}: give a dict such as {{'data_type': 'bigint'}}"
        )
    keys = plain({**said, "name": name})
    settled = settle({"tables": {resource: {"columns": {name: keys}}}})
    keys = settled["tables"][resource]["columns"][name]
    if found := [str(each) for each in COLUMN((name,), keys)]:
        raise SchemaError(f"resource {resource}: column {'; '.join(found)}")
    return column_of(name, keys)


def with_key(columns: Mapping[str, Column], hint: str, names: Any, resource: str) -> Columns:
    """The columns with a key in place of the one they had; nothing in `names` takes it away.

    A column of a key holds no NULL unless it says that it does.
    """
    kept = {
        name: column_of(name, {key: each for key, each in column_keys(column).items() if key != hint})
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
    found = (names,) if isinstance(names, str) else tuple(names) if isinstance(names, Iterable) else (None,)
    if all(isinstance(each, str) and each.strip() for each in found):
        return found
    raise SchemaError(f"resource {resource}: {hint}= is {names!r}: give the name of a column, or a list")
