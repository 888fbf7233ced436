"""Coordinates of a unit: those of R^d, or of a central projection of the sphere.

A proof works in coordinates y around a centre p, y = 0 there. On R^d the position is p + y. On the
sphere it is

    theta(y) = m/|m|,    m = e + B y,    e = p/|p|,

B an orthonormal basis (d, d-1) of the complement of e: the columns 2..d of the reflection that
takes the first axis to -+e. Central projection is a diffeomorphism onto the open half sphere around
e, so critical points, and the signs of Hessians there, are those of the loss on the sphere; at
y = 0 it agrees with geodesic coordinates to second order, so the eigenvalues are the Riemannian
ones up to a part of order radius^2. With J = (I - theta theta^T) B/|m|, the Hessian of L in y is

    J^T H J - B^T (g theta^T + theta g^T + (g.theta)(I - 3 theta theta^T)) B / |m|^2

for g, H the gradient and Hessian of L in theta as a vector of R^d.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from flint import arb, arb_mat

from earnshaw.landscape.proofs._balls import column, dot, identity, norm, outer


class Placed(NamedTuple):
    """A position (d, 1), and what carries derivatives in it over to coordinates."""

    position: arb_mat
    lift: arb_mat | None  # J (d, n); None for the identity
    basis: arb_mat | None  # B
    inverse_length: arb | None  # 1/|m|

    def gradient(self, gradient: arb_mat) -> arb_mat:
        """J^T g: a gradient in R^d as one in the coordinates y."""
        return gradient if self.lift is None else self.lift.transpose() * gradient

    def mixed(self, block: arb_mat, other: Placed) -> arb_mat:
        """J^T H J' for the coordinates of two units."""
        left = block if self.lift is None else self.lift.transpose() * block
        return left if other.lift is None else left * other.lift

    def curvature(self, block: arb_mat, gradient: arb_mat) -> arb_mat:
        """The Hessian in y, from that in theta and the gradient in theta."""
        own = self.mixed(block, self)
        if self.basis is None or self.inverse_length is None:
            return own
        theta, along = self.position, dot(gradient, self.position)
        cross = outer(gradient, theta)
        flat = identity(theta.nrows()) - outer(theta, theta) * 3
        total = cross + cross.transpose() + flat * along
        return own - self.basis.transpose() * total * self.basis * self.inverse_length**2


def on_space(centre: Sequence[float], offset: Sequence[arb]) -> Placed:
    """The chart of R^d: a unit at p moved by y, to p + y."""
    return Placed(column(arb(p) + y for p, y in zip(centre, offset, strict=True)), None, None, None)


def on_sphere(centre: Sequence[float], offset: Sequence[arb]) -> Placed:
    """theta(y) of the module's docstring."""
    e = unit(centre)
    basis = complement(e)
    m = e + basis * column(offset) if basis.ncols() else e
    inverse = 1 / norm(m)
    theta = m * inverse
    lift = (basis - theta * (theta.transpose() * basis)) * inverse
    return Placed(theta, lift, basis, inverse)


def unit(values: Sequence[float] | Sequence[arb]) -> arb_mat:
    """The exact direction of a vector of floats; or all directions of a box of vectors."""
    x = column(values)
    return x * (1 / norm(x))


def complement(e: arb_mat) -> arb_mat:
    """B: an orthonormal basis of the complement of a unit vector, (d, d-1)."""
    size = e.nrows()
    normal = arb_mat(e)
    normal[0, 0] += 1 if float(e[0, 0]) >= 0 else -1
    reflection = identity(size) - outer(normal, normal) * (1 / (1 + abs(e[0, 0])))
    return arb_mat(size, size - 1, [reflection[i, j] for i in range(size) for j in range(1, size)])
