"""Which potentials proofs are made for, by the name of the activation."""

from __future__ import annotations

import re
from typing import Any

from earnshaw.charges.network import Teacher
from earnshaw.duality.affine_dual import AffineDual
from earnshaw.errors import EarnshawError
from earnshaw.landscape.proofs._affine import MOMENTS, AffineKernel
from earnshaw.landscape.proofs._almost_harmonic import AlmostHarmonicKernel
from earnshaw.landscape.proofs._moments import ErfKernel, ExponentialKernel, HermiteKernel
from earnshaw.landscape.proofs._radial import DistanceKernel, SignKernel
from earnshaw.landscape.proofs._relu import ReluKernel
from earnshaw.landscape.proofs.kernel import Kernel

ALLOWED = "relu, erf, hermite-N, exponential, almost-harmonic, distance, sign on the sphere"


def kernel_of(teacher: Teacher) -> Kernel:
    """The teacher's potential in ball arithmetic, or an error that lists those there are."""
    species = teacher.species
    if species.origin != "activation":
        raise _refused(species.name)
    if teacher.outputs is not None:
        raise EarnshawError(f"there are no proofs for {teacher.outputs} outputs; allowed: one")
    if isinstance(species.potential, AffineDual):
        if species.name not in MOMENTS:
            raise EarnshawError(
                f"there are no proofs for {species.name} with biases or correlated inputs; "
                f"allowed: {', '.join(MOMENTS)}"
            )
        return AffineKernel(species.name, species.inputs.components(teacher.dim))
    parameters: dict[str, Any] = dict(species.parameters)
    parameters.pop("max_norm", None)  # of tables, which these do not have
    name, width = species.name, species.width
    if numbered := re.fullmatch(r"hermite-(\d+)", name):
        name, parameters = "hermite", {"degree": int(numbered[1]), **parameters}
    if name == "relu":
        return ReluKernel(width)
    if name == "erf":
        return ErfKernel(width)
    if name == "hermite":
        return HermiteKernel(width, int(parameters["degree"]))
    if name == "exponential":
        return ExponentialKernel(width, **{k: float(v) for k, v in parameters.items()})
    if name == "almost-harmonic":
        return AlmostHarmonicKernel(teacher.dim, **parameters)
    if name == "distance":
        return DistanceKernel(teacher.dim, **parameters)
    if name == "sign" and teacher.manifold.name == "sphere":
        return SignKernel(teacher.dim)
    raise _refused(name)


def _refused(name: str) -> EarnshawError:
    return EarnshawError(f"there are no proofs for {name}; allowed: {ALLOWED}, by name")
