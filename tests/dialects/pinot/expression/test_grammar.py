"""The grammar: names, literals, calls, operators, scripts, and what is wrong with a text."""

from __future__ import annotations

import pytest

from trellis.dialects.pinot.grammar.parser import RESERVED, parse
from trellis.dialects.pinot.grammar.tokens import ExpressionError
from trellis.dialects.pinot.grammar.tree import (
    Call,
    Column,
    Expression,
    Literal,
    arguments,
)

A, B, C = Column("a"), Column("b"), Column("c")


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("a", A),
        ('"a"', A),
        ('"x y"', Column("x y")),
        ('"a""b"', Column('a"b')),
        ("a.b.c", Column("a.b.c")),
        ('"a"."b"', Column("a.b")),
        ("$p", Column("$p")),
        ("größe", Column("größe")),
        ('"timestamp"', Column("timestamp")),
        ("year", Column("year")),
        ("'it''s'", Literal("it's")),
        ("''", Literal("")),
        ("'a\nb'", Literal("a\nb")),
        ("-- no\na", A),
        ("/* no */ a", A),
        ("7", Literal(7)),
        ("-7", Literal(-7)),
        ("- -7", Literal(7)),
        ("-9223372036854775808", Literal(-(2**63))),
        ("1.5e3", Literal(1500.0)),
        (".5", Literal(0.5)),
        ("TRUE", Literal(True)),
        ("Null", Literal(None)),
        ("now()", Call("now")),
        ("TO_DATE_TIME(a)", Call("todatetime", (A,))),
        ('"lower"(a)', Call("lower", (A,))),
        ('"minus"(a, b)', Call("minus", (A, B))),
        ("m_inus(a, b)", Call("minus", (A, B))),
        ("a -1", Call("minus", (A, Literal(1)))),
        ("a + b * c", Call("plus", (A, Call("times", (B, C))))),
        ("(a + b) * c", Call("times", (Call("plus", (A, B)), C))),
        ("a - b - c", Call("minus", (Call("minus", (A, B)), C))),
        ("a or b and not c", Call("or", (A, Call("and", (B, Call("not", (C,))))))),
        ("a and b and c", Call("and", (A, B, C))),
        ("not a = b", Call("not", (Call("equals", (A, B)),))),
        ("not (a) = b", Call("not", (Call("equals", (A, B)),))),
        ("a is null", Call("isnull", (A,))),
        ("a = b is not null", Call("isnotnull", (Call("equals", (A, B)),))),
        ("a is distinct from b", Call("isdistinctfrom", (A, B))),
        ("a <> b", Call("notequals", (A, B))),
        ("a between b and c and a", Call("and", (Call("between", (A, B, C)), A))),
        ("a not between b and c", Call("not", (Call("between", (A, B, C)),))),
        ("a not like 'x%'", Call("not", (Call("like", (A, Literal("x%"))),))),
        ("case when a then b end", Call("casewhen", (A, B, Literal(None)))),
        ("case a when b then c else a end", Call("casewhen", (Call("equals", (A, B)), C, A))),
        ("cast(a as long)", Call("cast", (A, Literal("long")))),
        ('cast(a as "LONG")', Call("cast", (A, Literal("LONG")))),
        ("cast(a as decimal(10, 2))", Call("cast", (A, Literal("decimal")))),
        ("c_ast(a, 'long')", Call("cast", (A, Literal("long")))),
        ("extract(year from a)", Call("extract", (Literal("YEAR"), A))),
        ("\"extract\"('YEAR', a)", Call("extract", (Literal("YEAR"), A))),
        ("timestamp_add(DAY, 3, a)", Call("timestampadd", (Column("DAY"), Literal(3), A))),
        ("dateAdd('DAY', 3, a)", Call("dateadd", (Literal("DAY"), Literal(3), A))),
        ("array[a, b]", Call("arrayvalueconstructor", (A, B))),
        ("Groovy({a + ' ' + b}, a, b)", Call("groovy", (Literal("a + ' ' + b"), A, B))),
        ("Groovy({ x.collect({it}) })", Call("groovy", (Literal(" x.collect({it}) "),))),
    ],
)
def test_tree_of(text: str, tree: Expression) -> None:
    assert repr(parse(text)) == repr(tree)


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("lower(a", 8, ", or ) is expected, not the end"),
        ("lower(a))", 9, "the end or an operator is expected, not ')'"),
        ("a b", 3, "the end or an operator is expected, not 'b'"),
        ("a;", 2, "the end or an operator is expected, not ';'"),
        ("", 1, "a column, a literal or a function is expected, not the end"),
        ("a +", 4, "a column, a literal or a function is expected, not the end"),
        ("a == b", 4, "a column, a literal or a function is expected, not '='"),
        ("'a", 1, "a quoted text is empty or never closed with '"),
        ('""', 1, 'a quoted name is empty or never closed with "'),
        ("a & b", 3, "unexpected '&': names with it must stand in double quotes"),
        ("timestamp", 1, 'timestamp is a reserved word: as a column it is written "timestamp"'),
        ("a in (1, 2)", 3, "Pinot has no IN in transforms and filters: write x = 1 OR x = 2"),
        ("a not in (1)", 7, "Pinot has no IN in transforms and filters"),
        ("a || b", 3, "write concat(a, b)"),
        ("a[1]", 2, "use jsonPath"),
        ("-a", 1, "Pinot takes a - only before a number: write negate(x)"),
        ("99999999999999999999", 1, "99999999999999999999 does not fit in 64 bits"),
        ("9223372036854775808", 1, "does not fit in 64 bits"),
        ("1e999", 1, "1e999 is larger than any double"),
        ("case a end", 8, "WHEN is expected, not 'end'"),
        ("a is true", 6, "NULL, NOT NULL or DISTINCT FROM is expected, not 'true'"),
        ("minus(a, b)", 1, "Pinot's SQL cannot read minus(a, b): write a - b"),
        ("extract('year', a)", 9, "a unit without quotes as in extract(YEAR FROM x) is expected, not 'year'"),
        ("cast(a, 'LONG')", 7, "AS is expected, not ','"),
        ("cast(a as 'LONG')", 11, "a type is expected, not 'LONG'"),
        ("count(*)", 7, "a column, a literal or a function is expected, not '*'"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(text: str, column: int, message: str) -> None:
    with pytest.raises(ExpressionError) as raised:
        parse(text)
    assert message in str(raised.value)
    assert raised.value.column == column


@pytest.mark.parametrize("word", sorted(RESERVED - {"case", "not"}))
def test_a_reserved_word_is_a_column_in_quotes_only(word: str) -> None:
    assert parse(f'"{word}"') == Column(word)
    with pytest.raises(ExpressionError, match="is a reserved word"):
        parse(word)


def test_arguments_are_listed_once() -> None:
    assert arguments(parse("concat(a, b, 'c') = a or d.e is null")) == {"a", "b", "d.e"}
    assert arguments(parse("Groovy({x}, a, b)")) == {"a", "b"}
    assert arguments(parse("now()")) == frozenset()


@pytest.mark.parametrize("text", ["lower({})", "({})", "not ({})", "1 + ({})", "case when ({}) then 1 end"])
def test_a_hundred_levels_are_read_and_a_million_are_refused(text: str) -> None:
    before, after = text.split("{}")
    parse(f"{before * 100}a{after * 100}")
    with pytest.raises(ExpressionError, match="the expression is nested too deep"):
        parse(f"{before * 100_000}a{after * 100_000}")


def test_a_long_chain_of_operators_is_refused_and_one_of_or_is_not() -> None:
    assert len(getattr(parse(" or ".join("a" * 5000)), "arguments", ())) == 5000
    with pytest.raises(ExpressionError, match="nested too deep: 250 levels are the most"):
        parse(" + ".join("a" * 5000))
