"""Duals of activations without a closed form, with a bound or an estimate of their error.

`general.py` chooses: a Hermite series for smooth functions, sectors of the plane for those with a
kink at 0, a series in the angle for a user's function with kinks.
"""

from earnshaw.lazy import offer

__getattr__, __dir__, __all__ = offer(__name__, {"general_moment": "general"})
