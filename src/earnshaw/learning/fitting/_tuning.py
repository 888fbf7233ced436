"""The constants of growth, in one table."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Tuning:
    """The numbers that growth goes by. Errors are mean errors of standardised answers.

    Attributes:
        little: a unit that leaves more than this part of the error helps little: the network may
            be in a bad minimum.
        much: a network that leaves less than this part of the error is better, not just luckier.
        noiseless: an error so small that the answers must be without noise.
        patience: additions without a better criterion before growth ends.
        few_samples: samples that are enough to tell whether a network is better, and that the
            first stage of a fit grows on. Shaking on so few takes a quarter of the time with noise
            (commit ed45e22).
        samples_a_parameter: at least so many of them for every parameter.
        shaken: the part of the units that a shake takes away.
        shakes: failures of one round of shakes before it ends. all_shakes: of all rounds.
        shake_work: multiplications that all shakes may take.
        settling: how often a descent is continued that did not end by itself,
        settling_gain: as long as it leaves less than this part of the error.
        slims: failed attempts to drop spare units of a noiseless fit before they end.
        slim_error: the factor by which the error may grow when a spare unit is dropped.
        drops: units that are tried when one is to be dropped, those of least effect first.
        needed: a unit that carries more than this part of the answers stays in a perfect fit.
        spare: units beyond an exact number that a detour adds and drops again.
    """

    little: float = 0.85
    much: float = 0.7
    noiseless: float = 1e-8
    patience: int = 2
    few_samples: int = 4096
    samples_a_parameter: int = 10
    shaken: float = 0.3
    shakes: int = 6
    all_shakes: int = 18
    shake_work: float = 1.5e11
    settling: int = 5
    settling_gain: float = 0.5
    slims: int = 4
    slim_error: float = 2.0
    drops: int = 3
    needed: float = 1e-4
    spare: int = 2
