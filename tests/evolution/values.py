"""Values of every kind, for the laws of coercion and classification."""

from __future__ import annotations

from datetime import timedelta, timezone
from typing import Any

from hypothesis import strategies as st

from trellis.evolution.scalars.values import HexBytes, Wei

# divided by bars, for there are spaces, quotes and commas in them
_WORDS = """\
s|1| 3 |0x1f|0X1f|0x|0x-1|0xzz|0x6869|0x68 69| 0x1f|4.5||1_000|_1|1__0|1e3|1e400|-1e400|nan|NaN|-inf|
Infinity|+5|-5|.5|5.|1.50|00012|9223372036854775807|9223372036854775808|1e-400|٣|٣.٣|yes|Yes|TRUE|true|
t|f|no|0|n| true|true |maybe|aGk=|aGk|aGk==|abcd|ab c|%%|=|====|a===|2024-05-01|2024|1700000000|
1700000000.5|1700000000000|12:00:01|03:04:05|2024-01-01T03:04:05Z|2024-02-02T23:00:00-05:00|soon|
20240506|202405|2024-W40|12:30+02:00|{"q":1}|[1, 2]|"x"|null|null |false|{"a":1.0,"b":[1e2]}| {} |
-0|01|1E5|snan|nan123|0b1|1j|0_1|1_|5L|253402300799|253402300800|-62135596800|-62135596801|1e11|
123456789012345678901234567890123456789|2024-05-06T01:02:03.5|T12|T|T1|tt|i|N|+|-|.|+nan|- 5|−5|
2024-02-30|20240230|0000|9999|2024-05-31T01:02:03Z|2024-06-31T01:02:03Z|0.0|-0.0|00.5|1.|日本|été|💥|２|
"\\u00e9"|"\\ud800"|12:30:01.5|12.50|1234567|12345678|-123|-1234|20240506T070809Z|2024-05-06"""
WORDS = [*_WORDS.replace("|\n", "|").split("|"), "\n5\n", "\u20035", "\x00"]

ZONES = st.sampled_from(
    [None, timezone.utc, timezone(timedelta(hours=2)), timezone(timedelta(hours=-5, minutes=-30))]
)
NUMBERS: Any = st.one_of(
    st.integers(), st.integers(-(2**70), 2**70), st.floats(), st.decimals(allow_nan=False)
)
TEXTS = st.one_of(
    st.text(st.characters(codec="utf-8"), max_size=30),
    st.sampled_from(WORDS),
    NUMBERS.map(str),
    st.datetimes(timezones=ZONES).map(lambda moment: moment.isoformat()),
    st.datetimes(timezones=ZONES).map(str),
    st.dates().map(str),
    st.times().map(str),
    st.binary(max_size=12).map(lambda raw: "0x" + raw.hex()),
    st.text("0123456789+-.:eETZ_ x", max_size=12),
    st.text("ABCabc012+/=", max_size=12),
)
SCALARS: Any = st.one_of(
    st.booleans(),
    NUMBERS,
    st.decimals(),
    st.decimals(allow_nan=False).map(Wei),
    TEXTS,
    st.binary(max_size=20),
    st.binary(max_size=20).map(HexBytes),
    st.datetimes(timezones=ZONES),
    st.dates(),
    st.times(timezones=ZONES),
    st.uuids(),
)
NESTED = st.recursive(
    st.none() | SCALARS,
    lambda deeper: (
        st.lists(deeper, max_size=3)
        | st.tuples(deeper)
        | st.dictionaries(
            st.text(st.characters(codec="utf-8"), max_size=5) | st.integers(), deeper, max_size=3
        )
    ),
    max_leaves=5,
).filter(lambda value: isinstance(value, (list, tuple, dict)))
VALUES: Any = SCALARS | NESTED
