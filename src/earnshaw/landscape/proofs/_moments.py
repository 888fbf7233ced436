"""Dot-product activations by their moments: erf, exponential, Hermite polynomials.

Phi(x, y) = M(q1, q2, c) with q1 = v |x|^2, q2 = v |y|^2 and c = v x.y under inputs N(0, v I)
(mathematics.md, "Closed-form duals"). With partial derivatives of M,

    grad_x = 2 v M_1 x + v M_c y
    H_xx   = 2 v M_1 I + v^2 (4 M_11 x x^T + 2 M_1c (x y^T + y x^T) + M_cc y y^T)
    H_xy   = v M_c I + v^2 (4 M_12 x y^T + 2 M_1c x x^T + 2 M_2c y y^T + M_cc y x^T),

and Phi(x, x) = M(q, q, q) is a function of one variable.
"""

from __future__ import annotations

import abc
import math

from flint import arb, arb_mat

from earnshaw.landscape.proofs._balls import dot, identity, outer
from earnshaw.landscape.proofs._taylor import Taylor, variables
from earnshaw.landscape.proofs.kernel import Kernel, PairJet, SelfJet


class MomentKernel(Kernel):
    """Phi = M(q1, q2, c); subclasses say M, as a function of numbers with derivatives."""

    def __init__(self, width: float) -> None:
        self.width = width

    @abc.abstractmethod
    def moment(self, q1: Taylor, q2: Taylor, c: Taylor) -> Taylor:
        """M(q1, q2, c)."""

    def value(self, x: arb_mat, y: arb_mat) -> arb:
        """The value of M without its derivatives, for loss bounds."""
        return self._moment(x, y).value

    def jet(self, x: arb_mat, y: arb_mat) -> PairJet:
        """The chain rule of the module's docstring."""
        v = arb(self.width) ** 2
        found = self._moment(x, y)
        m1, m2, mc = (found.first[i, 0] * v for i in range(3))
        second = found.second * (v * v)
        m11, m12, m22 = second[0, 0], second[0, 1], second[1, 1]
        m1c, m2c, mcc = second[0, 2], second[1, 2], second[2, 2]
        xx, xy, yy = outer(x, x), outer(x, y), outer(y, y)
        yx, one = xy.transpose(), identity(x.nrows())
        return PairJet(
            found.value,
            x * (2 * m1) + y * mc,
            y * (2 * m2) + x * mc,
            one * (2 * m1) + xx * (4 * m11) + (xy + yx) * (2 * m1c) + yy * mcc,
            one * mc + xy * (4 * m12) + xx * (2 * m1c) + yy * (2 * m2c) + yx * mcc,
            one * (2 * m2) + yy * (4 * m22) + (xy + yx) * (2 * m2c) + xx * mcc,
        )

    def alone(self, x: arb_mat) -> SelfJet:
        """h(q) = M(q, q, q): 2 v h' x and 2 v h' I + 4 v^2 h'' x x^T."""
        v = arb(self.width) ** 2
        (q,) = variables(v * dot(x, x))
        found = self.moment(q, q, q)
        slope, curvature = 2 * v * found.first[0, 0], 4 * v * v * found.second[0, 0]
        hessian = identity(x.nrows()) * slope + outer(x, x) * curvature
        return SelfJet(found.value, x * slope, hessian)

    def _moment(self, x: arb_mat, y: arb_mat) -> Taylor:
        v = arb(self.width) ** 2
        return self.moment(*variables(v * dot(x, x), v * dot(y, y), v * dot(x, y)))


class ErfKernel(MomentKernel):
    """(2/pi) arcsin(2c / sqrt((1 + 2 q1)(1 + 2 q2)))."""

    def moment(self, q1: Taylor, q2: Taylor, c: Taylor) -> Taylor:
        """The arc sine of the module's docstring."""
        return _arcsine((q1 * 2 + 1) * (q2 * 2 + 1), c * 2)


def _arcsine(square: Taylor, c: Taylor) -> Taylor:
    """(2/pi) arcsin(c / sqrt(square)); the derivatives of arcsin are those of (1 - s^2)^(-1/2)."""
    inverse = square.value.rsqrt()
    slope = -inverse / (2 * square.value)
    sine = square.through(inverse, slope, -3 * slope / (2 * square.value)) * c
    s = sine.value
    rate = (1 - s * s).rsqrt()
    return sine.through(s.asin(), rate, s * rate**3) * (2 / arb.pi())


class ExponentialKernel(MomentKernel):
    """exp(rate x + shift): exp(2 shift + rate^2 ((q1 + q2)/2 + c))."""

    def __init__(self, width: float, rate: float = 1.0, shift: float = 0.0) -> None:
        super().__init__(width)
        self.rate, self.shift = rate, shift

    def moment(self, q1: Taylor, q2: Taylor, c: Taylor) -> Taylor:
        """The moment generating function of u + v."""
        exponent = ((q1 + q2) * arb(0.5) + c) * arb(self.rate) ** 2 + 2 * arb(self.shift)
        value = exponent.value.exp()
        return exponent.through(value, value, value)


class HermiteKernel(MomentKernel):
    """he_n, orthonormal under N(0, 1): sum over l = n - 2k of R_l(q1) R_l(q2) c^l, with

    R_l(q) = sqrt(n!/l!) / (2^k k!) (q - 1)^k   (see `duality/families/hermite.py`).
    """

    def __init__(self, width: float, degree: int) -> None:
        super().__init__(width)
        self.degree = degree

    def moment(self, q1: Taylor, q2: Taylor, c: Taylor) -> Taylor:
        """By Horner's rule in c^2, from l = n (k = 0) down."""
        off = (q1 + -1) * (q2 + -1)
        even = c * c
        # sum_k a_k off^k even^(K - k) with K = n // 2, then times c if n is odd
        power = c * 0 + 1
        total = c * 0
        for k in range(self.degree // 2 + 1):
            low = self.degree - 2 * k
            factor = arb(math.factorial(self.degree)) / math.factorial(low)
            factor /= (2**k * math.factorial(k)) ** 2
            total = total * even + power * factor
            power = power * off
        return total * c if self.degree % 2 else total
