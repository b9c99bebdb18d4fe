"""The tables of docs/snowplow-versions.md: each change is done, in each warehouse."""

from __future__ import annotations

from pathlib import Path

from dialects.snowplow.families import document, family, text
from trellis.dialects.snowplow.columns.family_table import Step, merge_family
from trellis.dialects.snowplow.columns.profiles import PROFILES
from trellis.dialects.snowplow.document.schema_document import SchemaDocument
from trellis.dialects.snowplow.kind.verdict import KindPolicy, suggest_version

PAGE = Path(__file__).parents[3] / "docs/snowplow-versions.md"
PROFILE_NAMES = ("redshift", "postgres", "duckdb", "spark")
KINDS = {"1-0-1": "ADDITION", "1-1-0": "REVISION", "2-0-0": "MODEL"}
SMALL = {"type": "integer", "maximum": 5}
LIST = {"enum": ["open", "shut"]}
CHANGES: dict[str, tuple[SchemaDocument, SchemaDocument]] = {
    change: (document("1-0-0", *old), document("1-0-1", *new))
    for change, old, new in (
        ("adds a property", ({"a": SMALL},), ({"a": SMALL, "b": SMALL},)),
        ("adds a required property", ({"a": SMALL},), ({"a": SMALL, "b": SMALL}, ["b"])),
        ("allows a longer text", ({"a": text(5)},), ({"a": text(6)},)),
        ("allows a shorter text only", ({"a": text(5)},), ({"a": text(4)},)),
        ("adds a value to an enum of several", ({"a": LIST},), ({"a": {"enum": ["open", "shut", "half"]}},)),
        (
            "adds a longer value to an enum of several",
            ({"a": LIST},),
            ({"a": {"enum": ["open", "shut", "ajar door"]}},),
        ),
        ("adds a value to an enum of one", ({"a": {"enum": ["x"]}},), ({"a": {"enum": ["x", "yz"]}},)),
        ("takes a value out of an enum", ({"a": LIST},), ({"a": {"enum": ["open"]}},)),
        ("allows a larger integer", ({"a": SMALL},), ({"a": {**SMALL, "maximum": 50_000}},)),
        (
            "allows a larger integer of the same size",
            ({"a": SMALL},),
            ({"a": {**SMALL, "maximum": 50}},),
        ),
        ("makes an integer a number", ({"a": SMALL},), ({"a": {"type": "number"}},)),
        ("makes an integer of 64 bits a number", ({"a": {"type": "integer"}},), ({"a": {"type": "number"}},)),
        ("makes a text an integer", ({"a": text(19)},), ({"a": {"type": "integer"}},)),
        ("makes an integer a text", ({"a": SMALL},), ({"a": text(19)},)),
        ("makes a property optional, or null", ({"a": SMALL}, ["a"]), ({"a": SMALL},)),
        ("makes a property required", ({"a": SMALL},), ({"a": SMALL}, ["a"])),
        ("removes an optional property", ({"a": SMALL, "b": SMALL},), ({"a": SMALL},)),
        ("removes a required property", ({"a": SMALL, "b": SMALL}, ["b"]), ({"a": SMALL},)),
    )
}
CHANGES["changes a description"] = (
    document("1-0-0", {"a": SMALL}),
    document("1-0-1", {"a": {**SMALL, "description": "other words"}}),
)


def rows_of(heading: str) -> list[list[str]]:
    """The cells of the table of the page whose first heading this is, with its headings."""
    lines = PAGE.read_text().split(f"| {heading} |")[1].split("\n\n")[0].splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [[heading, *rows[0]], *rows[2:]]


def test_the_table_of_changes() -> None:
    headings, *rows = rows_of("a later version")
    assert headings == ["a later version", "number", "Redshift", "PostgreSQL", "DuckDB", "Delta"]
    assert {change: outcomes for change, *outcomes in rows} == {
        change: [
            KINDS[str(suggest_version(new, [old], KindPolicy()).version)],
            *(outcome(merge_family([old, new], PROFILES[name]).steps[-1]) for name in PROFILE_NAMES),
        ]
        for change, (old, new) in CHANGES.items()
    }


def outcome(step: Step) -> str:
    """What a schema does to the table, in the words of the page."""
    if step.breaks:
        return "table of its own"
    changes = {"column added": step.added, "column widened": step.widened, "NOT NULL dropped": step.released}
    return ", ".join(change for change, columns in changes.items() if columns) or "nothing to do"


def test_seed_s50_the_table_of_the_order() -> None:
    """The family F, version by version."""
    _, *rows = rows_of("created")
    documents = family()
    assert [(number, version, columns) for number, version, _, columns in rows] == [
        (
            str(count),
            str(documents[count - 1].key.version),
            ", ".join(
                column.name for column in merge_family(documents[:count], PROFILES["redshift"]).columns
            ),
        )
        for count in range(1, 6)
    ]
