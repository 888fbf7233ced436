"""The methods by name, made for an objective; combinations that make no sense are refused here.

Two kinds: methods of all units at once (`Method`, run by `loop.py`) and node-wise ones
(`NodeMethod`, run by `nodes.py`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array

from earnshaw.charges.network import Student
from earnshaw.descent.gradient_descent import GradientDescent
from earnshaw.descent.hessian_descent import HessianDescent
from earnshaw.descent.method import Method
from earnshaw.descent.newton import Newton
from earnshaw.descent.node_wise import NodeWise
from earnshaw.descent.node_wise_gd import NodeWiseGD
from earnshaw.descent.node_wise_paper import NodeWisePaper
from earnshaw.descent.node_wise_sgd import NodeWiseSGD
from earnshaw.descent.nodes import NodeMethod, Starts
from earnshaw.descent.noisy_sgd import NoisySGD
from earnshaw.descent.perturbed_gd import PerturbedGD
from earnshaw.descent.second_gd import SecondGD
from earnshaw.descent.steps import Steps
from earnshaw.descent.theory import plan
from earnshaw.energy.objective import Objective
from earnshaw.errors import EarnshawError, OutOfRange, UnknownName

SIMULTANEOUS = ("gd", "hessian-descent", "second-gd", "perturbed-gd", "noisy-sgd", "newton")
NODE_WISE = ("node-wise", "node-wise-paper", "node-wise-sgd", "node-wise-gd")
METHODS = (*SIMULTANEOUS, *NODE_WISE)
SEARCHING = (
    *("gd", "hessian-descent", "second-gd", "perturbed-gd"),
    *("node-wise-paper", "node-wise-gd"),
)
BY_THEORY = ("gd", "second-gd", "perturbed-gd", "noisy-sgd", "node-wise-paper", "node-wise-gd")
OF_SEVERAL_OUTPUTS = tuple(name for name in METHODS if name != "node-wise-sgd")  # its weights are 1
TOLERANCES = {
    "gd": 1e-8,
    "hessian-descent": 1e-6,
    "second-gd": 1e-6,
    "perturbed-gd": 1e-6,
    "noisy-sgd": 1e-1,
}


@dataclass(frozen=True)
class MethodOptions:
    """What was asked for; None means the method's own choice.

    `steps` is "adaptive", "theory" or the size of constant steps.
    """

    steps: str | float | None = None
    tolerance: float | None = None
    iterations: int | None = None
    climbs: int | None = None

    def given(self, **names: Any) -> dict[str, Any]:
        """Keywords for a constructor: those of `names` that are not None."""
        return {key: value for key, value in names.items() if value is not None}


def check_method(name: object, objective: Objective) -> str:
    """The name, or why this method cannot run on this objective."""
    if not isinstance(name, str) or name not in METHODS:
        raise UnknownName("method", str(name), METHODS)
    on_sphere = objective.manifold.name == "sphere"
    if name == "node-wise-paper" and on_sphere:
        raise EarnshawError(
            "node-wise-paper starts units in a ball of R^d (Full, Lemma E.4); "
            "allowed on the sphere: node-wise, node-wise-gd, node-wise-sgd or all units at once"
        )
    if name in NODE_WISE and objective.mixed and not _finds_kinds(name, objective):
        raise EarnshawError(
            f"{name} places units of one activation, here there are several; allowed: "
            f"student_activation= one of them, {', '.join(SIMULTANEOUS)}, or node-wise for a "
            "teacher of several and one output"
        )
    if objective.charge_shape and name not in OF_SEVERAL_OUTPUTS:
        raise EarnshawError(
            f"{name} is for one output; allowed for several: {', '.join(OF_SEVERAL_OUTPUTS)}"
        )
    fixed = objective.wrt == "positions"
    if name in NODE_WISE and name != "node-wise-sgd" and fixed:
        raise EarnshawError(
            f"{name} chooses weights, which are fixed here; allowed: node-wise-sgd, "
            f"{', '.join(SIMULTANEOUS)}"
        )
    if name in NODE_WISE and objective.wrt == "weights":
        raise EarnshawError(f"{name} moves positions, which are fixed here; allowed: wrt='both'")
    if name == "node-wise-sgd" and not fixed:
        raise EarnshawError(
            "node-wise-sgd is for fixed weights (EPD, Algorithm 2); "
            "allowed: objective='assumption-1', with a teacher whose weights are all 1"
        )
    if name in NODE_WISE and not math.isfinite(float(objective.empty_value())):
        raise EarnshawError(
            f"{name} needs a potential that is bounded where units meet; allowed: "
            f"{', '.join(SIMULTANEOUS)} with objective='without-constants'"
        )
    return name


def _finds_kinds(name: str, objective: Objective) -> bool:
    """Whether units of every activation of the teacher can be placed (`kind_by_kind.py`)."""
    given = objective.of_another_kind or objective.charge_shape
    return name == "node-wise" and not given


def simultaneous_method(
    name: str, objective: Objective, start: Student, options: MethodOptions
) -> tuple[Method, tuple[str, ...]]:
    """A method of all units, and remarks on how it was made."""
    if name == "newton":
        _no_steps(name, options)
        if has_cusps(objective):
            raise EarnshawError(
                "newton needs a potential without a cusp; allowed: gd, second-gd, node-wise"
            )
        return Newton(**options.given(tolerance=options.tolerance)), ()
    wanted = TOLERANCES[name] if options.tolerance is None else options.tolerance
    steps, notes = _steps(name, objective, start, options, wanted)
    tolerance = jnp.asarray(wanted)
    if name == "gd":
        return GradientDescent(steps=steps, tolerance=tolerance), notes
    if name == "hessian-descent":
        return HessianDescent(steps=steps, tolerance=tolerance), notes
    if name == "second-gd":
        return SecondGD(steps=steps, eta=tolerance, gamma=tolerance), notes
    if name == "perturbed-gd":
        return PerturbedGD(steps=steps, tolerance=tolerance), notes
    size = {} if steps.size is None else {"step_size": steps.size}
    return NoisySGD(tolerance=tolerance, **size), notes


def node_wise_method(
    name: str, objective: Objective, limit: int, starts: Starts, options: MethodOptions
) -> tuple[NodeMethod, tuple[str, ...]]:
    """A node-wise method that may place `limit` units, and remarks on how it was made."""
    common = options.given(tolerance=options.tolerance)
    if name == "node-wise":
        _no_steps(name, options)
        smooth = not has_cusps(objective)
        climbing = options.given(climbs=options.climbs, ascent_limit=options.iterations)
        return NodeWise(starts=starts, limit=limit, smooth=smooth, **common, **climbing), ()
    by_theory = options.steps == "theory"
    if by_theory and name == "node-wise-sgd":
        raise EarnshawError(f"{name} has no theory steps; allowed for {', '.join(BY_THEORY)}")
    common |= options.given(iterations=options.iterations)
    size = None if by_theory else _size(name, options)
    if name == "node-wise-sgd":
        return NodeWiseSGD(limit=limit, **common, **options.given(step_size=size)), ()
    steps = Steps(size=size, cusps=has_cusps(objective))
    if name == "node-wise-gd":
        return NodeWiseGD(
            starts=starts, limit=limit, steps=steps, by_theory=by_theory, **common
        ), ()
    if options.tolerance is not None:
        common["tolerance"] = jnp.asarray(options.tolerance)
    return NodeWisePaper(limit=limit, steps=steps, by_theory=by_theory, **common), ()


def _steps(
    name: str, objective: Objective, start: Student, options: MethodOptions, tolerance: float
) -> tuple[Steps, tuple[str, ...]]:
    if options.steps != "theory":
        return Steps(size=_size(name, options), cusps=has_cusps(objective)), ()
    if name not in BY_THEORY:
        raise EarnshawError(f"{name} has no theory steps; allowed for {', '.join(BY_THEORY)}")
    steps, notes = plan(
        objective, start, tolerance, None if name in ("gd", "perturbed-gd") else tolerance
    )
    return steps.steps(), notes


def _size(name: str, options: MethodOptions) -> Array | None:
    """The size of constant steps, or None for adaptive ones."""
    if options.steps is None or (options.steps == "adaptive" and name in SEARCHING):
        return None
    try:
        size = float(options.steps)
    except (TypeError, ValueError):
        size = math.nan
    if not (np.isfinite(size) and size > 0):
        allowed = "adaptive, " if name in SEARCHING else ""
        allowed += "theory, " if name in BY_THEORY else ""
        raise OutOfRange("steps", options.steps, f"{allowed}or a positive number for {name}")
    return jnp.asarray(size)


def has_cusps(objective: Objective) -> bool:
    """Whether the potential has a cusp where two units meet."""
    somewhere = objective.manifold.project(jnp.ones((1, objective.dim)))
    return bool(np.any(np.asarray(objective.cusp(somewhere)) > 0))


def _no_steps(name: str, options: MethodOptions) -> None:
    if options.steps not in (None, "adaptive"):
        raise OutOfRange("steps", options.steps, f"adaptive; {name} finds its own")
