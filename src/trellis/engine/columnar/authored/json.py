"""Objects that Arrow has read -> their JSON text, all at once, where the text is certain."""

from __future__ import annotations

from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from trellis.engine.text import to_json

_ESCAPED: Final = r'["\\\\\x00-\x1f]'


def object_text(array: pa.Array, complete: bool = False) -> pa.Array | None:
    """The texts with sorted keys; None where a key may be missing, or a value has several forms.

    `complete`: every object has every key, so that a null is one.
    """
    if not array.null_count:
        return _objects(array, complete)
    texts = _objects(array.drop_null(), complete)
    if texts is None:
        return None
    return pc.replace_with_mask(pa.nulls(len(array), pa.string()), array.is_valid(), texts)


def _objects(array: pa.Array, complete: bool) -> pa.Array | None:
    fields = sorted(zip((field.name for field in array.type), array.flatten(), strict=True), key=_by_units)
    parts: list[pa.Array | str] = []
    for name, values in fields:
        text = _value(values, complete) if complete or not values.null_count else None
        if text is None or not name.isprintable():
            return None
        parts += [f"{',' if parts else ''}{to_json(name)}:", pc.fill_null(text, "null")]
    return pc.binary_join_element_wise("{", *parts, "}", "") if parts else None


def _by_units(field: tuple[str, pa.Array]) -> bytes:
    return field[0].encode("utf-16-be", "surrogatepass")


def _value(values: pa.Array, complete: bool) -> pa.Array | None:
    if pa.types.is_struct(values.type):
        return object_text(values, complete)
    if pa.types.is_integer(values.type) or pa.types.is_boolean(values.type) or pa.types.is_null(values.type):
        return values.cast(pa.string())
    if not pa.types.is_string(values.type) or pc.any(pc.match_substring_regex(values, _ESCAPED)).as_py():
        return None
    return pc.binary_join_element_wise('"', values, '"', "")
