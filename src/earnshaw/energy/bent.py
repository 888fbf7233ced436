"""What a network does beyond affine functions: its bends, in which w and -w are the same unit.

softplus(y) - softplus(-y) = y, and a logistic unit and its mirror image add up to a constant: flips
leave functions a.phi(X) behind, phi(X) = X (with the constant 1 of biases) or phi = 1. Where the
loss is flat these are easily mistaken for units: saturated ones stand in for lines, and units on
the wrong side need others that make up for it. So a learner may first leave them out. With P the
projection off the span of phi, in the mean square over the inputs,

    Phi'(x, y) = E[P s_x P s_y] = Phi(x, y) - l(x).G^-1 l(y),    l(x) = E[s(x.X) phi(X)],
    F'(x) = E[P f P s_x] = F(x) - l(x).G^-1 l_f,                  G = E[phi phi^T],

and l_f = E[f phi] is what an oracle of F says of pairs of opposite units. With G^-1 = R^T R all of
this is made of R l. The affine part comes back as one pair of units (`with_line`), and
`charges/smallest.py` finds the flips that make the pair unnecessary.

Ten softplus units in d = 5 (`benchmarks/networks.py --only recovery --activations softplus --dims 5
--units 10`): without this, of the seeds 1, 2, 4, 5, 6 and 7 none was learned.
"""

from __future__ import annotations

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from earnshaw.charges.network import Student
from earnshaw.duality.activation import DotProduct
from earnshaw.duality.affine_dual import AffineDual, Cloud, affine_dual
from earnshaw.duality.affine_moment import AffineIntegral
from earnshaw.duality.pair import value_and_slope
from earnshaw.duality.series.affine_series import mean_of
from earnshaw.duality.symmetry import Symmetries
from earnshaw.energy._field import Field
from earnshaw.energy.asked_loss import AskedLoss
from earnshaw.energy.couplings.affine import AffineCoupling
from earnshaw.energy.oracle import Oracle
from earnshaw.inputs import Inputs

FLAT = 1e-13  # eigenvalues of G below this part of the largest are 0
ROUNDING = 1e-12  # part of Phi(x, x) below which Phi'(x, x) is rounding: the unit is a line


class BentCoupling(AffineCoupling):
    """Phi' of the module's docstring. `linear` if phi(X) = X, else phi = 1; `root` is R (r, r)."""

    linear: bool = eqx.field(static=True)
    root: Array

    @property
    def has_tiles(self) -> bool:
        return False

    @property
    def sums_tiles(self) -> bool:
        return False

    def line(self, x: Array) -> Array:
        """R l(x), (..., r), for units at x (..., d)."""
        form = self.potential.form
        assert not isinstance(form, AffineIntegral)

        def term(cloud: Cloud) -> Array:
            along, mu = x @ cloud.root, x @ cloud.mean
            q = jnp.sum(along * along, axis=-1)
            level, slope = value_and_slope(lambda mu: mean_of(form.first, mu, q), mu)
            if not self.linear:
                return level[..., None]
            # Stein's identity: E[s(u) (X - m)] = S x E[s'(u)].
            return level[..., None] * cloud.mean + slope[..., None] * (along @ cloud.root.T)

        return self.potential.over_clouds(term) @ self.root.T

    def line_and_slopes(self, x: Array) -> tuple[Array, Array]:
        """The same, and its derivatives in x, (..., r, d)."""
        along = lambda axis: jax.jvp(self.line, (x,), (jnp.broadcast_to(axis, x.shape),))  # noqa: E731
        lines, slopes = jax.vmap(along, out_axes=(None, -1))(jnp.eye(self.dim))
        return lines, slopes

    def exact(self, x: Array, y: Array) -> tuple[Array, Array]:
        value, slope = super().exact(x, y)
        (here, turning), there = self.line_and_slopes(x), self.line(y)
        drawn = jnp.sum(there[..., None] * turning, axis=-2)
        return value - jnp.sum(here * there, axis=-1), slope - drawn

    def alone(self, x: Array) -> tuple[Array, Array]:
        value, slope = super().alone(x)
        here, turning = self.line_and_slopes(x)
        bend = value - jnp.sum(here * here, axis=-1)
        drawn = jnp.sum(here[..., None] * turning, axis=-2)
        seen = bend > ROUNDING * value
        return (
            jnp.where(seen, bend, ROUNDING * value),
            jnp.where(seen[..., None], slope - 2 * drawn, ROUNDING * slope),
        )

    def alone_laplacian(self, x: Array) -> Array:
        own = lambda x: self.alone(x[None])[0][0]  # noqa: E731
        return jax.vmap(lambda x: jnp.trace(jax.hessian(own)(x)))(x)


class BentOracle(Oracle):
    """F', from another oracle's answers; `line` is R l_f (r,)."""

    answers: Oracle
    coupling: BentCoupling
    line: Array
    error: Array

    def power(self) -> Array:
        """E[(P f)^2]."""
        return self.answers.power() - self.line @ self.line

    def ask(self, points: Array) -> tuple[Array, Array]:
        value, slope = self.answers.ask(points)
        here, turning = self.coupling.line_and_slopes(points)
        return value - here @ self.line, slope - jnp.einsum("nrd,r->nd", turning, self.line)


def bent_loss(
    loss: AskedLoss, symmetries: Symmetries, activation: DotProduct, inputs: Inputs
) -> AskedLoss | None:
    """The loss E[(P f - P g)^2]; None where it would not help.

    Answers with errors would make a wrong line of f, and on other objectives than the full one
    weights have a price.
    """
    if loss.name != "full" or loss.wrt != "both":
        return None
    potential = affine_dual(activation, inputs, loss.dim)
    if float(loss.answer_error) or isinstance(potential.form, AffineIntegral):
        return None
    linear = bool(symmetries.linear)
    root = _root(potential, linear)
    coupling = BentCoupling(potential=potential, dim=loss.dim, linear=linear, root=root)
    axes = jnp.eye(loss.dim)[: loss.dim if linear else 1]
    ahead, behind = (loss.oracle.ask(side * axes)[0] for side in (1, -1))
    seen = (
        (ahead - behind) / symmetries.linear if linear else (ahead + behind) / symmetries.constant
    )
    oracle = BentOracle(
        answers=loss.oracle, coupling=coupling, line=root @ seen, error=loss.oracle.error
    )
    return dataclasses.replace(loss, oracle=oracle, field=Field(coupling), constant=oracle.power())


def with_line(loss: AskedLoss, symmetries: Symmetries, student: Student) -> Student:
    """The student and two units more, which are the best affine part that goes with it."""
    oracle = loss.oracle
    assert isinstance(oracle, BentOracle)
    missing = oracle.line - jnp.asarray(student.weights) @ oracle.coupling.line(student.positions)
    slopes = np.asarray(oracle.coupling.root.T @ missing)
    if oracle.coupling.linear:
        size = float(np.linalg.norm(slopes))
        place = slopes / size if size else np.eye(loss.dim)[0]
        charges = np.array([size, -size]) / symmetries.linear
    else:
        place, charges = np.eye(loss.dim)[0], np.full(2, slopes[0]) / symmetries.constant
    return Student(
        np.concatenate([student.positions, [place, -place]]),
        np.concatenate([student.weights, charges]),
    )


def _root(potential: AffineDual, linear: bool) -> Array:
    """R with R^T R the inverse of E[phi phi^T], on its span."""
    if not linear:
        return jnp.ones((1, 1))
    second = potential.over_clouds(
        lambda cloud: cloud.root @ cloud.root.T + jnp.outer(cloud.mean, cloud.mean)
    )
    values, vectors = np.linalg.eigh(np.asarray(second))
    there = values > FLAT * values.max()
    inverse = np.where(there, 1 / np.sqrt(np.where(there, values, 1.0)), 0.0)
    return jnp.asarray(inverse[:, None] * vectors.T)
