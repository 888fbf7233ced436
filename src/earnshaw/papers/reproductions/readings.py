"""What the papers' experiments may have been.

The texts give alpha = 1e-5 ("around"), T = 1e6, Gaussian inputs and weights, sigmoids from -1 to 1
at every node. They leave unsaid the input dimension, the number of samples, the batch and the
scaling of the loss. A *reading* fills that in. None matches all 20 cells of Table 2 (docs/
experiments.md has the comparison); the default comes closest in its trends.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from earnshaw.errors import UnknownName


@dataclass(frozen=True)
class Reading:
    """One way to fill in what is not said.

    Attributes:
        name: for `--reading`.
        says: in words.
        settings: of training, given the width.
    """

    name: str
    says: str
    settings: Callable[[int], dict[str, Any]]


def _same(**settings: Any) -> Callable[[int], dict[str, Any]]:
    return lambda width: dict(settings)


READINGS = {
    reading.name: reading
    for reading in (
        Reading(
            "one-sample",
            "d = 5, tanh, one fresh sample a step, alpha = 1e-3",
            _same(dim=5, step=1e-3),
        ),
        Reading(
            "summed",
            "d = 5, tanh, the loss summed over 100 fresh samples a step, alpha = 1e-5",
            _same(dim=5, batch=100, loss="sum", step=1e-5),
        ),
        Reading(
            "sample-set",
            "d = 5, tanh, gradient descent on the loss summed over 100 fixed samples, alpha = 1e-5",
            _same(dim=5, data="fixed", samples=100, loss="sum", step=1e-5),
        ),
        Reading(
            "wide-inputs",
            "d = width, tanh(z/2), one fresh sample a step, alpha = 3e-4",
            lambda width: {"dim": width, "gain": 0.5, "step": 3e-4},
        ),
        Reading(
            "literal",
            "d = 5, tanh, one fresh sample a step, alpha = 1e-5 as printed",
            _same(dim=5, step=1e-5),
        ),
    )
}
DEFAULT = "one-sample"


def reading_named(name: str | None) -> Reading:
    """The reading of that name, or the usual one; an unknown one is answered with the known."""
    name = DEFAULT if name is None else name
    if name not in READINGS:
        raise UnknownName("reading", name, READINGS)
    return READINGS[name]
