"""Are the units of random teachers recovered, in how many iterations, and at what cost?

Teachers as in Full, Theorem 4.6: the almost lambda-harmonic potential of radius 0.1, positions of
N(0, d log d I), weights uniform on [-1, 1]. `ew.learn` is told nothing about them, not even how
many units there are. Four parts:

    table    d from 3 to 63, even dimensions too, k = 10, 30, 100, five seeds each; how iterations
             grow with d, and seconds with k and d
    far      d = 101, k = 100, and what a start of a climb sees of the unit that is seen worst
    papers   the papers' own methods on small teachers, and what their step sizes would take
    peers    L-BFGS (SciPy) and trust regions (pymanopt) on all units at once, from random starts

    python benchmarks/recovery.py                                   (about an hour on 2 cores)
    python benchmarks/recovery.py --only table --dims 3 7 --units 10 --seeds 2

Seconds are the best of the runs after the first, which compiles. Every number is of this run.
pymanopt is left out, with a word, where it is not installed:

    python -m pip install pymanopt==2.2.1
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import jax
import numpy as np
from scipy.special import logsumexp

import earnshaw as ew
from earnshaw.charges.network import Teacher
from earnshaw.descent.node_wise import NodeWise
from earnshaw.descent.nodes import FIRST_ROOM, usual_starts
from earnshaw.descent.theory import paper_tolerance
from earnshaw.energy.population import population_loss
from earnshaw.errors import EarnshawError
from earnshaw.learning.run import Run
from recovery_peers import CLOSE, LONGEST, Peer, attempts, lbfgs, trust_regions

PARTS = ("table", "far", "papers", "peers")
RADIUS = 0.1
PLACES, WEIGHTS = 1e-9, 1e-8  # how near a unit must be to count as recovered in the table
FEW = 400  # iterations a node that are still few
LEAST, MOST = 10, 400  # random starts of a peer
SAMPLE = 16  # rounds whose candidates say how well starts see units
CORES = len(os.sched_getaffinity(0))


def teacher_of(dim: int, units: int, seed: int) -> Teacher:
    """As in Full, Theorem 4.6."""
    return ew.random_teacher("almost-harmonic", dim=dim, units=units, seed=seed, radius=RADIUS)


@dataclass(frozen=True)
class Learned:
    """One run of `ew.learn`, its rounds, and its seconds: of all, and of placing units."""

    run: Run
    rounds: int
    seconds: float
    placing: float

    @property
    def recovered(self) -> bool:
        """Whether student and teacher are the same, up to the order of units."""
        found = self.run.matching
        near = np.all(found.distance <= PLACES) and np.all(found.weight_error <= WEIGHTS)
        return bool(found.is_permutation and near)

    @property
    def iterations(self) -> np.ndarray:
        """Of each node."""
        each = self.run.history.node_iterations
        assert each is not None
        return each


def learned(teacher: Teacher, seed: int) -> Learned:
    """`ew.learn` with nothing but the seed."""
    rounds: list[float] = []
    start = time.perf_counter()
    run = ew.learn(teacher, seed=seed, report=lambda _: rounds.append(time.perf_counter()))
    end = time.perf_counter()
    return Learned(run, len(rounds), end - start, rounds[-1] - start)


def hidden(teacher: Teacher) -> np.ndarray:
    """The units at which |C| has no maximum at first: others are stronger than their cusp, (k,)."""
    loss, w, b = population_loss(teacher), teacher.positions, np.asarray(teacher.weights)
    force = np.linalg.norm(loss.potential_gradient(w), axis=1)  # without the unit's own
    held = np.abs(b) * np.asarray(loss.cusp(w)) > force
    return ~held | (np.asarray(loss.potential(w)) * b <= 0)


def nearest(teacher: Teacher) -> tuple[np.ndarray, np.ndarray]:
    """For each unit its nearest other, and how far that is."""
    w = np.asarray(teacher.positions)
    apart = np.linalg.norm(w[:, None] - w, axis=2) + np.diag(np.full(len(w), np.inf))
    return np.argmin(apart, axis=1), np.min(apart, axis=1)


def slope(x: Any, y: Any) -> tuple[float, float]:
    """Of the line through the points, and its standard error."""
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    if len(np.unique(x)) < 2:
        return math.nan, math.nan
    steep, height = np.polyfit(x, y, 1)
    if len(x) < 3:
        return float(steep), math.nan
    spread = np.sum((y - steep * x - height) ** 2) / (len(x) - 2)
    return float(steep), float(np.sqrt(spread / np.sum((x - x.mean()) ** 2)))


# -- the table ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cell:
    """What is kept of the runs of one (d, k) for the fits."""

    dim: int
    units: int
    iterations: float
    seconds: float  # a node


def table(options: argparse.Namespace) -> None:
    """Every (d, k): what was recovered, and what it took."""
    dims = options.dims or [3, 4, 7, 10, 15, 31, 50, 63]
    sizes, seeds = options.units or [10, 30, 100], options.seeds or 5
    print(f"\nrecovered: a permutation, positions to {PLACES:g} and weights to {WEIGHTS:g}")
    last = f"less the {NodeWise.patience} that end a run"
    print(f"idle: rounds without a new unit, {last}; extra: units beyond k")
    print("hidden: units at which |C| has no maximum at first; compiling: the first run")
    print(
        f"{'d':>3s} {'k':>4s} {'recovered':>9s} {'distance':>9s} {'weights':>8s} "
        f"{'iterations':>10s} {'most':>4s} {'idle':>4s} {'extra':>5s} {'hidden':>6s} "
        f"{'least b':>8s} {'closest':>7s} {'seconds':>7s} {'ms/node':>7s} {'compiling':>9s}  "
        "certificates"
    )
    cells, failures, right = [], [], 0
    for dim in dims:
        for units in sizes:
            cell, failed = one_cell(dim, units, seeds)
            cells.append(cell)
            failures += failed
            right += seeds - len(failed)
    print(f"{right} of {seeds * len(cells)} teachers recovered")
    for line in failures:
        print(line)
    growth(cells)


def one_cell(dim: int, units: int, seeds: int) -> tuple[Cell, list[str]]:
    """One row, and a line for each unit that was not recovered."""
    teachers = [teacher_of(dim, units, seed) for seed in range(seeds)]
    found = [learned(teacher, seed) for seed, teacher in enumerate(teachers)]
    first = found[0].seconds
    timed = found[1:] or [learned(teachers[0], 0)]
    each = np.concatenate([one.iterations for one in found])
    idle = [one.rounds - one.run.student.units - NodeWise.patience for one in found]
    extra = [one.run.student.units - units for one in found]
    seconds = min(one.seconds for one in timed)
    a_node = min(one.placing / one.rounds for one in timed)
    kinds = Counter(one.run.certificate.kind for one in found)
    print(
        f"{dim:3d} {units:4d} {sum(one.recovered for one in found):5d}/{seeds:<3d} "
        f"{max(np.max(one.run.matching.distance) for one in found):9.1e} "
        f"{max(np.max(one.run.matching.weight_error) for one in found):8.1e} "
        f"{each.mean():10.1f} {each.max():4d} {sum(idle):4d} {sum(extra):5d} "
        f"{sum(np.sum(hidden(teacher)) for teacher in teachers):6d} "
        f"{min(np.min(np.abs(teacher.weights)) for teacher in teachers):8.1e} "
        f"{min(np.min(nearest(teacher)[1]) for teacher in teachers):7.2f} "
        f"{seconds:7.2f} {1e3 * a_node:7.1f} {first:9.1f}  "
        + ", ".join(f"{kind} {count}" for kind, count in kinds.items()),
        flush=True,
    )
    failures = [
        line
        for seed, (one, teacher) in enumerate(zip(found, teachers, strict=True))
        if not one.recovered or one.iterations.max() >= FEW
        for line in why(one, teacher, seed)
    ]
    return Cell(dim, units, each.mean(), a_node), failures


def why(one: Learned, teacher: Teacher, seed: int) -> list[str]:
    """Which units are missing, how weak they are, and what is near them."""
    found, run = one.run.matching, one.run
    lines = [
        f"FAILED d = {teacher.dim}, k = {teacher.units}, seed {seed}: {run.student.units} units, "
        f"stop {run.stop}, relative loss {run.relative_loss:.1e}, at most {one.iterations.max()} "
        f"iterations, unmatched units {found.unmatched.tolist()}"
    ]
    neighbours, apart = nearest(teacher)
    weights, covered = np.asarray(teacher.weights), hidden(teacher)
    for unit in np.flatnonzero((found.distance > PLACES) | (found.weight_error > WEIGHTS)):
        beside = neighbours[unit]
        lines.append(
            f"    unit {unit}: b = {weights[unit]:.3e}, distance {found.distance[unit]:.1e}, "
            f"weight error {found.weight_error[unit]:.1e}; its nearest, unit {beside} with b = "
            f"{weights[beside]:.3e}, is {apart[unit]:.3f} away; "
            f"{'no' if covered[unit] else 'a'} maximum of |C| at first"
        )
    return lines


def growth(cells: list[Cell]) -> None:
    """How iterations grow with d, and seconds a node with k and d."""
    dims = np.log([cell.dim for cell in cells])
    units = np.log([cell.units for cell in cells])
    steep, error = slope(dims, np.log([cell.iterations for cell in cells]))
    print(
        f"iterations a node ~ d^({steep:.3f} +- {error:.3f}): times {2**steep:.3f} when d doubles; "
        f"at most {max(cell.iterations for cell in cells):.0f} on average"
    )
    steep, error = slope(dims / np.log(2), [cell.iterations for cell in cells])
    print(f"    or {steep:.2f} +- {error:.2f} iterations more when d doubles")
    steep, error = slope(units, np.log([cell.iterations for cell in cells]))
    print(f"    against k: k^({steep:.3f} +- {error:.3f})")
    climbs, candidates = NodeWise.climbs, NodeWise.candidates
    print(
        f"cost of a node: (iterations x {climbs} starts + {candidates} candidates) x (k + room) x d"
        ", room the placed units rounded up to 32, 64, 128, ..."
    )
    for size in sorted({cell.units for cell in cells}):
        row = [cell for cell in cells if cell.units == size]
        steep, error = slope(np.log([c.dim for c in row]), np.log([c.seconds for c in row]))
        print(f"    k = {size:3d}: seconds a node ~ d^({steep:.2f} +- {error:.2f})")
    for dim in sorted({cell.dim for cell in cells}):
        row = [cell for cell in cells if cell.dim == dim]
        steep, error = slope(np.log([c.units for c in row]), np.log([c.seconds for c in row]))
        work = [
            c.seconds / ((climbs * c.iterations + candidates) * (c.units + room(c.units)) * c.dim)
            for c in row
        ]
        print(
            f"    d = {dim:3d}: seconds a node ~ k^({steep:.2f} +- {error:.2f}); ns for each term "
            f"of that product: {', '.join(f'{1e9 * w:.1f}' for w in work)}"
        )


def room(units: int) -> float:
    """How many units there is room for, on average over the rounds."""
    return float(
        np.mean([max(FIRST_ROOM, 2 ** math.ceil(math.log2(n))) for n in range(1, units + 1)])
    )


# -- far ------------------------------------------------------------------------------------------


def far(options: argparse.Namespace) -> None:
    """Large d: does it work, and by how much could it fail?"""
    dims, sizes = options.dims or [101], options.units or [100]
    for dim in dims:
        for units in sizes:
            print(f"\nd = {dim}, k = {units}:")
            for seed in range(options.seeds or 2):
                teacher = teacher_of(dim, units, seed)
                one = learned(teacher, seed)
                found = one.run.matching
                good = (found.distance <= PLACES) & (found.weight_error <= WEIGHTS)
                print(
                    f"  seed {seed}: {np.sum(good)} of {units} units recovered, "
                    f"{'a' if found.is_permutation else 'not a'} permutation, "
                    f"{one.run.student.units} units, distance {found.distance.max():.1e}, weights "
                    f"{found.weight_error.max():.1e}, iterations {one.iterations.mean():.1f} (most "
                    f"{one.iterations.max()}), {one.rounds} rounds, {one.seconds:.0f} s"
                    f"{' with compilation' if seed == 0 else ''}, {one.run.certificate.kind}"
                )
                if not one.recovered:
                    print("\n".join(why(one, teacher, seed)))
                print_visibility(teacher, seed, float(found.weight_error.max()))


def print_visibility(teacher: Teacher, seed: int, left: float) -> None:
    """What limits the method: whether starts see a unit above what placed units leave behind.

    A climb leads to unit j if its share of the potential at the start, |b_j Phi| over the sum of
    all others, exceeds the relative errors `left` of placed units. A run ends too early if none of
    the candidates of `patience` rounds sees a unit that is missing.
    """
    law, count = usual_starts(teacher.manifold, teacher.dim, False), NodeWise.candidates
    points = law.draw(seed, 0, SAMPLE * count, teacher.dim)
    w, b = teacher.positions, teacher.weights
    alone = [Teacher(w[j : j + 1], b[j : j + 1], teacher.species) for j in range(teacher.units)]
    logs = np.stack([population_loss(one).log_potential(points).log_size for one in alone])
    others = [logsumexp(np.delete(logs, j, axis=0), axis=0) for j in range(teacher.units)]
    share = (logs - np.stack(others)) / math.log(10)
    spread = np.median(logs.max(axis=1) - logs.min(axis=1)) / math.log(10)
    seen = np.mean(share > math.log10(left), axis=1)  # the part of all starts that see each unit
    missed = (1 - seen) ** (count * NodeWise.patience)
    best = share[:, :count].max(axis=1)
    print(
        f"    one unit's potential ranges over 10^{spread:.0f} at {points.shape[0]} starts (median "
        f"of the units); its share of all potentials is 10^{np.median(share):.1f} at a median "
        f"start, 10^{np.median(best):.1f} at the best of {count}, 10^{best.min():.1f} for the unit "
        f"seen worst; placed units leave {left:.0e}, above which {np.median(seen):.1%} of starts "
        f"see a unit (the unit seen worst: {seen.min():.2%}); {NodeWise.patience} rounds miss it "
        f"with probability {missed.max():.0e}",
        flush=True,
    )


# -- the papers' own methods ----------------------------------------------------------------------

REGULARIZED = {"objective": "regularized", "start": "lemma-4.5"}


def papers(options: argparse.Namespace) -> None:
    """Ours and the papers' methods on the same small teachers, with adaptive steps."""
    methods: tuple[tuple[str, str, dict[str, Any]], ...] = (
        ("node-wise (ours)", "node-wise", {}),
        ("node-wise-paper", "node-wise-paper", {}),
        ("node-wise-gd", "node-wise-gd", {}),
        ("second-gd on G, Lemma 4.5", "second-gd", REGULARIZED),
        ("gd", "gd", {}),
    )
    print(
        f"\nteacher units with a student unit within {RADIUS:g} (core), within {CLOSE:g} (place),"
    )
    print("with the right weight too, and if all weights are refitted at the end; loss: relative")
    print(
        f"{'method':26s} {'d':>2s} {'k':>3s} {'seed':>4s} {'core':>5s} {'place':>5s} "
        f"{'weight':>6s} {'refitted':>8s} {'loss':>8s} {'iterations a node':>24s}  "
        "stop, certificate"
    )
    for dim in options.dims or [3, 7]:
        for units in options.units or [3, 10]:
            for seed in range(options.seeds or 3):
                teacher = teacher_of(dim, units, seed)
                for label, method, given in methods:
                    print_method(label, method, dict(given), teacher, seed)
    promises(options)


def print_method(
    label: str, method: str, given: dict[str, Any], teacher: Teacher, seed: int
) -> None:
    """One row: what one method finds of one teacher."""
    if given.get("objective") == "regularized":
        given["tolerance"] = lemma_tolerance(teacher)
    run = ew.learn(teacher, method, seed=seed, **given)
    found, each = run.matching, run.history.node_iterations
    took = f"{run.iterations} for all"
    if each is not None:
        took = f"{each.mean():.0f}, most {each.max()}"
    again = ew.match(teacher, population_loss(teacher).refit(run.student)[0])
    print(
        f"{label:26s} {teacher.dim:2d} {teacher.units:3d} {seed:4d} "
        f"{np.sum(found.distance <= RADIUS):5d} {np.sum(found.distance <= CLOSE):5d} "
        f"{len(found.recovered(CLOSE)):6d} {len(again.recovered(CLOSE)):8d} "
        f"{run.relative_loss:8.1e} {took:>24s}  {run.stop}, {run.certificate.kind}",
        flush=True,
    )


def lemma_tolerance(teacher: Teacher) -> float:
    """eta = gamma = delta^2/(2 k^3 d) of Full, Theorem 4.1, at the start of Lemma 4.5."""
    loss = population_loss(teacher, "regularized")
    positions = np.zeros((teacher.units, teacher.dim))
    only = np.arange(teacher.units) == 0
    start, _ = loss.refit(ew.Student(positions, np.zeros(teacher.units)), jax.numpy.asarray(only))
    try:
        return max(paper_tolerance(loss, start), 1e-14)
    except EarnshawError:  # what the start saves is below rounding of the loss
        return 1e-14


def promises(options: argparse.Namespace) -> None:
    """What the papers' step sizes would take."""
    print("\nsteps='theory':")
    for dim in options.dims or [3, 7]:
        for units in options.units or [3, 10]:
            teacher = teacher_of(dim, units, 0)
            for method, given in (
                ("gd", {}),
                ("second-gd", REGULARIZED),
                ("node-wise-paper", {}),
            ):
                wanted: dict[str, Any] = dict(given)
                if wanted:
                    wanted["tolerance"] = lemma_tolerance(teacher)
                try:
                    run = ew.learn(teacher, method, steps="theory", iterations=1, **wanted)
                    said = "; ".join(run.notes)
                except EarnshawError as refusal:
                    said = f"refused: {refusal}"
                print(f"  {method}, d = {dim}, k = {units}: {said}", flush=True)


# -- peers ----------------------------------------------------------------------------------------


def peers(options: argparse.Namespace) -> None:
    """General optimisers of all units at once, with at least the time that `ew.learn` takes."""
    solvers = {"L-BFGS": lbfgs, "trust regions": trust_regions}
    try:
        import pymanopt

        print(f"\npymanopt {pymanopt.__version__}, ", end="")
    except ImportError as missing:
        print(f"\ntrust regions are left out: {missing}; ", end="")
        del solvers["trust regions"]
    print(f"peers are told k and have at least {LEAST} random starts a teacher, each of at most")
    print(
        f"{LONGEST:g} s for trust regions. success: starts that find all units; most units and in"
    )
    print(f"cores: of the best start, within {CLOSE:g} with the weight, and within {RADIUS:g}")
    print(
        f"{'':13s} {'teacher':>20s} {'seed':>4s} {'starts':>6s} {'success':>7s} "
        f"{'most units':>10s} {'in cores':>8s} {'best loss':>9s} {'s/start':>7s} "
        f"{'all / ours':>10s}"
    )
    teachers = [
        (f"d = {dim}, k = {units}", teacher_of(dim, units, seed), seed)
        for dim in options.dims or [3, 7]
        for units in options.units or [3, 10, 16]
        for seed in range(options.seeds or 2)
    ]
    teachers += [("hermite-3 on S^19", orthonormal(seed), seed) for seed in range(2)]
    for label, teacher, seed in teachers:
        ours = print_ours(label, teacher, seed)
        for name, make in solvers.items():
            if teacher.manifold.name == "sphere" and name == "L-BFGS":
                continue
            print_peer(name, label, make(teacher), teacher, seed, ours)


def orthonormal(seed: int) -> Teacher:
    """20 orthonormal units of he_3 on the sphere of R^20."""
    return ew.random_teacher("hermite-3", 20, 20, seed, on="sphere", positions="orthonormal")


def print_ours(label: str, teacher: Teacher, seed: int) -> float:
    """Our row; the seconds of a run after compilation."""
    learned(teacher, seed)
    one = learned(teacher, seed)
    found = one.run.matching
    good = len(found.recovered(CLOSE))
    success = good == teacher.units and found.is_permutation
    within = int(np.sum(found.distance <= RADIUS))
    print(
        f"{'earnshaw':13s} {label:>20s} {seed:4d} {1:6d} {int(success):7d} "
        f"{f'{good}/{teacher.units}':>10s} {within:8d} {one.run.relative_loss:9.1e} "
        f"{one.seconds:7.2f} {1.0:10.1f}",
        flush=True,
    )
    return one.seconds


def print_peer(name: str, label: str, peer: Peer, teacher: Teacher, seed: int, ours: float) -> None:
    """A peer's row."""
    tries = attempts(peer, teacher, ours, LEAST, MOST, RADIUS)
    count = len(tries.succeeded)
    print(
        f"{name:13s} {label:>20s} {seed:4d} {count:6d} {np.sum(tries.succeeded):7d} "
        f"{f'{tries.found.max()}/{teacher.units}':>10s} {tries.within.max():8d} "
        f"{tries.relative_loss.min():9.1e} {tries.seconds / count:7.2f} "
        f"{tries.seconds / ours:10.1f}",
        flush=True,
    )


def main() -> None:
    """Run the parts that are asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--dims", nargs="+", type=int, default=None)
    parser.add_argument("--units", nargs="+", type=int, default=None)
    parser.add_argument("--seeds", type=int, default=None)
    options = parser.parse_args()
    print(f"earnshaw {ew.__version__}, JAX {jax.__version__}, {CORES} cores, float64")
    parts = {"table": table, "far": far, "papers": papers, "peers": peers}
    for name in PARTS:
        if name in options.only:
            parts[name](options)


if __name__ == "__main__":
    main()
