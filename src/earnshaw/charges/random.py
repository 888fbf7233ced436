"""The papers' random teachers, and random students to start from.

Positions, w_1 ... w_k in R^d, independent except where orthonormal:

- ``paper``        N(0, d log d I) (Full, Theorems 4.1 and 4.6, whose O() is taken as 1). log d is
                   replaced by log 2 for d = 1, where it would put all units in one place. They are
                   about d sqrt(2 log d) apart, not d log d (mathematics.md, error 20);
- ``sphere``       uniform on S^(d-1);
- ``orthonormal``  the first k rows of a random (Haar) orthogonal matrix, k <= d;
- ``gaussian``     N(0, I/d): length about 1.

Weights, b_1 ... b_k, independent:

- ``uniform``   uniform on [-1, 1] (Full, Theorem 4.1);
- ``ones``      all 1 (Full, Assumption 1);
- ``signs``     +1 or -1, each with probability 1/2;
- ``gaussian``  N(0, 1).

Biases, if units have them, by the same laws.

By default positions are uniform on the sphere where units live there, and also for dot-product
activations on R^d, for which a unit's length is the steepness of its activation; the others on R^d
are the papers' own. Weights are uniform. The same seed gives the same network in every process.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from earnshaw.charges.manifolds import Manifold
from earnshaw.charges.network import Student, Teacher
from earnshaw.charges.species import Species
from earnshaw.duality.activation import Activation
from earnshaw.duality.potential import Potential
from earnshaw.errors import EarnshawError, UnknownName
from earnshaw.inputs import Inputs
from earnshaw.limits import check_integer, check_memory, check_real, check_work

BIASES = 2  # folded into the key of the positions
TEACHER, STUDENT = 0, 1  # one seed gives a teacher and a student that know nothing of each other
LARGEST_SEED = 2**63 - 1
COPIES = 8  # of positions, with a gradient and what a step needs
Law = TypeVar("Law")


def _paper(key: Array, units: int, dim: int) -> np.ndarray:
    variance = dim * math.log(max(dim, 2))
    return math.sqrt(variance) * _normal(key, units, dim)


def _sphere(key: Array, units: int, dim: int) -> np.ndarray:
    x = _normal(key, units, dim)
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def _orthonormal(key: Array, units: int, dim: int) -> np.ndarray:
    if units > dim:
        raise EarnshawError(
            f"{units} units in dimension {dim} cannot be orthonormal; allowed: at most {dim} units"
        )
    q, r = np.linalg.qr(_normal(key, units, dim).T)
    # With the signs of the diagonal of R put back, Q is uniform (Mezzadri 2007).
    return (q * np.where(np.diagonal(r) < 0, -1.0, 1.0)).T


def _gaussian(key: Array, units: int, dim: int) -> np.ndarray:
    return _normal(key, units, dim) / math.sqrt(dim)


def _normal(key: Array, units: int, dim: int) -> np.ndarray:
    return np.asarray(jax.random.normal(key, (units, dim)))


POSITIONS: dict[str, Callable[[Array, int, int], np.ndarray]] = {
    "paper": _paper,
    "sphere": _sphere,
    "orthonormal": _orthonormal,
    "gaussian": _gaussian,
}
ON_THE_SPHERE = ("sphere", "orthonormal")

WEIGHTS: dict[str, Callable[[Array, int], Array]] = {
    "uniform": lambda key, units: jax.random.uniform(key, (units,), minval=-1.0, maxval=1.0),
    "ones": lambda key, units: jnp.ones(units),
    "signs": lambda key, units: jax.random.rademacher(key, (units,), dtype=float),
    "gaussian": lambda key, units: jax.random.normal(key, (units,)),
}


def random_teacher(
    activation: str | Activation | Potential | Species | Callable[[Any], Any] | None,
    dim: int,
    units: int,
    seed: int = 0,
    *,
    positions: str | None = None,
    weights: str | None = None,
    biases: str | None = None,
    on: str | Manifold | None = None,
    width: float | None = None,
    inputs: Inputs | None = None,
    potential: str | None = None,
    **parameters: Any,
) -> Teacher:
    """A teacher of `units` random units in R^dim.

    Parameters
    ----------
    activation
        as for `Teacher`; None with `potential=`.
    dim
        d >= 1.
    units
        k >= 1.
    seed
        an integer >= 0.
    positions
        ``"paper"``, ``"sphere"``, ``"orthonormal"`` or ``"gaussian"``; by default what
        suits the activation and the manifold.
    weights
        ``"uniform"`` (the default), ``"ones"``, ``"signs"`` or ``"gaussian"``.
    biases
        of units that have them, a law of the same names, e.g. ``"gaussian"``.
    on, width, inputs, potential, parameters
        as for `Teacher`.

    Returns
    -------
    Teacher

    Examples
    --------
    >>> import earnshaw as ew
    >>> teacher = ew.random_teacher("relu", dim=5, units=3, seed=0)
    >>> teacher.positions.shape, teacher.weights.shape
    ((3, 5), (3,))
    """
    dim = check_integer("dimension", dim, 1)
    units = check_integer("number of units", units, 1)
    check_memory({"units": units, "dimensions": dim}, COPIES)
    keys = _keys(seed, TEACHER)
    # A teacher of one unit, which may be anywhere, settles what its units are and where they live.
    one = Teacher(
        np.eye(1, dim),
        np.ones(1),
        activation,
        potential=potential,
        on=on,
        width=width,
        biases=None if biases is None else np.zeros(1),
        inputs=inputs,
        **parameters,
    )
    drawn = _positions(positions, one)(keys[0], units, dim)
    if biases is not None:
        drawn = _with_biases(biases, drawn, keys[0])
    return Teacher(drawn, _weights(weights)(keys[1], units), one.species, on=one.manifold)


def random_student(
    teacher: Teacher,
    units: int | None = None,
    seed: int = 0,
    *,
    positions: str | None = None,
    weights: str | None = None,
    scale: float = 1.0,
) -> Student:
    """A student to start from, drawn as `random_teacher` draws a teacher of this kind.

    It knows the teacher's activation, manifold and dimension, and nothing of its units; it is
    independent of a random teacher made from the same seed. Biases, if any, are N(0, 1).

    Parameters
    ----------
    teacher
        whose kind of units to draw.
    units
        k >= 0; by default as many as the teacher has.
    seed
        an integer >= 0.
    positions, weights
        as for `random_teacher`, with the same defaults.
    scale
        multiplies the positions on R^d; ``positions="gaussian", scale=s`` is
        N(0, s^2 I/d).

    Returns
    -------
    Student

    Examples
    --------
    >>> import earnshaw as ew
    >>> teacher = ew.random_teacher("relu", dim=5, units=3, seed=0)
    >>> ew.random_student(teacher, units=4, seed=1).units
    4
    """
    units = teacher.units if units is None else check_integer("number of units", units, 0)
    scale = check_real("scale", scale, 0.0)
    check_memory({"student units": units, "dimensions": teacher.dim}, COPIES)
    pairs = units * (units + teacher.units)
    check_work("one value of the loss", {"pairs of units": pairs, "dimensions": teacher.dim})
    keys = _keys(seed, STUDENT)
    if scale != 1 and teacher.manifold.name == "sphere":
        raise EarnshawError(f"scale is {scale!r} on the sphere; allowed: 1")
    law = _positions(positions, teacher)
    drawn = scale * law(keys[0], units, teacher.input_dim)
    if teacher.biased:
        drawn = _with_biases("gaussian", drawn, keys[0])
    outputs = teacher.weights.shape[1:]
    charges = _weights(weights)(keys[1], units * math.prod(outputs))
    return Student(drawn, jnp.reshape(charges, (units, *outputs))).of(teacher)


def _keys(seed: int, role: int) -> Array:
    """Keys for positions and for weights; of a named generator, whatever JAX's default is."""
    seed = check_integer("seed", seed, 0, LARGEST_SEED)
    return jax.random.split(jax.random.fold_in(jax.random.key(seed, impl="threefry2x32"), role))


def _positions(name: str | None, teacher: Teacher) -> Callable[[Array, int, int], np.ndarray]:
    """The named law of positions, or the one that suits the teacher's units."""
    on_sphere = teacher.manifold.name == "sphere"
    if name is None:
        unit_length = on_sphere or teacher.species.of_directions
        name = "sphere" if unit_length else "paper"
    law = _law("positions", name, POSITIONS)
    if on_sphere and name not in ON_THE_SPHERE:
        raise EarnshawError(
            f"{name} positions are not on the sphere; allowed: {' or '.join(ON_THE_SPHERE)}"
        )
    return law


def _with_biases(law: str, hidden: np.ndarray, key: Array) -> np.ndarray:
    """Hidden weights (k, d) with biases of a random law: positions (k, d + 1)."""
    drawn = _law("biases", law, WEIGHTS)(jax.random.fold_in(key, BIASES), len(hidden))
    return np.concatenate([hidden, np.asarray(drawn)[:, None]], axis=1)


def _weights(name: str | None) -> Callable[[Array, int], Array]:
    return _law("weights", "uniform" if name is None else name, WEIGHTS)


def _law(what: str, name: str, laws: Mapping[str, Law]) -> Law:
    if not isinstance(name, str):
        raise EarnshawError(
            f"{what}= names their random law; allowed: {', '.join(laws)}; "
            "given numbers go to Teacher or Student"
        )
    if name not in laws:
        raise UnknownName(f"law of {what}", name, laws)
    return laws[name]
