"""How formats write values: complex_type_mode, string_keyed_dict_mode, decimal_mode, time_mode, uuid_mode."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialects.ytsaurus.test_laws import TYPED_VALUES
from dialects.ytsaurus.test_tables import T, code_of
from trellis.dialects.ytsaurus.formats.format import Format
from trellis.dialects.ytsaurus.schema.model import Column, TableSchema
from trellis.dialects.ytsaurus.store.reading import open_source
from trellis.dialects.ytsaurus.store.row_formats.formatting import format_rows
from trellis.dialects.ytsaurus.store.store import Store
from trellis.dialects.ytsaurus.store.writing import parse_rows, write_rows
from trellis.dialects.ytsaurus.types.model import Type
from trellis.dialects.ytsaurus.values.presentation import row_presenter
from trellis.dialects.ytsaurus.values.text_forms import format_time, parse_time
from trellis.dialects.ytsaurus.values.validation import ValueForms, validate_value
from trellis.dialects.ytsaurus.yson.parser import loads
from trellis.dialects.ytsaurus.yson.writer import dumps

SCHEMA = (
    "[{name=m;type_v3={type_name=decimal;precision=5;scale=2}};{name=d;type=date};{name=t;type=timestamp};"
    "{name=u;type=uuid};"
    "{name=s;type_v3={type_name=struct;members=[{name=at;type=datetime};{name=n;type={type_name=optional;"
    "item={type_name=decimal;precision=20;scale=0}}}]}};"
    "{name=v;type_v3={type_name=variant;members=[{name=a;type=int64};{name=b;type=date32}]}};"
    "{name=o;type_v3={type_name=dict;key=utf8;value={type_name=list;item=date}}}]"
)
ROW = (
    r'{m="\x80\x00\x04\xd2";d=19675u;t=1700000000000001u;u="\xf0\xf1\xf2\xf3\xf4\xf5\xf6\xf7\xf8\xf9\xfa\xfb\xfc\xfd\xfe\xff";'
    "s={at=1700000000u;n=#};v=[b;-1];o=[[x;[0u]]]}"
)
TEXT_MODES = "decimal_mode=text;time_mode=text"


@pytest.fixture
def table(store: Store) -> Store:
    store.create("table", T, {"schema": loads(SCHEMA)})
    write_rows(store, T, parse_rows(Format.parse("yson"), ROW.encode()))
    return store


def formatted(store: Store, form: str, path: str = T) -> str:
    return b"".join(format_rows(open_source(store, path), Format.parse(form), {})).decode()


@pytest.mark.parametrize(
    ("form", "text"),
    [
        (
            f"<{TEXT_MODES};uuid_mode=text_yql>json",
            (
                '{"m":"12.34","d":"2023-11-14","t":"2023-11-14T22:13:20.000001Z",'
                '"u":"f3f2f1f0-f5f4-f7f6-f8f9-fafbfcfdfeff","s":{"at":"2023-11-14T22:13:20Z","n":null},'
                '"v":["b","1969-12-31"],"o":[["x",["1970-01-01"]]]}\n'
            ),
        ),
        (
            (
                f"<format=text;uuid_mode=text_yt;{TEXT_MODES};complex_type_mode=positional;"
                "string_keyed_dict_mode=named>yson"
            ),
            (
                '{"m"="12.34";"d"="2023-11-14";"t"="2023-11-14T22:13:20.000001Z";'
                '"u"="f0f1f2f3-f4f5f6f7-f8f9fafb-fcfdfeff";"s"=["2023-11-14T22:13:20Z";#;];'
                '"v"=[1;"1969-12-31";];"o"={"x"=["1970-01-01";];};};\n'
            ),
        ),
    ],
    ids=["json", "yson"],
)
def test_values_as_text_and_by_position(table: Store, form: str, text: str) -> None:
    assert formatted(table, form) == text
    table.create("table", "//tmp/copy", {"schema": loads(SCHEMA)})
    parsed = Format.parse(form)
    write_rows(table, "//tmp/copy", parse_rows(parsed, text.encode()), parsed.forms)
    text_form = "<format=text>yson"
    assert formatted(table, text_form, "//tmp/copy") == formatted(table, text_form)


def test_c55_structs_are_read_by_position(table: Store) -> None:
    assert formatted(table, "<format=text;complex_type_mode=positional>yson", f"{T}{{s,v}}") == (
        '{"s"=[1700000000u;#;];"v"=[1;-1;];};\n'
    )


@pytest.mark.parametrize(
    ("modes", "row", "message"),
    [
        ("time_mode=text", "{d=19675u}", 'column "d": expected date as text, not uint64 19675u'),
        (
            "time_mode=text",
            '{d="2023-02-30"}',
            'column "d": "2023-02-30" is not a date: day is out of range for month',
        ),
        (
            "time_mode=text",
            '{t="2023-11-14 22:13:20"}',
            (
                'column "t": "2023-11-14 22:13:20" is not a timestamp as text; expected such as '
                "2023-11-14T22:13:20.000000Z"
            ),
        ),
        ("time_mode=text", '{d="1969-12-31"}', 'column "d": expected date, not int64 -1'),
        (
            "decimal_mode=text",
            '{m="12.345"}',
            'column "m": 12.345 has more than the 2 decimal places of decimal(5,2)',
        ),
        ("uuid_mode=text_yt", "{u=abc}", 'column "u": "abc" is not a uuid in the form text_yt'),
        ("uuid_mode=text_yql", '{u="1-0-a-ff"}', 'column "u": "1-0-a-ff" is not a uuid in the form text_yql'),
    ],
)
def test_text_that_is_no_value(table: Store, modes: str, row: str, message: str) -> None:
    parsed = Format.parse(f"<{modes}>yson")
    schema = (
        "<schema=[{name=d;type=date};{name=t;type=timestamp};{name=u;type=uuid};"
        "{name=m;type_v3={type_name=optional;item={type_name=decimal;precision=5;scale=2}}}]>//tmp/other"
    )
    error = code_of(write_rows, table, schema, parse_rows(parsed, row.encode()), parsed.forms)
    assert error == (307, f"//tmp/other: row 0, {message}")


def test_modes_that_are_not_known(table: Store) -> None:
    assert code_of(formatted, table, "<time_mode=words>yson") == (
        1,
        "//tmp/t: time_mode of the format yson is 'words'; expected binary or text",
    )
    assert code_of(formatted, table, "<uuid_mode=text>json") == (
        1,
        "//tmp/t: uuid_mode of the format json is 'text'; expected binary or text_yt or text_yql",
    )


def test_times_beyond_the_calendar() -> None:
    assert code_of(format_time, "date32", -53_375_809) == (
        307,
        "the date32 -53375809 is beyond the years 1 to 9999 and has no text; use time_mode=binary",
    )


@given(st.datetimes(min_value=datetime(1, 1, 1), max_value=datetime(9999, 12, 31)))
def test_times_come_back(moment: datetime) -> None:
    micros = (moment - datetime(1970, 1, 1)) // (datetime(1970, 1, 1, 0, 0, 0, 1) - datetime(1970, 1, 1))
    assert parse_time("timestamp64", format_time("timestamp64", micros)) == micros
    assert format_time("date32", moment.date().toordinal() - date(1970, 1, 1).toordinal()) == (
        moment.date().isoformat().encode()
    )


FORMS = st.builds(
    ValueForms,
    positional=st.booleans(),
    named_dicts=st.booleans(),
    decimal_as_text=st.booleans(),
    time_as_text=st.booleans(),
    uuid=st.sampled_from(["binary", "text_yt", "text_yql"]),
)


@given(TYPED_VALUES, FORMS)
def test_values_come_back_in_every_mode(pair: tuple[Type, Any], forms: ValueForms) -> None:
    type, value = pair
    stored = validate_value(type, value)
    row = row_presenter(TableSchema((Column("v", type),)), forms)({"v": stored})
    back = validate_value(type, row["v"], forms)
    assert dumps(back) == dumps(stored) or (forms.named_dicts and "dict" in str(type))
