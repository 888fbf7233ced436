"""Where a further unit would help most: the node-wise principle on samples.

With r what is left of the answers and s(v) the responses of a unit at v, both weighted and with the
features that the network has already projected out, a unit at v with its best weight lowers the sum
of squares by

    |r.s(v)|^2 / |s(v)|^2,

the empirical C^2/Phi of node-wise learning. It is maximised from many starts at once, by
Gauss-Newton steps on |r - c s(v)|^2 in v with the best c put in (Kaufman's form of variable
projection), damped for every start by itself.
"""

from __future__ import annotations

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from earnshaw.charges.responses import responses
from earnshaw.duality.activation import DotProduct
from earnshaw.learning.fitting._layout import Freedom
from earnshaw.learning.fitting._losses import residuals
from earnshaw.learning.fitting._refit import RIDGE
from earnshaw.learning.fitting._response import response_of
from earnshaw.learning.fitting._samples import Samples
from earnshaw.learning.fitting.network import FittedNetwork
from earnshaw.numerics.fixed_order import column_sums, over_rows

STARTS, ITERATIONS = 32, 15
FEWEST, FEW, MOST = 512, 2048, 4096  # samples that are looked at:
ROWS_A_NUMBER, ROWS_A_PAIR = 32, 8  # some for every input, or, if that is in doubt, every pair
CLEAR = 0.2  # a gain on few samples that is no accident
WIDEST = 40  # inputs up to which that is affordable, and all products of two inputs are held
COLUMNS = 16  # the features projected out are filled up to a multiple of this

LONGEST = 5.0  # times sqrt(d + 1), a unit's length: steeper ones are kinks, and cannot come back

TRACES = {"search": 0}

State = tuple[Array, Array, Array]  # units, damping, gains of all starts


class Candidate(NamedTuple):
    """A unit (d + 1,), its best weights (m,), and the part of what is left that it takes away.

    The weights are those of a network whose other weights are refitted as well.
    """

    unit: np.ndarray
    weight: np.ndarray
    gain: float


def search(
    network: FittedNetwork, samples: Samples, freedom: Freedom, loss: str, seed: int
) -> Candidate | None:
    """The unit that would help most, or None where none would.

    Once the linear part is fitted, a start shows a unit at an angle by the cube of its cosine: of
    order d^(-3/2), which takes samples as d^2 to see in noise.
    """
    width = samples.dim + 1
    few = min(samples.count, FEW, max(FEWEST, ROWS_A_NUMBER * width))
    more = min(samples.count, MOST, ROWS_A_PAIR * width**2) if width <= WIDEST else few
    found = _searched(network, samples.subset(few, seed), freedom, loss, seed)
    if more > few and (found is None or found.gain < CLEAR):
        found = _searched(network, samples.subset(more, seed), freedom, loss, seed)
    return found


def _searched(
    network: FittedNetwork, few: Samples, freedom: Freedom, loss: str, seed: int
) -> Candidate | None:
    """The best end of all starts, on these samples."""
    x, y, weight = few.standard(slice(None))
    rows = max(256, 1 << (len(x) - 1).bit_length())
    features, left = _projected(network, x, y, weight, freedom, loss)
    more = rows - len(x)
    width = -(-features.shape[1] // COLUMNS) * COLUMNS
    features = np.pad(features, ((0, more), (0, width - features.shape[1])))
    starts = first_units(few.dim, STARTS, seed, freedom.biases)
    units, weights, gains = (
        np.asarray(found)
        for found in _ascend(
            network.activation,
            jnp.asarray(np.pad(x, ((0, more), (0, 0)))),
            jnp.asarray(np.pad(np.sqrt(weight), (0, more))),
            jnp.asarray(features),
            jnp.asarray(np.pad(left, ((0, more), (0, 0)))),
            jnp.asarray(starts),
            jnp.asarray(np.append(np.ones(few.dim), float(freedom.biases))),
            jnp.asarray(RIDGE * np.sum(weight)),
        )
    )
    best = int(np.argmax(np.where(np.isfinite(gains), gains, -np.inf)))
    if not (gains[best] > 0 and np.all(np.isfinite(units[best]))):
        return None
    return Candidate(units[best], weights[best], float(gains[best] / np.sum(left**2)))


def first_units(dim: int, count: int, seed: int, biases: bool) -> np.ndarray:
    """Random units (count, d + 1): directions at random, lengths from 0.3 to 3 sqrt(d)."""
    rng = np.random.default_rng([seed, 7])
    directions = rng.standard_normal((count, dim))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    lengths = np.exp(rng.uniform(np.log(0.3), np.log(3 * np.sqrt(dim)), count))
    offsets = lengths * rng.standard_normal(count) * biases
    return np.column_stack([lengths[:, None] * directions, offsets])


def _projected(
    network: FittedNetwork,
    x: np.ndarray,
    y: np.ndarray,
    weight: np.ndarray,
    freedom: Freedom,
    loss: str,
) -> tuple[np.ndarray, np.ndarray]:
    """An orthonormal basis of the weighted features, and what is left of the answers."""
    inputs, ones = x[:, :-1], x[:, -1:]
    units = responses(network.activation, x @ network.tilted.T)
    columns = [units]
    if freedom.linear:
        columns.append(inputs)
    if freedom.intercept:
        columns.append(ones)
    root = np.sqrt(weight)[:, None]
    outputs = units @ network.weights + inputs @ network.linear + network.intercept
    left = root * residuals(loss, outputs, y)
    table = root * np.column_stack(columns)
    if table.shape[1] == 0:
        return np.zeros((len(x), 1)), left
    rotation, triangle = np.linalg.qr(table)
    u, sizes, _ = np.linalg.svd(triangle, full_matrices=False)
    basis = rotation @ u[:, sizes > 1e-10 * max(float(sizes[0]), 1e-300)]
    return basis, left - basis @ (basis.T @ left)


@eqx.filter_jit
def _ascend(
    activation: DotProduct,
    x: Array,
    root: Array,
    basis: Array,
    left: Array,
    starts: Array,
    free: Array,
    ridge: Array,
) -> tuple[Array, Array, Array]:
    TRACES["search"] += 1
    response = response_of(activation)
    width = x.shape[1]
    pairs = None
    if width <= WIDEST:
        pairs = (x[:, :, None] * x[:, None, :]).reshape(len(x), -1)

    def gains(units: Array) -> tuple[Array, ...]:
        z = x @ units.T
        value, slope = response(z, jnp.linalg.norm(units, axis=1))
        value, slope = root[:, None] * value, root[:, None] * slope
        value = value - basis @ over_rows(basis, value)
        size = column_sums(value**2) + ridge
        weight = over_rows(value, left) / size[:, None]
        gain = size * jnp.sum(weight**2, axis=1)
        return gain, weight, value, slope, size

    def one(state: State, _: None) -> tuple[State, None]:
        units, damping, gain = state
        weight, value, slope, size = gains(units)[1:]
        square = jnp.sum(weight**2, axis=1)  # |c|^2 of every start
        # Rows D = slope x of every start, n (d + 1) numbers each; D^T D as one product if it fits.
        along = over_rows(value * slope, x)
        across = over_rows(basis, (slope[:, :, None] * x[:, None, :]).reshape(len(x), -1))
        across = across.reshape(basis.shape[1], *units.shape)
        if pairs is None:
            gram = jax.lax.map(lambda s: over_rows(s[:, None] * x, s[:, None] * x), slope.T)
        else:
            gram = over_rows(slope**2, pairs).reshape(-1, width, width)
        gram = gram - jax.vmap(over_rows, in_axes=1)(across, across)
        gram = gram - along[:, :, None] * along[:, None, :] / size[:, None, None]
        miss = left @ weight.T - value * square  # sum over outputs of c_o (r_o - c_o s)
        pull = over_rows(slope * miss, x)
        pull = pull - jnp.einsum("qsi,qs->si", across, over_rows(basis, miss))
        pull = free * (pull - along * (column_sums(value * miss) / size)[:, None])
        matrix = square[:, None, None] * gram * (free[:, None] * free)
        scale = jnp.diagonal(matrix, axis1=1, axis2=2)
        scale = jnp.maximum(scale, 1e-8 * jnp.max(scale, axis=1, keepdims=True))
        scale = jnp.where(scale > 0, scale, 1.0) * damping[:, None]
        moved = jnp.linalg.solve(matrix + scale[:, :, None] * jnp.eye(width), pull[:, :, None])
        trial = units + free * jnp.nan_to_num(moved[:, :, 0], posinf=0.0, neginf=0.0)
        better = gains(trial)[0]
        short = jnp.sum(trial**2, axis=1) <= LONGEST**2 * width
        good = (better > gain) & short
        return (
            jnp.where(good[:, None], trial, units),
            jnp.clip(jnp.where(good, damping / 5, damping * 4), 1e-8, 1e8),
            jnp.where(good, better, gain),
        ), None

    begin = (starts, jnp.full(starts.shape[0], 0.1), gains(starts)[0])
    (units, _, gain), _ = jax.lax.scan(one, begin, None, length=ITERATIONS)
    return units, gains(units)[1], gain
