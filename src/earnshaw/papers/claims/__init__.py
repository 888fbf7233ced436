"""The papers' claims, each tested on random instances: `earnshaw verify`.

A `Claim` (`claim.py`) is made of statements; a statement draws instances and tests them.
`verify.py` runs claims, `verdict.py` says what the findings amount to, `results_file.py` and
`witness.py` keep results and counterexamples in files, `page.py` writes docs/claims.md.
`catalog.py` has the ids of all claims; the claims are in folders by subject:

- `duality`: activations, potentials and which of them belong together;
- `minima`: potentials without local minima, and what descent does under them;
- `sign`: sign units, the conjectures, and the cones behind both;
- `learning`: descent lemmas, samples, and networks that are learned.

The tests avoid the code they test: references are 50-digit arithmetic, SciPy or NumPy formulas.
"""

from earnshaw.lazy import offer

__getattr__, __dir__, __all__ = offer(
    __name__,
    {
        "Claim": "claim",
        "ClaimResult": "verdict",
        "Finding": "claim",
        "HOMES": "catalog",
        "Sources": "claim",
        "Statement": "claim",
        "StatementResult": "verdict",
        "Verdict": "verdict",
        "check_id": "catalog",
        "claim_named": "catalog",
        "claims_page": "page",
        "load_results": "results_file",
        "load_witness": "witness",
        "save_results": "results_file",
        "save_witnesses": "witness",
    },
)
