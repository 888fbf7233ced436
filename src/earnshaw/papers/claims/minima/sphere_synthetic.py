"""The almost 1-harmonic potential on the sphere: what EPD's Theorems 4.4 and D.1 hold of it.

f = sum c_n x^n, c_0 = 1, c_1 = 0, c_(n+2) = c_n (n (n - 1) + (d - 1) n + 1)/((n + 2)(n + 1)), cut
at an even degree N, has

    Delta f = f - c_N k_N x^N,    k_N = N^2 + (d - 2) N + 1,

and Phi = f/f(1). With kappa = c_N k_N/f(1), at every point (a, theta)

    Delta_i L = a_i dL/da_i - 2 a_i^2 - 2 a_i kappa (sum_j b_j (theta_i.w_j)^N + sum_(j != i) a_j
                (theta_i.theta_j)^N).

If |dL/da_i| <= eps^2/(4 d), all cosines are at most 1 - eps, |a_i| >= eps, and N is such that
2 kappa (|a|_1 + |b|_1) (1 - eps)^N <= eps/2, this is below -eps^2, so the point is not in
M_(eps^2/(4 d)): the theorem's first half. Its second half promises recovery by Algorithm 3, or a
mean of C^2 below eps over the sphere. f(1) grows faster than every power of d, so Phi is tiny away
from its protons and the mean of C^2 is below eps before anything is learned, already for d = 5.

Theorem D.1: a_i*^2 = C^2 grows in expectation under noisy steps, since grad_i L = -grad C^2.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
from scipy import special

from earnshaw.charges.network import Student, Teacher
from earnshaw.duality.families.sphere_synthetic import SphereSynthetic
from earnshaw.energy.population import PopulationLoss, population_loss
from earnshaw.papers.claims.claim import (
    EXACT_LOSS,
    Claim,
    Finding,
    Instance,
    Sources,
    Statement,
)
from earnshaw.papers.claims.minima._epd_algorithm3 import (
    STARTS,
    placed,
    placed_by_the_library,
    recovery,
)
from earnshaw.papers.claims.minima._random_points import directions
from earnshaw.papers.claims.minima._synthetic_coefficients import (
    SAMPLES_NEEDED,
    even_coefficients,
    leftover,
    needed_degree,
)

DIM, DEGREE, EPS = 3, 40, 0.2
PROTONS, ELECTRONS = 3, 2
NOISY_STEP = 1e-4  # alpha, for the mean change of C^2 in one step
RECOVERED = 0.01  # 1 - |cos| of a unit and its proton: far below eps, which a lucky start can meet


def _recurrence_instance(rng: np.random.Generator, index: int) -> Instance:
    dim, degree = ((3, 40), (10, 20), (50, 60), (5, 8), (2, 12), (100, 60))[index % 6]
    return {"dim": dim, "degree": degree, "rho": rng.uniform(-1, 1, 8)}


def _laplacian_coefficients(c: list[Fraction], dim: int) -> list[Fraction]:
    """Of x^0, x^2, ... in (1 - x^2) f'' - (d - 1) x f'."""
    above = [*c[1:], Fraction(0)]
    return [
        (n + 2) * (n + 1) * above[n // 2] - (n * (n - 1) + (dim - 1) * n) * c[n // 2]
        for n in range(0, 2 * len(c), 2)
    ]


def _eigenfunction(instance: Instance) -> Finding:
    dim, degree = int(instance["dim"]), int(instance["degree"])
    c = even_coefficients(dim, degree)
    k = degree**2 + (dim - 2) * degree + 1
    exact = _laplacian_coefficients(c, dim)
    expected = [*c[:-1], c[-1] - c[-1] * k]
    phi, total = SphereSynthetic(dim, degree), sum(c)
    rho = np.asarray(instance["rho"])
    truth = np.polynomial.polynomial.polyval(rho**2, [float(e / total) for e in exact])
    library = np.asarray(phi.laplacian(rho))
    split = np.asarray(phi.value(rho)) + np.asarray(phi.defect(rho))
    numbers = {
        "coefficients_off": sum(a != b for a, b in zip(exact, expected, strict=True)),
        "library_error": float(np.max(np.abs(library - truth)) / np.max(np.abs(truth))),
        "defect_error": float(np.max(np.abs(split - truth)) / np.max(np.abs(truth))),
        "smallest_coefficient": float(min(c)),
    }
    close = max(numbers["library_error"], numbers["defect_error"]) < 1e-9
    return Finding(bool(exact == expected and close and min(c) > 0), numbers)


def _eigenfunction_as_printed(instance: Instance) -> Finding:
    dim, degree = int(instance["dim"]), int(instance["degree"])
    c = even_coefficients(dim, degree)
    exact, k = _laplacian_coefficients(c, dim), degree**2 + (dim - 2) * degree + 1
    last = c[-1] + k
    numbers = {"last_coefficient": float(exact[-1]), "as_printed": float(last)}
    return Finding(exact == [*c[:-1], last], numbers)


def _growth_instance(rng: np.random.Generator, index: int) -> Instance:
    return {"eps": (0.1, 0.2, 0.3)[index % 3], "dims": [10, 20, 40, 80, 160, 320]}


def _exponents(instance: Instance) -> list[float]:
    """log2 of f(1) at 2 d over f(1) at d, N = 2 ceil(log(d)/(2 eps)): constant for a power of d."""
    eps, logs = float(instance["eps"]), []
    for dim in instance["dims"]:
        degree = 2 * math.ceil(math.log(dim) / (2 * eps))
        logs.append(math.log(sum(even_coefficients(int(dim), degree))))
    return [float(b - a) / math.log(2) for a, b in itertools.pairwise(logs)]


def _grows_faster(instance: Instance) -> Finding:
    exponents = _exponents(instance)
    rising = all(b > a for a, b in itertools.pairwise(exponents))
    reference = float(sum(even_coefficients(50, 60)))
    numbers = {"first_exponent": exponents[0], "last_exponent": exponents[-1]}
    numbers["at_d_50_N_60"] = reference
    return Finding(rising and 4.9e12 < reference < 5.1e12, numbers)


def _bounded_by_a_power(instance: Instance) -> Finding:
    """Whether the power that fits from d = 10 to 20 still bounds the growth later."""
    exponents = _exponents(instance)
    numbers = {"first_exponent": exponents[0], "last_exponent": exponents[-1]}
    return Finding(max(exponents) <= exponents[0], numbers)


def loss_of(instance: Instance, objective: str = "full") -> tuple[PopulationLoss, Student]:
    """The loss, and the student."""
    protons, amounts = np.asarray(instance["protons"]), np.asarray(instance["charges"])
    phi = SphereSynthetic(protons.shape[1], int(instance["degree"]))
    electrons = np.asarray(instance.get("electrons", protons[:1]))
    weights = np.asarray(instance.get("weights", np.zeros(len(electrons))))
    teacher = Teacher(protons, amounts, phi, on="sphere")
    return population_loss(teacher, objective), Student(electrons, weights)


def _apart(rng: np.random.Generator, count: int, dim: int, largest: float) -> np.ndarray:
    """Directions with all |cosines| at most `largest`."""
    for _ in range(10_000):
        points = directions(rng, count, dim)
        if np.max(np.abs(points @ points.T - np.eye(count))) <= largest:
            return points
    raise RuntimeError(f"no room for {count} directions in dimension {dim}")


def _cloud_instance(rng: np.random.Generator, index: int) -> Instance:
    """Directions more than eps apart, charges so large that best weights exceed eps."""
    dim, degree = (DIM, DEGREE) if index < 8 else ((4, 46), (5, 60))[index % 2]
    points = _apart(rng, PROTONS + ELECTRONS, dim, 1 - EPS)
    return {
        "degree": degree,
        "protons": points[:PROTONS],
        "charges": rng.choice([-1.0, 1.0], PROTONS) * rng.uniform(1.0, 3.0, PROTONS) * (dim - 2),
        "electrons": points[PROTONS:],
        "weights": rng.uniform(-2, 2, ELECTRONS),
    }


def _strict_instance(rng: np.random.Generator, index: int) -> Instance:
    """The same with best weights of which one exceeds eps, and a degree that is enough."""
    while True:
        instance = _cloud_instance(rng, index)
        places, protons = instance["electrons"], instance["protons"]
        degree, dim = instance["degree"], places.shape[1]
        c = even_coefficients(dim, degree)
        table = [float(one / sum(c)) for one in c]
        gram, pull = (
            np.polynomial.polynomial.polyval((places @ others.T) ** 2, table)
            for others in (places, protons)
        )
        best = np.linalg.solve(gram, pull @ instance["charges"])
        total = float(np.sum(np.abs(best)) + np.sum(np.abs(instance["charges"])))
        if np.max(np.abs(best)) > 1.01 * EPS and needed_degree(dim, EPS, total) <= degree:
            return {**instance, "weights": best}


def _expected_laplacian(instance: Instance, student: Student, slope: np.ndarray) -> np.ndarray:
    """Delta_i L by the identity, for each unit; `slope` is dL/dc = -dL/da."""
    protons, charges = np.asarray(instance["protons"]), np.asarray(instance["charges"])
    places, a = np.asarray(student.positions), -np.asarray(student.weights)
    degree, dim = int(instance["degree"]), protons.shape[1]
    cosines = places @ places.T - np.eye(len(places))
    powers = (places @ protons.T) ** degree @ charges + cosines**degree @ a
    return -a * slope - 2 * a**2 - 2 * a * float(leftover(dim, degree)) * powers


def _identity(instance: Instance) -> Finding:
    loss, student = loss_of(instance)
    slope = np.asarray(loss.gradient(student).weights)
    expected = _expected_laplacian(instance, student, slope)
    library = np.asarray(loss.laplacian(student))
    matrix, free = np.asarray(loss.hessian(student)), student.dim - 1
    traces = [np.trace(matrix[i * free :, i * free :][:free, :free]) for i in range(student.units)]
    size = float(np.max(np.abs(expected)))
    numbers = {
        "laplacian_error": float(np.max(np.abs(library - expected))) / size,
        "trace_error": float(np.max(np.abs(np.array(traces) - expected))) / size,
    }
    return Finding(max(numbers.values()) < 1e-9, numbers)


def _not_in_m_eps(instance: Instance) -> Finding:
    """At the best weights of all units, one of which is at least eps."""
    loss, student = loss_of(instance)
    best, _ = loss.refit(student)
    sizes, dim = np.abs(np.asarray(best.weights)), student.dim
    total = float(np.sum(sizes) + np.sum(np.abs(np.asarray(instance["charges"]))))
    degree = int(instance["degree"])
    smallest = float(np.linalg.eigvalsh(np.asarray(loss.hessian(best)))[0])
    needed = needed_degree(dim, EPS, total)
    numbers = {
        "smallest_eigenvalue": smallest,
        "eigenvalue_over_threshold": smallest / (-(EPS**2) / (4 * dim)),
        "largest_weight": float(np.max(sizes)),
        "needed_degree": needed,
        "degree_constant": needed * EPS / math.log(dim),
        "weight_gradient": float(np.max(np.abs(np.asarray(loss.gradient(best).weights)))),
    }
    if numbers["largest_weight"] < EPS or needed > degree:
        return Finding(None, numbers, "the instance does not satisfy the hypotheses")
    return Finding(smallest < -(EPS**2) / (4 * dim), numbers)


def _learn_instance(rng: np.random.Generator, index: int) -> Instance:
    dim, degree = (DIM, DEGREE) if index % 3 < 2 else (5, 40)
    return {
        "degree": degree,
        "protons": _apart(rng, PROTONS, dim, 0.7),
        "charges": rng.choice([-1.0, 1.0], PROTONS) * rng.uniform(1.0, 2.0, PROTONS),
        "method": "library" if index in (4, 13) else "host",
        "seed": index,
    }


def _one_of_two(instance: Instance) -> Finding:
    loss, _ = loss_of(instance)
    protons, seed = np.asarray(instance["protons"]), int(instance["seed"])
    result = placed(loss, PROTONS, seed)
    by_library = instance["method"] == "library"
    student = placed_by_the_library(loss, PROTONS, seed) if by_library else result.student
    farthest, everyone = recovery(student, protons)
    numbers = {
        "recovered": float(everyone and farthest < RECOVERED),
        "escaped_at_start": float(result.mean_savings[0] < EPS),
        "escaped_later": float(min(result.mean_savings) < EPS),
        "farthest": farthest,
        "mean_square_at_start": result.mean_savings[0],
        "relative_loss": float(loss.value_and_gradient(student)[0] / loss.empty_value()),
    }
    return Finding(bool(numbers["recovered"] or numbers["escaped_at_start"]), numbers)


def _trivial_instance(rng: np.random.Generator, index: int) -> Instance:
    dim = (5, 10, 30, 8, 20, 50)[index % 6]
    units = (3, 5)[index % 2]
    return {"dim": dim, "charges": rng.uniform(0.5, 1, units), "eps": EPS}


def _nothing_learned(instance: Instance) -> Finding:
    """E[C^2] <= (sum |b_j|)^2 E[Phi^2], of no units at all; E[Phi^2] by Gauss-Jacobi."""
    dim, eps = int(instance["dim"]), float(instance["eps"])
    total = float(np.sum(np.abs(np.asarray(instance["charges"]))))
    degree = needed_degree(dim, eps, 2 * total)
    nodes, mass = special.roots_jacobi(degree + 2, (dim - 3) / 2, (dim - 3) / 2)
    values = np.asarray(SphereSynthetic(dim, degree).value(nodes))
    square = float(mass @ values**2 / np.sum(mass))
    numbers = {
        "mean_square": total**2 * square,
        "mean_square_over_eps": total**2 * square / eps,
        "degree": degree,
        "degree_constant": degree * eps / math.log(dim),
    }
    return Finding(numbers["mean_square_over_eps"] < 1, numbers)


def _walk_instance(rng: np.random.Generator, index: int) -> Instance:
    return {
        "degree": DEGREE,
        "protons": _apart(rng, PROTONS, DIM, 0.7),
        "charges": rng.choice([-1.0, 1.0], PROTONS) * rng.uniform(1.0, 2.0, PROTONS),
        "start": directions(rng, 1, DIM)[0],
        "seed": index,
    }


def _drift(instance: Instance, step: float) -> dict[str, float]:
    """The mean change of C^2 in one noisy step from the start, exactly over the circle of noise."""
    loss, _ = loss_of(instance)
    here = np.asarray(instance["start"])
    axes = np.linalg.svd(here[None])[2][1:]
    turns = 2 * math.pi * np.arange(STARTS) / STARTS
    noise = np.stack([np.cos(turns), np.sin(turns)], axis=1) @ axes
    there = loss.free_units(np.repeat(here[None], STARTS, axis=0))
    square = math.exp(float(there.log_savings[0]))
    rise = square * np.asarray(there.gradients[0])  # of C^2
    unit = Student(here[None], np.asarray(there.weights[:1]))
    slope = np.asarray(population_loss(loss.teacher, "one-node").gradient(unit).positions[0])
    ahead = here - step * (slope + noise)
    ahead /= np.linalg.norm(ahead, axis=1, keepdims=True)
    reached = np.exp(np.asarray(loss.free_units(ahead).log_savings))
    return {
        "drift": float(np.mean(reached) - square),
        "first_order": step * float(rise @ rise),
        "gradient_error": float(np.linalg.norm(slope + rise) / np.linalg.norm(rise)),
        "charge_square": square,
    }


def _grows_in_the_mean(instance: Instance) -> Finding:
    coarse, fine = _drift(instance, NOISY_STEP), _drift(instance, NOISY_STEP / 2)
    second = (coarse["first_order"] - coarse["drift"]) / NOISY_STEP**2
    numbers = {
        "drift_over_first_order": coarse["drift"] / coarse["first_order"],
        "at_half_the_step": fine["drift"] / fine["first_order"],
        "gradient_error": coarse["gradient_error"],
        "second_order": second,
    }
    # What is not of first order in the step is of second: it halves twice.
    again = (fine["first_order"] - fine["drift"]) / (NOISY_STEP / 2) ** 2
    settled = abs(again - second) <= 0.1 * abs(second) + 1e-3
    return Finding(bool(numbers["gradient_error"] < 1e-9 and settled), numbers)


def _shrinks_in_the_mean(instance: Instance) -> Finding:
    numbers = _drift(instance, NOISY_STEP)
    return Finding(numbers["drift"] <= 0, numbers)


def _charge_stays(instance: Instance) -> Finding:
    """The least C^2 in noisy steps from (dL/da)^2 = 4 C^2 >= eps/2, eps the mean of C^2."""
    loss, _ = loss_of(instance)
    rng, step = np.random.default_rng(int(instance["seed"])), 5e-3
    pool = directions(rng, 8 * STARTS, DIM)
    squares = np.concatenate([_square(loss, part)[0] for part in np.split(pool, 8)])
    eps = float(np.mean(squares))
    good = pool[4 * squares >= eps / 2]
    if len(good) < STARTS:
        return Finding(None, {"eps": eps}, "too few starts")
    points = good[:STARTS]
    least = np.full(STARTS, math.inf)
    for _ in range(300):
        square, rise = _square(loss, points)
        least = np.minimum(least, square)
        noise = directions(rng, STARTS, DIM)
        noise -= np.sum(noise * points, axis=1, keepdims=True) * points
        noise /= np.linalg.norm(noise, axis=1, keepdims=True)
        points = points + step * (rise - noise)
        points /= np.linalg.norm(points, axis=1, keepdims=True)
    last, _ = _square(loss, points)
    numbers = {
        "eps": eps,
        "least_over_eps": float(np.min(least)) / eps,
        "last_over_eps": float(np.min(last)) / eps,
    }
    return Finding(numbers["least_over_eps"] > 0.02 and numbers["last_over_eps"] > 0.125, numbers)


def _square(loss: PopulationLoss, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """C^2 at points (STARTS, d), and its gradient."""
    there = loss.free_units(points)
    square = np.exp(np.asarray(there.log_savings))
    return square, square[:, None] * np.asarray(there.gradients)


SPHERE_SYNTHETIC = Claim(
    id="sphere-synthetic",
    title="The almost 1-harmonic potential on the sphere, learned node by node",
    sources=Sources(epd="Theorem 4.4, Theorem D.1"),
    oracle=EXACT_LOSS,
    definition="M_eps: a small gradient and no eigenvalue below -eps (EPD, Section 4; L is smooth)",
    hypotheses=(
        f"Phi = f/f(1) on S^(d-1); mostly d = {DIM}, N = {DEGREE}, eps = {EPS}",
        "strict points: best weights, one of them >= eps, all cosines <= 1 - eps, N as needed",
        "Theorem D.1: one unit with its best charge, starts with (dL/da)^2 >= eps/2, eps = E[C^2]",
    ),
    statements=(
        Statement(
            name="almost-eigenfunction",
            says="Delta f = f - c_N k_N x^N, k_N = N^2 + (d - 2) N + 1, exactly; all c_n >= 0",
            draw=_recurrence_instance,
            test=_eigenfunction,
            thorough=6,
        ),
        Statement(
            name="not-polynomial",
            says="f(1), N = 2 ceil(log(d)/(2 eps)), outgrows every power of d: its exponent from d "
            "to 2 d rises with d",
            draw=_growth_instance,
            test=_grows_faster,
            constants={"last_exponent": "EPD, Theorem 4.4: the exponent of poly(d) at d = 160"},
        ),
        Statement(
            name="laplacian-of-the-loss",
            says="Delta_i L = a_i dL/da_i - 2 a_i^2 - 2 a_i kappa (sum b_j rho^N + sum a_j rho^N)",
            draw=_cloud_instance,
            test=_identity,
            quick=2,
            thorough=16,
        ),
        Statement(
            name="strict-points",
            says="at best weights, a unit with |a_i| >= eps and all cosines <= 1 - eps makes the "
            "smallest eigenvalue less than -eps^2/(4 d)",
            draw=_strict_instance,
            test=_not_in_m_eps,
            quick=2,
            thorough=16,
            constants={"degree_constant": "EPD, Theorem 4.4: the C of N = C log(d)/eps"},
        ),
        Statement(
            name="one-of-two",
            says="Algorithm 3 recovers all units (1 - |cos| < 0.01), or the mean of C^2 is below "
            "eps before any is placed",
            draw=_learn_instance,
            test=_one_of_two,
            quick=2,
            thorough=15,
        ),
        Statement(
            name="escape-clause-at-the-start",
            says="for d >= 5, N as needed and charges of order 1, the mean of C^2 is below eps "
            "before any unit is placed: the second alternative holds trivially",
            draw=_trivial_instance,
            test=_nothing_learned,
            thorough=6,
            constants={"degree_constant": "EPD, Theorem 4.4: the C of N = C log(d)/eps"},
        ),
        Statement(
            name="submartingale",
            says="grad_i L = -grad C^2, and the mean change of a_i*^2 = C^2 in a noisy step alpha "
            "is alpha |grad C^2|^2 + O(alpha^2) (Theorem D.1)",
            draw=_walk_instance,
            test=_grows_in_the_mean,
            thorough=12,
            constants={"second_order": "EPD, Theorem D.1: minus the O(alpha^2) over alpha^2"},
        ),
        Statement(
            name="charge-stays",
            says="from (dL/da)^2 >= eps/2, eps = E[C^2], a_i*^2 stays of the order of eps",
            draw=_walk_instance,
            test=_charge_stays,
            quick=2,
            thorough=12,
            constants={"least_over_eps": "EPD, Theorem D.1: the constant of a_i^2 = Omega(eps)"},
        ),
        SAMPLES_NEEDED,
        Statement(
            name="promises-something",
            says="for d >= 5 and charges of order 1 the second alternative, E[C^2] < eps, does not "
            "hold before any unit is placed, so the theorem promises recovery (Theorem 4.4, "
            "Phi(1) = 1)",
            draw=_trivial_instance,
            test=lambda instance: Finding(
                not _nothing_learned(instance).holds, _nothing_learned(instance).numbers
            ),
            role="printed",
            kind="vacuous",
            quick=1,
            thorough=6,
        ),
        Statement(
            name="eigenfunction-as-printed",
            says="Delta f = f + k_N x^N (proof of Theorem 4.4)",
            draw=_recurrence_instance,
            test=_eigenfunction_as_printed,
            role="printed",
            kind="proof-mended",
            quick=1,
            thorough=3,
        ),
        Statement(
            name="polynomial-as-printed",
            says="f(1) is bounded by a power of d for N = O(log(d)/eps): that of d = 10 to 20 "
            "(proof of Theorem 4.4)",
            draw=_growth_instance,
            test=_bounded_by_a_power,
            role="printed",
            kind="proof-mended",
            quick=1,
        ),
        Statement(
            name="supermartingale-as-printed",
            says="(a_i*)^2 is a supermartingale under the steps of Algorithm 3 (proof of "
            "Theorem D.1)",
            draw=_walk_instance,
            test=_shrinks_in_the_mean,
            role="printed",
            kind="proof-mended",
            thorough=6,
        ),
    ),
    remarks=(
        "Which alternative of Theorem 4.4 occurs is measured: for d = 3 all units are recovered "
        "(though the escape clause holds for the last ones too); from d = 5 on the clause holds "
        "from the start, and the theorem promises nothing (they are recovered all the same).",
        "The papers' f is not normalised; normalised by f(1), Phi(1) = 1.",
        "No run from samples: at d = 3, eps = 0.2 the degree needed is 40 and more, and a single "
        "value of Phi takes the samples that samples-needed counts.",
    ),
)
