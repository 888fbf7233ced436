"""What the papers' theorems say of a point, each hypothesis checked by its numbers.

`applied.applied` gives an `Application` of every theorem that speaks of the teacher's potential in
a `Setting`: the charges, how far apart they are, and the certificate of the point. One family of
theorems a file: `_harmonic.py`, `_subharmonic.py`, `_sphere.py`, `_learned.py`.
"""

from earnshaw.lazy import offer

__getattr__, __dir__, __all__ = offer(
    __name__,
    {
        "Application": "application",
        "Hypothesis": "application",
        "Setting": "setting",
    },
)
