"""An activation and the potential that its units feel, both ways.

`ew.activation` and `ew.potential` (`named.py`) go from a name or a function to an activation and
its potential; `ew.realize` goes back. `families/` has one file a family: the activation, its moment
or potential, its symmetries, its NumPy and PyTorch formulas. Around it are the general ways:
`series/` for activations without a closed form, `formulas/` for potentials given as expressions,
`realizing/` from a potential to an activation or to why there is none.

The words of this room: an `Activation` is a `DotProduct` or a `Translation`; a `Potential` is
`Zonal`, `Radial` or `Separable`; a `Moment` is E[s(u) s(v)] as a function of a `Pair` of weight
vectors, and a `Dual` is a moment as a potential.
"""

from earnshaw.lazy import offer

__getattr__, __dir__, __all__ = offer(
    __name__,
    {
        "Activation": "activation",
        "DotProduct": "activation",
        "Translation": "activation",
        "Potential": "potential",
        "Zonal": "potential",
        "Radial": "potential",
        "Separable": "separable",
        "Region": "regions",
        "Symmetries": "symmetry",
        "Moment": "pair",
        "Pair": "pair",
        "Dual": "dual",
        "ACTIVATIONS": "named",
        "POTENTIALS": "named",
        "is_activation": "named",
        "takes_dim": "named",
        "Obstruction": "realizing.realization",
        "Realization": "realizing.realization",
        "realize": "realizing.realize",
    },
)
