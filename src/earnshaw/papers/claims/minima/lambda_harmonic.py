"""lambda-harmonic potentials: no local minimum off the protons.

Delta Phi = lambda Phi off coincidence, Phi(theta, theta) = Phi0. At the best weights the energy of
a unit that is on no other charge is strictly concave on average,

    Delta_i L = -2 lambda Phi0 a_i^2                          (EPD, Lemma 3.8),

and of units S in one place, moved together, Delta_S L = -2 lambda Phi0 (sum_S a_i)^2 (Full, Theorem
3.6). For one free unit the loss is const - C^2/Phi0, and C^2 has its maxima at protons only.

A bounded potential like this exists in one dimension, exp(-s r), and in no other: a radial solution
is r^(-nu) (alpha K_nu(s r) + beta I_nu(s r)), nu = d/2 - 1; the first is infinite at 0 for d >= 2,
the second grows with r, so that 0 is not where Phi is largest. Above one dimension the instances
are the almost lambda-harmonic potential, at points off its cores.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import mpmath as mp
import numpy as np

from earnshaw.charges.network import Student, Teacher
from earnshaw.duality.families.almost_harmonic import AlmostHarmonic
from earnshaw.duality.families.harmonic import LambdaHarmonic
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
from earnshaw.papers.claims.minima._descents import Descended, descended
from earnshaw.papers.claims.minima._random_points import charges, distances, scattered

DIMS = (3, 2, 1, 5, 4, 11)
RADIUS = 0.1  # of the cores, for d > 1
STARTS, CLIMB = 64, 250
UNITS = 3
CONVERGED = 1e-9
ZERO = 1e-14  # rounding of weights; off the cores Phi itself is 1e-9 for d = 7


def screened(dim: int, lam: float) -> Radial:
    """exp(-s r) up to a factor on R^1, the almost lambda-harmonic potential above.

    lambda as an array: compiled code is shared by all.
    """
    if dim == 1:
        return LambdaHarmonic(1, jnp.asarray(lam))  # type: ignore[arg-type]
    return AlmostHarmonic(dim, RADIUS, lam)


def loss_of(instance: Instance) -> tuple[PopulationLoss, Student, float, float]:
    """The loss, the student, lambda and Phi(theta, theta)."""
    protons, lam = np.asarray(instance["protons"], dtype=float), float(instance["lam"])
    phi = screened(protons.shape[1], lam)
    teacher = Teacher(protons, np.asarray(instance["charges"]), phi)
    electrons = np.asarray(instance["electrons"], dtype=float)
    student = Student(electrons, np.zeros(len(electrons)))
    return population_loss(teacher), student, lam, float(phi.value(0.0))


def yukawa(r: Any, dim: int, lam: Any) -> Any:
    """(s r)^(-nu) K_nu(s r) in mpmath numbers."""
    nu, z = mp.mpf(dim) / 2 - 1, mp.sqrt(mp.mpf(lam)) * r
    return z**-nu * mp.besselk(nu, z)


def _potential_instance(rng: np.random.Generator, index: int) -> Instance:
    dim = DIMS[index % len(DIMS)]
    point = rng.standard_normal(dim)
    point *= rng.uniform(0.3, 2.5) / np.linalg.norm(point)
    return {"dim": dim, "lam": rng.uniform(0.3, 4), "point": point}


def _potential_is_eigenfunction(instance: Instance) -> Finding:
    dim, lam, point = int(instance["dim"]), float(instance["lam"]), np.asarray(instance["point"])
    r = float(np.linalg.norm(point))
    radial = lambda x: yukawa(differences.distance(x, 0 * point), dim, lam)  # noqa: E731
    with mp.workdps(differences.DIGITS):
        truth = float(yukawa(mp.mpf(r), dim, lam))
    spread = differences.laplacian(radial, point)
    phi, off_core = LambdaHarmonic(dim, lam), screened(dim, lam)
    library = float(phi.second(r)) + (dim - 1) * float(phi.first(r)) / r
    scale = float(off_core.value(1.0)) / float(phi.value(1.0))
    numbers = {
        "eigenfunction_error": abs(spread / (lam * truth) - 1),
        "value_error": abs(float(phi.value(r)) / truth - 1),
        "laplacian_error": abs(library / (lam * truth) - 1),
        "off_core_error": abs(float(off_core.value(r)) / (scale * truth) - 1),
    }
    return Finding(bool(max(numbers.values()) < 1e-10), numbers)


def _cloud(rng: np.random.Generator, dim: int, units: int) -> Instance:
    points = scattered(rng, UNITS + units, dim, gap=0.25, spread=1.0 if dim > 1 else 2.0)
    if dim == 1:
        # In turn along the line: a unit that others screen from all protons has best weight 0.
        points = np.sort(points, axis=0)
        points = np.concatenate([points[::2], points[1::2]])
    return {
        "lam": rng.uniform(0.5, 2.0),
        "protons": points[:UNITS],
        "charges": charges(rng, UNITS, 0.5),
        "electrons": points[UNITS:],
    }


def _cloud_instance(rng: np.random.Generator, index: int) -> Instance:
    return _cloud(rng, (1, 3)[index % 2] if index < 10 else (1, 2, 3, 5, 7)[index % 5], UNITS)


def _one_unit(instance: Instance) -> Finding:
    loss, student, lam, own = loss_of(instance)
    best, _ = loss.refit(student)
    dim = student.dim
    expected = -2 * lam * own * np.asarray(best.weights) ** 2
    matrix, errors, eigenvalues = np.asarray(loss.hessian(best)), [], []
    for unit in range(UNITS):
        at = slice(unit * dim, (unit + 1) * dim)
        errors.append(abs(np.trace(matrix[at, at]) / expected[unit] - 1))
        eigenvalues.append(np.linalg.eigvalsh(matrix[at, at])[0] / (expected[unit] / dim))
    numbers = {
        "laplacian_error": float(np.max(np.abs(np.asarray(loss.laplacian(best)) / expected - 1))),
        "trace_error": float(max(errors)),
        "weight_gradient": weight_gradient(loss, best),
        "eigenvalue_over_bound": float(min(eigenvalues)),
        "smallest_weight": float(np.min(np.abs(best.weights))),
    }
    if numbers["smallest_weight"] < ZERO:
        return Finding(None, numbers, "a best weight is 0")
    exact = max(numbers["laplacian_error"], numbers["trace_error"]) < 1e-6
    best_weights = numbers["weight_gradient"] < 1e-10
    return Finding(
        bool(bool(exact and best_weights and numbers["eigenvalue_over_bound"] > 1 - 1e-6)), numbers
    )


def weight_gradient(loss: PopulationLoss, student: Student) -> float:
    """The largest |sum_j c_j Phi(theta_i, theta_j) - C(theta_i)|, relative to its terms."""
    places = np.asarray(student.positions)
    others = np.concatenate([places, np.asarray(loss.teacher.positions)])
    amounts = np.concatenate([np.asarray(student.weights), -np.asarray(loss.teacher.weights)])
    terms = np.asarray(loss.teacher.potential.value(distances(places, others))) * amounts
    return float(np.max(np.abs(np.sum(terms, axis=1)) / np.sum(np.abs(terms), axis=1)))


def _group_instance(rng: np.random.Generator, index: int) -> Instance:
    instance = _cloud_instance(rng, index)
    electrons = np.array(instance["electrons"])
    electrons[1] = electrons[0]
    return {**instance, "electrons": electrons, "share": rng.uniform(-2, 2)}


def _group(instance: Instance) -> Finding:
    """Two units in one place, their best common weight split unevenly, among others."""
    loss, student, lam, own = loss_of(instance)
    places, share = np.asarray(student.positions), float(instance["share"])
    apart = np.concatenate([places[:1] + 7.0, places[1:]])  # the first one is out of the way
    used = np.array([False, True, True])
    best = np.array(loss.refit(Student(apart, np.zeros(UNITS)), jnp.asarray(used))[0].weights)
    total = best[1]
    split = Student(places, np.array([share * total, (1 - share) * total, best[2]]))
    expected = -2 * lam * own * total**2
    numbers = {
        "laplacian_error": abs(float(loss.laplacian(split, [0, 1])) / expected - 1),
        "weight_gradient": weight_gradient(loss, split),
        "net_weight": abs(float(total)),
    }
    if numbers["net_weight"] < ZERO:
        return Finding(None, numbers, "the best common weight is 0")
    good = numbers["laplacian_error"] < 1e-6 and numbers["weight_gradient"] < 1e-10
    return Finding(bool(good), numbers)


def _hunt_instance(rng: np.random.Generator, index: int) -> Instance:
    instance = _cloud_instance(rng, index)
    dim = np.asarray(instance["protons"]).shape[1]
    return {**instance, "starts": 2.0 * rng.standard_normal((STARTS, dim))}


def climbed(loss: PopulationLoss, points: np.ndarray) -> np.ndarray:
    """Where the saving C^2/Phi0 of a free unit leads from each point, uphill on its logarithm."""
    sizes = np.full(len(points), 0.1)
    height, slope = _savings(loss, points)
    for _ in range(CLIMB):
        norms = np.maximum(np.linalg.norm(slope, axis=1), 1e-300)
        trial = points + (sizes / norms)[:, None] * slope
        reached, next_slope = _savings(loss, trial)
        better = reached > height
        sizes = np.where(better, 1.5, 0.5) * sizes
        points = np.where(better[:, None], trial, points)
        slope = np.where(better[:, None], next_slope, slope)
        height = np.where(better, reached, height)
    return points


def _savings(loss: PopulationLoss, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    there = loss.free_units(points)
    return np.asarray(there.log_savings), np.asarray(there.gradients)


def _ends_at_protons(instance: Instance) -> Finding:
    loss, _, _, _ = loss_of(instance)
    protons = np.asarray(instance["protons"])
    ends = climbed(loss, np.asarray(instance["starts"], dtype=float))
    gaps = distances(ends, protons)
    core = RADIUS if protons.shape[1] > 1 else 1e-6
    numbers = {
        "largest_distance": float(np.max(np.min(gaps, axis=1))),
        "at_protons": float(np.mean(np.min(gaps, axis=1) <= core)),
        "protons_found": len(set(np.argmin(gaps, axis=1).tolist())),
        "starts": len(ends),
    }
    return Finding(bool(numbers["largest_distance"] <= core), numbers)


def _vacuous_instance(rng: np.random.Generator, index: int) -> Instance:
    dim = (2, 3, 5, 10)[index % 4]
    return {"dim": dim, "lam": rng.uniform(0.3, 3), "alpha": float(index % 3), "beta": 1.0}


def _none_is_bounded(instance: Instance) -> Finding:
    """|Phi| at 10^-60 over |Phi| at 10^-30 and 10^-3; without the K part, Phi(1) over Phi(0)."""
    dim, lam = int(instance["dim"]), float(instance["lam"])
    alpha, beta = float(instance["alpha"]), float(instance["beta"])
    with mp.workdps(80):
        nu, s = mp.mpf(dim) / 2 - 1, mp.sqrt(mp.mpf(lam))

        def phi(r: Any) -> Any:
            regular = (s * r) ** -nu * mp.besseli(nu, s * r)
            return alpha * yukawa(r, dim, lam) + beta * regular

        near, nearer, nearest = (phi(mp.mpf(10) ** -n) for n in (3, 30, 60))
        beyond = float(phi(mp.mpf(1)) / near)
        growth = float(min(nearer / near, nearest / nearer))
    numbers = {"growth_at_0": growth, "value_at_1_over_0": beyond}
    if alpha:
        ours = LambdaHarmonic(dim, lam)
        numbers["library_growth_at_0"] = float(ours.value(1e-12) / ours.value(1e-3))
        return Finding(bool(growth > 1.5 and numbers["library_growth_at_0"] > 1.5), numbers)
    return Finding(bool(beyond > 1), numbers)


def _null_pair_instance(rng: np.random.Generator, index: int) -> Instance:
    instance = _cloud(rng, 1, 1)
    pair = np.repeat(np.asarray(instance["electrons"]), 2, axis=0)
    return {
        **instance,
        "electrons": np.concatenate([pair, np.asarray(instance["protons"])]),
        "weight": rng.uniform(0.5, 1.5),
    }


def _null_pair(instance: Instance) -> Finding:
    """The perfect student, and two opposite units in one place: its loss is 0, and none is less."""
    loss, student, _, _ = loss_of(instance)
    weight, weights = float(instance["weight"]), np.asarray(instance["charges"])
    places = np.asarray(student.positions)
    pair = Student(student.positions, np.concatenate([[weight, -weight], weights]))
    value, slope = loss.value_and_gradient(pair)
    numbers = {
        "loss": abs(float(value)),
        "weight_gradient": float(np.max(np.abs(slope.weights[:2]))),
        "weight": weight,
        "from_protons": float(np.min(distances(places[:1], places[2:]))),
    }
    is_minimum = numbers["loss"] < 1e-12 and numbers["weight_gradient"] < 1e-9
    return Finding(bool(not is_minimum), numbers)


def _descent_instance(rng: np.random.Generator, index: int) -> Instance:
    protons = scattered(rng, UNITS, 1, gap=1.0, spread=3.0)
    return {
        "lam": 1.0,
        "protons": protons,
        "charges": charges(rng, UNITS, 0.5),
        "electrons": protons + rng.uniform(0.05, 0.3, (UNITS, 1)) * rng.choice([-1, 1], (UNITS, 1)),
        "bound": 2.0,
    }


def _at_the_end(instance: Instance, share: float) -> tuple[Descended, float]:
    """Of descent with the step share/(4 C^2 k^2 B), B = sup |Phi''| off the cusp; that step."""
    loss, student, lam, own = loss_of(instance)
    size = share / (4 * float(instance["bound"]) ** 2 * UNITS**2 * lam * own)
    start = Student(student.positions, np.asarray(instance["charges"]))
    return descended(loss, start, np.asarray(instance["protons"]), size), size


def _constant_steps_converge(instance: Instance) -> Finding:
    end, size = _at_the_end(instance, 1.0)
    numbers = {"distance": end.farthest, "distance_over_step": end.farthest / size}
    return Finding(end.farthest < CONVERGED, numbers)


def _within_a_step(instance: Instance) -> Finding:
    (end, size), (closer, half) = (_at_the_end(instance, share) for share in (1.0, 0.5))
    numbers = {
        "distance": end.farthest,
        "distance_over_step": end.farthest / size,
        "distance_at_half": closer.farthest,
        "distance_at_half_over_step": closer.farthest / half,
    }
    good = end.farthest <= end.longest and closer.farthest <= closer.longest
    return Finding(good and closer.farthest < end.farthest, numbers)


LAMBDA_HARMONIC = Claim(
    id="lambda-harmonic",
    title="lambda-harmonic potentials admit no local minimum off the protons",
    sources=Sources(epd="Lemma 3.8, Theorem 3.9", full="Theorem 3.6", itcs="Theorem 11"),
    oracle=EXACT_LOSS,
    definition=NO_SMALLER_NEARBY,
    hypotheses=(
        "exp(-s r) on R^1; above, the almost lambda-harmonic potential with all charges farther "
        "apart than its core (0.1)",
        "the weights of the units concerned are the best ones, and not 0",
        "the units concerned are on no proton, and apart from all other units (or, for Theorem "
        "3.6, in one place together)",
    ),
    statements=(
        Statement(
            name="eigenfunction",
            says="Delta Phi = lambda Phi off r = 0 for (s r)^(-nu) K_nu(s r), which the almost "
            "lambda-harmonic potential equals off its core, up to a factor",
            draw=_potential_instance,
            test=_potential_is_eigenfunction,
            quick=6,
            thorough=36,
        ),
        Statement(
            name="one-unit",
            says="at its best weight a unit that is apart from all charges has Delta_i L = -2 "
            "lambda Phi0 a_i^2 < 0, so an eigenvalue <= -2 lambda Phi0 a_i^2/d (Lemma 3.8)",
            draw=_cloud_instance,
            test=_one_unit,
            quick=4,
        ),
        Statement(
            name="units-in-one-place",
            says="moved together, units in one place have Delta L = -2 lambda Phi0 (sum a_i)^2 "
            "(Theorem 3.6)",
            draw=_group_instance,
            test=_group,
            quick=4,
        ),
        Statement(
            name="ends-at-protons",
            says="one free unit with its best weight climbs C^2 to a proton from every start",
            draw=_hunt_instance,
            test=_ends_at_protons,
            quick=2,
            thorough=20,
        ),
        Statement(
            name="unbounded-above-one-dimension",
            says="for d >= 2 a radial solution of Delta Phi = lambda Phi off 0 is infinite at 0, "
            "or larger elsewhere than at 0: no bounded potential satisfies the hypotheses",
            draw=_vacuous_instance,
            test=_none_is_bounded,
            thorough=24,
        ),
        Statement(
            name="within-a-step",
            says="gradient descent with a constant step ends within its own last step of the "
            "protons, and half the step ends closer",
            draw=_descent_instance,
            test=_within_a_step,
            quick=1,
            thorough=6,
            constants={
                "distance_over_step": "EPD, Theorem 3.9: the error in units of the step size",
            },
        ),
        Statement(
            name="apart-from-some-unit",
            says="no local minimum if theta_i is on no proton and apart from some theta_j, "
            "a_i = a_i* != 0 (Lemma 3.8 as printed; all j are needed)",
            draw=_null_pair_instance,
            test=_null_pair,
            role="printed",
            kind="hypothesis-missing",
            quick=1,
            thorough=5,
        ),
        Statement(
            name="bounded-above-one-dimension",
            says="some bounded potential on R^d, d >= 2, satisfies the hypotheses of EPD's Lemma "
            "3.8 and Theorem 3.9: radial, lambda-harmonic off 0, largest at 0",
            draw=_vacuous_instance,
            test=lambda instance: Finding(
                not _none_is_bounded(instance).holds, _none_is_bounded(instance).numbers
            ),
            role="printed",
            kind="vacuous",
            quick=1,
            thorough=8,
        ),
        Statement(
            name="constant-steps-converge",
            says="Algorithm 1 with the constant step 1/(4 C^2 k^2 B) converges to the global "
            "minimum (Theorem 3.9)",
            draw=_descent_instance,
            test=_constant_steps_converge,
            role="printed",
            kind="statement-refuted",
            quick=1,
            thorough=5,
        ),
    ),
    remarks=(
        'Lemma 3.8\'s "theta_i != theta_j for some j" must be "for all j": two opposite units in '
        "one place, beside a perfect student, are a global minimum.",
        "Above one dimension no bounded potential is lambda-harmonic off coincidence "
        "(mathematics.md, error 14): Theorem 3.6 is tested off the cores of the almost "
        "lambda-harmonic one.",
        "Where Theorem 3.9 has bounded instances (R^1) the potential has a cusp at coincidence, so "
        "no second derivative there, and constant steps jump to and fro across the proton.",
    ),
)
