"""The naming convention of a schema: those of the user, and those that dlt's documents name."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from trellis.dialects.dlt.naming import naming_of
from trellis.dialects.dlt.system_tables import new_schema
from trellis.dialects.documents import get_naming
from trellis.dialects.documents import naming_of as naming_of_any
from trellis.errors import SchemaError
from trellis.schema.model import Schema
from trellis.schema.user_schema import with_normalizers


class Careless:
    def normalize_identifier(self, identifier: str) -> str:
        return f"x{len(identifier)}{identifier}"


def named(convention: str) -> Schema:
    return with_normalizers(new_schema("shop"), {"names": convention})


def test_system_tables_keep_their_prefix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "my_names", SimpleNamespace(Careless=Careless))
    with pytest.raises(
        SchemaError, match=r"'my_names\.Careless' loses the prefix _dlt of system tables: keep it"
    ):
        naming_of(named("my_names.Careless"))


def test_a_convention_named_by_the_module_of_dlt() -> None:
    name = "dlt.common.normalizers.naming.sql_ci_v1"
    assert get_naming(name) == get_naming("sql_ci_v1")
    assert naming_of(named(name)) == naming_of_any(named(name)) == get_naming("sql_ci_v1")
    assert naming_of(named(name), 20).path("Foo Bar") == "foo_bar"
