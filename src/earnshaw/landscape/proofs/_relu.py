"""relu: Phi(x, y) = (|x||y| sin t + (pi - t) x.y) / 2 pi, t the angle between x and y.

With unit vectors e = x/|x| and f = y/|y|, and Price's theorem (arccosine.py),

    2 pi grad_x = |y| sin t e + (pi - t) y
    2 pi H_xx   = (|y|/|x|) sin t (I - e e^T + n n^T),        n = (f - cos t e)/sin t
    2 pi H_xy   = (pi - t) I + e n^T + f m^T,                  m = (e - cos t f)/sin t.

Phi is twice continuously differentiable also where units are parallel, though n and m are not
defined there: I - e e^T + n n^T has eigenvalues in [0, 2], and in the basis e, n of their plane

    e n^T + f m^T = sin t [[cos t, sin t], [sin t, -cos t]]

is sin t times a reflection. So near t = 0 or pi the entries of H_xx are at most 2 (|y|/|x|) sin t
in size (0 or more on the diagonal) and those of the last two terms of H_xy at most sin t:
enclosures that shrink with the box. This is the Hessian of Safran and Shamir (2018), with a sharp
bound for parallel units.
"""

from __future__ import annotations

from flint import arb, arb_mat

from earnshaw.landscape.proofs._balls import (
    around,
    dot,
    identity,
    norm,
    outer,
    width,
)
from earnshaw.landscape.proofs.kernel import Kernel, PairJet, SelfJet

BLUNT = 1e-3  # a sine known worse than this, relative to itself, counts as one that may be 0


class ReluKernel(Kernel):
    """max(0, x) under inputs of standard deviation `width`, a factor width^2."""

    def __init__(self, width: float) -> None:
        self.width = width

    def value(self, x: arb_mat, y: arb_mat) -> arb:
        """The first line of the module's docstring."""
        return _Angle(x, y).value * (arb(self.width) ** 2 / (2 * arb.pi()))

    def jet(self, x: arb_mat, y: arb_mat) -> PairJet:
        """The formulas of the module's docstring."""
        pair = _Angle(x, y)
        factor = arb(self.width) ** 2 / (2 * arb.pi())
        parts = (
            pair.x * (pair.length_y / pair.length_x * pair.sine) + y * pair.opening,
            pair.y * (pair.length_x / pair.length_y * pair.sine) + x * pair.opening,
            pair.bend(pair.e, pair.f) * (pair.length_y / pair.length_x),
            identity(x.nrows()) * pair.opening + pair.twist(),
            pair.bend(pair.f, pair.e) * (pair.length_x / pair.length_y),
        )
        return PairJet(pair.value * factor, *(part * factor for part in parts))

    def alone(self, x: arb_mat) -> SelfJet:
        """|x|^2 / 2, exactly."""
        v = arb(self.width) ** 2
        return SelfJet(v * dot(x, x) / 2, x * v, identity(x.nrows()) * v)


class _Angle:
    """Two vectors, the angle t between them, and whether it is known not to be 0 or pi."""

    def __init__(self, x: arb_mat, y: arb_mat) -> None:
        self.x, self.y = x, y
        self.length_x, self.length_y = norm(x), norm(y)
        self.e, self.f = x * (1 / self.length_x), y * (1 / self.length_y)
        # Chords keep every digit of a small angle: |e - f| = 2 sin(t/2), |e + f| = 2 cos(t/2).
        chord, other = norm(self.e - self.f), norm(self.e + self.f)
        self.sine = chord * other / 2
        self.opening = arb.pi() - 2 * arb.atan2(chord, other)
        self.value = self.length_x * self.length_y * self.sine + self.opening * dot(x, y)
        self.apart = bool(self.sine.lower() > (1 - BLUNT) * self.sine.upper())
        self.cosine = dot(self.e, self.f)

    def bend(self, e: arb_mat, f: arb_mat) -> arb_mat:
        """sin t (I - e e^T + n n^T)."""
        size = e.nrows()
        if self.apart:
            across = f - e * self.cosine
            flat = identity(size) - outer(e, e)
            return flat * self.sine + outer(across, across) * (1 / self.sine)
        most = 2 * width(self.sine)
        whole = [
            most / 2 + around(most / 2) if i == j else around(most)
            for i in range(size)
            for j in range(size)
        ]
        return arb_mat(size, size, whole)

    def twist(self) -> arb_mat:
        """e n^T + f m^T."""
        size = self.e.nrows()
        if self.apart:
            onward, back = self.f - self.e * self.cosine, self.e - self.f * self.cosine
            return (outer(self.e, onward) + outer(self.f, back)) * (1 / self.sine)
        return arb_mat(size, size, [around(width(self.sine))] * size**2)
