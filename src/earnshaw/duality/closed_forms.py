"""Which dual belongs to which activation: both papers' Tables 1, and beyond.

One line a pair. An activation that is not here has no closed form and goes through the series of
`black_box.py` or `hermite_series.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from earnshaw.activations import exponential as exponential_activations
from earnshaw.activations import oscillating, rectified, sigmoidal, soft_rectified
from earnshaw.activations.base import DotProduct
from earnshaw.activations.hermite import HermiteSum
from earnshaw.activations.scaled import Scaled
from earnshaw.potentials import arccosine, arcsine, exponential, sector
from earnshaw.potentials.dual import Moment, Multiple
from earnshaw.potentials.hermite import HermitePolynomial

CLOSED_FORMS: dict[type[DotProduct], Callable[[Any], Moment]] = {
    rectified.Sign: lambda _: arccosine.Sign(),
    rectified.Step: lambda _: arccosine.HalfLine(0),
    rectified.Relu: lambda _: arccosine.HalfLine(1),
    rectified.ReluSquared: lambda _: arccosine.HalfLine(2),
    rectified.ReluCubed: lambda _: arccosine.HalfLine(3),
    rectified.LeakyRelu: lambda s: arccosine.TwoSlopes(s.negative_slope, s.positive_slope),
    sigmoidal.Erf: lambda _: arcsine.Erf(),
    sigmoidal.NormalCdf: lambda _: arcsine.NormalCdf(),
    soft_rectified.Gelu: lambda _: arcsine.Gelu(),
    soft_rectified.Elu: lambda s: sector.Elu(s.alpha),
    oscillating.Sin: lambda _: exponential.Sin(),
    oscillating.Cos: lambda _: exponential.Cos(),
    oscillating.Rbf: lambda s: exponential.Rbf(s.gamma),
    exponential_activations.Exponential: lambda s: exponential.Exponential(s.rate, s.shift),
    exponential_activations.GaussianBump: lambda s: exponential.GaussianBump(s.curvature),
    exponential_activations.Laplace: lambda _: sector.Laplace(),
    HermiteSum: lambda s: HermitePolynomial(s.coefficients),
}


def closed_form(activation: DotProduct) -> Moment | None:
    """The closed-form moment of a library activation, or None."""
    if isinstance(activation, Scaled):
        base = closed_form(activation.base)
        return None if base is None else Multiple(base, activation.factor**2)
    build = CLOSED_FORMS.get(type(activation))
    return None if build is None else build(activation)
