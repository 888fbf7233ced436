"""From a potential to an activation that has it, or to why there is none.

`realize.py` is the way in. On the sphere (`_sphere.py`) the Taylor coefficients decide, on R^d
(`_space.py`) the Fourier transform. Either way the answer is a `Realization` with evidence: an
activation that gives the potential back, or an `Obstruction`, points and weights that anyone can
check.
"""

from earnshaw.lazy import offer

__getattr__, __dir__, __all__ = offer(
    __name__,
    {
        "Obstruction": "realization",
        "Realization": "realization",
    },
)
