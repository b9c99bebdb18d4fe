"""pydantic models as columns and as contracts, against what dlt makes of them."""

from __future__ import annotations

import subprocess
import sys
from datetime import date, datetime, time
from decimal import Decimal
from enum import Enum, IntEnum
from typing import Annotated, Any, ClassVar, Literal
from uuid import UUID

import dlt
import pyarrow as pa
import pytest
from pydantic import BaseModel, ConfigDict, Field, Json, RootModel, field_validator

from sources.conftest import part, read
from trellis import sources as trellis
from trellis.errors import ContractError, SchemaError
from trellis.evolution.contract import ContractViolation
from trellis.schema.dict_form import table_dict


class Colour(Enum):
    RED = "red"


class Size(IntEnum):
    SMALL = 1


class Address(BaseModel):
    street: str
    zip_code: int | None = None


class Everything(BaseModel):
    a_text: str
    a_number: int
    a_double: float
    a_bool: bool
    a_decimal: Decimal
    a_moment: datetime
    a_date: date
    a_time: time
    some_bytes: bytes
    a_uuid: UUID
    maybe: int | None = None
    maybe_too: int | None = None
    one_of: int | str
    colour: Colour
    size: Size
    word: Literal["a", "b"]
    limited: Annotated[int, Field(gt=1)]
    limited_or_none: Annotated[int | None, Field(gt=1)] = None
    aliased: str = Field(alias="withAlias")
    anything: Any = None
    parsed: Json[list[int]]
    parsed_any: Json[Any]
    numbers: list[int]
    mapping: dict[str, int]
    maybe_list: list[str] | None = None
    several: set[str]
    pair: tuple[int, int]
    address: Address
    maybe_address: Address | None = None
    addresses: list[Address]


class Flat(Everything):
    dlt_config: ClassVar[Any] = {"skip_nested_types": True}


class Cat(BaseModel):
    kind: Literal["cat"]
    name: str
    lives: int


class Dog(BaseModel):
    kind: Literal["dog"]
    name: str


class Pet(RootModel[Annotated[Cat | Dog, Field(discriminator="kind")]]):
    pass


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")
    id: int


class Closed(BaseModel):
    model_config = ConfigDict(extra="forbid")
    id: int


@pytest.mark.parametrize("model", [Everything, Flat, Pet, Open, Closed, Address])
def test_a_model_is_declared_as_by_dlt(model: type[BaseModel]) -> None:
    theirs = dlt.resource([], name="t", columns=model).compute_table_schema()
    ours = table_dict(part(trellis.resource([], name="t", columns=model)).declared.table)
    assert ours == theirs
    assert list(ours["columns"]) == list(theirs["columns"])


def test_an_instance_declares_like_its_class() -> None:
    of_instance = trellis.resource([], name="t", columns=Closed(id=1))
    assert part(of_instance).declared == part(trellis.resource([], name="t", columns=Closed)).declared


def test_the_default_contract_follows_from_extra() -> None:
    def contract(**modes: Any) -> Any:
        return part(trellis.resource([], name="t", **modes)).declared.table.hints["schema_contract"]

    ignoring = {"tables": "evolve", "columns": "discard_value", "data_type": "freeze"}
    assert contract(columns=Address) == ignoring
    assert contract(columns=Open) == {**ignoring, "columns": "evolve"}
    assert contract(columns=Closed) == {**ignoring, "columns": "freeze"}
    assert contract(columns=Closed, schema_contract={"columns": "evolve"}) == {"columns": "evolve"}


ITEMS = [{"id": "1", "more": 5}, {"id": "x", "more": 6}, {"id": 3}]


def test_items_come_out_as_the_model_has_them() -> None:
    class User(BaseModel):
        id: int
        full_name: str = Field("none", alias="fullName")

    extracted = part(
        trellis.resource([{"id": "1", "fullName": "Ada", "more": 5}, {"id": 2}], name="t", columns=User)
    )
    assert list(extracted.source) == [{"id": 1, "fullName": "Ada"}, {"id": 2, "fullName": "none"}]
    assert extracted.dropped == 0


def test_an_item_that_is_not_valid_is_refused() -> None:
    with pytest.raises(
        ContractViolation, match="item 1 of resource users, field 'id': Input should be a valid"
    ) as caught:
        read(trellis.resource(ITEMS, name="users", columns=_Id))
    violation = caught.value
    assert isinstance(violation, ContractError)
    assert (violation.schema_name, violation.table, violation.column) == ("shop", "users", "id")
    assert (violation.entity, violation.mode, violation.item) == ("data_type", "freeze", ITEMS[1])


class _Id(BaseModel):
    id: int


def test_discard_row_drops_the_whole_item_and_counts_it() -> None:
    extracted = part(
        trellis.resource(ITEMS, name="t", columns=_Id, schema_contract={"data_type": "discard_row"})
    )
    assert list(extracted.source) == [{"id": 1}, {"id": 3}]
    assert extracted.dropped == 1
    assert [(item.position, item.item) for item in extracted.dropped_items] == [(1, ITEMS[1])]
    assert [item.reason for item in extracted.dropped_items] == [
        "id: Input should be a valid integer, unable to parse string as an integer"
    ]


def test_dropped_items_count_under_the_table_they_were_for() -> None:
    parts = read(
        trellis.resource(
            [{"id": 1, "kind": "a"}, {"id": "x", "kind": "b"}],
            name="t",
            columns=_Id,
            schema_contract={"data_type": "discard_row", "columns": "evolve"},
            table_name=lambda item: item["kind"],
        )
    ).parts
    assert [(table.table_name, list(table.source), table.dropped) for table in parts] == [
        ("a", [{"id": 1, "kind": "a"}], 0),
        ("b", [], 1),
    ]


@pytest.mark.parametrize(
    ("mode", "kept"),
    [
        ("evolve", [{"id": 1, "more": 5}, {"id": 3}]),
        ("discard_value", [{"id": 1}, {"id": 3}]),
        ("discard_row", [{"id": 3}]),
    ],
)
def test_unknown_keys_by_contract(mode: str, kept: list[Any]) -> None:
    items = [ITEMS[0], ITEMS[2]]
    contract = {"columns": mode}
    extracted = part(trellis.resource(items, name="t", columns=_Id, schema_contract=contract))
    assert list(extracted.source) == kept
    assert list(dlt.resource(items, name="t", columns=_Id, schema_contract=contract)) == kept
    lenient = {"columns": mode, "data_type": "evolve"}
    extracted = part(trellis.resource(items, name="t", columns=_Id, schema_contract=lenient))
    assert [item["id"] for item in extracted.source] == [
        item["id"] for item in items if mode != "discard_row" or "more" not in item
    ]


def test_unknown_keys_are_refused_also_inside() -> None:
    class Outer(BaseModel):
        inner: _Id | None = None
        several: list[Annotated[_Id, Field(title="one")]] = []

    for item in ({"inner": {"id": 1, "more": 2}}, {"several": [{"id": 1, "more": 2}]}):
        with pytest.raises(ContractViolation, match="more") as caught:
            read(trellis.resource([item], name="t", columns=Outer, schema_contract={"columns": "freeze"}))
        assert caught.value.entity == "columns"


def test_validators_stay_when_the_contract_changes_the_model() -> None:
    class Upper(BaseModel):
        word: str

        @field_validator("word")
        @classmethod
        def upper(cls, value: str) -> str:
            return value.upper()

    extracted = part(
        trellis.resource([{"word": "a"}], name="t", columns=Upper, schema_contract={"columns": "freeze"})
    )
    assert list(extracted.source) == [{"word": "A"}]


def test_a_model_that_holds_itself() -> None:
    class Node(BaseModel):
        name: str
        children: list[Node] = []

    extracted = part(
        trellis.resource(
            [{"name": "a", "children": [{"name": "b"}]}],
            name="t",
            columns=Node,
            schema_contract={"columns": "freeze"},
        )
    )
    assert list(extracted.source) == [{"name": "a", "children": [{"name": "b", "children": []}]}]


def test_data_type_discard_value_is_unsupported() -> None:
    for contract_hint in ("discard_value", {"data_type": "discard_value"}):
        with pytest.raises(
            SchemaError, match="resource t: the contract data_type: discard_value is unsupported"
        ):
            trellis.resource([], name="t", columns=_Id, schema_contract=contract_hint)


def test_instances_and_tables_among_the_items() -> None:
    table = pa.table({"id": [1]})
    parts = read(trellis.resource([_Id(id=1), {"id": 2}, table], name="t", columns=_Id)).parts
    assert [(part.form, list(part.source)) for part in parts] == [
        ("records", [{"id": 1}, {"id": 2}]),
        ("pieces", [table]),
    ]


def test_an_item_that_is_no_mapping() -> None:
    with pytest.raises(ContractViolation, match="item 0 of resource t"):
        read(trellis.resource([5], name="t", columns=_Id, schema_contract={"data_type": "discard_row"}))


def test_columns_over_a_model_keep_the_model() -> None:
    resource = trellis.resource([{"id": "x"}], name="t", columns=_Id)
    resource.apply_hints(columns={"id": {"data_type": "text"}})
    assert resource.columns["id"].data_type == "text"
    with pytest.raises(ContractViolation):
        read(resource)


def test_nothing_heavy_is_imported_before_it_is_needed() -> None:
    code = (
        "import sys, trellis.sources, trellis.sources.extraction.extract\n"
        "print(*(m for m in ('pydantic', 'pyspark', 'pyarrow', 'pandas', 'duckdb') if m in sys.modules))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == ""
