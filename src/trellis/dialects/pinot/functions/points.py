"""Functions on points of the earth and of the plane.

A point is stored as Pinot serialises it: a byte, 0x80 on the earth and 0 in the plane, then longitude and
latitude, or x and y, as big-endian doubles. Lines and polygons are not carried out.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Any, Final, NamedTuple

from trellis.dialects.pinot.functions.registry import (
    FunctionError,
    Theme,
    as_bytes,
    as_double,
    as_int,
    as_object,
    as_text,
    long_result,
)
from trellis.dialects.pinot.value.numbers import NotANumber, parse_double
from trellis.dialects.pinot.value.source_kinds import SourceKind, kind_of

POINTS: Final = Theme()
_GEOGRAPHY: Final = 0x80
_STORED: Final = struct.Struct(">Bdd")
_WKB: Final = struct.Struct(">BIdd")
_WKB_POINT: Final = 1
_NAN: Final = float("nan")
_WKT: Final = re.compile(
    r"\s*POINT\s*(?:(Z|M|ZM)(?=[\s(]))?\s*(?:(EMPTY)\b|\(\s*([\w.+-]+)\s+([\w.+-]+)((?:\s+[\w.+-]+){0,2})\s*\))",
    re.ASCII | re.IGNORECASE,
)
_WKT_PLACES: Final = Decimal("1E-16")
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


def _without_empty(point: Point) -> Point:
    """A point that lacks a coordinate is empty: it has none."""
    return point._replace(x=_NAN, y=_NAN) if point.x != point.x or point.y != point.y else point


POINTS.function("stPoint", as_double, as_double, result=point_result)(lambda x, y: Point(False, x, y))


@POINTS.function("stPoint", as_double, as_double, as_object, result=point_result)
def _point_on_earth(x: float, y: float, on_earth: Any) -> Point:
    """A point on the earth, at a longitude and latitude, if the third argument is 1 or true."""
    return Point(_as_flag(on_earth), x, y)


def _as_flag(value: Any) -> bool:
    if isinstance(value, str):
        return value.lower() in ("1", "true")
    if isinstance(value, Mapping | list | tuple) or kind_of(value) in (
        SourceKind.BYTES,
        SourceKind.TIMESTAMP,
    ):
        raise FunctionError(f"1, 0, true or false is expected, not {value!r:.60}")
    return as_int(value) == 1


@POINTS.function("toSphericalGeography", as_point, result=point_result)
def _to_geography(point: Point) -> Point:
    """The point on the earth with the coordinates of one in the plane."""
    return _without_empty(point)._replace(on_earth=True)


@POINTS.function("toGeometry", as_point, result=point_result)
def _to_geometry(point: Point) -> Point:
    """The point in the plane with the coordinates of one on the earth."""
    return _without_empty(point)._replace(on_earth=False)


@POINTS.function("stAsText", as_point)
def _as_wkt(point: Point) -> str:
    """The point as text such as POINT (13.4 52.5)."""
    if point.x != point.x or point.y != point.y:
        return "POINT EMPTY"
    return f"POINT ({_coordinate_text(point.x)} {_coordinate_text(point.y)})"


def _coordinate_text(value: float) -> str:
    if abs(value) == float("inf"):
        return "Inf" if value > 0 else "-Inf"
    exact = Decimal(repr(value))
    if int(exact.as_tuple().exponent) < -16:
        exact = exact.quantize(_WKT_PLACES, ROUND_HALF_EVEN)
    text = f"{exact:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


@POINTS.function("stAsBinary", as_point)
def _as_wkb(point: Point) -> bytes:
    """The point in the well-known binary form, big-endian."""
    point = _without_empty(point)
    return _WKB.pack(0, _WKB_POINT, point.x, point.y)


def _read_wkt(text: str) -> Point:
    match = _WKT.match(text)
    if match and match[2]:
        return Point(False, _NAN, _NAN)
    dimensions = 2 + len((match[1] or "") if match else "")
    count = 2 + len(match[5].split()) if match else 0
    if match and (count == dimensions or (count == 3 and not match[1])):
        try:
            return Point(False, *map(_read_coordinate, match.group(3, 4)))
        except NotANumber:
            pass
    raise FunctionError(f"a point is expected as POINT (13.4 52.5), not {text[:60]!r}")


POINTS.function("stGeomFromText", as_text, result=point_result)(_read_wkt)
POINTS.function("stGeogFromText", as_text, result=point_result)(
    lambda text: _read_wkt(text)._replace(on_earth=True)
)


def _read_coordinate(word: str) -> float:
    return _NAN if word.lower() == "nan" else parse_double(word)


def _cell(longitude: float, latitude: float, resolution: int) -> int:
    from h3.api import basic_int

    if not (abs(longitude) <= _FARTHEST and abs(latitude) <= _FARTHEST):
        raise FunctionError(f"a longitude and a latitude are expected, not {longitude} and {latitude}")
    if not 0 <= resolution <= 15:
        raise FunctionError(f"a resolution of H3 from 0 to 15 is expected, not {resolution}")
    return int(basic_int.latlng_to_cell(latitude, longitude, resolution))


POINTS.function("geoToH3", as_double, as_double, as_int, result=long_result, package="h3")(_cell)
POINTS.function("geoToH3", as_point, as_int, result=long_result, package="h3")(
    lambda point, resolution: _cell(point.x, point.y, resolution)
)
