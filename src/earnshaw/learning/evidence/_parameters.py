"""A network as one vector of parameters, what they do to its outputs, and which belong together.

    theta = (W (k, d), b (k,), V (k, m), L (d, m), c (m,)),
    g(x) = sum_j V_j s(x.W_j + b_j) + x.L + c.

Parameters of one group share a precision: each input's weights into the units, the biases, the
output weights, each input's linear part. The constant c has none: it may be anything.
"""

from __future__ import annotations

import dataclasses
from functools import cached_property
from typing import NamedTuple

import numpy as np

from earnshaw.duality.activation import DotProduct
from earnshaw.learning.evidence._response import response, value_of


class Parts(NamedTuple):
    """W (k, d), b (k,), V (k, m), L (d, m) and c (m,): views of a vector."""

    positions: np.ndarray
    biases: np.ndarray
    weights: np.ndarray
    linear: np.ndarray
    intercept: np.ndarray


@dataclasses.dataclass(frozen=True)
class Layout:
    """Of k units, d inputs and m outputs; `sources` (d,) numbers the columns that inputs come from.

    Inputs of one source (a category's levels) share their precisions. `rising` (d,) is 1 where g
    must not fall with an input, -1 where it must not rise, 0 elsewhere; empty for all 0.
    """

    activation: DotProduct
    units: int
    sources: tuple[int, ...]
    outputs: int
    rising: tuple[int, ...] = ()

    @property
    def dim(self) -> int:
        """d."""
        return len(self.sources)

    @cached_property
    def size(self) -> int:
        """How many parameters there are."""
        k, d, m = self.units, self.dim, self.outputs
        return k * (d + 1 + m) + d * m + m

    @cached_property
    def groups(self) -> np.ndarray:
        """The group of every parameter, (size,); the last group is that of the constants."""
        k, m = self.units, self.outputs
        source = np.asarray(self.sources)
        count = int(source.max()) + 1
        return np.concatenate(
            [
                np.tile(source, k),
                np.full(k, count),
                np.full(k * m, count + 1),
                np.repeat(count + 2 + source, m),
                np.full(m, 2 * count + 2),
            ]
        )

    def parts(self, theta: np.ndarray) -> Parts:
        """The arrays in a vector."""
        k, d, m = self.units, self.dim, self.outputs
        ends = np.cumsum([k * d, k, k * m, d * m])
        w, b, v, linear, c = np.split(theta, ends)
        return Parts(w.reshape(k, d), b, v.reshape(k, m), linear.reshape(d, m), c)

    def outputs_of(self, theta: np.ndarray, x: np.ndarray) -> np.ndarray:
        """g(x), (n, m)."""
        w, b, v, linear, c = self.parts(theta)
        return value_of(self.activation, x @ w.T + b) @ v + x @ linear + c

    def rows(self, theta: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """g(x) (n, m), the features (s, x, 1) (n, k + d + 1), and slopes s' (n, k)."""
        w, b, v, linear, c = self.parts(theta)
        value, slope = response(self.activation, x @ w.T + b)
        features = np.concatenate([value, x, np.ones((len(x), 1))], axis=1)
        return value @ v + x @ linear + c, features, slope

    def signs(self, theta: np.ndarray) -> np.ndarray:
        """(size,): 1 where a parameter must not be negative, -1 where not positive, 0 elsewhere.

        With a rising s and one output, g rises with input i if all V_j W_ji and L_i are >= 0. Each
        unit keeps the sign that its V_j has.
        """
        w, b, v, _, c = self.parts(theta)
        rising = np.asarray(self.rising, dtype=float)
        own = np.sign(np.where(v[:, 0] == 0, w @ rising, v[:, 0]))
        own = np.where(own == 0, 1.0, own)
        inner = (own[:, None] * rising).ravel()
        return np.concatenate([inner, 0 * b, own, rising, 0 * c])

    @property
    def work(self) -> float:
        """Multiplications a sample that the Gauss-Newton matrix takes (`_training.py: Curved`)."""
        inner, outer, m = self.units * (self.dim + 1), self.units + self.dim + 1, self.outputs
        return m * inner**2 + m * inner * outer + m * (m + 1) / 2 * outer**2

    def inner(
        self, theta: np.ndarray, x: np.ndarray, slope: np.ndarray, mix: np.ndarray
    ) -> np.ndarray:
        """The part of `jacobian` that belongs to units and biases, (n, k (d + 1))."""
        k, d = self.units, self.dim
        found = np.empty((len(x), k * (d + 1)))
        moved = slope * (mix @ self.parts(theta).weights.T)
        np.multiply(moved[:, :, None], x[:, None, :], out=found[:, : k * d].reshape(len(x), k, d))
        found[:, k * d :] = moved
        return found

    def jacobian(
        self, theta: np.ndarray, x: np.ndarray, rows: tuple[np.ndarray, ...], mix: np.ndarray
    ) -> np.ndarray:
        """sum_o mix_o dg_o/dtheta, (n, size), for mix (n, m): one row of J for every sample."""
        features, slope = rows
        rest = (features[:, :, None] * mix[:, None, :]).reshape(len(x), -1)
        return np.concatenate([self.inner(theta, x, slope, mix), rest], axis=1)
