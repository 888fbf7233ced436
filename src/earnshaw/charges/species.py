"""What all units of a network share: the activation, and the potential that it gives.

The potential is raw, Phi(theta, w) = E[sigma(X, theta) sigma(X, w)] as the activation is named, so
that energies are mean squared differences of networks to the last digit. The activation itself is
made only when it is asked for: energies of charges need none, and some (almost-harmonic) take a
second to tabulate, or do not exist (harmonic).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Literal

import equinox as eqx

from earnshaw.activations.base import Activation
from earnshaw.duality.activation import ACTIVATIONS, takes_dim
from earnshaw.duality.activation import activation as named_activation
from earnshaw.duality.potential import potential as potential_of
from earnshaw.errors import EarnshawError, check_real
from earnshaw.inputs import Gaussian
from earnshaw.manifolds import Manifold, manifold
from earnshaw.potentials.base import Potential, Zonal
from earnshaw.potentials.dual import Dual

Origin = Literal["activation", "formula", "object"]
FOR_THE_POTENTIAL = {"max_norm"}  # parameters that only `ew.potential` understands
SETTLED = ("activation", "dim", "name", "normalize", "width")  # by the network, not a parameter


class Species(eqx.Module):
    """The activation and potential that all units of a network have in common.

    `origin` says what it was made from: the name of an activation (or potential) with `parameters`,
    a formula of the potential, or an object or function of the user's own. Only the first two can
    be stored in a file; `name` is the name or the formula.
    """

    potential: Potential
    inputs: Gaussian
    given: Activation | None
    origin: Origin = eqx.field(static=True)
    name: str = eqx.field(static=True)
    parameters: tuple[tuple[str, Any], ...] = eqx.field(static=True, default=())

    @property
    def manifolds(self) -> tuple[str, ...]:
        """Where such units can live; the first is the default."""
        everywhere = not isinstance(self.potential, Zonal) or isinstance(self.potential, Dual)
        return ("space", "sphere") if everywhere else ("sphere",)

    @property
    def activation(self) -> Activation:
        """sigma(x, w), or an error that says why there is none."""
        if self.given is not None:
            return self.given
        if self.origin == "activation" and self.name in ACTIVATIONS:
            dim = getattr(self.potential, "dim", None)
            return _named(self.name, self.parameters, dim, float(self.inputs.width))
        from earnshaw.duality.realize import realize  # loads SymPy: not until it is needed

        result = realize(self.potential, width=float(self.inputs.width))
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
) -> Species:
    """The species of units in R^dim from the name of an activation, an object or a function.

    `width` is that of the Gaussian inputs: by default 1, or what an object was made for.
    """
    parameters = dict(parameters or {})
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
    potential = potential_of(activation, dim, normalize=False, width=width, **parameters)
    if isinstance(activation, str):
        stored = tuple(sorted((key, _plain(value)) for key, value in parameters.items()))
        return Species(potential, Gaussian(width), None, "activation", activation, stored)
    given = activation if isinstance(activation, Activation) else getattr(potential, "origin", None)
    return _fitting(Species(potential, Gaussian(width), given, "object", potential.name), dim)


def formula_species(formula: str, dim: int, on: str, width: float | None = None) -> Species:
    """The species of units with a potential given as a formula in `rho`, `r` or `x1, x2, ...`."""
    from earnshaw.potentials.expression import parse_potential  # loads SymPy: not until needed

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
