"""The differences that are known: which one a difference is, and what it explains.

`tests/dialects/dlt/differences.txt` lists them: number | name of the function here | reason.
A function is asked of one difference and answers with what it explains: columns of tables, a whole table
(column ""), the order of the columns of one (column ORDER), all of the stream (ALL); nothing where the
difference is not of its kind.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from dialects.dlt.against_dlt.compare import ALL, FLAGGED, ORDER, ORPHANS, Difference, Hidden, differences
from dialects.dlt.against_dlt.hunt import Found
from dialects.dlt.against_dlt.streams import PROFILES, has_lists_under_blank_keys, has_nested_ids, parts

LIST = Path(__file__).parent.parent / "differences.txt"
LINKS = ("_dlt_parent_id", "_dlt_list_idx")
ENTITIES = ("tables", "columns", "data_type")
NOTHING: Hidden = frozenset()
EVERYTHING: Hidden = frozenset({ALL})


class Entry(NamedTuple):
    number: str
    recogniser: str
    reason: str


def entries() -> list[Entry]:
    """The list, line by line."""
    lines = [line for line in LIST.read_text().splitlines() if line.strip() and not line.startswith("#")]
    return [Entry(*(part.strip() for part in line.split("|", 2))) for line in lines]


def unexplained(comparison: Found, way: str) -> tuple[list[Difference], set[str]]:
    """The differences that no entry explains, and the numbers of the entries that explain the others."""
    hidden, used = NOTHING, set()
    rules = [(entry.number, RECOGNISERS[entry.recogniser]) for entry in entries()]
    left = list(comparison.differences[way])
    while left:
        more = NOTHING
        for one in left:
            for number, rule in rules:
                if explained := rule(comparison, way, one):
                    used.add(number)
                    more |= explained
        if not more - hidden:
            return left, used
        hidden |= more
        if ALL in hidden:
            return [], used
        left = [*differences(comparison.pictures["dlt"], comparison.pictures[way], hidden)]
    return [], used


# --- What a stream asks for ------------------------------------------------------------------------------


def contracts(comparison: Found) -> list[Mapping[str, str]]:
    """The contracts that hold in the loads of a stream, with all three entities."""
    contracts_by_load = []
    for load in comparison.stream.loads:
        contract = load.options.get(
            "contract", PROFILES[comparison.stream.profile].get("schema_contract", "evolve")
        )
        contracts_by_load.append(
            dict.fromkeys(ENTITIES, contract)
            if isinstance(contract, str)
            else {entity: contract.get(entity, "evolve") for entity in ENTITIES}
        )
    return contracts_by_load


def modes(comparison: Found, *entities: str) -> set[str]:
    return {contract[entity] for contract in contracts(comparison) for entity in entities}


def error(comparison: Found, way: str = "dlt") -> str:
    return comparison.errors.get(way, "")


def nested(comparison: Found, table: str) -> bool:
    """Whether a table is below the root table of a stream."""
    for picture in comparison.pictures.values():
        if (known := picture.schema.get(table)) is not None and known.get("parent"):
            return True
    return False


def below(comparison: Found, table: str) -> Hidden:
    """A table and all tables below it."""
    names = {name for picture in comparison.pictures.values() for name in (*picture.schema, *picture.stored)}
    return frozenset((name, "") for name in names if name == table or name.startswith(f"{table}__"))


def column(one: Difference) -> Hidden:
    return frozenset({(one.table, one.column)}) if one.column else NOTHING


def values(comparison: Found) -> Collection[Any]:
    """All values of all items."""
    return [value for value in parts(comparison.stream) if not isinstance(value, (dict, list, tuple))]


# --- The recognisers -------------------------------------------------------------------------------------


def epochs_of_years_ago(comparison: Found, way: str, one: Difference) -> Hidden:
    if "timestamp" not in PROFILES[comparison.stream.profile].get("detections", ()):
        return NOTHING
    return column(one) if _types(one) in {("timestamp", "bigint"), ("timestamp", "double")} else NOTHING


def frozen_children(comparison: Found, way: str, one: Difference) -> Hidden:
    if modes(comparison, "columns") == {"evolve"}:
        return NOTHING
    if one.sort == "outcome":
        match = re.search(r"Contract on `columns`.*?table `([^`]*)`", error(comparison))
        later = one.ours is None or one.ours[:6] > one.theirs[:6]
        return EVERYTHING if match and nested(comparison, match[1]) and later else NOTHING
    return below(comparison, one.table) if nested(comparison, one.table) else NOTHING


def own_nested_ids(comparison: Found, way: str, one: Difference) -> Hidden:
    if not has_nested_ids(comparison.stream):
        return NOTHING
    lacking = any(f".{name}" in error(comparison) for name in LINKS)
    if one.sort == "outcome":
        return EVERYTHING if lacking and one.ours is None else NOTHING
    if one.column in LINKS:
        return column(one)
    if one.sort == "column order":
        return frozenset({(one.table, ORDER)})
    return EVERYTHING if one.sort in ("trees", "orphans") else NOTHING


def retyped_variant(comparison: Found, way: str, one: Difference) -> Hidden:
    if one.sort == "outcome":  # the next text is no time, and a variant has no variant
        match = re.search(
            r"Cannot coerce type `text` to `(timestamp|date)`.* column `.*v_text`", error(comparison)
        )
        return EVERYTHING if match and one.ours is None else NOTHING
    suffix = re.split("(?:__|▶)v_", one.column)[-1]
    if suffix == one.column:
        return NOTHING
    theirs, ours = _types(one)
    return column(one) if theirs not in (None, ours) and ours == suffix else NOTHING


def flagged_without_match(comparison: Found, way: str, one: Difference) -> Hidden:
    options_by_load = [load.options for load in comparison.stream.loads]
    flagged = any(
        (options.get("columns") or {}).get("gone") and options.get("strategy") == "upsert"
        for options in options_by_load
    )
    return frozenset({FLAGGED}) if flagged and one.sort in ("rows", "values", "trees", "row ids") else NOTHING


def aware_time(comparison: Found, way: str, one: Difference) -> Hidden:
    shown = f"{one.theirs}{one.ours}"
    aware = any(getattr(value, "tzinfo", None) and not hasattr(value, "date") for value in values(comparison))
    return column(one) if aware and one.sort == "values" and "'time " in shown else NOTHING


def dropped_row(comparison: Found, way: str, one: Difference) -> Hidden:
    if "discard_row" not in modes(comparison, "columns", "data_type"):
        return NOTHING
    if one.sort == "column order":
        return frozenset({(one.table, ORDER)})
    if one.sort in ("schema table", "table") and one.ours in (None, False):
        return below(comparison, one.table)
    if one.sort in ("rows", "trees"):  # a row more or less because a column has another type
        types = any(difference.sort == "schema column" for difference in comparison.differences[way])
        return EVERYTHING if types else NOTHING
    return column(one) if one.sort in ("schema column", "type", "values") else NOTHING


def namesake_of_a_variant(comparison: Found, way: str, one: Difference) -> Hidden:
    if one.sort != "outcome" or "the column of its values that do not fit" not in error(comparison, way):
        return NOTHING
    return EVERYTHING if one.theirs is None or one.theirs[:6] > one.ours[:6] else NOTHING


def detected_without_coercion(comparison: Found, way: str, one: Difference) -> Hidden:
    fails = "No cross-type coercion: cannot convert" in error(comparison)
    return EVERYTHING if one.sort == "outcome" and one.ours is None and fails else NOTHING


def wide_integer(comparison: Found, way: str, one: Difference) -> Hidden:
    signs = (
        "Integer exceeds 64-bit range",
        "out of range for the destination type INT",
        "Could not cast value",
    )
    wide = any(sign in error(comparison) for sign in signs)
    return EVERYTHING if one.sort == "outcome" and one.ours is None and wide else NOTHING


def large_double_in_a_bigint(comparison: Found, way: str, one: Difference) -> Hidden:
    large = any(
        isinstance(value, float) and 2.0**63 <= abs(value) < float("inf") for value in values(comparison)
    )
    if not large:
        return NOTHING
    if "v_double" in one.column and (
        one.theirs is None or (one.sort == "values" and {*one.theirs} == {"None"})
    ):
        return column(one) | {(one.table, ORDER)}
    lost = one.sort == "values" and isinstance(one.theirs, dict) and {*one.theirs} <= {"0", "None"}
    return column(one) if lost and {*one.ours} == {"None"} else NOTHING


def decimal_by_way_of_double(comparison: Found, way: str, one: Difference) -> Hidden:
    if one.sort != "values" or not (isinstance(one.theirs, dict) and isinstance(one.ours, dict)):
        return NOTHING
    if not all("Decimal " in text for text in (*one.theirs, *one.ours)):
        return NOTHING
    theirs, ours = (
        sorted(float(text.strip("'").removeprefix("Decimal ")) for text in side)
        for side in (one.theirs, one.ours)
    )
    return column(one) if theirs == ours else NOTHING


def moment_beyond_the_clock(comparison: Found, way: str, one: Difference) -> Hidden:
    signs = ("OSError: [Errno 75]", "year is out of range", "OverflowError", "out of range for platform")
    beyond = ", normalize: " in error(comparison) and any(sign in error(comparison) for sign in signs)
    return EVERYTHING if one.sort == "outcome" and one.ours is None and beyond else NOTHING


def sign_of_zero(comparison: Found, way: str, one: Difference) -> Hidden:
    if one.sort != "values" or not (isinstance(one.theirs, dict) and isinstance(one.ours, dict)):
        return NOTHING
    unsigned = {key.replace("double -0.0", "double 0.0"): count for key, count in one.ours.items()}
    return column(one) if unsigned == one.theirs else NOTHING


def not_finite(comparison: Found, way: str, one: Difference) -> Hidden:
    if one.sort == "outcome":  # its statements hold nan as it is, which DuckDB takes for a column
        unread = any(f'column "{word}" was not found' in error(comparison) for word in ("nan", "inf"))
        return EVERYTHING if unread and one.ours is None else NOTHING
    odd = [value for value in values(comparison) if isinstance(value, float) and value - value != 0.0]
    return column(one) if odd and one.sort in ("schema column", "type", "values") else NOTHING


def skipped_root(comparison: Found, way: str, one: Difference) -> Hidden:
    inserts = any(load.options.get("strategy") == "insert-only" for load in comparison.stream.loads)
    if not inserts or one.sort not in ("rows", "values", "trees"):
        return NOTHING
    return frozenset({ORPHANS}) if nested(comparison, one.table) or one.sort == "trees" else NOTHING


def fraction_of_wei(comparison: Found, way: str, one: Difference) -> Hidden:
    if not one.column.endswith("v_double") or one.theirs is not None or one.sort != "schema column":
        return NOTHING
    base = re.sub("(__|▶)v_double$", "", one.column)
    known = comparison.pictures[way].schema[one.table]["columns"].get(base, {})
    wei = known.get("data_type") == "wei"
    return frozenset({(one.table, one.column), (one.table, base)}) if wei else NOTHING


def limit_lost_to_a_marker(comparison: Found, way: str, one: Difference) -> Hidden:
    limited = any("max_nesting" in load.options for load in comparison.stream.loads)
    held = modes(comparison, "columns") != {"evolve"}
    return EVERYTHING if limited and held and one.sort == "table hint x-normalizer" else NOTHING


def text_inside_json(comparison: Found, way: str, one: Difference) -> Hidden:
    malformed = "Malformed JSON at byte" in error(comparison)
    return EVERYTHING if malformed and one.sort == "outcome" and one.ours is None else NOTHING


def unfit_file_name(comparison: Found, way: str, one: Difference) -> Hidden:
    unfit = any(sign in error(comparison) for sign in ("File name too long", "InvalidCharError"))
    return EVERYTHING if unfit and one.sort == "outcome" and one.ours is None else NOTHING


def list_under_a_blank_key(comparison: Found, way: str, one: Difference) -> Hidden:
    return EVERYTHING if has_lists_under_blank_keys(comparison.stream) else NOTHING


def schema_stored_again(comparison: Found, way: str, one: Difference) -> Hidden:
    modes = [load.options.get("mode") for load in comparison.stream.loads]
    back = modes[-1] in modes[:-1] and modes[-1] != modes[-2]
    return EVERYTHING if back and one.sort == "table hint write_disposition" else NOTHING


def numbers_as_written(comparison: Found, way: str, one: Difference) -> Hidden:
    base = one.column.removesuffix("__v_text")
    if one.sort == "schema column" and "1e400" in values(comparison) and _types(one) == (None, "json"):
        return frozenset({(one.table, base), (one.table, f"{base}__v_text"), (one.table, ORDER)})
    if one.sort != "values" or not (isinstance(one.theirs, dict) and isinstance(one.ours, dict)):
        return NOTHING
    theirs, ours = ([_read(text) for text in texts] for texts in (one.theirs, one.ours))
    return column(one) if theirs == ours and None not in theirs else NOTHING


def _read(text: str) -> str | None:
    """The shown text of a JSON value, written anew."""
    try:
        return json.dumps(json.loads(ast.literal_eval(text)))
    except (ValueError, TypeError, SyntaxError):
        return None


def _types(one: Difference) -> tuple[str | None, str | None]:
    """The data types of a column there and here."""
    if one.sort != "schema column":
        return None, None
    theirs, ours = (side or {} for side in (one.theirs, one.ours))
    return theirs.get("data_type"), ours.get("data_type")


Recogniser = Callable[[Found, str, Difference], Hidden]
RECOGNISERS: Mapping[str, Recogniser] = {
    side.__name__: side
    for side in (
        epochs_of_years_ago,
        frozen_children,
        own_nested_ids,
        retyped_variant,
        flagged_without_match,
        skipped_root,
        aware_time,
        dropped_row,
        namesake_of_a_variant,
        detected_without_coercion,
        wide_integer,
        moment_beyond_the_clock,
        sign_of_zero,
        not_finite,
        large_double_in_a_bigint,
        decimal_by_way_of_double,
        fraction_of_wei,
        limit_lost_to_a_marker,
        list_under_a_blank_key,
        numbers_as_written,
        schema_stored_again,
        unfit_file_name,
        text_inside_json,
    )
}
