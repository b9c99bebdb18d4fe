"""Functions that search with patterns."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from trellis.dialects.pinot.functions.arguments import FunctionError, as_int, as_text
from trellis.dialects.pinot.functions.registry import Theme
from trellis.dialects.pinot.functions.text.java_regex import compile_pattern, python_replacement

PATTERNS: Final = Theme()


@PATTERNS.function("regexpLike", as_text, as_text, as_text, optional=1)
def _regexp_like(text: str, pattern: str, flags: str = "c") -> bool:
    """Whether a part of the text matches; with the flag i upper and lower case are one."""
    return compile_pattern(pattern, _ignores_case(flags)).search(text) is not None


@PATTERNS.function("like", as_text, as_text)
def _like(text: str, pattern: str) -> bool:
    """Whether the whole text matches: % stands for any text, _ for any character. Case does not count."""
    return _compile_like(pattern).fullmatch(text) is not None


@lru_cache(maxsize=1024)
def _compile_like(pattern: str) -> re.Pattern[str]:
    pieces = re.findall(r"\\[%_]|.", pattern, re.DOTALL)
    wildcards = {"%": ".*", "_": "."}
    python = "".join(wildcards.get(piece) or re.escape(piece[-1]) for piece in pieces)
    return re.compile(python, re.IGNORECASE | re.ASCII | re.DOTALL)


@PATTERNS.function("regexpExtract", as_text, as_text, as_int, as_text, optional=2)
def _regexp_extract(text: str, pattern: str, group: int = 0, default: str = "") -> str | None:
    """What a group of the first match holds, 0 being all of it; `default` where there is none."""
    match = compile_pattern(pattern).search(text)
    return match[group] if match and 0 <= group <= len(match.groups()) else default


@PATTERNS.function("regexpReplace", as_text, as_text, as_text, as_int, as_int, as_text, optional=3)
def _regexp_replace(
    text: str, pattern: str, replacement: str, start: int = 0, occurrence: int = -1, flags: str = "c"
) -> str:
    """The text with matches from a place on replaced: all, or one; place and match are counted from 0."""
    compiled = compile_pattern(pattern, _ignores_case(flags))
    if not 0 <= start <= len(text):
        raise FunctionError(f"a place in a text of {len(text)} characters is expected, not {start}")
    try:
        template = python_replacement(replacement)
        if occurrence < 0:
            return text[:start] + compiled.sub(template, text[start:])
        for count, match in enumerate(compiled.finditer(text, start)):
            if count == occurrence:
                return text[: match.start()] + match.expand(template) + text[match.end() :]
    except (re.error, IndexError) as error:
        raise FunctionError(
            f"the replacement {replacement[:80]!r} does not go with {pattern[:80]!r}: {error}"
        ) from None
    return text


def _ignores_case(flags: str) -> bool:
    if flags not in ("i", "c"):
        raise FunctionError(f"the flag i or c is expected, not {flags[:60]!r}")
    return flags == "i"
