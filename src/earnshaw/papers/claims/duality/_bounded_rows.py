"""Which activations of EPD's Table 1 are bounded, as its Definition 2.3 asks, and who needs it.

Definition 2.3 calls Phi realizable if it is E[sigma(X, theta) sigma(X, w)] of an activation that is
"bounded almost everywhere". Of Table 1 only sign is (and the Gaussian, for each theta): relu,
Hermite, exponential and synthetic grow with x, and Bessel is infinite at x_i = theta_i. What the
definition needs is E[sigma^2] < infinity, which all have; Full's says no more than that some
activation corresponds to Phi.

The potentials themselves lose nothing: rho^m also has a bounded activation, though none of the form
s(x.theta). With r_I(x) = +-1 independent fair signs, one for each multi-index I of {1..d}^m (binary
digits of a coordinate's normal CDF, say),

    sigma(x, theta) = sum_I theta_(I_1) ... theta_(I_m) r_I(x),    |sigma| <= d^(m/2),

has E[sigma(X, theta) sigma(X, w)] = sum_I theta_I w_I = rho^m.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np

from earnshaw.duality.named import activation, potential
from earnshaw.numerics.jax_as_numpy import as_numpy
from earnshaw.papers.claims.claim import Finding, Instance, Statement
from earnshaw.papers.claims.duality._expectations import panels, towards

ROWS = ("sign", "relu", "hermite-3", "exponential", "sphere-synthetic", "gaussian", "bessel")
BOUNDED = ("sign", "gaussian")
TRANSLATIONS = ("gaussian", "bessel")  # on R^1, at theta = 0.5
PLACE = 0.5
CLOSE, FAR = 1e-12, 300.0  # how near the centre and how far out a bound is looked for


def _row(name: str) -> tuple[Callable[[np.ndarray], np.ndarray], float]:
    """The library's sigma(x, theta) in one dimension, and its potential at theta = w."""
    if name in TRANSLATIONS:
        sigma, phi = activation(name, dim=1), potential(name, 1)
        unit = as_numpy(lambda x: sigma.unit(x[..., None], np.array([PLACE])))
        return unit, float(phi.value(0.0))
    settings = {"dim": 3, "degree": 6} if name == "sphere-synthetic" else {}
    raw = {"normalize": False} if name in ("relu", "exponential") else {}
    phi = potential(name, **settings, **raw)
    return as_numpy(activation(name, **settings)), float(phi(1.0))


def _draw_row(rng: np.random.Generator, index: int) -> Instance:
    return {"row": ROWS[(1 + index) % len(ROWS)]}


def _sizes(name: str) -> tuple[float, float]:
    """The largest |sigma| for |x| <= 3, centre left out, and out to FAR and near the centre."""
    sigma, _ = _row(name)
    centre = PLACE if name in TRANSLATIONS else 0.0
    steps = np.geomspace(1e-2, 3, 200)
    near = np.concatenate([centre - steps, centre + steps])
    wide = np.geomspace(3, FAR if name != "bessel" else 25.0, 60)
    ends = np.concatenate([near, -wide, wide, np.array([centre + CLOSE])])
    with np.errstate(over="ignore"):
        return float(np.max(np.abs(sigma(near)))), float(np.max(np.abs(sigma(ends))))


def _square_integrable(instance: Instance) -> Finding:
    """E[sigma^2] by quadrature against Phi(theta, theta); and whether more x give more |sigma|."""
    name = str(instance["row"])
    sigma, own = _row(name)
    centre = PLACE if name in TRANSLATIONS else 0.0
    x, weights = panels(towards([centre], -20.0, 20.0, 1e-9), 20)
    density = np.exp(-x * x / 2) / math.sqrt(2 * math.pi)
    square = float(np.sum(weights * density * sigma(x) ** 2))
    inner, outer = _sizes(name)
    numbers = {"mean_square": square, "error": abs(square / own - 1), "growth": outer / inner}
    is_bounded = numbers["growth"] < 1.01
    return Finding(numbers["error"] < 1e-9 and is_bounded == (name in BOUNDED), numbers)


def _is_bounded(instance: Instance) -> Finding:
    inner, outer = _sizes(str(instance["row"]))
    return Finding(outer < 1.01 * inner, {"largest_near": inner, "largest_found": outer})


def _draw_power(rng: np.random.Generator, index: int) -> Instance:
    dim, degree = ((2, 3), (3, 2), (2, 2))[index % 3]
    theta, w = rng.standard_normal((2, dim))
    return {
        "degree": degree,
        "theta": theta / np.linalg.norm(theta),
        "w": w / np.linalg.norm(w),
    }


def _bounded_power(instance: Instance) -> Finding:
    """The mean over all signs r_I, which is that over X."""
    theta, w, degree = np.asarray(instance["theta"]), np.asarray(instance["w"]), instance["degree"]
    terms = [
        np.array([math.prod(v[list(index)]) for index in _multi_indices(len(v), int(degree))])
        for v in (theta, w)
    ]
    signs = np.array(list(itertools.product((-1.0, 1.0), repeat=len(terms[0]))))
    first, second = (signs @ one for one in terms)
    stated = float(potential(f"hermite-{int(degree)}")(float(theta @ w)))
    numbers = {
        "error": abs(float(np.mean(first * second)) - stated),
        "largest": float(np.max(np.abs(first))),
        "bound": len(theta) ** (int(degree) / 2),
    }
    good = numbers["error"] < 1e-12 and numbers["largest"] <= numbers["bound"] + 1e-12
    return Finding(good, numbers)


def _multi_indices(dim: int, degree: int) -> list[tuple[int, ...]]:
    return list(itertools.product(range(dim), repeat=degree))


BOUNDED_ROWS = (
    Statement(
        "square-integrable",
        "every activation of EPD's Table 1 has E[sigma^2] = Phi(theta, theta) < infinity; of them "
        "sign and, for each theta, the Gaussian are bounded, and no other",
        _draw_row,
        _square_integrable,
        quick=2,
        thorough=7,
    ),
    Statement(
        "bounded-for-a-power",
        "rho^m has an activation bounded by d^(m/2) all the same, of independent signs",
        _draw_power,
        _bounded_power,
        quick=2,
        thorough=9,
    ),
    Statement(
        "bounded-almost-everywhere",
        "the activations of EPD's Table 1 are bounded almost everywhere, as its Definition 2.3 "
        "asks (Full's definition does not)",
        _draw_row,
        _is_bounded,
        role="printed",
        kind="misprint",
        quick=1,
        thorough=7,
    ),
)
