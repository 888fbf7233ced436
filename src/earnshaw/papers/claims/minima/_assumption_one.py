"""Assumption 1 (all weights 1) is necessary: what goes wrong without it, under Phi = exp(-s r).

EPD, Section 3.2.1: "Assumption 1 is necessary to eliminate the possibility of spurious local minima
in our framework, as counterexamples can be constructed in their absence", and leaves open how
common they are. Weights stay fixed, a = -b, in three ways other than all 1:

- **two sizes.** Protons w_1, w_2 of weights b_1, b_2 > 0, D apart on R^1; the unit of weight b_2 is
  on w_1, that of b_1 on w_2. Each unit is held by the cusp of its proton, with b_1 b_2 s, and
  pulled by the other place, whose net charge is b_2 - b_1:

      margins:  b_2 s (b_1 - |b_1 - b_2| e^(-s D))  and  b_1 s (b_2 - |b_1 - b_2| e^(-s D)).

  Both are positive for large D (always, if neither is twice the other): a strict local minimum
  with L = 2 (b_1 - b_2)^2 (1 - e^(-s D)) > 0.
- **two signs.** Weights 1 and -1: both units in one place z outside the protons cancel, and L =
  |f|^2 for every z. Apart by t they gain at most 2 |f'(z)| |t| < 2 s |t| of field, and lose 2 s |t|
  - O(t^2): a local minimum for every z, not strict, in a flat valley.
- **all of the other sign.** A unit of weight 1 in the middle of a cube of weights -1: L is strictly
  subharmonic, and by symmetry its Hessian is Delta L/d times the identity, Delta L > 0. A strict
  minimum off all protons, in any dimension, for r^(2-d-e) too.
"""

from __future__ import annotations

import itertools
import math

import numpy as np

from earnshaw.charges.network import Student, Teacher
from earnshaw.duality.formulas.expression import RadialExpression
from earnshaw.energy.population import PopulationLoss, population_loss
from earnshaw.landscape.certificate import certificate
from earnshaw.papers.claims.claim import Finding, Instance, Statement
from earnshaw.papers.claims.minima._random_points import directions, frame

EXCESS = 0.5  # e of r^(2-d-e)
RUNS, SWEEPS = 400, 4000  # descents from random starts, and their steps


def line_loss(positions: np.ndarray, weights: np.ndarray, rate: float) -> PopulationLoss:
    """The loss of units of fixed weights among protons on R^1, Phi = exp(-s r)."""
    phi = RadialExpression(f"exp(-{rate!r}*r)", 1)
    return population_loss(Teacher(positions, weights, phi), "full", wrt="positions")


def energy(electrons: np.ndarray, protons: np.ndarray, charges: np.ndarray, rate: float) -> float:
    """L = |f - g|^2 for units (k,) of weights `charges` (k,) and protons (k,) of the same."""
    places, amounts = np.concatenate([electrons, protons]), np.concatenate([charges, -charges])
    gaps = np.abs(places[:, None] - places[None])
    return float(amounts @ np.exp(-rate * gaps) @ amounts)


def _sizes_instance(rng: np.random.Generator, index: int) -> Instance:
    """Weights of which one may be up to four times the other, far enough apart to hold."""
    small, ratio = rng.uniform(0.5, 1), rng.uniform(1.2, 4)
    rate = rng.uniform(0.5, 2)
    least = max(0.0, math.log(max(ratio - 1, 1e-9))) / rate
    return {
        "charges": np.array([small, ratio * small]),
        "protons": np.array([0.0, least + rng.uniform(0.3, 1.5)]),
        "rate": rate,
        "directions": directions(rng, 64, 2),
    }


def _swapped(instance: Instance) -> Finding:
    """The perfect student with its units exchanged; nearby L is larger in every direction."""
    charges, protons = np.asarray(instance["charges"]), np.asarray(instance["protons"])
    rate = float(instance["rate"])
    # The unit of weight b_1 is on w_2, and the other way round.
    places, pulled = protons[::-1], abs(charges[0] - charges[1])
    decay = math.exp(-rate * abs(protons[1] - protons[0]))
    held = charges * rate * (charges[::-1] - pulled * decay)
    value = energy(places, protons, charges, rate)
    steps = np.asarray(instance["directions"])
    rises = [
        (energy(places + size * step, protons, charges, rate) - value) / size
        for step in steps
        for size in (1e-3, 1e-5)
    ]
    loss = line_loss(protons[:, None], charges, rate)
    found = certificate(loss, Student(places[:, None], charges))
    # L is 2 of each pair: the slopes are twice the forces.
    margins = sorted(2 * held)
    numbers = {
        "loss": value,
        "loss_error": abs(value - 2 * pulled**2 * (1 - decay)),
        "library_loss_error": abs(found.loss - value),
        "smallest_rise": min(rises),
        "smallest_margin": margins[0],
        "library_margin_error": abs(float(np.min(found.cusp_margins)) - margins[0]),
    }
    right = max(numbers[f"{name}_error"] for name in ("loss", "library_loss", "library_margin"))
    good = right < 1e-9 and min(rises) > 0 and value > 1e-3 and found.kind == "cusp-minimum"
    return Finding(bool(good and margins[0] > 0), numbers)


def _signs_instance(rng: np.random.Generator, index: int) -> Instance:
    gap, rate = rng.uniform(0.5, 3), rng.uniform(0.5, 2)
    place = float(rng.choice([-1, 1]) * rng.uniform(0.2, 2))
    return {
        "charges": np.array([1.0, -1.0]),
        "protons": np.array([0.0, gap]),
        "place": place if place < 0 else gap + place,
        "rate": rate,
        "directions": directions(rng, 64, 2),
    }


def _cancelled(instance: Instance) -> Finding:
    charges, protons = np.asarray(instance["charges"]), np.asarray(instance["protons"])
    rate, place = float(instance["rate"]), float(instance["place"])
    here = np.full(2, place)
    value = energy(here, protons, charges, rate)
    teacher = float(2 - 2 * math.exp(-rate * abs(protons[1] - protons[0])))
    lowest = min(
        (energy(here + size * step, protons, charges, rate) - value) / size
        for step in np.asarray(instance["directions"])
        for size in (1e-3, 1e-5)
    )
    moved = energy(here + 0.1 * math.copysign(1, place), protons, charges, rate)
    loss = line_loss(protons[:, None], charges, rate)
    library = float(loss.value(Student(here[:, None], charges)))
    numbers = {
        "loss": value,
        "loss_error": max(abs(value - teacher), abs(library - value)),
        "smallest_rise": lowest,
        "change_along_the_valley": abs(moved - value),
    }
    flat = max(numbers["loss_error"], numbers["change_along_the_valley"]) < 1e-12
    return Finding(flat and lowest > -1e-9 and value > 1e-3, numbers)


def _cube_instance(rng: np.random.Generator, index: int) -> Instance:
    dim = (3, 2, 4)[index % 3]
    corners = np.array(list(itertools.product((-1.0, 1.0), repeat=dim)))
    return {"protons": rng.uniform(0.5, 2) * corners @ frame(rng, dim), "electron": np.zeros(dim)}


def _trapped(instance: Instance) -> Finding:
    protons, electron = np.asarray(instance["protons"]), np.asarray(instance["electron"])
    count, dim = protons.shape
    phi = RadialExpression(f"r**({2 - dim - EXCESS!r})", dim)
    teacher = Teacher(protons, -np.ones(count), phi)
    loss = population_loss(teacher, "without-constants", wrt="positions")
    found = certificate(loss, Student(electron[None], np.ones(1)))
    r = float(np.linalg.norm(protons[0] - electron))
    # Delta L = 2 sum_j Delta Phi, shared evenly by d directions.
    each = 2 * count * EXCESS * (dim - 2 + EXCESS) * r ** (-dim - EXCESS) / dim
    numbers = {
        "smallest_eigenvalue": found.smallest_eigenvalue,
        "eigenvalue_error": abs(found.smallest_eigenvalue / each - 1),
        "gradient_norm": found.gradient_norm,
        "dim": dim,
    }
    return Finding(found.kind == "minimum" and numbers["eigenvalue_error"] < 1e-9, numbers)


def _random_instance(rng: np.random.Generator, index: int) -> Instance:
    units = (2, 3, 4)[index % 3]
    return {
        "charges": np.sort(rng.uniform(0.5, 1.5, units)),
        "protons": np.sort(2 * rng.standard_normal(units)),
        "starts": 2 * rng.standard_normal((RUNS, units)),
    }


def descended(starts: np.ndarray, protons: np.ndarray, charges: np.ndarray) -> np.ndarray:
    """Units from each start (n, k) downhill by steps that shrink as 1/sqrt(t), s = 1.

    The cusps hold what reaches them: the last steps are 0.1/sqrt(SWEEPS) long.
    """
    x = starts.copy()
    for step in range(1, SWEEPS + 1):
        to_protons = x[:, :, None] - protons
        among = x[:, :, None] - x[:, None, :]
        slope = np.sum(charges * np.sign(to_protons) * np.exp(-np.abs(to_protons)), axis=2)
        slope -= np.sum(charges * np.sign(among) * np.exp(-np.abs(among)), axis=2)
        slope *= 2 * charges
        x = x - np.clip(0.1 / math.sqrt(step) * slope, -0.1, 0.1)
    return x


def _how_often(instance: Instance) -> Finding:
    """Where descent ends: each unit on the proton of its weight, on others, or elsewhere."""
    charges, protons = np.asarray(instance["charges"]), np.asarray(instance["protons"])
    ends = descended(np.asarray(instance["starts"]), protons, charges)
    gaps = np.abs(ends[:, :, None] - protons)
    owner, near = np.argmin(gaps, axis=2), np.min(gaps, axis=2) < 0.02
    settled = np.all(near, axis=1)
    right = settled & np.all(owner == np.arange(len(charges)), axis=1)
    wrong = settled & ~right
    losses = [energy(protons[one], protons, charges, 1.0) for one in owner[wrong]]
    numbers = {
        "share_at_the_teacher": float(np.mean(right)),
        "share_in_other_places": float(np.mean(wrong)),
        "share_unsettled": float(np.mean(~settled)),
        "units": len(charges),
        "largest_loss_over_empty": max(losses, default=0.0)
        / float(charges @ np.exp(-np.abs(protons[:, None] - protons)) @ charges),
    }
    settled_share = 1 - numbers["share_unsettled"]
    return Finding(settled_share > 0.2 and numbers["share_in_other_places"] > 0.02, numbers)


ASSUMPTION_ONE = (
    Statement(
        name="two-sizes",
        says="without Assumption 1, a = -b of two sizes on R^1: the exchanged student is a strict "
        "local minimum with L = 2 (b_1 - b_2)^2 (1 - e^(-s D)) (EPD, Section 3.2.1)",
        draw=_sizes_instance,
        test=_swapped,
        quick=1,
        thorough=12,
    ),
    Statement(
        name="two-signs",
        says="the same with b = (1, -1): both units anywhere outside the protons, in one place, "
        "are a local minimum, in a flat valley",
        draw=_signs_instance,
        test=_cancelled,
        quick=1,
        thorough=12,
    ),
    Statement(
        name="the-other-sign",
        says="the same with b = -1, a = -1: a unit in the middle of a cube is a strict minimum "
        "under r^(2-d-e), d = 2 to 4, with all eigenvalues Delta L/d > 0",
        draw=_cube_instance,
        test=_trapped,
        quick=1,
        thorough=6,
    ),
    Statement(
        name="how-often",
        says="from random starts on R^1, random positive weights a = -b, descent ends with units "
        "on protons of other weights in one of fifty runs at least",
        draw=_random_instance,
        test=_how_often,
        quick=1,
        thorough=9,
        constants={
            "share_in_other_places": "EPD, Section 3.2.1: how commonly such minima are encountered"
        },
    ),
)
