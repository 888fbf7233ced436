"""How units answer to samples, with derivatives, in the form that sums over many samples want.

`response.py` is the protocol; `dot_product.py` has units s(x.theta), in closed form and with care
at the kinks of s; `general.py` any others, by automatic differentiation. `choose.py` picks the one
of an activation.
"""

from earnshaw.lazy import offer

__getattr__, __dir__, __all__ = offer(
    __name__,
    {
        "DotProductResponse": "dot_product",
        "GeneralResponse": "general",
        "Response": "response",
        "choose_response": "choose",
    },
)
