"""Activations by name, or from a user's own function: `ew.activation`."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from earnshaw.activations.base import Activation
from earnshaw.activations.hermite import HermiteSum
from earnshaw.activations.registry import DOT_PRODUCT
from earnshaw.activations.translation import BesselTranslation, GaussianTranslation
from earnshaw.activations.user import user_function
from earnshaw.duality.realized import Realized, realized
from earnshaw.errors import EarnshawError
from earnshaw.inputs import Gaussian
from earnshaw.potentials.almost_harmonic import AlmostHarmonic
from earnshaw.potentials.synthetic import SphereSynthetic
from earnshaw.registry import construct


def _gaussian(dim: int, rate: float = 1.0, width: float = 1.0) -> GaussianTranslation:
    return GaussianTranslation(dim=dim, rate=rate, inputs=Gaussian(width))


def _bessel(dim: int, width: float = 1.0) -> BesselTranslation:
    return BesselTranslation(dim=dim, inputs=Gaussian(width))


def _almost_harmonic(
    dim: int, radius: float = 0.1, lam: float = 1.0, core: str = "ball", width: float = 1.0
) -> Realized:
    # Loads SymPy, which takes longer than learning a network of such units: not until it is needed.
    from earnshaw.duality.space import almost_harmonic_activation

    potential = AlmostHarmonic(dim, radius, lam, core)
    shape = almost_harmonic_activation(dim, radius, lam, core, Gaussian(width))
    return realized(shape, potential)


def _sphere_synthetic(dim: int, degree: int = 20) -> HermiteSum:
    powers = SphereSynthetic(dim=dim, degree=degree).taylor(degree + 1)
    return HermiteSum(jnp.asarray(np.sqrt(powers)), "sphere-synthetic")


ACTIVATIONS: dict[str, Callable[..., Activation]] = {
    **DOT_PRODUCT,
    "gaussian": _gaussian,
    "bessel": _bessel,
    "almost-harmonic": _almost_harmonic,
    "sphere-synthetic": _sphere_synthetic,
}


def activation(
    name: str | Activation | Callable[[Any], Any],
    *,
    kinks: Sequence[float] = (),
    **parameters: Any,
) -> Activation:
    """An activation by name with its parameters, or a user's function of one variable.

    ``ew.activation("leaky-relu", negative_slope=0.1)``, ``ew.activation("hermite-3")``,
    ``ew.activation("almost-harmonic", dim=3, radius=0.1)``, ``ew.activation(f, kinks=[0.0])``.
    """
    if isinstance(name, str):
        if kinks:
            raise EarnshawError(
                "kinks= is for a function of your own; named activations know theirs"
            )
        if numbered := re.fullmatch(r"hermite-(\d{1,6})", name):
            name, parameters = "hermite", {"degree": int(numbered[1]), **parameters}
        return construct("activation", name, ACTIVATIONS, parameters)
    if parameters:
        raise EarnshawError(f"parameters {sorted(parameters)} need an activation given by name")
    if isinstance(name, Activation):
        if kinks:
            raise EarnshawError("kinks= is for a function of your own; activations know theirs")
        return name
    return user_function(name, kinks)


def takes_dim(name: str) -> bool:
    """Whether the named activation is made for one dimension."""
    return name in ACTIVATIONS and "dim" in inspect.signature(ACTIVATIONS[name]).parameters
