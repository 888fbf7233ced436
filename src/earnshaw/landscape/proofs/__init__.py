"""Proofs in ball arithmetic (python-flint, Arb) that a point is a minimum or a saddle.

`prove.prove` finds a `Proof`, `check.check_proof` runs every test of it again, and `proof_file.py`
keeps it. A `Problem` is what a proof is about; `_energy.py` encloses its loss, gradient and Hessian
by the `Kernel` of the potential (`_choose_kernel.py`), `_enclosure.py` a critical point (Krawczyk's
test), `_definite.py` the sign of the Hessian, `_held_units.py` what cusps hold.
"""

from earnshaw.lazy import offer

__getattr__, __dir__, __all__ = offer(
    __name__,
    {
        "Kernel": "kernel",
        "Problem": "problem",
        "Proof": "proof",
        "check_proof": "check",
        "load_proof": "proof_file",
        "save_proof": "proof_file",
    },
)
