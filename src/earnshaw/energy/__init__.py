"""Losses of a student, behind one protocol: nobody above asks which loss or coupling it is.

`objective.py` says what a loss offers: value, gradient, Hessian, and what else methods,
certificates and learners may ask. `population.py` is the exact loss E[(f - g)^2], the energy of
charges; `empirical.py` its mean over samples. `variants.py` has the papers' variants of both.
`asked_loss.py` is the loss as a learner sees it, through an oracle of the hidden network
(`oracle.py`); what it shares with the exact one is `charged_loss.py`.

How the exact one is computed: `couplings/` are potentials in a form for many pairs, `_tiles.py`
sums over all pairs, `_field.py` what charges make at a place, `_laplacian.py` the papers'
Laplacians. How the sampled one is: `responses/` are the outputs of units, `streaming.py` sums over
samples.
"""

from earnshaw.lazy import offer

__getattr__, __dir__, __all__ = offer(
    __name__,
    {
        "AskedLoss": "asked_loss",
        "Chunk": "streaming",
        "EmpiricalLoss": "empirical",
        "FreeUnits": "objective",
        "Gradient": "objective",
        "Objective": "objective",
        "Oracle": "oracle",
        "PopulationLoss": "population",
        "Terms": "variants",
        "VARIANTS": "variants",
        "asked_loss": "asked_loss",
        "empirical_loss": "empirical",
        "oracle_of": "oracle",
        "population_loss": "population",
        "stream": "streaming",
    },
)
