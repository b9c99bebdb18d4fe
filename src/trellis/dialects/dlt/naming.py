"""The naming convention is the one the schema carries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trellis.dialects.dlt.system_tables import LOADS, PREFIX
from trellis.errors import SchemaError
from trellis.schema.model import Schema
from trellis.schema.naming import CONVENTIONS, Naming, get_naming


class DltNaming:
    def naming(self, schema: Schema, max_length: int | None) -> Naming:
        return naming_of(schema, max_length)

    def dataset(self, settings: Mapping[str, Any], default: str) -> str:
        return default


def convention_name(name: str) -> str:
    """The name of the convention; documents of dlt may give that of dlt's module.

    >>> convention_name("dlt.common.normalizers.naming.sql_ci_v1"), convention_name("company.names.Mine")
    ('sql_ci_v1', 'company.names.Mine')
    """
    parts = name.split(".") if name.startswith("dlt.") else ()
    return next((part for part in parts if part in CONVENTIONS), name)


def naming_of(schema: Schema, max_length: int | None = None) -> Naming:
    """The naming that a schema follows. Raises SchemaError where system tables would lose their prefix."""
    name = convention_name(schema.normalizers.get("names") or "snake_case")
    breaks = schema.normalizers.get("use_break_path_on_normalize") is not False
    unlimited = get_naming(name)
    if not unlimited.identifier(LOADS).startswith(unlimited.identifier(PREFIX)):
        raise SchemaError(f"naming convention {name!r} loses the prefix {PREFIX} of system tables: keep it")
    return get_naming(name, max_length, breaks)
