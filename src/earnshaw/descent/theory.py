"""Step sizes from the theory: bounds of the derivatives of L, and what the descent lemmas promise.

Lemmas D.1 and D.2 (Full) need B1 >= |grad L|, B2 >= |Hessian| and a Lipschitz constant B3 of the
Hessian. For charges these follow from suprema over all pairs r >= radius of one potential phi,

    P0 = |phi|,   P1 = |grad phi|,   P2 = |Hessian phi|,   P3 = |third derivative of phi|,

by the triangle inequality over pairs, with |c_i| <= C_i. The derivatives of L have blocks, one for
each position and weight; an operator is bounded by the spectral norm of the matrix of the norms of
its blocks, a trilinear form by that of the matrix of the norms of its rows. On the sphere all is
Riemannian, and a step adds what projection bends: with a = |step|, the point moves by atan(a t).

The bounds hold while all pairs of units (of the student; of student and teacher) are at least
`radius` apart and all weights at most `weights`: `Bounds.hold_at` says whether that is so. Outside
cores everything is smooth, inside it is not (mathematics.md, "Cusps").
"""

from __future__ import annotations

import dataclasses
import math

import jax.numpy as jnp
import numpy as np
from scipy.spatial.distance import cdist

from earnshaw.charges.manifolds import Sphere
from earnshaw.charges.network import Student, Teacher
from earnshaw.descent._suprema import ALLOWED, Suprema, exact_teacher, suprema_of
from earnshaw.descent.steps import ROUNDING, Steps
from earnshaw.duality.potential import Zonal
from earnshaw.energy.objective import Objective
from earnshaw.energy.population import population_loss
from earnshaw.errors import EarnshawError
from earnshaw.limits import check_real

# The largest second derivative of atan is 3 sqrt(3) / 8 < 0.65, the largest third one 2.
BEND, TWIST = 0.65, 2.0


@dataclasses.dataclass(frozen=True)
class Bounds:
    """B1 >= |grad L|, B2 >= |Hessian|, B3 >= its Lipschitz constant, where the terms below hold.

    `radius`: how far apart pairs of units are at least; on the sphere, with a radius, also from
    each other's antipodes. `weights`: the largest |c_i|. `loss` is L(start), and `gap` at least
    L(start) - min L.
    """

    gradient: float
    hessian: float
    third: float
    radius: float
    weights: float
    loss: float
    gap: float
    curved: bool

    @property
    def along_steps(self) -> tuple[float, float]:
        """Bounds of the second and third derivative of t -> L(Pi(x + t v)), |v| = 1."""
        if not self.curved:
            return self.hessian, self.third
        return (
            self.hessian + BEND * self.gradient,
            self.third + 3 * BEND * self.hessian + TWIST * self.gradient,
        )

    def describe(self) -> str:
        """One line for people."""
        return (
            f"bounds outside radius {self.radius:g}, weights up to {self.weights:.3g}: gradient "
            f"B1 = {self.gradient:.3g}, Hessian B2 = {self.hessian:.3g}, its change B3 = "
            f"{self.third:.3g}"
        )

    def hold_at(self, objective: Objective, student: Student) -> bool:
        """Whether a student is where the bounds hold."""
        x, w = np.asarray(student.positions), np.asarray(exact_teacher(objective).positions)
        if np.max(np.abs(student.weights), initial=0.0) > self.weights * (1 + ROUNDING):
            return False
        # Every student unit from all others, of both networks.
        itself = np.eye(len(x), len(w) + len(x), len(w), dtype=bool)
        sides = (1, -1) if self.curved else (1,)
        apart = [cdist(x, side * np.concatenate([w, x]))[~itself] for side in sides]
        return bool(np.min(apart, initial=math.inf) >= self.radius)


@dataclasses.dataclass(frozen=True)
class TheorySteps:
    """A step size, the decrease of L an iteration that it guarantees, and how many that implies."""

    alpha: float
    decrease: float
    iterations: float
    rounding: float  # of the loss at the start
    rule: str

    def steps(self) -> Steps:
        """Constant steps of this size."""
        return Steps(size=jnp.asarray(self.alpha))

    def describe(self) -> str:
        """One line for people."""
        return (
            f"theory steps of {self.alpha:.3g} = {self.rule} guarantee a decrease of "
            f"{self.decrease:.2g} an iteration: at most {self.iterations:.2g} iterations"
        )

    def check(self) -> None:
        """Refuse steps whose guaranteed decrease cannot be seen in the loss."""
        if self.decrease < self.rounding:
            raise EarnshawError(
                f"theory steps guarantee a decrease of {self.decrease:.2g} an iteration, below "
                f"rounding of the loss {self.rounding:.2g}; it would take {self.iterations:.2g} "
                f"iterations; {ALLOWED}"
            )


def theory_steps(
    bounds: Bounds, eta: float, gamma: float | None = None, gap: float | None = None
) -> TheorySteps:
    """The step of SecondGD, min(1/B2, 1/B3), or without `gamma` of gradient descent alone, 1/B2.

    Every iteration outside M (|grad L| >= eta, or a curvature below -gamma) lowers L by at least
    min(alpha eta^2/2, alpha^2 gamma^3/3), so there are at most gap/decrease of them (Full, proof of
    Theorem 4.1, with the corrected decrease).
    """
    eta = check_real("eta", eta, 0.0)
    gap = bounds.gap if gap is None else gap
    second, third = bounds.along_steps
    alpha = 1 / max(second, 1e-300)
    decrease, rule = alpha * eta**2 / 2, "1/B2"
    if gamma is not None:
        gamma = check_real("gamma", gamma, 0.0)
        alpha, rule = min(alpha, 1 / max(third, 1e-300)), "min(1/B2, 1/B3)"
        decrease = min(alpha * eta**2 / 2, alpha**2 * gamma**3 / 3)
    iterations = gap / decrease if decrease > gap / 1e300 else math.inf
    return TheorySteps(alpha, decrease, iterations, ROUNDING * abs(bounds.loss), rule)


def plan(
    objective: Objective, start: Student, eta: float, gamma: float | None = None
) -> tuple[TheorySteps, tuple[str, str]]:
    """The theory's steps from a start on, and what to say of them; refused below rounding."""
    bounds = theory_bounds(objective, start)
    steps = theory_steps(bounds, eta, gamma)
    try:
        steps.check()
    except EarnshawError as error:
        raise EarnshawError(f"{bounds.describe()}: {error}") from None
    return steps, (bounds.describe(), steps.describe())


def paper_tolerance(objective: Objective, student: Student, *, simultaneous: bool = True) -> float:
    """The papers' eta = gamma = delta^2/(2 k^3 d), delta = sqrt(L(0)) - sqrt(L(start)).

    Full, Lemma 4.4 and Theorem 4.1, for all units at once; delta^2/(2 d) for one node alone (Full,
    Lemmas E.2 and E.5). k is the larger number of units, of student and teacher.
    """
    nothing = Student(student.positions, jnp.zeros_like(student.weights))
    before, after = float(objective.value(nothing)), float(objective.value(student))
    if not 0 <= after < before:
        raise EarnshawError(
            f"the start has loss {after:.6g}, that without a student is {before:.6g}; "
            "allowed: starts of less, e.g. with optimal weights"
        )
    delta = (before - after) / (math.sqrt(before) + math.sqrt(after))
    units = max(student.units, exact_teacher(objective).units) if simultaneous else 1
    return delta**2 / (2 * units**3 * objective.dim)


def theory_bounds(
    objective: Objective,
    student: Student,
    radius: float | None = None,
    largest_weight: float | None = None,
) -> Bounds:
    """Bounds of the first three derivatives of L, from a start on.

    Args:
        objective: a population loss with a radial potential on R^d, or a zonal one on the sphere.
        student: the start.
        radius: how far apart pairs of units are taken to stay; by default outside the cores of the
            potential, and 0 where it has none.
        largest_weight: how large weights may become; by default what "regularized" implies
            (|c|^2 <= L(start)), else twice the largest of student and teacher. Weights that do not
            move are known.
    """
    teacher = exact_teacher(objective)
    student = objective.check(student)
    suprema, radius = suprema_of(objective, radius)
    own, given = np.abs(np.asarray(student.weights)), np.abs(np.asarray(teacher.weights))
    loss = float(objective.value(student))
    if objective.wrt == "positions":
        weights = own
    elif largest_weight is not None:
        weights = np.full(own.shape, check_real("largest weight", largest_weight, 0.0))
    elif objective.ridge:
        weights = np.full(own.shape, math.sqrt(max(loss, 0.0)))
    else:
        weights = np.full(own.shape, 2 * max(own.max(initial=0.0), given.max()))
    alone = objective.ridge
    if objective.terms.self_energies:
        alone += abs(_at_coincidence(teacher))
    needed = {"positions": suprema[1:], "weights": (suprema[0], alone), "both": (*suprema, alone)}
    if not np.all(np.isfinite(needed[objective.wrt])):
        raise EarnshawError(
            f"the derivatives of {teacher.potential.name} are unbounded for units more "
            f"than {radius:g} apart, so there are no theory steps; allowed: another radius, or "
            "--steps adaptive"
        )
    protons = float(given.sum())
    gradient, hessian, third = _assembled(suprema, weights, protons, alone, objective.wrt)
    curved = isinstance(objective.manifold, Sphere)
    if curved:  # the third covariant derivative is symmetric up to a curvature times the gradient
        third += 2 * gradient / 3
    largest = float(weights.max(initial=0.0))
    gap = loss - _lowest(objective, suprema, weights, protons)
    gap = gap if gap >= 0 else math.inf  # the potential is not realizable: L may have no minimum
    bounds = Bounds(gradient, hessian, third, radius, largest, loss, gap, curved)
    if not bounds.hold_at(objective, student):
        raise EarnshawError(
            f"the start has units less than {radius:g} apart, or weights above {largest:g}, where "
            f"no theory steps are known; {ALLOWED}"
        )
    return bounds


def _lowest(objective: Objective, suprema: Suprema, weights: np.ndarray, protons: float) -> float:
    """A lower bound of L, for realizable Phi: 0, less the constants that a variant leaves out."""
    if objective.terms.constant:
        return 0.0
    teacher = exact_teacher(objective)
    alone = _at_coincidence(teacher)
    if math.isinf(alone):  # the constants are infinite: every pair as low as it may be
        total = float(weights.sum())
        return -suprema.value * total * (total + 2 * protons)
    left_out = float(population_loss(teacher, wrt=objective.wrt).empty_value())
    if not objective.terms.self_energies:
        left_out += float(np.sum(weights**2)) * alone
    return -left_out


def _at_coincidence(teacher: Teacher) -> float:
    """Phi(theta, theta)."""
    potential = teacher.potential
    return float(potential.value(1.0 if isinstance(potential, Zonal) else 0.0))


def _assembled(
    suprema: Suprema, weights: np.ndarray, protons: float, alone: float, moving: str
) -> tuple[float, float, float]:
    """B1, B2 and B3 from P0 .. P3: C_i = `weights` (k,), the sum of |b_j| = `protons`.

    Rows and columns are positions, then weights. With 2 C_i C_j phi(theta_i - theta_j) for pairs of
    the student and 2 C_i |b_j| phi(theta_i - w_j), every derivative in theta_i alone has the factor
    C_i (sum of C_j, j != i, + sum of |b_j|), every mixed one C_i C_j; one in c_i lacks its C_i.
    """
    p0, p1, p2, p3 = (2 * size for size in suprema)
    if moving == "weights":  # L is quadratic in them
        p1 = p2 = p3 = 0.0
    if moving == "positions":
        p0 = 0.0
    c, count = weights, len(weights)
    others = c.sum() - c + protons
    off = 1 - np.eye(count)
    pairs = np.outer(c, c) * off

    by_positions = p1 * c * others
    by_weights = p0 * others + 2 * alone * c
    both = np.block(
        [
            [p2 * (pairs + np.diag(c * others)), p1 * (c[:, None] * off + np.diag(others))],
            [p1 * (c * off + np.diag(others)), p0 * off + 2 * alone * np.eye(count)],
        ]
    )
    # Squared norms of the rows (x, y, .) of the third derivative, over positions and weights.
    moves = 0.0 if moving == "positions" else 1.0
    square = c**2
    twice = 2 * p3**2 * pairs**2 + moves * p2**2 * (square[:, None] + square) * off
    once = (p3 * c * others) ** 2 + p3**2 * np.sum(pairs**2, axis=1)
    once += moves * p2**2 * (others**2 + (count - 1) * square)
    mixed = (2 * p2**2 * square[:, None] + moves * p1**2) * off
    mixed_once = p2**2 * (others**2 + square.sum() - square) + moves * (count - 1) * p1**2
    mixed = mixed + np.diag(mixed_once)
    rows = np.sqrt(np.block([[twice + np.diag(once), mixed], [mixed.T, 2 * p1**2 * off]]))

    kept = {"positions": slice(0, count), "weights": slice(count, None), "both": slice(None)}
    chosen = kept[moving]
    return (
        float(np.linalg.norm(np.append(by_positions, by_weights)[chosen])),
        _spectral_bound(both[chosen, chosen]),
        _spectral_bound(rows[chosen, chosen]),
    )


def _spectral_bound(matrix: np.ndarray, products: int = 40) -> float:
    """An upper bound of the norm of a symmetric matrix >= 0: max (M x)_i / x_i for any x > 0."""
    if not np.all(np.isfinite(matrix)):
        return math.inf
    x, least = np.ones(len(matrix)), math.inf
    for _ in range(products):
        image = matrix @ x
        least = min(least, float(np.max(image / x)))
        x = image + x * max(least, 1e-300)  # a shift keeps x > 0 and the iteration from swinging
        x = np.maximum(x / x.max(), 1e-12)
    return least
