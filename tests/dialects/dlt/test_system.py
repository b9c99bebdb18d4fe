"""What a schema of dlt starts with: rows D10 and H08."""

from __future__ import annotations

from typing import Any

import pytest

from trellis.dialects.dlt.system_tables import DEFAULT_SETTINGS, new_schema
from trellis.errors import SchemaError
from trellis.schema.naming import get_naming
from trellis.schema.rules import hints_for, merge_hints


def test_d10_default_hints_see_normalized_names() -> None:
    hints = {"partition": ["re:_timestamp$"], "not_null": ["createdAt"]}
    settings = merge_hints(DEFAULT_SETTINGS, hints, get_naming())
    assert hints_for(settings, "evt_timestamp") == {"partition": True}
    assert hints_for(settings, "created_at") == {"nullable": False}
    assert hints_for(settings, "_dlt_id") == {"nullable": False, "unique": True, "row_key": True}
    assert hints_for(settings, "other") == {}


@pytest.mark.parametrize("name", ["a b", "1x", "x" * 65, "sch-1", "", None, 5])
def test_h08_names_no_schema_can_have(name: Any) -> None:
    with pytest.raises(SchemaError, match="name"):
        new_schema(name)


@pytest.mark.parametrize("name", ["Ünï", "class", "x" * 64])
def test_h08_names_a_schema_can_have(name: str) -> None:
    assert new_schema(name).name == name
