"""Learning with the Gaussian potential exp(-r^2/2), one unit after the other, all weights 1.

One free unit sees C = sum_j exp(-r_j^2/2) and ends where it is largest nearby. EPD's proof of
Theorem 4.2 bounds its distance r_1 from the nearest proton by its gradient g: where every other
proton is at r_j^2 >= c d,

    r_1 <= exp(r_1^2/2) (|g|/2 + k sqrt(c d) exp(-c d/2)).

On the sphere Phi = exp(c (rho - 1)), rho = theta.w, has Laplacian c (c (1 - rho^2) - (d - 1) rho)
Phi, positive outside the cap rho > rho_0 around w (EPD, Corollary 4.3).
"""

from __future__ import annotations

import math

import jax.numpy as jnp
import mpmath as mp
import numpy as np
from scipy import optimize, stats

from earnshaw.charges.manifolds import manifold
from earnshaw.charges.network import Student
from earnshaw.descent.node_wise_sgd import NodeWiseSGD
from earnshaw.descent.nodes import begin_nodes, run_nodes
from earnshaw.duality.formulas.expression import ZonalExpression
from earnshaw.energy.population import PopulationLoss, population_loss
from earnshaw.errors import EarnshawError
from earnshaw.papers.claims.claim import Finding, Instance, Statement
from earnshaw.papers.claims.minima._gaussian_saddles import UNITS, loss_of
from earnshaw.papers.claims.minima._random_points import directions, distances, frame

CLOSE = 1.1  # the proof of Theorem 4.2: r_1^2 < 1.1 d
NEAR, FAR = 1.5, 2.5  # the same: |w_i - w_j|^2 / (c d) is between these
# Algorithm 2 by dimension: protons at this radius, its step, its eps, and its largest T.
RUNS = {
    2: (2.4, 1e-3, 0.05, 50_000),
    3: (2.6, 1e-3, 0.03, 100_000),
    4: (2.9, 3e-4, 0.02, 300_000),
    6: (3.3, 1e-4, 0.01, 1_000_000),
}
RATE_ON_SPHERE = 20  # c of exp(c (rho - 1))


def least_c(dim: int, units: int) -> float:
    """The least c > 2 with k c^2 exp(-c) <= exp(-2 d), the hypothesis as Theorem 4.2 prints it."""
    excess = lambda c: c - 2 * math.log(c) - math.log(units) - 2 * dim  # noqa: E731
    return float(optimize.brentq(excess, 2.0, 10.0 * dim + 10 * math.log(units) + 10))


def _hypothesis_instance(rng: np.random.Generator, index: int) -> Instance:
    return {"c": (3.0, 5.0, 10.0)[index % 3], "dims": [2, 5, 8, 10, 20, 50, 100]}


def _two_readings(instance: Instance) -> Finding:
    """k = d: the c that exp(-c) needs, and the d from which exp(-c d) allows the instance's."""
    c, dims = float(instance["c"]), [int(dim) for dim in instance["dims"]]
    least = [least_c(dim, dim) for dim in dims]
    allowed = [dim for dim in dims if math.log(dim * c * c) - c * dim <= -2 * dim]
    numbers = {
        "least_c_over_d": min(c / dim for c, dim in zip(least, dims, strict=True)),
        "least_c_of_one_proton_at_d_8": least_c(8, 1),
        "least_dim_of_a_constant_c": float(min(allowed, default=math.inf)),
    }
    return Finding(numbers["least_c_over_d"] > 2 and dims[-1] in allowed, numbers)


def _triangle_instance(rng: np.random.Generator, index: int) -> Instance:
    dim = int(rng.integers(8, 50))
    return {"c": least_c(dim, 2) * rng.uniform(1, 2), "dim": dim, "units": 2}


def _small_triangle_instance(rng: np.random.Generator, index: int) -> Instance:
    """The least c that Theorem 4.2 allows two protons, d = 2 to 7."""
    dim = 7 - index % 6
    return {"c": least_c(dim, 2), "dim": dim, "units": 2}


def _triangle(instance: Instance) -> Finding:
    """The worst case: theta on the segment from w_1 to w_2, as far from w_1 as is allowed."""
    c, dim, units = (float(instance[name]) for name in ("c", "dim", "units"))
    square = (math.sqrt(NEAR * c * dim) - math.sqrt(CLOSE * dim)) ** 2
    numbers = {
        "square_over_cd": square / (c * dim),
        "c": c,
        "needed_c": CLOSE / (math.sqrt(NEAR) - 1) ** 2,
        "log_of_the_hypothesis": math.log(units * c * c) - c + 2 * dim,
    }
    if numbers["log_of_the_hypothesis"] > 1e-9:
        return Finding(None, numbers, "c does not satisfy the printed hypothesis")
    return Finding(square > c * dim, numbers)


def _tail_instance(rng: np.random.Generator, index: int) -> Instance:
    dim, c = (3, 6, 12)[index % 3], 22.0
    radii = np.sqrt(c * dim) * rng.uniform(1.0, 1.01, (UNITS, 1))
    return {"rate": 1.0, "c": c, "protons": radii * directions(rng, UNITS, dim)}


def _tail(instance: Instance) -> tuple[float, float, float]:
    """log of the others' force on a unit at 0: measured, and bounded by both texts."""
    protons, c = np.asarray(instance["protons"]), float(instance["c"])
    dim = protons.shape[1]
    radii = np.linalg.norm(protons, axis=1)
    with mp.workdps(50):
        force = mp.fsum(r * mp.exp(-(mp.mpf(r) ** 2) / 2) for r in radii)
        measured = float(mp.log(force))
    ours = math.log(len(protons) * math.sqrt(c * dim)) - c * dim / 2
    return measured, ours, math.log(len(protons) * c * c) - c * dim


def _tail_bound(instance: Instance) -> Finding:
    measured, ours, _ = _tail(instance)
    return Finding(measured <= ours, {"log_force": measured, "log_bound": ours})


def _tail_as_printed(instance: Instance) -> Finding:
    measured, _, printed = _tail(instance)
    return Finding(measured <= printed, {"log_force": measured, "log_bound": printed})


def _node_instance(rng: np.random.Generator, index: int) -> Instance:
    """A triangle of protons around 0, a little uneven, its sides as long as the proof needs."""
    dim, c = (3, 2)[index % 2], 9.0
    gap = (math.sqrt(c) + math.sqrt(CLOSE)) * math.sqrt(dim)
    turns = 2 * math.pi * np.arange(UNITS) / UNITS
    corners = np.stack([np.cos(turns), np.sin(turns)], axis=1) @ frame(rng, dim)[:2]
    protons = gap / math.sqrt(3) * corners * rng.uniform(1.02, 1.08, (UNITS, 1))
    return {"rate": 1.0, "c": c, "protons": protons, "electrons": np.zeros((UNITS, dim))}


def _node_by_node(instance: Instance) -> Finding:
    """From theta = 0 uphill on log C: the critical points of Algorithm 2, not its exp(O(d)) steps.

    A bound pair is all but neutral: what is left of it is its error, of the order of the last one.
    """
    protons = np.asarray(instance["protons"])
    dim, c = protons.shape[1], float(instance["c"])
    placed: list[np.ndarray] = []
    tail = UNITS * math.sqrt(c * dim) * math.exp(-c * dim / 2)
    errors, ratios, last = [], [], 0.0
    for _ in range(UNITS):
        end = _climbed(protons, placed)
        loss, _ = loss_of({**instance, "electrons": end[None]})
        rest = _left_by(loss, placed)
        slope = np.asarray(rest.gradient(Student(end[None], np.ones(1))).positions)[0]
        gaps = np.linalg.norm(end - protons, axis=1)
        near = float(np.min(gaps))
        # What placed pairs leave acts like protons of that size.
        bound = math.exp(near**2 / 2) * (float(np.linalg.norm(slope)) / 2 + 2 * tail + last)
        errors.append(near)
        ratios.append(near / bound)
        last = max(last, 2 * near)
        placed.append(end)
    numbers = {
        "largest_error": max(errors),
        "error_over_bound": max(ratios),
        "log_bound_of_tail": math.log(tail),
        "distinct": len({int(np.argmin(np.linalg.norm(x - protons, axis=1))) for x in placed}),
        "log10_force_at_start": _log_force(protons) / math.log(10),
    }
    good = numbers["distinct"] == UNITS and max(ratios) <= 1 and max(errors) < 1e-2
    return Finding(bool(good), numbers)


def _left_by(loss: PopulationLoss, placed: list[np.ndarray]) -> PopulationLoss:
    """The loss of one more unit; room for all, so that shapes do not change."""
    room = UNITS - 1 - len(placed)
    places = np.array([*placed, *[np.full(loss.dim, 50.0)] * room])
    full = population_loss(loss.teacher, "full", wrt="positions")
    return full.left_by(Student(places, np.array([1.0] * len(placed) + [0.0] * room)))


def _climbed(protons: np.ndarray, placed: list[np.ndarray]) -> np.ndarray:
    """From 0 uphill on log C, C = sum_j exp(-|x - w_j|^2/2) - the same of placed units."""
    x, size = np.zeros(protons.shape[1]), 0.1
    height, slope = _log_field(x, protons, placed)
    for _ in range(2000):
        norm = np.linalg.norm(slope)
        if norm < 1e-13:
            break
        trial = x + min(size, norm) * slope / norm
        reached, next_slope = _log_field(trial, protons, placed)
        if reached > height:
            x, height, slope, size = trial, reached, next_slope, 1.5 * size
        else:
            size /= 2
        if size < 1e-15:
            break
    return x


def _log_field(
    x: np.ndarray, protons: np.ndarray, placed: list[np.ndarray]
) -> tuple[float, np.ndarray]:
    """log C and its gradient, from the largest exponent down; -inf where C <= 0."""
    sources = np.array([*protons, *placed])
    signs = np.array([1.0] * len(protons) + [-1.0] * len(placed))
    exponents = -np.sum((x - sources) ** 2, axis=1) / 2
    top = float(np.max(exponents))
    terms = signs * np.exp(exponents - top)
    total = float(np.sum(terms))
    if total <= 1e-13:
        return -math.inf, np.zeros_like(x)
    return top + math.log(total), terms @ (sources - x) / total


def _log_force(protons: np.ndarray) -> float:
    height, slope = _log_field(np.zeros(protons.shape[1]), protons, [])
    return height + math.log(2 * float(np.linalg.norm(slope)) + 1e-300)


def _cap_instance(rng: np.random.Generator, index: int) -> Instance:
    dim = (3, 3, 5)[index % 3]
    return {"dim": dim, "protons": directions(rng, 4, dim), "start": directions(rng, 1, dim)[0]}


def edge(dim: int, rate: float) -> float:
    """rho_0: c (1 - rho^2) = (d - 1) rho."""
    half = (dim - 1) / (2 * rate)
    return math.sqrt(1 + half * half) - half


def _ends_in_a_cap(instance: Instance) -> Finding:
    """One unit on the sphere, uphill on log C from a random start, by Riemannian gradient."""
    dim, protons, rate = int(instance["dim"]), np.asarray(instance["protons"]), RATE_ON_SPHERE
    x, size = np.asarray(instance["start"]), 0.1
    height, slope = _on_sphere(x, protons, rate)
    for _ in range(1000):
        norm = np.linalg.norm(slope)
        if norm < 1e-12 or size < 1e-15:
            break
        trial = x + min(size, norm) * slope / norm
        trial /= np.linalg.norm(trial)
        reached, next_slope = _on_sphere(trial, protons, rate)
        better = reached > height
        size *= 1.5 if better else 0.5
        if better:
            x, height, slope = trial, reached, next_slope
    phi, rho = ZonalExpression(f"exp({rate}*(rho - 1))", dim), protons @ x
    nearest = float(np.max(rho))
    factor = rate * (rate * (1 - rho**2) - (dim - 1) * rho)
    formula = factor * np.exp(rate * (rho - 1))
    library = np.asarray(phi.laplacian(rho))
    numbers = {
        "cosine": nearest,
        "edge": edge(dim, rate),
        "laplacian_error": float(np.max(np.abs(library - formula)) / np.max(np.abs(formula))),
        "gradient_of_log": float(np.linalg.norm(slope)),
    }
    good = nearest > numbers["edge"] and numbers["laplacian_error"] < 1e-10
    return Finding(bool(good), numbers)


def _on_sphere(x: np.ndarray, protons: np.ndarray, rate: float) -> tuple[float, np.ndarray]:
    rho = protons @ x
    terms = np.exp(rate * (rho - np.max(rho)))
    slope = rate * (terms @ protons) / np.sum(terms)
    return rate * float(np.max(rho)) + math.log(np.sum(terms)), slope - (slope @ x) * x


def _start_instance(rng: np.random.Generator, index: int) -> Instance:
    return {"start": np.zeros(3 + index)}


def _starts_on_the_sphere(instance: Instance) -> Finding:
    start = np.asarray(instance["start"], dtype=float)
    try:
        manifold("sphere").check(jnp.asarray(start[None]), "student unit")
    except EarnshawError:
        return Finding(False, {"length": float(np.linalg.norm(start))})
    return Finding(True, {"length": float(np.linalg.norm(start))})


def _algorithm_instance(rng: np.random.Generator, index: int) -> Instance:
    """Protons close enough to 0 for Algorithm 2 itself to run."""
    dim = tuple(RUNS)[index % len(RUNS)]
    radius, step, eps, _ = RUNS[dim]
    turns = 2 * math.pi * (np.arange(UNITS) / UNITS + rng.uniform(-0.02, 0.02, UNITS))
    plane = frame(rng, dim)[:2]
    return {
        "rate": 1.0,
        "protons": radius * np.stack([np.cos(turns), np.sin(turns)], axis=1) @ plane,
        "electrons": np.zeros((UNITS, dim)),
        "step": step,
        "eps": eps,
        "seed": index,
    }


def _algorithm_2(instance: Instance) -> Finding:
    """The library's node-wise SGD: from 0 with constant steps until M_eps."""
    loss, _ = loss_of(instance)
    free = population_loss(loss.teacher, "full", wrt="positions")
    step, eps = float(instance["step"]), float(instance["eps"])
    method = NodeWiseSGD(
        limit=UNITS,
        iterations=RUNS[free.dim][3],
        step_size=jnp.asarray(step),
        tolerance=jnp.asarray(eps),
    )
    nodes, _ = run_nodes(method, free, begin_nodes(free, UNITS, int(instance["seed"])))
    gaps = distances(np.asarray(nodes.student.positions), np.asarray(instance["protons"]))
    numbers = {
        "placed": float(nodes.placed),
        "farthest": float(np.max(np.min(gaps, axis=1))),
        "distinct": len(set(np.argmin(gaps, axis=1).tolist())),
        "iterations": float(np.sum(nodes.iterations)),
        "farthest_over_eps": float(np.max(np.min(gaps, axis=1))) / eps,
        "dim": free.dim,
    }
    good = numbers["placed"] == numbers["distinct"] == UNITS and numbers["farthest"] < 4 * eps
    return Finding(bool(good), numbers)


def _separation_instance(rng: np.random.Generator, index: int) -> Instance:
    return {"share_of_failures": (0.1, 0.01, 0.001)[index % 3]}


def _separation(instance: Instance) -> Finding:
    """|w_i - w_j|^2 = 2 c chi^2_d: how often one of d (d - 1)/2 pairs leaves (1.5, 2.5) c d."""
    allowed = float(instance["share_of_failures"])
    dims = np.arange(2, 2000)
    low, high = (stats.chi2(dims).cdf(share / 2 * dims) for share in (NEAR, FAR))
    failures = dims * (dims - 1) / 2 * (low + 1 - high)
    enough = dims[failures <= allowed]
    numbers = {"least_dim": float(np.min(enough)), "failures_at_d_10": float(failures[8])}
    return Finding(bool(np.all(failures[dims >= np.min(enough)] <= allowed)), numbers)


LEARNING = (
    Statement(
        name="two-readings-of-c",
        says="k c^2 exp(-c) <= exp(-2 d), as the theorem prints it, forces c > 2 d; k c^2 exp(-c "
        "d) <= exp(-2 d), as its proof has it, allows every constant c > 2 from some d on (k = d)",
        draw=_hypothesis_instance,
        test=_two_readings,
        thorough=3,
        constants={
            "least_dim_of_a_constant_c": "EPD, proof of Theorem 4.2: the first d tried that allows "
            "a constant c"
        },
    ),
    Statement(
        name="triangle",
        says="under the printed k c^2 exp(-c) <= exp(-2 d), k >= 2, d >= 8: |theta - w_1|^2 < 1.1 "
        "d and |w_1 - w_2|^2 > 1.5 c d give |theta - w_2|^2 > c d, which needs c > 21.8",
        draw=_triangle_instance,
        test=_triangle,
    ),
    Statement(
        name="tail",
        says="protons at r^2 >= c d pull a unit by at most k sqrt(c d) exp(-c d/2) in all",
        draw=_tail_instance,
        test=_tail_bound,
    ),
    Statement(
        name="separation",
        says="of k = d weights from N(0, c I) all |w_i - w_j|^2 are in (1.5, 2.5) c d, but for a "
        "share of failures that vanishes as d grows",
        draw=_separation_instance,
        test=_separation,
        thorough=3,
        constants={"least_dim": "EPD, Theorem 4.2: the d from which 'with high probability' holds"},
    ),
    Statement(
        name="node-by-node",
        says="units that start at 0 and go uphill one by one end at distinct protons, within "
        "exp(r^2/2) (|g|/2 + k sqrt(c d) exp(-c d/2) + what placed units leave)",
        draw=_node_instance,
        test=_node_by_node,
        quick=2,
        thorough=10,
        constants={
            "error_over_bound": "EPD, Theorem 4.2: the error over the bound above",
            "log10_force_at_start": "EPD, Theorem 4.2: 1/T of plain descent is of this order",
        },
    ),
    Statement(
        name="algorithm-2",
        says="Algorithm 2 (node-wise SGD, all units from 0) finds distinct protons, each within "
        "4 eps, where the protons are near enough for it to end: d = 2, 3, 4, 6",
        draw=_algorithm_instance,
        test=_algorithm_2,
        quick=1,
        thorough=8,
        constants={
            "farthest_over_eps": "EPD, Theorem 4.2: the distance over eps",
            "iterations": "EPD, Theorem 4.2: the T of exp(O(d)), three units",
        },
    ),
    Statement(
        name="sphere",
        says="on S^(d-1) one unit with Phi = exp(c (rho - 1)) ends in a cap rho > rho_0, "
        "c (1 - rho_0^2) = (d - 1) rho_0, around some proton (Corollary 4.3)",
        draw=_cap_instance,
        test=_ends_in_a_cap,
        thorough=20,
    ),
    Statement(
        name="triangle-as-printed",
        says="the same triangle step for d <= 7, two protons and the least c that the printed "
        "hypothesis allows (proof of Theorem 4.2)",
        draw=_small_triangle_instance,
        test=_triangle,
        role="printed",
        kind="proof-mended",
        quick=2,
        thorough=6,
    ),
    Statement(
        name="tail-as-printed",
        says="protons at r^2 >= c d pull a unit by at most k c^2 exp(-c d) in all (proof of "
        "Theorem 4.2; the half of exp(-r^2/2) is lost)",
        draw=_tail_instance,
        test=_tail_as_printed,
        role="printed",
        kind="proof-mended",
        quick=1,
    ),
    Statement(
        name="start-as-printed",
        says="theta = 0 is on the sphere (Corollary 4.3)",
        draw=_start_instance,
        test=_starts_on_the_sphere,
        role="printed",
        kind="vacuous",
        quick=1,
        thorough=3,
    ),
)
