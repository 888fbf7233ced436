"""Lipschitz approximations of sign on the circle: s(x) = erf(x/delta), which tends to sign.

EPD, Section 4.3: "we believe that Lipschitz approximations to the sign activation should enjoy some
related convergence guarantees". On S^1, at an angle t,

    Phi = g(t) = (2/pi) arcsin(kappa cos t),    kappa = 1/(1 + delta^2/2),
    g'(t) = -(2/pi) kappa sign(sin t)/sqrt(1 + (1 - kappa^2) cot^2 t),

where sign has -(2/pi) sign(sin t), and |g - g_sign| <= (2/pi) arccos kappa, about 2 delta/pi.

**One unit** (Theorem 3.11, Lemma G.2): the guarantee survives. With its best weight the loss is
-C^2/g(0), C(phi) = sum_j b_j g(phi - phi_j). Let beta be the least |sum_j +-b_j|, B = sum |b_j|.
At an angle tau or more from all +-w_j, by 1/sqrt(1 + x) >= 1 - x/2,

    |C'| >= (2 kappa/pi) (beta - B (1 - kappa^2) cot^2(tau)/2),

which is positive if tan^2 tau > B (1 - kappa^2)/(2 beta). So every local minimum is within tau =
arctan sqrt(B (1 - kappa^2)/(2 beta)), about delta sqrt(B/(2 beta)), of some +-w_j. Beyond, C' has
the sign of sign's: where the lines through the protons are more than 2 tau apart, each minimum of
sign stays one, moved by less than tau (nearer ones can merge). C'' is bounded by 2 kappa B/(pi
sqrt(1 - kappa^2)), so constant steps of order delta converge, which they never do for sign.

**All units, all weights 1** (Lemma G.1: no strict minimum but the global ones): it does not
survive. For k >= 3 there are strict local minima with a positive definite Hessian and a loss > 0,
where two units and their opposite are held together.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import mpmath as mp
import numpy as np
from scipy import optimize

from earnshaw.charges.network import Student, Teacher
from earnshaw.energy.population import PopulationLoss, population_loss
from earnshaw.landscape.certificate import certificate
from earnshaw.papers.claims.claim import Finding, Instance, Statement

WIDTHS = (0.1, 0.3, 0.03, 0.01)  # delta
STARTS = 40
MOST = 200_000  # steps of a descent


def shrink(delta: float) -> float:
    """kappa."""
    return 1 / (1 + delta**2 / 2)


def curve(t: np.ndarray, delta: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """g, g' and g'' at angles t."""
    kappa = shrink(delta)
    root = np.sqrt(np.sin(t) ** 2 + (1 - kappa**2) * np.cos(t) ** 2)
    bend = -kappa * (1 - kappa**2) * np.cos(t) / root**3
    return (
        2 / math.pi * np.arcsin(kappa * np.cos(t)),
        -2 / math.pi * kappa * np.sin(t) / root,
        2 / math.pi * bend,
    )


def reach(charges: np.ndarray, delta: float) -> float:
    """tau: how far from +-w_j a minimum of one unit can be."""
    signs = np.array(list(itertools.product((-1, 1), repeat=len(charges))))
    beta, total = float(np.min(np.abs(signs @ charges))), float(np.sum(np.abs(charges)))
    return math.atan(math.sqrt(total * (1 - shrink(delta) ** 2) / (2 * beta)))


def circle(angles: np.ndarray) -> np.ndarray:
    """Points of S^1, (n, 2)."""
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def loss_of(angles: np.ndarray, charges: np.ndarray, delta: float, name: str) -> PopulationLoss:
    """The library's loss of erf(x/delta) units on S^1, from the formula of its potential."""
    formula = f"2*asin({shrink(delta)!r}*rho)/pi"
    return population_loss(Teacher(circle(angles), charges, potential=formula, on="sphere"), name)


def _one_unit_instance(rng: np.random.Generator, index: int) -> Instance:
    """Three to five protons, no signed sum of their charges below a tenth of them all."""
    delta, units = WIDTHS[index % 4], (3, 4, 5)[index % 3]
    while True:
        charges = rng.choice([-1.0, 1.0], units) * rng.uniform(0.3, 1, units)
        signs = np.array(list(itertools.product((-1, 1), repeat=units)))
        if np.min(np.abs(signs @ charges)) > 0.1 * np.sum(np.abs(charges)):
            break
    for _ in range(200):  # of lines more than 2 tau apart, if there is room for them
        angles = rng.uniform(0, 2 * math.pi, units)
        if lines_apart(angles) > 2 * reach(charges, delta):
            break
    starts = rng.uniform(0, 2 * math.pi, STARTS)
    return {"delta": delta, "angles": angles, "charges": charges, "starts": starts}


def lines_apart(angles: np.ndarray) -> float:
    """The least angle between two lines through protons."""
    turns = np.sort(np.mod(angles, math.pi))
    return float(np.min(np.append(np.diff(turns), turns[0] + math.pi - turns[-1])))


def _field(phi: Any, instance: Instance) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """C, C' and C'' at angles phi."""
    gaps = np.asarray(phi)[..., None] - np.asarray(instance["angles"])
    charges, delta = np.asarray(instance["charges"]), float(instance["delta"])
    value, slope, bend = (one @ charges for one in curve(gaps, delta))
    return value, slope, bend


def one_unit_minima(instance: Instance) -> np.ndarray:
    """The angles at which |C| has a local maximum: all of them, C' changing its sign there."""
    lines = np.concatenate(
        [np.asarray(instance["angles"]), np.asarray(instance["angles"]) + math.pi]
    )
    fine = float(instance["delta"]) * np.sinh(np.linspace(-6, 6, 401)) / np.sinh(1.0)
    grid = np.concatenate([np.linspace(0, 2 * math.pi, 4001), *(line + fine for line in lines)])
    grid = np.unique(np.mod(grid, 2 * math.pi))
    value, slope, _ = _field(grid, instance)
    rising = np.sign(value) * slope
    turns = np.nonzero((rising[:-1] > 0) & (rising[1:] <= 0) & (value[:-1] * value[1:] > 0))[0]
    root = lambda i: optimize.brentq(  # noqa: E731
        lambda phi: float(_field(phi, instance)[1]), grid[i], grid[i + 1], xtol=1e-14
    )
    return np.array([root(i) for i in turns])


def sign_minima(instance: Instance) -> np.ndarray:
    """Where sign itself has its minima: +-w_j at which |C| is larger than just beside it."""
    angles, charges = np.asarray(instance["angles"]), np.asarray(instance["charges"])
    lines = np.mod(np.concatenate([angles, angles + math.pi]), 2 * math.pi)

    def field(phi: np.ndarray) -> np.ndarray:
        turned = np.abs(np.mod(phi[:, None] - angles + math.pi, 2 * math.pi) - math.pi)
        return np.abs((1 - 2 * turned / math.pi) @ charges)

    here, left, right = field(lines), field(lines - 1e-6), field(lines + 1e-6)
    return lines[(here > left) & (here > right)]


def away(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Angles between two sets of directions, (n, m)."""
    return np.abs(np.mod(first[:, None] - second + math.pi, 2 * math.pi) - math.pi)


def _one_unit(instance: Instance) -> Finding:
    delta, charges = float(instance["delta"]), np.asarray(instance["charges"])
    angles = np.asarray(instance["angles"])
    ends, before = one_unit_minima(instance), sign_minima(instance)
    tau = reach(charges, delta)
    far = float(np.max(np.min(away(ends, np.concatenate([angles, angles + math.pi])), axis=1)))
    lost = float(np.max(np.min(away(before, ends), axis=1)))
    loss = loss_of(angles, charges, delta, "one-node")
    value = _field(ends[:1], instance)[0]
    own = float(curve(np.zeros(1), delta)[0][0])
    unit = Student(circle(ends[:1]), value / own)
    found = certificate(loss, unit)
    numbers = {
        "farthest_from_a_proton": far,
        "farthest_over_bound": far / tau,
        "farthest_over_delta": far / delta,
        "sign_minimum_moved_over_bound": lost / tau,
        "lines_apart_over_bound": lines_apart(angles) / tau,
        "minima": len(ends),
        "minima_of_sign": len(before),
        "library_loss_error": abs(found.loss + float(value[0]) ** 2 / own),
    }
    kept = lost <= tau or lines_apart(angles) <= 2 * tau
    good = far <= tau and kept and numbers["library_loss_error"] < 1e-12
    return Finding(bool(good and found.kind == "minimum"), numbers)


def _near_sign(instance: Instance) -> Finding:
    """|Phi - Phi_sign| <= (2/pi) arccos kappa; and Phi against the library's erf of 1/delta."""
    delta = float(instance["delta"])
    t = np.linspace(0, math.pi, 2001)
    value = curve(t, delta)[0]
    gap = float(np.max(np.abs(value - (1 - 2 * t / math.pi))))
    units = circle(t[::400]) / delta
    teacher = Teacher(circle(np.zeros(1)) / delta, np.ones(1), "erf")
    library = np.asarray(population_loss(teacher).potential(units))
    numbers = {
        "largest_difference": gap,
        "over_bound": gap / (2 / math.pi * math.acos(shrink(delta))),
        "over_delta": gap / delta,
        "library_error": float(np.max(np.abs(library - value[::400]))),
    }
    return Finding(numbers["over_bound"] <= 1 + 1e-9 and numbers["library_error"] < 1e-12, numbers)


def _converges(instance: Instance) -> Finding:
    """Constant steps 1/(2 L) on -C^2/2 from all starts, L = B^2 (2/pi)^2 + B^2 (2/pi)/sqrt(...)."""
    delta, total = float(instance["delta"]), float(np.sum(np.abs(instance["charges"])))
    kappa = shrink(delta)
    steepest = 2 / math.pi * total
    limit = steepest**2 + total * steepest * kappa / math.sqrt(1 - kappa**2)
    phi = np.asarray(instance["starts"])
    phi = phi[np.abs(_field(phi, instance)[0]) > 0.05 * total]
    count = 0
    while count < MOST:
        value, slope, _ = _field(phi, instance)
        if np.max(np.abs(value * slope)) < 1e-11:
            break
        phi, count = phi + value * slope / (2 * limit), count + 1
    ends = np.asarray(instance["angles"])
    gaps = np.min(away(phi, np.concatenate([ends, ends + math.pi])), axis=1)
    bends = _field(phi, instance)
    numbers = {
        "steps": count,
        "steps_times_delta": count * delta,
        "gradient": float(np.max(np.abs(value * slope))),
        "farthest_over_bound": float(np.max(gaps)) / reach(np.asarray(instance["charges"]), delta),
        "least_curvature": float(np.min(-(bends[1] ** 2) - bends[0] * bends[2])),
    }
    good = count < MOST and numbers["farthest_over_bound"] <= 1 and numbers["least_curvature"] > 0
    return Finding(bool(good), numbers)


def _all_units_instance(rng: np.random.Generator, index: int) -> Instance:
    units, delta = ((4, 1.0), (4, 0.3), (3, 0.3), (5, 0.1))[index % 4]
    return {
        "delta": delta,
        "angles": rng.uniform(0, 2 * math.pi, units),
        "starts": rng.uniform(0, 2 * math.pi, (STARTS, units)),
    }


def energy(phi: np.ndarray, angles: np.ndarray, delta: float) -> tuple[float, Any, Any]:
    """L, its gradient and its Hessian in the angles of units of weight 1."""
    among, to = curve(phi[:, None] - phi, delta), curve(phi[:, None] - angles, delta)
    value = np.sum(among[0]) - 2 * np.sum(to[0]) + np.sum(curve(angles[:, None] - angles, delta)[0])
    bends = among[2] - np.diag(np.diagonal(among[2]))
    hessian = -2 * bends + np.diag(2 * np.sum(bends, axis=1) - 2 * np.sum(to[2], axis=1))
    return float(value), 2 * np.sum(among[1], axis=1) - 2 * np.sum(to[1], axis=1), hessian


def descended(phi: np.ndarray, angles: np.ndarray, delta: float) -> np.ndarray:
    """Downhill by Newton's method with |eigenvalues|, off saddles along their eigenvector."""
    value, slope, hessian = energy(phi, angles, delta)
    for _ in range(300):
        eigenvalues, axes = np.linalg.eigh(hessian)
        step = -axes @ ((axes.T @ slope) / np.maximum(np.abs(eigenvalues), 1e-8))
        if np.linalg.norm(slope) < 1e-13:
            if eigenvalues[0] > -1e-10:
                break
            step = 0.05 * axes[:, 0]
        step *= min(1.0, 0.3 / float(np.max(np.abs(step))))
        for _ in range(40):
            reached = energy(phi + step, angles, delta)
            if reached[0] < value or np.linalg.norm(step) < 1e-9:
                break
            step = step / 2
        phi, (value, slope, hessian) = phi + step, reached
    return phi


def _exact(phi: np.ndarray, angles: np.ndarray, delta: float) -> tuple[float, float, float]:
    """Loss, gradient norm and least eigenvalue of the Hessian in 40 digits, at a polished point."""
    with mp.workdps(40):
        kappa = 1 / (1 + mp.mpf(delta) ** 2 / 2)
        g = lambda t: 2 / mp.pi * mp.asin(kappa * mp.cos(t))  # noqa: E731
        root = lambda t: mp.sqrt(1 - (kappa * mp.cos(t)) ** 2)  # noqa: E731
        first = lambda t: -2 / mp.pi * kappa * mp.sin(t) / root(t)  # noqa: E731
        second = lambda t: (  # noqa: E731
            -2 / mp.pi * kappa * (1 - kappa**2) * mp.cos(t) / root(t) ** 3
        )
        x, w = [mp.mpf(float(t)) for t in phi], [mp.mpf(float(t)) for t in angles]
        n = len(x)
        for _ in range(3):
            slope = mp.matrix(n, 1)
            hessian = mp.matrix(n, n)
            for i in range(n):
                others = [j for j in range(n) if j != i]
                slope[i] = 2 * mp.fsum(first(x[i] - x[j]) for j in others)
                slope[i] -= 2 * mp.fsum(first(x[i] - t) for t in w)
                hessian[i, i] = 2 * mp.fsum(second(x[i] - x[j]) for j in others)
                hessian[i, i] -= 2 * mp.fsum(second(x[i] - t) for t in w)
                for j in others:
                    hessian[i, j] = -2 * second(x[i] - x[j])
            moved = mp.lu_solve(hessian, slope)
            x = [one - step for one, step in zip(x, moved, strict=True)]
        places, amounts = [*x, *w], [1] * n + [-1] * len(w)
        pairs = itertools.product(zip(places, amounts, strict=True), repeat=2)
        loss = mp.fsum(a * b * g(s - t) for (s, a), (t, b) in pairs)
        return float(loss), float(mp.norm(slope)), float(min(mp.eigsy(hessian)[0]))


def _only_global(instance: Instance) -> Finding:
    """Whether the starts lead to the teacher only; the strictest other end in 40 digits."""
    angles, delta = np.asarray(instance["angles"]), float(instance["delta"])
    ends = [descended(start, angles, delta) for start in np.asarray(instance["starts"])]
    losses = np.array([energy(end, angles, delta)[0] for end in ends])
    strict = np.array([np.linalg.eigvalsh(energy(end, angles, delta)[2])[0] for end in ends])
    bad = losses > 1e-6
    numbers = {"share_elsewhere": float(np.mean(bad)), "units": len(angles), "delta": delta}
    if not np.any(bad):
        return Finding(True, numbers)
    worst = int(np.argmax(np.where(bad, strict, -np.inf)))
    loss, slope, eigenvalue = _exact(ends[worst], angles, delta)
    library = loss_of(angles, np.ones(len(angles)), delta, "assumption-1")
    found = certificate(library, Student(circle(ends[worst]), np.ones(len(angles))))
    numbers |= {"loss": loss, "gradient": slope, "smallest_eigenvalue": eigenvalue}
    numbers["library_eigenvalue_error"] = abs(found.smallest_eigenvalue - eigenvalue)
    if numbers["library_eigenvalue_error"] > 1e-6 or slope > 1e-20 or eigenvalue < 1e-6:
        return Finding(None, numbers, "no strict minimum is proved, nor excluded")
    return Finding(False, numbers)


LIPSCHITZ = (
    Statement(
        "lipschitz-tends-to-sign",
        "erf(x/delta) has Phi within (2/pi) arccos kappa, about 2 delta/pi, of sign's",
        _one_unit_instance,
        _near_sign,
        quick=1,
        thorough=4,
        constants={"over_delta": "EPD, Section 4.3: how near a Lipschitz approximation is"},
    ),
    Statement(
        "lipschitz-one-unit",
        "with erf(x/delta) all local minima of one unit on S^1 are within arctan sqrt(B (1 - "
        "kappa^2)/(2 beta)), about delta sqrt(B/(2 beta)), of +-w_j; sign's minima are kept if "
        "the lines +-w_j are more than twice that apart",
        _one_unit_instance,
        _one_unit,
        quick=1,
        thorough=24,
        constants={"farthest_over_delta": "EPD, Section 4.3: the 'related guarantee', over delta"},
    ),
    Statement(
        "lipschitz-converges",
        "constant steps of order delta converge to them, in steps of order 1/delta",
        _one_unit_instance,
        _converges,
        quick=1,
        thorough=12,
        constants={"steps_times_delta": "EPD, Section 4.3: the steps, times delta"},
    ),
    Statement(
        "lipschitz-all-units",
        "Lemma G.1 for erf(x/delta): under Assumption 1 no strict local minimum on S^1 but the "
        "global ones (in 40 digits: a positive definite Hessian, a loss above 0)",
        _all_units_instance,
        _only_global,
        role="beyond",
        quick=1,
        thorough=8,
    ),
)
