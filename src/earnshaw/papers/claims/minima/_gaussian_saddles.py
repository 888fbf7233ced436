"""Where the Gaussian potential exp(-c r^2/2) makes strict saddles.

Its Laplacian on R^d is c (c r^2 - d) Phi, positive for r^2 > d/c. Under Assumption 1 (all weights
1), with all units moved together, at every point

    smallest eigenvalue <= -(2/(k d)) sum_ij c (c r_ij^2 - d) exp(-c r_ij^2/2),

r_ij = |theta_i - w_j|. That makes strict saddles of all points with r_ij^2 between 2 d and C d for
c = 1 (EPD, Theorem 4.2), and of all bounded points with r_ij^2 > eps for c = 2 d/eps (Full, Theorem
F.4).
"""

from __future__ import annotations

import math
from typing import Any

import jax.numpy as jnp
import mpmath as mp
import numpy as np

from earnshaw.charges.network import Student, Teacher
from earnshaw.duality.families.gaussian import GaussianPotential
from earnshaw.energy.population import PopulationLoss, population_loss
from earnshaw.papers.claims.claim import Finding, Instance, Statement
from earnshaw.papers.claims.minima import _finite_differences as differences
from earnshaw.papers.claims.minima._random_points import directions, distances, scattered

UNITS = 3


def loss_of(instance: Instance) -> tuple[PopulationLoss, Student]:
    """Assumption 1's loss; the rate as an array, so that compiled code is shared by all rates."""
    protons = np.asarray(instance["protons"], dtype=float)
    phi = GaussianPotential(protons.shape[1], jnp.asarray(float(instance["rate"])))  # type: ignore[arg-type]
    electrons = np.asarray(instance["electrons"], dtype=float)
    teacher = Teacher(protons, np.ones(len(protons)), phi)
    return population_loss(teacher, "assumption-1"), Student(electrons, np.ones(len(electrons)))


def common_laplacian(gaps: np.ndarray, rate: float, dim: int) -> float:
    """-2 sum_ij c (c r^2 - d) exp(-c r^2/2): Delta L for all units moved together."""
    squares = rate * gaps**2
    return float(-2 * np.sum(rate * (squares - dim) * np.exp(-squares / 2)))


def _potential_instance(rng: np.random.Generator, index: int) -> Instance:
    dim = (1, 2, 3, 5)[index % 4]
    return {"dim": dim, "rate": rng.uniform(0.3, 3), "point": 1.5 * rng.standard_normal(dim)}


def _laplacians(instance: Instance) -> tuple[float, float, float]:
    """By differences, by the library, and (c r^2 - d) Phi; all over Phi."""
    dim, rate, point = int(instance["dim"]), float(instance["rate"]), np.asarray(instance["point"])
    r = float(np.linalg.norm(point))

    def gaussian(x: Any) -> Any:
        return mp.exp(-rate * differences.distance(x, 0 * point) ** 2 / 2)

    value = math.exp(-rate * r * r / 2)
    library = float(GaussianPotential(dim, rate).laplacian(r))
    return differences.laplacian(gaussian, point) / value, library / value, rate * r * r - dim


def _laplacian(instance: Instance) -> Finding:
    truth, library, printed = _laplacians(instance)
    rate = float(instance["rate"])
    errors = {
        "formula_error": abs(truth - rate * printed) / abs(truth),
        "library_error": abs(truth - library) / abs(truth),
    }
    return Finding(max(errors.values()) < 1e-9, errors)


def _laplacian_as_printed(instance: Instance) -> Finding:
    truth, _, printed = _laplacians(instance)
    error = abs(truth - printed) / abs(truth)
    return Finding(error < 1e-9, {"error": error, "rate": float(instance["rate"])})


def _shell_instance(rng: np.random.Generator, index: int) -> Instance:
    """Protons about the origin, electrons on a shell: 2 d < r^2 < 6 d for all pairs."""
    dim = (3, 2)[index % 2] if index < 12 else (5, 8, 12)[index % 3]
    protons = 0.1 * math.sqrt(dim) * directions(rng, UNITS, dim)
    radii = np.sqrt(dim) * rng.uniform(1.6, 2.3, (UNITS, 1))
    return {"rate": 1.0, "protons": protons, "electrons": radii * directions(rng, UNITS, dim)}


def _strict(instance: Instance) -> tuple[dict[str, float], bool]:
    """The smallest eigenvalue against the bound by the common Laplacian."""
    loss, student = loss_of(instance)
    gaps = distances(np.asarray(student.positions), np.asarray(instance["protons"]))
    expected = common_laplacian(gaps, float(instance["rate"]), student.dim)
    matrix = np.asarray(loss.hessian(student))
    units, dim = student.positions.shape
    ours = float(loss.laplacian(student, range(units)))
    # Translations of all units: the sum of the traces of all blocks of the Hessian.
    blocks = matrix.reshape(units, dim, units, dim)
    numbers = {
        "laplacian_error": abs(ours / expected - 1),
        "hessian_error": abs(float(np.einsum("iaja->", blocks)) / expected - 1),
        "smallest_eigenvalue": float(np.linalg.eigvalsh(matrix)[0]),
        "bound": expected / (units * dim),
        "nearest_square_over_d": float(np.min(gaps) ** 2) / dim,
    }
    exact = max(numbers["laplacian_error"], numbers["hessian_error"]) < 1e-8
    return numbers, exact and numbers["smallest_eigenvalue"] <= numbers["bound"] * (1 - 1e-9) < 0


def _strict_point(instance: Instance) -> Finding:
    numbers, good = _strict(instance)
    dim = np.asarray(instance["protons"]).shape[1]
    numbers["exponent"] = -math.log(-numbers["smallest_eigenvalue"]) / dim
    return Finding(bool(good and numbers["nearest_square_over_d"] > 2), numbers)


def _bounded_instance(rng: np.random.Generator, index: int) -> Instance:
    """All within a ball of radius 1, r_ij^2 > eps, c = 2 d/eps."""
    dim, eps = (3, 2)[index % 2], rng.uniform(0.15, 0.3)
    points = scattered(rng, 2 * UNITS, dim, gap=math.sqrt(eps), spread=0.4)
    points *= min(1.0, 1 / np.max(np.linalg.norm(points, axis=1)))
    gaps = distances(points[:UNITS], points[UNITS:])
    eps = min(eps, 0.999 * float(np.min(gaps) ** 2))
    return {
        "rate": 2 * dim / eps,
        "eps": eps,
        "protons": points[:UNITS],
        "electrons": points[UNITS:],
    }


def _bounded_point(instance: Instance) -> Finding:
    numbers, good = _strict(instance)
    rate, units = float(instance["rate"]), UNITS
    # Each pair has c r^2 - d > d, and r < 2.
    numbers["log_guarantee"] = math.log(2 * units * rate) - 2 * rate
    numbers["log_curvature"] = math.log(-numbers["smallest_eigenvalue"])
    return Finding(bool(good and numbers["log_curvature"] > numbers["log_guarantee"]), numbers)


def _far_instance(rng: np.random.Generator, index: int) -> Instance:
    """Electrons 30 apart from all charges."""
    instance = _bounded_instance(rng, index)
    away = 30.0 * np.arange(1, UNITS + 1)[:, None]
    return {**instance, "electrons": np.asarray(instance["electrons"]) + away}


def _far_points_are_close(instance: Instance) -> Finding:
    loss, student = loss_of(instance)
    gaps = distances(np.asarray(student.positions), np.asarray(instance["protons"]))
    numbers = {
        "gradient_norm": float(np.linalg.norm(loss.gradient(student).positions)),
        "smallest_eigenvalue": float(np.linalg.eigvalsh(np.asarray(loss.hessian(student)))[0]),
        "nearest_square": float(np.min(gaps) ** 2),
    }
    if max(numbers["gradient_norm"], -numbers["smallest_eigenvalue"]) > 1e-300:
        return Finding(None, numbers, "not in M_eps for eps = 1e-300")
    return Finding(numbers["nearest_square"] <= float(instance["eps"]), numbers)


def _reversed(instance: Instance) -> Finding:
    dim, rate = np.asarray(instance["protons"]).shape[1], float(instance["rate"])
    r = 0.5 * math.sqrt(float(instance["eps"]))
    spread = float(GaussianPotential(dim, rate).laplacian(r))
    return Finding(spread > 0, {"laplacian": spread, "square_over_eps": 0.25})


SADDLES = (
    Statement(
        name="laplacian",
        says="Delta Phi = c (c r^2 - d) Phi",
        draw=_potential_instance,
        test=_laplacian,
        thorough=20,
    ),
    Statement(
        name="strict-points",
        says="if 2 d < |theta_i - w_j|^2 < 6 d for all pairs, the smallest eigenvalue is at "
        "most -(2/(k d)) sum (r^2 - d) Phi, so below -exp(-C d) (Theorem 4.2)",
        draw=_shell_instance,
        test=_strict_point,
        constants={"exponent": "EPD, Theorem 4.2: the C of exp(-C d)"},
    ),
    Statement(
        name="bounded-points",
        says="within the unit ball, with c = 2 d/eps and |theta_i - w_j|^2 > eps for all "
        "pairs, the smallest eigenvalue is below -2 k c exp(-2 c) (Theorem F.4)",
        draw=_bounded_instance,
        test=_bounded_point,
        constants={"log_curvature": "Full, Theorem F.4: log of the exp(-poly(d, 1/eps))"},
    ),
    Statement(
        name="laplacian-as-printed",
        says="Delta Phi = (c r^2 - d) Phi (Full, before Theorem F.4)",
        draw=_potential_instance,
        test=_laplacian_as_printed,
        role="printed",
        kind="proof-mended",
        quick=1,
        thorough=4,
    ),
    Statement(
        name="unbounded-theta",
        says="every point with a small enough gradient and curvature has some |theta_i - "
        "w_j|^2 <= eps, theta unbounded (Theorem F.4)",
        draw=_far_instance,
        test=_far_points_are_close,
        role="printed",
        kind="hypothesis-missing",
        quick=1,
        thorough=4,
    ),
    Statement(
        name="inside-as-printed",
        says="Delta Phi > 0 if |theta - w|^2 <= eps (proof of Theorem F.4, where >= is meant)",
        draw=_bounded_instance,
        test=_reversed,
        role="printed",
        kind="proof-mended",
        quick=1,
        thorough=4,
    ),
)
