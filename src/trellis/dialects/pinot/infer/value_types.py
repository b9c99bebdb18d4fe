"""The type that holds every value at a path."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from trellis.dialects.pinot.document.types import MAX_LENGTH, PinotType
from trellis.dialects.pinot.infer.observations import PathEvidence, ScalarStatistics
from trellis.dialects.pinot.value.source_kinds import INT_MAX, INT_MIN

INT_HEADROOM: Final = INT_MAX // 4
"""LONG is proposed for whole numbers beyond this one, which come close to the end of INT."""
NUMBERS: Final = frozenset(("int", "integer beyond 64 bits", "float", "decimal"))
CONTAINERS: Final = frozenset(("array", "object"))


@dataclass(frozen=True)
class ValueType:
    """A type, whether it has one value, and the reason. Without a type there is nothing to store.

    `values` are the statistics it rests on. `quotes`: texts look like JSON and have to be quoted.
    """

    data_type: PinotType | None
    why: str
    values: ScalarStatistics
    single: bool = True
    lints: tuple[str, ...] = ()
    quotes: bool = False


def value_type_of(evidence: PathEvidence) -> ValueType:
    """The type for the values of a path. Objects are JSON here; `nesting` may choose another."""
    kinds, items = evidence.kinds, evidence.items
    if not kinds:
        return ValueType(None, "only nulls", evidence.values)
    if "array" not in kinds:
        if kinds == {"object"} and not evidence.keys:
            return ValueType(None, "only empty objects", evidence.values)
        if "object" in kinds:
            return _json_type(evidence, "objects" if kinds == {"object"} else f"{_listed(kinds)} are mixed")
        return scalar(evidence.values, evidence.declared)
    inside = items.kinds if items is not None else frozenset()
    if kinds == {"array"} and not inside:
        return ValueType(None, "only empty lists", evidence.values)
    if "object" in kinds or inside & CONTAINERS:
        if kinds == {"array"}:
            nested = inside & CONTAINERS
            reason = "lists of objects" if nested == {"object"} else "lists of lists"
            return _json_type(evidence, reason if len(inside) == 1 else "lists of mixed values")
        return _json_type(evidence, f"{_listed(kinds)} are mixed")
    return _list_type(evidence, items or PathEvidence())


def _list_type(evidence: PathEvidence, items: PathEvidence) -> ValueType:
    values = ScalarStatistics()
    values.merge(items.values)
    values.merge(_without_lists(evidence.values))
    element_type = scalar(values)
    data_type, why = element_type.data_type, f"lists of {element_type.why}"
    if why.startswith("lists of always"):
        why = f"lists, {element_type.why}"
    if data_type is PinotType.BIG_DECIMAL:
        data_type, why = PinotType.STRING, f"{why}, as text"
    if data_type is PinotType.JSON:
        data_type = PinotType.STRING
    lints = list(element_type.lints)
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
    return ValueType(data_type, why, values, False, tuple(lints))


def scalar(values: ScalarStatistics, declared: PinotType | None = None) -> ValueType:
    """The type of values that are neither lists nor objects; `declared` is that of a source with types."""
    kinds = frozenset(kind for kind, count in values.kinds.items() if count and kind != "null")
    if "time" in kinds or "unknown" in kinds:
        return ValueType(None, "times of day, which Pinot does not have: convert them to text", values)
    if len(kinds) > 1 and not kinds <= NUMBERS:
        lint = f"{_listed(kinds)} are mixed: all become text"
        return ValueType(
            PinotType.STRING, f"{_listed(kinds)} are mixed", values, lints=(lint, *_text_lints(values))
        )
    if kinds <= NUMBERS:
        return _declared_type(values, kinds, declared) or _number_type(values, kinds)
    (kind,) = kinds
    if kind == "string":
        return _text_type(values)
    data_type, why = _PLAIN[kind]
    lints = (
        (counted(values.fine, "time loses", "times lose") + " what is finer than a millisecond",)
        if values.fine
        else ()
    )
    return ValueType(data_type, why, values, lints=lints)


def _declared_type(
    values: ScalarStatistics, kinds: frozenset[str], declared: PinotType | None
) -> ValueType | None:
    if declared is PinotType.LONG and kinds == {"int"}:
        return ValueType(declared, "whole numbers of 64 bits", values)
    if declared is PinotType.FLOAT and kinds == {"float"}:
        return ValueType(declared, "fractions of 32 bits", values, lints=_finite_lints(values))
    return None


def _finite_lints(values: ScalarStatistics) -> tuple[str, ...]:
    if not values.not_finite:
        return ()
    return (counted(values.not_finite, "value is", "values are") + " NaN or infinite: NaN becomes null",)


def _number_type(values: ScalarStatistics, kinds: frozenset[str]) -> ValueType:
    lints = _finite_lints(values)
    if kinds == {"int"}:
        return _integer_type(values)
    if "integer beyond 64 bits" in kinds:
        if values.not_finite:
            return ValueType(PinotType.STRING, "numbers beyond LONG and NaN", values, lints=lints)
        lints = ("numbers beyond LONG",)
        return ValueType(PinotType.BIG_DECIMAL, "numbers beyond LONG", values, lints=lints)
    if "decimal" in kinds:
        return ValueType(PinotType.BIG_DECIMAL, "decimals", values, lints=lints)
    if not values.exact:
        data_type = PinotType.STRING if values.not_finite else PinotType.BIG_DECIMAL
        return ValueType(data_type, "fractions and whole numbers beyond 2^53", values, lints=lints)
    return ValueType(
        PinotType.DOUBLE,
        "fractions" if kinds == {"float"} else "whole numbers and fractions",
        values,
        lints=lints,
    )


def _integer_type(values: ScalarStatistics) -> ValueType:
    least, most = values.least or 0, values.most or 0
    if least >= INT_MIN and most <= INT_MAX:
        if least >= -INT_HEADROOM and most <= INT_HEADROOM:
            why = f"always {least:,}" if least == most else f"whole numbers {least:,} to {most:,}"
            return ValueType(PinotType.INT, why, values)
        return ValueType(PinotType.LONG, f"up to {max(most, -least):,}, near the end of INT", values)
    return ValueType(PinotType.LONG, f"up to {max(most, -least):,}", values)


def _text_type(values: ScalarStatistics) -> ValueType:
    texts = values.texts
    assert texts is not None
    if texts.documents and not texts.nuls:
        return ValueType(PinotType.JSON, "texts that are JSON", values)
    why = f"text of up to {texts.longest:,} characters" if texts.longest > MAX_LENGTH else "text"
    return ValueType(PinotType.STRING, why, values, lints=tuple(_text_lints(values)))


def _text_lints(values: ScalarStatistics) -> Iterator[str]:
    if values.texts is not None and values.texts.nuls:
        yield counted(values.texts.nuls, "text holds", "texts hold") + " a null character: Pinot cuts there"


def _json_type(evidence: PathEvidence, why: str) -> ValueType:
    """Texts mixed with objects or lists may look like JSON: then they have to be quoted."""
    texts = evidence.values.texts
    quotes = texts is not None and texts.like_json
    lints = (f"{why}: all become JSON",) if "mixed" in why else ()
    return ValueType(PinotType.JSON, why, evidence.values, lints=lints, quotes=quotes)


def _without_lists(values: ScalarStatistics) -> ScalarStatistics:
    kept = ScalarStatistics()
    kept.merge(values)
    kept.kinds["array"] = 0
    return kept


def counted(number: int, element_type: str, more: str) -> str:
    """
    >>> counted(1, "list is", "lists are"), counted(2000, "list is", "lists are")
    ('1 list is', '2,000 lists are')
    """
    return f"{number:,} {element_type if number == 1 else more}"


def _listed(kinds: frozenset[str]) -> str:
    """
    >>> _listed(frozenset({"int", "string", "array"}))
    'lists, text and whole numbers'
    """
    names = sorted(KIND_NAMES.get(kind, kind) for kind in kinds)
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]


KIND_NAMES: Final = {
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
