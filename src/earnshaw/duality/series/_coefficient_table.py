"""Hermite coefficients as a function of a unit's norm, from a table, and sums of their products.

The series sum_n a_n(s1) a_n(s2) rho^n wants a_n(s) = E[f(s X) he_n(X)] at every unit, a quadrature
over a thousand nodes, in every gradient. As functions of s the coefficients are smooth. If f is
analytic in a strip, their singularities are on the imaginary axis, outside a disc about 0; seen
from an octave [2^e, 2^(e+1)] these are as far away whatever e is, so that polynomials of
degree 15 on quarters of octaves reach rounding. Below the first octave, where vectors may be short,

    a_n = s p_n(s^2)  for odd n,        a_n = f(0) [n = 0] + s^2 p_n(s^2)  for even n

keeps every digit. Functions that are less smooth get octaves cut into parts, and begin lower.

The sum is Horner's rule in chunks of CHUNK terms, from the table to the powers of rho, and as many
chunks as the shorter of the longest vectors on either side needs: about 60 s^2 terms for tanh.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.custom_derivatives import SymbolicZero
from numpy.polynomial.chebyshev import cheb2poly

TERMS = 16  # of a polynomial
CHUNK = 16  # terms of the Hermite series at a time
CUTS = ((-5, 4), (-7, 16))  # the first octave, and parts of an octave: tried in turn
HIGHEST = 10  # octaves end at 1024, if they are resolved until there
REACH = 4.0  # times the largest norm that the series is for: as far as they must be
TOLERANCE = 2e-14  # of the coefficients as a vector, relative to its length
NOISE = 2.0**-51  # of the same: coefficients below are rounding

Coefficients = Callable[[np.ndarray], np.ndarray]  # from norms (m,) to a_n (m, N)


class CoefficientTable(eqx.Module):
    """a_n(s) for n < N.

    `blocks` (pieces, chunks, TERMS, CHUNK) are polynomials for the a_n on the pieces between
    `edges` (pieces,), which are where they begin; the first, at 0, is one in s^2. Their variable is
    (s - `centres`) `rates`, in [-1, 1]. `chunks` (pieces,) is how many of them a unit needs,
    `errors` (pieces,) how far its (a_n) is off. Beyond the last piece, `end`, coefficients stay as
    they are there, and the error is infinite. Of an odd or even f every 2nd n (`stride`) is kept,
    from `offset` on.
    """

    blocks: Array
    edges: Array
    centres: Array
    rates: Array
    chunks: Array
    errors: Array
    end: Array
    at_zero: Array
    stride: int = eqx.field(static=True)
    offset: int = eqx.field(static=True)

    def product_sum(self, size1: Array, size2: Array, rho: Array) -> Array:
        """sum_n a_n(size1) a_n(size2) rho^n; the three broadcast."""
        power = rho if self.stride == 1 else rho * rho
        (total,) = _power_sums(0, self, *self._locate(size1), *self._locate(size2), power)
        return total * rho if self.offset else total

    def error(self, size: Array) -> Array:
        """How far (a_n) is off at this norm, relative to its length."""
        return jnp.where(size < self.end, self.errors[self._piece(size)], jnp.inf)

    def _piece(self, size: Array) -> Array:
        return jnp.sum(size[..., None] >= self.edges[1:], axis=-1)

    def _locate(self, size: Array) -> tuple[Array, Array]:
        """Where in the table a unit of this norm is: its piece, and its row (..., 2 TERMS + 1).

        Coefficients are linear in the row: powers of the variable times the factor of odd n, the
        same times that of even n, and what is added to a_0.
        """
        piece = self._piece(jax.lax.stop_gradient(size))
        short = (piece == 0)[..., None]
        square = size * size
        variable = jnp.where(piece == 0, square, jnp.minimum(size, self.end))
        powers = _all_powers((variable - self.centres[piece]) * self.rates[piece])
        odd = powers * jnp.where(short, size[..., None], 1.0)
        even = powers * jnp.where(short, square[..., None], 1.0)
        return piece, jnp.concatenate([odd, even, jnp.where(short, self.at_zero, 0.0)], axis=-1)

    def _chunk(self, piece: Array, row: Array, chunk: Array) -> Array:
        """The coefficients of one chunk, shape (..., CHUNK)."""
        orders = self.offset + self.stride * np.arange(CHUNK)
        odd, even = row[..., :TERMS, None], row[..., TERMS:-1, None]
        factors = {1: odd, 0: even}.get(self.offset if self.stride == 2 else -1)
        if factors is None:
            factors = jnp.where(orders % 2 == 1, odd, even)
        found = jnp.sum(factors * self.blocks[piece, chunk], axis=-2)
        return found + (orders == 0) * (chunk == 0) * row[..., -1:]


@partial(jax.custom_jvp, nondiff_argnums=(0,))
def _power_sums(
    order: int,
    table: CoefficientTable,
    piece1: Array,
    row1: Array,
    piece2: Array,
    row2: Array,
    x: Array,
) -> tuple[Array, ...]:
    """P(x) = sum_j a_j a'_j x^j over all kept terms, and its derivatives in x up to `order`.

    Bilinear in the rows, so that every derivative is a sum of this kind again: differentiating
    through the loop would compile a longer one each time.
    """
    longest = (jnp.max(table.chunks[piece], initial=0) for piece in (piece1, piece2))

    def step(state: tuple[Array, tuple[Array, ...]]) -> tuple[Array, tuple[Array, ...]]:
        """P = P x + a_j a'_j for the terms of a chunk; and P' = P' x + P, P'' = P'' x + 2 P' ..."""
        chunk, sums = state
        left, right = table._chunk(piece1, row1, chunk), table._chunk(piece2, row2, chunk)
        for j in reversed(range(CHUNK)):
            sums = (
                sums[0] * x + left[..., j] * right[..., j],
                *(sums[m] * x + m * sums[m - 1] for m in range(1, order + 1)),
            )
        return chunk - 1, sums

    shape = jnp.broadcast_shapes(row1.shape[:-1], row2.shape[:-1], x.shape)
    start = (jnp.minimum(*longest) - 1, (jnp.zeros(shape),) * (order + 1))
    return jax.lax.while_loop(lambda state: state[0] >= 0, step, start)[1]


def _power_sums_jvp(
    order: int, primals: tuple, tangents: tuple
) -> tuple[tuple[Array, ...], tuple[Array, ...]]:
    table, piece1, row1, piece2, row2, x = primals
    moved1, moved2, moved = (tangents[place] for place in (2, 4, 5))
    still = [isinstance(given, SymbolicZero) for given in (moved1, moved2, moved)]
    # One loop for all of them, side by side along a new first axis: loops are what compiles slowly.
    pairs = [(row1, row2)]
    pairs += [] if still[0] else [(moved1, row2)]
    pairs += [] if still[1] else [(row1, moved2)]
    rank = max(row1.ndim, row2.ndim, x.ndim + 1)
    left, right = (_stacked(rows, rank) for rows in zip(*pairs, strict=True))
    sums = _power_sums(order if still[2] else order + 1, table, piece1, left, piece2, right, x)
    changes = [sum(part[1:], start=jnp.zeros_like(part[0])) for part in sums[: order + 1]]
    if not still[2]:
        changes = [change + sums[m + 1][0] * moved for m, change in enumerate(changes)]
    return tuple(part[0] for part in sums[: order + 1]), tuple(changes)


def _stacked(rows: tuple[Array, ...], rank: int) -> Array:
    """Rows (..., n) along a new first axis, in front of all `rank` axes that they broadcast to."""
    return jnp.stack([row.reshape((1,) * (rank - row.ndim) + row.shape) for row in rows])


_power_sums.defjvp(_power_sums_jvp, symbolic_zeros=True)


@partial(jax.custom_jvp, nondiff_argnums=(1,))
def _all_powers(x: Array, order: int = 0) -> Array:
    """`_powers` of TERMS terms, differentiable."""
    return _powers(x, TERMS, order)


@_all_powers.defjvp
def _all_powers_jvp(order: int, primals: tuple, tangents: tuple) -> tuple[Array, Array]:
    (x,), (moved,) = primals, tangents
    return _all_powers(x, order), _all_powers(x, order + 1) * moved[..., None]


def _powers(x: Array, count: int, order: int = 0) -> Array:
    """x^n for n < count, (..., count), or their derivatives of some order.

    One operation, which compiles faster than products of products.
    """
    n = np.arange(count)
    falling = np.prod([n - i for i in range(order)], axis=0) * np.ones(count)
    return falling * x[..., None] ** np.maximum(n - order, 0).astype(float)


def coefficient_table(
    coefficients: Coefficients, largest: float, stride: int, offset: int
) -> CoefficientTable | None:
    """The table of a_n, n = offset, offset + stride, ...; None where it would not resolve them.

    `largest` is the largest norm that these are meant for.
    """
    zero = coefficients(np.zeros(1))[0]
    orders = offset + stride * np.arange(len(zero))
    zero = zero * (orders == 0)
    for first, parts in CUTS:
        octaves = 2.0 ** np.arange(first, HIGHEST)
        edges = np.append(np.outer(octaves, 1 + np.arange(parts) / parts), 2.0**HIGHEST)
        pieces = [_start(coefficients, edges[0], zero, orders), *_pieces(coefficients, edges)]
        good = int(np.argmax([*(piece.error > TOLERANCE for piece in pieces), True]))
        if good and edges[good - 1] >= REACH * largest:
            return _table(pieces[:good], edges[:good], zero[0], stride, offset)
    return None


def _table(
    pieces: list[_Piece], ends: np.ndarray, zero: float, stride: int, offset: int
) -> CoefficientTable:
    begins = np.append(0.0, ends[:-1])
    lower, upper = begins.copy(), ends.copy()
    upper[0] **= 2  # the first piece is in s^2
    chunks = -(-np.array([piece.needed for piece in pieces]) // CHUNK)
    rows = np.stack([piece.rows for piece in pieces])[..., : CHUNK * int(chunks.max())]
    rows = np.pad(rows, ((0, 0), (0, 0), (0, -rows.shape[-1] % CHUNK)))
    blocks = rows.reshape(*rows.shape[:2], -1, CHUNK).swapaxes(1, 2)
    return CoefficientTable(
        blocks=jnp.asarray(blocks),
        edges=jnp.asarray(begins),
        centres=jnp.asarray((upper + lower) / 2),
        rates=jnp.asarray(2 / (upper - lower)),
        chunks=jnp.asarray(chunks),
        errors=jnp.asarray([piece.error for piece in pieces]),
        end=jnp.asarray(ends[-1]),
        at_zero=jnp.asarray(zero),
        stride=stride,
        offset=offset,
    )


class _Piece(NamedTuple):
    """Coefficients of polynomials (TERMS, N), the relative error, how many a_n are needed."""

    rows: np.ndarray
    error: float
    needed: int


# Chebyshev points, and the points between them where interpolation is worst; cos(pi i/m) with
# integers reduced first, since rounding of large arguments would be seen.
def _cosines(numerators: np.ndarray, denominator: int) -> np.ndarray:
    return np.cos(np.pi * (numerators % (2 * denominator)) / denominator)


_ORDERS = np.arange(TERMS)
_ODD = 2 * np.arange(TERMS) + 1
_POINTS = _cosines(_ODD, 2 * TERMS)
_BETWEEN = _cosines(np.arange(TERMS + 1), TERMS)
_TO_CHEBYSHEV = _cosines(np.outer(_ORDERS, _ODD), 2 * TERMS) * (2 - (_ORDERS == 0))[:, None] / TERMS
_TO_POWERS = np.stack([np.pad(cheb2poly(row), (0, TERMS))[:TERMS] for row in np.eye(TERMS)], axis=1)
_BACK = np.vander(_BETWEEN, TERMS, increasing=True)


def _fitted(values: np.ndarray) -> np.ndarray:
    """The polynomials with these values at `_POINTS`, both (..., TERMS, N), in powers.

    Powers are as good as Chebyshev polynomials here: their coefficients fall as 9^-n.
    """
    return _TO_POWERS @ (_TO_CHEBYSHEV @ values)


def _pieces(coefficients: Coefficients, edges: np.ndarray) -> list[_Piece]:
    """Those between the edges, (m + 1,)."""
    points = np.concatenate([_POINTS, _BETWEEN])
    sizes = edges[:-1, None] + np.diff(edges)[:, None] * (1 + points) / 2
    values = coefficients(sizes.ravel()).reshape(*sizes.shape, -1)
    rows, truth = _fitted(values[:, :TERMS]), values[:, TERMS:]
    return [_judged(*piece) for piece in zip(rows, _BACK @ rows - truth, truth, strict=True)]


def _start(coefficients: Coefficients, end: float, zero: np.ndarray, orders: np.ndarray) -> _Piece:
    """Piece 0: p_n of the module's docstring, in s^2."""
    sizes = lambda x: end * np.sqrt((1 + x) / 2)  # noqa: E731
    factor = lambda s: np.where(orders % 2, s[:, None], s[:, None] ** 2)  # noqa: E731
    points, between = sizes(_POINTS), sizes(_BETWEEN)[:-1]  # not 0, where nothing is left
    rows = _fitted((coefficients(points) - zero) / factor(points))
    truth = coefficients(between)
    return _judged(rows, _BACK[:-1] @ rows * factor(between) + zero - truth, truth)


def _judged(rows: np.ndarray, off: np.ndarray, truth: np.ndarray) -> _Piece:
    sizes = np.linalg.norm(truth, axis=1)
    error = 2 * float(np.max(np.linalg.norm(off, axis=1) / np.where(sizes > 0, sizes, 1.0)))
    kept = np.nonzero(np.max(np.abs(truth), axis=0) > NOISE * np.max(sizes))[0]
    return _Piece(rows, error, int(kept[-1]) + 1 if len(kept) else 1)
