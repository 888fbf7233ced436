"""All that can be asked of a simulation, with its defaults: plain values that a file can hold.

The command line has its options from here, so that nothing here loads JAX.
"""

from __future__ import annotations

import dataclasses

from earnshaw.settings import check_settings, setting


@dataclasses.dataclass(frozen=True)
class Settings:
    """The arguments of `simulate` that say what to do, not how to show or store it."""

    time: float = setting(
        10.0, "How long, in the time of gradient flow; 50 (in Python 10).", above=0.0
    )
    wrt: str = setting(
        "positions",
        "What moves: positions (the default), weights or both.",
        allowed=("positions", "weights", "both"),
        suggest=True,
    )
    objective: str = setting(
        "full", "full (the default), regularized, assumption-1, without-constants."
    )
    rtol: float = setting(1e-8, "Relative error of a step; 1e-8.", above=0.0, below=0.1)
    atol: float = setting(1e-10, "Absolute error of a step; 1e-10.", above=0.0, below=0.1)
    solver: str = setting(
        "explicit",
        "explicit (the default), or implicit for stiff flows: smooth activations only.",
        allowed=("explicit", "implicit"),
        suggest=True,
    )
    max_steps: int = setting(100_000, "Steps at most, rejected ones too; 100000.", low=1)

    def __post_init__(self) -> None:
        check_settings(self)
