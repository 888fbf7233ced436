"""What a sweep can run: a `Kind` checks settings and does a block of seeds piece by piece.

`kind.py` is the protocol, `training.py` is "train", `learning.py` is "learn"; `registry.py` has
them by name, with the version of the code that their results depend on.
"""

from earnshaw.lazy import offer

__getattr__, __dir__, __all__ = offer(
    __name__,
    {
        "KINDS": "registry",
        "Kind": "kind",
        "Learning": "learning",
        "Piece": "kind",
        "Result": "kind",
        "code_version": "registry",
        "kind_named": "registry",
    },
)
