"""What is said of the tables of a resource, and the tables that follow from it.

Hints are kept as they were said and judged when they are said; a hint may be a function of the item, and
then the name of the table must be one too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, TypedDict

from trellis.errors import SchemaError, UsageError, nearest
from trellis.evolution.contract import expand
from trellis.schema.dict_form import plain
from trellis.schema.documents.validate import REFERENCE
from trellis.schema.merge import merge_columns
from trellis.schema.model import Table
from trellis.sources.cursors.cursor import Incremental
from trellis.sources.hints.columns import columns_of, key_names
from trellis.sources.hints.models import model_of
from trellis.sources.hints.write_disposition import disposition

EXTRA = {"allow": "evolve", "forbid": "freeze"}

NESTED = (
    *("columns", "primary_key", "merge_key", "write_disposition", "schema_contract", "table_format"),
    *("file_format", "references", "additional_table_hints"),
)


class ResourceHints(TypedDict, total=False):
    """The hints of a resource. Each but `incremental`, `max_table_nesting` and the last may be a function
    of the item; then `table_name` must be one too."""

    table_name: str | Callable[[Any], str] | None
    """The root table, default the name of the resource."""
    columns: Any
    """Columns: a dict by name, a list of dicts, a pydantic model or an Arrow schema."""
    primary_key: str | Iterable[str] | Callable[[Any], Any] | None
    """The column or the columns of the primary key."""
    merge_key: str | Iterable[str] | Callable[[Any], Any] | None
    """The column or the columns by which rows are replaced together."""
    write_disposition: str | Mapping[str, Any] | Callable[[Any], Any] | None
    """`append`, `replace`, `merge` or `skip`; or a dict with `disposition` and its settings."""
    schema_contract: str | Mapping[str, str] | Callable[[Any], Any] | None
    """What may change: a mode, or a mode for each of `tables`, `columns` and `data_type`."""
    table_format: str | Callable[[Any], Any] | None
    """The table format of a lake, such as `delta`."""
    file_format: str | Callable[[Any], Any] | None
    """The file format that is preferred."""
    references: Iterable[Mapping[str, Any]] | Callable[[Any], Any] | None
    """References to other tables; nothing enforces them."""
    nested_hints: Mapping[Any, Any] | Callable[[Any], Any] | None
    """The hints of nested tables by the key of their list, or by a tuple of keys."""
    additional_table_hints: Mapping[str, Any] | None
    """Other hints, stored with the table as they are."""
    incremental: Incremental[Any] | Mapping[str, Any] | None
    """The cursor, made with `trellis.incremental`."""
    max_table_nesting: int | None
    """How many levels of nesting become columns and tables."""


@dataclass(frozen=True)
class Hints:
    """What is said of one table, and of the tables below it. None: not said."""

    table_name: Any = None
    columns: Any = None
    primary_key: Any = None
    merge_key: Any = None
    write_disposition: Any = None
    schema_contract: Any = None
    table_format: Any = None
    file_format: Any = None
    references: Any = None
    nested_hints: Any = None
    additional_table_hints: Any = None
    incremental: Incremental[Any] | None = None
    max_table_nesting: int | None = None
    model: Any = None

    @property
    def dynamic(self) -> bool:
        """Whether something besides the name of the table depends on the item."""
        return any(callable(getattr(self, name)) for name in BY_ITEM)

    @property
    def contract(self) -> Any:
        """The contract as said; else that of the model, else none."""
        if self.schema_contract or self.model is None:
            return self.schema_contract
        return model_contract(self.model, None)


BY_ITEM = (
    *("columns", "primary_key", "merge_key", "write_disposition", "schema_contract", "table_format"),
    *("file_format", "references", "nested_hints"),
)
SAYABLE = tuple(field_.name for field_ in fields(Hints) if field_.name != "model")


def model_contract(model: Any, contract: Any) -> dict[str, str]:
    """The contract of a table whose columns are a model; what is not said follows from its `extra`."""
    extra = EXTRA.get(model.model_config.get("extra") or "ignore", "discard_value")
    if isinstance(contract, str):
        return dict.fromkeys(("tables", "columns", "data_type"), contract)
    return {"tables": "evolve", "columns": extra, "data_type": "freeze", **(contract or {})}


def hints_of(resource: str, declared: Mapping[str, Any]) -> Hints:
    """The hints, judged. Raises UsageError and SchemaError."""
    return changed(Hints(), resource, declared)


def changed(hints: Hints, resource: str, declared: Mapping[str, Any]) -> Hints:
    """The hints after what is said now: None keeps, an empty value removes, columns are merged."""
    for key in declared:
        if key not in SAYABLE:
            raise UsageError(f"resource {resource}: there is no hint {key!r}{nearest(key, SAYABLE)}")
    new: dict[str, Any] = {}
    for key, value in declared.items():
        if value is None:
            continue
        if callable(value) and key in BY_ITEM and model_of(value) is None:
            new[key] = value
        elif key in _TAKEN:
            new.update(_TAKEN[key](hints, resource, value))
        else:
            new[key] = value if value or value == 0 else None
    for key in ("primary_key", "merge_key"):
        if declared.get(key) is not None:
            if not callable(declared[key]):
                key_names(declared[key], key, resource)
            new[key] = declared[key]
    return _judged(replace(hints, **new), resource)


def _columns(hints: Hints, resource: str, declared: Any) -> dict[str, Any]:
    columns = columns_of(declared, resource)
    model = model_of(declared)
    if not columns and model is None:
        return {"columns": None, "model": None}
    old = hints.columns if isinstance(hints.columns, Mapping) else {}
    merged = merge_columns(old, columns, replace_compound=False)
    return {"columns": merged, "model": model or hints.model}


def _references(hints: Hints, resource: str, declared: Any) -> dict[str, Any]:
    if not declared:
        return {"references": None}
    check_references(declared, resource)
    old = hints.references if isinstance(hints.references, Iterable) else ()
    by_target = {reference["referenced_table"]: reference for reference in (*old, *plain(list(declared)))}
    return {"references": list(by_target.values())}


def check_references(references: Any, resource: str) -> None:
    if isinstance(references, (str, Mapping)) or not isinstance(references, Iterable):
        raise SchemaError(f"resource {resource}: references= is {references!r}: give a list of dicts")
    for index, reference in enumerate(references):
        problems = [str(fault) for fault in REFERENCE((f"references[{index}]",), reference)]
        if problems:
            raise SchemaError(f"resource {resource}: {'; '.join(problems)}")


def _contract(hints: Hints, resource: str, contract: Any) -> dict[str, Any]:
    if contract:
        expand(contract)
    return {"schema_contract": plain(contract) if contract else None}


def _disposition(hints: Hints, resource: str, write_disposition: Any) -> dict[str, Any]:
    if not write_disposition:
        return {}
    disposition(Table(resource), write_disposition)
    return {"write_disposition": write_disposition}


def _incremental(hints: Hints, resource: str, cursor: Any) -> dict[str, Any]:
    if isinstance(cursor, Mapping):
        return {"incremental": Incremental(**cursor) if cursor else None}
    if not isinstance(cursor, Incremental):
        raise UsageError(
            f"resource {resource}: incremental= is {cursor!r}: give trellis.incremental('column', ...)"
        )
    return {"incremental": cursor}


def _nested(hints: Hints, resource: str, tables: Any) -> dict[str, Any]:
    if not tables:
        return {"nested_hints": None}
    return {
        "nested_hints": {
            _path(path, resource): nested_of(resource, path, keys) for path, keys in tables.items()
        }
    }


def _additional(hints: Hints, resource: str, keys: Any) -> dict[str, Any]:
    merged = {**(hints.additional_table_hints or {}), **keys} if keys else None
    return {"additional_table_hints": merged}


_TAKEN: Mapping[str, Callable[[Hints, str, Any], dict[str, Any]]] = {
    "columns": _columns,
    "references": _references,
    "schema_contract": _contract,
    "write_disposition": _disposition,
    "incremental": _incremental,
    "nested_hints": _nested,
    "additional_table_hints": _additional,
}


def _path(path: Any, resource: str) -> tuple[str, ...]:
    keys = (path,) if isinstance(path, str) else tuple(path) if isinstance(path, Iterable) else ()
    if not keys or not all(isinstance(key, str) and key.strip() for key in keys):
        raise SchemaError(
            f"resource {resource}: nested_hints has the key {path!r}: write the key of the list, or a tuple"
            " of keys from the root table down to it"
        )
    return keys


def nested_of(resource: str, path: Any, declared: Any) -> Hints:
    """The hints of a table below the root table."""
    if isinstance(declared, Hints):
        return declared
    where = f"{resource}, nested_hints of {path!r}"
    if not isinstance(declared, Mapping):
        raise SchemaError(f"resource {where}: it is {declared!r}: give a dict of hints")
    for key in declared:
        if key not in NESTED:
            raise SchemaError(f"resource {where}: a nested table takes no {key!r}{nearest(str(key), NESTED)}")
    return hints_of(where, declared)


def _judged(hints: Hints, resource: str) -> Hints:
    if hints.dynamic and not callable(hints.table_name):
        which = next(name for name in BY_ITEM if callable(getattr(hints, name)))
        raise UsageError(
            f"resource {resource}: {which}= is a function of the item, so table_name= must be one too, for"
            " hints that differ belong to different tables"
        )
    if not (hints.table_name is None or callable(hints.table_name) or isinstance(hints.table_name, str)):
        raise UsageError(
            f"resource {resource}: table_name= is {hints.table_name!r}: give text, or a function of an item"
        )
    checked = hints.model is not None and not callable(hints.schema_contract)
    if checked and model_contract(hints.model, hints.schema_contract)["data_type"] == "discard_value":
        raise SchemaError(
            f"resource {resource}: the contract data_type: discard_value is unsupported with a pydantic"
            " model, which only accepts or refuses whole items: use freeze, discard_row or evolve"
        )
    return hints


def for_item(hints: Hints, resource: str, item: Any) -> Hints:
    """The hints with every function called."""
    if not hints.dynamic:
        return hints
    called = {name: function(item) for name in BY_ITEM if callable(function := getattr(hints, name))}
    return changed(replace(hints, **dict.fromkeys(called), table_name=None), resource, called)
