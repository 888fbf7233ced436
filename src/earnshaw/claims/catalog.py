"""The ids of all claims, and the file each is in; nothing is imported until it is asked for."""

from __future__ import annotations

from importlib import import_module

from earnshaw.claims.claim import Claim
from earnshaw.errors import UnknownName

# In the order of MATH's table. A file's tuple CLAIMS holds its claims.
HOMES = {
    "dynamics": "correspondence",
    "dual": "correspondence",
    "table-1": "correspondence",
    "fourier-realizable": "realizable",
    "hermite-realizable": "realizable",
    "psd-necessary": "realizable",
    "mixtures": "realizable",
    "almost-harmonic": "almost_harmonic",
    "yukawa-activation": "almost_harmonic",
    "earnshaw": "no_minima",
    "lambda-harmonic": "no_minima",
    "descent-lemmas": "descent",
    "one-node-learned": "one_node",
    "network-learned": "network",
    "subharmonic": "no_minima",
    "gaussian": "gaussian",
    "sign-circle": "sign",
    "polynomial-orthonormal": "polynomial",
    "sphere-synthetic": "sphere_synthetic",
    "samples": "samples",
    "gd-avoids-saddles": "descent",
    "noisy-sgd": "descent",
    "sign-uniqueness": "sign",
    "conjecture-sign": "conjectures",
    "conjecture-distance": "conjectures",
    "experiments": "experiments",
}


def check_id(name: str) -> str:
    """`name` if it is the id of a claim; else an error that names the near ones."""
    if name not in HOMES:
        raise UnknownName("claim", name, HOMES)
    return name


def claim(name: str) -> Claim:
    """The claim with this id."""
    check_id(name)
    claims = import_module(f"earnshaw.claims.{HOMES[name]}").CLAIMS
    (found,) = (one for one in claims if one.id == name)
    return found
