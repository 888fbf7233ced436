"""Teacher and student: two-layer networks, seen as fixed protons and moving electrons.

A network g(x) = sum_i weights_i sigma(x, positions_i) is a set of charges. The papers give teacher
units the charge b_i = weights_i and student units a_i = -weights_i, so that the two attract and a
perfect student cancels its teacher. Users see the natural sign: a perfect student has the teacher's
weights; only `Student.charges` has the papers' sign.

A unit with a bias, s(x.w + b), is a charge at the position (w, b) of R^(d+1): its bias is the
weight of an input that is always 1. So `positions` of a network with biases have one coordinate
more than its inputs, and everything about charges holds for them; `hidden` and `biases` are its
parts.

All units of a teacher are of one `Species`: an activation, and the potential that it gives. The
potential is raw, Phi(theta, w) = E[sigma(X, theta) sigma(X, w)] as the activation is named, so that
energies are mean squared differences of networks to the last digit. The activation itself is made
only when it is asked for: energies of charges need none, and some (almost-harmonic) take a second
to tabulate, or do not exist (harmonic).
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.typing import ArrayLike

from earnshaw.charges.manifolds import Manifold, manifold
from earnshaw.duality.activation import Activation, DotProduct
from earnshaw.duality.affine_dual import AffineDual, affine_dual
from earnshaw.duality.dual import Dual
from earnshaw.duality.named import activation as named_activation
from earnshaw.duality.named import canonical, check_parameters, is_activation, takes_dim
from earnshaw.duality.named import potential as potential_of
from earnshaw.duality.potential import Potential, Zonal
from earnshaw.errors import EarnshawError
from earnshaw.inputs import (
    Gaussian,
    GaussianMixture,
    Inputs,
    WithConstant,
    inputs_to_dict,
    with_constant,
)
from earnshaw.limits import check_real

Origin = Literal["activation", "formula", "object"]
FOR_THE_POTENTIAL = {"max_norm"}  # parameters that only `ew.potential` understands
# Keywords of a teacher, beside the parameters of its activation.
KEYWORDS = ("on", "width", "biases", "inputs")
SETTLED = ("activation", "dim", "name", "normalize", "width")  # by the network, not a parameter


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
    def hidden(self) -> Array:
        """w, the positions without biases: (k, d)."""
        return self.positions[..., :-1] if self.biased else self.positions

    @property
    def biases(self) -> Array | None:
        """(k,), or None."""
        return self.positions[..., -1] if self.biased else None


class Student(_Remark, _Parts, eqx.Module):
    """The moving units: `positions` (k, d) and `weights` (k,), natural sign. May be empty.

    With `biases` (k,) they become the last coordinate of `positions`, (k, d + 1).

    A student has no activation: a loss gives it that of its teacher. One that comes from a teacher
    (`ew.learn`, `ew.random_student`, ...) remembers it, and can be called and stored with it. That
    is a remark on this object, not a part of the pytree: what JAX makes of it has forgotten it.
    """

    positions: Array
    weights: Array

    def __init__(
        self, positions: ArrayLike, weights: ArrayLike, biases: ArrayLike | None = None
    ) -> None:
        self.positions, self.weights = checked_charges("student", positions, weights, biases)
        if biases is not None:
            object.__setattr__(self, "_biased", True)

    @property
    def biased(self) -> bool:
        """Whether the last coordinate of a position is a bias; known by a student with a kind."""
        if self.unit_kind is not None:
            return self.unit_kind.biased
        return getattr(self, "_biased", False)

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
        return network(self.unit_kind.activation, self, as_seen(x, self))

    def __repr__(self) -> str:
        kind = "" if self.unit_kind is None else f"{self.unit_kind.name}, "
        return f"Student({kind}{_sizes(self)})"


class UnitKind(NamedTuple):
    """What units are: of a species, on a manifold; or of an activation of which no more is known.

    Attributes:
        units: the species, or the activation.
        manifold: where they live; None where that is not known.
    """

    units: Species | Activation
    manifold: Manifold | None = None

    @property
    def name(self) -> str:
        """That of the activation or potential."""
        return self.units.name

    @property
    def biased(self) -> bool:
        """Whether they have biases."""
        return isinstance(self.units, Species) and self.units.biased

    @property
    def activation(self) -> Activation:
        """sigma(x, w)."""
        return self.units if isinstance(self.units, Activation) else self.units.activation


class Teacher(_Parts, eqx.Module):
    """The fixed units f(x) = sum_i weights_i sigma(x, positions_i).

    Args:
        positions: w, shape (k, d), k >= 1.
        weights: b, shape (k,).
        activation: a name (with its parameters as further keywords), a formula in x, an activation,
            a potential object, or a function of one variable.
        potential: instead, a formula of the potential: in `rho` on the sphere, in `r` or
            `x1, x2, ...` on R^d.
        on: ``"space"`` or ``"sphere"``; where an activation allows both, space.
        width: the standard deviation of the Gaussian inputs; 1, or that of an object made for
            another one.
        biases: (k,), for units s(x.w + b); the last coordinate of `positions` then.
        inputs: ``ew.Gaussian(mean=..., covariance=...)`` or ``ew.GaussianMixture(...)``, instead
            of a width.
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
        biases: ArrayLike | None = None,
        inputs: Inputs | None = None,
        **parameters: Any,
    ) -> None:
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
            self.species = species(
                activation,
                self.dim,
                width=width,
                parameters=parameters,
                inputs=inputs,
                biased=biases is not None,
            )
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

    def student(self) -> Student:
        """The perfect student: the same positions and weights."""
        return Student(self.positions, self.weights).of(self)

    def __call__(self, x: ArrayLike) -> Array:
        """f(x) for inputs of shape (n, d); shape (n,)."""
        return network(self.activation, self.student(), as_seen(x, self))

    def __repr__(self) -> str:
        on = "on the sphere" if self.manifold.name == "sphere" else "in space"
        return f"Teacher({self.species.name}, {_sizes(self)}, {on})"


def _sizes(network: Teacher | Student) -> str:
    *batch, units, dim = network.positions.shape
    many = "".join(f"{size} x " for size in batch)
    with_biases = " with biases" if network.biased else ""
    dim = dim - network.biased
    return f"{many}{units} unit{'' if units == 1 else 's'}{with_biases} in d = {dim}"


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
        inputs = inputs_to_dict(species.seen_inputs)
        return species.name, species.parameters, species.biased, inputs, teacher.manifold.name

    return same_charges(first, second) and kind(first) == kind(second)


def checked_charges(
    what: str, positions: ArrayLike, weights: ArrayLike, biases: ArrayLike | None = None
) -> tuple[Array, Array]:
    """Positions (..., k, d) and weights (..., k) in float64: right shapes, finite entries.

    Biases (..., k) become the last coordinate of the positions.
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


class Species(eqx.Module):
    """The activation and potential that all units of a network have in common.

    `origin` says what it was made from: the name of an activation (or potential) with `parameters`,
    a formula of the potential, or an object or function of the user's own. Only the first two can
    be stored in a file; `name` is the name or the formula.
    """

    potential: Potential
    inputs: Inputs  # as the positions see them: with a constant for biases
    given: Activation | None
    origin: Origin = eqx.field(static=True)
    name: str = eqx.field(static=True)
    parameters: tuple[tuple[str, Any], ...] = eqx.field(static=True, default=())

    def __repr__(self) -> str:
        values = "".join(f", {key}={value}" for key, value in self.parameters)
        return f"Species({self.name}{values})"

    @property
    def biased(self) -> bool:
        """Whether the last coordinate of a position is a bias."""
        return isinstance(self.inputs, WithConstant)

    @property
    def of_directions(self) -> bool:
        """Whether units see x.w: the length of a position is the steepness of its unit."""
        return isinstance(self.potential, (Zonal, AffineDual))

    @property
    def width(self) -> float:
        """The standard deviation of isotropic inputs; NaN for others."""
        return float(getattr(self.seen_inputs, "width", math.nan))

    @property
    def seen_inputs(self) -> Inputs:
        """The inputs of the network, without the constant that biases are the weights of."""
        return self.inputs.inputs if isinstance(self.inputs, WithConstant) else self.inputs

    @property
    def manifolds(self) -> tuple[str, ...]:
        """Where such units can live; the first is the default."""
        if isinstance(self.potential, AffineDual):
            return ("space",)
        everywhere = not isinstance(self.potential, Zonal) or isinstance(self.potential, Dual)
        return ("space", "sphere") if everywhere else ("sphere",)

    @property
    def activation(self) -> Activation:
        """sigma(x, w), or an error that says why there is none."""
        if self.given is not None:
            return self.given
        if self.origin == "activation" and is_activation(self.name):
            dim = getattr(self.potential, "dim", None)
            return _named(self.name, self.parameters, dim, self.width)
        from earnshaw.duality.realizing.realize import (
            realize,  # loads SymPy: not until it is needed
        )

        result = realize(self.potential, width=self.width)
        if result.activation is None:
            raise EarnshawError(f"no activation has the potential {self.name}: {result.reason}")
        return result.activation

    def manifold(self, on: str | Manifold | None) -> Manifold:
        """The manifold named by `on`, or the default one; refused where the units cannot live."""
        chosen = manifold(self.manifolds[0] if on is None else on)
        if chosen.name not in self.manifolds:
            raise EarnshawError(
                f"{self.name} has no potential on the {chosen.name}; "
                f"allowed: on={' or '.join(self.manifolds)}"
            )
        return chosen


def species(
    activation: str | Activation | Potential | Species | Callable[[Any], Any],
    dim: int,
    *,
    width: float | None = None,
    parameters: Mapping[str, Any] | None = None,
    inputs: Inputs | None = None,
    biased: bool = False,
) -> Species:
    """The species of units in R^dim from the name of an activation, an object or a function.

    `width` is that of the Gaussian inputs: by default 1, or what an object was made for. Instead,
    `inputs` of another mean and covariance; if `biased`, the last of the dim coordinates is a bias.
    """
    parameters = dict(parameters or {})
    if inputs is not None and width is not None:
        raise EarnshawError("a network with inputs= and width=; allowed: one of them")
    if isinstance(inputs, Gaussian) and inputs.mean is None and inputs.covariance is None:
        width, inputs = float(inputs.width), None
    if inputs is not None or biased:
        return _affine_species(activation, dim, width, parameters, inputs, biased)
    for name in SETTLED:
        if name in parameters:
            raise EarnshawError(f"a network takes no parameter {name!r}: it settles that itself")
    if isinstance(activation, (Species, Potential)) and parameters:
        raise EarnshawError(f"parameters {sorted(parameters)} need an activation by name")
    width = _settled_width(activation, width)
    if isinstance(activation, Species):
        return _fitting(activation, dim)
    if isinstance(activation, Potential):
        found = Species(activation, Gaussian(width), None, "object", activation.name)
        return _fitting(found, dim)
    if isinstance(activation, str):
        activation = canonical(activation)
        check_parameters(activation, parameters, FOR_THE_POTENTIAL, KEYWORDS)
    potential = potential_of(activation, dim, normalize=False, width=width, **parameters)
    if isinstance(activation, str):
        stored = tuple(sorted((key, _plain(value)) for key, value in parameters.items()))
        return Species(potential, Gaussian(width), None, "activation", activation, stored)
    given = activation if isinstance(activation, Activation) else getattr(potential, "origin", None)
    return _fitting(Species(potential, Gaussian(width), given, "object", potential.name), dim)


def _affine_species(
    activation: Any,
    dim: int,
    width: float | None,
    parameters: dict[str, Any],
    inputs: Inputs | None,
    biased: bool,
) -> Species:
    """The species of units with biases, or under inputs that are not N(0, width^2 I)."""
    if isinstance(activation, (Species, Potential)):
        raise EarnshawError(
            f"biases= and inputs= need an activation s(x.w) by name or as a function, not "
            f"{activation.name} as a potential"
        )
    if isinstance(activation, str):
        activation = canonical(activation)
        check_parameters(activation, parameters, (), KEYWORDS)
        if takes_dim(activation) or not is_activation(activation):
            raise EarnshawError(
                f"{activation} is no function of x.w; biases= and inputs= need one, such as relu"
            )
    made = named_activation(activation, **parameters)
    if not isinstance(made, DotProduct):
        raise EarnshawError(f"{made.name} is no function of x.w; biases= and inputs= need one")
    if inputs is not None and not isinstance(inputs, (Gaussian, GaussianMixture)):
        allowed = "ew.Gaussian(...), ew.GaussianMixture(...)"
        raise EarnshawError(f"inputs= is {type(inputs).__name__}; allowed: {allowed}")
    plain: Inputs = Gaussian(1.0 if width is None else width) if inputs is None else inputs
    if plain.dim not in (None, dim - biased):
        raise EarnshawError(
            f"the inputs have dimension {plain.dim}, the units {dim - biased}; allowed: the same"
        )
    seen: Inputs = WithConstant(plain) if biased else plain
    potential = affine_dual(made, seen, dim)
    stored = tuple(sorted((key, _plain(value)) for key, value in parameters.items()))
    origin: Origin = "activation" if isinstance(activation, str) else "object"
    return Species(
        potential, seen, made, origin, made.name if origin == "object" else activation, stored
    )


def formula_species(formula: str, dim: int, on: str, width: float | None = None) -> Species:
    """The species of units with a potential given as a formula in `rho`, `r` or `x1, x2, ...`."""
    from earnshaw.duality.formulas.expression import (
        parse_potential,  # loads SymPy: not until needed
    )

    potential = parse_potential(formula, on=on, dim=dim)
    return Species(potential, Gaussian(_settled_width(None, width)), None, "formula", formula)


def _settled_width(made: Any, width: float | None) -> float:
    """The width of the inputs: as asked for, which must be what an object was made for, if any.

    Under other inputs than its own an activation does not have its potential.
    """
    inputs = getattr(made, "inputs", None)
    own = inputs.width if isinstance(inputs, Gaussian) else None
    if isinstance(made, Dual):
        own = math.sqrt(made.variance)
    if width is None:
        return 1.0 if own is None else float(own)
    width = check_real("input width", width, 0.0)
    if own is not None and not math.isclose(own, width, rel_tol=1e-12):
        raise EarnshawError(f"{made.name} was made for inputs of width {own:g}, not {width:g}")
    return width


def _fitting(found: Species, dim: int) -> Species:
    made_for = getattr(found.potential, "dim", None)
    if made_for not in (None, dim):
        raise EarnshawError(
            f"{found.name} was made for dimension {made_for}, the positions have {dim}"
        )
    return found


def _plain(value: Any) -> Any:
    """A parameter as something hashable that JSON can hold."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    return tuple(value) if isinstance(value, (list, tuple)) else value


@lru_cache(maxsize=32)
def _named(
    name: str, parameters: tuple[tuple[str, Any], ...], dim: int | None, width: float
) -> Activation:
    given = {key: value for key, value in parameters if key not in FOR_THE_POTENTIAL}
    if takes_dim(name):
        given = {"dim": dim, **given}
        if name != "sphere-synthetic":
            given["width"] = width
    return named_activation(name, **given)
