"""Potentials of the distance r = |x - y| alone, as functions F of u = r^2/2.

grad_x = F' (x - y),    H_xx = H_yy = -H_xy = F' I + F'' (x - y)(x - y)^T.
"""

from __future__ import annotations

import abc

from flint import arb, arb_mat

from earnshaw.landscape.proofs._balls import dot, identity, outer, root
from earnshaw.landscape.proofs.kernel import Kernel, PairJet, SelfJet


class RadialKernel(Kernel):
    """Phi = F(r^2/2) in R^dim, with a cusp at r = 0; subclasses say F."""

    cusped = True

    def __init__(self, dim: int) -> None:
        self.dim = dim

    @abc.abstractmethod
    def radial(self, square: arb, orders: int) -> list[arb]:
        """F and its first `orders` <= 2 derivatives in u, over all r^2 in `square`."""

    @abc.abstractmethod
    def cusp(self) -> arb:
        """-dPhi/dr at 0."""

    def value(self, x: arb_mat, y: arb_mat) -> arb:
        """F(u), also where x and y are the same exact numbers."""
        away = x - y
        return self.radial(dot(away, away), 0)[0]

    def jet(self, x: arb_mat, y: arb_mat) -> PairJet:
        """The formulas of the module's docstring."""
        away = x - y
        value, slope, bend = self.radial(dot(away, away), 2)
        force = away * slope
        block = identity(self.dim) * slope + outer(away, away) * bend
        return PairJet(value, force, -force, block, -block, block)

    def alone(self, x: arb_mat) -> SelfJet:
        """F(0), a constant."""
        return SelfJet(self.radial(arb(0), 0)[0], arb_mat(self.dim, 1), arb_mat(self.dim, self.dim))


class DistanceKernel(RadialKernel):
    """Phi = sign r (EPD, Conjecture 3.14, with sign = -1): F' = sign/r, F'' = -sign/r^3."""

    def __init__(self, dim: int, sign: int = -1) -> None:
        super().__init__(dim)
        self.sign = sign

    def radial(self, square: arb, orders: int) -> list[arb]:
        """Derivatives are NaN where r may be 0."""
        r = root(square)
        return [self.sign * r, self.sign / r, -self.sign / r**3][: orders + 1]

    def cusp(self) -> arb:
        """-dPhi/dr at 0 of Phi = sign r."""
        return arb(-self.sign)


class SignKernel(RadialKernel):
    """sign on the unit sphere: Phi = 1 - 2 t/pi with the angle t = 2 arcsin(r/2), r the chord.

        dPhi/dr = -(2/pi)/D,   D = sqrt(1 - r^2/4);
        F' = -(2/pi)/(r D),    F'' = (2/pi) (1 - r^2/2)/(r D)^3.

    Derivatives off the sphere are those of this function of r; a chart does not see them. In balls
    r is much narrower than x.y for units close to each other. NaN at both cusps, t = 0 and t = pi;
    a proof can have units on the first (`_held_units.py`).
    """

    def radial(self, square: arb, orders: int) -> list[arb]:
        """Phi, and its derivatives where 0 < r < 2."""
        slope = -2 / arb.pi()
        value = 1 + 2 * slope * (root(square) / 2).min(arb(1)).asin()
        if not orders:
            return [value]
        both = (square * (1 - square / 4)).sqrt()  # r D = sin t
        return [value, slope / both, -slope * (1 - square / 2) / both**3][: orders + 1]

    def cusp(self) -> arb:
        """2/pi: on the unit sphere an angle is a length."""
        return 2 / arb.pi()
