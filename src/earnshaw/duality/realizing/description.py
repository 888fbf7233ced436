"""An activation in words: its formula where that is known, else its leading numbers.

On the sphere those are the Hermite coefficients a_n of s = sum_n a_n he_n, on R^d values of the
profile h(r); and how fast either falls, as far as they show it: a reading, not a proof.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from earnshaw.duality.activation import Activation, DotProduct, Translation
from earnshaw.duality.families.hermite import HermiteSum
from earnshaw.duality.families.tabulated import ProductTranslation, RadialTranslation
from earnshaw.duality.formulas.activation import FormulaActivation

SHORT = 4  # a series of at most so many terms is its own formula
SHOWN = 6  # leading numbers of a longer one
RADII = (0.1, 0.3, 1.0, 3.0)


class Description(NamedTuple):
    """What an activation is, in plain values.

    `formula` in x, or None; `leading` are the first (n, a_n) or some (r, h(r)), as `basis` says:
    "hermite" or "radial"; `falls` says how fast they do.
    """

    formula: str | None
    basis: str | None = None
    leading: tuple[tuple[float, float], ...] = ()
    falls: str = ""

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return self._asdict() | {"leading": [list(pair) for pair in self.leading]}

    def sentence(self) -> str:
        """One line for people."""
        if self.formula is not None:
            return self.formula
        if self.basis == "hermite":
            terms = _sum([(a, f"he_{n:g}(x)") for n, a in self.leading])
            return f"s(x) = {terms} + ...; {self.falls}"
        values = ", ".join(f"h({r:g}) = {h:.4g}" for r, h in self.leading)
        return f"sigma(x, w) = h(|x - w|)/sqrt(p(x)), {values}; {self.falls}"


def describe(activation: Activation) -> Description:
    """The description of an activation that `realize` has found, or of any other."""
    if isinstance(activation, DotProduct):
        base, factor = activation.unscaled()
        if isinstance(base, HermiteSum):
            return _series(factor * np.asarray(base.coefficients))
        times = "" if factor == 1 else f"{factor:.10g} * "
        return Description(f"s(x) = {times}{_in_words(base)}")
    assert isinstance(activation, Translation)
    shape = activation.unrealized()
    if isinstance(shape, RadialTranslation):
        return _profile(shape)
    words = shape.in_numpy.words if shape.in_numpy is not None else shape.name
    if isinstance(shape, ProductTranslation):
        words = "a product of functions of |x_i|, each a table"
    words += _values(shape)
    return Description(f"sigma(x, w) = h(x - w)/sqrt(p(x)), h(x) = {words}")


def _in_words(base: DotProduct) -> str:
    """The formula of an activation with the values of its parameters, and its name."""
    if isinstance(base, FormulaActivation) or base.in_numpy is None:
        return base.name
    return f"{base.in_numpy.words}{_values(base)} ({base.name})"


def _values(made: DotProduct | Translation) -> str:
    """', rate = 2' for every parameter that is a number."""
    known = made.parameters().items()
    return "".join(f", {key} = {value:.10g}" for key, value in known if isinstance(value, float))


def _series(coefficients: np.ndarray) -> Description:
    seen = np.flatnonzero(coefficients)
    pairs = tuple((int(n), float(coefficients[n])) for n in seen[:SHOWN])
    if len(seen) <= SHORT:
        terms = _sum([(a, f"he_{n}(x)") for n, a in pairs])
        end = f"ends at degree {max(seen, default=0)}"
        return Description(f"s(x) = {terms}", "hermite", pairs, end)
    return Description(None, "hermite", pairs, _fall(seen, np.abs(coefficients[seen])))


def _sum(terms: list[tuple[float, str]]) -> str:
    text = ""
    for value, what in terms:
        sign = ("- " if value < 0 else "+ ") if text else ("-" if value < 0 else "")
        size = "" if abs(value) == 1 else f"{abs(value):.6g} "
        text += (" " if text else "") + sign + size + what
    return text or "0"


def _fall(degrees: np.ndarray, sizes: np.ndarray) -> str:
    """How |a_n| falls: read off its last three quarters, from two stretches of equal ratio."""
    last = int(degrees[-1])
    logs = np.log(sizes)
    if last < 24:
        return f"ends at degree {last}"

    def slope(low: float, high: float, abscissa: np.ndarray) -> float:
        chosen = (degrees >= low) & (degrees <= high)
        return float(np.polyfit(abscissa[chosen], logs[chosen], 1)[0])

    x = np.log(np.maximum(degrees, 1))
    early, late = -slope(last / 4, last / 2, x), -slope(last / 2, last, x)
    if late > 0 and abs(late - early) <= 0.1 * late:
        return f"the coefficients fall as n^-{late:.2f}, seen up to degree {last}"
    n = degrees.astype(float)
    first, second = slope(last / 4, last / 2, n), slope(last / 2, last, n)
    if second < 0 and abs(second - first) <= 0.15 * abs(second):
        rate = math.exp(second)
        return f"the coefficients fall by a factor {rate:.3g} a degree, seen up to degree {last}"
    if late > early:
        return f"the coefficients fall faster than any power of n, seen up to degree {last}"
    return f"the coefficients have no simple law up to degree {last}"


def _profile(shape: RadialTranslation) -> Description:
    table = shape.table
    values = np.asarray(table(np.array(RADII)))
    pairs = tuple((r, float(h)) for r, h in zip(RADII, values, strict=True))
    near = "h is finite at 0"
    if table.exponent > 0:
        near = f"h grows as r^-{table.exponent:g} at 0"
    elif float(table.slope_below) != 0:
        near = "h grows as log(1/r) at 0"
    far = f"it is tabulated up to r = {table.highest:.4g}, and 0 beyond"
    if table.decay > 0:
        far = f"it falls as exp(-{table.decay:.4g} r)"
    return Description(None, "radial", pairs, f"{near}, {far}")
