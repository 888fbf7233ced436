"""The ids of all claims, and the file each is in; nothing is imported until it is asked for."""

from __future__ import annotations

from importlib import import_module

from earnshaw.errors import UnknownName
from earnshaw.papers.claims.claim import Claim

# In the order of the table in mathematics.md, "The claims".
HOMES = {
    "dynamics": "duality.correspondence",
    "dual": "duality.correspondence",
    "table-1": "duality.table1",
    "fourier-realizable": "duality.realizable",
    "hermite-realizable": "duality.realizable",
    "psd-necessary": "duality.semidefinite",
    "mixtures": "duality.semidefinite",
    "almost-harmonic": "duality.almost_harmonic",
    "yukawa-activation": "duality.yukawa",
    "earnshaw": "minima.earnshaw",
    "lambda-harmonic": "minima.lambda_harmonic",
    "descent-lemmas": "learning.descent_lemmas",
    "one-node-learned": "learning.one_node_learned",
    "network-learned": "learning.network_learned",
    "log-ascent": "learning.log_ascent",
    "subharmonic": "minima.subharmonic",
    "gaussian": "minima.gaussian",
    "sign-circle": "sign.sign_circle",
    "polynomial-orthonormal": "minima.polynomial",
    "sphere-synthetic": "minima.sphere_synthetic",
    "samples": "learning.samples",
    "gd-avoids-saddles": "learning.gd_avoids_saddles",
    "noisy-sgd": "learning.noisy_sgd",
    "sign-uniqueness": "sign.sign_uniqueness",
    "conjecture-sign": "sign.conjectures",
    "conjecture-distance": "sign.conjectures",
    "experiments": "learning.experiments",
}


def check_id(name: str) -> str:
    """`name` if it is the id of a claim; else an error that names the near ones."""
    if name not in HOMES:
        raise UnknownName("claim", name, HOMES)
    return name


def claim_named(name: str) -> Claim:
    """The claim with this id."""
    check_id(name)
    objects = vars(import_module(f"earnshaw.papers.claims.{HOMES[name]}")).values()
    return next(one for one in objects if isinstance(one, Claim) and one.id == name)
