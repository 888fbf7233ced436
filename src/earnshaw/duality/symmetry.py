"""How a unit c s(x.w) can be rewritten: what a network's function does not tell about its units.

Three identities of s matter, kept as data in `Symmetries`:

- a flip: s(-x) = flip s(x) + constant - linear x, so that (w, c) ~ (-w, flip c), or exactly

      c s(x.w) = flip c s(-x.w) + constant c + linear c x.w.

  For an odd s (flip -1) or an even one (flip +1) that is all. Otherwise a flip leaves a constant
  (logistic, step) or a linear function (relu, gelu) behind, and a network is unchanged only if what
  its flipped units leave behind sums to zero;
- a scale: s(t x) = t^degree s(x) for t > 0, so that (w, c) ~ (t w, t^-degree c), on R^d only;
- rotations: if s(x) = a_0 + a_1 x + a_2 x^2, then sum_i c_i s(x.w_i) depends on sum_i c_i,
  sum_i c_i w_i and sum_i c_i w_i w_i^T only, and single units are not identifiable.

A flip twice is no flip, hence constant = 0 where flip = +1 and linear = 0 where flip = -1. Flips
that leave a higher power behind (relu2(-x) = x^2 - relu2(x)) are not counted as symmetries.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

ROUNDING = 1e-12  # relative; how exactly an identity must hold to be detected
FEWEST_POINTS = 8  # below so many finite values nothing is said about a function


@dataclasses.dataclass(frozen=True)
class Symmetries:
    """What an activation allows; the default is nothing.

    Attributes:
        flip: +1 or -1 in s(-x) = flip s(x) + constant - linear x, or None if there is no such rule.
        constant: what a flip adds; 0 for an odd s.
        linear: the slope that a flip takes away; 0 for an even s.
        degree: n in s(t x) = t^n s(x), t > 0, or None.
        quadratic: (a_0, a_1, a_2) if s(x) = a_0 + a_1 x + a_2 x^2, else None.
    """

    flip: int | None = None
    constant: float = 0.0
    linear: float = 0.0
    degree: float | None = None
    quadratic: tuple[float, float, float] | None = None

    @property
    def identifiable(self) -> bool:
        """Whether a network's function can tell its units apart at all."""
        return self.quadratic is None

    def multiplied(self, factor: float) -> Symmetries:
        """Those of factor * s."""
        if factor == 0:
            return polynomial_symmetries([0.0])
        forms = None if self.quadratic is None else [factor * a for a in self.quadratic]
        return dataclasses.replace(
            self,
            constant=factor * self.constant,
            linear=factor * self.linear,
            quadratic=None if forms is None else (forms[0], forms[1], forms[2]),
        )

    def on_sphere(self) -> Symmetries:
        """Those of units of fixed length: a scale does not act."""
        return dataclasses.replace(self, degree=None)


NONE = Symmetries()
ODD = Symmetries(flip=-1)
EVEN = Symmetries(flip=1)


def series_flip(coefficients: Sequence[float]) -> Symmetries:
    """The flip of sum_n a_n p_n(x), p_n the powers x^n or the Hermite polynomials he_n.

    Both have p_0 = 1, p_1 = x and the parity of n, which is all that matters.
    """
    even, odd = ([n for n, a in enumerate(coefficients) if a and n % 2 == r] for r in (0, 1))
    if not odd:
        return EVEN
    if not even:
        return ODD
    if even == [0]:
        return Symmetries(flip=-1, constant=2 * float(coefficients[0]))
    if odd == [1]:
        return Symmetries(flip=1, linear=2 * float(coefficients[1]))
    return NONE


def polynomial_symmetries(powers: Sequence[float]) -> Symmetries:
    """Those of sum_n powers_n x^n; of zero, which has them all, with degree 0."""
    orders = [n for n, a in enumerate(powers) if a]
    padded = [*map(float, powers), 0.0, 0.0]
    return dataclasses.replace(
        series_flip(powers),
        degree=sum(orders) if len(orders) < 2 else None,
        quadratic=(padded[0], padded[1], padded[2]) if max(orders, default=0) < 3 else None,
    )


def probes(kinks: Sequence[float]) -> np.ndarray:
    """Points > 0 at which a function with these kinks is tried: 0.001 to 1000, and around them."""
    near = [factor * abs(kink) for kink in kinks for factor in (0.97, 1.03) if kink]
    return np.concatenate([np.geomspace(1e-3, 1e3, 121), near])


@np.errstate(all="ignore")  # a function may overflow where it is probed
def detected(function: Callable[[Any], Any], points: np.ndarray) -> Symmetries:
    """The symmetries that a function shows, to rounding, at `points` > 0 and their negatives.

    For functions that nobody has declared anything about. It is evidence, not proof: an identity
    must hold at every point to 1e-12 of the largest value up to there. Points at which the function
    is not finite are left out.
    """
    x = np.unique(np.asarray(points, dtype=float))
    right, left = (np.asarray(function(side), dtype=float) for side in (x, -x))
    finite = np.isfinite(right) & np.isfinite(left)
    if np.count_nonzero(finite) < FEWEST_POINTS:
        return NONE
    sides = _Sides(x[finite], right[finite], left[finite])
    return dataclasses.replace(
        sides.flip(), degree=sides.homogeneity(), quadratic=sides.polynomial()
    )


class _Sides:
    """The values of a function at x > 0 (`right`) and at -x (`left`)."""

    def __init__(self, x: np.ndarray, right: np.ndarray, left: np.ndarray) -> None:
        self.x, self.right, self.left = x, right, left
        self.size = np.maximum.accumulate(np.abs(right) + np.abs(left))

    def vanishes(self, gap: np.ndarray) -> bool:
        return bool(np.all(np.abs(gap) <= ROUNDING * self.size))

    def flip(self) -> Symmetries:
        total, difference = self.left + self.right, self.right - self.left
        constant, linear = float(np.median(total)), float(np.median(difference / self.x))
        if self.vanishes(difference):
            return EVEN
        if self.vanishes(total):
            return ODD
        if self.vanishes(total - constant):
            return Symmetries(flip=-1, constant=constant)
        if self.vanishes(difference - linear * self.x):
            return Symmetries(flip=1, linear=linear)
        return NONE

    def homogeneity(self) -> float | None:
        """n if both sides are multiples of x^n; an n within 1e-9 of an integer is one."""
        degree = 0.0
        for side in (self.right, self.left):
            if not self.vanishes(side):
                ratio = side[-1] / side[0] if side[0] else 0.0
                if not 0 < ratio < math.inf:
                    return None
                degree = math.log(ratio) / math.log(self.x[-1] / self.x[0])
        if abs(degree - round(degree)) < 1e-9:
            degree = round(degree)
        power = (self.x / self.x[-1]) ** degree
        pure = all(self.vanishes(side - side[-1] * power) for side in (self.right, self.left))
        return degree if pure else None

    def polynomial(self) -> tuple[float, float, float] | None:
        """(a_0, a_1, a_2) if the function is a_0 + a_1 x + a_2 x^2."""
        x, even, odd = self.x, (self.right + self.left) / 2, (self.right - self.left) / 2
        slope = float(np.median(odd / x))
        curvature = float((even[-1] - even[0]) / (x[-1] ** 2 - x[0] ** 2))
        level = float(even[0] - curvature * x[0] ** 2)
        if not (self.vanishes(odd - slope * x) and self.vanishes(even - level - curvature * x**2)):
            return None
        noise = ROUNDING * self.size
        return (
            level if abs(level) > noise[0] else 0.0,
            slope if abs(slope) * x[-1] > noise[-1] else 0.0,
            curvature if abs(curvature) * x[-1] ** 2 > noise[-1] else 0.0,
        )
