"""Which response an activation has."""

from __future__ import annotations

import jax
from jax import Array

from earnshaw.duality.activation import Activation, DotProduct
from earnshaw.duality.jumps import jumps
from earnshaw.energy.responses.dot_product import DotProductResponse
from earnshaw.energy.responses.general import GeneralResponse
from earnshaw.energy.responses.response import Response
from earnshaw.errors import EarnshawError, OutOfRange
from earnshaw.limits import check_real
from earnshaw.numerics.fixed_order import deviations


def choose_response(sigma: Activation, x: Array, kink_width: float | None) -> Response:
    """The response of units of `sigma` to samples like `x` (n, d); bumps as `kink_width` says."""
    if not isinstance(sigma, DotProduct):
        return GeneralResponse(sigma)
    if not sigma.known:
        _check_differentiable(sigma)
    found = jumps(sigma)
    if kink_width is None:
        widths = x.shape[0] ** (-1 / 3), x.shape[0] ** (-1 / 5)
    else:
        width = check_real("kink_width", kink_width)
        if width < 0:
            raise OutOfRange("kink_width", kink_width, "0, or a positive number")
        found, widths = (found if width > 0 else ()), (width, width)
    return DotProductResponse(sigma, deviations(x), found, widths)


def _check_differentiable(sigma: DotProduct) -> None:
    """Refuse functions that JAX cannot differentiate twice, or that are not elementwise."""

    def second(z: Array) -> Array:
        slope = lambda z: jax.jvp(sigma, (z,), (z,))[1]  # noqa: E731
        return jax.jvp(slope, (z,), (z,))[1]

    try:
        shape = jax.eval_shape(second, jax.ShapeDtypeStruct((2, 3), float)).shape
    except Exception as error:
        raise EarnshawError(
            f"{sigma.name} cannot be differentiated ({type(error).__name__}); "
            "allowed: a function written with jax.numpy"
        ) from None
    if shape != (2, 3):
        raise EarnshawError(f"{sigma.name} changes shapes; allowed: an elementwise function")
