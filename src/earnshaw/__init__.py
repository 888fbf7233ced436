"""Two-layer networks as electric charges.

An activation and an input distribution give a potential; hidden weights are positions, output
weights are charges; gradient descent is their motion. The public names are below; they load on
first use, so that ``import earnshaw`` (and ``earnshaw --help``) does not load JAX.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

# Float64 from the first array on, also for arrays that a user makes with jax.numpy after importing
# earnshaw and before using it; without importing JAX here.
if "jax" in sys.modules:
    sys.modules["jax"].config.update("jax_enable_x64", True)
else:
    os.environ["JAX_ENABLE_X64"] = "1"

if TYPE_CHECKING:
    from earnshaw.charges.matching import Matching, match
    from earnshaw.charges.network import Student, Teacher
    from earnshaw.charges.random import random_student, random_teacher
    from earnshaw.charges.storage import load, load_student, load_teacher, save
    from earnshaw.claims.verify import verify
    from earnshaw.descent.loop import Progress
    from earnshaw.descent.stop import Stop
    from earnshaw.duality.activation import activation
    from earnshaw.duality.potential import potential
    from earnshaw.duality.realization import Obstruction, Realization
    from earnshaw.duality.realize import realize
    from earnshaw.dynamics.path import Path
    from earnshaw.dynamics.simulate import go_on, simulate
    from earnshaw.dynamics.storage import load_path, save_path
    from earnshaw.energy.empirical import EmpiricalLoss, empirical_loss
    from earnshaw.energy.population import PopulationLoss, population_loss
    from earnshaw.errors import EarnshawError
    from earnshaw.experiments.papers.reproduce import reproduce
    from earnshaw.experiments.papers.reproduction import Reproduction
    from earnshaw.experiments.sweeps.sweep import Sweep, sweep
    from earnshaw.experiments.training.settings import Training
    from earnshaw.experiments.training.train import Trained, train
    from earnshaw.exports.take_away import export
    from earnshaw.inputs import Gaussian, TruncatedGaussian
    from earnshaw.landscape.certificate import Certificate
    from earnshaw.landscape.certify import Certified, certify
    from earnshaw.landscape.hunt.hunt import hunt
    from earnshaw.landscape.hunt.landscape import Landscape
    from earnshaw.landscape.rigorous.check import check_proof
    from earnshaw.landscape.rigorous.proof import Proof
    from earnshaw.landscape.rigorous.prove import prove
    from earnshaw.landscape.rigorous.storage import load_proof, save_proof
    from earnshaw.learning.learn import learn, load_run
    from earnshaw.learning.run import Run
    from earnshaw.learning.samples.learn import SampledRun, learn_from_samples

__version__ = "0.1.0"

_HOMES = {
    "activation": "earnshaw.duality.activation",
    "potential": "earnshaw.duality.potential",
    "realize": "earnshaw.duality.realize",
    "Realization": "earnshaw.duality.realization",
    "Obstruction": "earnshaw.duality.realization",
    "Gaussian": "earnshaw.inputs",
    "TruncatedGaussian": "earnshaw.inputs",
    "Teacher": "earnshaw.charges.network",
    "Student": "earnshaw.charges.network",
    "match": "earnshaw.charges.matching",
    "Matching": "earnshaw.charges.matching",
    "random_teacher": "earnshaw.charges.random",
    "random_student": "earnshaw.charges.random",
    "save": "earnshaw.charges.storage",
    "load": "earnshaw.charges.storage",
    "load_teacher": "earnshaw.charges.storage",
    "load_student": "earnshaw.charges.storage",
    "EmpiricalLoss": "earnshaw.energy.empirical",
    "PopulationLoss": "earnshaw.energy.population",
    "empirical_loss": "earnshaw.energy.empirical",
    "population_loss": "earnshaw.energy.population",
    "learn": "earnshaw.learning.learn",
    "Run": "earnshaw.learning.run",
    "learn_from_samples": "earnshaw.learning.samples.learn",
    "SampledRun": "earnshaw.learning.samples.learn",
    "export": "earnshaw.exports.take_away",
    "Stop": "earnshaw.descent.stop",
    "Progress": "earnshaw.descent.loop",
    "simulate": "earnshaw.dynamics.simulate",
    "go_on": "earnshaw.dynamics.simulate",
    "save_path": "earnshaw.dynamics.storage",
    "load_path": "earnshaw.dynamics.storage",
    "Path": "earnshaw.dynamics.path",
    "Certificate": "earnshaw.landscape.certificate",
    "Certified": "earnshaw.landscape.certify",
    "certify": "earnshaw.landscape.certify",
    "hunt": "earnshaw.landscape.hunt.hunt",
    "prove": "earnshaw.landscape.rigorous.prove",
    "Proof": "earnshaw.landscape.rigorous.proof",
    "check_proof": "earnshaw.landscape.rigorous.check",
    "save_proof": "earnshaw.landscape.rigorous.storage",
    "load_proof": "earnshaw.landscape.rigorous.storage",
    "Landscape": "earnshaw.landscape.hunt.landscape",
    "verify": "earnshaw.claims.verify",
    "load_run": "earnshaw.learning.learn",
    "reproduce": "earnshaw.experiments.papers.reproduce",
    "Reproduction": "earnshaw.experiments.papers.reproduction",
    "train": "earnshaw.experiments.training.train",
    "Trained": "earnshaw.experiments.training.train",
    "Training": "earnshaw.experiments.training.settings",
    "sweep": "earnshaw.experiments.sweeps.sweep",
    "Sweep": "earnshaw.experiments.sweeps.sweep",
    "EarnshawError": "earnshaw.errors",
}

__all__ = [
    "Certificate",
    "Certified",
    "EarnshawError",
    "EmpiricalLoss",
    "Gaussian",
    "Landscape",
    "Matching",
    "Obstruction",
    "Path",
    "PopulationLoss",
    "Progress",
    "Proof",
    "Realization",
    "Reproduction",
    "Run",
    "SampledRun",
    "Stop",
    "Student",
    "Sweep",
    "Teacher",
    "Trained",
    "Training",
    "TruncatedGaussian",
    "activation",
    "certify",
    "check_proof",
    "empirical_loss",
    "export",
    "go_on",
    "hunt",
    "learn",
    "learn_from_samples",
    "load",
    "load_path",
    "load_proof",
    "load_run",
    "load_student",
    "load_teacher",
    "match",
    "population_loss",
    "potential",
    "prove",
    "random_student",
    "random_teacher",
    "realize",
    "reproduce",
    "save",
    "save_path",
    "save_proof",
    "simulate",
    "sweep",
    "train",
    "verify",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'earnshaw' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
