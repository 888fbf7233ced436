"""One unit among orthonormal protons under Phi = rho^l, l >= 3: all its critical points.

L(a, theta) = a^2 + 2 a C(theta), C = sum_j b_j theta_j^l, theta_j = theta.w_j on S^(d-1). Where a
is not 0, theta lies in the span of a set S of protons, b_j theta_j^(l-2) = t for all j in S, and
a = -t:

    |t| = (sum_S |b_j|^(-2/(l-2)))^(-(l-2)/2),    |theta_j| = |t/b_j|^(1/(l-2)).

For odd l one sign is free (2 points for each S); for even l the b_j of S have one sign and all
signs of theta_j are free (2^|S| points). The Hessian there has the eigenvalues 2, -2 l (l-2) a^2
(|S| - 1 times) and 2 l a^2 (d - |S| times): a minimum for |S| = 1, that is at +-w_j, else a strict
saddle.
Where a = 0 all of C = 0 is critical: a strict saddle if grad C is not 0; directions orthogonal to
all w_j are degenerate, though not minima either, since a = -C gives L = -C^2 < 0 nearby.

The mean of C^2 over the sphere is (A sum b_j^2 + B sum_(i != j) b_i b_j) / (d (d+2) ... (d+2l-2)),
A = (2l-1)!!, B = (l-1)!!^2 for even l, else 0.
"""

from __future__ import annotations

import itertools
import math

import jax.numpy as jnp
import numpy as np
from scipy import optimize

from earnshaw.charges.network import Student, Teacher
from earnshaw.duality.families.hermite import HermiteSum
from earnshaw.energy.empirical import empirical_loss
from earnshaw.energy.population import PopulationLoss, population_loss
from earnshaw.landscape.certificate import certificate
from earnshaw.papers.claims.claim import (
    EXACT_LOSS,
    Claim,
    Finding,
    Instance,
    Sources,
    Statement,
)
from earnshaw.papers.claims.minima._epd_algorithm3 import placed, placed_by_the_library, recovery
from earnshaw.papers.claims.minima._random_points import charges, directions, frame

HIGHEST = 6  # degrees up to this one share compiled code
SAMPLES = 40_000
STEPS = 30_000  # of Algorithm 1 at most


def loss_of(instance: Instance, objective: str = "one-node") -> PopulationLoss:
    """The loss of units among the protons, of which those with b_j = 0 are not there."""
    powers = jnp.eye(HIGHEST + 1)[int(instance["degree"])]
    activation = HermiteSum(powers, "hermite-sum")
    frame, amounts = np.asarray(instance["protons"]), np.asarray(instance["charges"])
    return population_loss(Teacher(frame, amounts, activation, on="sphere"), objective)


def critical_points(amounts: np.ndarray, degree: int) -> list[tuple[np.ndarray, float, int]]:
    """(theta in the frame of the protons, c = -a, |S|) of every critical point with a != 0."""
    found, power = [], 1 / (degree - 2)
    present = np.flatnonzero(amounts)
    for size in range(1, len(present) + 1):
        for chosen in itertools.combinations(present, size):
            b = amounts[list(chosen)]
            t = np.sum(np.abs(b) ** (-2 * power)) ** (-1 / (2 * power))
            lengths = (t / np.abs(b)) ** power
            if degree % 2:
                choices = [(sign * t, sign * np.sign(b)) for sign in (1, -1)]
            elif np.all(b > 0) or np.all(b < 0):
                signs = itertools.product((1, -1), repeat=size)
                choices = [(np.sign(b[0]) * t, np.array(sign)) for sign in signs]
            else:
                choices = []
            for weight, sign in choices:
                theta = np.zeros(len(amounts))
                theta[list(chosen)] = sign * lengths
                found.append((theta, float(weight), size))
    return found


def _frame_instance(rng: np.random.Generator, index: int) -> Instance:
    """d = 4 and k = 4, 3 or 2; later also d = 6."""
    dim = 4 if index < 12 else 6
    amounts = charges(rng, dim, 0.4)
    missing = (0, 1, 2)[index % 3]
    amounts[dim - missing :] = 0.0
    degree = (3, 4, 5, 6)[index % 4]
    return {"degree": degree, "protons": frame(rng, dim), "charges": amounts}


def _every_verdict(instance: Instance) -> Finding:
    amounts, protons = np.asarray(instance["charges"]), np.asarray(instance["protons"])
    degree, loss = int(instance["degree"]), loss_of(instance)
    points, wrong, error, slope = critical_points(amounts, degree), 0, 0.0, 0.0
    for theta, weight, size in points:
        found = certificate(loss, Student((theta @ protons)[None], np.array([weight])))
        curved = 2 * degree * weight**2
        smallest = min(2.0, curved) if size == 1 else -(degree - 2) * curved
        wrong += found.kind != ("minimum" if size == 1 else "strict-saddle")
        error = max(error, abs(found.smallest_eigenvalue / smallest - 1))
        slope = max(slope, found.gradient_norm)
        error = max(error, abs(found.loss + weight**2) / weight**2)
    units = np.count_nonzero(amounts)
    numbers = {
        "critical_points": len(points),
        "minima": sum(size == 1 for _, _, size in points),
        "wrong_verdicts": wrong,
        "eigenvalue_error": error,
        "gradient_norm": slope,
    }
    good = wrong == 0 and error < 1e-9 and slope < 1e-12 and numbers["minima"] == 2 * units
    return Finding(bool(good), numbers)


def _complete(instance: Instance) -> Finding:
    """Newton's method on the Lagrange conditions, from random starts: all it finds is listed."""
    amounts, degree = np.asarray(instance["charges"]), int(instance["degree"])
    listed = np.array([theta for theta, _, _ in critical_points(amounts, degree)])
    rng, seen, found, stray = np.random.default_rng(7), set(), 0, 0.0

    def conditions(x: np.ndarray) -> np.ndarray:
        theta, multiplier = x[:-1], x[-1]
        return np.append(amounts * theta ** (degree - 1) - multiplier * theta, theta @ theta - 1)

    for start in directions(rng, 150, len(amounts)):
        ended = optimize.root(conditions, np.append(start, amounts @ start**degree), tol=1e-13)
        if not ended.success or abs(amounts @ ended.x[:-1] ** degree) < 1e-6:
            continue
        gaps = np.linalg.norm(listed - ended.x[:-1], axis=1)
        stray, found = max(stray, float(np.min(gaps))), found + 1
        seen.add(int(np.argmin(gaps)))
    numbers = {
        "found": found,
        "farthest_from_the_list": stray,
        "listed": len(listed),
        "listed_and_found": len(seen),
    }
    return Finding(found >= 8 and stray < 1e-6, numbers)


def _missing_instance(rng: np.random.Generator, index: int) -> Instance:
    return _frame_instance(rng, (1, 2, 4, 5)[index % 4])


def _orthogonal(instance: Instance) -> Finding:
    """theta orthogonal to all protons, a = 0: degenerate, and L < 0 at a = -C nearby."""
    amounts, protons = np.asarray(instance["charges"]), np.asarray(instance["protons"])
    loss, apart = loss_of(instance), protons[-1]
    found = certificate(loss, Student(apart[None], np.zeros(1)))
    near = math.cos(0.3) * apart + math.sin(0.3) * protons[0]
    best = float(amounts[0]) * math.sin(0.3) ** int(instance["degree"])
    below = float(loss.value_and_gradient(Student(near[None], np.array([best])))[0])
    numbers = {
        "gradient_norm": found.gradient_norm,
        "smallest_eigenvalue": found.smallest_eigenvalue,
        "loss_nearby": below,
        "loss_error": abs(below + best**2),
    }
    flat = found.kind == "degenerate" and abs(found.smallest_eigenvalue) < 1e-12
    return Finding(bool(flat and below < 0 and numbers["loss_error"] < 1e-12), numbers)


def _slope_instance(rng: np.random.Generator, index: int) -> Instance:
    return {
        **_frame_instance(rng, index),
        "theta": directions(rng, 1, 4)[0],
        "weight": float(rng.uniform(0.5, 1.5)),
    }


def _slopes(instance: Instance) -> tuple[float, float, float]:
    """dL/da by differences of the library's L, by the right formula, and as printed."""
    degree, theta = int(instance["degree"]), np.asarray(instance["theta"])
    cosines = np.asarray(instance["protons"]) @ theta
    field, a = float(np.asarray(instance["charges"]) @ cosines**degree), -float(instance["weight"])
    loss = loss_of(instance)
    value = lambda c: float(  # noqa: E731
        loss.value_and_gradient(Student(theta[None], np.array([c])))[0]
    )
    # L is quadratic in a = -c: a central difference of any length is exact.
    return value(-a - 0.5) - value(-a + 0.5), 2 * field + 2 * a, 2 * a * field + 2 * a


def _derivative(instance: Instance) -> Finding:
    exact, ours, _ = _slopes(instance)
    student = Student(np.asarray(instance["theta"])[None], np.array([instance["weight"]]))
    library = -float(loss_of(instance).gradient(student).weights[0])
    numbers = {"error": abs(exact - ours), "library_error": abs(exact - library)}
    return Finding(max(numbers.values()) < 1e-10, numbers)


def _derivative_as_printed(instance: Instance) -> Finding:
    exact, _, printed = _slopes(instance)
    return Finding(abs(exact - printed) < 1e-10, {"error": abs(exact - printed)})


def _minimum_at(instance: Instance, unit: int, sign: float) -> tuple[bool, float]:
    """Whether sign * w_unit is a minimum, and its loss."""
    amount, degree = float(np.asarray(instance["charges"])[unit]), int(instance["degree"])
    place = sign * np.asarray(instance["protons"])[unit]
    student = Student(place[None], np.array([amount * sign**degree]))
    found = certificate(loss_of(instance), student)
    return found.kind == "minimum", found.loss


def _only_at_plus(instance: Instance) -> Finding:
    is_minimum, value = _minimum_at(instance, 0, -1.0)
    return Finding(not is_minimum, {"loss": value})


def _only_the_global(instance: Instance) -> Finding:
    sizes = np.abs(np.asarray(instance["charges"]))
    unit = int(np.argmin(np.where(sizes > 0, sizes, np.inf)))
    is_minimum, value = _minimum_at(instance, unit, 1.0)
    best = -(float(np.max(sizes)) ** 2)
    return Finding(not (is_minimum and value > best + 1e-6), {"loss": value, "global_loss": best})


def _square_instance(rng: np.random.Generator, index: int) -> Instance:
    amounts = np.sort(rng.uniform(0.3, 1, 4))
    return {"degree": 2, "protons": frame(rng, 4), "charges": amounts}


def _squares_too(instance: Instance) -> Finding:
    is_minimum, value = _minimum_at(instance, 0, 1.0)
    return Finding(is_minimum, {"loss": value})


def _descent_instance(rng: np.random.Generator, index: int) -> Instance:
    """40 starts with |C| > 0.02: near C = 0 the descent is too slow to be run to its end."""
    instance = {**_frame_instance(rng, index), "degree": (3, 4)[index % 2]}
    points = directions(rng, 400, 4)
    moving = np.abs(points ** instance["degree"] @ instance["charges"]) > 0.02
    return {**instance, "starts": points[moving][:40]}


def _descended(instance: Instance) -> tuple[np.ndarray, float]:
    """Where Algorithm 1 with the step 1/(4 l^2 C^2 k) leads, in the frame; and |Hessian| over L."""
    amounts, degree = np.asarray(instance["charges"]), int(instance["degree"])
    units, bound = np.count_nonzero(amounts), max(1.0, float(np.max(np.abs(amounts))))
    limit = 4 * degree**2 * bound**2 * units
    theta = np.asarray(instance["starts"])
    a = -(theta**degree) @ amounts
    largest = 0.0
    for step in range(STEPS):
        if np.min(np.max(np.abs(theta), axis=1)) > 1 - 1e-9:
            break
        slope = 2 * a[:, None] * degree * amounts * theta ** (degree - 1)
        if step % 500 == 0:
            curvature = 2 * a[:, None] * degree * (degree - 1) * amounts * theta ** (degree - 2)
            along = np.abs(np.sum(slope * theta, axis=1))
            cross = 2 * np.linalg.norm(degree * amounts * theta ** (degree - 1), axis=1)
            sizes = np.maximum(2, np.max(np.abs(curvature), axis=1) + along) + cross
            largest = max(largest, float(np.max(sizes)))
        a = a - (2 * a + 2 * theta**degree @ amounts) / limit
        theta = theta - (slope - np.sum(slope * theta, axis=1, keepdims=True) * theta) / limit
        theta = theta / np.linalg.norm(theta, axis=1, keepdims=True)
    return theta, largest / limit


def _ends_at_protons(instance: Instance) -> Finding:
    ends, ratio = _descended(instance)
    amounts = np.asarray(instance["charges"])
    sizes = np.abs(ends)
    loss, first = loss_of(instance), np.asarray(instance["protons"])
    student = Student(
        (ends[0] @ first)[None], np.array([amounts @ ends[0] ** int(instance["degree"])])
    )
    best = np.abs(amounts[np.argmax(sizes, axis=1)]) >= np.max(np.abs(amounts)) - 1e-12
    numbers = {
        "farthest": float(np.max(1 - np.max(sizes, axis=1))),
        "at_the_global_minimum": float(np.mean(best)),
        "hessian_over_bound": ratio,
        "library_gradient": float(np.linalg.norm(loss.gradient(student).positions)),
    }
    good = numbers["farthest"] < 1e-6 and ratio <= 1 and numbers["library_gradient"] < 1e-3
    return Finding(bool(good), numbers)


def _ends_at_the_global(instance: Instance) -> Finding:
    numbers = _ends_at_protons(instance).numbers
    return Finding(numbers["at_the_global_minimum"] == 1, numbers)


def _moment_instance(rng: np.random.Generator, index: int) -> Instance:
    instance = _frame_instance(rng, 0)
    amounts = np.abs(np.asarray(instance["charges"])) if index % 2 else instance["charges"]
    return {**instance, "degree": (3, 4, 4, 5, 6)[index % 5], "charges": amounts, "seed": index}


def _even_moment_instance(rng: np.random.Generator, index: int) -> Instance:
    return {**_moment_instance(rng, 1), "degree": (4, 6)[index % 2]}


def _moments(instance: Instance) -> dict[str, float]:
    """The mean of C^2 over the sphere: sampled, by formula, without cross terms, and a bound."""
    amounts, degree = np.asarray(instance["charges"]), int(instance["degree"])
    dim = len(amounts)
    rng = np.random.default_rng(int(instance["seed"]))
    points = directions(rng, SAMPLES, dim)
    squares = np.asarray(loss_of(instance).potential(points)) ** 2
    # E |g|^(2l) of a Gaussian g, by which its moments differ from those of the sphere.
    radial = math.prod(dim + 2 * i for i in range(degree))
    own = math.prod(range(1, 2 * degree, 2)) / radial
    cross = (math.prod(range(1, degree, 2)) ** 2 if degree % 2 == 0 else 0) / radial
    alone, all_ = float(np.sum(amounts**2)), float(np.sum(amounts)) ** 2
    return {
        "mean_square": float(np.mean(squares)),
        "standard_error": float(np.std(squares) / math.sqrt(SAMPLES)),
        "formula": own * alone + cross * (all_ - alone),
        "without_cross_terms": own * alone,
        "lower_bound": (own - cross) * alone,
    }


def _second_moment(instance: Instance) -> Finding:
    numbers = _moments(instance)
    off = abs(numbers["mean_square"] - numbers["formula"]) / numbers["standard_error"]
    numbers["constant"] = numbers["formula"] / numbers["lower_bound"]
    return Finding(bool(off < 5 and numbers["constant"] >= 1 - 1e-12), {**numbers, "sigmas": off})


def _second_moment_as_printed(instance: Instance) -> Finding:
    numbers = _moments(instance)
    off = abs(numbers["mean_square"] - numbers["without_cross_terms"]) / numbers["standard_error"]
    return Finding(off < 5, {**numbers, "sigmas": off})


def _learn_instance(rng: np.random.Generator, index: int) -> Instance:
    instance = _frame_instance(rng, (0, 4, 8, 1)[index % 4])
    amounts = np.sign(np.where(np.asarray(instance["charges"]) < 0, -1, 1)) * rng.uniform(1, 2, 4)
    method = "library" if index in (3, 11, 19) else "host"
    return {**instance, "charges": amounts, "seed": index, "method": method}


def _learned(instance: Instance) -> Finding:
    loss, protons = loss_of(instance, "full"), np.asarray(instance["protons"])
    count, seed = len(protons), int(instance["seed"])
    by_library = instance["method"] == "library"
    student = (
        placed_by_the_library(loss, count, seed) if by_library else placed(loss, count, seed)[0]
    )
    farthest, everyone = recovery(student, protons)
    left = float(loss.value_and_gradient(student)[0] / loss.empty_value())
    numbers = {"farthest": farthest, "relative_loss": left}
    return Finding(bool(everyone and farthest < 1e-6 and left < 1e-6), numbers)


def _sampled_instance(rng: np.random.Generator, index: int) -> Instance:
    dim = (3, 2, 4, 6)[index % 4]
    amounts = rng.choice([-1.0, 1.0], dim) * rng.uniform(1, 2, dim)
    return {"protons": frame(rng, dim), "charges": amounts, "samples": 4000, "seed": index}


def _from_samples(instance: Instance) -> Finding:
    """Algorithm 3 on the mean over samples: loss, gradients and best weights know nothing else."""
    protons, count = np.asarray(instance["protons"]), int(instance["samples"])
    dim, seed = len(protons), int(instance["seed"])
    teacher = Teacher(protons, np.asarray(instance["charges"]), "hermite-3", on="sphere")
    student = placed(empirical_loss(teacher, count, seed=seed), dim, seed, 4, 40).student
    farthest, everyone = recovery(student, protons)
    numbers = {
        "samples_times_square_angle": 2 * farthest * count,
        "angle": math.sqrt(2 * farthest),
        "everyone": float(everyone),
        "dim": dim,
    }
    return Finding(everyone and numbers["samples_times_square_angle"] < 20 * dim**2, numbers)


POLYNOMIAL = Claim(
    id="polynomial-orthonormal",
    title="Polynomial potentials and orthonormal protons: one unit ends at some +-w_j",
    sources=Sources(epd="Theorem 3.10, Theorem 4.5", full="Theorem G.3", itcs="Theorem 30"),
    oracle=f"{EXACT_LOSS}; samples where a statement says so",
    definition="EPD, Definition 3.2, by the Hessian, which decides where a is not 0; else Full's",
    hypotheses=(
        "Phi = rho^l on S^(d-1), l >= 3; w_1 ... w_k orthonormal, k <= d",
        "one unit and its weight move (Full, eq. 4); for Theorem 4.5 all units, one by one",
        "charges of either sign, between 0.4 and 1 (Theorem 4.5: between 1 and 2)",
    ),
    statements=(
        Statement(
            name="every-critical-point",
            says="all critical points with a != 0, enumerated: +-w_j are minima, all others "
            "strict saddles with smallest eigenvalue -2 l (l - 2) a^2",
            draw=_frame_instance,
            test=_every_verdict,
            quick=4,
            thorough=16,
        ),
        Statement(
            name="no-others",
            says="every critical point with a != 0 that Newton's method finds is in that list",
            draw=_frame_instance,
            test=_complete,
            quick=2,
            thorough=12,
        ),
        Statement(
            name="orthogonal-directions",
            says="for k < d a direction orthogonal to all w_j, with a = 0, is critical and "
            "degenerate, no strict saddle; L < 0 nearby, so no minimum",
            draw=_missing_instance,
            test=_orthogonal,
            quick=2,
            thorough=8,
        ),
        Statement(
            name="derivative",
            says="dL/da = 2 sum b_i theta_i^l + 2 a",
            draw=_slope_instance,
            test=_derivative,
            thorough=12,
        ),
        Statement(
            name="descent-ends-at-protons",
            says="Algorithm 1 with the step 1/(4 l^2 C^2 k) ends at some +-w_j from every start "
            "with |C| > 0.02",
            draw=_descent_instance,
            test=_ends_at_protons,
            quick=1,
            thorough=6,
            constants={"hessian_over_bound": "EPD, Theorem 3.10: |Hessian| over 4 l^2 C^2 k"},
        ),
        Statement(
            name="second-moment",
            says="E[C^2] over the sphere has cross terms for even l, and is at least (A - B) sum "
            "b_j^2 / (d (d+2) ... (d+2l-2)) whatever the signs (Theorem 4.5)",
            draw=_moment_instance,
            test=_second_moment,
            thorough=10,
            constants={"lower_bound": "EPD, Theorem 4.5: the 1/poly(d) below E[a^2]"},
        ),
        Statement(
            name="node-by-node",
            says="Algorithm 3 finds all +-w_j, one after the other (Theorem 4.5)",
            draw=_learn_instance,
            test=_learned,
            quick=2,
            thorough=12,
        ),
        Statement(
            name="from-samples",
            says="Algorithm 3 from 4000 samples, l = 3, finds all units; n times the square of the "
            "largest angle is at most 20 d^2: samples of order d^2/eps^2 (Theorem 4.5)",
            draw=_sampled_instance,
            test=_from_samples,
            quick=1,
            thorough=6,
            constants={
                "samples_times_square_angle": "EPD, Theorem 4.5: n eps^2 of n = poly(d, 1/eps)"
            },
        ),
        Statement(
            name="derivative-as-printed",
            says="dL/da = 2 sum a b_i theta_i^l + 2 a (proofs of Theorems 3.10 and G.3; that of "
            "4.5 has it right)",
            draw=_slope_instance,
            test=_derivative_as_printed,
            role="printed",
            kind="misprint",
            quick=1,
            thorough=4,
        ),
        Statement(
            name="only-at-plus-w",
            says="no local minimum except theta = w_j, not -w_j (Theorem G.3 to the letter; Lemma "
            "G.2, beside it, says +-w_j)",
            draw=_frame_instance,
            test=_only_at_plus,
            role="printed",
            kind="misprint",
            quick=1,
            thorough=4,
        ),
        Statement(
            name="only-the-global",
            says="no local minimum except the global one (Theorem 3.10)",
            draw=_frame_instance,
            test=_only_the_global,
            role="printed",
            kind="statement-refuted",
            quick=1,
            thorough=4,
        ),
        Statement(
            name="descent-ends-at-the-global",
            says="Algorithm 1 converges to the global minimum almost surely (Theorem 3.10)",
            draw=_descent_instance,
            test=_ends_at_the_global,
            role="printed",
            kind="statement-refuted",
            quick=1,
            thorough=2,
        ),
        Statement(
            name="second-moment-as-printed",
            says="E[C^2] = sum b_i^2 E[theta_i^(2l)] for every l (proof of Theorem 4.5)",
            draw=_even_moment_instance,
            test=_second_moment_as_printed,
            role="printed",
            kind="proof-mended",
            quick=1,
            thorough=4,
        ),
        Statement(
            name="squares-too",
            says="the same for l = 2: every w_j is a minimum",
            draw=_square_instance,
            test=_squares_too,
            role="beyond",
            quick=1,
            thorough=4,
        ),
    ),
    remarks=(
        "Every +-w_j is a local minimum, with loss -b_j^2; the global ones are those of the "
        "largest |b_j|.",
        "+-w_j is one unit: rho^l is even or odd, and -w_j with the charge (-1)^l a is the same "
        "function. The proof of EPD's Theorem 3.11 drops the sign aloud, Lemma G.2 writes +-w_j. "
        "So w_j for +-w_j is a misprint, here as in sign-circle, and refutes nothing.",
        "Protons with charge 0 stand for missing ones (k < d).",
        "From directions nearly orthogonal to all w_j (k < d) Algorithm 1 leaves its start at a "
        "rate of |C|: from |C| = 6e-6 it has not moved after 200,000 steps.",
        "Algorithm 3 is run from the objective's own pieces; in thorough runs also the library's.",
    ),
)
