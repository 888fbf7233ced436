"""Small networks, each with its loss in the library and in 80 digits.

All have the same shape, three units in R^3 under a teacher of two, so that compiled code is shared.
"""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import equinox as eqx
import numpy as np
import pytest

from earnshaw.charges.network import Student, Teacher
from earnshaw.energy.population import population_loss
from energy.dense import STEP, ExactLoss
from energy.exact_potentials import POTENTIALS, Pair, dot, mp, potential, radial

DIM, UNITS, PROTONS = 3, 3, 2

FORMULAS: dict[tuple[str, str], Pair] = {
    ("exp(-r)/(1+r^2)", "space"): radial(lambda r: mp.exp(-r) / (1 + r * r)),
    ("sin(r)/r", "space"): radial(lambda r: mp.sin(r) / r if r else mp.mpf(1)),
    ("exp(-x1^2-2*x2^2-abs(x3))", "space"): lambda x, y: mp.exp(
        -((x[0] - y[0]) ** 2) - 2 * (x[1] - y[1]) ** 2 - abs(x[2] - y[2])
    ),
    ("exp(rho-1)", "sphere"): lambda x, y: mp.exp(dot(x, y) - 1),
}
FORMULA_CASES = [pytest.param(formula, id=str(formula)) for formula in FORMULAS]
PARAMETERS: dict[str, dict[str, Any]] = {"polynomial": {"coefficients": (0.5, -1.0, 0.3, 0.2)}}
UNBOUNDED = ("harmonic", "lambda-harmonic")
# Every other named potential and manifold shares its code with one of these.
REPRESENTATIVES = {
    *((name, "space") for name in ("relu", "gelu", "polynomial", "gaussian", "bessel")),
    *((name, "space") for name in ("almost-harmonic", "harmonic", "distance")),
    *((name, "sphere") for name in ("relu", "almost-harmonic", "sphere-synthetic")),
}
# On the sphere these are the functions of the angle, or of the distance, that they are in space,
# and what the sphere adds is that of relu and sign, or of harmonic: it would be compiled again.
AS_IN_SPACE = ("step", "leaky-relu", "relu2", "relu3", "lambda-harmonic", "distance")
# All of them, those that only repeat code with the mark slow: it is their compilation that takes.
NAMED = [
    pytest.param(name, on, marks=() if (name, on) in REPRESENTATIVES else pytest.mark.slow)
    for name in POTENTIALS
    for on in ("space", "sphere")
    if (name, on) != ("sphere-synthetic", "space") and not (on == "sphere" and name in AS_IN_SPACE)
]
BOUNDED = [one for one in NAMED if one.values[0] not in UNBOUNDED]


class Case(NamedTuple):
    """A loss and a student, the same loss exactly, and a direction to take products with."""

    loss: Any
    student: Student
    exact: ExactLoss
    direction: tuple[np.ndarray, np.ndarray]

    @property
    def teacher(self) -> Teacher:
        return self.loss.teacher


def case(
    what: str | tuple[str, str],
    on: str = "space",
    *,
    objective: str = "full",
    wrt: str = "both",
    dim: int = DIM,
    units: int = UNITS,
    protons: int = PROTONS,
    spread: float = 1.0,
    seed: int = 0,
    places: tuple[np.ndarray, np.ndarray] | None = None,
    weights: tuple[np.ndarray, np.ndarray] | None = None,
    near: float | None = None,
    tiles: bool = False,
) -> Case:
    """A random case of a named potential, or of a formula (formula, manifold).

    `places` and `weights`, of the student and the teacher, replace the random ones; `near` puts the
    first unit at that distance from the first proton. So few charges are computed from differences;
    with `tiles` they are computed as many are, by products, and only near ones from differences.
    """
    generator = np.random.default_rng(seed)
    x, w = (spread * generator.standard_normal((count, dim)) for count in (units, protons))
    c, b = (generator.uniform(-1, 1, count) for count in (units, protons))
    direction = generator.standard_normal((units, dim)), generator.standard_normal(units)
    if places is not None:
        x, w = places
    if near is not None:
        aside = generator.standard_normal(dim)
        x[0] = w[0] + near * aside / np.linalg.norm(aside)
    if weights is not None:
        c, b = weights
    if objective == "assumption-1":
        c, b = np.ones(units), np.ones(protons)
    if on == "sphere":
        x, w = (v / np.linalg.norm(v, axis=1, keepdims=True) for v in (x, w))
        along = direction[0]
        direction = along - np.sum(along * x, axis=1, keepdims=True) * x, direction[1]
    if isinstance(what, tuple):
        teacher, phi = Teacher(w, b, potential=what[0], on=on), FORMULAS[what]
    else:
        parameters = PARAMETERS.get(what, {})
        teacher = Teacher(w, b, what, on=on, **parameters)
        phi = potential(what, dim, **parameters)
    loss = population_loss(teacher, objective=objective, wrt=wrt)
    if tiles:
        loss = dataclasses.replace(loss, field=dataclasses.replace(loss.field, small=0))
    return Case(loss, Student(x, c), ExactLoss(phi, w, b, objective, on, STEP), direction)


@eqx.filter_jit
def everything(loss: Any, student: Student, direction: tuple[Any, Any]) -> tuple[Any, ...]:
    """Value, gradient, Hessian-vector product and Laplacians, compiled as one."""
    return (
        loss.value(student),
        loss.gradient(student),
        loss.hvp(student, direction),
        loss.laplacian(student),
    )


def error(ours: Any, exact: Any) -> float:
    """The largest difference relative to the largest entry of `exact`; 0 for empty arrays."""
    ours, exact = np.asarray(ours, dtype=float), np.asarray(exact, dtype=float)
    assert ours.shape == exact.shape
    assert np.all(np.isfinite(ours))
    size = np.max(np.abs(exact), initial=0.0)
    gap = np.max(np.abs(ours - exact), initial=0.0)
    return float(gap / size) if size else float(gap)


def row_error(ours: Any, exact: Any, least: float = 0.0) -> float:
    """The largest error of a row relative to the largest entry of that row, or to `least`."""
    ours, exact = np.asarray(ours, dtype=float), np.asarray(exact, dtype=float)
    assert ours.shape == exact.shape
    assert np.all(np.isfinite(ours))
    size = np.maximum(np.max(np.abs(exact), axis=-1, keepdims=True), max(least, 1e-300))
    return float(np.max(np.abs(ours - exact) / size))
