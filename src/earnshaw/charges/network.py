"""Teacher and student: two-layer networks, seen as fixed protons and moving electrons.

A network g(x) = sum_i weights_i sigma(x, positions_i) is a set of charges. The papers give teacher
units the charge b_i = weights_i and student units a_i = -weights_i, so that the two attract and a
perfect student cancels its teacher. Users see the natural sign: a perfect student has the teacher's
weights; only `Student.charges` has the papers' sign.

A unit with a bias, s(x.w + b), is a charge at the position (w, b) of R^(d+1): its bias is the
weight of an input that is always 1. So `positions` of a network with biases have one coordinate
more than its inputs, and everything about charges holds for them; `hidden` and `biases` are its
parts. For m outputs a charge is a vector, and `weights` are (k, m).

Units are of a `Species` (`species.py`): an activation and the potential that it gives, or several
of them (`mixed.py`).
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.typing import ArrayLike

from earnshaw.charges.manifolds import Manifold, manifold
from earnshaw.charges.mixed import check_one_a_unit, mixed_species, with_line
from earnshaw.charges.species import Species, formula_species, species
from earnshaw.duality.activation import Activation
from earnshaw.duality.affine_dual import MixedDual
from earnshaw.duality.named import activation as named_activation
from earnshaw.duality.potential import Potential
from earnshaw.errors import EarnshawError
from earnshaw.inputs import Inputs, inputs_to_dict, with_constant


class _Remark:
    """Room for a remark on an object: in a slot, where Equinox, and so JAX, does not see it.

    An attribute beside the fields would make another pytree of it, for which all is compiled anew.
    """

    __slots__ = ("_biased", "_unit_kind")

    def __getstate__(self) -> tuple[dict[str, Any], dict[str, Any]]:
        said = {name: getattr(self, name) for name in _Remark.__slots__ if hasattr(self, name)}
        return self.__dict__, said

    def __setstate__(self, state: tuple[dict[str, Any], dict[str, Any]]) -> None:
        self.__dict__.update(state[0])
        for name, value in state[1].items():
            object.__setattr__(self, name, value)


class _Parts:
    """What positions consist of: the same for a teacher and a student."""

    __slots__ = ()
    positions: Array
    weights: Array
    biased: Any  # whether the last coordinate of a position is a bias

    @property
    def units(self) -> int:
        """k, the number of units."""
        return self.positions.shape[-2]

    @property
    def dim(self) -> int:
        """d, the dimension of the positions: of the inputs, and one more for biases."""
        return self.positions.shape[-1]

    @property
    def input_dim(self) -> int:
        """The dimension of the inputs that it is called with."""
        return self.dim - self.biased

    @property
    def outputs(self) -> int | None:
        """m for weights (k, m); None for weights (k,), of one output that has no axis."""
        return self.weights.shape[-1] if self.weights.ndim == self.positions.ndim else None

    @property
    def hidden(self) -> Array:
        """w, the positions without biases: (k, d)."""
        return self.positions[..., :-1] if self.biased else self.positions

    @property
    def biases(self) -> Array | None:
        """(k,), or None."""
        return self.positions[..., -1] if self.biased else None


class Student(_Remark, _Parts, eqx.Module):
    """The moving units: `positions` (k, d) and `weights` (k,), natural sign. May be empty.

    With `biases` (k,) they become the last coordinate of `positions`, (k, d + 1). Weights are
    (k, m) for m outputs.

    A student has no activation, unless one is given (or one a unit): a loss gives it that of its
    teacher. One that comes from a teacher (`ew.learn`, `ew.random_student`, ...) remembers it, and
    can be called and stored with it. That is a remark on this object, not a part of the pytree:
    what JAX makes of it has forgotten it.

    Examples
    --------
    >>> import earnshaw as ew
    >>> student = ew.Student([[1.0, 0.0], [0.0, 1.0]], [2.0, 3.0])
    >>> student.units, student.dim
    (2, 2)
    """

    positions: Array
    weights: Array

    def __init__(
        self,
        positions: ArrayLike,
        weights: ArrayLike,
        biases: ArrayLike | None = None,
        activation: str | Activation | Callable[[Any], Any] | Sequence[Any] | None = None,
    ) -> None:
        self.positions, self.weights = checked_charges("student", positions, weights, biases)
        if biases is not None:
            object.__setattr__(self, "_biased", True)
        if activation is not None:
            object.__setattr__(self, "_unit_kind", UnitKind(given_units(activation, self.units)))

    @property
    def biased(self) -> bool:
        """Whether the last coordinate of a position is a bias, as far as that is known."""
        known = self.unit_kind is not None and self.unit_kind.biased
        return known or getattr(self, "_biased", False)

    @property
    def charges(self) -> Array:
        """a = -weights: the electrons' charges, as in the papers."""
        return -self.weights

    def of(self, network: Teacher | UnitKind | Activation) -> Student:
        """The same student, which knows that its units are of the kind of a teacher's."""
        found = network.unit_kind if isinstance(network, Teacher) else network
        found = UnitKind(found) if isinstance(found, Activation) else found
        student = copy.copy(self)  # a run that has diverged has a student, too
        object.__setattr__(student, "_unit_kind", found)
        return student

    def with_biases(self) -> Student:
        """The same student, which knows that the last coordinate of a position is a bias."""
        student = copy.copy(self)
        object.__setattr__(student, "_biased", True)
        return student

    @property
    def unit_kind(self) -> UnitKind | None:
        """Of which kind its units are; None where that is not known."""
        return getattr(self, "_unit_kind", None)

    def __call__(self, x: ArrayLike) -> Array:
        """g(x) for inputs of shape (n, d), with its teacher's activation; shape (n,)."""
        if self.unit_kind is None:
            raise EarnshawError(
                "this student has no activation; allowed: student.of(teacher)(x), and students "
                "that come from a teacher (learn, random_student, teacher.student())"
            )
        return network(self.unit_kind.responses, self, as_seen(x, self))

    def __repr__(self) -> str:
        kind = "" if self.unit_kind is None else f"{self.unit_kind.name}, "
        return f"Student({kind}{_sizes(self)})"


class UnitKind(NamedTuple):
    """What units are: of a species, on a manifold; or of an activation of which no more is known.

    Attributes:
        units: the species; or the activation, or one a unit.
        manifold: where they live; None where that is not known.
    """

    units: Species | Activation | tuple[Activation, ...]
    manifold: Manifold | None = None

    @property
    def name(self) -> str:
        """That of the activation or potential."""
        if isinstance(self.units, tuple):
            return ", ".join(dict.fromkeys(each.name for each in self.units))
        return self.units.name

    @property
    def biased(self) -> bool:
        """Whether they have biases."""
        return isinstance(self.units, Species) and self.units.biased

    @property
    def mixed(self) -> bool:
        """Whether they are of several activations, one a unit."""
        if isinstance(self.units, Species):
            return isinstance(self.units.potential, MixedDual)
        return isinstance(self.units, tuple)

    @property
    def activation(self) -> Activation:
        """sigma(x, w), the same for all units."""
        found = self.responses
        if isinstance(found, tuple):
            raise EarnshawError(f"units of several activations: {self.name}; allowed: one")
        return found

    @property
    def responses(self) -> Activation | tuple[Activation, ...]:
        """sigma(x, w), or one a unit."""
        return self.units.responses if isinstance(self.units, Species) else self.units


def given_units(activation: Any, units: int | None = None) -> Activation | tuple[Activation, ...]:
    """An activation by name, as a function or an object; or a list of them, one a unit."""
    if not isinstance(activation, (list, tuple)):
        return named_activation(activation)
    check_one_a_unit(activation, len(activation) if units is None else units)
    return tuple(named_activation(each) for each in activation)


class Teacher(_Parts, eqx.Module):
    """The fixed units f(x) = sum_i weights_i sigma(x, positions_i).

    Parameters
    ----------
    positions
        w, shape (k, d), k >= 1.
    weights
        b, shape (k,); (k, m) for m outputs.
    activation
        a name (with its parameters as further keywords), a formula in x, an activation,
        a potential object, or a function of one variable; or a list, one a unit.
    potential
        instead, a formula of the potential: in `rho` on the sphere, in `r` or
        `x1, x2, ...` on R^d.
    on
        ``"space"`` or ``"sphere"``; where an activation allows both, space.
    width
        the standard deviation of the Gaussian inputs; 1, or that of an object made for
        another one.
    biases
        (k,), for units s(x.w + b); the last coordinate of `positions` then.
    inputs
        ``ew.Gaussian(mean=..., covariance=...)`` or ``ew.GaussianMixture(...)``, instead
        of a width.
    linear
        (d,), or (d, m), a linear part of the output: further units, one for each output,
        whose activation is the identity (hermite-1).
    intercept
        (), or (m,), a constant of the output: the biases of these units.

    Examples
    --------
    >>> import earnshaw as ew
    >>> teacher = ew.Teacher([[1.0, 0.0], [0.0, 1.0]], [1.0, -1.0], "relu")
    >>> teacher([[1.0, 2.0], [3.0, -1.0]]).tolist()  # relu(x1) - relu(x2)
    [-1.0, 3.0]
    >>> ew.Teacher([[1.0, 0.0]], [1.0], "relu", biases=[0.5]).input_dim
    2
    """

    positions: Array
    weights: Array
    species: Species
    manifold: Manifold

    def __init__(
        self,
        positions: ArrayLike,
        weights: ArrayLike,
        activation: str
        | Activation
        | Potential
        | Species
        | Callable[[Any], Any]
        | Sequence[Any]
        | None = None,
        *,
        potential: str | None = None,
        on: str | Manifold | None = None,
        width: float | None = None,
        biases: ArrayLike | None = None,
        inputs: Inputs | None = None,
        linear: ArrayLike | None = None,
        intercept: ArrayLike | None = None,
        **parameters: Any,
    ) -> None:
        if linear is not None or intercept is not None:
            positions, weights, activation, biases = with_line(
                positions, weights, activation, biases, linear, intercept, parameters
            )
        self.positions, self.weights = checked_charges("teacher", positions, weights, biases)
        if self.units == 0:
            raise EarnshawError("the teacher has no units; allowed: one or more")
        if (activation is None) == (potential is None):
            raise EarnshawError("a teacher needs activation=, or potential= with a formula")
        if potential is not None:
            if parameters:
                raise EarnshawError(f"parameters {sorted(parameters)} need an activation by name")
            where = manifold("space" if on is None else on).name
            if biases is not None or inputs is not None:
                raise EarnshawError("biases= and inputs= need an activation s(x.w), no potential=")
            self.species = formula_species(potential, self.dim, where, width)
        else:
            assert activation is not None
            seen: Any = {"width": width, "inputs": inputs, "biased": biases is not None}
            if isinstance(activation, (list, tuple)):
                check_one_a_unit(activation, self.units)
                self.species = mixed_species(activation, self.dim, parameters=parameters, **seen)
            else:
                self.species = species(activation, self.dim, parameters=parameters, **seen)  # type: ignore[arg-type]
        self.manifold = self.species.manifold(on)
        if is_concrete(self.positions):
            self.manifold.check(self.positions, "teacher unit")

    @property
    def biased(self) -> bool:
        """Whether the last coordinate of a position is a bias."""
        return self.species.biased

    @property
    def potential(self) -> Potential:
        """The raw potential of two units."""
        return self.species.potential

    @property
    def activation(self) -> Activation:
        """sigma(x, w), made when asked for."""
        return self.species.activation

    @property
    def unit_kind(self) -> UnitKind:
        """What its units are."""
        return UnitKind(self.species, self.manifold)

    def with_weights(self, weights: Array) -> Teacher:
        """The same units with other weights, (k,) or (k, m)."""
        return eqx.tree_at(lambda teacher: teacher.weights, self, weights)

    def student(self) -> Student:
        """The perfect student: the same positions and weights."""
        return Student(self.positions, self.weights).of(self)

    def __call__(self, x: ArrayLike) -> Array:
        """f(x) for inputs of shape (n, d); shape (n,), or (n, m)."""
        return network(self.species.responses, self.student(), as_seen(x, self))

    def __repr__(self) -> str:
        on = "on the sphere" if self.manifold.name == "sphere" else "in space"
        return f"Teacher({self.species.name}, {_sizes(self)}, {on})"


def _sizes(network: Teacher | Student) -> str:
    *batch, units, dim = network.positions.shape
    many = "".join(f"{size} x " for size in batch)
    with_biases = " with biases" if network.biased else ""
    dim = dim - network.biased
    outputs = "" if network.outputs is None else f", {network.outputs} outputs"
    return f"{many}{units} unit{'' if units == 1 else 's'}{with_biases} in d = {dim}{outputs}"


def as_seen(x: ArrayLike, network: Teacher | Student) -> Array:
    """Inputs (n, d) as the network's positions see them: with a constant, if they have biases."""
    found = checked_inputs(x, network.input_dim)
    return with_constant(found) if network.biased else found


def checked_inputs(x: ArrayLike, dim: int) -> Array:
    """Inputs (n, dim) in float64, or one line on what is wrong with them."""
    try:
        x = jnp.asarray(x, dtype=float)
    except (TypeError, ValueError):
        raise EarnshawError(f"the inputs are no numbers; allowed: (samples, {dim})") from None
    if x.ndim != 2 or x.shape[1] != dim:
        raise EarnshawError(f"the inputs have shape {x.shape}; allowed: (samples, {dim})")
    return x


def network(activation: Activation | tuple[Activation, ...], student: Student, x: Array) -> Array:
    """g(x) = sum_i weights_i sigma(x, positions_i) for inputs (n, d), unit by unit.

    Shape (n,), or (n, m) for weights (k, m); `activation` may be one a unit.
    """
    shape = (x.shape[0], *student.weights.shape[1:])
    if isinstance(activation, tuple):
        if len(activation) != student.units:
            raise EarnshawError(
                f"{len(activation)} activations for {student.units} units; allowed: one a unit"
            )
        total = jnp.zeros(shape)
        for each in {id(each): each for each in activation}.values():
            of_it = np.flatnonzero([other is each for other in activation])
            part = Student(student.positions[of_it], student.weights[of_it])
            total = total + network(each, part, x)
        return total

    def add(total: Array, unit: tuple[Array, Array]) -> tuple[Array, None]:
        position, weight = unit
        response = activation.unit(x, position)
        return total + (weight * response if weight.ndim == 0 else response[:, None] * weight), None

    total, _ = jax.lax.scan(add, jnp.zeros(shape), (student.positions, student.weights))
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
        inputs = inputs_to_dict(species.seen_inputs)
        return species.name, species.parameters, species.biased, inputs, teacher.manifold.name

    return same_charges(first, second) and kind(first) == kind(second)


def checked_charges(
    what: str, positions: ArrayLike, weights: ArrayLike, biases: ArrayLike | None = None
) -> tuple[Array, Array]:
    """Positions (..., k, d) and weights (..., k) in float64: right shapes, finite entries.

    Weights are (..., k, m) for m outputs. Biases (..., k) become the last coordinate of the
    positions.
    """
    try:
        positions, weights = _real(positions), _real(weights)
        biases = None if biases is None else _real(biases)
    except (TypeError, ValueError, OverflowError):
        raise EarnshawError(
            f"the {what}'s positions and weights must be arrays of real numbers"
        ) from None
    if biases is not None and positions.ndim >= 2:
        if biases.shape != positions.shape[:-1]:
            raise EarnshawError(
                f"the {what} has positions of shape {positions.shape} and biases of shape "
                f"{biases.shape}; allowed: biases of shape {positions.shape[:-1]}"
            )
        positions = jnp.concatenate([positions, biases[..., None]], axis=-1)
    if positions.ndim < 2 or positions.shape[-1] == 0:
        raise EarnshawError(
            f"the {what}'s positions have shape {positions.shape}; allowed: (units, dimension)"
        )
    units = positions.shape[:-1]
    several = weights.ndim == positions.ndim and weights.shape[-1] > 0
    if (weights.shape[:-1] if several else weights.shape) != units:
        raise EarnshawError(
            f"the {what} has positions of shape {positions.shape} and weights of shape "
            f"{weights.shape}; allowed: weights of shape {units}, or for m outputs "
            f"({', '.join(map(str, units))}, m)"
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
