"""The dual of an activation without a closed form: which series, and with a bound or an estimate.

- An activation of the library that is smooth is summed as a Hermite series; one that is continuous,
  and smooth but for 0, is integrated over sectors of the plane. Both bound their error.
- A user's own function is a black box. It is first checked for what can go wrong, then summed as a
  Hermite series, or as a series in the angle if it has kinks; its error is estimated. So are
  activations of the library that jump, or have kinks elsewhere, and no closed form. A formula of
  the user's that is continuous, with its only kink at 0, goes over sectors at norms other than 1.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from earnshaw.duality.activation import DotProduct
from earnshaw.duality.jumps import jumps
from earnshaw.duality.pair import Moment
from earnshaw.duality.series._angle_series import angle_series
from earnshaw.duality.series._hermite_series import hermite_series
from earnshaw.duality.series._sector_quadrature import SectorQuadrature, sector_quadrature
from earnshaw.errors import NotSquareIntegrable
from earnshaw.numerics.quadrature import panel_rule, split_edges

WIDEST = 38.0  # exp(-x^2/2) underflows beyond


def general_moment(activation: DotProduct, variance: float, max_norm: float) -> Moment:
    """E[s(u) s(v)], accurate for weight vectors up to `max_norm` under N(0, variance I) inputs."""
    if activation.known and not activation.kinks:
        return hermite_series(activation, variance, max_norm)
    if activation.known and activation.kinks == (0.0,):
        found = jumps(activation)
        if all(jump.value == 0 for jump in found):
            return sector_quadrature(activation, sum(jump.slope for jump in found), variance)
    largest = np.sqrt(variance) * max(1.0, max_norm)
    half_width = max(
        check_square_integrable(activation, size) for size in {np.sqrt(variance), largest}
    )
    general = hermite_series(activation, variance, max_norm, half_width, proven=False)
    if not activation.kinks:
        return general
    elsewhere: Moment = general
    if activation.differentiable and activation.kinks == (0.0,):
        found = jumps(activation)
        if all(jump.value == 0 for jump in found):  # where kinks would make the series slow
            elsewhere = SectorQuadrature(activation, sum(jump.slope for jump in found))
    return angle_series(activation, activation.kinks, elsewhere, variance, half_width)


def check_square_integrable(activation: DotProduct, size: float) -> float:
    """The half-width beyond which s(size x)^2 exp(-x^2/2) is negligible.

    Raises `NotSquareIntegrable` if there is none, if the function returns NaN or infinities, or if
    E[s^2] does not settle when the quadrature is refined.
    """

    def density(x: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):
            values = np.asarray(activation(size * x), dtype=float)
        if values.shape != x.shape:
            raise NotSquareIntegrable(
                f"{activation.name} maps shape {x.shape} to {values.shape}; "
                "allowed: an elementwise function of one variable"
            )
        if np.any(np.isnan(values)):
            where = size * x[np.isnan(values)][0]
            raise NotSquareIntegrable(f"{activation.name} returns NaN at x = {where:.6g}")
        with np.errstate(all="ignore"):
            return np.exp(2 * np.log(np.abs(values)) - x * x / 2)

    kinks = np.asarray(activation.kinks) / size
    half_width = _reach(density, activation.name)
    means = []
    for width in (2.0, 0.5, 0.125):
        nodes, weights = panel_rule(split_edges(half_width, kinks, width))
        means.append(float(weights @ density(nodes)))
    if not np.isfinite(means[-1]) or abs(means[2] - means[1]) > 0.01 * means[2]:
        raise NotSquareIntegrable(
            f"E[s(X)^2] of {activation.name} does not settle under refinement: the function is not "
            "square-integrable under the Gaussian, or too rough (say where with kinks=)"
        )
    return half_width


def _reach(density: Callable[[np.ndarray], np.ndarray], name: str) -> float:
    grid = np.linspace(0.0, WIDEST, 20 * int(WIDEST) + 1)[1:]
    levels = np.maximum(density(grid), density(-grid))
    if not np.all(np.isfinite(levels)) or levels[-1] > 1e-18 * np.max(levels):
        raise NotSquareIntegrable(
            f"{name} is not square-integrable under the Gaussian: E[s(X)^2] is infinite; "
            "allowed: growth slower than exp(x^2/4)"
        )
    relevant = np.nonzero(levels > 1e-33 * np.max(levels))[0]
    return float(max(12.0, grid[relevant[-1]] + 1.0)) if len(relevant) else 12.0
