"""Which coupling a potential has on a manifold."""

from __future__ import annotations

from earnshaw.energy.couplings.coupling import Coupling
from earnshaw.energy.couplings.displacement import DisplacementCoupling
from earnshaw.energy.couplings.dots import DotCoupling
from earnshaw.energy.couplings.radial import RadialCoupling
from earnshaw.energy.couplings.sphere import SphereCoupling
from earnshaw.errors import EarnshawError
from earnshaw.manifolds import Manifold, Sphere
from earnshaw.potentials.base import Potential, Radial, Zonal
from earnshaw.potentials.dual import Dual


def choose_coupling(potential: Potential, manifold: Manifold, dim: int) -> Coupling:
    """The coupling of units in R^dim, or on its unit sphere, that feel `potential`."""
    curved = isinstance(manifold, Sphere)
    if isinstance(potential, Zonal):
        if curved:
            return SphereCoupling(potential=potential, dim=dim)
        if isinstance(potential, Dual):
            return DotCoupling(potential=potential, dim=dim)
        raise EarnshawError(f"{potential.name} is a potential on the sphere; allowed: on='sphere'")
    if isinstance(potential, Radial):
        return RadialCoupling(potential=potential, dim=dim, curved=curved)
    return DisplacementCoupling(potential=potential, dim=dim, curved=curved)
