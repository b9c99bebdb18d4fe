"""Functions on points of the earth and of the plane.

A point is stored as Pinot serialises it: a byte, 0x80 on the earth and 0 in the plane, then longitude and
latitude, or x and y, as big-endian doubles. Lines, polygons and texts of points are not implemented.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from trellis.dialects.pinot.functions.registry import (
    Function,
    FunctionError,
    as_bytes,
    as_double,
    as_int,
    long_result,
)
from trellis.dialects.pinot.value.source_kinds import SourceKind, kind_of

_GEOGRAPHY: Final = 0x80
_STORED: Final = struct.Struct(">Bdd")
_NAN: Final = float("nan")
_FARTHEST: Final = 1e9
"""Degrees up to which the cells of h3 are those of Pinot, which takes coordinates that are no place, too."""


class Point(NamedTuple):
    on_earth: bool
    x: float
    y: float


def as_point(value: Any) -> Point:
    """A point from its bytes; what follows them does not count.

    >>> as_point("803ff00000000000004000000000000000")
    Point(on_earth=True, x=1.0, y=2.0)
    """
    data = as_bytes(value)
    if len(data) < _STORED.size or data[0] & ~_GEOGRAPHY:
        raise FunctionError(
            f"the 17 bytes of a point are expected, not {data[:20].hex()}: Trellis carries out points only"
        )
    kind, x, y = _STORED.unpack_from(data)
    return Point(kind == _GEOGRAPHY, x, y)


def point_result(point: Point) -> bytes:
    """The bytes that Pinot stores for a point."""
    return _STORED.pack(_GEOGRAPHY if point.on_earth else 0, point.x, point.y)


def as_flag(value: Any) -> bool:
    """Whether a value is 1 or true."""
    if isinstance(value, str):
        return value.lower() in ("1", "true")
    not_a_number = (SourceKind.BYTES, SourceKind.TIMESTAMP)
    if isinstance(value, Mapping | list | tuple) or kind_of(value) in not_a_number:
        raise FunctionError(f"1, 0, true or false is expected, not {value!r:.60}")
    return as_int(value) == 1


def _moved(point: Point, on_earth: bool) -> Point:
    """The point with the same coordinates on the earth or in the plane; without one of them it is empty."""
    is_empty = point.x != point.x or point.y != point.y
    return Point(on_earth, _NAN, _NAN) if is_empty else point._replace(on_earth=on_earth)


def _cell(longitude: float, latitude: float, resolution: int) -> int:
    from h3.api import basic_int

    if not (abs(longitude) <= _FARTHEST and abs(latitude) <= _FARTHEST):
        raise FunctionError(f"a longitude and a latitude are expected, not {longitude} and {latitude}")
    if not 0 <= resolution <= 15:
        raise FunctionError(f"a resolution of H3 from 0 to 15 is expected, not {resolution}")
    return int(basic_int.latlng_to_cell(latitude, longitude, resolution))


FUNCTIONS: Final[tuple[Function, ...]] = (
    Function(
        "stPoint",
        lambda x, y, on_earth=False: Point(on_earth, x, y),
        as_double,
        as_double,
        as_flag,
        optional=1,
        result=point_result,
    ),
    Function("toSphericalGeography", lambda point: _moved(point, True), as_point, result=point_result),
    Function("toGeometry", lambda point: _moved(point, False), as_point, result=point_result),
    Function("geoToH3", _cell, as_double, as_double, as_int, result=long_result, package="h3"),
    Function(
        "geoToH3",
        lambda point, resolution: _cell(point.x, point.y, resolution),
        as_point,
        as_int,
        result=long_result,
        package="h3",
    ),
)
