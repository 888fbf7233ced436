"""What there is: every method by name, in the words that its own file begins with."""

from __future__ import annotations

import inspect
import sys
from typing import Any

from earnshaw.descent.gradient_descent import GradientDescent
from earnshaw.descent.hessian_descent import HessianDescent
from earnshaw.descent.methods import BY_THEORY, METHODS, NODE_WISE
from earnshaw.descent.newton import Newton
from earnshaw.descent.node_wise import NodeWise
from earnshaw.descent.node_wise_gd import NodeWiseGD
from earnshaw.descent.node_wise_paper import NodeWisePaper
from earnshaw.descent.node_wise_sgd import NodeWiseSGD
from earnshaw.descent.noisy_sgd import NoisySGD
from earnshaw.descent.perturbed_gd import PerturbedGD
from earnshaw.descent.second_gd import SecondGD

CLASSES: dict[str, type] = {
    "gd": GradientDescent,
    "hessian-descent": HessianDescent,
    "second-gd": SecondGD,
    "perturbed-gd": PerturbedGD,
    "noisy-sgd": NoisySGD,
    "newton": Newton,
    "node-wise": NodeWise,
    "node-wise-paper": NodeWisePaper,
    "node-wise-sgd": NodeWiseSGD,
    "node-wise-gd": NodeWiseGD,
}


def methods() -> list[dict[str, Any]]:
    """One row for each method that `ew.learn` knows.

    Returns
    -------
    list of dict
        `name`, `does` (one sentence), `moves` ("all units" at once, or "one unit" a round),
        `theory_steps` (whether ``steps="theory"`` is known for it), `default`.

    Examples
    --------
    >>> import earnshaw as ew
    >>> [row["name"] for row in ew.methods() if row["default"]]
    ['node-wise']
    """
    rows = []
    for name in METHODS:
        about = inspect.getdoc(sys.modules[CLASSES[name].__module__]) or name
        rows.append(
            {
                "name": name,
                "does": about.split("\n")[0].rstrip("."),
                "moves": "one unit" if name in NODE_WISE else "all units",
                "theory_steps": name in BY_THEORY,
                "default": name == "node-wise",
            }
        )
    return rows
