"""The objective of a fit, its gradient and its Gauss-Newton matrix, summed over chunks of samples.

    F(v) = (1/W) sum_i w_i loss(g_v(x_i), y_i) + alpha |v|^2,    W = sum_i w_i

over the units, weights, linear part and intercept v of a network; biases and intercept do not count
in |v|^2. With J the Jacobian of the outputs and H = S S^T the Hessian of the loss, the
Gauss-Newton matrix is (1/W) sum_i w_i (S^T J)^T (S^T J).
"""

from __future__ import annotations

import dataclasses

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax import Array

from earnshaw.descent.levenberg_marquardt import NormalEquations
from earnshaw.duality.activation import DotProduct
from earnshaw.energy.streaming import Chunk
from earnshaw.learning.fitting._layout import Freedom, Layout
from earnshaw.learning.fitting._losses import LOSSES
from earnshaw.learning.fitting._response import response_of
from earnshaw.learning.fitting._samples import Samples
from earnshaw.learning.fitting.network import FittedNetwork
from earnshaw.numerics.fixed_order import over_rows, sum_all

TRACES = {"normal": 0, "slope": 0}  # how often each was compiled: tests count them


@dataclasses.dataclass(frozen=True)
class FitObjective:
    """F for given samples; evaluated at vectors of a `Layout`."""

    samples: Samples
    loss: str = "squares"
    alpha: float = 0.0
    freedom: Freedom = dataclasses.field(default_factory=Freedom)

    def normal(self, vector: np.ndarray, layout: Layout, network: FittedNetwork) -> NormalEquations:
        """F, gradient and Gauss-Newton matrix at the parameters of a network of this layout."""
        free = self.freedom.mask(layout, network.units)
        rows = self.samples.rows(layout.outputs * layout.size)
        error, gradient, matrix = 0.0, np.zeros(layout.size), np.zeros((layout.size, layout.size))
        for chunk in self.samples.chunks(rows):
            more = _normal(network.activation, self.loss, layout, jnp.asarray(vector), chunk)
            error += float(more[0])
            gradient += np.asarray(more[1])
            matrix += np.asarray(more[2])
        total = self.samples.total
        penalty = self._penalty(layout)
        return NormalEquations(
            value=float(error / total + penalty @ vector**2),
            gradient=free * (gradient / total + 2 * penalty * vector),
            matrix=np.outer(free, free) * (matrix / total) + np.diag(2 * penalty * free),
            error=float(error / total),
        )

    def slope(
        self, vector: np.ndarray, layout: Layout, network: FittedNetwork
    ) -> tuple[float, np.ndarray]:
        """F and its gradient only, for methods that need no matrix."""
        free = self.freedom.mask(layout, network.units)
        total, penalty = self.samples.total, self._penalty(layout)
        value, gradient = 0.0, np.zeros(layout.size)
        for chunk in self.samples.chunks(self.samples.rows(layout.room * (layout.dim + 2))):
            more, slope = _slope(network.activation, self.loss, layout, jnp.asarray(vector), chunk)
            value, gradient = value + float(more), gradient + np.asarray(slope)
        return (
            value / total + float(penalty @ vector**2),
            free * (gradient / total + 2 * penalty * vector),
        )

    def penalty(self, vector: np.ndarray, layout: Layout) -> float:
        """alpha |v|^2."""
        return float(self._penalty(layout) @ vector**2)

    def _penalty(self, layout: Layout) -> np.ndarray:
        units = np.ones((layout.room, layout.dim + 1))
        affine = np.ones((layout.dim + 1, layout.outputs))
        units[:, -1], affine[-1] = 0, 0
        return self.alpha * layout.join(units, np.ones((layout.room, layout.outputs)), affine)


@eqx.filter_jit
def _normal(
    activation: DotProduct, loss: str, layout: Layout, vector: Array, chunk: Chunk
) -> tuple[Array, Array, Array]:
    """The sums over one chunk."""
    TRACES["normal"] += 1
    units, weights, affine = layout.split(vector)
    z = chunk.x @ units.T
    value, slope = response_of(activation)(z, jnp.linalg.norm(units, axis=1))
    outputs = value @ weights + chunk.x @ affine
    compared = LOSSES[loss](outputs, chunk.y)
    root = jnp.sqrt(chunk.weight)[:, None, None] * compared.root
    # (S^T J)^T: for every column q of the root, sum_o S_oq dg_o/d(parameter); samples are last, so
    # that sums over them need no transposition.
    x, roots = chunk.x.T[:, None, :, None], jnp.moveaxis(root, 1, 0)
    pull = slope.T[:, :, None] * jnp.einsum("noq,ko->knq", root, weights)
    parts = (pull[:, None] * x[:, 0], value.T[:, None, :, None] * roots, x * roots)
    jacobian = jnp.concatenate([part.reshape(-1, part.shape[2] * part.shape[3]) for part in parts])
    pushed = chunk.weight[:, None] * compared.gradient
    gradient = [
        over_rows(slope * (pushed @ weights.T), chunk.x),
        over_rows(value, pushed),
        over_rows(chunk.x, pushed),
    ]
    return (
        sum_all(chunk.weight * compared.value),
        jnp.concatenate([jnp.ravel(part) for part in gradient]),
        jacobian @ jacobian.T,
    )


@eqx.filter_jit
def _slope(
    activation: DotProduct, loss: str, layout: Layout, vector: Array, chunk: Chunk
) -> tuple[Array, Array]:
    TRACES["slope"] += 1
    units, weights, affine = layout.split(vector)
    z = chunk.x @ units.T
    value, slope = response_of(activation)(z, jnp.linalg.norm(units, axis=1))
    compared = LOSSES[loss](value @ weights + chunk.x @ affine, chunk.y)
    pushed = chunk.weight[:, None] * compared.gradient
    gradient = [
        over_rows(slope * (pushed @ weights.T), chunk.x),
        over_rows(value, pushed),
        over_rows(chunk.x, pushed),
    ]
    return (
        sum_all(chunk.weight * compared.value),
        jnp.concatenate([jnp.ravel(part) for part in gradient]),
    )
