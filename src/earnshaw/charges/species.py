"""What units are: their activation and the potential that it gives, for all of a network.

A species is made from the name of an activation, a formula, an object or a function. Its potential
is raw, Phi(theta, w) = E[sigma(X, theta) sigma(X, w)] as the activation is named, so that energies
are mean squared differences of networks to the last digit. The activation itself is made only when
it is asked for: energies of charges need none, and some (almost-harmonic) take a second to
tabulate, or do not exist (harmonic).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Literal

import equinox as eqx

from earnshaw.charges.manifolds import Manifold, manifold
from earnshaw.duality.activation import Activation, DotProduct
from earnshaw.duality.affine_dual import AffineDual, MixedDual, affine_dual
from earnshaw.duality.dual import Dual
from earnshaw.duality.named import activation as named_activation
from earnshaw.duality.named import canonical, check_parameters, is_activation, takes_dim
from earnshaw.duality.named import potential as potential_of
from earnshaw.duality.potential import Potential, Zonal
from earnshaw.errors import EarnshawError
from earnshaw.inputs import Gaussian, GaussianMixture, Inputs, WithConstant
from earnshaw.limits import check_real

Origin = Literal["activation", "formula", "object"]
FOR_THE_POTENTIAL = {"max_norm"}  # parameters that only `ew.potential` understands
# Keywords of a teacher, beside the parameters of its activation.
KEYWORDS = ("on", "width", "biases", "inputs", "linear", "intercept")
SETTLED = ("activation", "dim", "name", "normalize", "width")  # by the network, not a parameter


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

    def is_like(self, other: object) -> bool:
        """Whether another one has the same activation: by its name, or an object's own parts."""
        if self is other or not isinstance(other, Species):
            return self is other
        if (self.name, self.parameters) != (other.name, other.parameters):
            return False
        return self.origin != "object" or bool(eqx.tree_equal(self.potential, other.potential))

    @property
    def biased(self) -> bool:
        """Whether the last coordinate of a position is a bias."""
        return isinstance(self.inputs, WithConstant)

    @property
    def of_directions(self) -> bool:
        """Whether units see x.w: the length of a position is the steepness of its unit."""
        return isinstance(self.potential, (Zonal, AffineDual, MixedDual))

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
        if isinstance(self.potential, (AffineDual, MixedDual)):
            return ("space",)
        everywhere = not isinstance(self.potential, Zonal) or isinstance(self.potential, Dual)
        return ("space", "sphere") if everywhere else ("sphere",)

    @property
    def responses(self) -> Activation | tuple[Activation, ...]:
        """sigma(x, w), or one a unit."""
        if isinstance(self.potential, MixedDual):
            return self.potential.responses
        return self.activation

    @property
    def activation(self) -> Activation:
        """sigma(x, w), or an error that says why there is none."""
        if self.given is not None:
            return self.given
        if isinstance(self.potential, MixedDual):
            raise EarnshawError(f"units of several activations: {self.name}; allowed: one")
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
        return affine_species(activation, dim, width, parameters, inputs, biased)
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


def affine_species(
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
