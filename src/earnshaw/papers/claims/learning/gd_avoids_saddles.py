"""Gradient descent with short constant steps ends in no saddle, from almost every start.

With steps 1/(2L), L >= |Hessian|, x -> x - grad f(x)/(2L) is a diffeomorphism, and the starts that
it leads into a strict saddle are a set of measure 0 (EPD, Theorem B.5); where all critical points
but the global minima are such saddles it ends in a global minimum (Corollary B.6). The surfaces are
wells, whose critical points are all known (`_surfaces.py`).

With 1/L, as EPD's Theorems 3.6 and 3.10 take it, the map need not be a diffeomorphism: `_funnel`
sends an open set of starts onto the line that leads into its saddle.

Sources: EPD, Theorem B.5, Corollary B.6; mathematics.md, error 17.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array

from earnshaw.papers.claims.claim import (
    Claim,
    Finding,
    Instance,
    Sources,
    Statement,
)
from earnshaw.papers.claims.learning._surface_runs import (
    SLACK,
    STARTS,
    STATIONARY,
    N,
    final_places,
    gradient_descent,
    least_curvature,
    run_from,
    wells_bound,
)
from earnshaw.papers.claims.learning._surfaces import (
    Surface,
    difference,
    flat,
    gradient,
    hessian,
    random_wells,
    surface,
)


def _wells(rng: np.random.Generator, index: int) -> Instance:
    """Wells with starts in the box Omega, some of them very close to the way into a saddle."""
    instance = random_wells(rng, N)
    reach = 1.5 * np.sqrt(instance["depths"])
    y = rng.uniform(-1, 1, (STARTS, N)) * reach
    y[: STARTS // 2, 0] *= 1e-6
    return instance | {"starts": y @ instance["frame"], "hessian": wells_bound(instance)}


def _avoids_saddles(instance: Instance) -> Finding:
    alpha = 1 / (2 * instance["hessian"])
    method = gradient_descent(alpha)
    loop = run_from(method, surface(instance), instance["starts"], 20_000)
    ends = final_places(loop)
    bends = [least_curvature(hessian(instance, x))[0] for x in ends]
    slopes = [float(np.linalg.norm(gradient(instance, x))) for x in ends]
    holds = min(bends) > 0 and max(slopes) <= STATIONARY * (1 + 1e-6)
    numbers = {
        "least eigenvalue": min(bends),
        "gradient": max(slopes),
        "iterations": float(np.max(loop.used)),
    }
    return Finding(bool(holds), numbers)


def _global_minimum(instance: Instance) -> Finding:
    alpha = 1 / (2 * instance["hessian"])
    method = gradient_descent(alpha)
    ends = final_places(run_from(method, surface(instance), instance["starts"], 20_000))
    depths = np.asarray(instance["depths"])
    bottom = -float(np.sum(depths**2)) / 4
    origin = np.zeros(N)
    above = [difference(instance, x, origin) - bottom for x in ends]
    distance = np.abs(np.abs(ends @ np.asarray(instance["frame"]).T) - np.sqrt(depths))
    holds = max(map(abs, above)) <= 1e-12 and distance.max() <= 1e-6
    return Finding(bool(holds), {"f - min f": max(above), "distance": float(distance.max())})


def _on_the_way_in(rng: np.random.Generator, index: int) -> Instance:
    """Starts on the stable manifold of a saddle exactly, in coordinates without rounding."""
    depths = rng.uniform(0.5, 1.5, N)
    y = rng.uniform(-1, 1, (STARTS, N)) * np.sqrt(depths)
    y[:, 0] = 0.0
    wells = flat(N) | {"quartic": np.ones(N), "matrix": -np.diag(depths), "depths": depths}
    return wells | {"starts": y, "hessian": wells_bound(wells)}


# The funnel: x^2/2 + s(x) L y^2/2 + (1 - s(x)) (y^4 - 2 y^2)/4, s a step from 0 to 1 over
# 1 <= |x| <= 1 + WIDTH. Far out a step of 1/L sends every y to exactly 0, and so into the saddle.
STEEP, WIDTH = 8.0, 30.0
WIDE, HIGH = 40.0, 1.2  # Omega is |x| <= WIDE, |y| <= HIGH


def _funnel(point: Array, _: Any) -> Array:
    x, y = point
    t = jnp.clip((jnp.abs(x) - 1) / WIDTH, 0.0, 1.0)
    s = t**3 * (10 - 15 * t + 6 * t**2)
    return x**2 / 2 + s * STEEP * y**2 / 2 + (1 - s) * (y**4 - 2 * y**2) / 4


def _funnel_hessians(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Second derivatives by hand, (..., 2, 2)."""
    t = np.clip((np.abs(x) - 1) / WIDTH, 0.0, 1.0)
    s = t**3 * (10 - 15 * t + 6 * t**2)
    first = np.sign(x) * 30 * t**2 * (1 - t) ** 2 / WIDTH
    second = 60 * t * (1 - t) * (1 - 2 * t) / WIDTH**2
    gap = STEEP * y**2 / 2 - (y**4 - 2 * y**2) / 4
    cross = first * (STEEP * y - y**3 + y)
    across = s * STEEP + (1 - s) * (3 * y**2 - 1)
    rows = [[1 + second * gap, cross], [cross, across]]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def _funnel_starts(rng: np.random.Generator, index: int) -> Instance:
    x = rng.uniform(1 + WIDTH, WIDE, STARTS) * rng.choice([-1, 1], STARTS)
    return {"starts": np.stack([x, rng.uniform(-1, 1, STARTS)], axis=1)}


def _down_the_funnel(instance: Instance, alpha: float) -> Finding:
    grid = np.meshgrid(np.linspace(-WIDE, WIDE, 801), np.linspace(-HIGH, HIGH, 61))
    bound = float(np.max(np.abs(np.linalg.eigvalsh(_funnel_hessians(*grid)))))
    funnel = Surface(2, _funnel, {})
    method = gradient_descent(alpha)
    ends = final_places(run_from(method, funnel, instance["starts"], 20_000))
    bends = [float(np.linalg.eigvalsh(_funnel_hessians(*x))[0]) for x in ends]
    numbers = {
        "least eigenvalue": min(bends),
        "|Hessian|/L": bound / STEEP,
        "|x|": float(np.abs(ends[:, 0]).max()),
        "|y|": float(np.abs(ends[:, 1]).min()),
    }
    if bound > STEEP * (1 + SLACK):
        return Finding(None, numbers, "L does not bound the Hessian")
    # The critical points are the saddle at 0 and the minima at (0, +-1).
    return Finding(bool(numbers["|x|"] < 1e-6 and min(bends) > 0), numbers)


GD_AVOIDS_SADDLES = Claim(
    id="gd-avoids-saddles",
    title="Gradient descent with short constant steps ends in no saddle, from almost every start",
    sources=Sources(epd="Theorem B.5, Corollary B.6"),
    oracle="gradients of functions in closed form, float64",
    definition="EPD, Definition 3.2: critical, with no negative eigenvalue of the Hessian",
    hypotheses=(
        "f is twice differentiable with |Hessian| <= L on Omega",
        "x - grad f(x)/(2L) stays in Omega",
        "the start is random; half of the starts are within 1e-6 of a way into a saddle",
    ),
    statements=(
        Statement(
            "ends-in-no-saddle",
            "with alpha = 1/(2L) gradient descent ends in a critical point that is a minimum",
            _wells,
            _avoids_saddles,
        ),
        Statement(
            "ends-in-a-global-minimum",
            "if all critical points but global minima are no local minima, it ends in one of those",
            _wells,
            _global_minimum,
        ),
        Statement(
            "funnel-with-half-steps",
            "alpha = 1/(2L) leaves the saddle of the funnel too",
            _funnel_starts,
            lambda instance: _down_the_funnel(instance, 1 / (2 * STEEP)),
        ),
        Statement(
            "funnel-with-whole-steps",
            "the same with alpha = 1/L, as Theorems 3.6, 3.9 and 3.10 use Theorem B.5",
            _funnel_starts,
            lambda instance: _down_the_funnel(instance, 1 / STEEP),
            role="printed",
            kind="proof-mended",
        ),
        Statement(
            "from-every-start",
            "also from starts on the stable manifold of a saddle, a set of measure 0",
            _on_the_way_in,
            _avoids_saddles,
            role="beyond",
        ),
    ),
    remarks=(
        "Theorems 3.6, 3.9 and 3.10 of EPD bound the Hessian by L and step by 1/L, where x - alpha "
        "grad f need not be invertible (mathematics.md, error 17). The funnel is the witness: "
        "|Hessian| <= L on Omega, and all starts beyond |x| = 31 end in the saddle at 0.",
    ),
)
