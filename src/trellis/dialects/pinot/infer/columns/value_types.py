"""The type that holds every value at a path."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from trellis.dialects.pinot.document.types import MAX_LENGTH, PinotType
from trellis.dialects.pinot.infer.evidence.observations import Evidence, Scalars
from trellis.dialects.pinot.value.source_kinds import INT_MAX, INT_MIN

ROOM: Final = INT_MAX // 4
"""A whole number beyond this one is near enough to the end of INT that LONG is proposed."""
NUMBERS: Final = frozenset(("int", "integer beyond 64 bits", "float", "decimal"))
CONTAINERS: Final = frozenset(("array", "object"))


@dataclass(frozen=True)
class Held:
    """A type, whether it is of one value, and why. No type: there is nothing to hold.

    `values` are the scalars that it was found by. `quotes`: texts would be taken for the JSON they look like.
    """

    data_type: PinotType | None
    why: str
    values: Scalars
    single: bool = True
    lints: tuple[str, ...] = ()
    quotes: bool = False


def held(evidence: Evidence) -> Held:
    """How a column holds what stands at a path. Objects are JSON here; `nesting` may know better."""
    kinds, items = evidence.kinds, evidence.items
    if not kinds:
        return Held(None, "only nulls", evidence.values)
    if "array" not in kinds:
        if kinds == {"object"} and not evidence.keys:
            return Held(None, "only empty objects", evidence.values)
        if "object" in kinds:
            return _json(evidence, "objects" if kinds == {"object"} else f"{_listed(kinds)} are mixed")
        return scalar(evidence.values, evidence.declared)
    inside = items.kinds if items is not None else frozenset()
    if kinds == {"array"} and not inside:
        return Held(None, "only empty lists", evidence.values)
    if "object" in kinds or inside & CONTAINERS:
        if kinds == {"array"}:
            nested = inside & CONTAINERS
            what = "lists of objects" if nested == {"object"} else "lists of lists"
            return _json(evidence, what if len(inside) == 1 else "lists of mixed values")
        return _json(evidence, f"{_listed(kinds)} are mixed")
    return _several(evidence, items or Evidence())


def _several(evidence: Evidence, items: Evidence) -> Held:
    values = Scalars()
    values.merge(items.values)
    values.merge(_without_lists(evidence.values))
    one = scalar(values)
    data_type, why = one.data_type, f"lists of {one.why}"
    if why.startswith("lists of always"):
        why = f"lists, {one.why}"
    if data_type is PinotType.BIG_DECIMAL:
        data_type, why = PinotType.STRING, f"{why}, as text"
    if data_type is PinotType.JSON:
        data_type = PinotType.STRING
    lints = list(one.lints)
    if len(evidence.kinds) > 1:
        lints.append(f"{_listed(evidence.kinds)} are mixed: a single value becomes a list of one")
    if evidence.values.empty_lists:
        lints.append(
            counted(evidence.values.empty_lists, "empty list becomes null", "empty lists become null")
        )
    if items.values.kinds["null"]:
        lints.append(
            counted(
                items.values.kinds["null"], "null inside lists is left out", "nulls inside lists are left out"
            )
        )
    return Held(data_type, why, values, False, tuple(lints))


def scalar(values: Scalars, declared: PinotType | None = None) -> Held:
    """The type of values that are neither lists nor objects; `declared` is that of a source with types."""
    kinds = frozenset(kind for kind, count in values.kinds.items() if count and kind != "null")
    if "time" in kinds or "unknown" in kinds:
        return Held(None, "times of day, which Pinot has not: make them text", values)
    if len(kinds) > 1 and not kinds <= NUMBERS:
        lint = f"{_listed(kinds)} are mixed: all become text"
        return Held(
            PinotType.STRING, f"{_listed(kinds)} are mixed", values, lints=(lint, *_text_lints(values))
        )
    if kinds <= NUMBERS:
        return _declared(values, kinds, declared) or _number(values, kinds)
    (kind,) = kinds
    if kind == "string":
        return _text(values)
    data_type, why = _PLAIN[kind]
    lints = (
        (counted(values.fine, "time loses", "times lose") + " what is finer than a millisecond",)
        if values.fine
        else ()
    )
    return Held(data_type, why, values, lints=lints)


def _declared(values: Scalars, kinds: frozenset[str], declared: PinotType | None) -> Held | None:
    if declared is PinotType.LONG and kinds == {"int"}:
        return Held(declared, "whole numbers of 64 bits", values)
    if declared is PinotType.FLOAT and kinds == {"float"}:
        return Held(declared, "fractions of 32 bits", values, lints=_finite_lints(values))
    return None


def _finite_lints(values: Scalars) -> tuple[str, ...]:
    if not values.not_finite:
        return ()
    return (counted(values.not_finite, "value is", "values are") + " NaN or infinite: NaN becomes null",)


def _number(values: Scalars, kinds: frozenset[str]) -> Held:
    lints = _finite_lints(values)
    if kinds == {"int"}:
        return _whole(values)
    if "integer beyond 64 bits" in kinds:
        if values.not_finite:
            return Held(PinotType.STRING, "numbers beyond LONG and NaN", values, lints=lints)
        lints = ("numbers beyond LONG",)
        return Held(PinotType.BIG_DECIMAL, "numbers beyond LONG", values, lints=lints)
    if "decimal" in kinds:
        return Held(PinotType.BIG_DECIMAL, "decimals", values, lints=lints)
    if not values.exact:
        data_type = PinotType.STRING if values.not_finite else PinotType.BIG_DECIMAL
        return Held(data_type, "fractions and whole numbers beyond 2^53", values, lints=lints)
    return Held(
        PinotType.DOUBLE,
        "fractions" if kinds == {"float"} else "whole numbers and fractions",
        values,
        lints=lints,
    )


def _whole(values: Scalars) -> Held:
    least, most = values.least or 0, values.most or 0
    if least >= INT_MIN and most <= INT_MAX:
        if least >= -ROOM and most <= ROOM:
            why = f"always {least:,}" if least == most else f"whole numbers {least:,} to {most:,}"
            return Held(PinotType.INT, why, values)
        return Held(PinotType.LONG, f"up to {max(most, -least):,}, near the end of INT", values)
    return Held(PinotType.LONG, f"up to {max(most, -least):,}", values)


def _text(values: Scalars) -> Held:
    texts = values.texts
    assert texts is not None
    if texts.documents and not texts.nuls:
        return Held(PinotType.JSON, "texts that are JSON", values)
    why = f"text of up to {texts.longest:,} characters" if texts.longest > MAX_LENGTH else "text"
    return Held(PinotType.STRING, why, values, lints=tuple(_text_lints(values)))


def _text_lints(values: Scalars) -> Iterator[str]:
    if values.texts is not None and values.texts.nuls:
        yield counted(values.texts.nuls, "text holds", "texts hold") + " a null character: Pinot cuts there"


def _json(evidence: Evidence, why: str) -> Held:
    """Texts beside objects or lists may look like JSON: then they have to be quoted on their way."""
    texts = evidence.values.texts
    quotes = texts is not None and texts.like_json
    lints = (f"{why}: all become JSON",) if "mixed" in why else ()
    return Held(PinotType.JSON, why, evidence.values, lints=lints, quotes=quotes)


def _without_lists(values: Scalars) -> Scalars:
    kept = Scalars()
    kept.merge(values)
    kept.kinds["array"] = 0
    return kept


def counted(number: int, one: str, more: str) -> str:
    """
    >>> counted(1, "list is", "lists are"), counted(2000, "list is", "lists are")
    ('1 list is', '2,000 lists are')
    """
    return f"{number:,} {one if number == 1 else more}"


def _listed(kinds: frozenset[str]) -> str:
    """
    >>> _listed(frozenset({"int", "string", "array"}))
    'lists, text and whole numbers'
    """
    said = sorted(SAID.get(kind, kind) for kind in kinds)
    return f"{', '.join(said[:-1])} and {said[-1]}" if len(said) > 1 else said[0]


SAID: Final = {
    "bool": "booleans",
    "int": "whole numbers",
    "integer beyond 64 bits": "numbers beyond LONG",
    "float": "fractions",
    "decimal": "decimals",
    "string": "text",
    "timestamp": "timestamps",
    "date": "dates",
    "binary": "bytes",
    "array": "lists",
    "object": "objects",
}
_PLAIN: Final = {
    "bool": (PinotType.BOOLEAN, "true or false"),
    "timestamp": (PinotType.TIMESTAMP, "timestamps"),
    "date": (PinotType.STRING, "dates"),
    "binary": (PinotType.BYTES, "bytes"),
}
