"""Two-layer networks as electric charges.

An activation and an input distribution give a potential; hidden weights are positions, output
weights are charges; gradient descent is their motion.

Importing earnshaw switches JAX to float64, in this process (`float64.py` says why and how). The
public names load on first use, so that neither ``import earnshaw`` nor ``earnshaw --help`` loads
JAX. Modules of their own: `earnshaw.sklearn`, `earnshaw.torch`, `earnshaw.exports`,
`earnshaw.bounds`.
"""

from __future__ import annotations

from earnshaw.float64 import require_float64
from earnshaw.lazy import offer

require_float64()

__version__ = "0.1.0"

# For editors and type checkers, which take "x as x" as public and do not run what follows.
# isort: off
TYPE_CHECKING = False  # that of `typing` takes as long to load as the rest of this
if TYPE_CHECKING:
    from earnshaw.charges.imported import (
        from_arrays as from_arrays,
        from_sklearn as from_sklearn,
        from_torch as from_torch,
    )
    from earnshaw.charges.matching import Matching as Matching, match as match
    from earnshaw.charges.network import Student as Student, Teacher as Teacher
    from earnshaw.charges.network_file import (
        load as load,
        load_student as load_student,
        load_teacher as load_teacher,
        save as save,
    )
    from earnshaw.charges.random import (
        random_student as random_student,
        random_teacher as random_teacher,
    )
    from earnshaw.descent.loop import Progress as Progress
    from earnshaw.descent.method import Stop as Stop
    from earnshaw.descent.catalogue import methods as methods
    from earnshaw.duality.catalogue import activations as activations, potentials as potentials
    from earnshaw.duality.named import activation as activation, potential as potential
    from earnshaw.duality.realizing.realization import (
        Obstruction as Obstruction,
        Realization as Realization,
    )
    from earnshaw.duality.realizing.realize import realize as realize
    from earnshaw.dynamics.path import Path as Path
    from earnshaw.dynamics.path_file import load_path as load_path, save_path as save_path
    from earnshaw.dynamics.simulate import extend as extend, go_on as go_on, simulate as simulate
    from earnshaw.energy.empirical import (
        EmpiricalLoss as EmpiricalLoss,
        empirical_loss as empirical_loss,
    )
    from earnshaw.energy.population import (
        PopulationLoss as PopulationLoss,
        population_loss as population_loss,
    )
    from earnshaw.errors import EarnshawError as EarnshawError
    from earnshaw.experiments.sweeps.sweep import Sweep as Sweep, sweep as sweep
    from earnshaw.experiments.training.settings import Training as Training
    from earnshaw.experiments.training.train import Trained as Trained, train as train
    from earnshaw.inputs import (
        Gaussian as Gaussian,
        GaussianMixture as GaussianMixture,
        TruncatedGaussian as TruncatedGaussian,
        load_inputs as load_inputs,
        save_inputs as save_inputs,
    )
    from earnshaw.lab import lab as lab
    from earnshaw.landscape.barrier import Barrier as Barrier, barrier as barrier
    from earnshaw.landscape.certificate import Certificate as Certificate
    from earnshaw.landscape.certify import Certified as Certified, certify as certify
    from earnshaw.landscape.compare import Comparison as Comparison, compare as compare
    from earnshaw.landscape.hunting.critical_points import Landscape as Landscape
    from earnshaw.landscape.hunting.hunt import hunt as hunt
    from earnshaw.landscape.proofs.check import check_proof as check_proof
    from earnshaw.landscape.proofs.proof import Proof as Proof
    from earnshaw.landscape.proofs.proof_file import (
        load_proof as load_proof,
        save_proof as save_proof,
    )
    from earnshaw.landscape.proofs.prove import prove as prove
    from earnshaw.landscape.slices import Slice as Slice, loss_slice as loss_slice
    from earnshaw.landscape.spectrum import Spectrum as Spectrum, spectrum as spectrum
    from earnshaw.learning.exports.python_file import export as export
    from earnshaw.learning.learn import learn as learn, load_run as load_run
    from earnshaw.learning.run import Run as Run
    from earnshaw.learning.samples.learn import (
        SampledRun as SampledRun,
        learn_from_samples as learn_from_samples,
    )
    from earnshaw.papers.claims.verify import verify as verify
    from earnshaw.papers.reproductions.reproduce import reproduce as reproduce
    from earnshaw.papers.reproductions.reproduction import Reproduction as Reproduction

# isort: on
_HOMES = {  # the public names, by the module that defines them
    "charges.imported": "from_arrays from_sklearn from_torch",
    "charges.matching": "Matching match",
    "charges.network": "Student Teacher",
    "charges.network_file": "load load_student load_teacher save",
    "charges.random": "random_student random_teacher",
    "descent.loop": "Progress",
    "descent.method": "Stop",
    "descent.catalogue": "methods",
    "duality.catalogue": "activations potentials",
    "duality.named": "activation potential",
    "duality.realizing.realization": "Obstruction Realization",
    "duality.realizing.realize": "realize",
    "dynamics.path": "Path",
    "dynamics.path_file": "load_path save_path",
    "dynamics.simulate": "extend go_on simulate",
    "energy.empirical": "EmpiricalLoss empirical_loss",
    "energy.population": "PopulationLoss population_loss",
    "errors": "EarnshawError",
    "experiments.sweeps.sweep": "Sweep sweep",
    "experiments.training.settings": "Training",
    "experiments.training.train": "Trained train",
    "inputs": "Gaussian GaussianMixture TruncatedGaussian load_inputs save_inputs",
    "lab": "lab",
    "landscape.barrier": "Barrier barrier",
    "landscape.certificate": "Certificate",
    "landscape.certify": "Certified certify",
    "landscape.compare": "Comparison compare",
    "landscape.hunting.critical_points": "Landscape",
    "landscape.hunting.hunt": "hunt",
    "landscape.proofs.check": "check_proof",
    "landscape.proofs.proof": "Proof",
    "landscape.proofs.proof_file": "load_proof save_proof",
    "landscape.proofs.prove": "prove",
    "landscape.slices": "Slice loss_slice",
    "landscape.spectrum": "Spectrum spectrum",
    "learning.exports.python_file": "export",
    "learning.learn": "learn load_run",
    "learning.run": "Run",
    "learning.samples.learn": "SampledRun learn_from_samples",
    "papers.claims.verify": "verify",
    "papers.reproductions.reproduce": "reproduce",
    "papers.reproductions.reproduction": "Reproduction",
}

__getattr__, __dir__, __all__ = offer(
    __name__, {name: home for home, names in _HOMES.items() for name in names.split()}
)
