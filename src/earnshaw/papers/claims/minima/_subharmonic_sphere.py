"""Strictly subharmonic potentials on S^(d-1), d >= 3: all electrons turned by one rotation.

The texts move all electrons by one vector in spherical coordinates and call that a rotation (EPD,
Theorem 3.6; Full, Theorem F.2). It is one for d = 2 only: above, the distances between electrons
change, and the second derivatives in the angles do not add up to the Laplacian. Rotations do it:
let L_ab = x_a d/dx_b - x_b d/dx_a turn the plane (a, b), a < b. On functions on the sphere

    sum_(a<b) L_ab^2 = Delta    (the Casimir operator of so(d)),

and a rotation of all electrons leaves Phi(theta_i, theta_j) as it is. So at every point

    sum_(a<b) Hess L (X_ab, X_ab) = -2 sum_ij (Delta Phi)(theta_i, w_j) < 0,

X_ab the motion of all electrons by L_ab: the terms grad L . X_ab' add up to 0 in every electron,
for the Laplacian has no terms of first order. As sum_(a<b) |X_ab|^2 = k (d - 1), the smallest
eigenvalue of the Hessian is at most -2 sum_ij Delta Phi/(k (d - 1)), as on R^(d-1).

Instances: Phi = (1 - rho)^(-p), p > (d - 3)/2, with Laplacian p (1 - rho)^(-p-1) ((p + 1)(1 +
rho) - (d - 1) rho) > 0. For d >= 3 no bounded Phi = f(t), t the angle, is one: the integral of
Delta Phi over the sphere without a cap is the flux through its edge, -f'(t) sin^(d-2)(t) times a
constant. It grows as the cap shrinks, so -f'(t) >= c/t^(d-2) near 0, c > 0, and f is infinite at 0.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import mpmath as mp
import numpy as np

from earnshaw.charges.network import Student, Teacher
from earnshaw.duality.formulas.expression import ZonalExpression
from earnshaw.energy.population import PopulationLoss, population_loss
from earnshaw.landscape.certify import certify
from earnshaw.papers.claims.claim import Finding, Instance, Statement
from earnshaw.papers.claims.minima._descents import fallen
from earnshaw.papers.claims.minima._random_points import directions

UNITS, APART = 3, 0.9  # all cosines are at most this
EXCESS = 0.25  # p - (d - 3)/2
THEOREM = "no local minimum without a unit at a proton"
BOUNDED = ("exp(rho - 1)", "1/(3 - 2*rho)", "1 - 2*acos(rho)/pi", "exp(-acos(rho))", "rho**3")


def power(dim: int) -> float:
    """p of (1 - rho)^(-p)."""
    return (dim - 3) / 2 + EXCESS


def laplacian(rho: np.ndarray, dim: int) -> np.ndarray:
    """That of (1 - rho)^(-p) on S^(d-1)."""
    p = power(dim)
    return p * (1 - rho) ** (-p - 1) * ((p + 1) * (1 + rho) - (dim - 1) * rho)


def loss_of(protons: np.ndarray, amounts: np.ndarray | None = None) -> PopulationLoss:
    """Assumption 1's loss, without its infinite constants; `amounts` drops bound protons."""
    count, dim = protons.shape
    amounts = np.ones(count) if amounts is None else amounts
    teacher = Teacher(protons, amounts, potential=f"(1 - rho)**(-{power(dim)!r})", on="sphere")
    return population_loss(teacher, "without-constants", wrt="positions")


def _instance(rng: np.random.Generator, index: int) -> Instance:
    dim = (3, 4, 6)[index % 3]
    for _ in range(10_000):
        points = directions(rng, 2 * UNITS, dim)
        if np.max(points @ points.T - 2 * np.eye(2 * UNITS)) < APART:
            return {"protons": points[:UNITS], "electrons": points[UNITS:]}
    raise RuntimeError("no room for the charges")


def _turned_energy(instance: Instance, plane: tuple[int, int], angle: Any) -> Any:
    """L with all electrons turned by an angle in one plane, in mpmath numbers."""
    protons, electrons = (np.asarray(instance[name]) for name in ("protons", "electrons"))
    p = mp.mpf(power(protons.shape[1]))
    a, b = plane
    turned = []
    for electron in electrons:
        x = [mp.mpf(float(one)) for one in electron]
        x[a], x[b] = (
            mp.cos(angle) * x[a] - mp.sin(angle) * x[b],
            mp.sin(angle) * x[a] + mp.cos(angle) * x[b],
        )
        turned.append(x)
    fixed = [[mp.mpf(float(one)) for one in proton] for proton in protons]
    phi = lambda x, y: (1 - mp.fdot(x, y)) ** -p  # noqa: E731
    among = mp.fsum(phi(x, y) for x, y in itertools.combinations(turned, 2))
    return 2 * among - 2 * mp.fsum(phi(x, w) for x in turned for w in fixed)


def _turned_together(instance: Instance) -> Finding:
    protons, electrons = (np.asarray(instance[name]) for name in ("protons", "electrons"))
    dim = protons.shape[1]
    expected = -2 * float(np.sum(laplacian(electrons @ protons.T, dim)))
    with mp.workdps(40):
        step = mp.mpf(10) ** -10
        by_planes = mp.fsum(
            (
                _turned_energy(instance, plane, step)
                - 2 * _turned_energy(instance, plane, mp.mpf(0))
                + _turned_energy(instance, plane, -step)
            )
            / step**2
            for plane in itertools.combinations(range(dim), 2)
        )
    loss, student = loss_of(protons), Student(electrons, np.ones(UNITS))
    bound = expected / (UNITS * (dim - 1))
    values = np.linalg.eigvalsh(np.asarray(loss.hessian(student)))
    numbers = {
        "planes_error": abs(float(by_planes) / expected - 1),
        "laplacian_error": abs(float(loss.laplacian(student, range(UNITS))) / expected - 1),
        "laplacian": expected,
        "eigenvalue_over_bound": float(values[0]) / bound,
    }
    exact = max(numbers["planes_error"], numbers["laplacian_error"]) < 1e-9
    return Finding(exact and expected < 0 and numbers["eigenvalue_over_bound"] > 1 - 1e-9, numbers)


def _certified(instance: Instance) -> Finding:
    """The theorem that `earnshaw certify` applies: it speaks of the sphere, and agrees."""
    loss = loss_of(np.asarray(instance["protons"]))
    found = certify(loss, Student(np.asarray(instance["electrons"]), np.ones(UNITS)))
    agreeing = [one for one in found.theorems if one.theorem == THEOREM and one.agrees]
    return Finding(len(agreeing) == 1, {"smallest_eigenvalue": found.smallest_eigenvalue})


def _falls_into_protons(instance: Instance) -> Finding:
    protons, electrons = (np.asarray(instance[name]) for name in ("protons", "electrons"))
    held, steps = fallen(lambda amounts: loss_of(protons, amounts), protons, electrons)
    numbers = {"bound": len(held), "units": UNITS, "steps": steps}
    return Finding(len(held) == UNITS, numbers)


def angles(x: np.ndarray) -> np.ndarray:
    """The standard spherical coordinates of x on S^(d-1): d - 2 polar angles and an azimuth."""
    rest = np.sqrt(np.cumsum(x[::-1] ** 2)[::-1])
    polar = np.arccos(x[:-2] / rest[:-2])
    return np.append(polar, math.atan2(x[-1], x[-2]))


def point(turns: np.ndarray) -> np.ndarray:
    """The point of S^(d-1) with these spherical coordinates."""
    sines = np.append(1.0, np.cumprod(np.sin(turns)))
    return sines * np.append(np.cos(turns), 1.0)


def _angle_instance(rng: np.random.Generator, index: int) -> Instance:
    dim = (3, 4, 6)[index % 3]
    return {"electrons": directions(rng, 2, dim), "shift": 0.3 * directions(rng, 1, dim - 1)[0]}


def _shift_is_a_rotation(instance: Instance) -> Finding:
    """Two electrons, moved by one vector in spherical coordinates: is their distance kept?"""
    pair, shift = np.asarray(instance["electrons"]), np.asarray(instance["shift"])
    there = np.array([point(angles(x) + shift) for x in pair])
    numbers = {
        "cosine_before": float(pair[0] @ pair[1]),
        "cosine_after": float(there[0] @ there[1]),
        "coordinates_error": float(max(np.max(np.abs(point(angles(x)) - x)) for x in pair)),
    }
    if numbers["coordinates_error"] > 1e-12:
        return Finding(None, numbers, "the coordinates are wrong")
    return Finding(abs(numbers["cosine_before"] - numbers["cosine_after"]) < 1e-12, numbers)


def _bounded_instance(rng: np.random.Generator, index: int) -> Instance:
    return {"formula": BOUNDED[index % len(BOUNDED)], "dim": (3, 4, 6)[index % 3]}


def _bounded_and_subharmonic(instance: Instance) -> Finding:
    phi = ZonalExpression(str(instance["formula"]), int(instance["dim"]))
    rho = np.cos(np.linspace(1e-3, math.pi - 1e-3, 400))
    spread = np.asarray(phi.laplacian(rho))
    numbers = {"lowest_laplacian": float(np.min(spread)), "at": float(rho[np.argmin(spread)])}
    return Finding(numbers["lowest_laplacian"] > 0, numbers)


ON_THE_SPHERE = (
    Statement(
        name="turned-together",
        says="on S^(d-1), d >= 3, the second derivatives of L over rotations of all electrons in "
        "all planes add up to -2 sum_ij Delta Phi(theta_i, w_j) < 0, so the smallest eigenvalue is "
        "<= that/(k (d - 1)): Phi = (1 - rho)^(-p), p > (d - 3)/2 (Theorem F.2 on the sphere)",
        draw=_instance,
        test=_turned_together,
        quick=1,
        thorough=12,
    ),
    Statement(
        name="certified-on-the-sphere",
        says="`earnshaw certify` applies the theorem on S^(d-1), d >= 3, and it agrees",
        draw=_instance,
        test=_certified,
        quick=1,
        thorough=6,
    ),
    Statement(
        name="electrons-fall-on-the-sphere",
        says="descent on S^(d-1), d >= 3, ends with every electron on a proton of its own",
        draw=_instance,
        test=_falls_into_protons,
        quick=1,
        thorough=6,
    ),
    Statement(
        name="shift-in-angles",
        says="one translation of two electrons in spherical coordinates is a rotation: it leaves "
        "their distance as it is, d >= 3 (proofs of Theorems 3.6 and F.2)",
        draw=_angle_instance,
        test=_shift_is_a_rotation,
        role="printed",
        kind="proof-mended",
        thorough=6,
    ),
    Statement(
        name="bounded-on-the-sphere",
        says="some bounded potential satisfies the hypotheses of EPD's Theorem 3.6 on S^(d-1), d "
        ">= 3: Delta Phi > 0 off coincidence (five tried; the flux through a small cap says that "
        "there is none)",
        draw=_bounded_instance,
        test=_bounded_and_subharmonic,
        role="printed",
        kind="vacuous",
        quick=5,
        thorough=15,
    ),
)
