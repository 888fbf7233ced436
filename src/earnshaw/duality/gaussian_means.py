"""An activation under Gaussian noise: E[s(x + tau Z)], for s and its derivatives.

This is all that the mean of two units needs of each (`affine_mean.py`): given the input of one, the
input of the other is Gaussian. An activation is smooth between its kinks; its derivatives are there
those of the pieces, s_0 = s, s_1, s_2, ..., and jumps of s_i at a kink are point masses of the
derivative of s_i:

    (s_i)' = s_(i+1) + sum_kinks jump_i delta.

So, with G_i(x, v) = E[s_i(x + sqrt(v) Z)] and phi_v the density of N(0, v),

    dG_i/dx = G_(i+1) + sum jump_i phi_v(x - kink),
    dG_i/dv = (G_(i+2) + sum jump_(i+1) phi_v(x - kink) + sum jump_i phi_v'(x - kink)) / 2,

which `smoothed` uses as derivatives, so that nothing is lost at v = 0. Families give G_i in their
own files, as sums of the parts below or with formulas of their own.
"""

from __future__ import annotations

import abc
import math
from collections.abc import Callable
from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.scipy.special import erfcx, ndtr

from earnshaw.duality.half_lines import HalfLines
from earnshaw.numerics.autodiff import tangent
from earnshaw.numerics.hermite import hermite_sum
from earnshaw.numerics.tail_moments import half_line_mean

Function = Callable[[Array], Array]


class GaussianMeans(eqx.Module):
    """The pieces s_i of an activation and their Gaussian means G_i."""

    @property
    def kinks(self) -> tuple[float, ...]:
        """Where some s_i jumps."""
        return ()

    @property
    def places(self) -> tuple[tuple[float, float], ...]:
        """(x, width) where s varies within a width; quadratures have finer panels there.

        A width of 0 is a kink.
        """
        return tuple((kink, 0.0) for kink in self.kinks)

    @property
    def pitch(self) -> float:
        """Of waves, sin(pitch x); else 0."""
        return 0.0

    @property
    def depth(self) -> float:
        """s_i = 0 for i >= depth."""
        return math.inf

    @property
    def closed(self) -> bool:
        """Whether `mean` is a closed form."""
        return True

    @property
    def terms(self) -> int:
        """How many terms are added up, each with a rounding."""
        return 1

    def magnitude(self) -> GaussianMeans:
        """The sizes of the terms that s is a sum of: where they cancel, digits are lost."""
        return self

    def jumps(self, i: int) -> tuple[float, ...]:
        """The jumps of s_i at the kinks, right minus left."""
        return (0.0,) * len(self.kinks)

    @abc.abstractmethod
    def mean(self, i: int, x: Array, variance: Array) -> Array:
        """G_i(x, variance)."""

    def value(self, i: int, x: Array) -> Array:
        """s_i(x)."""
        return self.mean(i, x, jnp.zeros_like(x))

    def half_lines(self) -> HalfLines | None:
        """The same as a sum of half-lines with noise, if it is one: for energies of many pairs."""
        return None


@partial(jax.custom_jvp, nondiff_argnums=(0, 1))
def smoothed(means: GaussianMeans, i: int, x: Array, variance: Array) -> Array:
    """G_i(x, variance), with the derivatives of the module's docstring."""
    return means.mean(i, x, variance) if i < means.depth else jnp.zeros_like(x)


def _smoothed_jvp(
    means: GaussianMeans, i: int, primals: tuple, tangents: tuple
) -> tuple[Array, Array]:
    x, variance = primals
    value = smoothed(means, i, x, variance)

    def masses(i: int, derivative: bool = False) -> Array | float:
        total: Array | float = 0.0
        for kink, jump in zip(means.kinks, means.jumps(i), strict=True):
            if jump:
                gap = x - kink
                density = normal_density(gap, variance)
                slope = jnp.where(density > 0, -gap / variance * density, 0.0)
                total = total + jump * (slope if derivative else density)
        return total

    def along() -> Array:
        return smoothed(means, i + 1, x, variance) + masses(i)

    def spread() -> Array:
        twice = smoothed(means, i + 2, x, variance)
        return (twice + masses(i + 1) + masses(i, derivative=True)) / 2

    return value, tangent(value, (along, tangents[0]), (spread, tangents[1]))


smoothed.defjvp(_smoothed_jvp, symbolic_zeros=True)


def normal_density(x: Array, variance: Array) -> Array:
    """The density of N(0, variance) at x; 0 for variance 0, off the mass."""
    spread = variance > 0
    safe = jnp.where(spread, variance, 1.0)
    density = jnp.exp(-x * x / (2 * safe)) / jnp.sqrt(2 * math.pi * safe)
    return jnp.where(spread, density, jnp.where(x == 0, jnp.inf, 0.0))


class Smooth(GaussianMeans):
    """A smooth s with G_0 in closed form; the others are its derivatives in x."""

    formula: Callable[[Array, Array], Array] = eqx.field(static=True)
    width: float | None = None  # within which s varies around x = 0, if it does only there
    waves: float = 0.0
    lines: HalfLines | None = None

    def half_lines(self) -> HalfLines | None:
        return self.lines

    @property
    def places(self) -> tuple[tuple[float, float], ...]:
        return () if self.width is None else ((0.0, self.width),)

    @property
    def pitch(self) -> float:
        return self.waves

    def mean(self, i: int, x: Array, variance: Array) -> Array:
        """The i-th derivative of G_0."""
        return nth_derivative(lambda y: self.formula(y, variance), i, x)


class HalfLine(GaussianMeans):
    """max(0, side (x - start))^power, of slope side = +-1 if the power is 1; 0 is a step."""

    power: int = eqx.field(static=True)
    start: float = eqx.field(default=0.0, static=True)
    side: int = eqx.field(default=1, static=True)

    @property
    def kinks(self) -> tuple[float, ...]:
        return (self.start,)

    @property
    def depth(self) -> float:
        return self.power + 1

    def jumps(self, i: int) -> tuple[float, ...]:
        jump = self.side ** (i + 1) * math.factorial(self.power)
        return (float(jump) if i == self.power else 0.0,)

    def half_lines(self) -> HalfLines | None:
        """Backwards, [-y > 0] = 1 - [y > 0] and max(0, -y) = max(0, y) - y."""
        if self.side > 0:
            factor = float(math.factorial(self.power))
            return HalfLines(((self.power, self.start, factor),))
        backwards = {
            0: HalfLines(((0, self.start, -1.0),), constant=1.0),
            1: HalfLines(((1, self.start, 1.0),), constant=self.start, slope=-1.0),
        }
        return backwards.get(self.power)

    def mean(self, i: int, x: Array, variance: Array) -> Array:
        """side^i power!/(power - i)! E[max(0, side (x - start) + tau Z)^(power - i)]."""
        if i > self.power:
            return jnp.zeros_like(x)
        along = self.side * (x - self.start)
        factor = self.side**i * math.perm(self.power, i)
        return factor * half_line_mean(self.power - i, along, jnp.sqrt(variance))


class HalfExponential(GaussianMeans):
    """exp(-|x|) where side x > 0, else 0."""

    side: int = eqx.field(static=True)

    @property
    def kinks(self) -> tuple[float, ...]:
        return (0.0,)

    @property
    def places(self) -> tuple[tuple[float, float], ...]:
        return ((0.0, 0.0), (0.0, 1.0))

    def jumps(self, i: int) -> tuple[float, ...]:
        return (float(self.side * (-self.side) ** i),)

    def mean(self, i: int, x: Array, variance: Array) -> Array:
        """exp(-d + v/2) Phi((d - v)/tau), d = side x: by erfcx where the exponential is large."""
        d, spread = self.side * x, variance > 0
        tau = jnp.sqrt(jnp.where(spread, variance, 1.0))
        y = d / tau
        tail = (tau - y) / math.sqrt(2)
        scaled = jnp.exp(-y * y / 2) * erfcx(jnp.maximum(tail, 0.0)) / 2
        plain = jnp.exp(jnp.minimum(variance / 2 - d, 0.0)) * ndtr(y - tau)
        smooth = jnp.where(tail > 0, scaled, plain)
        hard = jnp.exp(-jnp.maximum(d, 0.0)) * jnp.heaviside(d, 0.5)
        return (-self.side) ** i * jnp.where(spread, smooth, hard)


class Polynomial(GaussianMeans):
    """sum_n coefficients_n he_n(x), or of x^n / sqrt(n!) if `powers`.

    Under noise of variance v both have the same recurrence, with gamma = 1 - v and -v:
    p_(n+1) = (x p_n - sqrt(n) gamma p_(n-1)) / sqrt(n+1); and p_n' = sqrt(n) p_(n-1).
    """

    coefficients: tuple[float, ...] = eqx.field(static=True)
    powers: bool = eqx.field(default=False, static=True)
    sizes: bool = eqx.field(default=False, static=True)  # of all terms instead of their sum

    @property
    def depth(self) -> float:
        return len(self.coefficients)

    @property
    def pitch(self) -> float:
        return math.sqrt(len(self.coefficients)) if len(self.coefficients) > 20 else 0.0

    @property
    def terms(self) -> int:
        return len(self.coefficients)

    def half_lines(self) -> HalfLines | None:
        """A line, if it is one."""
        line = (*self.coefficients, 0.0, 0.0)
        return None if len(self.coefficients) > 2 else HalfLines((), line[0], line[1])

    def magnitude(self) -> GaussianMeans:
        """sum_n |a_n| p_n(|x|) with all terms of p_n positive."""
        return Polynomial(tuple(abs(a) for a in self.coefficients), self.powers, True)

    def mean(self, i: int, x: Array, variance: Array) -> Array:
        """The same sum over the smoothed polynomials."""
        row = np.asarray(self.coefficients)
        for _ in range(i):
            row = row[1:] * np.sqrt(np.arange(1.0, len(row)))
        if len(row) == 0:
            return jnp.zeros_like(x)
        gamma = -variance if self.powers else 1 - variance
        if self.sizes:
            x, gamma = jnp.abs(x), -jnp.abs(gamma)
        return hermite_sum(jnp.asarray(row), x, gamma)


class Sum(GaussianMeans):
    """sum_k factors_k s_k."""

    factors: tuple[float, ...] = eqx.field(static=True)
    parts: tuple[GaussianMeans, ...]

    @property
    def kinks(self) -> tuple[float, ...]:
        return tuple(sorted({kink for part in self.parts for kink in part.kinks}))

    @property
    def places(self) -> tuple[tuple[float, float], ...]:
        return tuple(sorted({place for part in self.parts for place in part.places}))

    @property
    def pitch(self) -> float:
        return max(part.pitch for part in self.parts)

    @property
    def depth(self) -> float:
        return max(part.depth for part in self.parts)

    @property
    def closed(self) -> bool:
        return all(part.closed for part in self.parts)

    @property
    def terms(self) -> int:
        return sum(part.terms for part in self.parts)

    def magnitude(self) -> GaussianMeans:
        """The part that matters: half-lines with one kink do not cancel, polynomials may."""
        return Sum(self.factors, tuple(part.magnitude() for part in self.parts))

    def half_lines(self) -> HalfLines | None:
        """The sum of the parts' half-lines, if all have the same noise."""
        total = HalfLines()
        for factor, part in zip(self.factors, self.parts, strict=True):
            lines = part.half_lines()
            if lines is None or (lines.parts and total.parts and lines.noise != total.noise):
                return None
            total = total + lines.times(factor)
        return total

    def jumps(self, i: int) -> tuple[float, ...]:
        found = dict.fromkeys(self.kinks, 0.0)
        for factor, part in zip(self.factors, self.parts, strict=True):
            for kink, jump in zip(part.kinks, part.jumps(i), strict=True):
                found[kink] += factor * jump
        return tuple(found.values())

    def mean(self, i: int, x: Array, variance: Array) -> Array:
        """The sum of the parts' means."""
        terms = zip(self.factors, self.parts, strict=True)
        present = [factor * part.mean(i, x, variance) for factor, part in terms if i < part.depth]
        return sum(present, start=jnp.zeros_like(x))


def nth_derivative(function: Function, n: int, x: Array) -> Array:
    """The n-th derivative of an elementwise function, by forward mode n times."""
    if n == 0:
        return function(x)
    return jax.jvp(lambda y: nth_derivative(function, n - 1, y), (x,), (jnp.ones_like(x),))[1]
