"""Functions that search with patterns (spec pinot.md, section 5)."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from trellis.dialects.pinot.expression.java_pattern import compiled, replacement
from trellis.dialects.pinot.expression.registry import Theme
from trellis.dialects.pinot.expression.take import FunctionError, as_int, as_text

PATTERN: Final = Theme()


@PATTERN.function("regexpLike regexpLikeVar", as_text, as_text, as_text, optional=1)
def _regexp_like(text: str, pattern: str, flags: str = "c") -> bool:
    """Whether a part of the text matches; with the flag i upper and lower case are one."""
    return compiled(pattern, _insensitive(flags)).search(text) is not None


@PATTERN.function("like likeVar", as_text, as_text)
def _like(text: str, pattern: str) -> bool:
    """Whether the whole text matches: % stands for any text, _ for any character. Case does not count."""
    return _liked(pattern).fullmatch(text) is not None


@lru_cache(maxsize=1024)
def _liked(pattern: str) -> re.Pattern[str]:
    pieces = re.findall(r"\\[%_]|.", pattern, re.DOTALL)
    wild = {"%": ".*", "_": "."}
    said = "".join(wild.get(each) or re.escape(each[-1]) for each in pieces)
    return re.compile(said, re.IGNORECASE | re.ASCII | re.DOTALL)


@PATTERN.function("regexpExtract regexpExtractVar", as_text, as_text, as_int, as_text, optional=2)
def _regexp_extract(text: str, pattern: str, group: int = 0, default: str = "") -> str | None:
    """What a group of the first match holds, 0 being all of it; `default` where there is none."""
    found = compiled(pattern).search(text)
    return found[group] if found and 0 <= group <= len(found.groups()) else default


@PATTERN.function(
    "regexpReplace regexpReplaceVar", as_text, as_text, as_text, as_int, as_int, as_text, optional=3
)
def _regexp_replace(
    text: str, pattern: str, by: str, start: int = 0, occurrence: int = -1, flags: str = "c"
) -> str:
    """The text with matches from a place on replaced: all, or one; place and match are counted from 0."""
    known = compiled(pattern, _insensitive(flags))
    if not 0 <= start <= len(text):
        raise FunctionError(f"a place in a text of {len(text)} characters is expected, not {start}")
    try:
        instead = replacement(by)
        if occurrence < 0:
            return text[:start] + known.sub(instead, text[start:])
        for count, found in enumerate(known.finditer(text, start)):
            if count == occurrence:
                return text[: found.start()] + found.expand(instead) + text[found.end() :]
    except (re.error, IndexError) as wrong:
        raise FunctionError(
            f"the replacement {by[:80]!r} does not go with {pattern[:80]!r}: {wrong}"
        ) from None
    return text


def _insensitive(flags: str) -> bool:
    if flags not in ("i", "c"):
        raise FunctionError(f"the flag i or c is expected, not {flags[:60]!r}")
    return flags == "i"
