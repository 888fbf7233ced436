"""Teacher and student: two-layer networks, seen as fixed protons and moving electrons.

A network g(x) = sum_i weights_i sigma(x, positions_i) is a set of charges. The papers give teacher
units the charge b_i = weights_i and student units a_i = -weights_i, so that the two attract and a
perfect student cancels its teacher. Users see the natural sign: a perfect student has the teacher's
weights; only `Student.charges` has the papers' sign.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.typing import ArrayLike

from earnshaw.activations.base import Activation
from earnshaw.charges.species import Species, formula_species, species
from earnshaw.errors import EarnshawError
from earnshaw.manifolds import Manifold, manifold
from earnshaw.potentials.base import Potential


class Student(eqx.Module):
    """The moving units: `positions` (k, d) and `weights` (k,), natural sign. May be empty."""

    positions: Array
    weights: Array

    def __init__(self, positions: ArrayLike, weights: ArrayLike) -> None:
        self.positions, self.weights = checked_charges("student", positions, weights)

    @property
    def units(self) -> int:
        """k, the number of units."""
        return self.positions.shape[-2]

    @property
    def dim(self) -> int:
        """d, the dimension of the inputs."""
        return self.positions.shape[-1]

    @property
    def charges(self) -> Array:
        """a = -weights: the electrons' charges, as in the papers."""
        return -self.weights


class Teacher(eqx.Module):
    """The fixed units f(x) = sum_i weights_i sigma(x, positions_i).

    Args:
        positions: w, shape (k, d), k >= 1.
        weights: b, shape (k,).
        activation: a name (with its parameters as further keywords), an activation, a potential
            object, or a function of one variable.
        potential: instead, a formula of the potential: in `rho` on the sphere, in `r` or
            `x1, x2, ...` on R^d.
        on: ``"space"`` or ``"sphere"``; where an activation allows both, space.
        width: the standard deviation of the Gaussian inputs; 1, or that of an object made for
            another one.
    """

    positions: Array
    weights: Array
    species: Species
    manifold: Manifold

    def __init__(
        self,
        positions: ArrayLike,
        weights: ArrayLike,
        activation: str | Activation | Potential | Species | Callable[[Any], Any] | None = None,
        *,
        potential: str | None = None,
        on: str | Manifold | None = None,
        width: float | None = None,
        **parameters: Any,
    ) -> None:
        self.positions, self.weights = checked_charges("teacher", positions, weights)
        if self.units == 0:
            raise EarnshawError("the teacher has no units; allowed: one or more")
        if (activation is None) == (potential is None):
            raise EarnshawError("a teacher needs activation=, or potential= with a formula")
        if potential is not None:
            if parameters:
                raise EarnshawError(f"parameters {sorted(parameters)} need an activation by name")
            where = manifold("space" if on is None else on).name
            self.species = formula_species(potential, self.dim, where, width)
        else:
            assert activation is not None
            self.species = species(activation, self.dim, width=width, parameters=parameters)
        self.manifold = self.species.manifold(on)
        if is_concrete(self.positions):
            self.manifold.check(self.positions, "teacher unit")

    @property
    def units(self) -> int:
        """k, the number of units."""
        return self.positions.shape[-2]

    @property
    def dim(self) -> int:
        """d, the dimension of the inputs."""
        return self.positions.shape[-1]

    @property
    def potential(self) -> Potential:
        """The raw potential of two units."""
        return self.species.potential

    @property
    def activation(self) -> Activation:
        """sigma(x, w), made when asked for."""
        return self.species.activation

    def student(self) -> Student:
        """The perfect student: the same positions and weights."""
        return Student(self.positions, self.weights)

    def __call__(self, x: ArrayLike) -> Array:
        """f(x) for inputs of shape (n, d); shape (n,)."""
        x = jnp.asarray(x, dtype=float)
        if x.ndim != 2 or x.shape[1] != self.dim:
            raise EarnshawError(f"the inputs have shape {x.shape}; allowed: (samples, {self.dim})")
        return network(self.activation, self.student(), x)


def network(activation: Activation, student: Student, x: Array) -> Array:
    """g(x) = sum_i weights_i sigma(x, positions_i) for inputs (n, d), unit by unit; shape (n,)."""

    def add(total: Array, unit: tuple[Array, Array]) -> tuple[Array, None]:
        position, weight = unit
        return total + weight * activation.unit(x, position), None

    total, _ = jax.lax.scan(add, jnp.zeros(x.shape[0]), (student.positions, student.weights))
    return total


def same_charges(first: Teacher | Student, second: Teacher | Student) -> bool:
    """Whether positions and weights agree to the last bit."""
    return np.array_equal(first.positions, second.positions) and np.array_equal(
        first.weights, second.weights
    )


def same_teacher(first: Teacher, second: Teacher) -> bool:
    """Whether charges, activation, inputs and manifold agree to the last bit."""

    def kind(teacher: Teacher) -> tuple[Any, ...]:
        species = teacher.species
        return species.name, species.parameters, float(species.inputs.width), teacher.manifold.name

    return same_charges(first, second) and kind(first) == kind(second)


def checked_charges(what: str, positions: ArrayLike, weights: ArrayLike) -> tuple[Array, Array]:
    """Positions (..., k, d) and weights (..., k) in float64: right shapes, finite entries."""
    try:
        positions, weights = _real(positions), _real(weights)
    except (TypeError, ValueError, OverflowError):
        raise EarnshawError(
            f"the {what}'s positions and weights must be arrays of real numbers"
        ) from None
    if positions.ndim < 2 or positions.shape[-1] == 0:
        raise EarnshawError(
            f"the {what}'s positions have shape {positions.shape}; allowed: (units, dimension)"
        )
    if weights.shape != positions.shape[:-1]:
        raise EarnshawError(
            f"the {what} has positions of shape {positions.shape} and weights of shape "
            f"{weights.shape}; allowed: weights of shape {positions.shape[:-1]}"
        )
    for name, values in (("positions", positions), ("weights", weights)):
        if is_concrete(values) and not np.all(np.isfinite(np.asarray(values))):
            raise EarnshawError(f"the {what}'s {name} have NaN or infinite entries")
    return positions, weights


def _real(values: ArrayLike) -> Array:
    # Strings and complex numbers would pass a conversion to float.
    array = jnp.asarray(values)
    if jnp.iscomplexobj(array):
        raise TypeError
    return array.astype(float)


def is_concrete(values: Array) -> bool:
    """Whether `values` are numbers, not stand-ins inside a compiled function."""
    return not isinstance(values, jax.core.Tracer)
