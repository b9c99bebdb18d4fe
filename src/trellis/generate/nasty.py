"""What goes wrong in real files, one specimen a line."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random


def nasty(rows: int, random: Random, _columns: int) -> Iterator[bytes]:
    """Every specimen once in random order, then again in another, until there are `rows`."""
    lines = list(specimens())
    while rows > 0:
        random.shuffle(lines)
        yield from lines[:rows]
        rows -= len(lines)


def specimens() -> Iterator[bytes]:
    """One line of each bad thing we know of; none holds a newline, many hold no JSON."""
    for text in NOT_JSON + NO_RECORD + NUMBERS + TEXTS + KEYS + KINDS:
        yield text.encode()
    yield from BYTES
    long = "k" * 999
    yield f'{{"{long}a":1,"{long}b":2}}'.encode()
    yield f'{{"name":"{"long " * 10_000}"}}'.encode()
    yield f'{{"value":{"7" * 1_000}}}'.encode()
    yield f'{{"value":-{"7" * 1_000},"id":{"1" * 20}}}'.encode()
    yield f'{{"value":0.{"123456789" * 100}}}'.encode()
    for depth in (20, 200, 2_000):
        yield b'{"deep":' * depth + b"1" + b"}" * depth
        yield b'{"list":' + b"[" * depth + b"1" + b"]" * depth + b"}"
    yield b"[" * 2_000  # never closed
    yield b"{" + b",".join(b'"key_%d":%d' % (n, n) for n in range(2_000)) + b"}"
    yield b'{"list":[' + b",".join(b"%d" % n for n in range(5_000)) + b"]}"


NOT_JSON = (
    *("", "   ", "{", "}", "{]", '{"id":1', '{"id":1}}', '{"id":1} {"id":2}', '{"id":1},', '"', "nul"),
    *("{'id': 1}", "{id: 1}", '{"id":1,}', '{"id" 1}', '{"id":}', '{,"id":1}', '{"id":1 "name":2}', "[1,2"),
    *('{"id":1} // a comment', '/* before */ {"id":1}', '{"id":undefined}', '{"id":True}', '{"id":None}'),
    *("id,name", "1,Ada", "<xml/>", "---", "id: 1", "12:00 ERROR out of memory", '\ufeff{"id":1}'),
)
NO_RECORD = ("1", "-1.5", "true", "null", '"text"', '""', "[]", "[1,2]", '[{"id":1},{"id":2}]', "[[]]", "{}")
NUMBERS = tuple(
    f'{{"id":1,"value":{number}}}'
    for number in (
        *("1", "1.0", "-0", "-0.0", "0.1", "1e3", "1E+3", "1e400", "-1e400", "1e-400", "5e-324"),
        *("9223372036854775807", "9223372036854775808", "-9223372036854775809", "18446744073709551616"),
        *("9007199254740993", "0.1000000000000000055511151231257827", "12345678901234567890.123456789"),
        *("NaN", "Infinity", "-Infinity", "01", "+1", ".5", "1.", "0x1F", "1_000", "1,5", "--1"),
    )
)
TEXTS = tuple(
    f'{{"id":2,"name":{text}}}'
    for text in (
        *('""', '" "', '"null"', '"NaN"', '"true"', '"1"', '"1.0"', '"1e3"', '"0x1f"', '" 7 "', '"١٢٣"'),
        *(r'"a\u0000b"', r'"\ud800"', r'"\udc00\ud800"', r'"\ud83d\ude00"', r'"\n\r\t\b\f\/\\\""', r'"\x41"'),
        *('"😀👩‍👩‍👧‍👦"', '"e\u0301"', '"é"', '"\u202eright to left"', '"\u200b"', '"\u2028"', '"\uffff"'),
        *('"2024-02-30"', '"0000-00-00"', '"9999-12-31T23:59:60Z"', '"10000-01-01"', '"2024-W10"', '"24:00"'),
        *('"2024-01-01T00:00:00+14:00"', '"2024-01-01T00:00:00.123456789Z"', '"\'; DROP TABLE events; --"'),
        *(
            r'"{\"id\":1}"',
            '"[1,2]"',
            '"AQ=="',
            '"=1+1"',
            '"../../etc/passwd"',
            '"${jndi:ldap://example.com}"',
        ),
    )
)
KEYS = (
    *('{"":1,"a":{"":1}}', '{" ":1,"  ":2}', '{"id":1,"id":2}', '{"id":1,"id":"x"}', '{"a":{"b":1,"b":2}}'),
    *('{"id":1,"ID":2,"Id":3,"iD":4}', '{"user_id":1,"userId":2,"user-id":3,"user id":4,"UserID":5}'),
    *('{"a":{"b":1},"a.b":2,"a__b":3,"a_b":4}', '{"items":[{"x":1}],"Items":[{"x":2}]}'),
    *('{"value__v_text":1}', '{"value":1,"value__v_text":2}'),
    *('{"é":1,"e\u0301":2}', '{"💥":1,"日本":2,"Größe":3,"\u200b":4}'),
    *(r'{"a\u0000b":1,"a\nb":2,"a\"b":3,"a\\b":4}',),
    *('{"select":1,"from":2,"order":3,"table":4,"end":5}', '{"2fast":1,"-":2,"_":3,"___":4,"trailing_":5}'),
    *('{"x\\"; DROP TABLE events; --":1}', '{"x\'); DELETE FROM events; --":1}', '{"`x`":1,"[x]":2,"$.x":3}'),
    *('{"_dlt_id":7}', '{"_dlt_load_id":"mine","_dlt_parent_id":null}', '{"__proto__":1,"constructor":{}}'),
    *('{"_dlt_id":""}', '{"_dlt_id":{"a":1}}', '{"list":1,"value":2,"_corrupt_record":3,"rowid":4}'),
)
KINDS = tuple(
    f'{{"id":3,"mixed":{value}}}'
    for value in (
        *("null", "1", "1.5", "true", '"text"', "[]", "{}", '{"x":1}', '{"x":"1"}', '{"x":{"y":1}}'),
        *("[null]", "[1,2.5]", '[1,"a",true,null,{"x":1},[2]]', "[[1],[[2]],[]]", "[{}]"),
        *('[{"x":1},{"x":"b"}]', '{"x":null}'),
        *('"2024-01-01"', '"2024-01-01T00:00:00Z"', "1700000000", '{"mixed":{"mixed":[{"mixed":1}]}}'),
    )
)
BYTES = (
    b'{"name":"\xff\xfe"}',  # not UTF-8
    b'{"name":"caf\xe9"}',  # Latin-1
    b'{"name":"caf\xc3"}',  # cut in the middle of a character
    b'{"name":"\xed\xa0\x80"}',  # a surrogate as UTF-8
    b'{"name":"\xc0\x80"}',  # NUL, overlong
    b'{"\xff":1}',
    '{"id":1}'.encode("utf-16"),
    b'{"name":"a\x00b"}',
    b"\x00" * 16,
    b'{"name":"a\tb"}',  # a control character that is not escaped
    b'{"name":"a\x1fb"}',
    b'{"id":1}\r',
    b'\r{"id":1}',
    b'{"id":\r1}',
    b'\x1f\x8b\x08\x00{"id":1}',  # the head of a gzip file
    b'\x1e{"id":1}',  # a JSON text sequence
    b'{"id":1}\x1a',
)
