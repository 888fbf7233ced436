"""Finite proofs that a potential on R^d is not realizable: points and weights with w' Phi w < 0.

An activation with potential Phi would make sum_ij w_i w_j Phi(x_i, x_j) the expectation of a
square (Full, Lemma B.4), so one negative value forbids it. Where the transform of Phi is negative
at a frequency omega, such points exist (Bochner): a wave of that frequency, sampled. They are
looked for on lattices of spacings around pi/omega, which the eigenvector of the smallest
eigenvalue weights, from a few points on a line to balls of a lattice; then those that matter least
are left out. All of this happens in the few coordinates that matter, whatever d is.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from scipy import linalg

from earnshaw.duality.formulas.expression import CartesianExpression
from earnshaw.duality.formulas.symbolic import in_columns
from earnshaw.duality.potential import Potential, Radial
from earnshaw.duality.realizing._spectrum import as_function
from earnshaw.duality.realizing._witness import MAX_ENTRIES, Witness, thinned
from earnshaw.duality.realizing.realization import Obstruction, ObstructionKind
from earnshaw.numerics.budget import TooMuchWork, checkpoint

Gram = Callable[[np.ndarray], np.ndarray]

_CONVINCING = 1e-3
_CLOUD = 50  # coordinates in which random points are drawn, at most


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
    try:
        found = find_space_witness(potential, _spacings(location, scale))
    except TooMuchWork:  # the frequency is an obstruction without one
        found = None
    if found is None:
        return Obstruction(kind, location, value, dim)
    return placed(potential, Obstruction(kind, location, value, dim, *found[:2]))


def reduced_dim(potential: Potential) -> int:
    """How many coordinates matter to the values of a potential on R^d, or to a search in it."""
    if isinstance(potential, CartesianExpression):
        return len(potential.axes)
    return min(potential.dim, _CLOUD)  # type: ignore[attr-defined]


def values_at(potential: Potential, displacement: np.ndarray) -> np.ndarray:
    """Phi at displacements (n, m) in the m coordinates that matter; shape (n,)."""
    if isinstance(potential, Radial):
        return as_function(potential)(np.linalg.norm(displacement, axis=-1))
    if isinstance(potential, CartesianExpression):
        return in_columns(potential.expr, potential.symbols, displacement)
    # Of a separable potential the other factors stay at 0. Padded, to compile for few shapes.
    count, dim = displacement.shape
    padded = np.zeros((1 << (count - 1).bit_length(), dim))
    padded[:count] = displacement
    factor = potential.factor  # type: ignore[attr-defined]
    rest = float(factor.value(0.0)) ** (potential.dim - dim)  # type: ignore[attr-defined]
    return np.prod(np.asarray(factor.value(np.abs(padded))), axis=-1)[:count] * rest


def placed(potential: Potential, found: Obstruction) -> Obstruction:
    """An obstruction in the coordinates that matter as one in R^d.

    Where d is so large that its points would be millions of zeros, those of a radial potential stay
    in the dimensions that they need, and those of a formula in coordinates are left out.
    """
    assert found.points is not None
    count, own = found.points.shape
    dim: int = potential.dim  # type: ignore[attr-defined]
    points: np.ndarray | None = found.points
    if count * dim <= MAX_ENTRIES:
        axes = getattr(potential, "axes", tuple(range(own)))[:own]
        points = np.zeros((count, dim))
        points[:, np.array(axes, dtype=int)] = found.points
    elif isinstance(potential, Radial):
        points = found.points[:, : 1 + int(np.max(np.nonzero(found.points)[1], initial=0))]
    else:
        points = None
    weights = None if points is None else found.weights
    where = dim if points is None else points.shape[1]
    return Obstruction(found.kind, found.location, found.value, where, points, weights)


def exceeding(potential: Potential, displacement: np.ndarray) -> Obstruction | None:
    """Two points whose Phi exceeds Phi(0), or one if Phi(0) < 0: |Phi(x)| <= Phi(0) is necessary.

    `displacement` (n, m) are the x to try, in the coordinates that matter.
    """
    dim = displacement.shape[1]
    zero = np.zeros((1, dim))
    origin = float(values_at(potential, zero)[0])
    if origin < 0:
        return Obstruction("exceeds-origin", 0.0, origin, dim, zero, np.ones(1))
    values = values_at(potential, displacement)
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
    potential: Potential, spacings: np.ndarray, largest: int = 600
) -> tuple[np.ndarray, np.ndarray, float] | None:
    """Points (n, m), weights (n,) of norm 1, and their form, negative beyond rounding; or None.

    Lattices of the given `spacings` are tried in growing size, up to `largest` points; the first
    size with a form below -0.001 Phi(0) is taken, at the spacing where it is lowest, else the
    lowest of all.
    """
    gram = _gram_of(potential)
    best: Witness | None = None
    for shape in _shapes(reduced_dim(potential)):
        if len(shape) > largest:
            continue
        for spacing in spacings:
            checkpoint("the search for a witness")
            found = _lowest(gram, shape * spacing)
            if found is not None and (best is None or found.form < best.form):
                best = found
        if best is not None and best.form < -_CONVINCING:
            break
    if best is None:
        return None
    points, weights, _ = thinned(partial(_lowest, gram), best)
    form = float(weights @ gram(points) @ weights / (weights @ weights))
    return (points, weights, form) if form < 0 else None


def _gram_of(potential: Potential) -> Gram:
    """The function points (n, m) -> Phi(x_i, x_j), (n, n)."""

    def gram(points: np.ndarray) -> np.ndarray:
        count, dim = points.shape
        gaps = points[:, None, :] - points[None, :, :]
        return values_at(potential, gaps.reshape(-1, dim)).reshape(count, count)

    return gram


def _lowest(matrix: Gram, points: np.ndarray) -> Witness | None:
    """The eigenvector of the smallest eigenvalue, its form in units of Phi(0), if negative."""
    gram = matrix(points)
    if not np.all(np.isfinite(gram)) or np.max(np.abs(gram)) > 1e150:
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
