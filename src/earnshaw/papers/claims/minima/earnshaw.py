"""Earnshaw's theorem: charges that act by a harmonic potential have no strict local minimum.

The potentials are r^(2-d) for d >= 3, -ln r for d = 2 and -r for d = 1. With all other charges
fixed the energy of a unit of charge a_i is 2 a_i C(theta_i) plus a constant, C the potential of the
others: harmonic off them. So

    Delta_i L = 0,    and    the mean of L over a sphere around theta_i = L at its centre

as long as no charge is inside. The first gives every Hessian block an eigenvalue <= 0, which
settles all critical points whose block is not 0 (the papers' proof: EPD, Theorem 3.3; Full,
Theorem 3.4). The second settles the others too: on every small sphere L is somewhere not above its
value at the centre. A block of 0 does occur: in the middle of a regular polygon (d = 2, C = -ln|1 -
z^n|) or of a cube (d = 3) of equal charges.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import mpmath as mp
import numpy as np
from scipy import optimize

from earnshaw.charges.network import Student, Teacher
from earnshaw.duality.families.gaussian import GaussianPotential
from earnshaw.duality.families.harmonic import Harmonic
from earnshaw.energy.population import PopulationLoss, population_loss
from earnshaw.papers.claims.claim import (
    EXACT_LOSS,
    Claim,
    Finding,
    Instance,
    Sources,
    Statement,
)
from earnshaw.papers.claims.minima import _finite_differences as differences
from earnshaw.papers.claims.minima._descents import fallen
from earnshaw.papers.claims.minima._random_points import (
    charges,
    distances,
    frame,
    scattered,
    sphere_rule,
)

DIMS = (1, 2, 3, 4, 7, 11)
PROTONS, ELECTRONS = 8, 2  # few shapes, so that compiled functions are shared
ORDERS = {1: 1, 2: 32, 3: 24, 4: 20}  # of averages over spheres half as wide as the gap


def coulomb(r: Any, dim: int) -> Any:
    """The harmonic potential in mpmath numbers."""
    if dim == 1:
        return -r
    return -mp.log(r) if dim == 2 else r ** (2 - dim)


def loss_of(instance: Instance) -> tuple[PopulationLoss, Student]:
    """The loss without constants, the only one that is finite, and the student."""
    positions = np.asarray(instance["protons"], dtype=float)
    teacher = Teacher(positions, np.asarray(instance["charges"]), Harmonic(positions.shape[1]))
    student = Student(np.asarray(instance["electrons"]), np.asarray(instance["weights"]))
    return population_loss(teacher, "without-constants"), student


def sources(instance: Instance) -> tuple[np.ndarray, np.ndarray]:
    """Positions and charges of all that acts on the first unit: protons b, electrons a = -c."""
    electrons, weights = np.asarray(instance["electrons"]), np.asarray(instance["weights"])
    places = np.concatenate([np.asarray(instance["protons"]), electrons[1:]])
    return places, np.concatenate([np.asarray(instance["charges"]), -weights[1:]])


def block(loss: PopulationLoss, student: Student, unit: int = 0) -> np.ndarray:
    """The Hessian of L in one unit's position, (d, d)."""
    at = slice(unit * student.dim, (unit + 1) * student.dim)
    return np.asarray(loss.hessian(student))[at, at]


def _potential_instance(rng: np.random.Generator, index: int) -> Instance:
    dim = DIMS[index % len(DIMS)]
    return {"dim": dim, "point": rng.standard_normal(dim) * rng.uniform(0.5, 2)}


def _potential_is_harmonic(instance: Instance) -> Finding:
    dim, point = int(instance["dim"]), np.asarray(instance["point"])
    r, phi = float(np.linalg.norm(point)), Harmonic(dim)
    value, first, second = (float(f(r)) for f in (phi.value, phi.first, phi.second))
    radial = lambda x: coulomb(differences.distance(x, 0 * point), dim)  # noqa: E731
    along = lambda x: coulomb(x[0], dim)  # noqa: E731
    truth = differences.hessian(radial, point)
    size = max(abs(first) / r, abs(second))
    numbers = {
        "laplacian": abs(differences.laplacian(radial, point)) / size,
        "library_laplacian": abs(second + (dim - 1) * first / r) / size,
        "value_error": abs(value - float(along([mp.mpf(r)]))) / max(abs(value), 1),
        "slope_error": abs(first - differences.gradient(along, np.array([r]))[0]) / (size * r),
        "curvature_error": abs(second - point @ truth @ point / r**2) / size,
    }
    good = numbers["laplacian"] < 1e-20 and max(list(numbers.values())[1:]) < 1e-11
    return Finding(bool(good), numbers)


def _cloud(rng: np.random.Generator, dim: int) -> Instance:
    points = scattered(rng, PROTONS + ELECTRONS, dim, gap=0.3, spread=4.0 / dim)
    return {
        "protons": points[:PROTONS],
        "charges": charges(rng, PROTONS),
        "electrons": points[PROTONS:],
        "weights": charges(rng, ELECTRONS),
    }


def _cloud_instance(rng: np.random.Generator, index: int) -> Instance:
    return _cloud(rng, (2, 3)[index % 2] if index < 20 else (4, 5, 7)[index % 3])


def _laplacian_vanishes(instance: Instance) -> Finding:
    loss, student = loss_of(instance)
    ours, dim = block(loss, student), student.dim
    places, amounts = sources(instance)
    weight = float(student.weights[0])

    def energy(x: Any) -> Any:
        terms = zip(places, amounts, strict=True)
        return -2 * weight * mp.fsum(q * coulomb(differences.distance(x, w), dim) for w, q in terms)

    here = np.asarray(student.positions[0])
    truth, size = differences.hessian(energy, here), float(np.linalg.norm(ours))
    numbers = {
        "trace": abs(float(np.trace(ours))) / size,
        "true_trace": abs(differences.laplacian(energy, here)) / size,
        "library_laplacian": float(np.max(np.abs(loss.laplacian(student)))) / size,
        "hessian_error": float(np.max(np.abs(ours - truth))) / size,
        "smallest_eigenvalue": float(np.linalg.eigvalsh(ours)[0]) / size,
    }
    worst = max(numbers[name] for name in ("trace", "library_laplacian", "hessian_error"))
    good = numbers["true_trace"] < 1e-18 and worst < 1e-10 and numbers["smallest_eigenvalue"] <= 0
    return Finding(bool(good), numbers)


def _mean_value_instance(rng: np.random.Generator, index: int) -> Instance:
    return _cloud(rng, (1, 2, 3, 4)[index % 4] if index > 2 else (2, 1, 3)[index])


def _around(loss: PopulationLoss, student: Student, radius: float) -> tuple[float, np.ndarray, Any]:
    """-2 c C at the first unit, on a sphere around it, and the weights of an average over that."""
    nodes, mass = sphere_rule(student.dim, ORDERS[student.dim])
    here = np.asarray(student.positions[0])
    rest = Student(student.positions[1:], student.weights[1:])
    points = np.concatenate([here[None], here + radius * nodes])
    energy = -2 * float(student.weights[0]) * np.asarray(loss.potential(points, rest))
    return float(energy[0]), energy[1:], mass


def _mean_value(instance: Instance) -> Finding:
    loss, student = loss_of(instance)
    places, _ = sources(instance)
    radius = 0.45 * float(np.min(distances(np.asarray(student.positions[:1]), places)))
    centre, sphere, mass = _around(loss, student, radius)
    spread = float(np.max(np.abs(sphere - centre)))
    numbers = {
        "mean_value_error": abs(float(mass @ sphere) - centre) / spread,
        "lowest": float(np.min(sphere) - centre) / spread,
        "spread": spread,
    }
    return Finding(bool(numbers["mean_value_error"] < 1e-9 and numbers["lowest"] < 0), numbers)


def _solid_instance(rng: np.random.Generator, index: int) -> Instance:
    """An octagon or a cube of equal charges, a unit in its middle, another without weight."""
    dim = (2, 3)[index % 2]
    if dim == 2:
        turns = 2 * math.pi * np.arange(PROTONS) / PROTONS
        corners = np.stack([np.cos(turns), np.sin(turns)], axis=1)
    else:
        corners = np.array(list(itertools.product((-1.0, 1.0), repeat=3)))
    size, centre = rng.uniform(0.5, 2), rng.standard_normal(dim)
    away = centre + 5 * size * np.eye(1, dim)[0]
    return {
        "protons": centre + size * corners @ frame(rng, dim),
        "charges": np.full(PROTONS, rng.choice([-1.0, 1.0]) * rng.uniform(0.3, 1)),
        "electrons": np.stack([centre, away]),
        "weights": np.array([rng.choice([-1.0, 1.0]), 0.0]),
        "size": size,
    }


def _flatness(instance: Instance) -> tuple[float, float]:
    """|grad L| and the largest curvature of the unit in the middle, relative to one proton's."""
    loss, student = loss_of(instance)
    r = float(distances(np.asarray(student.positions[:1]), np.asarray(instance["protons"])).min())
    phi, charge = Harmonic(student.dim), abs(float(np.asarray(instance["charges"])[0]))
    curvature = 2 * charge * abs(float(phi.second(r)))
    slope = 2 * charge * abs(float(phi.first(r)))
    force = np.linalg.norm(np.asarray(loss.gradient(student).positions[0]))
    return float(force) / slope, float(np.max(np.abs(block(loss, student)))) / curvature


def _vanishing_hessian(instance: Instance) -> Finding:
    loss, student = loss_of(instance)
    force, curvature = _flatness(instance)
    centre, sphere, mass = _around(loss, student, 0.4 * float(instance["size"]))
    spread = float(np.max(np.abs(sphere - centre)))
    numbers = {
        "force": force,
        "curvature": curvature,
        "lowest": float(np.min(sphere) - centre) / spread,
        "highest": float(np.max(sphere) - centre) / spread,
        "mean_value_error": abs(float(mass @ sphere) - centre) / spread,
    }
    flat = force < 1e-12 and curvature < 1e-12
    good = flat and numbers["lowest"] < -0.1 and numbers["mean_value_error"] < 1e-9
    return Finding(bool(good), numbers)


def _trace_decides(instance: Instance) -> Finding:
    loss, student = loss_of(instance)
    force, curvature = _flatness(instance)
    smallest = float(np.linalg.eigvalsh(block(loss, student))[0])
    numbers = {"force": force, "curvature": curvature, "smallest_eigenvalue": smallest}
    return Finding(bool(curvature > 1e-10 and smallest < 0), numbers)


def equilibria(instance: Instance) -> np.ndarray:
    """Where the others' field on the first unit vanishes, (n, d): all of them for d = 2.

    There the field is the conjugate of -sum_j q_j/(z - z_j), whose zeros are those of a polynomial;
    above, Newton's method runs from the middle of every pair of charges.
    """
    places, amounts = sources(instance)
    if places.shape[1] == 2:
        z = places @ np.array([1, 1j])
        others = [np.poly(np.delete(z, j)) for j in range(len(z))]
        roots = np.roots(sum(q * poly for q, poly in zip(amounts, others, strict=True)))
        return np.stack([roots.real, roots.imag], axis=1)
    found: list[np.ndarray] = []
    for i, j in itertools.combinations(range(len(places)), 2):
        ended = optimize.root(_field, (places[i] + places[j]) / 2, (places, amounts), tol=1e-13)
        near = np.min(np.linalg.norm(ended.x - places, axis=1))
        new = all(np.linalg.norm(ended.x - x) > 1e-6 for x in found)
        if ended.success and 1e-2 < near < 10 and new:
            found.append(ended.x)
    return np.array(found).reshape(-1, places.shape[1])


def _field(x: np.ndarray, places: np.ndarray, amounts: np.ndarray) -> np.ndarray:
    gaps = x - places
    return (amounts / np.linalg.norm(gaps, axis=1) ** places.shape[1]) @ gaps


def _every_critical_point(instance: Instance) -> Finding:
    loss, student = loss_of(instance)
    points, dim = equilibria(instance), student.dim
    rest = Student(student.positions[1:], student.weights[1:])
    forces, tops, drops = [], [], []
    for point in points:
        there = Student(student.positions.at[0].set(point), student.weights)
        matrix = block(loss, there)
        size, (values, vectors) = np.linalg.norm(matrix), np.linalg.eigh(matrix)
        near = float(np.min(np.linalg.norm(point - sources(instance)[0], axis=1)))
        pull = np.asarray(loss.gradient(there).positions[0])
        forces.append(np.linalg.norm(pull) / (size * near))
        tops.append(values[0] / size)
        # Fact 3.3: L falls along that eigenvector, by half its eigenvalue.
        line = point + np.array([[0], [1], [-1]]) * 3e-3 * near * vectors[:, 0]
        energy = -2 * float(student.weights[0]) * np.asarray(loss.potential(line, rest))
        drops.append((energy[1] + energy[2] - 2 * energy[0]) / (values[0] * (3e-3 * near) ** 2))
    if not tops:
        return Finding(None, note="no critical point was found")
    numbers = {
        "critical_points": len(points),
        "force": max(forces),
        "smallest_eigenvalue": max(tops),
        "drop_over_prediction": min(drops),
    }
    complete = dim > 2 or len(points) == PROTONS + ELECTRONS - 2
    good = complete and max(forces) < 1e-8 and max(tops) < -1e-6 and min(drops) > 0.9
    return Finding(bool(good), numbers)


def _pairs_instance(rng: np.random.Generator, index: int) -> Instance:
    dim = (3, 2)[index % 2] if index > 2 else 3
    points = scattered(rng, 6, dim, gap=0.5, spread=1.5)
    return {"protons": points[:3], "electrons": points[3:]}


def _falls_into_protons(instance: Instance) -> Finding:
    protons, places = np.asarray(instance["protons"]), np.asarray(instance["electrons"])

    def loss(amounts: np.ndarray) -> PopulationLoss:
        return loss_of({**instance, "charges": amounts, "weights": amounts})[0]

    held, steps = fallen(loss, protons, places)
    numbers = {"bound": len(held), "units": len(places), "steps": steps}
    return Finding(len(held) == len(places), numbers)


def _trap_instance(rng: np.random.Generator, index: int) -> Instance:
    instance = _solid_instance(rng, 2 * index + 1)
    return {**instance, "rate": 3 * rng.uniform(1.5, 3) / (3 * float(instance["size"]) ** 2)}


def _gaussian_has_no_trap(instance: Instance) -> Finding:
    """The middle of the same cube, of charges that repel by exp(-c r^2/2), c r^2 > d."""
    centre, protons = np.asarray(instance["electrons"])[0], np.asarray(instance["protons"])
    rate, r = float(instance["rate"]), float(np.linalg.norm(protons[0] - centre))

    def energy(x: Any) -> Any:
        squares = (differences.distance(x, w) ** 2 for w in protons)
        return 2 * mp.fsum(mp.exp(-rate * square / 2) for square in squares)

    smallest = float(np.linalg.eigvalsh(differences.hessian(energy, centre))[0])
    phi = GaussianPotential(len(centre), rate)
    by_symmetry = 2 * len(protons) * float(phi.laplacian(r)) / len(centre)
    force = float(np.linalg.norm(differences.gradient(energy, centre)))
    numbers = {"smallest_eigenvalue": smallest, "by_symmetry": by_symmetry, "force": force}
    trapped = force < 1e-9 and smallest > 0 and abs(by_symmetry / smallest - 1) < 1e-9
    return Finding(bool(not trapped), numbers)


EARNSHAW = Claim(
    id="earnshaw",
    title="Harmonic potentials admit no strict local minimum",
    plain="Earnshaw's theorem (1842): among charges that attract and repel by Coulomb's law, no "
    "charge can rest stably in empty space. Where it is pulled back in one direction it is driven "
    "out in another, since the curvatures of its energy add up to 0. For networks whose potential "
    "is harmonic: while a unit sits on no other, some small motion of it lowers the loss, or "
    "leaves it as it is.",
    sources=Sources(
        epd="Theorem 3.3, Corollary 3.4",
        full="Theorem 3.4, Fact 3.3 (proof in Appendix C)",
        itcs="Theorem 9, Fact 8",
    ),
    oracle=EXACT_LOSS,
    definition="Full, Definition 3.2: strict if larger everywhere nearby (EPD's, a positive "
    "definite Hessian, is narrower)",
    hypotheses=(
        "the potential is harmonic: r^(2-d) for d >= 3, -ln r for d = 2, -r for d = 1",
        "the loss is that without constants (Full, eq. 2): all others are infinite",
        "charges of both signs, other units fixed or moving, and some unit on no other charge",
    ),
    statements=(
        Statement(
            name="harmonic",
            says="Delta Phi = 0 off r = 0, for Phi = r^(2-d), -ln r (d = 2), -r (d = 1)",
            draw=_potential_instance,
            test=_potential_is_harmonic,
            quick=6,
            thorough=60,
        ),
        Statement(
            name="laplacian-of-the-loss",
            says="Delta_i L = 0 in every unit that is on no other charge, hence its Hessian block "
            "has an eigenvalue <= 0",
            draw=_cloud_instance,
            test=_laplacian_vanishes,
        ),
        Statement(
            name="mean-value",
            says="the mean of L over a sphere around a unit, without charges inside, is L at its "
            "centre; so L is lower somewhere on every such sphere",
            draw=_mean_value_instance,
            test=_mean_value,
        ),
        Statement(
            name="critical-points",
            says="every critical point of one unit among fixed charges (for d = 2 all of them, as "
            "roots of a polynomial) has an eigenvalue < 0, along which L falls",
            draw=_cloud_instance,
            test=_every_critical_point,
            quick=2,
            thorough=20,
        ),
        Statement(
            name="vanishing-hessian",
            says="also where the Hessian block is 0 (the middle of a regular polygon or cube of "
            "equal charges) L is lower somewhere on every small sphere",
            draw=_solid_instance,
            test=_vanishing_hessian,
            quick=2,
        ),
        Statement(
            name="electrons-fall",
            says="k distinct electrons of charge -1 among k protons of charge 1 descend until each "
            "is on a proton of its own: theta is a permutation of w (Corollary 3.4)",
            draw=_pairs_instance,
            test=_falls_into_protons,
            quick=2,
            thorough=12,
        ),
        Statement(
            name="trace-decides",
            says="the trace alone decides: at a differentiable critical point the Hessian is not "
            "0, and has a negative eigenvalue (proof of Theorem 3.4, under Definition 3.2)",
            draw=_solid_instance,
            test=_trace_decides,
            role="printed",
            kind="proof-mended",
            quick=1,
            thorough=4,
        ),
        Statement(
            name="without-harmonicity",
            says="no strict local minimum, for the Gaussian potential: a cube of like charges at "
            "c r^2 > d holds a unit in its middle",
            draw=_trap_instance,
            test=_gaussian_has_no_trap,
            role="beyond",
            quick=2,
            thorough=10,
        ),
    ),
    remarks=(
        "The theorem stands as stated; its proof by the trace leaves out a vanishing Hessian, "
        "which Definition 3.2 allows a strict minimum to have. The mean-value property closes it.",
        "EPD's Definition 3.2 calls x a strict minimum only if its Hessian is positive definite; "
        "for that the trace is enough.",
        "For d = 1 the texts' r^(2-d) = r repels opposite charges; -r is used.",
    ),
)
