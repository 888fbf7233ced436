"""From an activation to the potential that its units feel: `ew.potential`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from earnshaw.activations.base import Activation, DotProduct
from earnshaw.activations.translation import BesselTranslation, GaussianTranslation
from earnshaw.activations.user import UserFunction
from earnshaw.duality.activation import ACTIVATIONS
from earnshaw.duality.activation import activation as named_activation
from earnshaw.duality.black_box import black_box_moment
from earnshaw.duality.closed_forms import closed_form
from earnshaw.duality.realized import Realized
from earnshaw.errors import EarnshawError, UnknownName, check_real
from earnshaw.potentials.almost_harmonic import AlmostHarmonic
from earnshaw.potentials.base import Potential, check_dim
from earnshaw.potentials.bessel import BesselPotential
from earnshaw.potentials.distance import Distance
from earnshaw.potentials.dual import dual
from earnshaw.potentials.gaussian import GaussianPotential
from earnshaw.potentials.harmonic import Harmonic, LambdaHarmonic
from earnshaw.potentials.hermite_series import hermite_series
from earnshaw.potentials.synthetic import SphereSynthetic
from earnshaw.registry import construct

# Potentials that are defined directly; most of them are those of an activation of the same name.
DIRECT: dict[str, Callable[..., Potential]] = {
    "gaussian": GaussianPotential,
    "bessel": BesselPotential,
    "almost-harmonic": AlmostHarmonic,
    "harmonic": Harmonic,
    "lambda-harmonic": LambdaHarmonic,
    "distance": Distance,
    "sphere-synthetic": SphereSynthetic,
}


def potential(
    activation: str | Activation | Callable[[Any], Any],
    dim: int | None = None,
    *,
    normalize: bool = True,
    width: float = 1.0,
    kinks: Sequence[float] = (),
    max_norm: float = 4.0,
    **parameters: Any,
) -> Potential:
    """The potential Phi(theta, w) = E[sigma(X, theta) sigma(X, w)] of an activation.

    Args:
        activation: a name (``"relu"``, ``"hermite-3"``, ``"almost-harmonic"``, ...; also the
            potentials ``"harmonic"``, ``"lambda-harmonic"``, ``"distance"``, which no activation
            has), an activation object, or any elementwise function of one variable.
        dim: the dimension d. On the sphere it is needed only for the Laplacian.
        normalize: on the sphere, divide by the value at rho = 1, as the papers do.
        width: the standard deviation of the Gaussian inputs.
        kinks: where a user's own function is not smooth.
        max_norm: for activations without a closed form, the longest weight vector for which
            ``.moment`` must be accurate.
        parameters: those of the named activation (``radius``, ``core``, ``alpha``, ...).

    Returns:
        A `Zonal` potential (a function of rho), a `Radial` one (of r) or a `Separable` one.
    """
    dim = None if dim is None else check_dim(dim)
    width = check_real("input width", width, 0.0, 1e100)
    max_norm = check_real("max_norm", max_norm, 0.0)
    if isinstance(activation, str) and activation in DIRECT:
        given = parameters if dim is None else {"dim": dim, **parameters}
        return construct("potential", activation, DIRECT, given)
    try:
        source = named_activation(activation, kinks=kinks, **parameters)
    except UnknownName:
        known = {*ACTIVATIONS, *DIRECT}
        raise UnknownName("activation or potential", str(activation), known) from None
    if isinstance(source, DotProduct):
        return _dot_product(source, dim, normalize, width, max_norm)
    potential = _translation(source)
    if dim is not None and dim != potential.dim:
        raise EarnshawError(f"{source.name} was made for dimension {potential.dim}, not {dim}")
    return potential


def _dot_product(
    activation: DotProduct, dim: int | None, normalize: bool, width: float, max_norm: float
) -> Potential:
    variance = width**2
    form = closed_form(activation)
    if form is None and isinstance(activation, UserFunction):
        form = black_box_moment(activation, variance, max_norm)
    elif form is None:
        form = hermite_series(activation, variance, max_norm)
    return dual(
        form,
        name=activation.name,
        source=activation.source,
        origin=activation,
        dim=dim,
        width=width,
        normalize=normalize,
    )


def _translation(activation: Activation) -> Any:
    """The potential of h(x - w) / sqrt(p(x)): the autocorrelation of h, whatever the density p."""
    if isinstance(activation, Realized):
        return activation.potential
    if isinstance(activation, GaussianTranslation):
        return GaussianPotential(dim=activation.dim, rate=activation.rate)
    if isinstance(activation, BesselTranslation):
        return BesselPotential(dim=activation.dim)
    raise EarnshawError(f"no potential is known for the activation {activation.name!r}")
