"""Documents of other engines."""

from __future__ import annotations

from typing import Any

import pytest

from trellis.errors import SchemaError
from trellis.schema.dict_form import Document
from trellis.schema.documents.document import from_dict
from trellis.schema.documents.migrate import migrate


def test_columns_that_were_only_null_so_far_leave() -> None:
    only_null = {"x-normalizer": {"seen-null-first": True}}
    columns = {"a": {"nullable": True, **only_null}, "b": {"data_type": "text", **only_null}, "c": {}}
    migrated = migrate({"engine_version": 11, "name": "s", "tables": {"t": {"columns": columns}}})
    assert migrated["tables"]["t"]["columns"] == {"b": {"data_type": "text"}, "c": {}}


@pytest.mark.parametrize("engine", [0, -1, "9", None, True, 12])
def test_engines_that_never_were(engine: Any) -> None:
    with pytest.raises(SchemaError, match="engine"):
        migrate({"engine_version": engine, "name": "s"})


def test_an_older_engine_that_nobody_knows() -> None:
    with pytest.raises(SchemaError) as error:
        from_dict({"engine_version": 4, "name": "s"}, "s.json")
    reason = "no dialect that is installed knows it; install the one that wrote it"
    assert str(error.value) == f"s.json: no upgrade path from engine 4 to 11: {reason}"


def test_an_older_engine_that_a_dialect_knows() -> None:
    def upgrade(document: Document, engine: int) -> bool:
        document["name"] = f"{document['name']}_{engine}"
        return True

    document: Any = {"engine_version": 4, "name": "s"}
    schema = from_dict(document, upgrade=upgrade)
    assert (schema.name, schema.engine_version) == ("s_4", 11)
    assert document == {"engine_version": 4, "name": "s"}
