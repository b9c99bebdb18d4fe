"""Which version may follow, which replaces which, and the order of versions without times."""

from __future__ import annotations

import pytest

from dialects.snowplow.families import REDSHIFT, family, types, versions
from trellis.dialects.snowplow.columns.family_table import merge_family
from trellis.dialects.snowplow.identity.keys import SchemaVer
from trellis.dialects.snowplow.versions.order import AmbiguousOrder, GapInFamily, order_by_number
from trellis.dialects.snowplow.versions.succession import Conflict, Publication, SuccessionRules
from trellis.dialects.snowplow.versions.superseding import supersede


def outcome(existing: str, version: str, rules: SuccessionRules = SuccessionRules()) -> str:  # noqa: B008
    result = rules.check(Publication(SchemaVer.parse(version)), versions(existing))
    return result.reason if isinstance(result, Conflict) else result


@pytest.mark.parametrize(
    ("existing", "version"), [("", "1-0-0"), ("1-0-0", "2-0-0"), ("1-0-0 2-0-0", "1-0-1")]
)
def test_r06_versions_that_follow(existing: str, version: str) -> None:
    assert outcome(existing, version) == "created"


@pytest.mark.parametrize(
    ("existing", "version"),
    [("", "1-2-0"), ("1-0-0", "1-0-2"), ("1-0-0", "1-2-0"), ("1-0-0 1-0-1", "4-0-0")],
)
def test_r07_versions_without_the_one_before(existing: str, version: str) -> None:
    assert outcome(existing, version) == "previous missing"


@pytest.mark.parametrize(("version", "result"), [("1-1-3", "created"), ("1-1-5", "previous missing")])
def test_r08_an_addition_follows_the_one_before(version: str, result: str) -> None:
    assert outcome("1-0-0 1-1-0 1-1-1 1-1-2", version) == result


def test_r09_an_addition_to_an_earlier_revision() -> None:
    assert outcome("1-0-0 1-1-0", "1-0-1") == "created"
    assert outcome("1-0-0 1-1-0", "1-0-1", SuccessionRules("sequential")) == "next revision exists"


def test_r10_a_version_that_exists() -> None:
    assert outcome("1-0-0", "1-0-0") == "already exists"
    assert outcome("1-0-0", "1-0-0", SuccessionRules(patches_allowed=True)) == "patched"


def test_r11_a_private_version_after_public_ones() -> None:
    private = Publication(SchemaVer(1, 0, 1), is_public=False)
    result = SuccessionRules().check(private, versions("1-0-0"), existing_public=True)
    assert result == Conflict(
        "availability conflict",
        "version 1-0-1 is private, and the versions before it are public; publish it as public",
    )


@pytest.mark.parametrize(
    ("superseded", "reason"), [("1-0-2", "superseded missing"), ("2-0-0", "superseded invalid")]
)
def test_r12_superseding_what_cannot_be(superseded: str, reason: str) -> None:
    publication = Publication(SchemaVer(1, 0, 1), supersedes=(SchemaVer.parse(superseded),))
    result = SuccessionRules().check(publication, versions("1-0-0 2-0-0"))
    assert isinstance(result, Conflict)
    assert result.reason == reason


def test_r13_superseding_goes_on() -> None:
    first, second, third = versions("1-0-0 1-1-0 1-2-0")
    superseded = supersede({}, second, [first])
    assert superseded == {first: second}
    assert supersede(superseded, third, [second]) == {first: third, second: third}


def test_a_greater_version_goes_on_superseding() -> None:
    first, second, third = versions("1-0-0 1-0-1 1-0-2")
    assert supersede({first: third}, second, [first]) == {first: third}


@pytest.mark.parametrize(
    ("existing", "version", "next_versions"),
    [
        ("1-0-0", "1-0-0", "publish 1-0-1, 1-1-0 or 2-0-0 instead"),
        ("1-0-0", "1-0-2", "publish 1-0-1 first"),
        ("1-0-0", "1-2-0", "publish 1-1-0 first"),
        ("1-0-0 1-0-1", "4-0-0", "publish 2-0-0 first"),
        ("", "1-2-0", "publish 1-0-0 first"),
    ],
)
def test_a_conflict_names_what_is_possible(existing: str, version: str, next_versions: str) -> None:
    result = SuccessionRules().check(Publication(SchemaVer.parse(version)), versions(existing))
    assert isinstance(result, Conflict)
    assert result.message.endswith(next_versions)


@pytest.mark.parametrize("listed", ["1-0-0 1-0-1 1-0-2", "1-0-0 1-1-0 1-2-0"])
def test_r14_versions_with_one_order(listed: str) -> None:
    assert order_by_number("F", reversed(versions(listed))) == versions(listed)


def test_r15_versions_with_several_orders_or_a_gap() -> None:
    with pytest.raises(AmbiguousOrder) as ambiguous:
        order_by_number("org.harbor/vessel_call/jsonschema/1", versions("1-0-0 1-0-1 1-1-0"))
    assert str(ambiguous.value) == (
        "org.harbor/vessel_call/jsonschema/1: the order of 1-0-0, 1-0-1, 1-1-0 cannot be told from their "
        "numbers, and the order of columns depends on it; write their addresses in the order of their "
        "creation into the list org.harbor/vessel_call/jsonschema/1, or sort them by number with "
        "--assume-schemaver-order"
    )
    with pytest.raises(GapInFamily) as gap:
        order_by_number("F", versions("1-0-0 1-0-2"))
    assert str(gap.value) == (
        "F: version 1-0-1 is missing, and later versions are there; add it, so that its columns are known"
    )
    listed = versions("1-0-0 1-0-1 1-1-0")
    assert order_by_number("F", reversed(listed), assume=True) == listed


def test_r16_columns_follow_the_order_of_creation() -> None:
    table = merge_family(family("1-0-0 1-0-1 1-1-0 1-2-0 1-2-1"), REDSHIFT)
    assert [column.name for column in table.columns] == (
        ["berth", "arrived_at", "cargo", "draught_m", "agent", "pilot", "tug_count"]
    )


def test_r17_types_of_the_family() -> None:
    table = merge_family(family(), REDSHIFT)
    assert [column.name for column in table.columns] == (
        ["berth", "arrived_at", "draught_m", "agent", "pilot", "cargo", "tug_count"]
    )
    assert types(table.columns) == [
        *("VARCHAR(12) NOT NULL", "TIMESTAMP", "DOUBLE PRECISION", "VARCHAR(40)"),
        *("BOOLEAN", "VARCHAR(20)", "SMALLINT"),
    ]


def test_r82_versions_that_no_data_has_count() -> None:
    documents = family("1-0-0 1-1-0 1-2-0")
    table = merge_family(documents, REDSHIFT)
    assert [column.name for column in table.columns] == (
        ["berth", "arrived_at", "draught_m", "agent", "pilot"]
    )
