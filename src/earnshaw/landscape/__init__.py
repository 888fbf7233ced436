"""What kind of point a student is: minimum, cusp-minimum, strict saddle, or none of these.

`certificate.certificate` gives a numerical verdict and `certify.certify` adds the papers' theorems
(`theorems/`) and a proof in ball arithmetic (`proofs/`) if asked. They rest on `binding.py` (units
on cusps of the loss), `_curvature.py` (the Hessian over smooth directions) and `symmetries.py`
(motions that change nothing). `hunting/` finds the critical points of a landscape from many starts.
"""

from earnshaw.lazy import offer

__getattr__, __dir__, __all__ = offer(
    __name__,
    {
        "Binding": "binding",
        "Certificate": "certificate",
        "Certified": "certify",
        "bind": "binding",
        "cusp_slopes": "binding",
        "orbit_coordinates": "symmetries",
        "orbit_directions": "symmetries",
    },
)
