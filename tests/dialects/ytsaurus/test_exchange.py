"""Schemas of other languages in YTsaurus's, and back."""

from __future__ import annotations

from dataclasses import replace

from exchange.shop import ORDERS, SHOP
from trellis.dialects.ytsaurus.exchange import YTSAURUS
from trellis.dialects.ytsaurus.schema.document import parse_schema
from trellis.dialects.ytsaurus.yson.parser import loads
from trellis.exchange.losses import losses_of
from trellis.schema.model import Column

SHOP_ORDERS = replace(SHOP, tables={"orders": ORDERS})


def test_a_table_as_a_schema_of_yt() -> None:
    document = YTSAURUS.write(SHOP_ORDERS)
    assert str(parse_schema(loads(document))) == (
        "[id:int64^, note:optional<utf8>, price:decimal(10,2), at:optional<timestamp64>, "
        "local_at:optional<timestamp64>, day:optional<date32>, clock:optional<utf8>, qty:optional<int32>, "
        "ratio:optional<float>, paid:optional<bool>, raw:optional<string>, doc:optional<json>, "
        "tags:optional<list<optional<int32>>>, gas:optional<decimal(38,0)>, _dlt_id:utf8]u"
    )


def test_it_is_read_back() -> None:
    assert YTSAURUS.parse is not None and YTSAURUS.read is not None
    document = YTSAURUS.write(SHOP_ORDERS)
    assert isinstance(document, str)
    schema = YTSAURUS.read(YTSAURUS.parse(document, "orders.yson"), "orders").schema
    lost = {loss.column for loss in losses_of(SHOP_ORDERS, YTSAURUS)} | {"tags"}
    for column in ORDERS.complete_columns:
        if column.name not in lost:
            assert schema.tables["orders"].columns[column.name] == replace(
                column, hints={"primary_key": True} if column.name == "id" else {}
            )
    assert schema.tables["orders__tags"].columns == {
        "value": Column("value", "bigint", nullable=True, precision=32)
    }
    assert schema.tables["orders"].hints["schema_contract"] == {"columns": "freeze", "data_type": "freeze"}


def test_an_expression_is_lost() -> None:
    assert YTSAURUS.read is not None
    document = loads("[{name=hash; type=uint64; expression=\"farm_hash(k)\"; sort_order=ascending};"
                     "{name=k; type=int64; sort_order=ascending}]")  # fmt: skip
    (loss,) = YTSAURUS.read(document, "t").losses
    assert (loss.column, loss.what, loss.reason) == ("hash", "expression farm_hash(k)", "a column has none")
