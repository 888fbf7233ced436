"""What kind of point a student is: minimum, cusp-minimum, strict saddle, or none of these.

`certificate.certificate` gives a numerical verdict and `certify.certify` adds the papers' theorems
(`theorems/`) and a proof in ball arithmetic (`proofs/`) if asked. They rest on `binding.py` (units
on cusps of the loss), `_curvature.py` (the Hessian over smooth directions) and `symmetries.py`
(motions that change nothing). `spectrum.py`, `slices.py` and `barrier.py` are what pictures of a
landscape are made of: all eigenvalues, planes of students, the way from one minimum to another (up
to the order of units, `alignment.py`). `hunting/` finds the critical points of a landscape from
many starts.
"""

from earnshaw.lazy import offer

__getattr__, __dir__, __all__ = offer(
    __name__,
    {
        "Barrier": "barrier",
        "Binding": "binding",
        "Certificate": "certificate",
        "Certified": "certify",
        "Slice": "slices",
        "Spectrum": "spectrum",
        "bind": "binding",
        "cusp_slopes": "binding",
        "orbit_coordinates": "symmetries",
        "orbit_directions": "symmetries",
    },
)
