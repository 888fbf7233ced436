"""How two units feel each other, in the form that sums over many pairs want.

A coupling is a potential together with the manifold, written through numbers that a matrix product
gives (`tile`), and again from the two positions themselves (`exact`), for pairs too close for the
first; `coupling.py` is the protocol. One kind a file: `radial.py` (functions of |x - y|), `dots.py`
(functions of |x|, |y| and x.y), `sphere.py` (functions of x.y for unit vectors), `displacement.py`
(any function of x - y), `affine.py` (units with biases, any Gaussian inputs).
`field.choose_coupling` picks the one of a potential.
"""

from earnshaw.lazy import offer

__getattr__, __dir__, __all__ = offer(
    __name__,
    {
        "AffineCoupling": "affine",
        "Coupling": "coupling",
        "DisplacementCoupling": "displacement",
        "DotCoupling": "dots",
        "RadialCoupling": "radial",
        "SphereCoupling": "sphere",
    },
)
