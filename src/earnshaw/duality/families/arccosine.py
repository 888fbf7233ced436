"""sign, step, the powers of max(0, x) and leaky-relu: the arc-cosine family.

With t the angle between the vectors, P = q1 q2 and D = sqrt(P - c^2), J_n = E[u_+^n v_+^n] is

    J_0 = (pi - t) / 2 pi
    J_1 = (D + (pi - t) c) / 2 pi
    J_2 = (3 D c + (pi - t)(P + 2 c^2)) / 2 pi
    J_3 = (D (4 P + 11 c^2) + (pi - t)(9 P c + 6 c^3)) / 2 pi.

Derivatives come from Price's theorem, dE[s(u)s(v)]/dc = E[s'(u)s'(v)]: dJ_n/dc = n^2 J_(n-1), and
dJ_0/dc = 1/(2 pi D), which is infinite at rho = +-1. So for sign and step already f' is infinite
there, for relu and leaky-relu f''; from relu2 on both are finite. Euler's relation for homogeneous
functions, 2 q1 dJ/dq1 + c dJ/dc = n J, gives the rest: dJ = (dJ/dc) turn + n J stretch (pair.py).
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array
from jax.typing import ArrayLike

from earnshaw.duality._registry import ACTIVATIONS
from earnshaw.duality.activation import LARGEST_FACTOR, DotProduct, NumpyFormula
from earnshaw.duality.gaussian_means import GaussianMeans, HalfLine, Sum
from earnshaw.duality.pair import (
    CORNER,
    JUMP,
    Moment,
    Pair,
    angle,
    area,
    changes,
    inverse_wedge,
)
from earnshaw.duality.symmetry import Symmetries, polynomial_symmetries
from earnshaw.limits import check_real


@partial(jax.custom_jvp, nondiff_argnums=(0,))
def half_line_moment(n: int, q1: Array, q2: Array, c: Array, low: Array, high: Array) -> Array:
    """J_n = E[u_+^n v_+^n] for n = 0, 1, 2, 3."""
    opening = math.pi - angle(q1, q2, c, low, high)
    wedge, product = jnp.sqrt(low * high), q1 * q2
    if n == 0:
        total = opening
    elif n == 1:
        total = wedge + opening * c
    elif n == 2:
        total = 3 * wedge * c + opening * (product + 2 * c * c)
    else:
        total = wedge * (4 * product + 11 * c * c) + opening * c * (9 * product + 6 * c * c)
    return total / (2 * math.pi)


def _half_line_jvp(n: int, primals: tuple, tangents: tuple) -> tuple[Array, Array]:
    value = half_line_moment(n, *primals)
    if n == 0:
        slope = inverse_wedge(*primals) / (2 * math.pi)
    else:
        slope = n * n * half_line_moment(n - 1, *primals)
    change = changes(primals, tangents)
    return value, change.turned(slope) + change.stretched(n * value)


half_line_moment.defjvp(_half_line_jvp, symbolic_zeros=True)


class SignMoment(Moment):
    """sgn: 1 - 2 t / pi. (EPD's Table 1 pairs this with sqrt(2) sgn, whose potential is twice.)"""

    @property
    def degree(self) -> int | None:
        return 0

    @property
    def kink(self) -> float:
        return JUMP

    def __call__(self, pair: Pair) -> Array:
        """4 J_0 - 1."""
        return 4 * half_line_moment(0, *pair) - 1


class HalfLineMoment(Moment):
    """step, relu, relu2, relu3: J_n for `power` n = 0, 1, 2, 3."""

    power: int

    @property
    def degree(self) -> int | None:
        return self.power

    @property
    def kink(self) -> float:
        return JUMP if self.power == 0 else CORNER

    def __call__(self, pair: Pair) -> Array:
        """J_n."""
        return half_line_moment(self.power, *pair)

    @property
    def linear_factor(self) -> float | None:
        """1/2 pi for relu."""
        return 1 / (2 * math.pi) if self.power == 1 else None

    def linear_parts(self, pair: Pair) -> tuple[Array, Array]:
        """For relu, pi - t and D."""
        return math.pi - angle(*pair), area(*pair)


class TwoSlopesMoment(Moment):
    """leaky relu, slope a for x < 0, b for x > 0: a x + (b - a) x_+, so a b c + (b - a)^2 J_1."""

    negative_slope: float
    positive_slope: float

    @property
    def degree(self) -> int | None:
        return 1

    @property
    def kink(self) -> float:
        return CORNER

    def __call__(self, pair: Pair) -> Array:
        """The linear part and the rectified one; E[u v_+] = c/2 joins them."""
        a, b = self.negative_slope, self.positive_slope
        linear = a * b * pair.c
        if a == b:  # no kink, and no infinite second derivative to multiply by 0
            return linear
        return linear + (b - a) ** 2 * half_line_moment(1, *pair)

    @property
    def linear_factor(self) -> float | None:
        """(b - a)^2 / 2 pi, unless there is no kink."""
        step = self.positive_slope - self.negative_slope
        return step**2 / (2 * math.pi) if step else None

    def linear_parts(self, pair: Pair) -> tuple[Array, Array]:
        """pi - t + 2 pi a b / (b - a)^2 and D."""
        a, b = self.negative_slope, self.positive_slope
        return math.pi + 2 * math.pi * a * b / (b - a) ** 2 - angle(*pair), area(*pair)


@ACTIVATIONS.register("sign")
class Sign(DotProduct):
    """sgn(x): -1, 0 or 1 (EPD, Table 1 without its factor sqrt(2); mathematics.md, error 4)."""

    name = "sign"
    source = "EPD, Table 1; Full, Table 1"
    kinks = (0.0,)
    symmetries = Symmetries(flip=-1, degree=0)
    in_numpy = NumpyFormula("sgn(x)", "np.sign(x)", "np.zeros_like(x)")

    def __call__(self, x: ArrayLike) -> Array:
        """sgn(x)."""
        return jnp.sign(jnp.asarray(x, dtype=float))

    def moment(self) -> Moment:
        """1 - 2 t / pi."""
        return SignMoment()

    def gaussian_means(self) -> GaussianMeans:
        """[x > 0] - [x < 0]."""
        return Sum((1.0, -1.0), (HalfLine(0), HalfLine(0, side=-1)))

    @staticmethod
    def in_torch(torch: Any, x: Any) -> Any:
        """sgn(x)."""
        return torch.sign(x)


@ACTIVATIONS.register("step")
class Step(DotProduct):
    """1 for x > 0, 0 for x < 0, 1/2 at 0."""

    name = "step"
    kinks = (0.0,)
    symmetries = Symmetries(flip=-1, constant=1.0, degree=0)
    in_numpy = NumpyFormula(
        "1 for x > 0, 0 for x < 0, 1/2 at 0", "np.heaviside(x, 0.5)", "np.zeros_like(x)"
    )

    def __call__(self, x: ArrayLike) -> Array:
        """The Heaviside function."""
        return jnp.heaviside(jnp.asarray(x, dtype=float), 0.5)

    def moment(self) -> Moment:
        """J_0."""
        return HalfLineMoment(0)

    def gaussian_means(self) -> GaussianMeans:
        """[x > 0]."""
        return HalfLine(0)

    @staticmethod
    def in_torch(torch: Any, x: Any) -> Any:
        """1 for x > 0, 0 for x < 0, 1/2 at 0."""
        return (torch.sign(x) + 1) / 2


@ACTIVATIONS.register("relu")
class Relu(DotProduct):
    """max(0, x)."""

    name = "relu"
    source = "EPD, Table 1"
    kinks = (0.0,)
    symmetries = Symmetries(flip=1, linear=1.0, degree=1)
    in_numpy = NumpyFormula("max(0, x)", "np.maximum(x, 0.0)", "np.heaviside(x, 0.5)")

    def __call__(self, x: ArrayLike) -> Array:
        """max(0, x)."""
        return jnp.maximum(jnp.asarray(x, dtype=float), 0.0)

    def moment(self) -> Moment:
        """J_1."""
        return HalfLineMoment(1)

    def gaussian_means(self) -> GaussianMeans:
        """max(0, x)."""
        return HalfLine(1)

    @staticmethod
    def in_torch(torch: Any, x: Any) -> Any:
        """max(0, x), with the slope 1/2 at 0 as JAX has it."""
        return torch.maximum(x, torch.zeros_like(x))


@ACTIVATIONS.register("leaky-relu")
class LeakyRelu(DotProduct):
    """negative_slope * x for x < 0, positive_slope * x for x > 0."""

    negative_slope: float = 0.01
    positive_slope: float = 1.0
    name = "leaky-relu"
    kinks = (0.0,)
    in_numpy = NumpyFormula(
        "negative_slope x for x < 0, positive_slope x for x >= 0",
        "np.where(x < 0, NEGATIVE_SLOPE, POSITIVE_SLOPE) * x",
        "np.where(x < 0, NEGATIVE_SLOPE, POSITIVE_SLOPE)",
    )

    def __check_init__(self) -> None:
        for slope in ("negative_slope", "positive_slope"):
            check_real(slope, getattr(self, slope), -LARGEST_FACTOR, LARGEST_FACTOR)

    @property
    def symmetries(self) -> Symmetries:
        """s(-x) = s(x) - (negative_slope + positive_slope) x; a straight line if they are equal."""
        if self.negative_slope == self.positive_slope:
            return polynomial_symmetries([0.0, self.positive_slope])
        return Symmetries(flip=1, linear=self.negative_slope + self.positive_slope, degree=1)

    def __call__(self, x: ArrayLike) -> Array:
        """Two half-lines that meet at 0."""
        x = jnp.asarray(x, dtype=float)
        return jnp.where(x < 0, self.negative_slope, self.positive_slope) * x

    def moment(self) -> Moment:
        """a b c + (b - a)^2 J_1."""
        return TwoSlopesMoment(self.negative_slope, self.positive_slope)

    def gaussian_means(self) -> GaussianMeans:
        """Two half-lines."""
        return Sum(
            (float(self.positive_slope), -float(self.negative_slope)),
            (HalfLine(1), HalfLine(1, side=-1)),
        )

    @staticmethod
    def in_torch(torch: Any, x: Any, negative_slope: Any, positive_slope: Any) -> Any:
        """Two half-lines that meet at 0."""
        return torch.where(x < 0, negative_slope, positive_slope) * x


@ACTIVATIONS.register("relu2")
class ReluSquared(DotProduct):
    """max(0, x)^2."""

    name = "relu2"
    kinks = (0.0,)
    symmetries = Symmetries(degree=2)
    in_numpy = NumpyFormula("max(0, x)^2", "np.maximum(x, 0.0) ** 2", "2 * np.maximum(x, 0.0)")

    def __call__(self, x: ArrayLike) -> Array:
        """max(0, x)^2."""
        return jnp.maximum(jnp.asarray(x, dtype=float), 0.0) ** 2

    def moment(self) -> Moment:
        """J_2."""
        return HalfLineMoment(2)

    def gaussian_means(self) -> GaussianMeans:
        """max(0, x)^2."""
        return HalfLine(2)

    @staticmethod
    def in_torch(torch: Any, x: Any) -> Any:
        """max(0, x)^2."""
        return Relu.in_torch(torch, x) ** 2


@ACTIVATIONS.register("relu3")
class ReluCubed(DotProduct):
    """max(0, x)^3."""

    name = "relu3"
    kinks = (0.0,)
    symmetries = Symmetries(degree=3)
    in_numpy = NumpyFormula("max(0, x)^3", "np.maximum(x, 0.0) ** 3", "3 * np.maximum(x, 0.0) ** 2")

    def __call__(self, x: ArrayLike) -> Array:
        """max(0, x)^3."""
        return jnp.maximum(jnp.asarray(x, dtype=float), 0.0) ** 3

    def moment(self) -> Moment:
        """J_3."""
        return HalfLineMoment(3)

    def gaussian_means(self) -> GaussianMeans:
        """max(0, x)^3."""
        return HalfLine(3)

    @staticmethod
    def in_torch(torch: Any, x: Any) -> Any:
        """max(0, x)^3."""
        return Relu.in_torch(torch, x) ** 3
