"""Finite proofs that a potential on R^d is not realizable: points and weights with w' Phi w < 0.

An activation with potential Phi would make sum_ij w_i w_j Phi(x_i, x_j) the expectation of a
square (Full, Lemma B.4), so one negative value forbids it. Where the transform of Phi is negative
at a frequency omega, such points exist (Bochner): a wave of that frequency, sampled. They are
looked for on lattices of spacings around pi/omega, which the eigenvector of the smallest
eigenvalue weights, from a few points on a line to balls of a lattice; then those that matter least
are left out.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from scipy import linalg

from earnshaw.duality.potential import Potential, Radial
from earnshaw.duality.realizing._witness import Witness, thinned
from earnshaw.duality.realizing.realization import Obstruction, ObstructionKind
from earnshaw.numerics.jax_as_numpy import as_numpy

Gram = Callable[[np.ndarray], np.ndarray]

_CONVINCING = 1e-3


def obstruct(
    potential: Potential,
    kind: ObstructionKind,
    location: float,
    value: float,
    dim: int,
    scale: float,
) -> Obstruction:
    """An obstruction, with a finite witness if one is found near the frequency `location`.

    `scale` is the radius at which Phi has fallen to half: a negative frequency below its inverse
    shows on lattices of about that spacing.
    """
    found = find_space_witness(potential, dim, _spacings(location, scale))
    points, weights = (None, None) if found is None else found
    return Obstruction(kind, location, value, dim, points, weights)


def exceeding(potential: Potential, dim: int, displacement: np.ndarray) -> Obstruction | None:
    """Two points whose Phi exceeds Phi(0), or one if Phi(0) < 0: |Phi(x)| <= Phi(0) is necessary.

    `displacement` (n, d) are the x to try.
    """
    zero = np.zeros((1, dim))
    origin = float(np.asarray(potential.between(zero, zero))[0])
    if origin < 0:
        return Obstruction("exceeds-origin", 0.0, origin, dim, zero, np.ones(1))
    values = np.asarray(potential.between(displacement, np.zeros_like(displacement)))
    values = np.where(np.isfinite(values), values, 0.0)
    worst = int(np.argmax(np.abs(values)))
    if abs(values[worst]) <= origin * (1 + 1e-9):
        return None
    # The first place tried where it is obvious.
    obvious = min(max(1.5 * origin, 0.5), abs(values[worst]) * (1 - 1e-9))
    worst = int(np.argmax(np.abs(values) >= max(obvious, origin * (1 + 1e-9))))
    points = np.stack([zero[0], displacement[worst]])
    weights = np.array([1.0, -math.copysign(1.0, values[worst])])
    where = float(np.linalg.norm(displacement[worst]))
    return Obstruction("exceeds-origin", where, float(values[worst]), dim, points, weights)


def find_space_witness(
    potential: Potential, dim: int, spacings: np.ndarray, largest: int = 600
) -> tuple[np.ndarray, np.ndarray] | None:
    """Points (n, dim) and weights (n,) of norm 1 with a form negative beyond rounding, or None.

    Lattices of the given `spacings` are tried in growing size, up to `largest` points; the first
    size with a form below -0.001 Phi(0) is taken, at the spacing where it is lowest, else the
    lowest of all.
    """
    gram = _gram_of(potential)
    best: Witness | None = None
    for shape in _shapes(dim):
        if len(shape) > largest:
            continue
        for spacing in spacings:
            found = _lowest(gram, shape * spacing)
            if found is not None and (best is None or found.form < best.form):
                best = found
        if best is not None and best.form < -_CONVINCING:
            break
    if best is None:
        return None
    points, weights, _ = thinned(partial(_lowest, gram), best)
    return points, weights


def _gram_of(potential: Potential) -> Gram:
    """The function points (n, d) -> Phi(x_i, x_j), (n, n); padded, to compile for few shapes."""
    if isinstance(potential, Radial):
        value = as_numpy(potential.value)
        return lambda x: value(np.linalg.norm(x[:, None, :] - x[None, :, :], axis=-1))

    def gram(points: np.ndarray) -> np.ndarray:
        count, dim = points.shape
        gaps = (points[:, None, :] - points[None, :, :]).reshape(-1, dim)
        padded = np.zeros((1 << (len(gaps) - 1).bit_length(), dim))
        padded[: len(gaps)] = gaps
        values = np.asarray(potential.between(padded, np.zeros(dim)))
        return values[: len(gaps)].reshape(count, count)

    return gram


def _lowest(matrix: Gram, points: np.ndarray) -> Witness | None:
    """The eigenvector of the smallest eigenvalue, its form in units of Phi(0), if negative."""
    gram = matrix(points)
    if not np.all(np.isfinite(gram)):
        return None
    gram = (gram + gram.T) / 2
    weights = linalg.eigh(gram, subset_by_index=[0, 0])[1][:, 0]
    form = float(weights @ gram @ weights)
    spread = float(np.abs(weights) @ np.abs(gram) @ np.abs(weights))
    if form > -1e-12 * spread:
        return None
    return Witness(points, weights, form / max(float(gram[0, 0]), 1e-300))


def _spacings(frequency: float, scale: float) -> np.ndarray:
    around = np.linspace(0.3, 1.7, 15) * math.pi / frequency
    return around if frequency * scale > 0.5 else np.geomspace(0.5, 8.0, 15) * scale


def _shapes(dim: int) -> Iterator[np.ndarray]:
    """Point sets of spacing about 1 in at most `dim` dimensions, padded with zeros to R^dim."""
    for count in (3, 5, 9, 17):
        yield _padded(np.arange(count, dtype=float)[:, None], dim)
    if dim == 1:
        yield np.arange(65, dtype=float)[:, None]
        return
    triangular = np.array([[1.0, 0.0], [0.5, math.sqrt(3) / 2]])
    for basis, radius in itertools.product((triangular, np.eye(2)), (2.1, 4.1, 8.1)):
        yield _padded(_lattice_ball(basis, radius), dim)
    if dim == 2:
        return
    face_centred = np.array([[1.0, 1, 0], [1, 0, 1], [0, 1, 1]]) / math.sqrt(2)
    for basis, radius in itertools.product((face_centred, np.eye(3)), (2.1, 3.9)):
        yield _padded(_lattice_ball(basis, radius), dim)
    if dim == 3:
        return
    generator = np.random.default_rng(0)
    for count in (100, 500):
        yield generator.normal(size=(count, dim)) * count ** (1 / dim) / 2


def _lattice_ball(basis: np.ndarray, radius: float) -> np.ndarray:
    """The points of a lattice within `radius` of 0, at most about 500."""
    reach = np.arange(-2 * math.ceil(radius), 2 * math.ceil(radius) + 1)
    indices = np.array(list(itertools.product(reach, repeat=len(basis))), dtype=float)
    points = indices @ basis
    return points[np.linalg.norm(points, axis=1) <= radius]


def _padded(points: np.ndarray, dim: int) -> np.ndarray:
    return np.pad(points, ((0, 0), (0, dim - points.shape[1])))
