"""Functions of angles, in radians (spec pinot.md, section 5)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

from trellis.dialects.pinot.expression.number_functions import INFINITY, NAN, quotient
from trellis.dialects.pinot.expression.registry import Theme
from trellis.dialects.pinot.expression.take import as_double

TRIGONOMETRY: Final = Theme()


def _declare(name: str, compute: Callable[[float], float], said: str) -> None:
    @TRIGONOMETRY.function(name, as_double)
    def _of_angle(value: float) -> float:
        try:
            return compute(value)
        except ValueError:
            return NAN
        except OverflowError:
            return -INFINITY if name == "sinh" and value < 0 else INFINITY

    _of_angle.__doc__ = said


for _name, _compute, _said in (
    ("sin", math.sin, "The sine of an angle."),
    ("cos", math.cos, "The cosine of an angle."),
    ("tan", math.tan, "The tangent of an angle."),
    ("cot", lambda angle: quotient(1.0, math.tan(angle)), "The cotangent of an angle; infinite for 0."),
    ("asin", math.asin, "The angle of a sine; NaN beyond -1 and 1."),
    ("acos", math.acos, "The angle of a cosine; NaN beyond -1 and 1."),
    ("atan", math.atan, "The angle of a tangent."),
    ("sinh", math.sinh, "The hyperbolic sine."),
    ("cosh", math.cosh, "The hyperbolic cosine."),
    ("tanh", math.tanh, "The hyperbolic tangent."),
    ("degrees", math.degrees, "Radians in degrees."),
    ("radians", math.radians, "Degrees in radians."),
):
    _declare(_name, _compute, _said)


@TRIGONOMETRY.function("atan2", as_double, as_double)
def _atan2(y: float, x: float) -> float:
    """The angle of the point (x, y), counted from the x axis."""
    return math.atan2(y, x)
