"""YTsaurus: typed, sorted, strict and weak tables. The functions here are pure: no files, no Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from trellis.dialects.ytsaurus.alter.changes import check_alter as check_alter
    from trellis.dialects.ytsaurus.compatibility.schemas import schema_compatibility as schema_compatibility
    from trellis.dialects.ytsaurus.compatibility.types import type_compatibility as type_compatibility
    from trellis.dialects.ytsaurus.computed.farm_hash import farm_hash as farm_hash
    from trellis.dialects.ytsaurus.inference.operations import output_schema as output_schema
    from trellis.dialects.ytsaurus.paths.rich_path import parse_path as parse_path
    from trellis.dialects.ytsaurus.schema.document import check_schema as check_schema
    from trellis.dialects.ytsaurus.values.order import compare as compare
    from trellis.dialects.ytsaurus.values.validation import validate_value as validate_value
    from trellis.dialects.ytsaurus.yson.parser import loads as loads
    from trellis.dialects.ytsaurus.yson.writer import dumps as dumps

_HOMES: Final = {
    "check_alter": "alter.changes",
    "check_schema": "schema.document",
    "compare": "values.order",
    "dumps": "yson.writer",
    "farm_hash": "computed.farm_hash",
    "loads": "yson.parser",
    "output_schema": "inference.operations",
    "parse_path": "paths.rich_path",
    "schema_compatibility": "compatibility.schemas",
    "type_compatibility": "compatibility.types",
    "validate_value": "values.validation",
}


def __dir__() -> list[str]:
    return sorted(_HOMES)


def __getattr__(name: str) -> Any:
    """Public functions are imported when they are first asked for, as this runs whenever Trellis starts."""
    from importlib import import_module

    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    return value
