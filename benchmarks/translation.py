"""Translation activations from samples: error against the number of samples.

Teachers of 5 units in d = 1, 2, 3, sigma(x, w) = h(x - w)/sqrt(p(x)): almost-harmonic (radius 0.1,
lambda 1), whose h is unbounded, and Gaussian (rate 1), whose h is smooth. Inputs N(0, W^2 I) with
W = 3; positions N(0, 2^2 I), at least 1 apart; weights of random sign, 0.5 to 1.5 in size.
`learn_from_samples` sees (x, y) alone and is not told the number of units. Answers are exact, or
have Gaussian noise of `--noise` times the root mean square of the teacher.

    python benchmarks/translation.py                       # both activations, d = 1, 2, 3
    python benchmarks/translation.py --activation gaussian --dim 2 --seeds 5
    python benchmarks/translation.py --quick

"worst" is over all units and seeds, of the seeds that found exactly 5 units each within 1 of the
truth; "searched" is where the search alone had put the unit, before any refinement. The slope is
that of the mean over units and seeds of the logarithm of the error against log n, over the n at
which every seed found all units; the teachers are the same for every n, the samples are not. With
noise, least squares predict -1/2 for smooth h; for unbounded h, with |grad h|^2 about r^-(d+1), the
samples nearest to a unit, at n^(-1/d), tell most of its place: -(d + 1)/(2 d).

Every number is of this run.
"""

from __future__ import annotations

import argparse
import math
import time

import numpy as np

import earnshaw as ew
from earnshaw.learning.samples.learn import learn_from_samples

UNITS, WIDTH, SPREAD, APART, FOUND = 5, 3.0, 2.0, 1.0, 1.0


def separated_teacher(activation: str, dim: int, seed: int) -> ew.Teacher:
    """A random teacher not wider than the inputs, with units at least APART from each other."""
    rng = np.random.default_rng((seed, dim))
    while True:
        positions = SPREAD * rng.standard_normal((UNITS, dim))
        gaps = np.linalg.norm(positions[:, None] - positions[None], axis=-1)
        if np.min(gaps[np.triu_indices(UNITS, 1)]) >= APART:
            break
    weights = rng.choice([-1.0, 1.0], UNITS) * rng.uniform(0.5, 1.5, UNITS)
    return ew.Teacher(positions, weights, activation, width=WIDTH)


def samples_of(
    teacher: ew.Teacher, count: int, noise: float, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Inputs (n, d) and noisy answers (n,)."""
    rng = np.random.default_rng((seed, count, 1))
    x = WIDTH * rng.standard_normal((count, teacher.dim))
    size = math.sqrt(float(ew.population_loss(teacher).empty_value()))
    return x, np.asarray(teacher(x)) + noise * size * rng.standard_normal(count)


def cell(activation: str, dim: int, count: int, noise: float, seeds: range) -> dict[str, object]:
    """All seeds at one n: errors of those that found all units."""
    placed, final, weights, numbers, began = [], [], [], [], time.perf_counter()
    for seed in seeds:
        teacher = separated_teacher(activation, dim, seed)
        data = samples_of(teacher, count, noise, seed)
        run = learn_from_samples(data, teacher.activation, teacher=teacher, seed=seed)
        matching = run.matching
        assert matching is not None
        numbers.append(run.student.units)
        if run.student.units != UNITS or np.max(matching.distance) > FOUND:
            continue
        first = np.stack([run.history.paths[unit][-2] for unit in matching.permutation])
        placed.append(np.linalg.norm(first - np.asarray(teacher.positions), axis=1))
        final.append(matching.distance)
        weights.append(matching.weight_error)
    return {
        "found": len(final),
        "units": numbers,
        "placed": np.asarray(placed),
        "final": np.asarray(final),
        "weights": np.asarray(weights),
        "seconds": (time.perf_counter() - began) / len(seeds),
    }


def typical(errors: np.ndarray) -> float:
    """The geometric mean, to which far units and near ones contribute alike."""
    return float(np.exp(np.mean(np.log(np.maximum(errors, 1e-17)))))


def slope(counts: list[int], errors: list[float]) -> float:
    """Of log error against log n."""
    return float(np.polyfit(np.log(counts), np.log(errors), 1)[0])


def table(activation: str, dim: int, noise: float, counts: list[int], seeds: range) -> None:
    """One table, printed as it grows."""
    print(f"\n{activation}, d = {dim}, W = {WIDTH:g}, noise {noise:g}, {len(seeds)} seeds")
    print("      n  all found  worst searched  worst position  worst weight  seconds")
    used, middle, last = [], [], []
    for count in counts:
        got = cell(activation, dim, count, noise, seeds)
        worst = [float(np.max(got[key], initial=0.0)) for key in ("placed", "final", "weights")]
        print(
            f"{count:7d}  {got['found']:4d} of {len(seeds)}  {worst[0]:14.1e}  {worst[1]:14.1e}  "
            f"{worst[2]:12.1e}  {got['seconds']:7.1f}"
            + ("" if got["found"] == len(seeds) else f"   units {got['units']}"),
            flush=True,
        )
        if got["found"] == len(seeds):
            used.append(count)
            middle.append(typical(got["placed"]))
            last.append(typical(got["final"]))
    if len(used) < 2:
        return
    print(f"slope of the searched positions: {slope(used, middle):+.2f}")
    if noise > 0:
        predicted = -(dim + 1) / (2 * dim) if activation == "almost-harmonic" else -0.5
        print(f"slope of the positions: {slope(used, last):+.2f} (predicted {predicted:+.2f})")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--activation", nargs="+", default=["almost-harmonic", "gaussian"])
    parser.add_argument("--dim", nargs="+", type=int, default=[1, 2, 3])
    parser.add_argument("--samples", nargs="+", type=int, default=[1000, 4000, 16_000])
    parser.add_argument("--noise", nargs="+", type=float, default=[0.0, 0.1])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--quick", action="store_true", help="d = 2, n to 4000, one seed")
    asked = parser.parse_args()
    if asked.quick:
        asked.dim, asked.samples, asked.seeds = [2], [1000, 4000], 1
    for activation in asked.activation:
        for dim in asked.dim:
            for noise in asked.noise:
                seeds = range(asked.first_seed, asked.first_seed + asked.seeds)
                table(activation, dim, noise, asked.samples, seeds)


if __name__ == "__main__":
    main()
