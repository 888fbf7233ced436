"""How descent goes down: the descent lemmas, gradient descent past saddles, noisy SGD.

With B1 >= |grad f|, B2 >= |Hessian| and B3 a Lipschitz constant of the Hessian near x,

    x' = x - alpha grad f,               alpha <= 1/B2:   f(x') <= f(x) - alpha |grad f|^2 / 2,
    x' = x - alpha |lambda| sign(grad f.v) v, alpha <= 1/B3:   f(x') <= f(x) - alpha^2 gamma^3 / 3,

v the direction of the least eigenvalue lambda <= -gamma. The texts print -alpha lambda, which for
lambda < 0 is uphill, and gamma^3/2, which the cubic -gamma y^2/2 + B3 y^3/6 does not reach: with
alpha = t/B3 it falls by alpha^2 gamma^3 (1/2 - t/6). The surfaces are those of `surfaces.py`;
differences of f are taken in 50 digits, gradients and Hessians in NumPy.

Gradient descent with steps 1/(2L), L >= |Hessian|, is a diffeomorphism and ends in a saddle for
almost no start (EPD, Theorem B.5). With 1/L, as EPD's Theorems 3.6 and 3.10 take it, it need not be
one: `_funnel` sends an open set of starts onto the line that leads into its saddle.

Sources: Full, Lemmas D.1, D.2, Algorithms 1, 2, 4; ITCS, Lemmas 18, 19; EPD, Theorems B.5, B.7,
Corollary B.6, Algorithm 4; MATH, errors 1, 2 and 17.
"""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from earnshaw.claims.claim import Claim, Finding, Instance, Sources, Statement
from earnshaw.claims.learning.surfaces import (
    Surface,
    difference,
    flat,
    gradient,
    hessian,
    one_step,
    point,
    points,
    random_waves,
    random_wells,
    surface,
    wave_bounds,
)
from earnshaw.descent.gradient_descent import GradientDescent
from earnshaw.descent.hessian_descent import HessianDescent
from earnshaw.descent.loop import Loop, begin, run, stop_codes
from earnshaw.descent.method import Method
from earnshaw.descent.noisy_sgd import NoisySGD
from earnshaw.descent.second_gd import SecondGD
from earnshaw.descent.steps import Steps
from earnshaw.descent.stop import RUNNING, Stop
from earnshaw.energy.objective import Objective

N = 3  # the dimension of all surfaces but the funnel: one shape, compiled once
SLACK = 1e-12  # of comparisons, relative: what rounding of a step may cost
STARTS = 8
STATIONARY = 1e-9


def _place(state: Any) -> np.ndarray:
    return np.asarray(state.student.positions)[0]


def _least(matrix: np.ndarray) -> tuple[float, np.ndarray]:
    """The least eigenvalue and its direction."""
    values, vectors = np.linalg.eigh(matrix)
    return float(values[0]), vectors[:, 0]


def _constant(alpha: float) -> Steps:
    return Steps(jnp.asarray(alpha))


def _gradient_descent(alpha: float) -> GradientDescent:
    return GradientDescent(_constant(alpha), jnp.asarray(STATIONARY))


def _second_gd(alpha: float, eta: float, gamma: float) -> SecondGD:
    return SecondGD(_constant(alpha), jnp.asarray(eta), jnp.asarray(gamma))


def _run(method: Method, objective: Objective, starts: Any, limit: int, seed: int = 0) -> Loop:
    key = jax.random.key(seed, impl="threefry2x32")
    return run(method, objective, begin(method, objective, points(starts), key), limit)[0]


def _ends(loop: Loop) -> np.ndarray:
    """Where the starts ended, (s, n)."""
    return np.asarray(loop.states.student.positions)[:, 0]


# The descent lemmas.


def _wavy(rng: np.random.Generator, index: int) -> Instance:
    """Waves, a random place, and a share of the largest step."""
    share = (1.0, 0.5, 0.05)[index % 3]
    return random_waves(rng, N) | {"start": rng.standard_normal(N), "share": share}


def _bent(rng: np.random.Generator, index: int) -> Instance:
    """The same where some curvature is clearly negative."""
    while True:
        instance = _wavy(rng, index)
        least = _least(hessian(instance, instance["start"]))[0]
        if least < -0.1 * wave_bounds(instance)[2]:
            return instance


def _gradient_step(instance: Instance) -> Finding:
    _, b1, b2, _ = wave_bounds(instance)
    alpha, x = instance["share"] / b2, np.asarray(instance["start"])
    _, after = one_step(_gradient_descent(alpha), surface(instance), point(x))
    eta, moved = np.linalg.norm(gradient(instance, x)), np.linalg.norm(_place(after) - x)
    ratio = difference(instance, x, _place(after)) / (alpha * eta**2)
    holds = moved <= alpha * b1 * (1 + SLACK) and ratio >= 0.5 * (1 - SLACK)
    return Finding(
        bool(holds), {"decrease/(alpha eta^2)": ratio, "moved/(alpha B1)": moved / (alpha * b1)}
    )


def _long_step(instance: Instance) -> Finding:
    """A parabola with a step of 3/B2: x' = -2 x, f(x') = 4 f(x)."""
    alpha, x = 3 / instance["stiffness"], np.asarray(instance["start"])
    _, after = one_step(_gradient_descent(alpha), surface(instance), point(x))
    eta = np.linalg.norm(gradient(instance, x))
    ratio = difference(instance, x, _place(after)) / (alpha * eta**2)
    return Finding(bool(ratio >= 0.5), {"decrease/(alpha eta^2)": ratio})


def _parabola(rng: np.random.Generator, index: int) -> Instance:
    stiffness = rng.uniform(0.5, 4.0)
    matrix = stiffness * np.eye(N)
    return flat(N) | {"matrix": matrix, "stiffness": stiffness, "start": rng.standard_normal(N)}


def _curvature_step(instance: Instance, alpha: float, b2: float) -> tuple[float, float]:
    """The decrease in units of alpha^2 gamma^3, and |x' - x| in units of alpha B2."""
    x = np.asarray(instance["start"])
    _, after = one_step(HessianDescent(_constant(alpha)), surface(instance), point(x))
    gamma = -_least(hessian(instance, x))[0]
    ratio = difference(instance, x, _place(after)) / (alpha**2 * gamma**3)
    return ratio, float(np.linalg.norm(_place(after) - x)) / (alpha * b2)


def _hessian_step(instance: Instance) -> Finding:
    _, _, b2, b3 = wave_bounds(instance)
    ratio, moved = _curvature_step(instance, instance["share"] / b3, b2)
    holds = moved <= 1 + SLACK and ratio >= (1 - SLACK) / 3
    return Finding(bool(holds), {"decrease/(alpha^2 gamma^3)": ratio, "moved/(alpha B2)": moved})


def _cubic(rng: np.random.Generator, index: int) -> Instance:
    """-slope y - gamma y^2/2 + B3 y^3/6 along one axis, at y = 0; convex along all others.

    In the (alpha B2)-neighbourhood, alpha = share/B3, the Hessian is at most gamma + share B2, so
    B2 = gamma/(1 - share) will do. The slope is there to say which way is down, and is tiny.
    """
    frame = np.linalg.qr(rng.standard_normal((N, N)))[0]
    gamma, share = rng.uniform(0.2, 1.0), (0.9, 0.99, 0.5)[index % 3]
    b2 = gamma / (1 - share)
    third = b2 * rng.uniform(1.0, 3.0)  # alpha <= 1/B2 too, for the steps of SecondGD
    curvatures = np.append(-gamma, rng.uniform(0.1, 1.0, N - 1) * gamma)
    return flat(N) | {
        "slope": -1e-9 * gamma**2 / third * frame[0],
        "matrix": frame.T @ np.diag(curvatures) @ frame,
        "axis": frame[0],
        "cubic": third,
        "start": np.zeros(N),
        "share": share,
        "gamma": gamma,
        "b2": b2,
    }


def _cubic_step(instance: Instance) -> Finding:
    share = instance["share"]
    ratio, moved = _curvature_step(instance, share / instance["cubic"], instance["b2"])
    error = abs(ratio - (0.5 - share / 6))
    holds = error <= 1e-6 and ratio >= 1 / 3 and moved <= 1 + SLACK
    return Finding(bool(holds), {"decrease/(alpha^2 gamma^3)": ratio, "error of 1/2 - t/6": error})


def _half(instance: Instance) -> Finding:
    ratio, _ = _curvature_step(instance, instance["share"] / instance["cubic"], instance["b2"])
    return Finding(bool(ratio >= 0.5), {"decrease/(alpha^2 gamma^3)": ratio})


def _printed_algorithm_1(instance: Instance) -> Finding:
    """x + beta v with beta = -alpha lambda sign(grad.v), as printed."""
    _, _, _, b3 = wave_bounds(instance)
    x, alpha = np.asarray(instance["start"]), instance["share"] / b3
    least, v = _least(hessian(instance, x))
    after = x - alpha * least * np.sign(gradient(instance, x) @ v) * v
    decrease = difference(instance, x, after)
    return Finding(
        decrease > 0, {"decrease/(alpha^2 gamma^3)": decrease / (alpha**2 * abs(least) ** 3)}
    )


def _saddle(rng: np.random.Generator, index: int) -> Instance:
    """A well's exact saddle at the origin: the gradient is 0 to the last bit."""
    return random_wells(rng, N) | {"start": np.zeros(N)}


def _leaves_saddle(instance: Instance) -> Finding:
    # Near 0 the Hessian of y^4/4 changes by at most 6 |y| per unit of y: B3 = 6 alpha B2 within
    # alpha B2, so that any alpha with alpha B3 = 6 alpha^2 B2 <= 1 will do.
    depth = float(np.max(instance["depths"]))
    alpha = math.sqrt(1 / (6 * 2 * depth)) / 2
    ratio, _ = _curvature_step(instance, alpha, 2 * depth)
    return Finding(bool(ratio >= 1 / 3), {"decrease/(alpha^2 gamma^3)": ratio})


def _printed_saddle(instance: Instance) -> Finding:
    """sign(0) = 0: as printed, the step from an exact saddle has length 0."""
    x = np.asarray(instance["start"])
    least, v = _least(hessian(instance, x))
    length = abs(least * np.sign(gradient(instance, x) @ v))
    return Finding(bool(length > 0), {"length/alpha": length, "gamma": -least})


def _stops(instance: Instance) -> tuple[float, float, float]:
    """alpha, eta and gamma of SecondGD on a cubic, whose curvature is just below -gamma."""
    return instance["share"] / instance["cubic"], 1.0, instance["gamma"] * (1 - 1e-9)


def _second_gd_goes_on(instance: Instance) -> Finding:
    alpha, eta, gamma = _stops(instance)
    x = np.asarray(instance["start"])
    method = _second_gd(alpha, eta, gamma)
    _, after = one_step(method, surface(instance), point(x))
    ratio = difference(instance, x, _place(after)) / min(
        alpha * eta**2 / 2, alpha**2 * gamma**3 / 3
    )
    holds = int(after.stop) == RUNNING and ratio >= 1
    return Finding(bool(holds), {"decrease/threshold": ratio, "stop": int(after.stop)})


def _printed_threshold(instance: Instance) -> Finding:
    """Algorithm 2 with its printed threshold: it returns x though x is not in M."""
    alpha, eta, gamma = _stops(instance)
    x = np.asarray(instance["start"])
    method = _second_gd(alpha, eta, gamma)
    _, after = one_step(method, surface(instance), point(x))
    ratio = difference(instance, x, _place(after)) / min(
        alpha * eta**2 / 2, alpha**2 * gamma**3 / 2
    )
    least = _least(hessian(instance, x))[0]
    returned = ratio <= 1
    return Finding(
        bool(not (returned and least < -gamma)), {"decrease/threshold": ratio, "least": least}
    )


def _second_gd_run(rng: np.random.Generator, index: int) -> Instance:
    waves = random_waves(rng, N)
    tolerance = 0.02 * wave_bounds(waves)[2]
    return waves | {"starts": 2 * rng.standard_normal((STARTS, N)), "tolerance": tolerance}


def _second_gd_ends(instance: Instance) -> Finding:
    b0, _, b2, b3 = wave_bounds(instance)
    alpha, eps = min(1 / b2, 1 / b3), instance["tolerance"]
    method = _second_gd(alpha, eps, eps)
    loop = _run(method, surface(instance), instance["starts"], 20_000)
    ends, used = _ends(loop), np.asarray(loop.used)
    slopes = [float(np.linalg.norm(gradient(instance, x))) for x in ends]
    bends = [_least(hessian(instance, x))[0] for x in ends]
    decrease = min(alpha * eps**2 / 2, alpha**2 * eps**3 / 3)
    converged = bool(np.all(np.asarray(loop.states.stop) == Stop.CONVERGED.code))
    inside = max(slopes) <= eps * (1 + SLACK) and min(bends) >= -eps * (1 + 1e-9)
    share = float(used.max()) * decrease / (2 * b0)
    return Finding(
        converged and inside and share <= 1,
        {
            "gradient/eta": max(slopes) / eps,
            "-eigenvalue/gamma": -min(bends) / eps,
            "iterations": float(used.max()),
            "iterations/bound": share,
        },
    )


DESCENT_LEMMAS = Claim(
    id="descent-lemmas",
    title="Gradient and Hessian steps lower a function by what its derivatives' bounds promise",
    sources=Sources(
        full="Lemma D.1, D.2, Algorithms 1, 2, 4",
        itcs="Lemma 18, 19, Algorithms 1, 2, 4",
    ),
    hypotheses=(
        "f is three times differentiable, with known B1, B2, B3",
        "alpha is at most 1/B2 (gradient steps) or 1/B3 (Hessian steps)",
        "the gradient has norm eta, or the least eigenvalue is -gamma < 0",
    ),
    statements=(
        Statement(
            "gradient-step",
            "|x' - x| <= alpha B1 and f(x') <= f(x) - alpha eta^2/2, alpha <= 1/B2",
            _wavy,
            _gradient_step,
            thorough=60,
        ),
        Statement(
            "gradient-step-too-long",
            "f(x') <= f(x) - alpha eta^2/2 also for alpha = 3/B2",
            _parabola,
            _long_step,
            role="beyond",
        ),
        Statement(
            "hessian-step",
            "|x' - x| <= alpha B2 and f(x') <= f(x) - alpha^2 gamma^3/3, alpha <= 1/B3",
            _bent,
            _hessian_step,
            thorough=60,
        ),
        Statement(
            "hessian-step-is-sharp",
            "on a cubic with alpha = t/B3 the decrease is alpha^2 gamma^3 (1/2 - t/6), near 1/3",
            _cubic,
            _cubic_step,
        ),
        Statement(
            "hessian-step-printed-decrease",
            "f(x') <= f(x) - alpha^2 gamma^3/2 (Lemma D.2 as printed)",
            _cubic,
            _half,
            role="printed",
        ),
        Statement(
            "hessian-step-printed-direction",
            "beta = -alpha lambda sign(grad f.v) lowers f (Algorithm 1 as printed)",
            _bent,
            _printed_algorithm_1,
            role="printed",
        ),
        Statement(
            "exact-saddle-is-left",
            "from an exact saddle f falls by alpha^2 gamma^3/3 too: sign(0) is not 0",
            _saddle,
            _leaves_saddle,
        ),
        Statement(
            "exact-saddle-as-printed",
            "Algorithm 1 leaves an exact saddle, with sign(0) = 0",
            _saddle,
            _printed_saddle,
            role="printed",
        ),
        Statement(
            "second-gd-goes-on",
            "outside M SecondGD does not stop: threshold min(alpha eta^2/2, alpha^2 gamma^3/3)",
            _cubic,
            _second_gd_goes_on,
        ),
        Statement(
            "second-gd-printed-threshold",
            "what Algorithm 2 returns is in M, with its threshold of alpha^2 gamma^3/2",
            _cubic,
            _printed_threshold,
            role="printed",
        ),
        Statement(
            "second-gd-ends-in-M",
            "it ends in M, in (f(x0) - min f)/min(alpha eta^2/2, alpha^2 gamma^3/3) steps at most",
            _second_gd_run,
            _second_gd_ends,
            quick=2,
        ),
    ),
    remarks=(
        "The printed Hessian step goes uphill (MATH, error 1), stays on exact saddles, and its "
        "decrease lacks the 1/2 of the second-order term (MATH, error 2).",
        "The constant is 1/2 - alpha B3/6: 1/3 is its least value, at alpha = 1/B3.",
        "On R^n; on the sphere the library adds what projection bends (descent/theory.py).",
    ),
)


# Gradient descent avoids saddles.


def _wells(rng: np.random.Generator, index: int) -> Instance:
    """Wells with starts in the box Omega, some of them very close to the way into a saddle."""
    instance = random_wells(rng, N)
    reach = 1.5 * np.sqrt(instance["depths"])
    y = rng.uniform(-1, 1, (STARTS, N)) * reach
    y[: STARTS // 2, 0] *= 1e-6
    return instance | {"starts": y @ instance["frame"], "hessian": _wells_bound(instance)}


def _wells_bound(instance: Instance) -> float:
    """L = max |3 y^2 - p| over |y_i| <= 1.5 sqrt(p_i). Steps of 1/(2L) stay in this box."""
    return float(np.max((3 * 1.5**2 - 1) * np.asarray(instance["depths"])))


def _avoids_saddles(instance: Instance) -> Finding:
    alpha = 1 / (2 * instance["hessian"])
    method = _gradient_descent(alpha)
    loop = _run(method, surface(instance), instance["starts"], 20_000)
    ends = _ends(loop)
    bends = [_least(hessian(instance, x))[0] for x in ends]
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
    method = _gradient_descent(alpha)
    loop = _run(method, surface(instance), instance["starts"], 20_000)
    depths = np.asarray(instance["depths"])
    bottom = -float(np.sum(depths**2)) / 4
    origin = np.zeros(N)
    above = [difference(instance, x, origin) - bottom for x in _ends(loop)]
    distance = np.abs(np.abs(_ends(loop) @ np.asarray(instance["frame"]).T) - np.sqrt(depths))
    holds = max(map(abs, above)) <= 1e-12 and distance.max() <= 1e-6
    return Finding(bool(holds), {"f - min f": max(above), "distance": float(distance.max())})


def _on_the_way_in(rng: np.random.Generator, index: int) -> Instance:
    """Starts on the stable manifold of a saddle exactly, in coordinates without rounding."""
    depths = rng.uniform(0.5, 1.5, N)
    y = rng.uniform(-1, 1, (STARTS, N)) * np.sqrt(depths)
    y[:, 0] = 0.0
    wells = flat(N) | {"quartic": np.ones(N), "matrix": -np.diag(depths), "depths": depths}
    return wells | {"starts": y, "hessian": _wells_bound(wells)}


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
    method = _gradient_descent(alpha)
    ends = _ends(_run(method, funnel, instance["starts"], 20_000))
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
        "grad f need not be invertible (MATH, error 17). The funnel is the witness: |Hessian| <= L "
        "on Omega, and all starts beyond |x| = 31 end in the saddle at 0.",
    ),
)


# Noisy SGD.

EPS = 0.3
ERROR = EPS / 3  # of the stochastic function, its gradient and its Hessian


def _oracle(rng: np.random.Generator, index: int) -> Instance:
    """Wells, and waves on them that change value, gradient and Hessian by exactly eps/3 at most."""
    instance, waves = random_wells(rng, N), random_waves(rng, N)
    heights = ERROR / max(wave_bounds(waves)[:3]) * waves["heights"]
    starts = rng.uniform(-1.5, 1.5, (STARTS, N))
    starts[0] = 0.0  # an exact saddle of the wells
    return instance | {
        "noise": {"heights": heights, "waves": waves["waves"], "phases": waves["phases"]},
        "starts": starts,
        "seed": index,
        "step": EPS**2 / (8 * _wells_bound(instance)),
        "limit": 20_000,
    }


def _noisy(instance: Instance) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Why each start stopped, after how many iterations, and where; on the stochastic function."""
    method = NoisySGD(jnp.asarray(instance["step"]), jnp.asarray(EPS))
    seen = surface(instance | instance["noise"])
    loop = _run(method, seen, instance["starts"], instance["limit"], instance["seed"])
    return np.asarray(stop_codes(method, loop, False)), np.asarray(loop.used), _ends(loop)


def _worst(instance: Instance, places: np.ndarray) -> tuple[float, float]:
    """The largest |grad L| and -lambda over places, of the true L, in units of eps."""
    slopes = [float(np.linalg.norm(gradient(instance, x))) for x in places]
    bends = [-_least(hessian(instance, x))[0] for x in places]
    return max(slopes, default=0.0) / EPS, max(bends, default=0.0) / EPS


def _ends_in_m(instance: Instance) -> Finding:
    stops, used, ends = _noisy(instance)
    succeeded = stops == Stop.CONVERGED.code
    slope, bend = _worst(instance, ends[succeeded])
    height = float(np.sum(np.asarray(instance["depths"]) ** 2)) / 4
    numbers = {
        "gradient/eps": slope,
        "-eigenvalue/eps": bend,
        "succeeded": float(np.mean(succeeded)),
        "iterations": float(used.max()),
        "iterations step eps^2/B": float(used.max()) * instance["step"] * EPS**2 / height,
    }
    return Finding(bool(np.all(succeeded)) and max(slope, bend) <= 1 + SLACK, numbers)


def _short(rng: np.random.Generator, index: int) -> Instance:
    """Too few iterations for most starts."""
    return _oracle(rng, index) | {"limit": (1, 1500, 3000)[index % 3]}


def _or_fails(instance: Instance) -> Finding:
    """Every start says one of the two; FAIL only where the stochastic function is not in M yet."""
    stops, _, ends = _noisy(instance)
    succeeded, failed = stops == Stop.CONVERGED.code, stops == Stop.FAIL.code
    slope, bend = _worst(instance, ends[succeeded])
    seen = [max(_worst(instance | instance["noise"], x[None])) for x in ends[failed]]
    numbers = {
        "gradient/eps": slope,
        "-eigenvalue/eps": bend,
        "failed": float(np.mean(failed)),
    } | ({"nearest failure/eps": min(seen)} if seen else {})
    told = bool(np.all(succeeded | failed)) and min(seen, default=1.0) > 2 / 3 - SLACK
    return Finding(bool(told and max(slope, bend) <= 1 + SLACK), numbers)


def _bad_oracle(rng: np.random.Generator, index: int) -> Instance:
    """The same with errors of 4 eps."""
    instance = _oracle(rng, index)
    return instance | {"noise": instance["noise"] | {"heights": 12 * instance["noise"]["heights"]}}


NOISY_SGD = Claim(
    id="noisy-sgd",
    title="Noisy SGD returns a point of M_eps, or says FAIL",
    sources=Sources(epd="Theorem B.7, Algorithm 4"),
    hypotheses=(
        "L is bounded near its minima, with bounded Hessian and Lipschitz Hessian",
        "the stochastic function is within eps/3 of L in value, gradient and Hessian",
    ),
    statements=(
        Statement(
            "ends-in-M",
            "with alpha = eps^2/(8 C), C >= |Hessian|, every start ends in M_eps of the true L",
            _oracle,
            _ends_in_m,
            quick=2,
            constants={"iterations step eps^2/B": "poly(d, B, C, rho, 1/eps, log(1/zeta)) of B.7"},
        ),
        Statement(
            "or-fails",
            "cut short it says FAIL where it is not in M, and what it returns is still in M_eps",
            _short,
            _or_fails,
        ),
        Statement(
            "with-a-bad-oracle",
            "the same where the stochastic function is wrong by 4 eps",
            _bad_oracle,
            _ends_in_m,
            role="beyond",
        ),
    ),
    remarks=(
        "The step is chosen as eps^2/(8 C): the noise of length 1 keeps |grad L| at about "
        "sqrt(alpha h/2), h a mean curvature, which must come below 2 eps/3.",
        "zeta is not resolved: every one of the starts must succeed.",
    ),
)
