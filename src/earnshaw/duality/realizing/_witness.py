"""Finite proofs that f(rho) is no kernel on a sphere: unit vectors and weights with w' f(G) w < 0.

A dot-product activation with potential f would make sum_ij w_i w_j f(x_i.x_j) an expectation of a
square, in every dimension, so one negative value forbids it (Full, Lemma B.4). Candidates, from the
fewest points on:

- one point (f(1) < 0), or two at the rho where |f(rho)| > f(1);
- equiangular vectors, rho_ij = c: the form is negative if f(1) + (m - 1) f(c) < 0;
- regular polygons on a circle, weighted by a cosine;
- *blocks*: points (a x, b e_k) for x in a small set X (two ends of a line, a polygon, a cube), k =
  1 .. M and a^2 + b^2 = 1. Equal weights over k leave M f(a^2 G) + f(a^2 G + b^2) - f(a^2 G), and
  for small a the first term shows the sign of single Taylor coefficients: with M large enough
  these find every c_n < 0, in dimension dim(X) + M;
- many points of S^(d-1) with the eigenvector of the smallest eigenvalue, then thinned out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh

from earnshaw.numerics.budget import checkpoint

Function = Callable[[np.ndarray], np.ndarray]

MAX_POINTS = 4000
MAX_ENTRIES = 200_000  # points times dimension: what a report can still carry
_EPS = float(np.finfo(float).eps)


class Witness(NamedTuple):
    """Unit vectors (n, dim), weights (n,) of norm 1, and the negative form w' f(G) w."""

    points: np.ndarray
    weights: np.ndarray
    form: float

    @property
    def dim(self) -> int:
        """The dimension d of the space around S^(d-1)."""
        return self.points.shape[1]


def find_witness(f: Function, dim: int) -> Witness | None:
    """A witness on S^(dim-1), with as few points as the search knows how, or None.

    In very high dimension it stays on the great sphere that it needs: further zeros tell nothing.
    """
    for points in _few_points(f, dim):
        found = _checked(f, points)
        if found is not None:
            return _padded(thinned(partial(_checked, f), found), dim)
    blocks = _blocks(f, dim)
    if blocks is not None:
        return _padded(blocks, dim)
    for points in _many_points(dim):
        found = _checked(f, points)
        if found is not None:
            return thinned(partial(_checked, f), found)
    return None


def find_witness_above(f: Function, dim: int) -> Witness | None:
    """A witness in a dimension above `dim`: the smallest one made of blocks."""
    return _blocks(f, None, beyond=dim)


def quadratic_form(f: Function, points: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
    """(w' f(G) w / |w|^2, its rounding error), G the matrix of inner products."""
    values = f(_gram(points))
    size = float(weights @ weights)
    form = float(weights @ values @ weights) / size
    spread = float(np.abs(weights) @ np.abs(values) @ np.abs(weights)) / size
    # Inner products of rounded unit vectors miss 1 by an ulp or two: f' may be infinite there.
    ends = f(np.array([1.0, 1.0 - 4 * _EPS]))
    return form, 64 * _EPS * spread + 2 * abs(float(ends[0] - ends[1]))


def _gram(points: np.ndarray) -> np.ndarray:
    inner = np.clip(points @ points.T, -1.0, 1.0)
    np.fill_diagonal(inner, 1.0)
    return inner


def _lowest_vector(matrix: np.ndarray) -> np.ndarray:
    """The unit eigenvector of the smallest eigenvalue."""
    return eigh((matrix + matrix.T) / 2, subset_by_index=[0, 0])[1][:, 0]


def _checked(f: Function, points: np.ndarray) -> Witness | None:
    """The eigenvector of the smallest eigenvalue, if negative beyond rounding."""
    checkpoint("the search for a witness")
    values = f(_gram(points))
    if not np.all(np.isfinite(values)):
        return None
    weights = _lowest_vector(values)
    form, rounding = quadratic_form(f, points, weights)
    return Witness(points, weights, form) if form < -rounding else None


def thinned(check: Callable[[np.ndarray], Witness | None], found: Witness) -> Witness:
    """Drop the points that matter least, half of them first, while a tenth of the form survives.

    `check` makes a witness of points, or None if their form is not negative.
    """
    goal = 0.1 * found.form
    dropped = len(found.weights) // 2
    while dropped >= 1:
        kept = np.argsort(-np.abs(found.weights))[: len(found.weights) - dropped]
        fewer = check(found.points[np.sort(kept)]) if len(kept) else None
        if fewer is not None and fewer.form < goal:
            found = fewer
            dropped = min(dropped, len(found.weights) // 2)
        else:
            dropped //= 2
    return found


def _padded(found: Witness, dim: int) -> Witness:
    missing = dim - found.dim if len(found.points) * dim <= MAX_ENTRIES else 0
    return found._replace(points=np.pad(found.points, ((0, 0), (0, max(missing, 0)))))


def _few_points(f: Function, dim: int) -> Iterator[np.ndarray]:
    """Sets with a known structure, in at most `dim` dimensions."""
    yield np.eye(1, 2)
    grid = np.cos(np.linspace(0, math.pi, 721))
    values = f(grid)
    c = grid[np.argmax(np.abs(values))]
    yield np.array([[1.0, 0.0], [c, math.sqrt(max(0.0, 1 - c * c))]])
    for count in range(3, min(dim + 1, 65) + 1):
        lowest = -1 / (count - 1)
        # dim + 1 vectors fit in R^dim only as a simplex.
        allowed = grid >= lowest if count <= dim else np.zeros(len(grid), bool)
        angles = np.append(grid[allowed], lowest)
        c = angles[np.argmin(f(angles))]
        yield _equiangular(count, float(c), min(count, dim))
    for sides in range(3, 97):
        yield polygon(sides)


def _equiangular(count: int, c: float, dim: int) -> np.ndarray:
    gram = np.full((count, count), c)
    np.fill_diagonal(gram, 1.0)
    values, vectors = np.linalg.eigh(gram)
    points = vectors[:, -dim:] * np.sqrt(np.clip(values[-dim:], 0, None))
    return points / np.linalg.norm(points, axis=1, keepdims=True)


def polygon(sides: int) -> np.ndarray:
    """The regular polygon on the unit circle; shape (sides, 2)."""
    angles = 2 * math.pi * np.arange(sides) / sides
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def _cube(dim: int) -> np.ndarray:
    signs = np.indices((2,) * dim).reshape(dim, -1).T * 2.0 - 1
    return signs / math.sqrt(dim)


def _block_shapes() -> Iterator[np.ndarray]:
    yield np.ones((1, 1))
    yield np.array([[1.0], [-1.0]])
    for sides in (*range(3, 13), 14, 16, 20, 24, 32, 40):
        yield polygon(sides)
    for dim in range(3, 7):
        yield _cube(dim)


def _blocks(f: Function, dim: int | None, beyond: int = 0) -> Witness | None:
    """The smallest block construction, points times dimension, within `dim` or above `beyond`."""
    best: tuple[int, np.ndarray, float, int] | None = None
    for shape in _block_shapes():
        checkpoint("the search for a witness")
        inner, width = _gram(shape), shape.shape[1]
        for a2 in (0.0,) if len(shape) == 1 else (0.9, 0.75, 0.5, 0.35, 0.25, 0.15, 0.1, 0.05):
            width_here = 0 if len(shape) == 1 else width  # a = 0: the first coordinate is empty
            across = f(a2 * inner)
            within = f(a2 * inner + (1 - a2))
            most = MAX_POINTS // len(shape)
            most = most if dim is None else min(most, dim - width_here)
            least = max(1, beyond + 1 - width_here)
            blocks = _fewest_blocks(across, within, least, most)
            if blocks is None:
                continue
            entries = (width_here + blocks) * blocks * len(shape)
            if best is None or entries < best[0]:
                best = (entries, shape, a2, blocks)
    return _block_witness(f, *best[1:]) if best is not None and best[0] <= MAX_ENTRIES else None


def _fewest_blocks(across: np.ndarray, within: np.ndarray, low: int, high: int) -> int | None:
    """The smallest M in [low, high] with (M - 1) across + within indefinite beyond rounding."""
    if high < low or not (np.all(np.isfinite(across)) and np.all(np.isfinite(within))):
        return None

    def works(count: int) -> bool:
        form = (count - 1) * across + within
        rounding = 256 * _EPS * len(form) * float(np.max(np.abs(form)))
        return float(np.linalg.eigvalsh((form + form.T) / 2)[0]) < -rounding

    # More blocks only help, once `across` itself is indefinite: bisect.
    if not works(high):
        return None
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if works(middle) else (middle + 1, high)
    return high


def _block_witness(f: Function, shape: np.ndarray, a2: float, blocks: int) -> Witness | None:
    inner = _gram(shape)
    form = (blocks - 1) * f(a2 * inner) + f(a2 * inner + (1 - a2))
    weights = _lowest_vector(form)
    left = np.tile(math.sqrt(a2) * shape, (blocks, 1)) if a2 else np.zeros((blocks, 0))
    right = np.repeat(math.sqrt(1 - a2) * np.eye(blocks), len(shape), axis=0)
    points = np.hstack([left, right])
    spread = np.tile(weights, blocks) / math.sqrt(blocks)
    value, rounding = quadratic_form(f, points, spread)
    return Witness(points, spread, value) if value < -rounding else None


def _many_points(dim: int) -> Iterator[np.ndarray]:
    """Denser and denser sets on S^(dim-1): product grids on S^2, random points elsewhere."""
    generator = np.random.default_rng(0)
    for count in (12, 24, 48, 96, 200, 400):
        if dim == 3:
            side = max(2, round(math.sqrt(count / 2)))
            heights = np.repeat(np.polynomial.legendre.leggauss(side)[0], 2 * side)
            circles = np.tile(polygon(2 * side), (side, 1))
            radii = np.sqrt(1 - heights**2)[:, None]
            yield np.hstack([radii * circles, heights[:, None]])
        if count * dim > MAX_ENTRIES:
            return
        points = generator.normal(size=(count, max(dim, 2)))
        yield points / np.linalg.norm(points, axis=1, keepdims=True)
