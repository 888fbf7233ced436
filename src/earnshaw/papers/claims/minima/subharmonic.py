"""Strictly subharmonic potentials under Assumption 1: no local minimum off the protons.

All weights are 1. Moving all units by one translation leaves the pairs of electrons as they are, so

    Delta_v L = -2 sum_ij (Delta Phi)(theta_i, w_j) < 0,

and the smallest eigenvalue of the Hessian is at most Delta_v L/(k d), at every point that has no
electron on a proton (EPD, Theorem 3.6; Full, Theorem F.2). Where an electron is on a proton of a
bounded potential the pair is neutral and drops out (Corollary F.3).

Full's example r^(2-d-e) has Laplacian e (d - 2 + e) r^(-d-e): positive for d >= 2, but for d = 1,
where it is bounded for e < 1, negative. Bounded instances live in one dimension only: exp(-s r) on
R^1 and cosh(pi - t) on S^1. Above, Phi would be subharmonic across r = 0 too (a point is too small
to matter), and could not have its maximum there.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from earnshaw.charges.network import Student, Teacher
from earnshaw.duality.families.harmonic import LambdaHarmonic
from earnshaw.duality.formulas.expression import RadialExpression
from earnshaw.duality.potential import Radial
from earnshaw.energy.population import PopulationLoss, population_loss
from earnshaw.papers.claims.claim import (
    EXACT_LOSS,
    NO_SMALLER_NEARBY,
    Claim,
    Finding,
    Instance,
    Sources,
    Statement,
)
from earnshaw.papers.claims.minima import _finite_differences as differences
from earnshaw.papers.claims.minima._assumption_one import ASSUMPTION_ONE
from earnshaw.papers.claims.minima._descents import Descended, descended, fallen
from earnshaw.papers.claims.minima._random_points import scattered
from earnshaw.papers.claims.minima._subharmonic_sphere import ON_THE_SPHERE

UNITS = 3
EXCESS = 0.5  # e of r^(2-d-e)
BOUNDED = ("exp(-r**2/2)", "exp(-r)", "1/(1 + r**2)", "1/(1 + r)", "exp(-r)*(1 + r)")
CONVERGED = 1e-9


def steep(dim: int, excess: float = EXCESS) -> RadialExpression:
    """r^(2-d-e) on R^d, e = `excess` > 0: strictly subharmonic for d >= 2, infinite at 0."""
    return RadialExpression(f"r**({2 - dim - excess!r})", dim)


def on_the_line(rate: float) -> Radial:
    """exp(-s r) on R^1 up to a factor; the rate as an array, so compiled code is shared."""
    return LambdaHarmonic(1, jnp.asarray(rate**2))  # type: ignore[arg-type]


def loss_of(instance: Instance) -> tuple[PopulationLoss, Student, Any]:
    """Assumption 1's loss (without constants where these are infinite), and the potential."""
    protons = np.asarray(instance["protons"], dtype=float)
    count, dim = protons.shape
    if instance.get("on") == "circle":
        teacher = Teacher(protons, np.ones(count), potential="cosh(pi - acos(rho))", on="sphere")
    else:
        phi = on_the_line(float(instance["rate"])) if dim == 1 else steep(dim)
        teacher = Teacher(protons, np.ones(count), phi)
    bounded = dim == 1 or instance.get("on") == "circle"
    name, wrt = ("assumption-1", None) if bounded else ("without-constants", "positions")
    student = Student(np.asarray(instance["electrons"], dtype=float), np.ones(count))
    return population_loss(teacher, name, wrt=wrt), student, teacher.potential


def _example_instance(rng: np.random.Generator, index: int) -> Instance:
    dim, point = (2, 3, 5)[index % 3], rng.standard_normal((2, 3, 5)[index % 3])
    return {"excess": rng.uniform(0.1, 2), "point": point / np.linalg.norm(point), "dim": dim}


def _line_example_instance(rng: np.random.Generator, index: int) -> Instance:
    return {"excess": rng.uniform(0.1, 0.9), "point": rng.uniform(0.3, 2, 1), "dim": 1}


def _example(instance: Instance) -> Finding:
    dim, excess, point = int(instance["dim"]), float(instance["excess"]), instance["point"]
    point = np.asarray(point)
    radial = lambda x: differences.distance(x, 0 * point) ** (2 - dim - excess)  # noqa: E731
    truth, r = differences.laplacian(radial, point), float(np.linalg.norm(point))
    formula = excess * (dim - 2 + excess) * r ** (-dim - excess)
    library = float(steep(dim, excess).laplacian(r))
    numbers = {
        "laplacian": truth,
        "formula_error": abs(formula / truth - 1),
        "library_error": abs(library / truth - 1),
    }
    exact = max(numbers["formula_error"], numbers["library_error"]) < 1e-10
    return Finding(truth > 0, numbers) if exact else Finding(None, numbers, "Laplacians differ")


def _cloud_instance(rng: np.random.Generator, index: int) -> Instance:
    dim = (1, 3, 1, 2)[index % 4]
    if index >= 4 and index % 4 == 2:
        turns = np.sort(rng.uniform(0, 2 * np.pi, 2 * UNITS)) + 0.3 * np.arange(2 * UNITS)
        points = np.stack([np.cos(turns), np.sin(turns)], axis=1)[rng.permutation(2 * UNITS)]
        return {"on": "circle", "protons": points[:UNITS], "electrons": points[UNITS:]}
    points = scattered(rng, 2 * UNITS, dim, gap=0.3, spread=1.5)
    return {
        "rate": rng.uniform(0.7, 1.5),
        "protons": points[:UNITS],
        "electrons": points[UNITS:],
    }


def _moved_together(instance: Instance) -> Finding:
    loss, student, phi = loss_of(instance)
    count, dim = student.positions.shape
    places, protons = np.asarray(student.positions), np.asarray(instance["protons"])
    pairs = [(x, w) for x in places for w in protons]
    if instance.get("on") == "circle":
        # f'' = f for f = cosh(pi - t), and t is the angle.
        expected = -2 * sum(np.cosh(np.pi - np.arccos(np.clip(x @ w, -1, 1))) for x, w in pairs)
    else:
        expected = -2 * sum(_laplacian(x - w, phi, instance) for x, w in pairs)
    free = count * (dim - 1 if instance.get("on") == "circle" else dim)
    values = np.linalg.eigvalsh(np.asarray(loss.hessian(student)))
    numbers = {
        "laplacian_error": abs(float(loss.laplacian(student, range(count))) / expected - 1),
        "laplacian": float(expected),
        "eigenvalue_over_bound": float(values[0] / (expected / free)),
    }
    good = numbers["laplacian_error"] < 1e-9 and numbers["eigenvalue_over_bound"] > 1 - 1e-9
    return Finding(bool(good and expected < 0), numbers)


def _laplacian(gap: np.ndarray, phi: Any, instance: Instance) -> float:
    r, dim = float(np.linalg.norm(gap)), len(gap)
    if dim > 1:
        return EXCESS * (dim - 2 + EXCESS) * r ** (-dim - EXCESS)
    rate = float(instance["rate"])
    return rate**2 * float(phi.value(0.0)) * np.exp(-rate * r)


def _pairs_instance(rng: np.random.Generator, index: int) -> Instance:
    points = scattered(rng, 2 * UNITS, (3, 2)[index % 2], gap=0.5, spread=1.5)
    return {"protons": points[:UNITS], "electrons": points[UNITS:]}


def _falls_into_protons(instance: Instance) -> Finding:
    protons, places = np.asarray(instance["protons"]), np.asarray(instance["electrons"])
    phi = steep(protons.shape[1])

    def loss(amounts: np.ndarray) -> PopulationLoss:
        return population_loss(Teacher(protons, amounts, phi), "without-constants", wrt="positions")

    held, steps = fallen(loss, protons, places)
    numbers = {"bound": len(held), "units": len(places), "steps": steps}
    return Finding(len(held) == len(places), numbers)


def _grid_instance(rng: np.random.Generator, index: int) -> Instance:
    first, second = rng.choice(np.arange(40, 161), 2, replace=False)
    return {"rate": rng.uniform(0.5, 2), "nodes": [int(first), int(second)], "spacing": 0.05}


def _line_of_two(instance: Instance) -> Finding:
    """All (theta_1, theta_2) of a grid with both protons on it: which are below their neighbours.

    Off the protons L is strictly concave along (1, 1); where an electron is on a proton the pair is
    neutral, and L strictly concave in the other one. So no continuous minimum hides between nodes.
    """
    phi, spacing = on_the_line(float(instance["rate"])), float(instance["spacing"])
    grid = spacing * np.arange(201)
    nodes = [int(node) for node in instance["nodes"]]
    pull = np.sum([np.asarray(phi.value(np.abs(grid - grid[node]))) for node in nodes], axis=0)
    among = np.asarray(phi.value(np.abs(grid[:, None] - grid[None])))
    energy = 2 * (among - pull[:, None] - pull[None])
    centre, steps = energy[1:-1, 1:-1], (-1, 0, 1)
    around = [
        energy[1 + i : 200 + i, 1 + j : 200 + j] for i in steps for j in steps if (i, j) != (0, 0)
    ]
    lowest = np.argwhere(np.all([centre <= other for other in around], axis=0)) + 1
    expected = {tuple(nodes), tuple(nodes[::-1])}
    found = {tuple(int(n) for n in node) for node in lowest}
    numbers = {
        "minima": len(found),
        "spurious": len(found - expected),
        "missed": len(expected - found),
    }
    return Finding(found == expected, numbers)


def _bounded_instance(rng: np.random.Generator, index: int) -> Instance:
    return {"formula": BOUNDED[index % len(BOUNDED)], "dim": (2, 3, 5)[index % 3]}


def _not_subharmonic(instance: Instance) -> Finding:
    phi = RadialExpression(str(instance["formula"]), int(instance["dim"]))
    radii = np.geomspace(1e-3, 10, 200)
    spread = np.asarray(phi.laplacian(radii))
    numbers = {
        "lowest_laplacian": float(np.min(spread)),
        "at_radius": float(radii[np.argmin(spread)]),
        "value_at_0": float(phi.value(0.0)),
    }
    largest_at_0 = bool(np.all(np.asarray(phi.value(radii)) < numbers["value_at_0"]))
    return Finding(largest_at_0 and numbers["lowest_laplacian"] < 0, numbers)


def _descent_instance(rng: np.random.Generator, index: int) -> Instance:
    protons = scattered(rng, UNITS, 1, gap=1.0, spread=3.0)
    offsets = rng.uniform(0.05, 0.3, (UNITS, 1)) * rng.choice([-1, 1], (UNITS, 1))
    return {"rate": rng.uniform(0.7, 1.5), "protons": protons, "electrons": protons + offsets}


def _at_the_end(instance: Instance, share: float) -> tuple[Descended, float]:
    """Of descent with the step share/(4 k^2 B), B = sup |Phi''| off the cusp; and that step."""
    loss, student, phi = loss_of(instance)
    size = share / (4 * UNITS**2 * float(instance["rate"]) ** 2 * float(phi.value(0.0)))
    return descended(loss, student, np.asarray(instance["protons"]), size), size


def _within_a_step(instance: Instance) -> Finding:
    (end, size), (closer, half) = (_at_the_end(instance, share) for share in (1.0, 0.5))
    numbers = {
        "distance_over_step": end.farthest / size,
        "distance_at_half_over_step": closer.farthest / half,
        "distance": end.farthest,
        "distance_at_half": closer.farthest,
    }
    good = end.farthest <= end.longest and closer.farthest <= closer.longest
    return Finding(good and closer.farthest < end.farthest, numbers)


def _constant_steps_converge(instance: Instance) -> Finding:
    end, size = _at_the_end(instance, 1.0)
    numbers = {"distance": end.farthest, "distance_over_step": end.farthest / size}
    return Finding(end.farthest < CONVERGED, numbers)


def _hessian_bound(instance: Instance) -> Finding:
    loss, student, phi = loss_of(instance)
    bound = 4 * UNITS**2 * float(instance["rate"]) ** 2 * float(phi.value(0.0))
    values = np.abs(np.linalg.eigvalsh(np.asarray(loss.hessian(student))))
    numbers = {"hessian_over_bound": float(np.max(values)) / bound}
    return Finding(numbers["hessian_over_bound"] <= 1, numbers)


def _line_instance(rng: np.random.Generator, index: int) -> Instance:
    return _cloud_instance(rng, 0)


SUBHARMONIC = Claim(
    id="subharmonic",
    title="Strictly subharmonic potentials admit no local minimum off the protons",
    sources=Sources(epd="Theorem 3.6", full="Theorem F.2, Corollary F.3"),
    oracle=EXACT_LOSS,
    definition=NO_SMALLER_NEARBY,
    hypotheses=(
        "Delta Phi > 0 off coincidence: r^(2-d-e) for d >= 2; bounded, exp(-s r) on R^1 and "
        "cosh(pi - t) on S^1",
        "Assumption 1: all weights 1, only positions move, as many units as protons",
        "for the Hessian: no electron on a proton or on another electron",
    ),
    statements=(
        Statement(
            name="example",
            says="Phi = r^(2-d-e) has Delta Phi = e (d - 2 + e) r^(-d-e) > 0 for d >= 2, e > 0",
            draw=_example_instance,
            test=_example,
            thorough=15,
        ),
        Statement(
            name="moved-together",
            says="Delta_v L = -2 sum_ij Delta Phi(theta_i, w_j) < 0 for one common translation "
            "(rotation on S^1), so the smallest eigenvalue is <= Delta_v L/(k d) (Theorem F.2)",
            draw=_cloud_instance,
            test=_moved_together,
        ),
        Statement(
            name="electrons-fall",
            says="under Phi(theta, theta) = infinity descent ends with every electron on a proton "
            "of its own",
            draw=_pairs_instance,
            test=_falls_into_protons,
            quick=1,
            thorough=10,
        ),
        Statement(
            name="line-of-two",
            says="two electrons and two protons on R^1 under exp(-s r): the only local minima of a "
            "grid of 201 x 201 points are the two permutations (Corollary F.3)",
            draw=_grid_instance,
            test=_line_of_two,
        ),
        Statement(
            name="bounded-means-one-dimension",
            says="for d >= 2 a bounded potential that is largest at r = 0 has Delta Phi < 0 "
            "somewhere: no bounded potential satisfies the hypotheses",
            draw=_bounded_instance,
            test=_not_subharmonic,
            quick=5,
            thorough=15,
        ),
        Statement(
            name="hessian-bound",
            says="|Hessian of L| <= 4 k^2 B, B = sup |Phi''|",
            draw=_line_instance,
            test=_hessian_bound,
            constants={"hessian_over_bound": "EPD, Theorem 3.6: how much of 4 k^2 B is used"},
        ),
        Statement(
            name="within-a-step",
            says="gradient descent with a constant step ends within its own last step of the "
            "protons; with 1/(2 L), L = 4 k^2 B, as Theorem B.5 asks, closer than with 1/L",
            draw=_descent_instance,
            test=_within_a_step,
            quick=1,
            thorough=6,
            constants={
                "distance_over_step": "EPD, Theorem 3.6 (step 1/L): the error over the step",
                "distance_at_half_over_step": "EPD, Theorem B.5 (step 1/(2 L)): the same",
            },
        ),
        Statement(
            name="constant-steps-converge",
            says="Algorithm 1 with the constant step 1/(4 k^2 B) converges to the global minimum "
            "(EPD, Theorem 3.6)",
            draw=_descent_instance,
            test=_constant_steps_converge,
            role="printed",
            kind="statement-refuted",
            quick=1,
            thorough=5,
        ),
        Statement(
            name="example-on-the-line",
            says="r^(2-d-e) is strictly subharmonic for every e > 0, and bounded for d = 1 (Full, "
            "after Definition F.1)",
            draw=_line_example_instance,
            test=_example,
            role="printed",
            kind="statement-refuted",
            quick=1,
            thorough=5,
        ),
        Statement(
            name="bounded-above-one-dimension",
            says="some bounded potential on R^d, d >= 2, satisfies the hypotheses of EPD's Theorem "
            "3.6 and Full's Corollary F.3: Delta Phi > 0 off 0, largest at 0 (five tried)",
            draw=_bounded_instance,
            test=lambda instance: Finding(
                not _not_subharmonic(instance).holds, _not_subharmonic(instance).numbers
            ),
            role="printed",
            kind="vacuous",
            quick=1,
            thorough=15,
        ),
        *ON_THE_SPHERE,
        *ASSUMPTION_ONE,
    ),
    remarks=(
        "A bounded strictly subharmonic potential with its maximum at coincidence has a cusp "
        "there: sup |Phi''| <= B holds off the cusp only, and constant steps never settle.",
        "Full's example r^(2-d-e) is superharmonic for d = 1 and e < 1, where it is bounded; "
        "-r^(1-e) is meant.",
        "On S^(d-1), d >= 3, the texts' proof takes a translation in spherical coordinates for a "
        "rotation. The statement is true: over the rotations of all electrons in all coordinate "
        "planes the second derivatives add up to the Laplacian (mathematics.md, error 21).",
        "Assumption 1 is needed: with fixed weights of two sizes, of two signs, or all of the "
        "other sign there are local minima that are not global, and descent ends in them.",
        "Theorems 3.6 and 3.10 take steps of 1/L where Theorem B.5 asks for 1/(2 L) "
        "(mathematics.md, error 17); both were run.",
    ),
)
