"""How much a unit would save on samples: the empirically normalised correlation.

With r(x) what the placed units leave of y, and all means over the samples,

    savings(theta) = C(theta)^2 / |sigma_theta|^2,    C = mean r(x) sigma(x, theta),

is by how much one more unit at theta, with its best weight, lowers the loss. In the population
|sigma_theta|^2 is Phi(0), the same everywhere, and C^2 alone has the same maxima. On samples it has
not: where sigma is unbounded (h goes as |x - theta|^(-(d-1)/2), logarithmically for d = 1), C is
infinite at every sample, while the quotient stays below |r|^2 by Cauchy-Schwarz, and goes to
r(x_m)^2 / n at the sample x_m (mathematics.md, "The almost lambda-harmonic potential").

Here sigma_theta is what remains of it after its projection onto the outputs of the placed units: so
this is the saving with the weights of *all* units refitted (orthogonal matching pursuit).
"""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array

from earnshaw.charges.network import Student
from earnshaw.energy.empirical import EmpiricalLoss
from earnshaw.energy.responses.response import Response
from earnshaw.energy.streaming import Chunk, chunk_rows, total
from earnshaw.numerics.fixed_order import column_sums, deviations, over_rows

LARGEST = 1e100  # stands for the infinite output of a unit at a sample
DEPENDENT = 1e-10  # part of |sigma|^2 below which a unit is one that is placed already


class Correlation(eqx.Module):
    """Samples `x` (n, d), what is `left` (n,), outputs of the placed units (n, k), their Gram."""

    response: Response
    x: Array
    left: Array
    placed: Array
    factor: Array

    @property
    def spread(self) -> Array:
        """The standard deviation of the inputs."""
        return jnp.mean(deviations(self.x))

    @property
    def spacing(self) -> Array:
        """How far samples are from each other, about."""
        return self.spread * self.x.shape[0] ** (-1 / self.x.shape[1])

    def savings(self, points: Array) -> Array:
        """C^2/|sigma|^2 at points (m, d), in units of the loss; shape (m,)."""
        samples, dim = self.x.shape

        def sums(chunk: Chunk) -> tuple[Array, Array, Array]:
            x, placed = chunk.x[:, :dim], chunk.x[:, dim:]
            outputs = bounded(self.response.outputs(x, points)) * chunk.weight[:, None]
            return chunk.y @ outputs, column_sums(outputs**2), over_rows(placed, outputs)

        table = jnp.concatenate([self.x, self.placed], axis=1)
        entries = self.response.entries(points.shape[0], dim)
        rows = chunk_rows(samples, entries, None)
        c, own, shared = total(sums, table, self.left, rows)
        known = jnp.sum(shared * jax.scipy.linalg.cho_solve((self.factor, True), shared), axis=0)
        return c**2 / jnp.maximum(own - known, DEPENDENT * own) / samples


def correlation(loss: EmpiricalLoss, student: Student, used: Array) -> tuple[Correlation, Array]:
    """That of what the `used` units of `student` leave with their best weights; and their loss."""
    student, value = loss.refit(student, used)
    return _correlation(loss, student, used), value


def bounded(outputs: Array) -> Array:
    """Outputs of units, finite also where a unit lies on a sample."""
    return jnp.clip(outputs, -LARGEST, LARGEST)


@eqx.filter_jit
def _correlation(loss: EmpiricalLoss, student: Student, used: Array) -> Correlation:
    placed = bounded(loss.response.outputs(loss.x, student.positions)) * used
    gram = over_rows(placed, placed)
    # Units that are not used have no outputs, and must not make the Gram matrix singular.
    ridge = jnp.where(used, 1e-14 * jnp.trace(gram), 1.0)
    factor = jnp.linalg.cholesky(gram + jnp.diag(ridge))
    return Correlation(loss.response, loss.x, loss.y - placed @ student.weights, placed, factor)
